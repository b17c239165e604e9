//! Nutation of a heavy symmetric top: u = cos θ moves between two roots of a cubic (paper 000 eq. 20 in Jacobi's form).
//!
//! ```text
//! u'² = f(u) = (1 − u²)(α − βu) − (b − a u)²,   a = p_ψ/I, b = p_φ/I, β = 2 m g l/I
//! f(u) = β (u − u1)(u − u2)(u − u3),  −1 ≤ u1 ≤ u2 ≤ 1 ≤ u3
//! u = u1 + (u2 − u1) sn²(U),  U = Ωt + U0,  Ω² = β (u3 − u1)/4,  k² = (u2 − u1)/(u3 − u1)
//! ```
//!
//! Digits are kept by half angles instead of cos θ, and by distances between roots that are sums or products, never
//! differences: f is expanded about the start, and f(±1) = −(b ∓ a)² gives the distances to the poles. An axis with b = a
//! passes through the upper pole, one with b = −a through the lower one; θ then changes its sign or exceeds π, so that φ and
//! ψ do not jump.

use super::elliptic::Modulus;
use super::{half, root, squared};
use crate::scalar::Real;

/// A top at its start, θ from the upward vertical and strictly between the poles.
#[derive(Clone, Debug)]
pub(super) struct Start<R> {
    /// sin θ/2 and cos θ/2, both positive.
    pub(super) sine: R,
    pub(super) cosine: R,
    /// θ' and φ'.
    pub(super) nutation: R,
    pub(super) precession: R,
    /// 2 m g l/I.
    pub(super) beta: R,
    /// p_ψ/I, and (p_φ ∓ p_ψ)/I.
    pub(super) a: R,
    pub(super) difference: R,
    pub(super) sum: R,
}

impl<R: Real> Start<R> {
    /// f(u0 + w) = F0 + F1 w + F2 w² + β w³.
    fn expansion(&self) -> [R; 4] {
        let two = R::from_f64(2.0);
        let u = squared(&self.cosine) - squared(&self.sine);
        let sine = two.clone() * self.sine.clone() * self.cosine.clone();
        let across = squared(&sine);
        let (nutation, precession) = (squared(&self.nutation), squared(&self.precession));
        // F1 = −2u θ'² + sin²θ (2a φ' − 2u φ'² − β)
        let torque = two.clone() * self.a.clone() * self.precession.clone()
            - two.clone() * u.clone() * precession.clone()
            - self.beta.clone();
        let first = across.clone() * torque - two.clone() * u.clone() * nutation.clone();
        // F2 = 2βu − θ'² − φ'² sin²θ − a²
        let second =
            two * self.beta.clone() * u - nutation.clone() - precession * across.clone() - squared(&self.a);
        [across * nutation, first, second, self.beta.clone()]
    }

    /// The lowest root of the expansion, w1 ≤ 0.
    fn lowest(&self) -> R {
        let [f0, f1, f2, f3] = self.expansion();
        let bottom = -R::from_f64(2.0) * squared(&self.cosine);
        if self.sum.magnitude() == 0.0 {
            return bottom;
        }
        if f0.magnitude() == 0.0 {
            // at a turning point: w = 0 is a root, the lowest if f rises; else the lower root of F1 + F2 w + β w²
            if f1.to_f64() > 0.0 {
                return R::zero();
            }
            let spread = root(&(squared(&f2) - R::from_f64(4.0) * f1.clone() * f3.clone()));
            return if f2.to_f64() > 0.0 {
                -half(&((f2 + spread) / f3))
            } else {
                R::from_f64(2.0) * f1 / (spread - f2)
            };
        }
        // Newton from below all roots rises to the lowest one without passing it
        let mut w = bottom;
        for _ in 0..10_000 {
            let value =
                ((f3.clone() * w.clone() + f2.clone()) * w.clone() + f1.clone()) * w.clone() + f0.clone();
            let slope = (R::from_f64(3.0) * f3.clone() * w.clone() + R::from_f64(2.0) * f2.clone())
                * w.clone()
                + f1.clone();
            let rise = -value / slope;
            // rounding, and NaN
            let rises = rise.to_f64() > 0.125 * R::epsilon() * w.magnitude();
            if !rises {
                break;
            }
            w = w + rise;
        }
        w
    }
}

/// Turning points of the axis: distances between the roots, the poles and the start.
#[derive(Clone, Debug)]
pub(super) struct Turning<R> {
    /// u2 − u1 and u3 − u1.
    pub(super) width: R,
    pub(super) reach: R,
    /// u3 − u2 and u3 − 1.
    pub(super) gap: R,
    pub(super) over: R,
    /// 1 − u1, 1 − u2.
    pub(super) below_top: [R; 2],
    /// 1 + u1, 1 + u2, 1 + u3.
    pub(super) above_bottom: [R; 3],
    /// u0 − u1, u2 − u0.
    from_start: [R; 2],
}

impl<R: Real> Turning<R> {
    fn new(start: &Start<R>) -> Self {
        let two = R::from_f64(2.0);
        let lowest = start.lowest();
        let beta = &start.beta;
        let below = two.clone() * squared(&start.sine) - lowest.clone();
        // z = u3 − 1 and −(1 − u2) are the roots of z² − S z − X = 0:
        // S = u2 + u3 − 2 = (θ'² + φ'² sin²θ + a²)/β − w1 − 2,  X = (b − a)²/(β (1 − u1))
        let across = two.clone() * start.sine.clone() * start.cosine.clone() * start.precession.clone();
        let energy = (squared(&start.nutation) + squared(&across) + squared(&start.a)) / beta.clone();
        let mut s = energy.clone() - lowest.clone() - two.clone();
        let x = squared(&start.difference) / (beta.clone() * below.clone());
        if x.magnitude() == 0.0 && s.magnitude() <= 2.0 * R::epsilon() * (2.0 + energy.magnitude()) {
            // to rounding, the axis rises towards the upright position for ever
            s = R::zero();
        }
        let gap = root(&(squared(&s) + R::from_f64(4.0) * x.clone()));
        let larger = half(&(s.abs() + gap.clone()));
        let smaller = if larger.magnitude() == 0.0 { R::zero() } else { x / larger.clone() };
        let (over, under) = if s.to_f64() > 0.0 { (larger, smaller) } else { (smaller, larger) };
        // w1 w2 w3 = −F0/β, and w2 w3 = F1/β if w1 = 0
        let [f0, f1, _, _] = start.expansion();
        let third = over.clone() + two.clone() * squared(&start.sine);
        let second =
            if lowest.magnitude() == 0.0 { f1 } else { f0 / -lowest.clone() } / (beta.clone() * third);
        // (1 + u1)(1 + u2)(1 + u3) = (b + a)²/β
        let middle = two.clone() * squared(&start.cosine) + second.clone();
        let last = two + over.clone();
        let first = squared(&start.sum) / (beta.clone() * middle.clone() * last.clone());
        Self {
            width: second.clone() - lowest.clone(),
            reach: over.clone() + below.clone(),
            gap,
            over,
            below_top: [below, under],
            above_bottom: [first, middle, last],
            from_start: [-lowest, second],
        }
    }
}

/// The motion of the axis.
#[derive(Clone, Debug)]
pub(super) struct Nutation<R> {
    pub(super) turning: Turning<R>,
    pub(super) modulus: Modulus<R>,
    /// Ω and U0.
    pub(super) rate: R,
    pub(super) phase: R,
}

impl<R: Real> Nutation<R> {
    /// None without weight (β ≤ 0) and at a pole.
    pub(super) fn new(start: &Start<R>) -> Option<Self> {
        let at_pole = start.sine.to_f64().min(start.cosine.to_f64()) <= R::epsilon();
        let heavy = start.beta.to_f64() > 0.0;
        if at_pole || !heavy {
            return None;
        }
        let turning = Turning::new(start);
        let modulus = Modulus::new(
            turning.width.clone() / turning.reach.clone(),
            turning.gap.clone() / turning.reach.clone(),
        );
        let rate = half(&(start.beta.clone() * turning.reach.clone()).sqrt());
        let mut axis = Self { turning, modulus, rate, phase: R::zero() };
        axis.phase = axis.start_phase(start.nutation.to_f64() > 0.0);
        Some(axis)
    }

    /// sn²(U0) = (u0 − u1)/(u2 − u1); u falls if θ rises.
    fn start_phase(&self, theta_rises: bool) -> R {
        let width = &self.turning.width;
        if width.magnitude() == 0.0 {
            return R::zero();
        }
        let [sn, cn] = self.turning.from_start.clone().map(|w| root(&(w / width.clone())));
        let near = self.modulus.inverse(&sn, &cn);
        match (theta_rises, self.passes_bottom()) {
            (false, _) => near,
            (true, false) => -near,
            // cos θ/2 = c2 sn(U) must be positive
            (true, true) => R::from_f64(2.0) * self.modulus.quarter.clone() - near,
        }
    }

    fn passes_top(&self) -> bool {
        self.turning.below_top[1].magnitude() == 0.0
    }

    fn passes_bottom(&self) -> bool {
        self.turning.above_bottom[0].magnitude() == 0.0
    }

    /// Of cos θ, or of θ where it passes a pole; none if the axis rises for ever.
    pub(super) fn period(&self) -> Option<R> {
        let quarters = if self.passes_top() || self.passes_bottom() { 4.0 } else { 2.0 };
        let period = R::from_f64(quarters) * self.modulus.quarter.clone() / self.rate.clone();
        period.is_finite().then_some(period)
    }

    /// U at a time.
    pub(super) fn argument(&self, t: &R) -> R {
        self.phase.clone() + self.rate.clone() * t.clone()
    }

    /// sin θ/2 and cos θ/2: 1 ∓ u = (1 ∓ u1) cn² + (1 ∓ u2) sn².
    pub(super) fn half_angle(&self, t: &R) -> (R, R) {
        let j = self.modulus.jacobi(&self.argument(t));
        let (cn, sn) = (half(&squared(&j.cn)), half(&squared(&j.sn)));
        let between =
            |first: &R, second: &R| root(&(first.clone() * cn.clone() + second.clone() * sn.clone()));
        let signed = |x: &R, function: &R| half(x).sqrt() * function.clone();
        let [low, high] = &self.turning.below_top;
        let sine = if self.passes_top() { signed(low, &j.cn) } else { between(low, high) };
        let [low, high, _] = &self.turning.above_bottom;
        let cosine = if self.passes_bottom() { signed(high, &j.sn) } else { between(low, high) };
        (sine, cosine)
    }
}
