//! Errors in units of the last place, against [`Digits`]; special values; the bits themselves; lanes against single numbers.

mod golden;

use super::*;
use crate::scalar::{Digits, Field, Real};
use golden::{DIGESTS, GOLDEN};

type Function = fn(f64) -> f64;
type Exact<const N: usize> = fn(&Digits<N>) -> Digits<N>;

/// A small generator of numbers (xorshift), the same everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Uniform, or with a uniform exponent.
    pub(super) fn between(&mut self, range: Range) -> f64 {
        match range {
            Range::Even(low, high) => low + (high - low) * self.unit(),
            Range::Scales(low, high) => {
                let exponent = low + (self.bits() % (high - low) as u64) as i32;
                let sign = if self.bits() & 1 == 0 { 1.0 } else { -1.0 };
                // in two factors, because 2^-1074 has no inverse
                sign * (1.0 + self.unit()) * powi(2.0, exponent / 2) * powi(2.0, exponent - exponent / 2)
            }
            Range::Positive(low, high) => self.between(Range::Scales(low, high)).abs(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Range {
    Even(f64, f64),
    /// Powers of two from, to.
    Scales(i32, i32),
    Positive(i32, i32),
}

/// The error in units of the last place of the right value.
fn ulps<const N: usize>(found: f64, exact: &Digits<N>) -> f64 {
    let right = exact.to_f64();
    if !right.is_finite() || !found.is_finite() {
        return if right.to_bits() == found.to_bits() { 0.0 } else { f64::INFINITY };
    }
    let exponent = ((right.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-1022);
    let error = Digits::<N>::from_f64(found) - *exact;
    // of the last place, without underflow
    let scaled = error * Digits::from_f64(powi(2.0, 500)) * Digits::from_f64(powi(2.0, 500));
    (scaled
        / Digits::from_f64(powi(2.0, (exponent - 52) / 2 + 500))
        / Digits::from_f64(powi(2.0, exponent - 52 - (exponent - 52) / 2 + 500)))
    .to_f64()
    .abs()
}

/// Prints and checks the largest error over a range.
fn measure<const N: usize>(name: &str, function: Function, exact: Exact<N>, range: Range, count: usize) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut worst, mut at) = (0.0, 0.0);
    for _ in 0..count {
        let x = random.between(range);
        let error = ulps(function(x), &exact(&Digits::from_f64(x)));
        if error.is_nan() || error > worst {
            (worst, at) = (error, x);
        }
    }
    println!("{name:6} {range:24?} {worst:.3} ulp at {at:e}");
    assert!(worst < 1.0, "{name}({at:e}) = {:e}: {worst} ulp", function(at));
}

const MANY: usize = 20_000;
/// For arguments that need numbers with many limbs.
const FEW: usize = 300;

#[test]
fn sines_cosines_and_tangents_are_right_within_one_unit() {
    let functions: [(&str, Function, Exact<6>); 3] =
        [("sin", sin, Real::sin), ("cos", cos, Real::cos), ("tan", tan, Real::tan)];
    for (name, function, exact) in functions {
        for range in [
            Range::Even(-0.8, 0.8),
            Range::Even(-7.0, 7.0),
            Range::Even(-1000.0, 1000.0),
            Range::Even(-1.7e6, 1.7e6),
            Range::Scales(-1074, 0),
            Range::Scales(-30, 50),
        ] {
            measure(name, function, exact, range, MANY);
        }
    }
    let functions: [(&str, Function, Exact<24>); 3] = [
        ("sin", sin, |x| turned(x).sin()),
        ("cos", cos, |x| turned(x).cos()),
        ("tan", tan, |x| turned(x).tan()),
    ];
    for (name, function, exact) in functions {
        measure(name, function, exact, Range::Scales(50, 1023), FEW);
    }
}

/// An angle without most of its whole turns, of which `Digits` takes off 2^52 at most.
fn turned(x: &Digits<24>) -> Digits<24> {
    let turn = Digits::pi() * Digits::from_f64(2.0);
    let mut x = *x;
    while x.to_f64().abs() > 1e12 {
        x = x - Digits::from_f64((x / turn).to_f64().round()) * turn;
    }
    x
}

#[test]
fn angles_next_to_multiples_of_a_right_angle_are_reduced_well() {
    let mut worst: f64 = 0.0;
    let mut check = |x: f64| {
        let exact = turned(&Digits::from_f64(x));
        let errors = [ulps(sin(x), &exact.sin()), ulps(cos(x), &exact.cos()), ulps(tan(x), &exact.tan())];
        for error in errors {
            assert!(error < 1.0, "{x:e}: {errors:?}");
            worst = worst.max(error);
        }
    };
    for k in (1..200).chain((200..1_100_000).step_by(9973)) {
        let x = f64::from(k) * std::f64::consts::FRAC_PI_2;
        for x in [x, x.next_up(), x.next_down()] {
            check(x);
        }
    }
    // the double that is closest to a multiple of π/2 beside its size (Muller, Handbook of floating-point arithmetic)
    check(6_381_956_970_095_103.0 * powi(2.0, 797));
    for exponent in (20..1024).step_by(13) {
        check(powi(2.0, exponent));
    }
    println!("next to multiples of π/2: {worst:.3} ulp");
}

#[test]
fn exponentials_and_logarithms_are_right_within_one_unit() {
    measure::<4>("exp", exp, Real::exp, Range::Even(-1.0, 1.0), MANY);
    measure::<4>("exp", exp, Real::exp, Range::Even(-745.0, 709.78), MANY);
    measure::<4>("exp", exp, Real::exp, Range::Scales(-1074, 3), MANY);
    measure::<4>("ln", ln, Real::ln, Range::Even(0.5, 2.0), MANY);
    measure::<4>("ln", ln, Real::ln, Range::Even(0.999, 1.001), MANY);
    measure::<4>("ln", ln, Real::ln, Range::Positive(-1074, 1023), MANY);
}

#[test]
fn hyperbolic_functions_are_right_within_one_unit() {
    measure::<6>("sinh", sinh, Real::sinh, Range::Even(-3.0, 3.0), MANY);
    measure::<6>("sinh", sinh, Real::sinh, Range::Even(-710.4, 710.4), MANY);
    measure::<20>("sinh", sinh, Real::sinh, Range::Scales(-500, 0), FEW);
    measure::<6>("cosh", cosh, Real::cosh, Range::Even(-3.0, 3.0), MANY);
    measure::<6>("cosh", cosh, Real::cosh, Range::Even(-710.4, 710.4), MANY);
    measure::<6>("tanh", tanh, Real::tanh, Range::Even(-3.0, 3.0), MANY);
    measure::<6>("tanh", tanh, Real::tanh, Range::Even(-30.0, 30.0), MANY);
    measure::<20>("tanh", tanh, Real::tanh, Range::Scales(-500, 0), FEW);
}

#[test]
fn inverse_functions_are_right_within_one_unit() {
    for range in [Range::Even(-1.0, 1.0), Range::Even(0.49, 0.51), Range::Even(0.999, 1.0)] {
        measure::<6>("asin", asin, Real::asin, range, MANY);
        measure::<6>("acos", acos, Real::acos, range, MANY);
    }
    measure::<6>("asin", asin, Real::asin, Range::Scales(-100, -1), MANY);
    measure::<6>("acos", acos, Real::acos, Range::Scales(-100, -1), MANY);
    measure::<6>("atan", atan, Real::atan, Range::Even(-3.0, 3.0), MANY);
    measure::<6>("atan", atan, Real::atan, Range::Scales(-100, 100), MANY);
}

/// Prints and checks the largest error of a function of two numbers.
fn measure_two(
    name: &str,
    function: fn(f64, f64) -> f64,
    exact: fn(&Digits<6>, &Digits<6>) -> Digits<6>,
    (first, second): (Range, Range),
) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut worst, mut at) = (0.0, (0.0, 0.0));
    for _ in 0..MANY {
        let (x, y) = (random.between(first), random.between(second));
        let right = exact(&Digits::from_f64(x), &Digits::from_f64(y));
        let error = ulps(function(x, y), &right);
        // beyond the range of f64 there is nothing to compare
        if right.to_f64().is_finite() && right.to_f64() != 0.0 && (error.is_nan() || error > worst) {
            (worst, at) = (error, (x, y));
        }
    }
    println!("{name:6} {first:?} {second:?} {worst:.3} ulp at {at:?}");
    assert!(worst < 1.0, "{name}{at:?} = {:e}: {worst} ulp", function(at.0, at.1));
}

#[test]
fn powers_and_angles_of_points_are_right_within_one_unit() {
    measure_two("pow", pow, Real::pow, (Range::Even(0.0, 10.0), Range::Even(-5.0, 5.0)));
    measure_two("pow", pow, Real::pow, (Range::Even(0.9, 1.1), Range::Even(-5000.0, 5000.0)));
    measure_two("pow", pow, Real::pow, (Range::Positive(-1074, 1023), Range::Even(-1.0, 1.0)));
    measure_two("pow", pow, Real::pow, (Range::Positive(-60, 60), Range::Even(-12.0, 12.0)));
    measure_two("atan2", atan2, Real::atan2, (Range::Even(-3.0, 3.0), Range::Even(-3.0, 3.0)));
    measure_two("atan2", atan2, Real::atan2, (Range::Scales(-100, 100), Range::Scales(-100, 100)));
    for (y, x) in [(1e-320, 3e-320), (1e308, -1.5e308), (3e-310, -1e300), (5e-324, 1.0), (1e300, 1e-300)] {
        let exact: Digits<24> = Digits::from_f64(y).atan2(&Digits::from_f64(x));
        assert!(ulps(atan2(y, x), &exact) < 1.0, "atan2({y:e}, {x:e}) = {:e}", atan2(y, x));
    }
}

fn same(found: f64, right: f64) -> bool {
    found.to_bits() == right.to_bits() || found.is_nan() && right.is_nan()
}

#[test]
fn special_values_are_those_of_ieee_754() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let odd: [(&str, Function); 6] =
        [("sin", sin), ("tan", tan), ("asin", asin), ("atan", atan), ("sinh", sinh), ("tanh", tanh)];
    for (name, function) in odd {
        for x in [0.0, 5e-324, 1e-310, 1e-300, 1e-20] {
            assert!(same(function(x), x) && same(function(-x), -x), "{name} of {x:e}");
        }
        assert!(function(NAN).is_nan(), "{name}");
    }
    let pi = std::f64::consts::PI;
    let cases: &[(Function, f64, f64)] = &[
        (sin, INF, NAN),
        (cos, -INF, NAN),
        (tan, INF, NAN),
        (cos, 0.0, 1.0),
        (cos, NAN, NAN),
        (exp, 0.0, 1.0),
        (exp, -0.0, 1.0),
        (exp, INF, INF),
        (exp, -INF, 0.0),
        (exp, 709.79, INF),
        (exp, -745.2, 0.0),
        (exp, NAN, NAN),
        (ln, 0.0, -INF),
        (ln, -0.0, -INF),
        (ln, 1.0, 0.0),
        (ln, -1.0, NAN),
        (ln, -INF, NAN),
        (ln, INF, INF),
        (ln, NAN, NAN),
        (asin, 1.0, pi / 2.0),
        (asin, -1.0, -pi / 2.0),
        (asin, 1.0 + f64::EPSILON, NAN),
        (asin, INF, NAN),
        (acos, 1.0, 0.0),
        (acos, -1.0, pi),
        (acos, 0.0, pi / 2.0),
        (acos, -2.0, NAN),
        (acos, NAN, NAN),
        (atan, INF, pi / 2.0),
        (atan, -INF, -pi / 2.0),
        (atan, 1e300, pi / 2.0),
        (sinh, INF, INF),
        (sinh, -INF, -INF),
        (sinh, 711.0, INF),
        (cosh, 0.0, 1.0),
        (cosh, -INF, INF),
        (cosh, 711.0, INF),
        (cosh, NAN, NAN),
        (tanh, INF, 1.0),
        (tanh, -INF, -1.0),
        (tanh, 30.0, 1.0),
    ];
    for (i, (function, x, right)) in cases.iter().enumerate() {
        assert!(same(function(*x), *right), "case {i}: of {x:e}: {:e}, not {right:e}", function(*x));
    }
}

#[test]
fn special_powers_and_angles_are_those_of_the_c_standard() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let numbers = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        4.0,
        0.999,
        1e-320,
        1e-300,
        1e300,
        4503599627370497.0,
        9007199254740993.0,
        1e19,
        1e22,
        INF,
        NAN,
    ];
    let numbers: Vec<f64> = numbers.iter().flat_map(|x| [*x, -*x]).collect();
    for &x in &numbers {
        for &y in &numbers {
            // the platform's functions know the special cases; elsewhere they are right to some bits
            let close = |found: f64, right: f64| {
                same(found, right) || (found - right).abs() <= 4.0 * f64::EPSILON * right.abs() + 5e-324
            };
            assert!(close(pow(x, y), x.powf(y)), "pow({x:e}, {y:e}) = {:e}, not {:e}", pow(x, y), x.powf(y));
            let (found, right) = (atan2(x, y), x.atan2(y));
            assert!(close(found, right), "atan2({x:e}, {y:e}) = {found:e}, not {right:e}");
            assert!(
                found.is_nan() || found.is_sign_negative() == right.is_sign_negative(),
                "atan2({x:e}, {y:e})"
            );
        }
    }
}

/// All functions of one number by name.
const FUNCTIONS: [(&str, Function); 12] = [
    ("sin", sin),
    ("cos", cos),
    ("tan", tan),
    ("exp", exp),
    ("ln", ln),
    ("asin", asin),
    ("acos", acos),
    ("atan", atan),
    ("sinh", sinh),
    ("cosh", cosh),
    ("tanh", tanh),
    ("pow", |x| pow(x, 1.7)),
];

/// The arguments of the golden values: ordinary ones, then all sizes.
fn arguments(name: &str) -> Vec<f64> {
    let mut random = Random(0x0123_4567_89ab_cdef);
    let (low, high) = match name {
        "asin" | "acos" => (-1.0, 1.0),
        "ln" | "pow" => (0.0, 10.0),
        _ => (-10.0, 10.0),
    };
    let mut list: Vec<f64> = (0..20).map(|_| random.between(Range::Even(low, high))).collect();
    let scales = match name {
        "asin" | "acos" => Range::Scales(-300, 0),
        "ln" | "pow" => Range::Positive(-500, 500),
        "sin" | "cos" | "tan" => Range::Scales(-300, 1020),
        _ => Range::Scales(-300, 9),
    };
    list.extend((0..10).map(|_| random.between(scales)));
    list
}

/// The bits of a function at many arguments, of all sizes and where it is used most, as one number.
fn digest(name: &str, function: Function) -> u64 {
    let mut random = Random(0xfeed_5eed_0bad_cafe);
    let ranges = match name {
        "asin" | "acos" => [Range::Even(-1.0, 1.0), Range::Even(-0.5, 0.5), Range::Scales(-60, 0)],
        "ln" | "pow" => [Range::Even(0.0, 10.0), Range::Even(0.5, 2.0), Range::Positive(-500, 500)],
        "sin" | "cos" | "tan" => [Range::Even(-10.0, 10.0), Range::Even(-0.8, 0.8), Range::Scales(-60, 1020)],
        _ => [Range::Even(-10.0, 10.0), Range::Even(-1.0, 1.0), Range::Scales(-60, 9)],
    };
    // FNV-1a, a word at a time
    ranges.into_iter().fold(0xcbf2_9ce4_8422_2325, |digest, range| {
        (0..MANY).fold(digest, |digest: u64, _| {
            (digest ^ function(random.between(range)).to_bits()).wrapping_mul(0x0100_0000_01b3)
        })
    })
}

#[test]
fn many_bits_are_the_same_on_every_machine() {
    // a change of the order of operations alters the last bit of a few arguments in a hundred, or in a thousand
    let found: Vec<u64> = FUNCTIONS.iter().map(|(name, function)| digest(name, *function)).collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        println!("{found:#018x?}");
        return;
    }
    for (((name, _), found), right) in FUNCTIONS.iter().zip(found).zip(DIGESTS) {
        assert_eq!(found, right, "{name} has other bits at some of {} arguments", 3 * MANY);
    }
}

#[test]
fn the_bits_are_the_same_on_every_machine() {
    let mut found = Vec::new();
    for (name, function) in FUNCTIONS {
        found.extend(arguments(name).into_iter().map(|x| function(x).to_bits()));
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let rows: Vec<String> = found
            .chunks(5)
            .map(|row| row.iter().map(|x| format!("{x:#018x}")).collect::<Vec<_>>().join(", "))
            .collect();
        println!("{}", rows.join(",\n    "));
        return;
    }
    assert_eq!(found.len(), GOLDEN.len());
    for (i, (found, right)) in found.iter().zip(GOLDEN).enumerate() {
        let (name, _) = FUNCTIONS[i / 30];
        let x = arguments(name)[i % 30];
        assert_eq!(*found, right, "{name}({x:e}) has other bits");
    }
}

#[test]
fn lanes_give_the_same_bits_as_single_numbers() {
    type P = Pack<4>;
    let wide: [fn(P) -> P; 12] =
        [sin, cos, tan, exp, ln, asin, acos, atan, sinh, cosh, tanh, |x| pow(x, x.constant(1.7))];
    let mut random = Random(7);
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 1e308, 0.5];
    for ((name, function), wide) in FUNCTIONS.iter().zip(wide) {
        for round in 0..2000 {
            let x: [f64; 4] = std::array::from_fn(|i| match (round + i) % 4 {
                0 => random.between(Range::Even(-1.0, 1.0)),
                1 => random.between(Range::Even(-20.0, 20.0)),
                2 => random.between(Range::Scales(-1000, 1000)),
                _ => special[random.bits() as usize % special.len()],
            });
            let all = wide(Pack(x)).0;
            for i in 0..4 {
                assert!(same(all[i], function(x[i])), "{name}({:e}) in lane {i}", x[i]);
            }
        }
    }
}

#[test]
fn integer_powers_multiply_in_the_order_of_the_graph() {
    assert_eq!(powi(1.1, 5), 1.1 * ((1.1 * 1.1) * (1.1 * 1.1)));
    assert_eq!(powi(3.0, -2), 1.0 / 9.0);
    assert_eq!(powi(7.0, 0), 1.0);
    assert_eq!(powi(2.0, i32::MIN), 0.0);
}
