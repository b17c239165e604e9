//! Linear motions: the oscillator, the linear double pendulum by its two modes, and the helix of a charge.

use super::{Solution, parameter, squared};
use crate::scalar::Real;
use crate::system::Problem;

/// q0 cos ωt + v0/ω sin ωt
pub(super) fn oscillator<R: Real + 'static>(problem: &Problem<R>) -> Solution<R> {
    let omega = parameter(problem, "omega");
    let (q0, v0) = (problem.q0[0].clone(), problem.v0[0].clone());
    Solution::new([0], move |t: &R| vec![mode(&omega, &q0, &v0, t)])
}

fn mode<R: Real>(omega: &R, q0: &R, v0: &R, t: &R) -> R {
    let angle = omega.clone() * t.clone();
    q0.clone() * angle.cos() + v0.clone() / omega.clone() * angle.sin()
}

/// K ψ = ω² M ψ with M = [[a, b], [b, c]], K = diag(k1, k2).
pub(super) fn double_pendulum<R: Real + 'static>(problem: &Problem<R>) -> Solution<R> {
    let [m1, m2, l1, l2, g] = ["m1", "m2", "l1", "l2", "g"].map(|name| parameter(problem, name));
    let total = m1 + m2.clone();
    let a = total.clone() * squared(&l1);
    let b = m2.clone() * l1.clone() * l2.clone();
    let c = m2.clone() * squared(&l2);
    let (k1, k2) = (total * g.clone() * l1, m2 * g * l2);
    // det(K − x M) = (ac − b²) x² − (a k2 + c k1) x + k1 k2 = 0
    let two = R::from_f64(2.0);
    let lead = a.clone() * c.clone() - squared(&b);
    let middle = a.clone() * k2.clone() + c.clone() * k1.clone();
    let root = (squared(&middle) - R::from_f64(4.0) * lead.clone() * k1.clone() * k2.clone()).sqrt();
    // the smaller root from the product of both: no cancellation
    let fast = (middle + root) / (two * lead.clone());
    let slow = k1.clone() * k2 / (lead * fast.clone());
    let modes = [slow, fast].map(|x| {
        // first row of (K − xM) ψ = 0: ψ = (x b, k1 − x a)
        let shape = [x.clone() * b.clone(), k1.clone() - x.clone() * a.clone()];
        let m_shape = [
            a.clone() * shape[0].clone() + b.clone() * shape[1].clone(),
            b.clone() * shape[0].clone() + c.clone() * shape[1].clone(),
        ];
        let weight = m_shape[0].clone() * shape[0].clone() + m_shape[1].clone() * shape[1].clone();
        let project = |y: &[R]| {
            (m_shape[0].clone() * y[0].clone() + m_shape[1].clone() * y[1].clone()) / weight.clone()
        };
        (x.sqrt(), project(&problem.q0), project(&problem.v0), shape)
    });
    Solution::new([0, 1], move |t: &R| {
        let mut q = vec![R::zero(), R::zero()];
        for (omega, q0, v0, shape) in &modes {
            let amplitude = mode(omega, q0, v0, t);
            for i in 0..2 {
                q[i].add_mul(&amplitude, &shape[i]);
            }
        }
        q
    })
}

/// charge·B/m
pub(super) fn cyclotron_frequency<R: Real>(problem: &Problem<R>) -> R {
    parameter(problem, "charge") * parameter(problem, "B") / parameter(problem, "m")
}

/// x'' = ω y', y'' = −ω x'
pub(super) fn helix<R: Real + 'static>(problem: &Problem<R>) -> Solution<R> {
    let omega = cyclotron_frequency(problem);
    let (q0, v0) = (problem.q0.clone(), problem.v0.clone());
    Solution::new([0, 1, 2], move |t: &R| {
        let angle = omega.clone() * t.clone();
        let (sine, versine) = (angle.sin() / omega.clone(), (R::one() - angle.cos()) / omega.clone());
        vec![
            q0[0].clone() + v0[0].clone() * sine.clone() + v0[1].clone() * versine.clone(),
            q0[1].clone() + v0[1].clone() * sine - v0[0].clone() * versine,
            q0[2].clone() + v0[2].clone() * t.clone(),
        ]
    })
}
