//! Against values of mpmath at 100 digits.

mod reference;

use super::*;
use crate::scalar::Real;
use reference::REFERENCE;

/// The relative distance from a decimal reference, in units of the last place.
fn ulps<const N: usize>(found: &Digits<N>, reference: &str) -> f64 {
    let exact: Digits<N> = text::parse(reference).unwrap();
    ((*found - exact) / exact).to_f64().abs() / Digits::<N>::epsilon()
}

fn evaluate<const N: usize>(name: &str, x: &Digits<N>) -> Digits<N> {
    let y = Digits::from_f64(0.75);
    match name {
        "sqrt" => x.sqrt(),
        "exp" => x.exp(),
        "ln" => x.ln(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "atan2" => x.atan2(&-y),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "pow" => x.pow(&y),
        "recip" => Digits::one() / *x,
        "square" => *x * *x,
        "add" => *x + y,
        "sub" => *x - y,
        _ => panic!("{name}"),
    }
}

fn check<const N: usize>() {
    for (name, x, reference) in REFERENCE {
        let found = evaluate(name, &Digits::<N>::from_decimal(x));
        let error = ulps(&found, reference);
        // a reference with 100 digits cannot judge more
        let limit = 1e-99 / Digits::<N>::epsilon();
        assert!(error < limit.max(8.0), "{name}({x}) with {N} limbs: {error:.0} ulps, {found}");
    }
}

#[test]
fn elementary_functions_are_right_within_the_spare_digits() {
    check::<2>();
    check::<3>();
    check::<4>();
    check::<5>();
    check::<8>();
}

/// The same number with more limbs.
fn widened<const N: usize, const M: usize>(x: &Digits<N>) -> Digits<M> {
    let limbs = std::array::from_fn(|k| if k + N >= M { x.limbs[k + N - M] } else { 0 });
    Digits { class: x.class, negative: x.negative, exponent: x.exponent, limbs }
}

/// The largest errors of sines and cosines of many angles, in units of the last place; M must exceed N.
fn circle_errors<const N: usize, const M: usize>() -> f64 {
    let quarter = Digits::<N>::pi().scaled(-1);
    let step = Digits::<N>::from_decimal("0.0123456789");
    let mut largest = 0.0f64;
    for k in -300..300 {
        // spread over several turns, next to multiples of π/2 and near zero
        let even = Digits::integer(k) * step;
        let small = (step * step).scaled(-k.abs());
        for x in [even, even.scaled(4), even.scaled(-7), small, quarter * Digits::integer(k) + small] {
            let (found, exact) = (x.sin_cos(), widened::<N, M>(&x).sin_cos());
            for (found, exact) in [(found.0, exact.0), (found.1, exact.1)] {
                // where the angle itself is rounded, next to a multiple of π/2, digits of a tiny sine are lost
                let scale = exact.magnitude().max(1e-6 * x.magnitude()).max(f64::MIN_POSITIVE);
                let error = (widened::<N, M>(&found) - exact).magnitude() / scale;
                largest = largest.max(error / Digits::<N>::epsilon());
            }
        }
    }
    largest
}

#[test]
fn sines_and_cosines_are_right_to_their_last_places() {
    for error in
        [circle_errors::<1, 3>(), circle_errors::<2, 5>(), circle_errors::<4, 8>(), circle_errors::<8, 12>()]
    {
        println!("{error:.2} ulps");
        assert!(error < 1.5, "{error} ulps");
    }
    // so many turns that f64 misses some
    let far = Digits::<4>::from_f64(6e15);
    let (found, exact) = (far.sin_cos(), widened::<4, 6>(&far).sin_cos());
    assert!((widened::<4, 6>(&found.0) - exact.0).to_f64().abs() < 1e-70);
    assert!((widened::<4, 6>(&found.1) - exact.1).to_f64().abs() < 1e-70);
}

#[test]
fn pi_to_all_its_digits() {
    const PI: &str = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798";
    assert!(ulps(&Digits::<2>::pi(), PI) < 2.0 && ulps(&Digits::<5>::pi(), PI) < 2.0);
}

#[test]
fn f64_converts_both_ways_exactly() {
    for x in [0.0, 1.0, -0.1, 1e300, 5e-324, -2.5e-310, f64::MAX, f64::MIN_POSITIVE, 123456.789] {
        assert_eq!(Digits::<4>::from_f64(x).to_f64(), x);
    }
    assert!(Digits::<4>::from_f64(f64::NAN).to_f64().is_nan());
    assert_eq!(Digits::<4>::from_f64(f64::NEG_INFINITY).to_f64(), f64::NEG_INFINITY);
}

#[test]
fn arithmetic_agrees_with_f64_where_f64_is_exact() {
    let numbers = [0.0, 1.0, -1.0, 3.0, 0.5, -0.375, 1024.0, 7e5, -12345.0, 1e-3];
    for a in numbers {
        for b in numbers {
            let (x, y) = (Digits::<4>::from_f64(a), Digits::<4>::from_f64(b));
            assert!(((x + y).to_f64() - (a + b)).abs() <= 1e-16 * (a + b).abs());
            assert!(((x - y).to_f64() - (a - b)).abs() <= 2e-16 * (a - b).abs());
            assert!(((x * y).to_f64() - a * b).abs() <= 2e-16 * (a * b).abs());
            if b != 0.0 {
                assert!(((x / y).to_f64() - a / b).abs() <= 2e-16 * (a / b).abs());
            }
        }
    }
}

#[test]
fn operations_invert_each_other() {
    inversions::<1>();
    inversions::<2>();
    inversions::<4>();
    inversions::<7>();
}

fn inversions<const N: usize>() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        seed ^ seed >> 29
    };
    for round in 0..3000 {
        let mut number = || {
            // long runs of ones and zeros are where carries go wrong
            let mut limbs: [u64; N] =
                std::array::from_fn(|_| [next(), 0, u64::MAX, next() << 60][(next() >> 60) as usize % 4]);
            limbs[N - 1] |= 1 << 63;
            let exponent = (next() >> 56) as i64 - 128;
            Digits { class: Class::Finite, negative: next() >> 63 == 1, exponent, limbs }
        };
        let (a, b) = (number(), number());
        let error = (((a / b) * b - a) / a).to_f64().abs();
        assert!(error <= 2.0 * Digits::<N>::epsilon(), "{round}: {a:?} / {b:?}: {error:e}");
        let sum = a + b;
        let error = ((sum - b) - a).to_f64().abs() / sum.to_f64().abs().max(b.to_f64().abs());
        assert!(error <= 2.0 * Digits::<N>::epsilon(), "{round}: {a:?} + {b:?}: {error:e}");
        let divisor = 1 + (next() >> 40);
        let error = ((a.over(divisor) * Digits::integer(divisor as i64) - a) / a).to_f64().abs();
        assert!(error <= 2.0 * Digits::<N>::epsilon(), "{round}: {a:?} over {divisor}: {error:e}");
        let root = a.abs().sqrt();
        let error = ((root * root - a.abs()) / a).to_f64().abs();
        assert!(error <= 6.0 * Digits::<N>::epsilon(), "{round}: sqrt {a:?}: {error:e}");
    }
}

#[test]
fn decimals_print_as_they_were_read() {
    for text in
        ["9.81", "-1.25e-7", "3", "1.844674407370955161600000000000000000000000000000000000000000001e19"]
    {
        let x = Digits::<4>::from_decimal(text);
        let printed = x.to_decimal(64);
        let again = Digits::from_decimal(&printed);
        assert!(((x - again) / x).to_f64().abs() < 1e-63, "{text} {printed}");
    }
    assert_eq!(Digits::<4>::from_decimal("0.001").to_decimal(5), "1.0000e-3");
    assert_eq!(Digits::<4>::from_decimal("9.99999").to_decimal(3), "1.00e1");
    assert_eq!(Digits::<4>::from_decimal("-123.456").to_decimal(6), "-1.23456e2");
    assert!(Digits::<4>::from_decimal("1.2.3").to_f64().is_nan());
    // 9.81 is not the f64 nearest to it
    assert!(Digits::<4>::from_decimal("9.81") != Digits::from_f64(9.81));
}

#[test]
fn special_values_follow_the_rules() {
    let (zero, one) = (Digits::<4>::zero(), Digits::<4>::one());
    let infinite = one / zero;
    assert_eq!(infinite.to_f64(), f64::INFINITY);
    assert!((infinite - infinite).to_f64().is_nan());
    assert!((zero / zero).to_f64().is_nan());
    assert!((-one).sqrt().to_f64().is_nan());
    assert!((-one).ln().to_f64().is_nan());
    assert_eq!((-infinite).exp().to_f64(), 0.0);
    assert!(!infinite.is_finite() && zero.is_finite());
    for (y, x) in [(0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (2.0, -3.0), (-2.0, -3.0), (-2.0, 3.0)] {
        let found = Digits::<4>::from_f64(y).atan2(&Digits::from_f64(x)).to_f64();
        assert!((found - f64::atan2(y, x)).abs() < 1e-15, "{y} {x}: {found}");
    }
    assert_eq!(Digits::<4>::from_f64(-2.0).pow(&Digits::from_f64(3.0)).to_f64(), -8.0);
    assert!(Digits::<4>::from_f64(-2.0).pow(&Digits::from_f64(0.5)).to_f64().is_nan());
    assert_eq!(Digits::<4>::from_f64(-2.0).sign().to_f64(), -1.0);
}
