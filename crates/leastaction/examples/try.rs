use leastaction::prelude::*;
use leastaction::system::catalogue;
use std::time::Instant;
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let name = &arguments[1];
    let method = Method::named(&arguments[2]).unwrap();
    let until: f64 = arguments[3].parse().unwrap();
    let system = catalogue::system(name).unwrap();
    let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
    for step in &arguments[4..] {
        let step: f64 = step.parse().unwrap();
        let steps = (until / step).round() as u64;
        let mut best = f64::INFINITY;
        let (mut error, mut total) = (0.0f64, 0u64);
        for round in 0..6 {
            let mut stepper = Stepper::new(&problem, &method, until / steps as f64);
            let mut state = State::new(&problem);
            let mut energy = leastaction::system::Energy::new(&system.model, &problem.parameters);
            let mut velocities = leastaction::system::Velocities::new(&system.model, &problem.parameters);
            let mut v = problem.v0.clone();
            let e0 = energy.at(&state.q, &v, &0.0).0;
            total = 0;
            let start = Instant::now();
            for _ in 0..steps {
                total += u64::from(stepper.step(&mut state).unwrap());
                if round == 0 {
                    velocities.velocities(&state.q, &state.p, &0.0, &mut v).unwrap();
                    error = error.max(((energy.at(&state.q, &v, &0.0).0 - e0) / e0).abs());
                }
            }
            if round > 0 { best = best.min(start.elapsed().as_secs_f64()); }
        }
        println!("{name} {} h {step}: {:.1} us, {:.0} ns a step, {:.2} iterations, {:.1} ns each, energy {error:.2e}", arguments[2], best * 1e6, best * 1e9 / steps as f64, total as f64 / steps as f64, best * 1e9 / total as f64);
    }
}
