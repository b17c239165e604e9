//! Closed forms with 77 digits: against simulations, against independent values, and what `f64` makes of them.
//!
//! Every kind of motion is here: pendulums that swing, turn round, rest, or are on or next to the separatrix; tops with loops,
//! cusps and waves, in steady precession, through and past their poles, rising for ever, without spin, in a plane.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::exact;
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Dual, Field, Real};
use leastaction::simulate::{Outcome, simulate};
use leastaction::system::{Quantity, Start, Velocities};

type Wide = Digits<4>;

/// A system of the catalogue with its initial q and v as formulas.
#[derive(Clone, Copy, Debug)]
struct Case(&'static str, &'static [&'static str], &'static [&'static str]);

impl Case {
    fn problem<R: Real>(&self) -> Problem<R> {
        let quantities = |x: &[&str]| x.iter().map(|x| Quantity::from(*x)).collect::<Vec<_>>();
        let settings = Settings {
            q: Some(quantities(self.1)),
            start: Some(Start::Velocities(quantities(self.2))),
            ..Settings::default()
        };
        catalogue::system(self.0).unwrap().problem(&settings).unwrap()
    }
}

const PENDULUMS: [Case; 7] = [
    Case("pendulum", &["pi/2"], &["0"]),
    Case("pendulum", &["1"], &["-3"]),
    Case("pendulum", &["3"], &["1"]),
    Case("pendulum", &["1"], &["14"]),
    Case("pendulum", &["-2"], &["-15"]),
    Case("pendulum", &["1"], &["2*omega*cos(1/2)"]),
    Case("pendulum", &["7"], &["-2*omega*cos(7/2)"]),
];
/// Turns round with little more than the energy it takes.
const NEARLY_OVER: Case = Case("pendulum", &["-3"], &["2*omega*(cos(3/2) + 1e-15)"]);

const TOPS: [Case; 7] = [
    // cusps, waves
    Case("lagrange-top-cusps", &["0", "pi/6", "0"], &["0", "0", "2*pi"]),
    Case("lagrange-top-cusps", &["0", "1", "0"], &["1", "2", "5"]),
    // no momentum about the axis; the mirror image of an angle
    Case("lagrange-top-cusps", &["0", "-1.5", "0"], &["8", "2", "-8*cos(1.5)"]),
    Case("lagrange-top-reduced", &["pi/6"], &["0"]),
    Case("lagrange-top-reduced", &["1 - 2*pi"], &["-3"]),
    Case("spherical-pendulum", &["pi/3", "0"], &["0", "1.5"]),
    Case("spherical-pendulum", &["-2", "0.3"], &["1", "3"]),
];

/// Loops.
const LOOPS: Case = Case("lagrange-top", &["0", "pi/3", "0"], &["9.2", "0", "252"]);

/// Through the upper pole, p_phi = p_psi.
const OVER: Case = Case("lagrange-top-cusps", &["0", "0.2", "0"], &["2", "-9", "2*sin(1/10)^2"]);

const SPECIAL: [Case; 8] = [
    // steady precession, and next to it
    Case("lagrange-top-cusps", &["0", "pi/2", "0"], &["pi", "0", "2*pi"]),
    Case("lagrange-top-cusps", &["0", "pi/2", "0"], &["pi", "1e-20", "2*pi"]),
    Case("lagrange-top-cusps", &["0", "pi/2", "0"], &["pi + 1e-20", "0", "2*pi"]),
    // through the lower pole, p_phi = −p_psi
    Case("lagrange-top-cusps", &["0", "2", "0"], &["2", "3", "-2*cos(1)^2"]),
    // p_phi = p_psi below the pole's energy
    Case("lagrange-top-cusps", &["0", "1", "0"], &["9", "0", "9*sin(1/2)^2"]),
    // towards the upright position for ever
    Case(
        "lagrange-top-cusps",
        &["0", "1", "0"],
        &["2", "-sqrt(8*pi^2*(1 - cos(1)) - 4*sin(1)^2)", "2*sin(1/2)^2"],
    ),
    // in a plane, over the top and not
    Case("lagrange-top-cusps", &["0.5", "1", "0.2"], &["0", "9", "0"]),
    Case("spherical-pendulum", &["1", "0.3"], &["2", "0"]),
];

/// The largest difference to a simulation of order 40, relative to the size of the coordinates, after so many of
/// `per_period` steps.
fn difference(case: &Case, steps: u64, per_period: f64) -> f64 {
    let problem: Problem<Wide> = case.problem();
    let period = exact::period(&problem).map_or(0.5, |period| period.to_f64());
    let step = Wide::from_f64(period / per_period);
    let mut stepper = Stepper::new(&problem, &Method::named("gauss40").unwrap(), step);
    let mut state = State::new(&problem);
    assert!(
        matches!(simulate(&problem, &mut stepper, &mut state, steps, &mut []), Outcome::Done),
        "{case:?}"
    );
    let solution = exact::solution(&problem).expect("a closed form");
    let expected = solution.at(&(step * Wide::from_f64(steps as f64)));
    let error = |(&i, x): (&usize, Wide)| (state.q[i] - x).to_f64().abs() / (1.0 + x.to_f64().abs());
    let worst = solution.coordinates.iter().zip(expected).map(error).fold(0.0, f64::max);
    println!("{case:?} {worst:.1e}");
    worst
}

#[test]
fn pendulums_to_sixty_digits() {
    for case in PENDULUMS {
        assert!(difference(&case, 80, 100.0) < 1e-60, "{case:?}");
    }
    // down from the top and most of the way up again
    assert!(difference(&NEARLY_OVER, 300, 500.0) < 1e-60);
}

#[test]
fn tops_to_sixty_digits() {
    for case in TOPS {
        let finer = if case.0 == "spherical-pendulum" { 2 } else { 1 };
        assert!(difference(&case, 50 * finer, 80.0 * finer as f64) < 1e-60, "{case:?}");
    }
    // its axis comes close to a pole half way
    assert!(difference(&LOOPS, 110, 200.0) < 1e-60);
}

#[test]
fn special_motions_to_sixty_digits() {
    for case in SPECIAL {
        assert!(difference(&case, 25, 80.0) < 1e-60, "{case:?}");
    }
    assert!(difference(&OVER, 20, 400.0) < 1e-60);
}

/// Motions that pass a pole, are steady or never repeat: `f64` against 77 digits from the same formulas.
#[test]
fn special_motions_in_f64() {
    for case in SPECIAL.iter().chain([&OVER]) {
        let (narrow, wide) = (case.problem::<f64>(), case.problem::<Wide>());
        let (found, expected) = (exact::solution(&narrow).unwrap(), exact::solution(&wide).unwrap());
        let until = exact::period(&narrow).map_or(1.0, |period| 10.0 * period);
        for k in 0..20 {
            let t = until * f64::from(k) / 20.0;
            for (x, y) in found.at(&t).iter().zip(expected.at(&Wide::from_f64(t))) {
                let error = (x - y.to_f64()).abs();
                assert!(error < 1e-12 * (1.0 + y.to_f64().abs()), "{case:?} {t}: {error:e}");
            }
        }
    }
}

/// An axis that misses the pole by a hair turns by π beside it, where one that passes through changes the sign of θ.
#[test]
fn past_a_pole() {
    let missed = Case(OVER.0, OVER.1, &["2", "-9", "2*sin(1/10)^2 + 1e-30"]);
    let [over, missed] =
        [OVER, missed].map(|case| exact::solution::<Wide>(&case.problem()).unwrap().at(&Wide::from_f64(0.1)));
    let turned = (over[0] - missed[0]).abs() - Wide::pi();
    for difference in [turned, over[1] + missed[1], (over[2] - missed[2]).abs() - Wide::pi()] {
        assert!(difference.to_f64().abs() < 1e-27, "{difference:?}");
    }
    assert!(over[1].to_f64() < 0.0);
}

/// Precession and spin over a nutation period, by quadrature with 40 digits (mpmath).
#[test]
fn angles_over_a_period() {
    for (name, phi, psi) in [
        ("lagrange-top", "15.9406539793578407319092897185461187", "460.018878005797915789674704206487981"),
        (
            "lagrange-top-cusps",
            "2.8638938214564898341828048730286497",
            "3.14159265358979323846264338327950288",
        ),
    ] {
        let problem: Problem<Wide> = catalogue::system(name).unwrap().problem(&Settings::default()).unwrap();
        let solution = exact::solution(&problem).unwrap();
        let period = exact::period(&problem).unwrap();
        for periods in [1.0, 1000.0] {
            let found = solution.at(&(Wide::from_f64(periods) * period));
            for (i, expected) in [(0, phi), (2, psi)] {
                let expected = Wide::from_f64(periods) * Wide::from_decimal(expected);
                let error = (found[i] / expected - Wide::one()).to_f64().abs();
                assert!(error < 1e-34, "{name} {i}: {error:e}");
            }
        }
    }
}

/// Momenta of the closed form: in dual numbers it gives the velocities too.
#[test]
fn cyclic_momenta_are_constant() {
    for case in TOPS.iter().chain(&SPECIAL).chain([&LOOPS]) {
        let problem: Problem<f64> = case.problem();
        let solution = exact::solution::<Dual>(&problem.convert()).unwrap();
        if solution.coordinates.len() < problem.q0.len() {
            continue;
        }
        let mut velocities = Velocities::new(&problem.system.model, &problem.parameters);
        for k in 0..20 {
            let t = 0.07 * f64::from(k);
            let motion = solution.at(&Dual { value: t, tangent: 1.0 });
            let (q, v): (Vec<f64>, Vec<f64>) = motion.iter().map(|x| (x.value, x.tangent)).unzip();
            let mut p = vec![0.0; q.len()];
            velocities.momenta(&q, &v, &0.0, &mut p);
            let size = problem.p0.iter().fold(1e-3f64, |size, p| size.max(p.abs()));
            for i in 0..p.len() {
                let cyclic = problem.system.coordinates[i].name != "theta";
                let error = (p[i] - problem.p0[i]).abs() / size;
                assert!(k > 0 && !cyclic || error < 1e-11, "{case:?} p_{i} at {t}: {error:e}");
            }
        }
    }
}

/// Inputs that are exact in every number type, so that the energy is above or below the separatrix by 1e-15, 1e-30 exactly.
#[test]
fn next_to_the_separatrix() {
    let problem = |v: &str| Settings {
        parameters: [("omega".to_owned(), 2.0.into())].into(),
        q: Some(vec![0.0.into()]),
        start: Some(Start::Velocities(vec![v.into()])),
        ..Settings::default()
    };
    let system = catalogue::system("pendulum").unwrap();
    for v in ["4*(1 + 2^-50)", "4*(1 - 2^-50)", "-4*(1 + 2^-50)", "4*(1 + 2^-100)", "4*(1 - 2^-100)"] {
        let narrow: Problem<f64> = system.problem(&problem(v)).unwrap();
        let middle: Problem<Wide> = system.problem(&problem(v)).unwrap();
        let wide: Problem<Digits<6>> = system.problem(&problem(v)).unwrap();
        let reference = exact::solution(&wide).unwrap();
        let solutions = (exact::solution(&narrow).unwrap(), exact::solution(&middle).unwrap());
        // 2^-100 is below the rounding of f64, which is then on the separatrix
        let f64_knows = v.ends_with("50)");
        assert_eq!(exact::period(&narrow).is_some(), f64_knows, "{v}");
        for k in 0..50 {
            let t = f64::from(k);
            let expected = reference.at(&Digits::from_f64(t))[0];
            let at_middle = Digits::from_decimal(&solutions.1.at(&Wide::from_f64(t))[0].to_text(None));
            let errors = [solutions.0.at(&t)[0] - expected.to_f64(), (at_middle - expected).to_f64()];
            let allowed = |epsilon: f64| 4.0 * epsilon * (10.0 + 4.0 * t);
            if f64_knows {
                assert!(errors[0].abs() < allowed(f64::EPSILON), "{v} {t}: {:e}", errors[0]);
            }
            assert!(errors[1].abs() < allowed(Wide::epsilon()), "{v} {t}: {:e}", errors[1]);
        }
    }
}

#[test]
fn equilibria_and_the_separatrix_of_the_pendulum() {
    for (case, end) in [
        (Case("pendulum", &["0"], &["0"]), "0"),
        (
            Case("pendulum", &["pi"], &["0"]),
            "3.14159265358979323846264338327950288419716939937510582097494459",
        ),
        (
            Case("pendulum", &["0"], &["2*omega"]),
            "3.14159265358979323846264338327950288419716939937510582097494459",
        ),
        (
            Case("pendulum", &["0"], &["-2*omega"]),
            "-3.14159265358979323846264338327950288419716939937510582097494459",
        ),
    ] {
        let (narrow, wide) = (case.problem::<f64>(), case.problem::<Wide>());
        assert!(exact::period(&narrow).is_none() && exact::period(&wide).is_none(), "{case:?}");
        let end = Wide::from_decimal(end);
        let found = exact::solution(&wide).unwrap().at(&Wide::from_f64(1000.0))[0];
        assert!((found - end).to_f64().abs() < 1e-60, "{case:?}");
        let found = exact::solution(&narrow).unwrap().at(&1000.0)[0];
        assert!((found - end.to_f64()).abs() < 1e-15, "{case:?}");
    }
}

/// The motion in `f64` against that of the same numbers with 77 digits, over a thousand periods: an error of a few units of the
/// coordinate's size and of what one unit in the initial state makes of itself, which grows with time.
#[test]
fn f64_over_a_thousand_periods() {
    for case in PENDULUMS.iter().chain(&TOPS).chain([&LOOPS, &NEARLY_OVER]) {
        let problem: Problem<f64> = case.problem();
        let wide: Problem<Wide> = problem.convert();
        let (found, expected) = (exact::solution(&problem).unwrap(), exact::solution(&wide).unwrap());
        let moved: Vec<Solution> = (0..problem.v0.len()).flat_map(|i| neighbours(&wide, i)).collect();
        let until = exact::period(&problem).map_or(1.0, |period| 1000.0 * period);
        let mut worst = 0.0f64;
        for k in 0..30 {
            let t = until * (f64::from(k) / 29.0).powi(3);
            let (found, expected) = (found.at(&t), expected.at(&Wide::from_f64(t)));
            let size = expected.iter().map(|y| y.to_f64().abs()).fold(1.0, f64::max);
            for (i, (x, y)) in found.iter().zip(&expected).enumerate() {
                let sensitivity = |s: &Solution| (s.at(&Wide::from_f64(t))[i] - *y).to_f64().abs() / SHIFT;
                let condition = moved.iter().map(sensitivity).sum::<f64>();
                let allowed = f64::EPSILON * (size + condition);
                worst = worst.max((Wide::from_f64(*x) - *y).to_f64().abs() / allowed);
            }
        }
        println!("{case:?}: {worst:.1}");
        assert!(worst < 8.0, "{case:?}: {worst}");
    }
}

type Solution = exact::Solution<Wide>;
/// A relative change that is small beside every difference in these problems and large beside rounding.
const SHIFT: f64 = 1e-30;

/// The motions with one initial coordinate or velocity shifted.
fn neighbours(problem: &Problem<Wide>, i: usize) -> Vec<Solution> {
    let shift = |x: &mut Wide| *x = *x + Wide::from_f64(SHIFT) * (*x + Wide::from_f64(1.0));
    let (mut first, mut second) = (problem.clone(), problem.clone());
    shift(&mut first.q0[i]);
    shift(&mut second.v0[i]);
    [first, second].iter().filter_map(exact::solution).collect()
}
