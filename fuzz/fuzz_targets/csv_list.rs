//! Bytes as a table of starts in CSV: each is a list whose numbers are finite, or refused.
#![no_main]

use leastaction::prelude::Run;
use leastaction::simulate::ensemble::{Ensemble, EnsemblePlan, List};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match List::read_csv(data) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(list) => {
            assert_eq!(list.values.len() % list.names.len(), 0);
            assert!(list.values.iter().all(|x| x.is_finite()));
            let ensemble = Some(Ensemble { list: Some("fuzz.csv".to_owned()), ..Ensemble::default() });
            let run = Run { ensemble, ..Run::of("pendulum") };
            let _ = EnsemblePlan::new(&run, Some(list));
        }
    }
});
