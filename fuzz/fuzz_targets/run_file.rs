//! Bytes as a whole run: read, planned and run for as many steps as a budget allows, members of its ensemble as well. What ends well has only
//! finite numbers, and what the run says of itself is read back to the same run.
#![no_main]

use leastaction::error::Source;
use leastaction::prelude::{Run, Solution};
use leastaction::simulate::Outcome;
use leastaction::simulate::ensemble::EnsemblePlan;
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;

/// Steps times coordinates.
const BUDGET: u64 = 2000;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(mut run) = Run::read("fuzz", &Source::new("fuzz.toml", text)) else { return };
    // many digits take long
    run.precision = run.precision.map(|digits| digits.min(20));
    if let Ok(plan) = run.plan() {
        let most = BUDGET / plan.problem.system.n() as u64;
        let written = plan.run.to_toml().expect("a run is written");
        let again = Run::read("fuzz", &Source::new("again.toml", written)).expect("what is written is read");
        let again = again.plan().expect("what was planned is planned again");
        assert_eq!((again.step.to_bits(), again.steps), (plan.step.to_bits(), plan.steps));
        let flow = |step| if step < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        if let Ok(solution) = plan.simulate_watched(&mut |step| flow(step)) {
            check(&solution);
        }
    }
    if run.ensemble.is_some()
        && let Ok(plan) = EnsemblePlan::new(&run, None)
        && plan.count() * plan.base.steps * plan.base.problem.system.n() as u64 <= BUDGET
    {
        let _ = plan.run(&(0..plan.count()), 0, 1, &|| ControlFlow::Continue(()), |_| Ok::<_, ()>(()));
    }
});

fn check(solution: &Solution) {
    let summary = &solution.summary;
    let recording = &solution.recording;
    assert!(summary.q.iter().chain(&summary.p).all(|x| x.is_finite()), "{summary:?}");
    for list in [&recording.t, &recording.q, &recording.p, &recording.v, &recording.energy] {
        assert!(list.iter().all(|x| x.is_finite()), "{list:?}");
    }
    if let Outcome::Failed(failure) = &solution.outcome {
        assert!(!failure.to_string().is_empty());
    }
}
