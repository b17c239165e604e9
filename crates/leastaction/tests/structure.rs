//! What the variational methods conserve, measured on every conservative system of the catalogue.
//!
//! The rows come from the registries: a new method or system is tested without a line here. Each variational method must
//! be symplectic and reversible to rounding, keep the momenta of cyclic coordinates bit for bit, and let the energy swing
//! without moving away. The explicit methods must fail the same checks, or the checks would prove nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Watch, run, small_catalogue};
use leastaction::analysis::drift::{EnergyDrift, EnergyWindows};
use leastaction::analysis::structure::{reversibility_defect, symplecticity_defect, tangent_map};
use leastaction::prelude::*;
use leastaction::simulate::{Invariants, Moment, Plan};
use leastaction::system::Velocities;

/// Defects above this are not rounding.
const SYMPLECTIC: f64 = 1e-13;
const REVERSIBLE: f64 = 1e-14;
/// Methods with more unknowns per step than this are left out for the largest systems, to spare time.
const UNKNOWNS: usize = 90;

fn conservative() -> Vec<Plan> {
    let plans: Vec<Plan> =
        small_catalogue().into_iter().filter(|plan| plan.problem.system.structure().autonomous).collect();
    assert!(plans.len() >= 14);
    plans
}

fn variational(plan: &Plan) -> Vec<Method> {
    let system = &plan.problem.system;
    let few = |degree: usize| system.n() * degree <= UNKNOWNS;
    let fits = |method: &Method| method.degree().is_some_and(few) && method.fits(system).is_ok();
    Method::all().into_iter().filter(fits).collect()
}

/// Symplecticity and reversibility of a step that starts after a number of steps.
fn defects(plan: &Plan, method: &Method, step: f64, steps: u64) -> [f64; 2] {
    let problem = &plan.problem;
    let state = run(problem, method, step, steps, &mut []);
    // what the compensated sums have lost is not part of the map
    let state = State::at(state.q, state.p);
    let map = tangent_map(problem, method, step, &state).unwrap();
    [symplecticity_defect(&map), reversibility_defect(problem, method, step, &state).unwrap()]
}

#[test]
fn variational_methods_are_symplectic_and_reversible() {
    let mut worst = [(0.0, String::new()), (0.0, String::new())];
    let mut checked = 0;
    for plan in conservative() {
        for method in variational(&plan) {
            let found = defects(&plan, &method, plan.step, 5);
            let what = format!("{} with {}", plan.problem.system.name, method.name);
            for (worst, found) in worst.iter_mut().zip(found) {
                if found > worst.0 {
                    *worst = (found, what.clone());
                }
            }
            assert!(found[0] < SYMPLECTIC, "{what}: symplecticity defect {:e}", found[0]);
            assert!(found[1] < REVERSIBLE, "{what}: reversibility defect {:e}", found[1]);
            checked += 1;
        }
    }
    println!("{checked} pairs; least symplectic: {:?}, least reversible: {:?}", worst[0], worst[1]);
    assert!(checked >= 400, "{checked}");
}

#[test]
fn explicit_methods_are_neither_symplectic_nor_reversible() {
    for plan in conservative() {
        for method in Method::all().into_iter().filter(|method| !method.is_variational()) {
            // far from the start, where most systems are at rest, and with steps that show it everywhere
            let [symplectic, reversible] = defects(&plan, &method, 4.0 * plan.step, 30);
            let what = format!("{} with {}", plan.problem.system.name, method.name);
            assert!(symplectic > 1e3 * SYMPLECTIC, "{what}: symplecticity defect {symplectic:e}");
            assert!(reversible > 1e3 * REVERSIBLE, "{what}: reversibility defect {reversible:e}");
        }
    }
}

/// What a run kept.
struct Kept {
    energy: EnergyDrift,
    /// How large the energy's terms became, in the unit of its errors.
    size: f64,
    /// How often the momentum of a cyclic coordinate changed a bit.
    changes: u32,
    steps: u64,
}

fn conservation(plan: &Plan, method: &Method, step: f64, steps: u64) -> Kept {
    let problem = &plan.problem;
    let model = &problem.system.model;
    let mut windows = EnergyWindows::new(problem, steps, 20);
    let mut velocities = Velocities::new(model, &problem.parameters);
    let mut invariants = Invariants::new(problem);
    let (mut changes, mut action, mut v) = (0, 0.0f64, problem.v0.clone());
    let mut watch = Watch(|moment: &Moment<'_, f64>| {
        let State { q, p, .. } = moment.state;
        for &i in &model.structure.cyclic {
            changes += u32::from(p[i].to_bits() != problem.p0[i].to_bits());
        }
        velocities.velocities(q, p, &moment.t, &mut v).unwrap();
        action = action.max(p.iter().zip(&v).map(|(p, v)| (p * v).abs()).sum());
    });
    run(problem, method, step, steps, &mut [&mut windows, &mut invariants, &mut watch]);
    let size = 1.0 + action / invariants.meter.scale();
    Kept { energy: windows.drift(), size, changes, steps }
}

impl Kept {
    /// Whether the mean energy moves by more than chance, more than a part of its swing and more than rounding explain.
    fn drifts(&self) -> bool {
        let EnergyDrift { drift, uncertainty, largest, .. } = self.energy;
        let rounding = 10.0 * (self.steps as f64).sqrt() * f64::EPSILON * self.size;
        drift.abs() > 4.0 * uncertainty && drift.abs() > 0.1 * largest && drift.abs() > rounding
    }
}

/// Whether the energy moves away. A slow swing looks like a drift until it is watched for longer: a drift then grows with
/// the time, a swing does not.
fn moves_away(plan: &Plan, method: &Method, step: f64, short: &Kept) -> Option<String> {
    if !short.drifts() {
        return None;
    }
    let long = conservation(plan, method, step, 10 * short.steps);
    let grown = long.drifts() && long.energy.drift.abs() > 4.0 * short.energy.drift.abs();
    grown.then(|| {
        format!(
            "{} with {}: {:?}, then {:?}",
            plan.problem.system.name, method.name, short.energy, long.energy
        )
    })
}

#[test]
fn variational_methods_keep_momenta_to_the_bit_and_energy_without_drift() {
    for plan in conservative() {
        let n = plan.problem.system.n();
        for method in variational(&plan) {
            let steps = if n * method.degree().unwrap() <= 20 { 2000 } else { 500 };
            let kept = conservation(&plan, &method, plan.step, steps);
            let what = format!("{} with {}", plan.problem.system.name, method.name);
            assert_eq!(kept.changes, 0, "{what}: momenta of cyclic coordinates changed");
            assert_eq!(moves_away(&plan, &method, plan.step, &kept), None);
        }
    }
}

#[test]
fn explicit_methods_lose_energy_and_momenta() {
    for plan in conservative() {
        for method in Method::all().into_iter().filter(|method| !method.is_variational()) {
            let name = plan.problem.system.name.as_str();
            let kept = conservation(&plan, &method, plan.step, 2000);
            // the n-pendulum is so chaotic that the energy wanders up and down instead
            let moves = moves_away(&plan, &method, plan.step, &kept).is_some();
            assert!(moves || name == "n-pendulum", "{name} with {}: {:?}", method.name, kept.energy);
            // in (q, v) the momenta of cyclic coordinates are not seen by the method
            if name.starts_with("lagrange-top") && plan.problem.q0.len() == 3 {
                assert_eq!(kept.changes > 0, method.name == "rk4-velocity", "{name} with {}", method.name);
            }
        }
    }
}

#[test]
fn a_fast_coordinate_does_not_spoil_one_it_has_nothing_to_do_with() {
    // x moves freely beside a pendulum y; the pendulum must not notice how fast
    let system = System::build("beside", "A pendulum beside a free particle")
        .coordinate("x", "m")
        .coordinate("y", "rad")
        .lagrangian(|q, v, _, _| (v[0].squared() + v[1].squared()) * 0.5 + q[1].cos() * 3.0)
        .unwrap();
    assert_eq!(system.structure().groups, 2);
    let end = |speed: f64, method: &str| {
        let start = leastaction::system::Start::Velocities(vec![speed.into(), 0.0.into()]);
        let q = Some(vec![0.0.into(), 1.0.into()]);
        let problem: Problem<f64> =
            system.problem(&Settings { q, start: Some(start), ..Settings::default() }).unwrap();
        let mut stepper = Stepper::new(&problem, &Method::named(method).unwrap(), 0.4);
        let mut state = State::new(&problem);
        for _ in 0..40 {
            stepper.step(&mut state).unwrap();
        }
        (state.q[1], state.p[1])
    };
    for method in ["midpoint", "simpson", "gauss8"] {
        let slow = end(0.0, method);
        for speed in [1e3, 1e6, 1e9, 1e12] {
            let fast = end(speed, method);
            let difference = (fast.0 - slow.0).abs().max((fast.1 - slow.1).abs());
            assert!(difference < 1e-13, "{method} beside {speed:e}: {difference:e}");
        }
    }
}
