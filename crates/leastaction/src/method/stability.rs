//! For which steps a method keeps an oscillation bounded.
//!
//! A variational method turns an oscillation of frequency ω into one of frequency ω̃ with tan²(ω̃h/2) = g/f (see [`Modal`]), real
//! and bounded as long as f·g > 0. Zeros and poles of f and g are therefore the only ends of stable windows. They are computed
//! with so many digits that those which coincide (all of them for Gauss methods, which are stable for every step) are told from
//! narrow gaps. A splitting method turns q into C q + …, C a polynomial of x = (ωh)², and f = (1 + C)/S, g = (1 − C)/S. A Runge–Kutta method is stable while its stability polynomial at iωh is at most 1 in size.

use super::{Flows, Method, Modal, STAGES, Scheme};
use crate::error::Result;
use crate::scalar::{Digits, Field, Real};
use std::fmt;

/// Numbers with 154 digits.
type Wide = Digits<8>;
/// Boundaries that agree to this, relatively, are one.
const SAME: f64 = 1e-100;
/// Roots of polynomials are known to this, relatively; the highest degree of a method has 35 of them.
const NARROW: f64 = 1e-30;

/// A range of ωh in which oscillations stay bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its lower end.
    pub from: f64,
    /// Its upper end, infinite if there is none.
    pub to: f64,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |x: f64| if x == 0.0 { "0".to_owned() } else { format!("{x:.6}") };
        if self.to.is_finite() {
            write!(f, "{} to {}", end(self.from), end(self.to))
        } else {
            write!(f, "{} on", end(self.from))
        }
    }
}

impl Method {
    /// f and g of a variational method at x = (ωh)²: for one oscillation of mass m
    ///
    /// ```text
    /// p₀ + p₁ = (m/h) f(x) (q₁ − q₀)        p₁ − p₀ = −(m/h) g(x) (q₀ + q₁)
    /// ```
    ///
    /// `None` for a method that is not variational. (001, eqs. 11 and 31: f = 2, g = x/2 for `midpoint`.)
    pub fn forces<R: Real>(&self, x: &R) -> Result<Option<(R, R)>> {
        match self.scheme {
            Scheme::Galerkin(galerkin) => Ok(Some(Modal::new(&galerkin)?.forces(x))),
            Scheme::Splitting(splitting) => Ok(Some(splitting_forces(&Flows::new(&splitting), x))),
            Scheme::RungeKutta4(_) => Ok(None),
        }
    }

    /// The ranges of ωh in which oscillations stay bounded, ascending. Touching windows are one.
    pub fn stable_windows(&self) -> Result<Vec<Window>> {
        let (stable_first, changes) = match self.scheme {
            Scheme::Galerkin(galerkin) => (true, Modal::<Wide>::new(&galerkin)?.sign_changes()),
            Scheme::Splitting(splitting) => (true, splitting_changes(&Flows::new(&splitting))),
            Scheme::RungeKutta4(_) => excess_changes(&growth_excess()),
        };
        Ok(windows(stable_first, &merged(changes)))
    }

    /// The ωh up to which every oscillation stays bounded: infinite if there is no limit.
    pub fn stability_limit(&self) -> Result<f64> {
        let first = self.stable_windows()?.into_iter().next();
        Ok(first.filter(|window| window.from == 0.0).map_or(0.0, |window| window.to))
    }
}

/// One step of a splitting method from q = 1, p = 0 (mass, ω²/x and h are 1): q⁺, and from q = 0, p = 1: q⁺.
fn splitting_forces<R: Real>(flows: &Flows<R>, x: &R) -> (R, R) {
    let step = |mut q: R, mut p: R| {
        for (i, kick) in flows.kicks.iter().enumerate() {
            p.sub_mul(&(kick.clone() * x.clone()), &q);
            if let Some(drift) = flows.drifts.get(i) {
                q.add_mul(drift, &p);
            }
        }
        q
    };
    let (c, s) = (step(R::one(), R::zero()), step(R::zero(), R::one()));
    ((R::one() + c.clone()) / s.clone(), (R::one() - c) / s)
}

/// Where 1 + C and 1 − C change their signs, x > 0.
fn splitting_changes(flows: &Flows<Wide>) -> Vec<Wide> {
    // q and p after each kick and drift, as polynomials of x, from q = 1, p = 0
    let (mut q, mut p) = (vec![Wide::one()], Vec::new());
    for (i, kick) in flows.kicks.iter().enumerate() {
        // p −= b x q
        p.resize(q.len() + 1, Wide::zero());
        for (power, coefficient) in q.iter().enumerate() {
            p[power + 1].sub_mul(kick, coefficient);
        }
        if let Some(drift) = flows.drifts.get(i) {
            q.resize(p.len(), Wide::zero());
            for (q, p) in q.iter_mut().zip(&p) {
                q.add_mul(drift, p);
            }
        }
    }
    // 1 − C has a zero at x = 0
    let negated: Vec<Wide> = q[1..].iter().map(|c| -*c).collect();
    q[0] = q[0] + Wide::one();
    [positive_roots(&q), positive_roots(&negated)].concat()
}

/// Sorted, and those that coincide an even number of times left out: there the sign does not change.
fn merged(mut changes: Vec<Wide>) -> Vec<Wide> {
    changes.sort_by(|a, b| (*a - *b).to_f64().total_cmp(&0.0));
    let mut kept: Vec<Wide> = Vec::new();
    for x in changes {
        match kept.last() {
            Some(last) if (x - *last).magnitude() <= SAME * x.magnitude() => {
                kept.pop();
            }
            _ => kept.push(x),
        }
    }
    kept
}

/// The windows between changes of x = (ωh)², as ranges of ωh.
fn windows(stable_first: bool, changes: &[Wide]) -> Vec<Window> {
    let roots = changes.iter().map(|x| x.sqrt().to_f64());
    let ends: Vec<f64> = [0.0].into_iter().chain(roots).chain([f64::INFINITY]).collect();
    let pairs = ends.windows(2).skip(usize::from(!stable_first)).step_by(2);
    pairs.map(|pair| Window { from: pair[0], to: pair[1] }).collect()
}

/// The coefficients of the stability polynomial R(z) = 1 + z Σ b_i k_i, k_i = 1 + c_i z k_{i−1}: what a step multiplies
/// the solution of y' = λy by, z = hλ.
pub fn stability_polynomial<R: Field>() -> Vec<R> {
    let mut stage: Vec<R> = Vec::new();
    let mut polynomial = vec![R::zero(); STAGES.len() + 1];
    polynomial[0] = R::from_f64(6.0);
    for (c, b) in STAGES {
        let shifted = stage.iter().map(|coefficient| R::from_f64(c) * coefficient.clone());
        stage = [R::one()].into_iter().chain(shifted).collect();
        for (power, coefficient) in stage.iter().enumerate() {
            polynomial[power + 1].add_mul(&R::from_f64(b), coefficient);
        }
    }
    polynomial.into_iter().map(|coefficient| coefficient / R::from_f64(6.0)).collect()
}

/// |R(iωh)|² − 1 as a polynomial in x = (ωh)².
fn growth_excess() -> Vec<Wide> {
    let r = stability_polynomial::<Wide>();
    let mut excess = vec![Wide::zero(); r.len()];
    for (j, a) in r.iter().enumerate() {
        for (k, b) in r.iter().enumerate() {
            // the real part of i^j (−i)^k x^{(j+k)/2}
            if (j + k).is_multiple_of(2) {
                let sign = if (j.abs_diff(k) / 2).is_multiple_of(2) { 1.0 } else { -1.0 };
                excess[(j + k) / 2].add_mul(&(Wide::from_f64(sign) * *a), b);
            }
        }
    }
    excess[0] = excess[0] - Wide::one();
    excess
}

/// Whether the polynomial starts negative, and where its sign changes for x > 0.
fn excess_changes(polynomial: &[Wide]) -> (bool, Vec<Wide>) {
    let lost = 1e3 * Wide::epsilon() * polynomial.iter().map(Wide::magnitude).fold(0.0, f64::max);
    let kept: Vec<Wide> = polynomial.iter().copied().skip_while(|c| c.magnitude() <= lost).collect();
    (kept.first().is_none_or(|c| c.to_f64() < 0.0), positive_roots(&kept))
}

fn value(polynomial: &[Wide], x: &Wide) -> f64 {
    polynomial.iter().rev().fold(Wide::zero(), |sum, c| sum * *x + *c).to_f64()
}

/// The places where a polynomial changes its sign, x > 0: one at most between neighbouring extrema.
fn positive_roots(polynomial: &[Wide]) -> Vec<Wide> {
    let Some((lead, rest)) = polynomial.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return Vec::new();
    };
    let power = |(k, c): (usize, &Wide)| Wide::from_f64(k as f64) * *c;
    let slope: Vec<Wide> = polynomial.iter().enumerate().skip(1).map(power).collect();
    // Cauchy's bound
    let bound = 1.0 + rest.iter().map(|c| (*c / *lead).magnitude()).fold(0.0, f64::max);
    let mut ends = vec![Wide::zero()];
    ends.extend(positive_roots(&slope));
    ends.push(Wide::from_f64(2.0 * bound));
    let between = |pair: &[Wide]| bisect(polynomial, pair[0], pair[1]);
    ends.windows(2).filter_map(between).collect()
}

/// The root between two places of opposite sign.
fn bisect(polynomial: &[Wide], mut low: Wide, mut high: Wide) -> Option<Wide> {
    let sign = value(polynomial, &low).signum();
    if value(polynomial, &high) * sign >= 0.0 {
        return None;
    }
    loop {
        let middle = (low + high) / Wide::from_f64(2.0);
        if (high - low).magnitude() <= NARROW * high.magnitude() {
            return Some(middle);
        }
        if value(polynomial, &middle) * sign > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative distances between neighbouring zeros and poles of f and g.
    fn distances(name: &str) -> Vec<f64> {
        let Scheme::Galerkin(galerkin) = Method::named(name).expect(name).scheme else { return Vec::new() };
        let mut changes = Modal::<Wide>::new(&galerkin).expect(name).sign_changes();
        changes.sort_by(|a, b| (*a - *b).to_f64().total_cmp(&0.0));
        changes.windows(2).map(|pair| ((pair[1] - pair[0]) / pair[1]).magnitude()).collect()
    }

    #[test]
    fn boundaries_are_one_or_well_apart() {
        for order in (2..=crate::method::MAX_ORDER).step_by(2) {
            let gauss = distances(&format!("gauss{order}"));
            assert!(gauss.iter().all(|d| *d < 1e-140 || *d > 1e-3), "{order}: {gauss:?}");
            assert_eq!(gauss.iter().filter(|d| **d < 1e-140).count(), order / 2 - 1);
            let lobatto = distances(&format!("lobatto{order}"));
            assert!(lobatto.iter().all(|d| *d > 1e-50), "{order}: {lobatto:?}");
        }
        // the gap of order 40 near ωh = π
        let narrowest = distances("lobatto40").into_iter().fold(1.0, f64::min);
        assert!((1e-41..1e-40).contains(&narrowest), "{narrowest:e}");
    }

    #[test]
    fn too_few_points_are_refused() {
        let mut method = Method::named("gauss6").expect("known");
        method.scheme = Scheme::Galerkin(crate::method::Galerkin {
            degree: 3,
            rule: crate::method::Rule::Gauss,
            points: 2,
        });
        let message = method.stable_windows().expect_err("too few").to_string();
        assert!(message.contains("degree 3 need 3 points of Gauss quadrature"), "{message}");
    }

    #[test]
    fn polynomials_with_known_roots() {
        let wide = |list: &[f64]| list.iter().map(|c| Wide::from_f64(*c)).collect::<Vec<_>>();
        // (x − 1)(x − 2)(x + 3) and (x − 2)², which does not change its sign
        let roots: Vec<f64> =
            positive_roots(&wide(&[6.0, -7.0, 0.0, 1.0])).iter().map(Wide::to_f64).collect();
        assert_eq!(roots, [1.0, 2.0]);
        assert!(positive_roots(&wide(&[4.0, -4.0, 1.0])).is_empty());
        let kutta: Vec<f64> = stability_polynomial::<f64>();
        assert_eq!(kutta, [1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0]);
    }
}
