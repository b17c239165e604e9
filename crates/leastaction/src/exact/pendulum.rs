//! The pendulum by Jacobi functions: swinging (m < 1) and rotating (m > 1), with m = energy over twice m ω².

use super::{Solution, complete, incomplete, jacobi, parameter, squared};
use crate::scalar::Real;
use crate::system::Problem;

/// ω and m = k² = (v/2ω)² + sin²(q/2).
fn invariants<R: Real>(problem: &Problem<R>) -> (R, R) {
    let omega = parameter(problem, "omega");
    let half = R::from_f64(0.5);
    let sine = (half.clone() * problem.q0[0].clone()).sin();
    let speed = half * problem.v0[0].clone() / omega.clone();
    (omega, squared(&speed) + squared(&sine))
}

/// 4 K(m)/ω for a swing, 2 K(1/m)/(ω √m) for a turn.
pub(super) fn period<R: Real>(problem: &Problem<R>) -> Option<R> {
    let (omega, m) = invariants(problem);
    let size = m.to_f64();
    if size < 1.0 && size > 0.0 {
        Some(R::from_f64(4.0) * complete(&m) / omega.abs())
    } else if size > 1.0 {
        Some(R::from_f64(2.0) * complete(&(R::one() / m.clone())) / (omega.abs() * m.sqrt()))
    } else {
        None
    }
}

pub(super) fn solution<R: Real + 'static>(problem: &Problem<R>) -> Option<Solution<R>> {
    let (omega, m) = invariants(problem);
    if m.to_f64() < 1.0 { Some(swinging(problem, omega, m)) } else { rotating(problem, omega, &m) }
}

/// sin(q/2) = k sn(ωt + u0, m)
fn swinging<R: Real + 'static>(problem: &Problem<R>, omega: R, m: R) -> Solution<R> {
    let (half, k) = (R::from_f64(0.5), m.sqrt());
    if m.magnitude() == 0.0 {
        let rest = problem.q0[0].clone();
        return Solution::new([0], move |_| vec![rest.clone()]);
    }
    // turns of the pendulum before the start: whole multiples of 2π in q
    let two_pi = R::from_f64(2.0) * R::pi();
    let turns = R::from_f64((problem.q0[0].to_f64() / two_pi.to_f64()).round());
    let offset = turns * two_pi;
    let q0 = problem.q0[0].clone() - offset.clone();
    let sine = (half.clone() * q0).sin() / k.clone();
    let cosine = half * problem.v0[0].clone() / (omega.clone() * k.clone());
    // sn u0 = sine, cn u0 = cosine: reflected at the quarter period if the cosine is negative
    let near = incomplete(&sine, &cosine.abs(), &m);
    let u0 = if cosine.to_f64() < 0.0 { R::from_f64(2.0) * complete(&m) - near } else { near };
    Solution::new([0], move |t: &R| {
        let u = u0.clone() + omega.clone() * t.clone();
        let inner = k.clone() * jacobi(&u, &m).sn;
        vec![offset.clone() + R::from_f64(2.0) * inner.asin()]
    })
}

/// q/2 = ± am(ω k t + u0, 1/m); the separatrix m = 1 has no period and is left out.
fn rotating<R: Real + 'static>(problem: &Problem<R>, omega: R, m: &R) -> Option<Solution<R>> {
    if m.to_f64() == 1.0 {
        return None;
    }
    let inverse = R::one() / m.clone();
    let rate = omega * m.sqrt() * (problem.v0[0].sign());
    // am is π per half period: split q0/2 into whole multiples of π and a rest in [−π/2, π/2]
    let half_angle = R::from_f64(0.5) * problem.q0[0].clone();
    let whole = R::from_f64((half_angle.to_f64() / std::f64::consts::PI).round());
    let rest = half_angle - whole.clone() * R::pi();
    let u0 = incomplete(&rest.sin(), &rest.cos(), &inverse) + R::from_f64(2.0) * whole * complete(&inverse);
    Some(Solution::new([0], move |t: &R| {
        let u = u0.clone() + rate.clone() * t.clone();
        vec![R::from_f64(2.0) * jacobi(&u, &inverse).am]
    }))
}
