//! Precession and spin of a heavy symmetric top, by elliptic integrals of the third kind.
//!
//! ```text
//! φ' = (b − a u)/(1 − u²)    = A' + B',   A' = ½ (b − a)/(1 − u),  B' = ½ (b + a)/(1 + u)
//! ψ' = p_ψ/I3 − u φ'         = p_ψ/I3 − a − A' + B'
//! ```
//!
//! with u = u1 + (u2 − u1) sn²(U) for A, counted from U, and the same motion counted from V = U − K for B, so that both
//! integrals have the form κ ∫ (1 + c sn²/(1 − n sn²)) dV with positive terms only, 0 ≤ k² ≤ n ≤ 1. In Carlson's form
//!
//! ```text
//! κ V + κ (c/3) sn³ R_J(cn², dn², 1, 1 − n sn²) = κ V + κ (c/3) sn³ regular ± 2 angle
//! ```
//!
//! where the factor of the angle, 2κc/√(n (1 − n)(n − k²)), is 2 because f(±1) = −(b ∓ a)²: an axis that just misses a
//! pole turns by nearly π beside it, and no digit is lost.

use super::nutation::{Nutation, Start};
use super::{carlson, half, squared};
use crate::scalar::Real;

/// A(t) and B(t) since the start.
#[derive(Clone, Debug)]
pub(super) struct Precession<R> {
    about_top: Option<Winding<R>>,
    about_bottom: Bottom<R>,
}

/// B has a simpler form for an axis that rises for ever: k = 1, u2 = u3 = 1.
#[derive(Clone, Debug)]
enum Bottom<R> {
    Winding(Option<Winding<R>>),
    Rising(Rising<R>),
}

impl<R: Real> Precession<R> {
    pub(super) fn new(start: &Start<R>, axis: &Nutation<R>) -> Self {
        let turning = &axis.turning;
        let double_rate = R::from_f64(2.0) * axis.rate.clone();
        let [low, high] = &turning.below_top;
        let [bottom, middle, last] = &turning.above_bottom;
        let rising = axis.modulus.complement.magnitude() == 0.0;
        // n = (u2 − u1)/(1 − u1), 1 − n = (1 − u2)/(1 − u1), n − k² = n (u3 − 1)/(u3 − u1)
        let n = turning.width.clone() / low.clone();
        let about_top = (start.difference.magnitude() > 0.0).then(|| {
            let rest = high.clone() / low.clone();
            let beyond = n.clone() * turning.over.clone() / turning.reach.clone();
            let kappa = start.difference.clone() / (double_rate.clone() * low.clone());
            Winding::new(axis, kappa, n.clone(), [n, rest, beyond], &axis.phase)
        });
        if rising {
            let rising = Rising::new(start, axis);
            return Self { about_top, about_bottom: Bottom::Rising(rising) };
        }
        // c = k'² (u2 − u1)/(1 + u2), n = k² + c = k² (1 + u3)/(1 + u2), 1 − n = k'² (1 + u1)/(1 + u2)
        let about_bottom = (start.sum.magnitude() > 0.0).then(|| {
            let (m, lack) = (&axis.modulus.m, &axis.modulus.complement);
            let c = lack.clone() * turning.width.clone() / middle.clone();
            let n = m.clone() * last.clone() / middle.clone();
            let rest = lack.clone() * bottom.clone() / middle.clone();
            let kappa = start.sum.clone() / (double_rate * middle.clone());
            let phase = axis.phase.clone() - axis.modulus.quarter.clone();
            Winding::new(axis, kappa, c.clone(), [n, rest, c], &phase)
        });
        Self { about_top, about_bottom: Bottom::Winding(about_bottom) }
    }

    /// A and B at a time.
    pub(super) fn at(&self, axis: &Nutation<R>, t: &R) -> [R; 2] {
        let winding = |w: &Option<Winding<R>>| w.as_ref().map_or_else(R::zero, |w| w.at(axis, t));
        let bottom = match &self.about_bottom {
            Bottom::Winding(w) => winding(w),
            Bottom::Rising(rising) => rising.at(axis, t),
        };
        [winding(&self.about_top), bottom]
    }
}

/// κ ∫ (1 + c sn²/(1 − n sn²)) dV from the start.
#[derive(Clone, Debug)]
struct Winding<R> {
    kappa: R,
    sign: R,
    c: R,
    /// 1 − n and √(n (1 − n)(n − k²)).
    rest: R,
    root_delta: R,
    /// Over 2K.
    turn: R,
    phase: R,
    /// At the start.
    offset: R,
}

impl<R: Real> Winding<R> {
    /// From κ, c, [n, 1 − n, n − k²] and V at the start.
    fn new(axis: &Nutation<R>, kappa: R, c: R, n: [R; 3], phase: &R) -> Self {
        let [n, rest, beyond] = n;
        let root_delta = super::root(&(n * rest.clone() * beyond));
        let (sign, zero) = (kappa.sign(), R::zero());
        let mut winding =
            Self { kappa, sign, c, rest, root_delta, turn: zero.clone(), phase: phase.clone(), offset: zero };
        let quarter = axis.modulus.quarter.clone();
        let at_quarter =
            winding.within(&quarter, [R::one(), R::zero(), super::root(&axis.modulus.complement)]);
        winding.turn = R::from_f64(2.0) * at_quarter;
        winding.offset = winding.since_origin(axis, phase);
        winding
    }

    /// The integral from 0 to |V| ≤ K, given sn, cn and dn.
    fn within(&self, v: &R, [sn, cn, dn]: [R; 3]) -> R {
        let (square, cube) = (squared(&sn), squared(&sn) * sn.clone());
        // p = 1 − n sn² = cn² + (1 − n) sn²
        let p = squared(&cn) + self.rest.clone() * square;
        let delta = self.root_delta.clone() * cube.clone();
        let (regular, angle) = carlson::third([cn, dn], &p, &delta);
        let smooth = v.clone() + self.c.clone() * cube * regular / R::from_f64(3.0);
        self.kappa.clone() * smooth + R::from_f64(2.0) * self.sign.clone() * angle
    }

    /// The integral from 0 to any V.
    fn since_origin(&self, axis: &Nutation<R>, v: &R) -> R {
        let (turns, rest) = axis.modulus.reduced(v);
        let j = axis.modulus.jacobi(&rest);
        R::from_f64(turns) * self.turn.clone() + self.within(&rest, [j.sn, j.cn, j.dn])
    }

    fn at(&self, axis: &Nutation<R>, t: &R) -> R {
        let v = self.phase.clone() + axis.rate.clone() * t.clone();
        self.since_origin(axis, &v) - self.offset.clone()
    }
}

/// k = 1: B = (b + a) U/4Ω ± atan(√((1 − u1)/(1 + u1)) tanh U) from the start.
#[derive(Clone, Debug)]
struct Rising<R> {
    slope: R,
    sign: R,
    slant: R,
    offset: R,
}

impl<R: Real> Rising<R> {
    fn new(start: &Start<R>, axis: &Nutation<R>) -> Self {
        let slope = half(&half(&(start.sum.clone() / axis.rate.clone())));
        let turning = &axis.turning;
        let slant = (turning.below_top[0].clone() / turning.above_bottom[0].clone()).sqrt();
        let mut rising = Self { slope, sign: start.sum.sign(), slant, offset: R::zero() };
        rising.offset = rising.since_origin(&axis.phase);
        rising
    }

    fn since_origin(&self, u: &R) -> R {
        self.slope.clone() * u.clone() + self.sign.clone() * (self.slant.clone() * u.tanh()).atan()
    }

    fn at(&self, axis: &Nutation<R>, t: &R) -> R {
        self.since_origin(&axis.argument(t)) - self.offset.clone()
    }
}
