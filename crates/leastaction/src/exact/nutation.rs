//! Nutation of the Lagrange top and of the spherical pendulum: u = cos θ moves between two roots of a cubic.
//!
//! ```text
//! u'² = f(u) = (1 − u²)(α − βu) − (b − a u)²,   a = p_ψ/I, b = p_φ/I, β = 2 m g l/I
//! u(t) = u1 + (u2 − u1) sn²(Ω (t − t1)),  Ω² = β (u3 − u1)/4,  k² = (u2 − u1)/(u3 − u1)
//! ```
//!
//! with roots u1 ≤ u2 ≤ 1 ≤ u3 and t1 a time at which u = u1 (paper 000 eq. 20 in Jacobi's form, its misprint corrected).

use super::{Solution, complete, incomplete, jacobi, parameter, squared};
use crate::scalar::Real;
use crate::system::Problem;

/// A nutation, and whether θ is measured from the other pole.
pub(super) struct Nutation<R> {
    roots: [R; 3],
    rate: R,
    modulus: R,
    /// Ω t1 before the start.
    phase: R,
    from_below: bool,
}

/// Coefficients of the cubic and the initial θ, θ'.
struct Cubic<R> {
    alpha: R,
    beta: R,
    a: R,
    b: R,
}

impl<R: Real> Cubic<R> {
    fn value(&self, u: &R) -> R {
        let room = R::one() - squared(u);
        room * (self.alpha.clone() - self.beta.clone() * u.clone())
            - squared(&(self.b.clone() - self.a.clone() * u.clone()))
    }

    /// f' = −2u(α − βu) − β(1 − u²) + 2a(b − au)
    fn slope(&self, u: &R) -> R {
        let two = R::from_f64(2.0);
        let linear = self.alpha.clone() - self.beta.clone() * u.clone();
        two.clone() * self.a.clone() * (self.b.clone() - self.a.clone() * u.clone())
            - two * u.clone() * linear
            - self.beta.clone() * (R::one() - squared(u))
    }

    /// The three real roots, by the trigonometric formula and then Newton.
    fn roots(&self) -> [R; 3] {
        // β u³ − (α + a²) u² + (2ab − β) u + (α − b²) = 0
        let second = -(self.alpha.clone() + squared(&self.a)) / self.beta.clone();
        let first =
            (R::from_f64(2.0) * self.a.clone() * self.b.clone() - self.beta.clone()) / self.beta.clone();
        let zeroth = (self.alpha.clone() - squared(&self.b)) / self.beta.clone();
        let shift = second.clone() / R::from_f64(-3.0);
        // u = shift + y:  y³ + p y + q = 0
        let p = first.clone() - squared(&second) / R::from_f64(3.0);
        let q = shift.clone() * shift.clone() * shift.clone()
            + second * squared(&shift)
            + first * shift.clone()
            + zeroth;
        let (p, q) = (p.to_f64().min(0.0), q.to_f64());
        let radius = 2.0 * (-p / 3.0).sqrt();
        let cosine = if radius > 0.0 { (3.0 * q / (p * radius)).clamp(-1.0, 1.0) } else { 1.0 };
        let angle = cosine.acos() / 3.0;
        let third = 2.0 * std::f64::consts::PI / 3.0;
        [2.0, 1.0, 0.0].map(|k| {
            let guess = shift.to_f64() + radius * (angle - third * k).cos();
            self.polish(guess)
        })
    }

    fn polish(&self, guess: f64) -> R {
        let mut u = R::from_f64(guess);
        let mut previous = f64::INFINITY;
        loop {
            let delta = self.value(&u) / self.slope(&u);
            let size = delta.magnitude();
            // NaN ends the loop too
            if !(size > 0.0 && size < previous) {
                return u;
            }
            previous = size;
            u = u - delta;
        }
    }
}

impl<R: Real> Nutation<R> {
    /// From the cubic and the initial θ and θ', with θ from the upward vertical.
    fn new(cubic: &Cubic<R>, theta: &R, theta_rate: &R, from_below: bool) -> Option<Self> {
        let mut roots = cubic.roots();
        roots.sort_by(|x, y| x.to_f64().total_cmp(&y.to_f64()));
        let u0 = theta.cos();
        // started at rest in θ: the initial u is a root, exactly
        if theta_rate.magnitude() == 0.0 {
            let nearer = usize::from(
                (u0.clone() - roots[1].clone()).magnitude() < (u0.clone() - roots[0].clone()).magnitude(),
            );
            roots[nearer] = u0.clone();
        }
        let [u1, u2, u3] = roots.clone();
        let width = u2.clone() - u1.clone();
        let modulus = width.clone() / (u3.clone() - u1.clone());
        let rate = R::from_f64(0.5) * (cubic.beta.clone() * (u3 - u1.clone())).sqrt();
        let proper = (0.0..1.0).contains(&modulus.to_f64()) && width.to_f64() > 0.0;
        if !proper {
            return None;
        }
        // sn²(phase) = (u0 − u1)/(u2 − u1), rising if u' = −sin θ θ' > 0
        let square = (u0.clone() - u1) / width.clone();
        let rest = (u2 - u0) / width;
        let clip = |x: R| if x.to_f64() < 0.0 { R::zero() } else { x };
        let near = incomplete(&clip(square).sqrt(), &clip(rest).sqrt(), &modulus);
        let phase = if theta_rate.to_f64() > 0.0 { -near } else { near };
        Some(Self { roots, rate, modulus, phase, from_below })
    }

    pub(super) fn period(&self) -> R {
        R::from_f64(2.0) * complete(&self.modulus) / self.rate.clone()
    }

    pub(super) fn solution(self, coordinate: usize) -> Solution<R>
    where
        R: 'static,
    {
        Solution::new([coordinate], move |t: &R| {
            let u = self.phase.clone() + self.rate.clone() * t.clone();
            let sn = jacobi(&u, &self.modulus).sn;
            let mut cosine = self.roots[0].clone();
            cosine.add_mul(&(self.roots[1].clone() - self.roots[0].clone()), &squared(&sn));
            vec![if self.from_below { (-cosine).acos() } else { cosine.acos() }]
        })
    }
}

/// 2 (E − p_ψ²/2I3)/I and friends for the top.
pub(super) fn top<R: Real>(problem: &Problem<R>) -> Option<Nutation<R>> {
    let [m, inertia, i3, l, g] = ["m", "I", "I3", "l", "g"].map(|name| parameter(problem, name));
    let two = R::from_f64(2.0);
    let (theta, rates) = (&problem.q0[1], &problem.v0);
    // from velocities: no cancellation between p_φ and p_ψ cos θ
    let p_psi = i3 * (rates[2].clone() + rates[0].clone() * theta.cos());
    let across = inertia.clone() * rates[0].clone() * squared(&theta.sin());
    let p_phi = p_psi.clone() * theta.cos() + across.clone();
    let beta = two * m * g * l / inertia.clone();
    let energy = squared(&rates[1]) + squared(&(rates[0].clone() * theta.sin()));
    let alpha = energy + beta.clone() * theta.cos();
    let cubic = Cubic { alpha, beta, a: p_psi / inertia.clone(), b: p_phi / inertia };
    Nutation::new(&cubic, theta, &rates[1], false)
}

/// The spherical pendulum is a top without spin, its θ measured from the other pole.
pub(super) fn spherical_pendulum<R: Real>(problem: &Problem<R>) -> Option<Nutation<R>> {
    let [l, g] = ["l", "g"].map(|name| parameter(problem, name));
    let theta = R::pi() - problem.q0[0].clone();
    let sine = problem.q0[0].sin();
    let beta = R::from_f64(2.0) * g / l;
    let b = problem.v0[1].clone() * squared(&sine);
    let energy = squared(&problem.v0[0]) + squared(&(problem.v0[1].clone() * sine));
    let alpha = energy + beta.clone() * theta.cos();
    let cubic = Cubic { alpha, beta, a: R::zero(), b };
    Nutation::new(&cubic, &theta, &-problem.v0[0].clone(), true)
}
