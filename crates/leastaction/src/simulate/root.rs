//! A root of a function between two points where its signs differ, by Chandrupatla's method (Advances in Engineering Software
//! 28 (1997) 145): inverse quadratic interpolation where that is safe, else halving. The function may fail. A sign that changes
//! through infinity or by a jump is no root.

use crate::scalar::Real;

/// More evaluations than halving needs with the most digits there are.
const MOST: usize = 1000;

/// −1, 0 or 1.
pub(super) fn sign<R: Real>(x: &R) -> i8 {
    x.sign().to_f64() as i8
}

/// A function tends to zero if, on the side where it was larger, this part of it or less is left at the root.
const TENDS: f64 = 0.5;

/// A change of sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change<R> {
    /// Through zero, and where.
    Root(R),
    /// Without a zero, at a jump or a pole, and where.
    Jump(R),
}

/// So many units of rounding beside a zero a function has left it, though coordinates and times are rounded as well.
const BESIDE: f64 = 65_536.0;

/// The point of a bracket [a, b] in 0..1 where a function is zero, to the last digits of the number type.
/// The values at a and b are known and have opposite signs. A jump if the function does not tend to zero there.
pub(super) fn root<R: Real, E>(
    (mut a, mut value_a): (R, R),
    (mut b, mut value_b): (R, R),
    mut function: impl FnMut(&R) -> Result<R, E>,
) -> Result<Change<R>, E> {
    // the end where the function is larger; the other one may be as near to the root as rounding allows
    let large = if sign(&(value_a.abs() - value_b.abs())) > 0 { value_a.clone() } else { value_b.clone() };
    let (half, one) = (R::from_f64(0.5), R::one());
    let tolerance = R::from_f64(2.0 * R::epsilon());
    let mut t = half.clone();
    for _ in 0..MOST {
        let x = a.clone() + t * (b.clone() - a.clone());
        let value = function(&x)?;
        if !value.is_finite() {
            return Ok(Change::Jump(x));
        }
        // c: the end that was replaced
        let (c, value_c);
        if sign(&value) == sign(&value_a) {
            (c, value_c) = (a, value_a);
        } else {
            (c, value_c) = (b, value_b);
            (b, value_b) = (a, value_a);
        }
        (a, value_a) = (x, value);
        let nearer_a = sign(&(value_a.abs() - value_b.abs())) <= 0;
        let (best, value_best) = if nearer_a { (&a, &value_a) } else { (&b, &value_b) };
        let width = (b.clone() - a.clone()).abs();
        let least = if sign(&width) == 0 { one.clone() } else { tolerance.clone() / width };
        if sign(value_best) == 0 {
            return zero(best.clone(), &large, function);
        }
        if sign(&(least.clone() - half.clone())) >= 0 {
            let left = if sign(&value_a) == sign(&large) { &value_a } else { &value_b };
            let tends = sign(&(left.abs() - R::from_f64(TENDS) * large.abs())) <= 0;
            return Ok(if tends { Change::Root(best.clone()) } else { Change::Jump(best.clone()) });
        }
        let (ab, cb) = (a.clone() - b.clone(), c.clone() - b.clone());
        let (fab, fcb) = (value_a.clone() - value_b.clone(), value_c.clone() - value_b.clone());
        let (xi, phi) = ((ab.clone() / cb).to_f64(), (fab.clone() / fcb.clone()).to_f64());
        t = half.clone();
        if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            // inverse quadratic interpolation through the three points
            let fca = value_c.clone() - value_a.clone();
            let first = value_a.clone() / fab * value_c.clone() / fcb.clone();
            let second = (a.clone() - c) / ab * value_a.clone() / fca * value_b.clone() / fcb;
            t = first + second;
        }
        if sign(&(t.clone() - least.clone())) < 0 {
            t = least;
        } else if sign(&(t.clone() + least.clone() - one.clone())) > 0 {
            t = one.clone() - least;
        }
    }
    Ok(Change::Root(a))
}

/// What a zero is that was met exactly: a jump, like that of sign(x), if the function does not tend to it on either side, where it was
/// as large as this.
pub(super) fn zero<R: Real, E>(
    at: R,
    large: &R,
    mut function: impl FnMut(&R) -> Result<R, E>,
) -> Result<Change<R>, E> {
    let most = TENDS * large.magnitude();
    for apart in [-BESIDE, BESIDE] {
        let beside = function(&(at.clone() + R::from_f64(apart * R::epsilon())))?;
        if beside.magnitude() > most {
            return Ok(Change::Jump(at));
        }
    }
    Ok(Change::Root(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Digits, Field};

    fn solve<R: Real>(a: f64, b: f64, function: impl Fn(&R) -> R) -> (R, usize) {
        let (a, b) = (R::from_f64(a), R::from_f64(b));
        let (value_a, value_b) = (function(&a), function(&b));
        let mut count = 0;
        let found = root((a, value_a), (b, value_b), |x| {
            count += 1;
            Ok::<_, ()>(function(x))
        });
        let Ok(Change::Root(x)) = found else { panic!("{found:?}") };
        (x, count)
    }

    #[test]
    fn roots_are_found_to_the_last_digits_in_few_evaluations() {
        let (x, count) = solve::<f64>(0.0, 1.0, |x| x.cos() - x);
        assert!((x - 0.739_085_133_215_160_6).abs() < 3e-16 && count <= 9, "{x} {count}");
        let (x, count) = solve::<Digits<4>>(0.0, 1.0, |x| *x * *x - Digits::from_f64(0.5));
        let error = (x - Digits::from_f64(0.5).sqrt()).to_f64().abs();
        assert!(error < 1e-76 && count <= 14, "{error:e} {count}");
    }

    #[test]
    fn hard_roots_cost_a_little_more_than_halving() {
        for (name, root, function) in [
            ("flat", 0.3, (|x: &f64| (x - 0.3).powi(9)) as fn(&f64) -> f64),
            ("cubic root", 1.0 / 3.0, |x: &f64| (x - 1.0 / 3.0).cbrt()),
            ("at the edge", 1e-9, |x: &f64| x - 1e-9),
            ("steep", 0.999, |x: &f64| (50.0 * (x - 0.999)).exp() - 1.0),
        ] {
            let (x, count) = solve::<f64>(0.0, 1.0, function);
            let band = if name == "flat" { 1e-6 } else { 4e-16 };
            assert!((x - root).abs() <= band && count < 110, "{name}: {x} {count}");
        }
    }

    #[test]
    fn poles_and_jumps_are_no_roots() {
        for (name, function) in [
            ("pole", (|x: &f64| 1.0 / (x - 1.0 / 3.0)) as fn(&f64) -> f64),
            ("pole at a number", |x: &f64| 1.0 / (x - 0.25)),
            ("pole beside an end", |x: &f64| 1.0 / (x - 1e-15)),
            ("weak pole", |x: &f64| (x - 0.7).signum() * (x - 0.7).abs().powf(-0.1)),
            ("jump through zero", |x: &f64| if *x == 0.5 { 0.0 } else { (x - 0.5).signum() }),
            ("jump", |x: &f64| if *x < 1.0 / 3.0 { -1.0 } else { 1e9 }),
            ("angle", |x: &f64| (0.6 - x).atan2(-1.0)),
        ] {
            let (a, b) = ((0.0, function(&0.0)), (1.0, function(&1.0)));
            assert!(a.1 * b.1 < 0.0, "{name}");
            let found = root(a, b, |x| Ok::<_, ()>(function(x)));
            assert!(matches!(found, Ok(Change::Jump(x)) if x.abs() < 0.8), "{name}: {found:?}");
        }
        // one end is as near to the root as rounding lets it be
        let (x, _) = solve::<f64>(0.0, 1.0, |x| x - 1e-17);
        assert!(x.abs() < 1e-15, "{x}");
    }
}
