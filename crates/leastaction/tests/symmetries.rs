//! Symmetries that the program finds by itself, and what they conserve.
//!
//! Which catalogue system has which; systems built for the purpose, with symmetries and with broken ones; and runs: every
//! variational method keeps what the symmetries conserve to rounding, `rk4` does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{invariants, problem};
use leastaction::prelude::*;
use leastaction::simulate::Invariants;
use leastaction::system::{Gradient, Kind, Symmetry};

type P = Parameters<Expr>;

fn names(system: &System) -> Vec<&str> {
    system.symmetries().iter().map(|s| s.name.as_str()).collect()
}

/// A system with these coordinates and parameters of value 1.
fn system(
    coordinates: &[&str],
    parameters: &[&str],
    lagrangian: impl Fn(&[Expr], &[Expr], Expr, &P) -> Expr,
) -> System {
    let mut builder =
        System::build("test", "Test").coordinates(coordinates.iter().map(|c| (*c).to_owned()), "");
    for name in parameters {
        builder = builder.parameter(name, "1", "", name);
    }
    builder.lagrangian(lagrangian).unwrap()
}

fn kinetic(v: &[Expr]) -> Expr {
    v.iter().map(|v| v.squared() * 0.5).sum()
}

/// Bodies that attract each other; coordinate(body, axis) is the place of a coordinate.
fn attraction(
    q: &[Expr],
    bodies: usize,
    dimension: usize,
    coordinate: impl Fn(usize, usize) -> usize,
    strength: impl Fn(usize, usize) -> Expr,
) -> Expr {
    let mut potential = Expr::from(0.0);
    for i in 0..bodies {
        for j in 0..i {
            let square: Expr =
                (0..dimension).map(|k| (q[coordinate(i, k)] - q[coordinate(j, k)]).squared()).sum();
            potential -= strength(i, j) / square.sqrt();
        }
    }
    potential
}

#[test]
fn the_symmetries_of_the_catalogue() {
    for entry in catalogue::ENTRIES {
        let expected: &[&str] = match entry.name {
            "kepler" | "charged-particle" => &["x*p_y - y*p_x"],
            "outer-solar-system" => &[
                "total p_x",
                "total p_y",
                "total p_z",
                "total x*p_y - y*p_x",
                "total x*p_z - z*p_x",
                "total y*p_z - z*p_y",
            ],
            _ => &[],
        };
        let system = catalogue::system(entry.name).unwrap();
        assert_eq!(names(&system), expected, "{}", entry.name);
    }
}

#[test]
fn what_is_found_leaves_the_lagrangian_unchanged() {
    for name in ["kepler", "charged-particle", "outer-solar-system"] {
        let problem = problem(name);
        let number = |k: usize| ((k * k + 3 * k) as f64).sin();
        let q: Vec<f64> = problem.q0.iter().enumerate().map(|(i, q)| q + number(i)).collect();
        let v: Vec<f64> = (0..q.len()).map(|i| number(i + 50)).collect();
        let mut gradient = Gradient::new(&problem.system.model, &problem.parameters);
        let (l_q, l_v) = gradient.at(&q, &v, &0.0);
        for Symmetry { name, linear, shift, .. } in problem.symmetries() {
            let turned = linear.iter().flat_map(|&(i, j, x)| [x * q[j] * l_q[i], x * v[j] * l_v[i]]);
            let terms: Vec<f64> = turned.chain(shift.iter().map(|&(i, x)| x * l_q[i])).collect();
            let size = terms.iter().map(|x| x.abs()).sum::<f64>();
            assert!(terms.iter().sum::<f64>().abs() < 1e-14 * size && size > 0.0, "{name}: {terms:?}");
        }
    }
}

#[test]
fn three_bodies_in_the_plane() {
    let coordinates = ["x1", "y1", "x2", "y2", "x3", "y3"];
    let place = |body: usize, axis: usize| 2 * body + axis;
    let expected = ["total p_x", "total p_y", "total x*p_y - y*p_x"];
    let equal =
        system(&coordinates, &["G"], |q, v, _, p| kinetic(v) - attraction(q, 3, 2, place, |_, _| p["G"]));
    assert_eq!(names(&equal), expected);
    let mass = |p: &P, i: usize| p[["m1", "m2", "m3"][i]];
    let different = system(&coordinates, &["m1", "m2", "m3"], |q, v, _, p| {
        let kinetic: Expr = (0..6).map(|i| mass(p, i / 2) * v[i].squared() * 0.5).sum();
        kinetic - attraction(q, 3, 2, place, |i, j| mass(p, i) * mass(p, j))
    });
    assert_eq!(names(&different), expected);
    let formula = &different.symmetries()[2].formula;
    assert_eq!(formula, "x1*p_y1 - y1*p_x1 + x2*p_y2 - y2*p_x2 + x3*p_y3 - y3*p_x3");
    // one body is bound to a line: neither its other direction nor the rotation is left
    let bound = system(&coordinates, &["k"], |q, v, _, p| {
        kinetic(v) - attraction(q, 3, 2, place, |_, _| 1.0.into()) - p["k"] * q[1].squared()
    });
    assert_eq!(names(&bound), ["total p_x"]);
}

#[test]
fn lengths_in_metres_and_masses_in_kilograms() {
    // the sun, the earth and the moon
    let system = System::build("sun-earth-moon", "Sun, earth and moon")
        .coordinates(["x_sun", "y_sun", "x_earth", "y_earth", "x_moon", "y_moon"].map(str::to_owned), "m")
        .parameter("G", "6.6743e-11", "", "gravitation")
        .parameter("m1", "1.989e30", "kg", "sun")
        .parameter("m2", "5.972e24", "kg", "earth")
        .parameter("m3", "7.35e22", "kg", "moon")
        .start(["0", "0", "1.496e11", "0", "1.49984e11", "0"], ["0", "0", "0", "29780", "0", "30802"])
        .lagrangian(|q, v, _, p| {
            let mass = |i: usize| p[["m1", "m2", "m3"][i]];
            let kinetic: Expr = (0..6).map(|i| mass(i / 2) * v[i].squared() * 0.5).sum();
            kinetic - attraction(q, 3, 2, |body, axis| 2 * body + axis, |i, j| p["G"] * mass(i) * mass(j))
        })
        .unwrap();
    assert_eq!(names(&system), ["total p_x", "total p_y", "total x*p_y - y*p_x"]);
}

#[test]
fn many_bodies_in_any_arrangement() {
    // more coordinates of one mass than all rotations could be tried for
    let (bodies, axes) = (12, ["x", "y", "z"]);
    let by_body = |body: usize, axis: usize| 3 * body + axis;
    let by_axis = |body: usize, axis: usize| 12 * axis + body;
    for place in [&by_body as &dyn Fn(usize, usize) -> usize, &by_axis] {
        let mut coordinates = vec![String::new(); 3 * bodies + 1];
        for body in 0..bodies {
            for (axis, letter) in axes.iter().enumerate() {
                coordinates[place(body, axis)] = format!("{letter}{}", body + 1);
            }
        }
        coordinates[3 * bodies] = "piston".to_owned();
        let coordinates: Vec<&str> = coordinates.iter().map(String::as_str).collect();
        let system = system(&coordinates, &["m", "M"], |q, v, _, p| {
            let kinetic = p["m"] * kinetic(&v[..36]) + p["M"] * v[36].squared() * 0.5;
            let potential = attraction(q, bodies, 3, place, |_, _| p["m"].squared());
            // the piston pushes along x
            let push: Expr = (0..bodies).map(|body| (q[36] - q[place(body, 0)]).powi(4)).sum();
            kinetic - potential - push
        });
        let found = names(&system);
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(&found[1..], ["total p_y", "total p_z", "total y*p_z - z*p_y"]);
        let with_piston = &system.symmetries()[0];
        assert_eq!(with_piston.shift.len(), 13, "{with_piston:?}");
        assert!(with_piston.formula.ends_with("p_piston"), "{with_piston:?}");
    }
}

#[test]
fn chains_of_any_length() {
    for n in [2, 30, 200, 10_000] {
        let names_of = (1..=n).map(|i| format!("x{i}"));
        let chain = |ends: bool, masses: bool| {
            System::build("chain", "Chain")
                .coordinates(names_of.clone(), "m")
                .parameter("k", "1", "", "stiffness")
                .parameter("m", "2", "", "mass of every second particle")
                .lagrangian(move |q, v, _, p| {
                    let heavy = |i: usize| masses && i % 2 == 1;
                    let speeds = v.iter().enumerate();
                    let kinetic: Expr = speeds
                        .map(|(i, v)| if heavy(i) { p["m"] * v.squared() * 0.5 } else { v.squared() * 0.5 })
                        .sum();
                    let spring = |d: Expr| d.squared() * 0.5 + d.powi(4);
                    let springs: Expr = q.windows(2).map(|w| spring(w[1] - w[0])).sum();
                    kinetic - p["k"] * if ends { springs + spring(q[0]) } else { springs }
                })
                .unwrap()
        };
        for masses in [false, true] {
            let free = chain(false, masses);
            assert_eq!(names(&free), ["total p_x"], "{n}");
            assert_eq!(free.symmetries()[0].shift.len(), n);
            assert!(chain(true, masses).symmetries().is_empty(), "{n} with a wall");
        }
    }
}

#[test]
fn oscillators_in_space() {
    let oscillator = |anisotropy: f64| {
        system(&["x", "y", "z"], &["k"], move |q, v, _, p| {
            let squares: Expr = q.iter().map(|q| q.squared()).sum();
            kinetic(v) - p["k"] * 0.5 * (squares + q[2].squared() * anisotropy)
        })
    };
    let isotropic = oscillator(0.0);
    assert_eq!(names(&isotropic), ["x*p_y - y*p_x", "x*p_z - z*p_x", "y*p_z - z*p_y"]);
    assert!(isotropic.symmetries().iter().all(|s| s.kind == Kind::Rotation));
    // broken by next to nothing is broken
    for anisotropy in [1.0, 1e-6, -1e-12, 1e-20, 1e-25] {
        assert_eq!(names(&oscillator(anisotropy)), ["x*p_y - y*p_x"], "{anisotropy:e}");
    }
    // two parameters that happen to be equal are not one
    let by_chance = system(&["x", "y"], &["a", "b"], |q, v, _, p| {
        kinetic(v) - p["a"] * q[0].squared() - p["b"] * q[1].squared()
    });
    assert!(by_chance.symmetries().is_empty());
}

#[test]
fn a_broken_symmetry_is_none() {
    let coordinates = ["x1", "y1", "x2", "y2"];
    let bodies = |defect: f64, what: usize| {
        system(&coordinates, &["G"], move |q, v, t, p| {
            let square = (q[0] - q[2]).squared() + (q[1] - q[3]).squared();
            let broken = [q[0] * v[2], q[1].cos(), (q[0] - q[2]).powi(4), square * t.sin()];
            kinetic(v) + p["G"] / square.sqrt() + broken[what] * defect
        })
    };
    for defect in [1e-6, 1e-15, 1e-24] {
        assert_eq!(names(&bodies(defect, 0)), ["total p_y"], "a term with velocities, {defect:e}");
        assert_eq!(names(&bodies(defect, 1)), ["total p_x"], "a field, {defect:e}");
        assert_eq!(names(&bodies(defect, 2)), ["total p_x", "total p_y"], "a direction, {defect:e}");
        // time breaks none of them
        assert_eq!(names(&bodies(defect, 3)).len(), 3, "{defect:e}");
    }
}

#[test]
fn a_double_pendulum_without_gravity_can_be_turned() {
    let pendulum = |gravity: bool| {
        let parameters: &[&str] = if gravity { &["l", "g"] } else { &["l"] };
        system(&["q1", "q2"], parameters, move |q, v, _, p| {
            let kinetic = v[0].squared() + v[1].squared() * p["l"] + v[0] * v[1] * (q[0] - q[1]).cos();
            if gravity { kinetic + p["g"] * (q[0].cos() + q[1].cos()) } else { kinetic }
        })
    };
    assert_eq!(names(&pendulum(false)), ["total p_q"]);
    assert!(pendulum(true).symmetries().is_empty());
    // g = 0 is one value, not all
    let zero = System::build("test", "Test")
        .coordinates(["q1", "q2"].map(str::to_owned), "")
        .parameter("g", "0", "", "gravity")
        .lagrangian(|q, v, _, p| v[0].squared() + v[1].squared() + p["g"] * (q[0].cos() + q[1].cos()))
        .unwrap();
    assert!(zero.symmetries().is_empty());
}

#[test]
fn a_charge_in_a_magnetic_field_depends_on_the_gauge() {
    let charge = |gauge: usize| {
        system(&["x", "y", "z"], &["B"], move |q, v, _, p| {
            let potential = [(q[0] * v[1] - q[1] * v[0]) * 0.5, q[0] * v[1]];
            kinetic(v) + p["B"] * potential[gauge] - q[2].squared()
        })
    };
    assert_eq!(names(&charge(0)), ["x*p_y - y*p_x"]);
    let landau = charge(1);
    assert!(landau.symmetries().is_empty());
    assert_eq!(landau.structure().cyclic, [1]);
}

#[test]
fn symmetries_that_mix_and_such_that_hide() {
    // a plate that slides and spins in a central field that tugs at one of its corners
    let plate = system(&["x", "y", "theta"], &["k"], |q, v, _, p| {
        let corner = (q[0] + q[2].cos()).squared() + (q[1] + q[2].sin()).squared();
        kinetic(v) - p["k"] * corner.sqrt() - (q[0].squared() + q[1].squared()).sqrt()
    });
    assert_eq!(names(&plate), ["x*p_y - y*p_x + p_theta"]);
    assert_eq!(plate.symmetries()[0].kind, Kind::Linear);
    // one coordinate grows as the other shrinks
    let squeezed = system(&["x", "y"], &[], |q, v, _, _| v[0] * v[1] - (q[0] * q[1]).powi(2));
    assert_eq!(names(&squeezed), ["x*p_x - y*p_y"]);
    // phi drops out only because sin² + cos² = 1: it is taken out of L, and cyclic as if it had never been typed
    let spherical = system(&["theta", "phi"], &["g"], |q, v, _, p| {
        let ((s, c), (sp, cp)) = ((q[0].sin(), q[0].cos()), (q[1].sin(), q[1].cos()));
        let (vx, vy) = (c * cp * v[0] - s * sp * v[1], c * sp * v[0] + s * cp * v[1]);
        (vx.squared() + vy.squared() + (s * v[0]).squared()) * 0.5 + p["g"] * c
    });
    assert_eq!(spherical.structure().cyclic, [1]);
    assert!(spherical.symmetries().is_empty());
    // a relativistic particle: the mass matrix depends on the velocities
    let relativistic = system(&["x", "y"], &["c"], |q, v, _, p| {
        let speed = v[0].squared() + v[1].squared();
        -p["c"].squared() * (Expr::from(1.0) - speed / p["c"].squared()).sqrt()
            + 1.0 / (q[0].squared() + q[1].squared()).sqrt()
    });
    assert_eq!(names(&relativistic), ["x*p_y - y*p_x"]);
    // unequal gears: twice the one angle is once the other
    let gears = system(&["a", "b"], &["k"], |q, v, _, p| kinetic(v) + p["k"] * (q[0] - q[1] * 2.0).cos());
    assert_eq!(names(&gears), ["2*p_a + p_b"]);
}

/// The largest change of a conserved momentum, in parts of its terms.
fn worst(found: &Invariants<f64>, rotations: bool) -> f64 {
    let chosen = found.momenta.iter().filter(|drift| drift.name.contains('*') == rotations);
    chosen.map(|drift| drift.largest / drift.size).fold(0.0, f64::max)
}

#[test]
fn variational_methods_keep_what_symmetries_conserve_to_rounding() {
    for name in ["outer-solar-system", "kepler", "charged-particle"] {
        let problem = problem(name);
        let (step, steps) = if name == "outer-solar-system" { (200.0, 500) } else { (0.02, 2000) };
        // rounding errors of steps add up like a random walk
        let rounding = 10.0 * f64::EPSILON * f64::from(steps).sqrt();
        let mut checked = 0;
        for method in Method::all() {
            let many = method.degree().is_none_or(|degree| degree * problem.q0.len() > 90);
            if many || method.fits(&problem.system).is_err() {
                continue;
            }
            let found = invariants(&problem, &method, step, steps as u64);
            let (linear, angular) = (worst(&found, false), worst(&found, true));
            let what = format!("{name} with {}: linear {linear:.1e}, angular {angular:.1e}", method.name);
            assert!(linear < 1e-15 && angular < rounding, "{what}");
            checked += 1;
        }
        assert!(checked >= 10, "{name}: {checked}");
    }
}

#[test]
fn explicit_methods_lose_angular_momentum_but_not_linear() {
    for (name, step, steps) in [("outer-solar-system", 200.0, 500), ("kepler", 0.02, 2000)] {
        let problem = problem(name);
        for method in ["rk4", "rk4-velocity"] {
            let found = invariants(&problem, &common::method(method), step, steps);
            let (linear, angular) = (worst(&found, false), worst(&found, true));
            let what = format!("{name} with {method}: linear {linear:.1e}, angular {angular:.1e}");
            assert!(linear < 1e-14 && angular > 1e-8, "{what}");
        }
    }
}

#[test]
fn summaries_name_what_symmetries_conserve() {
    let run = Run { until: Some(2000.0.into()), ..Run::of("outer-solar-system") };
    let summary = run.simulate().unwrap().into_result().unwrap().summary;
    let keys: Vec<&str> = summary.momenta.keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 6);
    assert!(keys.contains(&"total p_x") && keys.contains(&"total y*p_z - z*p_y"), "{keys:?}");
    let text = summary.to_string();
    assert!(text.contains("momentum   total x*p_y - y*p_x largest change "), "{text}");
    // the momentum of a single coordinate goes by the name of the coordinate
    let summary = Run::of("charged-particle").simulate().unwrap().summary;
    assert_eq!(summary.momenta["z"], 0.0);
    assert!(summary.momenta["x*p_y - y*p_x"] < 1e-14);
    assert!(summary.to_string().contains("momentum   p_z unchanged to the last bit"));
}

#[test]
fn with_many_digits_the_momenta_keep_many() {
    let run = Run { precision: Some(50), until: Some("period".into()), ..Run::of("kepler") };
    let summary = run.simulate().unwrap().into_result().unwrap().summary;
    assert!(summary.momenta["x*p_y - y*p_x"] < 1e-50, "{:?}", summary.momenta);
}

/// What a text conserves besides the energy: cyclic coordinates and symmetries.
fn conserved(coordinates: &str, potential: &str, q: &str) -> Vec<String> {
    let names: Vec<&str> = coordinates.split(' ').collect();
    let list: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let kinetic: Vec<String> = names.iter().map(|name| format!("v_{name}^2")).collect();
    let text = format!(
        "coordinates = [{}]\n[parameters]\nm = 1\n[lagrangian]\nkinetic = 'm/2*({})'\npotential = '{potential}'\n[initial]\nq = [{q}]\nv = 0\n",
        list.join(", "),
        kinetic.join(" + ")
    );
    let run = Run::read("flat", &leastaction::error::Source::new("flat.toml", text)).unwrap();
    let (system, _) = run.resolve().unwrap();
    let cyclic = system.structure().cyclic.iter().map(|&i| format!("p_{}", system.coordinates[i].name));
    cyclic.chain(system.symmetries().iter().map(|s| s.name.clone())).collect()
}

#[test]
fn what_is_flat_where_one_looks_is_no_symmetry() {
    let none: [&str; 0] = [];
    for (potential, q) in [
        ("50*exp(-(x - 15)^2) + y^2", "0, 1"),
        ("5*(1 + tanh(20*(x - 10))) + y^2", "0, 1"),
        ("5*tanh(20*(x - 10)) + y^2", "0, 1"),
        ("ln(1 + exp(50*(x - 10))) + y^2", "0, 1"),
        ("(x/15)^60 + y^2", "0, 1"),
        ("(x/15)^20 + y^2", "0, 1"),
        ("(x - 5 + abs(x - 5))^2*50 + y^2", "0, 1"),
        ("abs(x - 5) + abs(y - 5)", "0, 1"),
        ("x*exp(-(t - 10)^2) + y^2", "0, 1"),
        ("-4e-20*exp(-2*x^2/1e-6^2) - 1e-20*exp(-y^2/1e-6^2)", "2e-7, 1e-7"),
        ("exp(-(x - 12)^2)", "0, 1"),
        ("1e-40*x + x^2 + y^2", "0, 1"),
    ] {
        let found = conserved("x y", potential, q);
        // the one that does not occur is conserved, the one that does is not
        let expected: &[&str] = if potential.contains('y') { &none } else { &["p_y"] };
        assert_eq!(found, expected, "{potential}");
    }
    // the same with a symmetry to be found
    assert_eq!(conserved("x y", "50*exp(-(x^2 + y^2 - 225)^2)", "0.3, 1"), ["x*p_y - y*p_x"]);
    assert_eq!(conserved("x y", "tanh(x - y - 2)", "0, 1"), ["p_x + p_y"]);
    assert_eq!(conserved("x phi", "x^2*(sin(phi)^2 + cos(phi)^2)", "0.3, 1"), ["p_phi"]);
    assert_eq!(conserved("x phi", "x^2*(sin(phi)^2 + cos(phi)^2) + 1e-40*cos(phi)", "0.3, 1"), none);
}

/// A bead on a wire that turns, by its position in space.
fn bead(extra: &str, start: f64) -> (Run, System) {
    let text = format!(
        "coordinates = ['r']\n[parameters]\nm = 1\nk = 2\nomega = 1.3\n\
         [definitions]\nx = 'r*cos(omega*t)'\ny = 'r*sin(omega*t)'\n\
         [lagrangian]\nkinetic = 'm/2*(dot(x)^2 + dot(y)^2)'\npotential = 'k/2*(sqrt(x^2 + y^2) - 1)^2{extra}'\n\
         [initial]\nt = {start}\nq = 0.5\nv = 0\n[run]\nmethod = 'lobatto8'\nstep = 0.05\nuntil = {}\n",
        start + 10.0
    );
    let run = Run::read("bead", &leastaction::error::Source::new("bead.toml", text)).unwrap();
    let (system, _) = run.resolve().unwrap();
    (run, system)
}

#[test]
fn time_that_cancels_does_not_occur() {
    for start in [0.0, 17.5] {
        let (run, system) = bead("", start);
        assert!(system.structure().autonomous && system.structure().constant_mass, "{system}");
        let summary = run.simulate().unwrap().into_result().unwrap().summary;
        assert!(summary.energy.conserved && summary.energy.max_relative_error < 1e-6);
        // the motion is that of the bead in the frame of the wire: m r̈ = mω²r − k(r − 1)
        let stiffness = 2.0 - 1.3 * 1.3;
        let centre: f64 = 2.0 / stiffness;
        let exact = centre + (0.5 - centre) * (f64::sqrt(stiffness) * 10.0).cos();
        assert!((summary.q[0] - exact).abs() < 1e-8, "{} {exact}", summary.q[0]);
    }
    // broken by next to nothing is broken
    for extra in [" + m*x", " + 1e-30*x", " + exp(-(t - 40)^2)", " + abs(t)", " + r*tanh(50*(t - 100))"] {
        let (_, system) = bead(extra, 0.0);
        assert!(!system.structure().autonomous, "{extra}");
    }
}
