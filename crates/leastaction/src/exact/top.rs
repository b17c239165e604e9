//! The tops of the catalogue and the spherical pendulum, from their coordinates to `nutation` and `precession` and back.
//!
//! L is even in θ and has the period 2π in it, so a start anywhere is the mirror image of one with 0 < θ < π. The spherical
//! pendulum is a top without spin, its θ measured from the other pole. Without any momentum about the vertical and about the
//! axis the motion is that of a plane pendulum.

use super::nutation::{Nutation, Start};
use super::pendulum::{Pendulum, whole_turns};
use super::precession::Precession;
use super::{Solution, half, parameter, squared};
use crate::scalar::Real;
use crate::system::Problem;

/// The motion of a top's axis.
pub(super) struct Top<R> {
    axis: Axis<R>,
    /// Whether θ is measured from the downward vertical.
    hanging: bool,
    /// θ = offset + sign θ̄, 0 < θ̄ < π at the start.
    offset: R,
    sign: R,
}

enum Axis<R> {
    Plane(Pendulum<R>),
    Space(Nutation<R>, Precession<R>),
}

/// θ at the start, folded into 0 < θ̄ < π.
struct Folded<R> {
    offset: R,
    sign: R,
    theta: R,
    nutation: R,
}

impl<R: Real> Folded<R> {
    fn new(theta: &R, nutation: &R) -> Self {
        let (offset, rest) = whole_turns(theta);
        let sign = rest.sign();
        Self { offset, theta: rest.abs(), nutation: sign.clone() * nutation.clone(), sign }
    }
}

impl<R: Real> Top<R> {
    fn new(folded: Folded<R>, start: &Start<R>, hanging: bool) -> Option<Self> {
        let Folded { offset, sign, theta, nutation } = folded;
        let planar = start.difference.magnitude() == 0.0 && start.sum.magnitude() == 0.0;
        let axis = if planar {
            let omega = half(&start.beta).sqrt();
            let angle = if hanging { theta } else { theta - R::pi() };
            Axis::Plane(Pendulum::new(&omega, &angle, &nutation))
        } else {
            let axis = Nutation::new(start)?;
            let precession = Precession::new(start, &axis);
            Axis::Space(axis, precession)
        };
        Some(Self { axis, hanging, offset, sign })
    }

    pub(super) fn period(&self) -> Option<R> {
        match &self.axis {
            Axis::Plane(pendulum) => pendulum.period(),
            Axis::Space(axis, _) => axis.period(),
        }
    }

    fn theta(&self, t: &R) -> R {
        let folded = match (&self.axis, self.hanging) {
            (Axis::Plane(pendulum), true) => pendulum.at(t),
            (Axis::Plane(pendulum), false) => R::pi() + pendulum.at(t),
            (Axis::Space(axis, _), hanging) => {
                let (sine, cosine) = axis.half_angle(t);
                let angle = if hanging { cosine.atan2(&sine) } else { sine.atan2(&cosine) };
                R::from_f64(2.0) * angle
            }
        };
        self.offset.clone() + self.sign.clone() * folded
    }

    /// A and B of `precession` since the start.
    fn windings(&self, t: &R) -> [R; 2] {
        match &self.axis {
            Axis::Plane(_) => [R::zero(), R::zero()],
            Axis::Space(axis, precession) => precession.at(axis, t),
        }
    }
}

/// The spin ψ' + φ' cos θ, which is constant.
fn spin<R: Real>(problem: &Problem<R>) -> R {
    problem.v0[2].clone() + problem.v0[0].clone() * problem.q0[1].cos()
}

/// The top in Euler angles (φ, θ, ψ).
pub(super) fn top<R: Real>(problem: &Problem<R>) -> Option<Top<R>> {
    let [m, inertia, i3, l, g] = ["m", "I", "I3", "l", "g"].map(|name| parameter(problem, name));
    let two = R::from_f64(2.0);
    let folded = Folded::new(&problem.q0[1], &problem.v0[1]);
    let (sine, cosine) = half(&folded.theta).sin_cos();
    let precession = problem.v0[0].clone();
    let a = i3 * spin(problem) / inertia.clone();
    // b − a = 2 sin²(θ/2) (2φ' cos²(θ/2) − a),  b + a = 2 cos²(θ/2) (2φ' sin²(θ/2) + a)
    let twice = two.clone() * precession.clone();
    let toward_top = cancelled(&(twice.clone() * squared(&cosine)), &-a.clone());
    let toward_bottom = cancelled(&(twice * squared(&sine)), &a);
    let start = Start {
        difference: two.clone() * squared(&sine) * toward_top,
        sum: two.clone() * squared(&cosine) * toward_bottom,
        beta: two * m * g * l / inertia,
        nutation: folded.nutation.clone(),
        sine,
        cosine,
        precession,
        a,
    };
    Top::new(folded, &start, false)
}

/// x + y, zero if that is all that their rounding leaves: the axis is then meant to pass a pole.
fn cancelled<R: Real>(x: &R, y: &R) -> R {
    let sum = x.clone() + y.clone();
    if sum.magnitude() <= 4.0 * R::epsilon() * y.magnitude() { R::zero() } else { sum }
}

/// φ = φ0 + A + B,  ψ = ψ0 + (p_ψ/I3 − p_ψ/I) t − A + B
pub(super) fn solution<R: Real + 'static>(problem: &Problem<R>) -> Option<Solution<R>> {
    let top = top(problem)?;
    let [inertia, i3] = ["I", "I3"].map(|name| parameter(problem, name));
    let spin = spin(problem) * (R::one() - i3 / inertia);
    let (phi, psi) = (problem.q0[0].clone(), problem.q0[2].clone());
    Some(Solution::new([0, 1, 2], move |t: &R| {
        let [a, b] = top.windings(t);
        let psi = psi.clone() + spin.clone() * t.clone() + (b.clone() - a.clone());
        vec![phi.clone() + (a + b), top.theta(t), psi]
    }))
}

/// The top with p_φ and p_ψ eliminated, paper 000 eqs. (23) to (26).
pub(super) fn reduced<R: Real>(problem: &Problem<R>) -> Option<Top<R>> {
    let [m, inertia, l, g] = ["m", "I", "l", "g"].map(|name| parameter(problem, name));
    let [p_phi, p_psi] = ["p_phi", "p_psi"].map(|name| parameter(problem, name) / inertia.clone());
    let folded = Folded::new(&problem.q0[0], &problem.v0[0]);
    let (sine, cosine) = half(&folded.theta).sin_cos();
    let (difference, sum) = (p_phi.clone() - p_psi.clone(), p_phi + p_psi.clone());
    // φ' = ½ (b + a)/(1 + u) + ½ (b − a)/(1 − u)
    let twice = half(&(sum.clone() / squared(&cosine) + difference.clone() / squared(&sine)));
    let start = Start {
        precession: half(&twice),
        beta: R::from_f64(2.0) * m * g * l / inertia,
        nutation: folded.nutation.clone(),
        a: p_psi,
        sine,
        cosine,
        difference,
        sum,
    };
    Top::new(folded, &start, false)
}

pub(super) fn reduced_solution<R: Real + 'static>(problem: &Problem<R>) -> Option<Solution<R>> {
    let top = reduced(problem)?;
    Some(Solution::new([0], move |t: &R| vec![top.theta(t)]))
}

/// The spherical pendulum (θ, φ): a = 0, b = φ' sin²θ.
pub(super) fn spherical_pendulum<R: Real>(problem: &Problem<R>) -> Option<Top<R>> {
    let [l, g] = ["l", "g"].map(|name| parameter(problem, name));
    let folded = Folded::new(&problem.q0[0], &problem.v0[0]);
    let precession = problem.v0[1].clone();
    let b = precession.clone() * squared(&folded.theta.sin());
    let (cosine, sine) = half(&folded.theta).sin_cos();
    let start = Start {
        beta: R::from_f64(2.0) * g / l,
        nutation: -folded.nutation.clone(),
        a: R::zero(),
        difference: b.clone(),
        sum: b,
        sine,
        cosine,
        precession,
    };
    Top::new(folded, &start, true)
}

pub(super) fn spherical_solution<R: Real + 'static>(problem: &Problem<R>) -> Option<Solution<R>> {
    let top = spherical_pendulum(problem)?;
    let phi = problem.q0[1].clone();
    Some(Solution::new([0, 1], move |t: &R| {
        let [a, b] = top.windings(t);
        vec![top.theta(t), phi.clone() + (a + b)]
    }))
}
