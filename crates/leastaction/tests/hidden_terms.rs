//! L as it is simulated against L as it was typed, over thousands of random formulas.
//!
//! The formulas are full of branches, saturated functions, far walls and late switches. Each is written as text, and evaluated here
//! by rules of its own, with a bound of its rounding. Nothing that occurs in a formula may be lost far away or late. Other formulas
//! are made so that they have a symmetry, which must be found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::prelude::*;
use leastaction::system::Energy;

/// Numbers that look random (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn within(&mut self, size: f64) -> f64 {
        size * (self.next() as i64 as f64 / 9_223_372_036_854_775_808.0)
    }
    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

/// A formula with an evaluation that owes nothing to the program.
#[derive(Clone, Debug)]
enum Formula {
    /// As it is written.
    Number(&'static str),
    Variable(usize),
    One(&'static str, Box<Formula>),
    Two(&'static str, Box<Formula>, Box<Formula>),
}
use Formula::{Number, One, Two, Variable};

const NAMES: [&str; 3] = ["x", "y", "t"];

fn one(name: &'static str, a: &Formula) -> Formula {
    One(name, Box::new(a.clone()))
}

fn two(a: &Formula, op: &'static str, b: &Formula) -> Formula {
    Two(op, Box::new(a.clone()), Box::new(b.clone()))
}

impl Formula {
    fn text(&self, variables: &[String]) -> String {
        match self {
            Number(text) => (*text).to_owned(),
            Variable(i) => format!("({})", variables[*i]),
            One(name, a) => format!("{name}({})", a.text(variables)),
            Two(op @ ("atan2" | "hypot"), a, b) => {
                format!("{op}({}, {})", a.text(variables), b.text(variables))
            }
            Two("norm", a, b) => format!("norm([{}, {}])", a.text(variables), b.text(variables)),
            Two(op, a, b) => format!("({} {op} {})", a.text(variables), b.text(variables)),
        }
    }

    /// The formula with another variable in place of one.
    fn with(&self, old: usize, new: usize) -> Self {
        match self {
            Variable(i) if *i == old => Variable(new),
            One(name, a) => one(name, &a.with(old, new)),
            Two(op, a, b) => two(&a.with(old, new), op, &b.with(old, new)),
            other => other.clone(),
        }
    }

    /// The value and a bound of its rounding.
    fn value(&self, at: &[f64]) -> (f64, f64) {
        let (value, error) = match self {
            Number(text) => (text.parse().unwrap(), 0.0),
            Variable(i) => (at[*i], 0.0),
            One(name, a) => {
                let (x, e) = a.value(at);
                let f = |x: f64| match *name {
                    "sqrt" => x.sqrt(),
                    "exp" => x.exp(),
                    "ln" => x.ln(),
                    "sin" => x.sin(),
                    "cos" => x.cos(),
                    "tan" => x.tan(),
                    "asin" => x.asin(),
                    "acos" => x.acos(),
                    "atan" => x.atan(),
                    "sinh" => x.sinh(),
                    "cosh" => x.cosh(),
                    "tanh" => x.tanh(),
                    "abs" => x.abs(),
                    "sign" => {
                        if x == 0.0 {
                            0.0
                        } else {
                            x.signum()
                        }
                    }
                    other => panic!("{other}"),
                };
                // an angle without digits has no sine
                let lost = matches!(*name, "sin" | "cos" | "tan") && e > 0.01;
                (f(x), if lost { f64::INFINITY } else { moved(e, |d| f(x + d) - f(x)) })
            }
            Two(op, a, b) => {
                let ((x, e), (y, d)) = (a.value(at), b.value(at));
                let f = |x: f64, y: f64| match *op {
                    "+" => x + y,
                    "-" => x - y,
                    "*" => x * y,
                    "/" => x / y,
                    "^" => x.powf(y),
                    "atan2" => x.atan2(y),
                    "hypot" | "norm" => (x * x + y * y).sqrt(),
                    other => panic!("{other}"),
                };
                (f(x, y), moved(e, |e| f(x + e, y) - f(x, y)) + moved(d, |d| f(x, y + d) - f(x, y)))
            }
        };
        (value, error + 4.0 * f64::EPSILON * value.abs())
    }
}

/// The largest change for an error of the operand.
fn moved(error: f64, change: impl Fn(f64) -> f64) -> f64 {
    if error == 0.0 { 0.0 } else { change(error).abs() + change(-error).abs() }
}

/// A formula that may have a branch, saturate, or be flat over a long way.
fn branching(dice: &mut Dice, depth: usize) -> Formula {
    if depth == 0 {
        return Variable(dice.below(3));
    }
    let inner = branching(dice, depth - 1);
    let far = Number(dice.pick(&["5", "12", "40", "0.3", "2.5", "150"]));
    let u = two(&inner, dice.pick(&["-", "+"]), &far);
    let power = |a: &Formula, e: &'static str| two(a, "^", &Number(e));
    let half = Number("0.5");
    match dice.below(24) {
        0 => two(&one("abs", &u), "+", &u),
        1 => two(&one("sqrt", &power(&u, "2")), "+", &u),
        2 => two(&two(&u, "norm", &Number("0")), "-", &u),
        3 => two(&u, "hypot", &Number("0.1")),
        4 => one("sign", &u),
        5 => two(&one("sign", &u), "*", &power(&u, "2")),
        6 => power(&one("abs", &u), dice.pick(&["0.7", "1.5", "2.3"])),
        7 => power(&power(&u, "2"), "0.5"),
        8 => power(&power(&u, "4"), "0.25"),
        9 => one("tanh", &two(&Number("20"), "*", &u)),
        10 => one("exp", &two(&Number("-1"), "*", &power(&u, "2"))),
        11 => two(&Number("1"), "/", &two(&Number("1"), "+", &one("exp", &two(&Number("-9"), "*", &u)))),
        12 => two(&one("asin", &one("sin", &inner)), "-", &inner),
        13 => two(&one("acos", &one("cos", &inner)), "-", &inner),
        14 => two(&one("atan", &one("tan", &inner)), "-", &inner),
        15 => two(&two(&one("sin", &inner), "atan2", &one("cos", &inner)), "-", &inner),
        16 => two(&one("ln", &two(&Number("1"), "+", &one("exp", &u))), "-", &one("abs", &u)),
        17 => power(&two(&u, "/", &Number("15")), "20"),
        18 => two(&one("cosh", &u), "/", &Number("1e30")),
        19 => two(&inner, "-", &branching(dice, depth - 1)),
        20 => two(&inner, "*", &branching(dice, depth - 1)),
        21 => one(dice.pick(&["sin", "cos"]), &two(&inner, "*", &half)),
        22 => {
            let radius = branching(dice, depth - 1);
            let [x, y] = ["cos", "sin"].map(|f| two(&radius, "*", &one(f, &inner)));
            two(&power(&x, "2"), "+", &power(&y, "2"))
        }
        _ => two(&two(&one("sqrt", &power(&u, "2")), "-", &one("abs", &u)), "+", &branching(dice, depth - 1)),
    }
}

/// A formula from which a variable cancels: r cos(a) cos(a + r) + r sin(a) sin(a + r), where r is a formula of the others.
fn hiding(dice: &mut Dice, formula: &Formula) -> Formula {
    let hidden = dice.below(3);
    let radius = formula.with(hidden, (hidden + 1) % 3);
    let angle = two(&Number("1.7"), "*", &Variable(hidden));
    let sum = two(&angle, "+", &radius);
    let [x, y] = ["cos", "sin"].map(|f| two(&two(&radius, "*", &one(f, &angle)), "*", &one(f, &sum)));
    two(&x, "+", &y)
}

/// A system of a text with these coordinates.
fn system(coordinates: &str, potential: &str) -> leastaction::Result<System> {
    let names: Vec<&str> = coordinates.split(' ').collect();
    let list: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let kinetic: Vec<String> = names.iter().map(|name| format!("v_{name}^2")).collect();
    let text = format!(
        "coordinates = [{}]\n[lagrangian]\nkinetic = '1/2*({})'\npotential = '{potential}'\n[initial]\nq = 0\nv = 0\n",
        list.join(", "),
        kinetic.join(" + ")
    );
    Ok(Run::read("random", &leastaction::error::Source::new("random.toml", text))?.resolve()?.0)
}

/// States near and far, early and late.
fn states(dice: &mut Dice) -> Vec<[f64; 3]> {
    let sizes = [0.5, 3.0, 20.0, 200.0];
    let mut list: Vec<[f64; 3]> =
        sizes.iter().map(|size| [dice.within(*size), dice.within(*size), dice.within(*size)]).collect();
    for k in 0..9 {
        let mut state = list[dice.below(4)];
        state[k % 3] = dice.within(sizes[1 + k / 3]);
        list.push(state);
    }
    list
}

#[test]
fn nothing_is_lost_of_random_formulas() {
    let names = NAMES.map(str::to_owned);
    let (mut dice, mut systems, mut compared, mut taken_out) = (Dice(1), 0, 0, 0);
    for number in 0..4000 {
        let depth = 1 + number % 3;
        let formula = two(&branching(&mut dice, depth), "+", &branching(&mut dice, 1));
        let formula = if number % 4 == 0 { hiding(&mut dice, &formula) } else { formula };
        let text = formula.text(&names);
        let Ok(system) = system("x y", &text) else { continue };
        systems += 1;
        taken_out += usize::from(system.model.lagrangian != system.typed.lagrangian);
        let mut energy = Energy::new(&system.model, &[]);
        for state in states(&mut dice) {
            let (value, error) = formula.value(&state);
            if !(value.is_finite() && error.is_finite()) {
                continue;
            }
            let [x, y, t] = state;
            let (found, _) = energy.at(&[x, y], &[0.0, 0.0], &t);
            let difference = (found - value).abs();
            assert!(
                difference <= 20.0 * error + 1e-290,
                "{text} at {state:?}: {found}, typed {value} ± {error:e}"
            );
            compared += 1;
        }
    }
    println!("{systems} systems, {compared} values, of {taken_out} something was taken out");
    assert!(systems > 3500 && compared > 20_000, "{systems} {compared}");
    assert!(taken_out > 900, "{taken_out}");
}

/// What is conserved besides the energy.
fn conserved(system: &System) -> Vec<String> {
    let cyclic = system.structure().cyclic.iter().map(|&i| format!("p_{}", system.coordinates[i].name));
    cyclic.chain(system.symmetries().iter().map(|s| s.name.clone())).collect()
}

#[test]
fn symmetries_of_random_formulas_are_found() {
    let mut dice = Dice(2);
    let own = |list: [&str; 3]| list.map(str::to_owned);
    for number in 0..400 {
        let formula = branching(&mut dice, 1 + number % 3);
        // shifts along a line, and in the plane with rotations
        for (coordinates, variables, expected) in [
            ("a b", own(["a - b", "b - a", "t"]), vec!["p_a + p_b"]),
            ("a b", own(["2*a - 3*b", "6*b - 4*a", "t"]), vec!["3*p_a + 2*p_b"]),
            ("a b", own(["a^2 + b^2", "norm([a, b])", "t"]), vec!["a*p_b - b*p_a"]),
            ("a b", own(["hypot(a, b)", "v_a^2 + v_b^2", "a*v_b - v_a*b"]), vec!["a*p_b - b*p_a"]),
            (
                "x1 y1 x2 y2",
                own(["(x1 - x2)^2 + (y1 - y2)^2", "hypot(x2 - x1, y2 - y1)", "t"]),
                vec!["total p_x", "total p_y", "total x*p_y - y*p_x"],
            ),
        ] {
            let text = formula.text(&variables);
            let Ok(system) = system(coordinates, &text) else { continue };
            if system.structure().cyclic.is_empty() {
                let found = conserved(&system);
                let missing = expected.iter().find(|name| !found.contains(&(**name).to_owned()));
                assert_eq!(missing, None, "{text}: {found:?}");
            }
        }
    }
}

#[test]
fn angles_and_times_that_cancel_are_taken_out_of_random_formulas() {
    let mut dice = Dice(3);
    let own = |list: [&str; 3]| list.map(str::to_owned);
    for number in 0..400 {
        let formula = branching(&mut dice, 1 + number % 3);
        let position = own(["(r*cos(phi))^2 + (r*sin(phi))^2", "hypot(r*sin(phi), r*cos(phi))", "r"]);
        let turned = own([
            "(r*cos(0.3*t))^2 + (r*sin(0.3*t))^2",
            "r*cos(t - phi)*cos(t) + r*sin(t - phi)*sin(t) - r*cos(phi)",
            "phi",
        ]);
        let grown = own(["r*exp(2*phi)*exp(-phi)^2", "cosh(phi)^2 - sinh(phi)^2 + r", "t"]);
        let text = formula.text(&position);
        if let Ok(system) = system("r phi", &text) {
            assert!(system.structure().cyclic.contains(&1), "{text}");
        }
        let text = formula.text(&turned);
        if let Ok(system) = system("r phi", &text) {
            assert!(system.structure().autonomous, "{text}");
        }
        let text = formula.text(&grown);
        if let Ok(system) = system("r phi", &text) {
            assert!(system.structure().cyclic.contains(&1), "{text}");
        }
    }
}

#[test]
fn a_spring_that_begins_far_away_stays() {
    let text = "coordinates = ['x']\n[parameters]\nm = 1\nk = 1\n[lagrangian]\nkinetic = 'm/2*dot(x)^2'\n\
                potential = 'k/8*(norm([x - 5]) + (x - 5))^2'\n[initial]\nq = 0\nv = 1\n";
    let run = Run::read("spring", &leastaction::error::Source::new("spring.toml", text.to_owned())).unwrap();
    let (system, _) = run.resolve().unwrap();
    let shown = system.to_string();
    assert!(shown.contains("x - 5"), "{shown}");
    assert!(conserved(&system).is_empty());
    let (energy, _) = Energy::new(&system.model, &[1.0, 1.0]).at(&[9.0], &[0.0], &0.0);
    assert_eq!(energy, 8.0);
}

#[test]
fn branches_are_no_symmetry() {
    for potential in [
        "sign(x)",
        "sign(x) + sign(y)",
        "sqrt((x - 5)^2) + x",
        "hypot(x - 5, 0) + x",
        "asin(sin(x)) - x",
        "atan2(sin(x), cos(x)) - x",
        "abs(x) - sqrt(x^2)",
        "(x^2)^1.5 - abs(x)^3",
        "tanh(x - 1000)",
        "exp(-(x - 1000)^2)",
        "(1 + sign(t - 10))*x",
        "x*exp(-(t - 1000)^2)",
        "acos(cos(t))*x",
    ] {
        let system = system("x y", potential).unwrap();
        assert_eq!(system.model.lagrangian, system.typed.lagrangian, "{potential}");
        let found = conserved(&system);
        assert!(!found.contains(&"p_x".to_owned()), "{potential}: {found:?}");
        assert!(found.iter().all(|name| name == "p_y"), "{potential}: {found:?}");
    }
    // 1 where x is not zero, and nothing where it is
    let quotient = system("x y", "x*(1/x)").unwrap();
    assert_eq!(quotient.model.lagrangian, quotient.typed.lagrangian);
    for switch in ["sign(t - 10)", "tanh(t - 1e4)", "sqrt((t - 10)^2) + t", "exp(-(t - 1000)^2)"] {
        assert!(!system("x y", switch).unwrap().structure().autonomous, "{switch}");
    }
}

/// In which order coordinates are listed.
#[derive(Clone, Copy, Debug)]
enum Order {
    Bodies,
    Axes,
    Mixed,
}

/// A Lennard-Jones cluster as text.
fn cluster(atoms: usize, axes: &[&str], order: Order, masses: &[f64]) -> System {
    let name = |atom: usize, axis: &str| format!("{axis}{}", atom + 1);
    let bodies = || (0..atoms).flat_map(|atom| axes.iter().map(move |axis| name(atom, axis)));
    let names: Vec<String> = match order {
        Order::Bodies => bodies().collect(),
        Order::Axes => axes.iter().flat_map(|axis| (0..atoms).map(move |atom| name(atom, axis))).collect(),
        // x1, z1, y2, … and then the others
        Order::Mixed => bodies().step_by(2).chain(bodies().skip(1).step_by(2)).collect(),
    };
    let mass = |atom: usize| masses[atom % masses.len()];
    let kinetic: Vec<String> = (0..atoms)
        .flat_map(|atom| axes.iter().map(move |axis| format!("{}/2*v_{}^2", mass(atom), name(atom, axis))))
        .collect();
    let pair = |(i, j): (usize, usize)| {
        let squares: Vec<String> =
            axes.iter().map(|axis| format!("({} - {})^2", name(i, axis), name(j, axis))).collect();
        let square = format!("({})", squares.join(" + "));
        format!("4*eps*((s^2/{square})^6 - (s^2/{square})^3)")
    };
    let pairs = (0..atoms).flat_map(|i| (0..i).map(move |j| (i, j)));
    let potential: Vec<String> = pairs.map(pair).collect();
    let list: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let q: Vec<String> = (0..names.len()).map(|k| format!("{}", (1.1 * k as f64).sin() * 3.0)).collect();
    let text = format!(
        "coordinates = [{}]\n[parameters]\neps = 1\ns = 1\n[lagrangian]\nkinetic = '{}'\npotential = '{}'\n[initial]\nq = [{}]\nv = 0\n",
        list.join(", "),
        kinetic.join(" + "),
        potential.join(" + "),
        q.join(", ")
    );
    let run = Run::read("cluster", &leastaction::error::Source::new("cluster.toml", text)).unwrap();
    run.resolve().unwrap().0
}

#[test]
fn clusters_keep_all_their_momenta() {
    let plane = ["total p_x", "total p_y", "total x*p_y - y*p_x"];
    let space = [
        "total p_x",
        "total p_y",
        "total p_z",
        "total x*p_y - y*p_x",
        "total x*p_z - z*p_x",
        "total y*p_z - z*p_y",
    ];
    for atoms in 2..=12 {
        let all_different: Vec<f64> = (0..atoms).map(|k| 1.0 + 0.5 * k as f64).collect();
        for masses in [&[1.0][..], &[1.0, 2.0], &all_different] {
            for order in [Order::Bodies, Order::Axes, Order::Mixed] {
                let momenta = |axes: &[&str]| conserved(&cluster(atoms, axes, order, masses));
                let found = [momenta(&["x", "y"]), momenta(&["x", "y", "z"])];
                let what = format!("{atoms} atoms, masses {masses:?}, {order:?}: {found:?}");
                if matches!(order, Order::Mixed) {
                    // signs in the names follow the order
                    assert_eq!(found.map(|names| names.len()), [3, 6], "{what}");
                } else {
                    assert_eq!(found, [&plane[..], &space], "{what}");
                }
            }
        }
    }
}
