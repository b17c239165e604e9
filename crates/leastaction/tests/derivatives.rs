//! The derivatives read off the graph, against derivatives found in other ways.
//!
//! For every system of the catalogue at a state without symmetry: L_q, L_v and all second derivatives against dual numbers
//! carried through L and against differences; accelerations against Lagrange's equations; momenta to velocities and back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{problem, small_catalogue};
use leastaction::error::Cause;
use leastaction::prelude::*;
use leastaction::scalar::Dual;
use leastaction::system::{Accelerations, Energy, Gradient, Hessian, Start, Velocities};

/// A repeatable sequence of numbers in (−1, 1).
fn noise(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A system with time and with terms of every kind, besides those of the catalogue.
fn odd_system() -> Problem<f64> {
    System::build("odd", "Odd")
        .coordinate("x", "")
        .coordinate("y", "")
        .parameter("a", "0.7", "", "some number")
        .start(["0.4", "1.1"], ["0.3", "-0.2"])
        .lagrangian(|q, v, t, p| {
            let (x, y) = (q[0], q[1]);
            let kinetic = (v[0].squared() * (x.exp() + 1.0) + v[1].squared() * y.cosh()) * 0.5;
            let coupled = v[0] * v[1] * (x * t).sin() * 0.3 + v[0] * (y * p["a"]).tan();
            let relativistic = -(-v[1].squared() * 0.1 + 1.0).sqrt();
            let potential = x.powi(3) / y + (x.squared() + 1.0).ln() * t + y.atan2(x) + x.abs().powf(y);
            kinetic + coupled + relativistic - potential - (x * 0.1).asin() * y.tanh()
        })
        .expect("a system")
        .problem(&Settings::default())
        .expect("a problem")
}

/// A problem with q, v and t.
type Case = (Problem<f64>, Vec<f64>, Vec<f64>, f64);

/// Every problem with a state near its initial one.
fn cases() -> Vec<Case> {
    let mut problems: Vec<Problem<f64>> = small_catalogue().into_iter().map(|plan| plan.problem).collect();
    problems.push(odd_system());
    let mut seed = 11;
    problems
        .into_iter()
        .map(|problem| {
            let size = |list: &[f64]| list.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let at_rest = size(&problem.v0) == 0.0;
            let (q_size, v_size) = (size(&problem.q0), if at_rest { 10.0 } else { size(&problem.v0) });
            let q = problem.q0.iter().map(|x| x + 0.1 * q_size * noise(&mut seed)).collect();
            let v = problem.v0.iter().map(|x| x + 0.1 * v_size * noise(&mut seed)).collect();
            (problem, q, v, 0.3)
        })
        .collect()
}

fn dual(list: &[f64], tangents: &[f64]) -> Vec<Dual> {
    list.iter().zip(tangents).map(|(&value, &tangent)| Dual { value, tangent }).collect()
}

fn constant(list: &[f64]) -> Vec<Dual> {
    dual(list, &vec![0.0; list.len()])
}

/// The direction of one of the 2n variables q, v, split into its parts.
fn direction(n: usize, i: usize) -> (Vec<f64>, Vec<f64>) {
    let unit = |k: usize| (0..n).map(|j| f64::from(u8::from(j == k))).collect();
    (unit(i), unit(i.wrapping_sub(n)))
}

/// Agreement relative to the size of the whole list.
#[track_caller]
fn assert_all_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(1e-300f64, |m, x| m.max(x.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * size, "{what}, number {i}: {found} and {expected}");
    }
}

#[test]
fn first_derivatives() {
    for (problem, q, v, t) in cases() {
        let (model, n, name) = (&problem.system.model, q.len(), &problem.system.name);
        let mut gradient = Gradient::new(model, &problem.parameters);
        let (l_q, l_v) = gradient.at(&q, &v, &t);
        let found = [l_q, l_v].concat();
        let mut of_dual = Energy::new(model, &constant(&problem.parameters));
        let mut of_real = Energy::new(model, &problem.parameters);
        let (mut by_dual, mut by_difference) = (Vec::new(), Vec::new());
        for i in 0..2 * n {
            let (dq, dv) = direction(n, i);
            let time = Dual { value: t, tangent: 0.0 };
            by_dual.push(of_dual.at(&dual(&q, &dq), &dual(&v, &dv), &time).1.tangent);
            // fourth-order differences of L
            let scale = if i < n { &q } else { &v }.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let h = 1e-3 * scale;
            let mut at = |k: f64| {
                let moved = |x: &[f64], dx: &[f64]| -> Vec<f64> {
                    x.iter().zip(dx).map(|(x, dx)| x + k * h * dx).collect()
                };
                of_real.at(&moved(&q, &dq), &moved(&v, &dv), &t).1
            };
            by_difference.push((8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h));
        }
        for (what, part) in [("L_q", 0..n), ("L_v", n..2 * n)] {
            let part = |list: &[f64]| list[part.clone()].to_vec();
            assert_all_close(&format!("{name}: {what}"), &part(&found), &part(&by_dual), 1e-13);
            assert_all_close(&format!("{name}: {what}"), &part(&found), &part(&by_difference), 1e-7);
        }
    }
}

#[test]
fn second_derivatives() {
    for (problem, q, v, t) in cases() {
        let (model, n, name) = (&problem.system.model, q.len(), &problem.system.name);
        let mut hessian = Hessian::new(model, &problem.parameters);
        let entries = hessian.at(&q, &v, &t);
        // the entries as full matrices, both triangles
        let mut full = vec![vec![0.0; 2 * n]; 2 * n];
        for (list, values, row, column) in [
            (model.l_qq(), entries.l_qq, 0, 0),
            (&model.l_qv, entries.l_qv, 0, n),
            (&model.l_vv, entries.l_vv, n, n),
        ] {
            assert_eq!(list.len(), values.len());
            for (entry, value) in list.iter().zip(values) {
                full[row + entry.row][column + entry.column] = *value;
                full[column + entry.column][row + entry.row] = *value;
            }
        }
        let mut gradient = Gradient::new(model, &constant(&problem.parameters));
        for i in 0..2 * n {
            let (dq, dv) = direction(n, i);
            let time = Dual { value: t, tangent: 0.0 };
            let (l_q, l_v) = gradient.at(&dual(&q, &dq), &dual(&v, &dv), &time);
            let tangents: Vec<f64> = l_q.iter().chain(l_v).map(|x| x.tangent).collect();
            // entries that the graph says are zero must be zero
            assert_all_close(&format!("{name}: column {i}"), &full[i], &tangents, 1e-13);
        }
    }
}

#[test]
fn accelerations_satisfy_lagranges_equations() {
    for (problem, q, v, t) in cases() {
        let (model, name) = (&problem.system.model, &problem.system.name);
        let mut a = v.clone();
        Accelerations::new(model, &problem.parameters).at(&q, &v, &t, &mut a).unwrap();
        // along the motion, d/dt L_v = L_q
        let mut gradient = Gradient::new(model, &constant(&problem.parameters));
        let time = Dual { value: t, tangent: 1.0 };
        let (l_q, l_v) = gradient.at(&dual(&q, &v), &dual(&v, &a), &time);
        let rate: Vec<f64> = l_v.iter().map(|x| x.tangent).collect();
        let force: Vec<f64> = l_q.iter().map(|x| x.value).collect();
        let size = rate.iter().chain(&force).fold(0.0f64, |m, x| m.max(x.abs()));
        for (rate, force) in rate.iter().zip(&force) {
            assert!((rate - force).abs() < 1e-12 * size.max(1e-12), "{name}: {rate} and {force}");
        }
    }
}

#[test]
fn momenta_and_velocities_determine_each_other() {
    for (problem, q, v, t) in cases() {
        let mut velocities = Velocities::new(&problem.system.model, &problem.parameters);
        let (mut p, mut back, mut again) = (v.clone(), vec![0.0; v.len()], v.clone());
        velocities.momenta(&q, &v, &t, &mut p);
        velocities.velocities(&q, &p, &t, &mut back).unwrap();
        let name = &problem.system.name;
        assert_all_close(&format!("{name}: velocities"), &back, &v, 1e-11);
        velocities.momenta(&q, &back, &t, &mut again);
        assert_all_close(&format!("{name}: momenta"), &again, &p, 1e-14);
    }
}

#[test]
fn velocities_of_a_relativistic_particle_are_found_from_bad_guesses() {
    // p = v/√(1 − v²), so v = p/√(1 + p²)
    let particle = System::build("particle", "Relativistic particle")
        .coordinate("x", "")
        .lagrangian(|_, v, _, _| -(-v[0].squared() + 1.0).sqrt())
        .expect("a system");
    let mut velocities = Velocities::<f64>::new(&particle.model, &[]);
    for p in [1e-6f64, -0.5, 2.0, -30.0, 1e3] {
        let exact = p / (1.0 + p * p).sqrt();
        // at rest, fast the wrong way, faster than light, not a number
        for guess in [0.0, -0.999_999 * p.signum(), 0.999_999 * p.signum(), 5.0, f64::NAN] {
            let mut v = [guess];
            velocities.velocities(&[0.0], &[p], &0.0, &mut v).unwrap();
            // near the speed of light v is better determined by p than p by v
            assert!((v[0] - exact).abs() < 4e-16, "p = {p} from {guess}: {} and {exact}", v[0]);
        }
    }
}

#[test]
fn momenta_out_of_reach_have_no_velocity() {
    // p = v/√(1 + v²) lies between −1 and 1
    let bounded = System::build("bounded", "Bounded momentum")
        .coordinate("x", "")
        .lagrangian(|_, v, _, _| (v[0].squared() + 1.0).sqrt())
        .expect("a system");
    let start = |p: f64| Settings { start: Some(Start::Momenta(vec![p.into()])), ..Settings::default() };
    assert!((bounded.problem::<f64>(&start(0.6)).unwrap().v0[0] - 0.75).abs() < 1e-14);
    let error = bounded.problem::<f64>(&start(2.0)).expect_err("no velocity");
    let Error::Failed(failure) = &error else { panic!("{error:?}") };
    assert!(matches!(failure.cause, Cause::NoVelocity { .. } | Cause::SingularMass { .. }), "{error:?}");
    assert!(error.to_string().contains('x'), "{error}");
}

#[test]
fn energy_of_the_double_pendulum_by_hand() {
    let problem = problem("double-pendulum");
    let (g, l) = (9.81, 9.81 / (2.0 * std::f64::consts::PI).powi(2));
    let mut kernel = Energy::new(&problem.system.model, &problem.parameters);
    let mut seed = 5;
    for _ in 0..20 {
        let [q1, q2, v1, v2] = [3.0, 3.0, 10.0, 10.0].map(|size| size * noise(&mut seed));
        // Cartesian velocities and heights of two unit masses
        let (vx, vy) = (l * v1 * q1.cos(), l * v1 * q1.sin());
        let (wx, wy) = (vx + l * v2 * q2.cos(), vy + l * v2 * q2.sin());
        let (y1, y2) = (-l * q1.cos(), -l * q1.cos() - l * q2.cos());
        let kinetic = 0.5 * (vx * vx + vy * vy + wx * wx + wy * wy);
        let potential = g * (y1 + y2);
        let (energy, lagrangian) = kernel.at(&[q1, q2], &[v1, v2], &0.0);
        assert!((energy - kinetic - potential).abs() < 1e-13 * (kinetic + potential.abs()));
        assert!((lagrangian - kinetic + potential).abs() < 1e-13 * (kinetic + potential.abs()));
    }
    // the initial energy, computed with 25 digits
    let initial = kernel.at(&problem.q0, &problem.v0, &0.0).0;
    assert!((initial / -4.666_257_134_621_335 - 1.0).abs() < 1e-15, "{initial}");
}
