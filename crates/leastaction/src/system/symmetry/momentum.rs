//! What a symmetry conserves, as a number: J = Σ A_ij q_j p_i + Σ b_i p_i.
//!
//! A change of J far below its last digit is worth seeing, so the rounding errors of products and sums are carried along, and so is what
//! the state has lost to rounding.

use super::Symmetry;
use crate::scalar::Real;

/// A symmetry's conserved quantity, ready to be evaluated.
#[derive(Clone, Debug)]
pub struct Momentum<R> {
    /// p_i, q_j if it occurs, and their factor.
    terms: Vec<(usize, Option<usize>, R)>,
}

/// A number as an unevaluated sum, with the size of what was added up.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum<R> {
    /// The number.
    pub high: R,
    /// What it has lost to rounding.
    pub low: R,
    /// The sizes of all terms added up.
    pub size: f64,
}

/// A list of numbers with what they have lost to rounding.
pub type Compensated<'a, R> = (&'a [R], &'a [R]);

impl<R: Real> Momentum<R> {
    /// The conserved quantity of a symmetry.
    pub fn new(symmetry: &Symmetry) -> Self {
        let linear = symmetry.linear.iter().map(|&(i, j, x)| (i, Some(j), R::from_f64(x)));
        let shift = symmetry.shift.iter().map(|&(i, x)| (i, None, R::from_f64(x)));
        Self { terms: linear.chain(shift).collect() }
    }

    /// J at coordinates and momenta.
    pub fn at(&self, (q, q_low): Compensated<'_, R>, (p, p_low): Compensated<'_, R>) -> Sum<R> {
        let mut sum = Sum { high: R::zero(), low: R::zero(), size: 0.0 };
        for (i, j, factor) in &self.terms {
            // whole numbers, so that the factor rounds next to nothing
            let (p, p_low) = (factor.clone() * p[*i].clone(), factor.clone() * p_low[*i].clone());
            match j {
                None => sum.add(p, p_low),
                Some(j) => {
                    let (high, low) = product(&q[*j], &p);
                    let lost = q[*j].clone() * p_low + q_low[*j].clone() * p;
                    sum.add(high, low + lost);
                }
            }
        }
        sum
    }
}

impl<R: Real> Sum<R> {
    fn add(&mut self, high: R, low: R) {
        self.size += high.magnitude();
        let sum = self.high.clone() + high.clone();
        let part = sum.clone() - self.high.clone();
        let lost = (self.high.clone() - (sum.clone() - part.clone())) + (high - part);
        self.high = sum;
        self.low = self.low.clone() + (lost + low);
    }

    /// How far two sums are apart.
    pub fn distance(&self, other: &Self) -> f64 {
        let (high, low) = (self.high.clone() - other.high.clone(), self.low.clone() - other.low.clone());
        (high + low).magnitude()
    }
}

/// a·b and its rounding error (Dekker's product). Numbers with more digits than f64 have enough of them without it.
fn product<R: Real>(a: &R, b: &R) -> (R, R) {
    let high = a.clone() * b.clone();
    if R::epsilon() < f64::EPSILON {
        return (high, R::zero());
    }
    let (a1, a2) = halves(a);
    let (b1, b2) = halves(b);
    let low = (a1.clone() * b1.clone() - high.clone()) + a1 * b2.clone() + a2.clone() * b1 + a2 * b2;
    if low.is_finite() { (high, low) } else { (high, R::zero()) }
}

/// A number as a sum of two with half of its bits each.
fn halves<R: Real>(x: &R) -> (R, R) {
    let scaled = R::from_f64(134_217_729.0) * x.clone();
    let high = scaled.clone() - (scaled - x.clone());
    let low = x.clone() - high.clone();
    (high, low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Digits;
    use crate::system::catalogue;

    #[test]
    fn no_digit_is_lost_in_products_and_sums() {
        let system = catalogue::system("outer-solar-system").expect("in the catalogue");
        let problem = system.problem::<f64>(&Default::default()).expect("the default state");
        let zeros = [0.0; 18];
        let wide = |x: &[f64]| -> Vec<Digits<4>> { x.iter().map(|x| Digits::from_f64(*x)).collect() };
        use crate::scalar::Field;
        for symmetry in system.symmetries() {
            let momentum = Momentum::<f64>::new(symmetry);
            let found = momentum.at((&problem.q0, &zeros), (&problem.p0, &zeros));
            let (q, p, none) = (wide(&problem.q0), wide(&problem.p0), wide(&zeros));
            let right = Momentum::new(symmetry).at((&q, &none), (&p, &none));
            let sum = Digits::<4>::from_f64(found.high) + Digits::from_f64(found.low);
            let error = (sum - right.high).to_f64().abs();
            assert!(error < 1e-30 * found.size, "{}: {error:e} of {:e}", symmetry.name, found.size);
        }
    }

    #[test]
    fn what_the_state_has_lost_counts() {
        let system = catalogue::system("kepler").expect("in the catalogue");
        let momentum = Momentum::<f64>::new(&system.symmetries()[0]);
        let found = momentum.at((&[1.0, 0.0], &[1e-20, 0.0]), (&[0.0, 2.0], &[0.0, 1e-19]));
        assert_eq!(found.high, 2.0);
        assert!((found.low - 1.2e-19).abs() < 1e-33, "{found:?}");
    }
}
