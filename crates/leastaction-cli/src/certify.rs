//! `leastaction certify`: measures everything on the user's own run, prints the certificate, and ends with its verdict.

use crate::arguments::CertifyFlags;
use crate::progress::{AFTER_THIS_STEP, Interrupt, Progress};
use crate::{Ending, pick, print, say};
use leastaction::analysis::certify::{Verdict, certify as measure, steps};

pub(crate) fn certify(flags: &CertifyFlags) -> Result<(), Ending> {
    let interrupt = Interrupt::install(AFTER_THIS_STEP);
    let mut run = flags.to_run()?;
    pick::pick(&mut run, Some(&interrupt))?;
    let plan = run.plan()?;
    let progress = Progress::new(steps(&plan), 1);
    let certificate = measure(&plan, &flags.options(plan.tolerance), &|steps| {
        progress.advance(steps);
        interrupt.flow()
    })?;
    progress.finish();
    if flags.json {
        let json = serde_json::to_string_pretty(&certificate);
        print(&json.map_err(|error| Ending::Failed(error.to_string()))?)?;
    } else {
        print(&certificate.to_string())?;
    }
    if interrupt.flow().is_break() {
        say("interrupted; what is missing says so");
        return Err(Ending::Interrupted);
    }
    match certificate.verdict {
        Verdict::Fail => {
            Err(Ending::Failed(format!("the certificate fails: {}", certificate.failed.join(", "))))
        }
        _ => Ok(()),
    }
}
