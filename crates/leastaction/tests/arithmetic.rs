//! Where there is no number, this is said: constants that are not finite, numbers beyond the range of `f64`, singular mass matrices.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::error::{Cause, Failure, Source};
use leastaction::expr::{Backend, Evaluator, Graph, NodeId, Tape};
use leastaction::linear::null_vector;
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Dual, Field, Real};
use leastaction::simulate::InitialState;
use leastaction::system::{Formulas, Quantity};
use std::sync::Arc;

/// Formulas without a value, or with a part that has none, and the smallest such part.
const BAD: [(&str, &str); 44] = [
    ("0/0", "0/0"),
    ("1/0", "1/0"),
    ("-1/0", "-1/0"),
    ("(0/0)^0", "0/0"),
    ("(1/0)^0", "1/0"),
    ("ln(0)", "ln(0)"),
    ("ln(-1)", "ln(-1)"),
    ("ln(0)-ln(0)", "ln(0)"),
    ("1+ln(0)-ln(0)", "ln(0)"),
    ("1-ln(0)+ln(0)", "ln(0)"),
    ("ln(0)/ln(0)", "ln(0)"),
    ("0*ln(0)+1", "ln(0)"),
    ("ln(0)*0+1", "ln(0)"),
    ("0/ln(0)+1", "ln(0)"),
    ("ln(0)^0", "ln(0)"),
    ("exp(ln(0))+1", "ln(0)"),
    ("1/0-1/0", "1/0"),
    ("1/0*0+1", "1/0"),
    ("1/(1/0)+1", "1/0"),
    ("atan(1/0)", "1/0"),
    ("atan2(1, 1/0)+1", "1/0"),
    ("tanh(1/0)", "1/0"),
    ("sign(1/0)", "1/0"),
    ("sign(0/0)+1", "0/0"),
    ("1^(0/0)", "0/0"),
    ("(1/0)^(-1)+1", "1/0"),
    ("(1/0)^(-0.3)+1", "1/0"),
    ("sin(1/0)^2+cos(1/0)^2", "1/0"),
    ("cos(0/0)-cos(0/0)+1", "0/0"),
    ("sqrt(-1)", "sqrt(-1)"),
    ("sqrt(-1)^2+2", "sqrt(-1)"),
    ("sqrt(-1)-sqrt(-1)+1", "sqrt(-1)"),
    ("asin(2)-asin(2)+1", "asin(2)"),
    ("acos(1.5)*0+1", "acos(1.5)"),
    ("(-2)^0.5+1", "(-2)^0.5"),
    ("(-2)^0.3-(-2)^0.3+1", "(-2)^0.3"),
    ("exp(1000)-exp(1000)+1", "exp(1000)"),
    ("exp(1000)/exp(1000)", "exp(1000)"),
    ("1e308*10-1e308*10+1", "1e308*10"),
    ("(1e308*10)/(1e308*10)", "1e308*10"),
    ("1/exp(1000)+1", "exp(1000)"),
    ("sinh(1000)*0+1", "sinh(1000)"),
    ("sum(i = 1..3, 1/(i-2)*0)+1", "1/(i-2)"),
    ("norm([1/0, 1])*0+1", "1/0"),
];

#[test]
fn formulas_without_a_value_are_errors_that_name_the_part() {
    for (text, part) in BAD {
        for (what, run) in placed(text) {
            let error = run.plan().map(|_| ()).expect_err(text);
            assert!(error.is_input(), "{text}: {error}");
            let message = error.to_string();
            let names = [what, part, "is not a finite number"].iter().all(|part| message.contains(part));
            assert!(names, "{text}: {message}");
        }
    }
}

/// A run with a formula as a parameter, coordinate, velocity, initial time, step, end time and tolerance.
fn placed(text: &str) -> Vec<(&'static str, Run)> {
    let run = Run::of("pendulum");
    let formula = Quantity::from(text);
    let list = Some(vec![formula.clone()]);
    let mut parameter = run.clone();
    parameter.parameters.insert("m".to_owned(), formula.clone());
    let start = |initial| Run { initial, ..run.clone() };
    vec![
        ("parameter `m`", parameter),
        ("initial q", start(InitialState { q: list.clone(), ..Default::default() })),
        ("initial v_q", start(InitialState { v: list.clone(), ..Default::default() })),
        ("initial p_q", start(InitialState { p: list, ..Default::default() })),
        ("the initial time", start(InitialState { t: Some(formula.clone()), ..Default::default() })),
        ("the step", Run { step: Some(formula.clone()), ..run.clone() }),
        ("until", Run { until: Some(formula), ..run.clone() }),
    ]
}

#[test]
fn formulas_with_a_value_keep_it() {
    for (text, value) in [
        ("pi/7 - pi/7 + 1", 1.0),
        ("0*sqrt(2) + 1", 1.0),
        ("sqrt(2)^0", 1.0),
        ("0^0", 1.0),
        ("0/7 + 1", 1.0),
        ("exp(2)/exp(2)", 1.0),
        ("ln(3) - ln(3)", 0.0),
        ("(1 + ln(2)) - ln(2)", 1.0),
        ("sin(3)^2 + cos(3)^2", 1.0),
        ("exp(-1000)", 0.0),
        ("tanh(1000)", 1.0),
        ("1e308*0.1", 1e307),
    ] {
        let mut formulas = Formulas::new(&[]).unwrap();
        let found: f64 = formulas.value("x", &Quantity::from(text)).expect(text);
        assert!((found - value).abs() <= 4.0 * f64::EPSILON * value.abs(), "{text}: {found}");
    }
}

/// A file with a formula in the parameters, the Lagrangian, an output and an event.
fn file(parameter: &str, potential: &str, output: &str) -> String {
    format!(
        "coordinates = [\"x\"]\n[parameters]\nd = 0\nm = \"{parameter}\"\n[lagrangian]\n\
         kinetic = \"m/2*dot(x)^2\"\npotential = \"{potential}\"\n[initial]\nq = 1\nv = 0\n\
         [outputs]\na = \"{output}\"\n[run]\nmethod = \"simpson\"\nstep = 0.1\nuntil = 1\n"
    )
}

fn read(text: &str) -> Result<(), Error> {
    Run::read("bad", &Source::new("bad.toml", text))?.plan().map(|_| ())
}

#[test]
fn files_show_the_place_of_a_constant_without_a_value() {
    read(&file("1", "x^2", "2*x")).unwrap();
    for (text, part) in BAD {
        let files = [(4, file(text, "x^2", "x")), (7, file("1", &format!("x^2*({text})"), "x"))];
        for (line, file) in files {
            let Err(Error::Source(shown)) = read(&file) else { panic!("{file}") };
            let written = file.lines().nth(line - 1).and_then(|line| line.find(part)).unwrap();
            assert_eq!(shown.place(), (line, written + 1), "{shown}");
        }
        let Err(Error::Source(shown)) = read(&file("1", "x^2", &format!("x*({text})"))) else {
            panic!("{text}")
        };
        assert_eq!(shown.place().0, 12, "{shown}");
    }
    // also those of parameters, and where the value does not show it
    for bad in ["atan(m/d)*x", "x + 0*ln(d)", "x^2*(m/d)^0", "x*(d/d)", "x + ln(d) - ln(d)"] {
        let Err(Error::Source(shown)) = read(&file("1", bad, "x")) else { panic!("{bad}") };
        assert_eq!(shown.place().0, 7, "{shown}");
    }
}

#[test]
fn what_cancels_in_a_lagrangian_needs_a_value_too() {
    for bad in
        ["ln(x-1) - ln(x-1)", "(x-1)/(x-1)", "0*ln(x-1)", "ln(x-2)^0", "0/(x-1)", "(1 + ln(x-1)) - ln(x-1)"]
    {
        assert!(read(&file("1", &format!("x^2 + {bad}"), "x")).is_err(), "{bad}");
    }
    for good in ["ln(x) - ln(x)", "x/x", "0*ln(x)", "(x-1)*0", "x - x", "(x-1)^0"] {
        read(&file("1", &format!("x^2 + {good}"), "x")).expect(good);
    }
}

fn value<R: Real>(graph: &Graph, nodes: &[NodeId], at: &[R; 3]) -> Vec<R> {
    let mut out = vec![R::zero(); nodes.len()];
    let zeros = [R::zero(), R::zero(), R::zero()];
    let tape = Arc::new(Tape::new(graph, 3, nodes));
    Evaluator::new(tape, &[]).evaluate(at, &zeros, &R::zero(), &mut out);
    out
}

/// hypot(x, y, z), or hypot(x, y), and its gradient.
fn hypot(graph: &mut Graph, count: usize) -> Vec<NodeId> {
    let list: Vec<NodeId> = (0..count).map(|i| graph.coordinate(i)).collect();
    let node = graph.hypot(&list);
    let mut all = vec![node];
    let slopes = leastaction::expr::Differentiator::default().gradient(
        graph,
        node,
        leastaction::expr::Depends::COORDINATES,
    );
    all.extend(slopes.into_iter().map(|(_, node)| node));
    all
}

#[test]
fn hypot_neither_overflows_nor_underflows() {
    const SIZES: [f64; 12] =
        [1e-323, 3e-310, 1e-300, 2e-200, 3e-170, 1e-154, 1e-20, 0.7, 1e17, 3e154, 2e200, 8e307];
    let mut cases = 0;
    for count in [2, 3] {
        let mut graph = Graph::new();
        let nodes = hypot(&mut graph, count);
        assert_eq!(nodes.len(), 1 + count);
        let tape = Arc::new(Tape::new(&graph, 3, &nodes));
        let backend = Backend::Native.checked().ok();
        let mut compiled = Evaluator::compiled(tape, &[], backend);
        for a in SIZES {
            for b in SIZES.into_iter().chain([0.0]) {
                let at = [a, -0.6 * b, 0.3 * a.min(1e300)];
                let found = value(&graph, &nodes, &at);
                // the reference: squares with exponents of any size, on a tape without a scale
                let wide = at.map(Digits::<4>::from_f64);
                let squares = (0..count).map(|i| wide[i] * wide[i]);
                let root = squares.fold(Digits::zero(), |sum, x| sum + x).sqrt();
                if root.to_f64().is_finite() {
                    let least = |x: f64| (2.0 * f64::EPSILON * x.abs()).max(5e-324);
                    let error = (found[0] - root.to_f64()).abs();
                    assert!(error <= least(found[0]) && found[0] > 0.0, "{at:?}: {} {error:e}", found[0]);
                    for i in 0..count {
                        let slope = (wide[i] / root).to_f64();
                        // a product on the way has the size of x, which may have few digits
                        let error = (found[1 + i] - slope).abs();
                        assert!(
                            error <= 4.0 * f64::EPSILON * slope.abs() + 1e-322 / found[0].min(1.0),
                            "{at:?} {i}: {error:e}"
                        );
                        // a dual number squares x/s and its slope together, so that slopes below rounding underflow
                        let dual = std::array::from_fn(|j| Dual {
                            value: at[j],
                            tangent: f64::from(u8::from(i == j)),
                        });
                        let tangent = value(&graph, &nodes[..1], &dual)[0].tangent;
                        assert!(
                            (tangent - slope).abs()
                                <= 8.0 * f64::EPSILON * slope.abs()
                                    + 1e-322 / found[0].min(1.0)
                                    + 1e-154
                                    + 2e-323 * found[0],
                            "{at:?} {tangent}"
                        );
                    }
                    cases += 1;
                }
                let mut bits = vec![0.0; nodes.len()];
                compiled.evaluate(&at, &[0.0; 3], &0.0, &mut bits);
                assert!(
                    found
                        .iter()
                        .zip(&bits)
                        .all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
                );
            }
        }
        assert_eq!(value(&graph, &nodes[..1], &[0.0; 3]), [0.0]);
    }
    assert!(cases > 250, "{cases}");
}

/// Powers of ten by which masses, lengths and times are scaled.
const SCALES: [[i32; 3]; 16] = [
    [60, 0, 0],
    [-60, 0, 0],
    [100, 0, 0],
    [154, 0, 0],
    [-154, 0, 0],
    [0, 60, 0],
    [0, -60, 0],
    [0, 0, 60],
    [0, 0, -60],
    [0, 77, 0],
    [0, 154, 0],
    [0, -154, 0],
    [0, 100, 100],
    [0, -100, -100],
    [154, -77, 0],
    [-154, 0, -77],
];

/// Systems with a mass M, a length X and a time T: the same motion in units of these.
const SCALED: [&str; 4] = [
    "kinetic = \"M/2*(dot(x)^2 + dot(y)^2)\"\npotential = \"-M*X^3/T^2/norm([x, y])\"",
    "kinetic = \"M/2*(dot(x)^2 + dot(y)^2)\"\npotential = \"M/T^2/2*(norm([x, y]) - X/2)^2\"",
    "kinetic = \"M/2*(dot(x)^2 + dot(y)^2)\"\npotential = \"M/T^2*(x^2/2 + 2*y^2 + x^2*y/X/5)\"",
    "kinetic = \"M/2*(2*dot(x)^2 + dot(y)^2 + dot(x)*dot(y))\"\npotential = \"M/T^2*X^2*ln(1 + hypot(x, y)/X)\"",
];

fn scaled(formulas: &str, [m, x, t]: [i32; 3]) -> Result<Solution, Error> {
    let text = format!(
        "coordinates = [\"x\", \"y\"]\n[parameters]\nM = \"1e{m}\"\nX = \"1e{x}\"\nT = \"1e{t}\"\n[lagrangian]\n{formulas}\n\
         [initial]\nq = [\"X\", \"X/8\"]\nv = [0, \"1.1*X/T\"]\n[run]\nmethod = \"gauss8\"\nstep = \"0.05*T\"\nuntil = \"5*T\"\n"
    );
    Run::read("scaled", &Source::new("scaled.toml", text))?.plan()?.simulate()?.into_result()
}

#[test]
fn scaled_systems_are_solved_as_well_or_refused() {
    let (mut solved, mut refused) = (0, 0);
    for formulas in SCALED {
        let reference = scaled(formulas, [0; 3]).unwrap().summary;
        for scales in SCALES {
            let [m, x, t] = scales.map(|power| 10f64.powi(power));
            let summary = match scaled(formulas, scales) {
                Ok(solution) => solution.summary,
                Err(error) => {
                    assert!(error.to_string().contains("other units"), "{scales:?}: {error}");
                    refused += 1;
                    continue;
                }
            };
            solved += 1;
            for i in 0..2 {
                let (q, p) = (summary.q[i] / x, summary.p[i] / m / x * t);
                let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
                assert!(
                    close(q, reference.q[i]) && close(p, reference.p[i]),
                    "{scales:?}: {q} {p}\n{formulas}"
                );
            }
            // the energy as well, and its error
            let text = format!("{scales:?} {formulas}: {summary:?}");
            assert!(summary.energy.max_error < 1e-9, "{text}");
        }
    }
    assert!(solved >= 30 && refused >= 4, "{solved} solved, {refused} refused");
}

/// A small generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

/// |A x| relative to |A| |x|, row by row.
fn residual(a: &[Vec<f64>], x: &[f64]) -> f64 {
    let row = |row: &Vec<f64>| {
        let terms: Vec<f64> = row.iter().zip(x).map(|(a, x)| a * x).collect();
        let size: f64 = terms.iter().map(|x| x.abs()).sum();
        if size == 0.0 { 0.0 } else { terms.iter().sum::<f64>().abs() / size }
    };
    a.iter().map(row).fold(0.0, |largest, x| if x > largest || x.is_nan() { x } else { largest })
}

/// Bᵀ D B with `rank` rows of B, in units that differ from coordinate to coordinate.
fn singular(random: &mut Random, n: usize, rank: usize) -> Vec<Vec<f64>> {
    let b: Vec<Vec<f64>> = (0..rank)
        .map(|_| {
            (0..n)
                .map(|_| if random.below(3) == 0 { 0.0 } else { f64::from(random.below(9) as u32) - 4.0 })
                .collect()
        })
        .collect();
    if (0..n).any(|i| b.iter().all(|row| row[i] == 0.0)) {
        // every velocity occurs
        return singular(random, n, rank);
    }
    // powers of two, so that the matrix is exactly singular
    let unit: Vec<f64> = (0..n).map(|_| 2f64.powi(random.below(60) as i32 - 30)).collect();
    let entry = |i: usize, j: usize| unit[i] * unit[j] * b.iter().map(|row| row[i] * row[j]).sum::<f64>();
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

#[test]
fn the_combination_of_a_singular_mass_matrix_is_in_its_null_space() {
    let mut random = Random(20);
    let mut cases = 0;
    for n in 2..9 {
        for rank in 1..n {
            for _ in 0..3 {
                let a = singular(&mut random, n, rank);
                let mass =
                    |i: usize, j: usize| format!("({:e})", if i == j { a[i][i] / 2.0 } else { a[i][j] });
                let terms: Vec<String> = (0..n)
                    .flat_map(|i| (0..=i).map(move |j| (i, j)))
                    .map(|(i, j)| format!("{}*v_x{i}*v_x{j}*c", mass(i, j)))
                    .collect();
                // the same matrix constant, and as one that depends on the state
                for c in ["1", "cos(x0)"] {
                    let names: Vec<String> = (0..n).map(|i| format!("\"x{i}\"")).collect();
                    let text = format!(
                        "coordinates = [{}]\n[definitions]\nc = \"{c}\"\n[lagrangian]\nexpression = \"{} - x0^2\"\n[initial]\nq = 0\nv = 0\n",
                        names.join(", "),
                        terms.join(" + ")
                    );
                    let run = Run::read("singular", &Source::new("singular.toml", text.clone())).unwrap();
                    let (system, _) = run.resolve().unwrap();
                    let mut velocities = leastaction::system::Velocities::<f64>::new(&system.model, &[]);
                    let (zeros, mut v) = (vec![0.0; n], vec![0.0; n]);
                    let cause = velocities.velocities(&zeros, &zeros, &0.0, &mut v).expect_err(&text);
                    let Cause::SingularMass { direction } = cause else { panic!("{cause:?}") };
                    assert!(
                        direction.iter().any(|x| *x != 0.0) && residual(&a, &direction) < 1e-9,
                        "{direction:?}\n{a:?}"
                    );
                    if system.structure().constant_mass {
                        let constant = leastaction::system::ConstantMass::<f64>::new(&system.model, &[]);
                        let Err(Cause::SingularMass { direction }) = constant.check() else {
                            panic!("{text}")
                        };
                        assert!(direction.iter().any(|x| *x != 0.0), "{text}");
                        assert!(residual(&a, &direction) < 1e-9, "{direction:?}");
                    }
                    assert!(run.plan().is_err());
                    cases += 1;
                }
            }
        }
    }
    assert!(cases >= 150, "{cases}");
}

#[test]
fn a_null_vector_of_a_long_band_matrix() {
    // masses 1 at the ends of rods: (v_i − v_{i+1})², without what holds the chain as a whole
    let n = 400;
    let mut entries: Vec<(usize, usize, f64)> =
        (0..n).map(|i| (i, i, if i == 0 || i == n - 1 { 1.0 } else { 2.0 })).collect();
    entries.extend((1..n).map(|i| (i, i - 1, -1.0)));
    let x = null_vector(n, &entries, n - 1);
    assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-9), "{x:?}");
}

#[test]
fn a_top_without_inertia_across_its_axis_names_what_carries_nothing() {
    for theta in [0.3f64, 1.0, 2.0] {
        let q = Some(vec![0.0.into(), theta.into(), 0.0.into()]);
        let mut run = Run { initial: InitialState { q, ..Default::default() }, ..Run::of("lagrange-top") };
        run.parameters.insert("I".to_owned(), 0.0.into());
        let error = run.plan().map(|_| ()).expect_err("singular");
        let Error::Failed(failure) = &error else { panic!("{error:?}") };
        let Failure { cause: Cause::SingularMass { direction }, .. } = &**failure else {
            panic!("{failure:?}")
        };
        let [phi, _, psi] = direction[..] else { panic!("{direction:?}") };
        // I3 (v_psi + cos(theta) v_phi) = 0
        assert!(
            (psi + theta.cos() * phi).abs() < 1e-12 && direction.iter().any(|x| *x != 0.0),
            "{direction:?}"
        );
        let message = error.to_string();
        assert!(!message.contains("0.000*"), "{message}");
    }
}
