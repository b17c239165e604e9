//! Bytes as a system or run file: every one of them is planned or refused, none panics, hangs or takes all memory.
#![no_main]

use leastaction::error::Source;
use leastaction::prelude::Run;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source::new("fuzz.toml", text);
    let result = Run::read("fuzz", &source).and_then(|run| run.plan());
    match result {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(plan) => {
            // one step, if it is a small one
            if plan.problem.system.n() <= 16 && plan.precision.is_none() {
                let mut once = plan;
                (once.steps, once.every) = (1, 0);
                let _ = once.simulate();
            }
        }
    }
});
