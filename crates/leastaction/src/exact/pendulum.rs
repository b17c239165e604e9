//! The pendulum q'' = −ω² sin q by Jacobi functions: every energy, every start.
//!
//! ```text
//! m = s² + sin²(q/2),  1 − m = (c − |s|)(c + |s|),   s = v/2ω, c = cos(q/2)
//! m < 1, swings:      sin(q/2) = k sn(ωt + u0, m),  cos(q/2) = dn
//! m > 1, turns round: q/2 = ± am(kωt + u0, 1/m)
//! m = 1, separatrix:  q/2 = am(± ωt + u0, 1) = atan sinh
//! ```
//!
//! m = 1 is taken for met where c and |s| agree to the rounding of q and v: a rounded π at rest is the upper equilibrium.

use super::elliptic::Modulus;
use super::{Solution, half, parameter, root, squared};
use crate::scalar::Real;
use crate::system::Problem;

/// A motion of the pendulum.
#[derive(Clone, Debug)]
pub(super) struct Pendulum<R> {
    kind: Kind,
    modulus: Modulus<R>,
    /// u = rate·t + phase; at rest the phase is q/2.
    rate: R,
    phase: R,
    /// The sine of half the amplitude.
    k: R,
    /// Whole turns before the start: a multiple of 2π.
    offset: R,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Swings,
    TurnsRound,
    Separatrix,
    Rests,
}

/// q/2 and v/2ω at the start, q in [−π, π].
struct Start<R> {
    sine: R,
    cosine: R,
    speed: R,
}

impl<R: Real> Start<R> {
    fn kind(&self) -> Kind {
        let (cosine, speed) = (self.cosine.to_f64(), self.speed.to_f64());
        let gap = (self.cosine.clone() - self.speed.abs()).to_f64();
        // half a unit of c from the rounding of q, half a unit of s
        let on_separatrix = gap.abs() <= 0.5 * R::epsilon() * (1.0 + cosine);
        if speed == 0.0 && (on_separatrix || self.sine.to_f64() == 0.0) {
            Kind::Rests
        } else if on_separatrix {
            Kind::Separatrix
        } else if gap < 0.0 {
            Kind::TurnsRound
        } else {
            Kind::Swings
        }
    }

    /// m and 1 − m.
    fn parameter(&self) -> (R, R) {
        let speed = self.speed.abs();
        let lack = (self.cosine.clone() - speed.clone()) * (self.cosine.clone() + speed);
        (squared(&self.speed) + squared(&self.sine), lack)
    }
}

impl<R: Real> Pendulum<R> {
    pub(super) fn new(omega: &R, q0: &R, v0: &R) -> Self {
        let (offset, q) = whole_turns(q0);
        let (sine, cosine) = half(&q).sin_cos();
        let omega = omega.abs();
        let start = Start { sine, cosine, speed: half(v0) / omega.clone() };
        let kind = start.kind();
        let (m, lack) = start.parameter();
        let Start { sine, cosine, speed } = start;
        let (k, sign) = (root(&m), speed.sign());
        let (modulus, rate) = match kind {
            Kind::Rests | Kind::Separatrix => (Modulus::new(R::one(), R::zero()), sign * omega),
            Kind::TurnsRound => (Modulus::new(R::one() / m.clone(), -lack / m), sign * omega * k.clone()),
            Kind::Swings => (Modulus::new(m, lack), omega),
        };
        let phase = match kind {
            Kind::Rests => half(&q),
            Kind::TurnsRound | Kind::Separatrix => modulus.inverse(&sine, &cosine),
            Kind::Swings => {
                // sn u0 = sin(q/2)/k, cn u0 = s/k: reflected at the quarter period if cn is negative
                let near = modulus.inverse(&(sine / k.clone()), &(speed.abs() / k.clone()));
                let reflected = R::from_f64(2.0) * modulus.quarter.clone() - near.clone();
                if speed.to_f64() < 0.0 { reflected } else { near }
            }
        };
        Self { kind, modulus, rate, phase, k, offset }
    }

    pub(super) fn at(&self, t: &R) -> R {
        let functions = || self.modulus.jacobi(&(self.phase.clone() + self.rate.clone() * t.clone()));
        let angle = match self.kind {
            Kind::Rests => self.phase.clone(),
            Kind::TurnsRound | Kind::Separatrix => functions().am(),
            Kind::Swings => {
                let j = functions();
                (self.k.clone() * j.sn).atan2(&j.dn)
            }
        };
        self.offset.clone() + R::from_f64(2.0) * angle
    }

    /// 4 K(m)/ω for a swing, 2 K(1/m)/(ω k) for a turn; none on the separatrix and at rest.
    pub(super) fn period(&self) -> Option<R> {
        let quarters = match self.kind {
            Kind::Swings => 4.0,
            Kind::TurnsRound => 2.0,
            Kind::Separatrix | Kind::Rests => return None,
        };
        Some(R::from_f64(quarters) * self.modulus.quarter.clone() / self.rate.abs())
    }
}

/// A multiple of 2π, and the rest in [−π, π].
pub(super) fn whole_turns<R: Real>(angle: &R) -> (R, R) {
    let turns = (angle.to_f64() / (2.0 * std::f64::consts::PI)).round();
    let offset = R::from_f64(2.0 * turns) * R::pi();
    (offset.clone(), angle.clone() - offset)
}

/// The motion of the catalogue's pendulum.
pub(super) fn pendulum<R: Real>(problem: &Problem<R>) -> Pendulum<R> {
    Pendulum::new(&parameter(problem, "omega"), &problem.q0[0], &problem.v0[0])
}

pub(super) fn solution<R: Real + 'static>(problem: &Problem<R>) -> Solution<R> {
    let pendulum = pendulum(problem);
    Solution::new([0], move |t: &R| vec![pendulum.at(t)])
}
