//! Elliptic integrals and Jacobi functions in any number type, by the arithmetic–geometric mean.
//!
//! Parameter m = k² throughout. Own code because it has to run in every [`Real`]: quadratic convergence, a few lines each
//! (Abramowitz & Stegun 16.4, 17.6; Carlson 1979 for the incomplete integral).

use crate::scalar::Real;

/// The complete integral K(m), 0 ≤ m < 1.
pub fn complete<R: Real>(m: &R) -> R {
    let half = R::from_f64(0.5);
    let (mut a, mut b) = (R::one(), (R::one() - m.clone()).sqrt());
    // the means agree to half the digits one step before they agree to all
    while (a.clone() - b.clone()).magnitude() > R::epsilon().sqrt() * a.magnitude() {
        let mean = half.clone() * (a.clone() + b.clone());
        b = (a * b).sqrt();
        a = mean;
    }
    R::pi() / (a + b)
}

/// The incomplete integral F(φ, m) for |φ| ≤ π/2, from sin φ and cos φ.
pub fn incomplete<R: Real>(sine: &R, cosine: &R, m: &R) -> R {
    let square = sine.clone() * sine.clone();
    let y = R::one() - m.clone() * square;
    sine.clone() * carlson_rf(cosine.clone() * cosine.clone(), y, R::one())
}

/// Carlson's R_F(x, y, z) by duplication.
fn carlson_rf<R: Real>(mut x: R, mut y: R, mut z: R) -> R {
    let quarter = R::from_f64(0.25);
    let mut mean;
    if ![&x, &y, &z].iter().all(|w| w.is_finite()) {
        return R::from_f64(f64::NAN);
    }
    loop {
        mean = (x.clone() + y.clone() + z.clone()) / R::from_f64(3.0);
        let spread =
            [&x, &y, &z].iter().map(|w| ((*w).clone() - mean.clone()).magnitude()).fold(0.0, f64::max);
        // the series below is good to the sixth power of the spread
        if spread <= mean.magnitude() * R::epsilon().powf(1.0 / 6.0) * 0.1 {
            break;
        }
        let (rx, ry, rz) = (x.sqrt(), y.sqrt(), z.sqrt());
        let lambda = rx.clone() * ry.clone() + rx * rz.clone() + ry * rz;
        x = quarter.clone() * (x + lambda.clone());
        y = quarter.clone() * (y + lambda.clone());
        z = quarter.clone() * (z + lambda);
    }
    let dx = R::one() - x / mean.clone();
    let dy = R::one() - y / mean.clone();
    let dz = -(dx.clone() + dy.clone());
    let e2 = dx.clone() * dy.clone() - dz.clone() * dz.clone();
    let e3 = dx * dy * dz;
    let ratio = |a: f64, b: f64| R::from_f64(a) / R::from_f64(b);
    let series = R::one() - e2.clone() * ratio(1.0, 10.0)
        + e3.clone() * ratio(1.0, 14.0)
        + e2.clone() * e2.clone() * ratio(1.0, 24.0)
        - e2 * e3 * ratio(3.0, 44.0);
    series / mean.sqrt()
}

/// sn, cn and the amplitude am of u, 0 ≤ m ≤ 1.
#[derive(Clone, Debug)]
pub struct Jacobi<R> {
    /// sn(u, m).
    pub sn: R,
    /// cn(u, m).
    pub cn: R,
    /// dn(u, m).
    pub dn: R,
    /// The amplitude: sn = sin am.
    pub am: R,
}

/// The Jacobi functions of u.
pub fn jacobi<R: Real>(u: &R, m: &R) -> Jacobi<R> {
    let half = R::from_f64(0.5);
    let root = (R::one() - m.clone()).sqrt();
    let (mut a, mut b, mut c) = (R::one(), root, m.sqrt());
    let mut ladder = Vec::new();
    let mut doubling = R::one();
    while c.magnitude() > R::epsilon() * a.magnitude() && ladder.len() < 60 {
        c = half.clone() * (a.clone() - b.clone());
        let mean = half.clone() * (a.clone() + b.clone());
        b = (a * b).sqrt();
        a = mean;
        doubling = doubling * R::from_f64(2.0);
        ladder.push((a.clone(), c.clone()));
    }
    // 2 φ_{n−1} = φ_n + asin(c_n/a_n sin φ_n)
    let mut phi = doubling * a * u.clone();
    for (a, c) in ladder.iter().rev() {
        let lifted = (c.clone() / a.clone() * phi.sin()).asin();
        phi = half.clone() * (phi + lifted);
    }
    let (sn, cn) = (phi.sin(), phi.cos());
    let dn = (R::one() - m.clone() * sn.clone() * sn.clone()).sqrt();
    Jacobi { sn, cn, dn, am: phi }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert!((complete(&0.5) - 1.854_074_677_301_371_9).abs() < 1e-15);
        assert!((complete(&0.0) - std::f64::consts::FRAC_PI_2).abs() < 4e-16);
        // A&S Table 17.5: F(30°\ sin²α = 0.5)
        let (s, c) = (0.5f64, 0.75f64.sqrt());
        assert!((incomplete(&s, &c, &0.5) - 0.535_622_732_805_403_3).abs() < 1e-15);
    }

    #[test]
    fn functions_invert_the_integral() {
        for m in [0.01, 0.3, 0.9, 0.999] {
            for u in [-1.2, 0.1, 0.7, 1.5] {
                let j = jacobi(&u, &m);
                assert!((incomplete(&j.sn, &j.cn.abs(), &m) - u).abs() < 1e-13 || j.cn < 0.0, "{m} {u}");
                assert!((j.sn * j.sn + j.cn * j.cn - 1.0).abs() < 4e-16);
            }
            let quarter = jacobi(&complete(&m), &m);
            assert!((quarter.sn - 1.0).abs() < 1e-14 && quarter.cn.abs() < 1e-13, "{m}: {quarter:?}");
        }
    }
}
