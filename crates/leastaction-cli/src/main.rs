//! The command `leastaction`: flags in, numbers, tables and pictures out. No numerics here.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 the computation failed (what was computed is
//! kept), 2 bad input, 128 and the number of the signal that interrupted: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP.

mod arguments;
mod certify;
mod chart;
mod converge;
mod ensemble;
mod figure;
mod files;
mod init;
mod list;
mod output;
mod pick;
mod picture;
mod progress;
mod reproduce;
mod run;
mod section;
mod show;
mod stored;
mod verify;

use arguments::{Arguments, Command};
use clap::Parser;
use leastaction::error::Diagnostic;
use leastaction::prelude::System;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
#[cfg(unix)]
use std::sync::Arc;

/// Why the command ends, other than by success.
#[derive(Debug)]
enum Ending {
    /// The input was at fault.
    BadInput(String),
    /// The input was at fault, at a place that can be shown.
    Located(Box<Diagnostic>),
    /// The computation or the writing of its results failed.
    Failed(String),
    /// The user interrupted.
    Interrupted,
}

impl From<leastaction::Error> for Ending {
    fn from(error: leastaction::Error) -> Self {
        if let leastaction::Error::Source(diagnostic) = error {
            return Self::Located(diagnostic);
        }
        if error.is_input() { Self::BadInput(error.to_string()) } else { Self::Failed(error.to_string()) }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // a file that may not grow any more is an error that tells what was saved, not the end of the process
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let result = match &arguments.command {
        Command::Simulate(flags) => run::simulate(flags),
        Command::Converge(flags) => converge::converge(flags),
        Command::Certify(flags) => certify::certify(flags),
        Command::Ensemble(flags) => ensemble::ensemble(flags),
        Command::Resume(flags) => ensemble::resume(flags).unwrap_or_else(|| run::resume(flags)),
        Command::Verify(flags) => verify::verify(flags),
        Command::Section(flags) => section::section(flags),
        Command::Reproduce(flags) => reproduce::reproduce(flags),
        Command::Systems { format } => list::systems(*format),
        Command::Methods { format } => list::methods(*format),
        Command::Show(flags) => show::show(flags),
        Command::Init(flags) => init::init(flags),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Ending::BadInput(message)) => {
            say(&format!("error: {message}"));
            ExitCode::from(2)
        }
        Err(Ending::Located(diagnostic)) => {
            say(&diagnostic.render(colour()));
            ExitCode::from(2)
        }
        Err(Ending::Failed(message)) => {
            say(&format!("error: {message}"));
            ExitCode::from(1)
        }
        Err(Ending::Interrupted) => ExitCode::from(progress::code_of_interrupt()),
    }
}

/// Prints to stdout; a closed pipe (`leastaction systems | head`) is not an error, a full disk is.
fn print(text: &str) -> Result<(), Ending> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Ending::Failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// So many warnings of a text are printed.
const MOST_WARNINGS: usize = 10;

/// Shows what may not be as it was meant in the text of a system.
fn warn_of_text(system: &System) {
    for warning in system.warnings.iter().take(MOST_WARNINGS) {
        say(&warning.render(colour()));
    }
    if let Some(more @ 1..) = system.warnings.len().checked_sub(MOST_WARNINGS) {
        say(&format!("… and {more} more warnings"));
    }
}

/// Whether messages may be coloured: on a terminal, unless NO_COLOR is set.
fn colour() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && !set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Prints to stderr, without words of a thousand letters. Where that is impossible there is nobody to tell.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", leastaction::error::shortened(text));
}

/// `1 event`, `2 events`
fn counted(count: usize, word: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural}")
}
