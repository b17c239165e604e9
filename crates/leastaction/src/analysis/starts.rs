//! Other starts of a run: a parameter or a part of the initial state replaced, and a momentum adjusted to a wanted energy.

use crate::error::{Error, Result, nearest};
use crate::simulate::Run;
use crate::system::{Energy, Problem, Quantity, Start, System, Variable, Velocities};

/// Corrections of a momentum.
const MOST: usize = 100;
/// An energy is reached to this part of the energies that make it up.
const ACCURACY: f64 = 1e-12;

/// Replaces a parameter, a coordinate `x`, a velocity `v_x` or a momentum `p_x` at the start.
pub(super) fn replace(system: &System, run: &mut Run, name: &str, value: &Quantity) -> Result<()> {
    match system.variable(name)? {
        Variable::Parameter(_) => {
            run.parameters.insert(name.to_owned(), value.clone());
        }
        Variable::Coordinate(i) => {
            run.initial.q.get_or_insert_with(|| system.initial.q.clone())[i] = value.clone();
        }
        Variable::Velocity(i) => rates(system, run, true)?[i] = value.clone(),
        Variable::Momentum(i) => rates(system, run, false)?[i] = value.clone(),
    }
    Ok(())
}

/// The initial velocities or momenta of a run, to be changed; those of the other kind are turned into numbers first.
fn rates<'a>(system: &System, run: &'a mut Run, velocities: bool) -> Result<&'a mut Vec<Quantity>> {
    let given = match (&run.initial.v, &run.initial.p) {
        (None, None) => system.initial.start.clone(),
        (Some(v), _) => Start::Velocities(v.clone()),
        (None, Some(p)) => Start::Momenta(p.clone()),
    };
    let numbers = |list: &[f64]| list.iter().map(|x| Quantity::Number(*x)).collect();
    let list = match (given, velocities) {
        (Start::Velocities(list), true) | (Start::Momenta(list), false) => list,
        (_, true) => numbers(&problem(system, run)?.v0),
        (_, false) => numbers(&problem(system, run)?.p0),
    };
    let (v, p) = (&mut run.initial.v, &mut run.initial.p);
    Ok(if velocities {
        *p = None;
        v.insert(list)
    } else {
        *v = None;
        p.insert(list)
    })
}

fn problem(system: &System, run: &Run) -> Result<Problem<f64>> {
    let run = Run { precision: None, every: Some(0), ..run.clone() };
    Ok(run.plan_for(system)?.problem)
}

/// Adjusts a momentum `p_x` of a run so that it has the energy of another; false if no momentum does.
pub(super) fn give_energy(system: &System, run: &mut Run, of: &Run, momentum: &str) -> Result<bool> {
    let coordinate = |name: &str| system.coordinates.iter().position(|c| c.name == name);
    let Some(i) = momentum.strip_prefix("p_").and_then(coordinate) else {
        let known: Vec<String> = system.coordinate_names().iter().map(|name| format!("p_{name}")).collect();
        let hint = nearest(momentum, known.iter().map(String::as_str));
        let message = format!("`{momentum}` is no momentum of `{}`{hint}", system.name);
        return Err(Error::BadStudy { message });
    };
    let other = problem(system, of)?;
    let (energy, _) = Energy::new(&system.model, &other.parameters).at(&other.q0, &other.v0, &other.t0);
    // from a start with the same sign as that of the other run, at rest if its own momenta have too much energy
    rates(system, run, false)?[i] = Quantity::Number(0.0);
    let start = match problem(system, run) {
        Ok(start) => start,
        Err(_) => return Ok(false),
    };
    let sign = if other.p0[i] < 0.0 { -1.0 } else { 1.0 };
    let Some(p) = momentum_for(&start, i, energy, sign) else { return Ok(false) };
    rates(system, run, false)?[i] = Quantity::Number(p);
    Ok(true)
}

/// Finds the momentum of a coordinate that gives an energy, by Newton's method: ∂E/∂p_i = v_i (Hamilton).
fn momentum_for(start: &Problem<f64>, i: usize, energy: f64, sign: f64) -> Option<f64> {
    let model = &start.system.model;
    let mut meter = Energy::new(model, &start.parameters);
    let mut velocities = Velocities::new(model, &start.parameters);
    let (mut p, mut v) = (start.p0.clone(), start.v0.clone());
    let mut at = |x: f64| {
        p[i] = x;
        velocities.velocities(&start.q0, &p, &start.t0, &mut v).ok()?;
        let (own, lagrangian) = meter.at(&start.q0, &v, &start.t0);
        Some((own - energy, v[i], own.abs() + lagrangian.abs() + energy.abs()))
    };
    let (excess, _, scale) = at(0.0)?;
    if excess.abs() <= ACCURACY * scale {
        return Some(0.0);
    }
    // E grows with the square of a small momentum: E(x) = E(0) + v(x) x/2 at x, as a first guess
    let probe = sign * scale.max(f64::MIN_POSITIVE).sqrt();
    let (_, rate, _) = at(probe)?;
    let (_, rest, _) = at(0.0)?;
    let curvature = (rate - rest) / probe;
    // ½ c x² + rest x + excess = 0, the root on the wanted side
    let inside = rest * rest - 2.0 * curvature * excess;
    if inside < 0.0 || curvature <= 0.0 {
        return None;
    }
    let mut x = (-rest + sign * inside.sqrt()) / curvature;
    for _ in 0..MOST {
        let (excess, rate, scale) = at(x)?;
        if excess.abs() <= ACCURACY * scale {
            // one more, which costs nothing and gives the last digits
            return Some(if rate == 0.0 { x } else { x - excess / rate });
        }
        if rate == 0.0 || !excess.is_finite() {
            return None;
        }
        x -= excess / rate;
    }
    None
}
