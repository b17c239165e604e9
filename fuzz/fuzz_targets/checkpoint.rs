//! Bytes as a checkpoint: as they are, and again with the checksum that fits, so that what is behind it is reached too. Each is continued
//! for a few steps or refused.
#![no_main]

use leastaction::scalar::checksum_of_bytes;
use leastaction::simulate::Checkpoint;
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;

fuzz_target!(|data: &[u8]| {
    go_on(data);
    if let Some((whole, _)) = data.split_last_chunk::<8>() {
        let mut bytes = whole.to_vec();
        bytes.extend(checksum_of_bytes(whole).to_le_bytes());
        go_on(&bytes);
    }
});

fn go_on(bytes: &[u8]) {
    let found = match Checkpoint::read(bytes) {
        Ok(found) => found,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    // many digits and many coordinates take long
    if found.run.precision.is_some_and(|digits| digits > 20) {
        return;
    }
    let Ok(plan) = found.run.plan() else { return };
    if plan.problem.system.n() > 16 {
        return;
    }
    let Ok(mut journey) = plan.begin() else { return };
    if found.restore(&mut journey).is_ok() {
        let most = journey.steps().saturating_add(20);
        journey.go(&mut |step| if step < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
        let _ = journey.into_solution();
    }
}
