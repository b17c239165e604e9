//! Everything that can go wrong, in one enum. Every message names the culprit, carries its numbers and ends with
//! what to try.
//!
//! [`Error`] is what a caller gets; its variant [`Error::Failed`] wraps a [`Failure`]: a run that stopped on its way,
//! with the state it stopped at. Input errors are found before anything is computed.

mod diagnostic;
mod failure;

pub use diagnostic::{Diagnostic, Origin, Severity, Source};
pub(crate) use failure::smaller_than;
pub use failure::{Cause, Failure, Trial};

/// The result of anything that can go wrong.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    #[error("unknown system `{name}`{hint}\n  try `leastaction systems` for the list")]
    UnknownSystem { name: String, hint: String },

    #[error("unknown method `{name}`{hint}\n  try `leastaction methods` for the list")]
    UnknownMethod { name: String, hint: String },

    #[error("system `{system}` has no parameter `{name}`{hint}\n  its parameters: {known}")]
    UnknownParameter { system: String, name: String, hint: String, known: String },

    #[error("parameter `{name}` of `{system}` must be {expected}, but is {found}")]
    BadParameter { system: String, name: String, expected: String, found: String },

    #[error("{0}")]
    Source(Box<Diagnostic>),

    #[error(
        "on the way to {what} at the initial state there is {value}, beyond the numbers of 64 bits (2e-308 to 2e308)\n  \
         try other units of mass, length and time, so that numbers are nearer to 1, or a precision of 30 digits"
    )]
    OutOfRange { what: String, value: String },

    #[error(
        "{what} = `{formula}` is not a finite number (it gives {value})\n  \
         look for a division by zero, or a root or logarithm of a negative number"
    )]
    NotANumber { what: String, formula: String, value: f64 },

    #[error(
        "{what} needs {expected} values, one for each coordinate ({coordinates}), but {found} were given"
    )]
    WrongCount { what: String, expected: usize, found: usize, coordinates: String },

    #[error("the initial state gives both velocities and momenta\n  give v or p, not both")]
    VelocityAndMomentum,

    #[error("the step must be positive, but is {step}\n  try {try_step}")]
    BadStep { step: f64, try_step: String },

    #[error(
        "the end time must lie at least one step of {step} ahead, but until = {until}\n  try a larger until or a smaller step"
    )]
    BadUntil { until: f64, step: f64 },

    #[error("until/step asks for {steps:e} steps, more than can be counted\n  try a larger step")]
    TooManySteps { steps: f64 },

    #[error("recording every {every} steps would take {gigabytes:.0} GB\n  try every = {try_every} or more")]
    TooMuchToRecord { every: u64, gigabytes: f64, try_every: u64 },

    #[error(
        "`{method}` has no polynomial within its steps, so there is nothing to record there\n  try a variational method, or a smaller step"
    )]
    NotDense { method: String },

    #[error(
        "there is no machine code here: {reason}\n  leave the back end open, or try `interpreter`, which gives the same numbers"
    )]
    NoMachineCode { reason: String },

    #[error("`{what}` must be at least 1, but is 0")]
    ZeroCount { what: String },

    #[error(
        "the Lagrangian is not finite at the initial state (L = {value}; {state})\n  try another initial state, or look for a division by zero or a root or logarithm of a negative number; where numbers near 1e308 overflow, other units"
    )]
    BadStart { value: f64, state: String },

    #[error(
        "the kinetic energy is not positive definite at the initial state: {direction}\n  try masses and moments of inertia that are positive, or another initial state"
    )]
    NotDefinite { direction: String },

    #[error(
        "a number recorded for one Lagrangian was used in another\n  build every expression from the arguments of the function itself"
    )]
    ForeignNumber,

    #[error("the Lagrangian of `{system}` asks for a parameter `{name}` it does not declare{hint}")]
    UndeclaredParameter { system: String, name: String, hint: String },

    #[error(
        "polynomials of degree {degree} need {needed} points of {rule} quadrature or more, but there are {points}\n  try {needed} points"
    )]
    TooFewPoints { degree: usize, rule: String, points: usize, needed: usize },

    #[error(
        "system `{system}` is not linear: {reason}\n  the linear schemes need L = ½ vᵀMv - ½ qᵀKq with constant M and K; try another system, or simulate this one step by step"
    )]
    NotLinear { system: String, reason: String },

    #[error(
        "`{method}` does not fit `{system}`: {reason}\n  it kicks and drifts in turn, which needs L = ½ vᵀMv - V(q, t) with a constant mass matrix M; try {instead}, which take every Lagrangian"
    )]
    DoesNotFit { method: String, system: String, reason: String, instead: String },

    #[error("`{method}` is not variational, so {what} does not exist for it\n  try a variational method")]
    NotVariational { method: String, what: String },

    #[error("{what} has no inverse\n  try another step")]
    SingularMatrix { what: String },

    #[error("system `{system}`: {message}")]
    BadSystem { system: String, message: String },

    #[error(
        "a tolerance of {} cannot be asked for: it is the energy error relative to the energy\n  try one between 1e-15 and 0.1, such as 1e-8",
        number(*.tolerance)
    )]
    BadTolerance { tolerance: f64 },

    #[error(
        "a tolerance of {tolerance:e} is below the rounding of the numbers, {rounding:.1e}, which no step and no method removes\n  \
         the smallest tolerance that makes sense is a few times that: try {:.0e}\n  \
         for more digits give a precision with a method and a step, such as --precision 40 --method gauss16 --step 0.01",
        5.0 * .rounding
    )]
    TinyTolerance { tolerance: f64, rounding: f64 },

    #[error("in the run description: {message}")]
    BadRun { message: String },

    #[error("{what}: {message}")]
    BadQuantity { what: String, message: String },

    #[error("{message}")]
    BadStudy { message: String },

    #[error("{message}")]
    BadCheckpoint { message: String },

    #[error("{message}")]
    NotSaved { message: String },

    #[error("{0}")]
    Failed(Box<Failure>),
}

impl Error {
    /// Whether the input was at fault (and nothing was computed), rather than the computation.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Failed(failure) => failure.step == 0,
            Self::NotSaved { .. } => false,
            _ => true,
        }
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Source(Box::new(diagnostic))
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

/// A message with its longest words cut, so that a name of a megabyte does not fill the screen.
pub fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    if text.split_whitespace().all(|word| word.len() <= MAX_WORD) {
        return text.into();
    }
    let cut = |word: &str| -> String {
        match word.char_indices().nth(MAX_WORD / 2) {
            Some((at, _)) if word.len() > MAX_WORD => {
                let end = word.char_indices().rev().nth(8).map_or(at, |(end, _)| end.max(at));
                format!("{}…{}", &word[..at], &word[end..])
            }
            _ => word.to_owned(),
        }
    };
    text.split_inclusive(char::is_whitespace).map(cut).collect::<String>().into()
}

/// Longer words are cut in messages.
const MAX_WORD: usize = 160;

/// A number with all its digits, in the shorter of the two notations; both read back to the same bits.
pub fn number(x: f64) -> String {
    if x == 0.0 || (1e-4..1e15).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

/// A number with about six digits.
fn short(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.5e}") }
}

/// `name = value, …`, at most eight of them.
pub fn list_state(names: &[String], values: &[f64]) -> String {
    let shown: Vec<String> =
        names.iter().zip(values).take(8).map(|(n, x)| format!("{n} = {}", short(*x))).collect();
    let more = names.len().saturating_sub(8);
    if more > 0 { format!("{}, … and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// A combination of velocities as text, e.g. `v_phi - v_psi`.
pub(crate) fn combination(names: &[String], factors: &[f64]) -> String {
    let largest = factors.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut text = String::new();
    let mut terms = 0;
    for (name, &factor) in names.iter().zip(factors) {
        let relative = factor / largest;
        // what is left of rounding
        if relative.abs() <= 1e-11 || relative.is_nan() {
            continue;
        }
        terms += 1;
        if terms > 4 {
            text.push_str(" + …");
            break;
        }
        let sign = match (relative < 0.0, text.is_empty()) {
            (true, true) => "-",
            (false, true) => "",
            (true, false) => " - ",
            (false, false) => " + ",
        };
        text.push_str(sign);
        if (relative.abs() - 1.0).abs() > 1e-6 {
            let size = relative.abs();
            text.push_str(&if size < 0.01 { format!("{size:.2e}*") } else { format!("{size:.3}*") });
        }
        text.push_str(&format!("v_{name}"));
    }
    // numbers that are not finite name nothing
    if text.is_empty() { "of some coordinates".to_owned() } else { text }
}

/// `; did you mean `x` or `y`?` for the known names nearest to a wrong one, or nothing if none is near.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // nothing is near a name that nobody would type
    if wrong.len() > MAX_WORD {
        return String::new();
    }
    let wrong_lower = wrong.to_lowercase();
    let mut scored: Vec<(f64, f64, &str)> = known
        .into_iter()
        .map(|name| {
            let lower = name.to_lowercase();
            // a part of a name, or one that contains it, is as good as a near spelling
            let part = wrong.len() >= 3
                && (lower.contains(&wrong_lower) || lower.len() >= 3 && wrong_lower.contains(&lower));
            // a misspelt word of a name with several words
            let words = lower.split('-').chain([lower.as_str()]);
            let alike = words
                .map(|word| strsim::normalized_damerau_levenshtein(&wrong_lower, word))
                .fold(0.0, f64::max);
            let whole = strsim::normalized_damerau_levenshtein(&wrong_lower, &lower);
            (if part { alike.max(0.8) } else { alike }, whole, name)
        })
        .filter(|(score, ..)| *score >= 0.5)
        .collect();
    // of names that share a word the one that is alike as a whole comes first
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| b.1.total_cmp(&a.1)).then_with(|| a.2.cmp(b.2)));
    scored.dedup_by_key(|entry| entry.2);
    let names: Vec<String> = scored.iter().take(3).map(|(.., name)| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["double-pendulum", "pendulum", "kepler"];
        assert_eq!(nearest("duoble-pendulum", known), "; did you mean `double-pendulum` or `pendulum`?");
        assert_eq!(nearest("keppler", known), "; did you mean `kepler`?");
        assert_eq!(nearest("xyz", known), "");
        assert!(nearest("pendulun", known).starts_with("; did you mean `pendulum`"));
    }

    #[test]
    fn words_that_nobody_reads_are_cut() {
        assert_eq!(shortened("unknown name `x`\n  try y"), "unknown name `x`\n  try y");
        let text = format!("no `{}z` here, but θ", "é".repeat(500));
        let cut = shortened(&text);
        assert!(cut.starts_with("no `éé") && cut.ends_with("ééz` here, but θ"), "{cut}");
        assert!(cut.contains('…') && cut.chars().count() < 140, "{cut}");
        assert_eq!(nearest(&"a".repeat(1000), ["aaa"]), "");
    }

    #[test]
    fn combinations_read_like_formulas() {
        let names = ["phi".to_owned(), "theta".to_owned(), "psi".to_owned()];
        assert_eq!(combination(&names, &[-1.0, 0.0, 1.0]), "-v_phi + v_psi");
        assert_eq!(combination(&names, &[0.5, 1.0, 1e-12]), "0.500*v_phi + v_theta");
        assert_eq!(combination(&names, &[f64::NAN; 3]), "of some coordinates");
    }
}
