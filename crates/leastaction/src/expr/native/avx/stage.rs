//! The program of a stage of a splitting method: what is done with the forces as they are computed.
//!
//! The fixed array is given in place of the velocities, which the forces do not know. See [`crate::expr::Stage`].

use super::program::{Array, Emit, Operation, Program, Width};
use super::translate::translate_to;
use crate::expr::native::steps::sources;
use crate::expr::stage::Staging;
use crate::expr::tape::Tape;

/// Forces, kick, drift and the next Q; `None` if the code might give up half way, or needs velocities.
pub(super) fn stage(tape: &Tape, staging: Staging, widest: Width) -> Option<Program> {
    let n = tape.coordinates as u32;
    let knows_velocities = tape.body.iter().flat_map(sources).any(|register| (n..2 * n).contains(&register));
    if knows_velocities {
        return None;
    }
    let program = translate_to(tape, widest, &|index, force| kick_and_drift(staging, index, force));
    let gives_up = program.operations.iter().any(|(operation, _)| matches!(operation, Operation::GiveUp(_)));
    (!gives_up).then_some(program)
}

/// Δp += b h F,  Δq += a h (p + Δp)/m,  Q' = q + Δq
fn kick_and_drift(staging: Staging, index: u32, force: Emit<'_>) {
    let Emit { program, width, .. } = force;
    let [_, dq, dp] = staging.changes().map(|start| 8 * (start as i32 + index as i32));
    let [_, start_q, start_p, reciprocal] = staging.fixed().map(|start| 8 * (start as i32 + index as i32));
    let load = |array: Array, place: i32| Emit::load(program, array, place, width);
    let everywhere = |place: usize| Emit::everywhere(program, Array::Velocities, 8 * place as i32, width);
    let [kick, drift] = staging.sizes().map(everywhere);
    let reciprocal = match staging.equal_masses {
        true => everywhere(staging.fixed()[3]),
        false => load(Array::Velocities, reciprocal),
    };
    let p = load(Array::Changes, dp) + kick * force;
    p.store(Array::Changes, dp);
    let v = (load(Array::Velocities, start_p) + p) * reciprocal;
    let q = load(Array::Changes, dq) + drift * v;
    q.store(Array::Changes, dq);
    (load(Array::Velocities, start_q) + q).store(Array::Outputs, 8 * index as i32);
}
