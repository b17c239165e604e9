//! What is kept of a member: numbers in columns, 64 bits each.
//!
//! An engine fills an [`Ending`] for each member; a [`Block`] has them in columns beside the members' numbers and values, ready to be written.

use crate::error::Cause;
use crate::system::Refusal;

/// How a member ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All steps were taken.
    Done,
    /// An event that was to end it did.
    Stopped,
    /// A parameter, a number of the initial state or the Lagrangian there is not finite.
    BadStart,
    /// The kinetic energy is not positive definite at the start.
    NotDefinite,
    /// The mass matrix is singular, at the start or later.
    SingularMass,
    /// No velocities were found for the momenta.
    NoVelocity,
    /// The equations of a step were not solved.
    NotConverged,
    /// The matrix of a step is singular.
    SingularStep,
    /// A number became infinite or undefined.
    NotFinite,
    /// The formula of an event gave no finite number.
    EventNotFinite,
    /// An energy that is conserved jumped.
    EnergyJump,
    /// All steps were taken, and no event that was to end it did.
    NotReached,
}

impl Status {
    /// All of them, by their codes.
    pub const ALL: [Self; 12] = [
        Self::Done,
        Self::Stopped,
        Self::BadStart,
        Self::NotDefinite,
        Self::SingularMass,
        Self::NoVelocity,
        Self::NotConverged,
        Self::SingularStep,
        Self::NotFinite,
        Self::EventNotFinite,
        Self::EnergyJump,
        Self::NotReached,
    ];

    /// A word for files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::BadStart => "bad start",
            Self::NotDefinite => "not definite",
            Self::SingularMass => "singular mass",
            Self::NoVelocity => "no velocity",
            Self::NotConverged => "not converged",
            Self::SingularStep => "singular step",
            Self::NotFinite => "not finite",
            Self::EventNotFinite => "event not finite",
            Self::EnergyJump => "energy jump",
            Self::NotReached => "not reached",
        }
    }

    /// Whether the member went as far as it could: it was ended by an event, or took all its steps.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Done | Self::Stopped | Self::NotReached)
    }

    /// Whether smaller steps may help.
    pub fn is_of_steps(self) -> bool {
        matches!(self, Self::NotConverged | Self::SingularStep | Self::NotFinite | Self::EnergyJump)
    }

    /// The code in a column.
    pub fn code(self) -> u64 {
        self as u64
    }

    /// The status of a code; what is none counts as not finite.
    pub fn of_code(code: u64) -> Self {
        Self::ALL.get(code as usize).copied().unwrap_or(Self::NotFinite)
    }
}

impl From<&Cause> for Status {
    fn from(cause: &Cause) -> Self {
        match cause {
            Cause::NotConverged { .. } => Self::NotConverged,
            Cause::SingularMass { .. } => Self::SingularMass,
            Cause::SingularStep { .. } => Self::SingularStep,
            Cause::NotFinite { .. } | Cause::MassNotFinite { .. } => Self::NotFinite,
            // refused with the run, before there are members
            Cause::DoesNotFit { .. } => Self::BadStart,
            Cause::EventNotFinite { .. } => Self::EventNotFinite,
            Cause::NoVelocity { .. } => Self::NoVelocity,
            Cause::EnergyJump { .. } => Self::EnergyJump,
            Cause::BeyondStability { met, .. } => Self::from(met.as_ref()),
        }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFinite => Self::BadStart,
            Refusal::SingularMass => Self::SingularMass,
            Refusal::NotDefinite => Self::NotDefinite,
            Refusal::NoVelocity => Self::NoVelocity,
        }
    }
}

/// What is known of a member at its end.
#[derive(Clone, Debug)]
pub struct Ending {
    /// How it ended.
    pub status: Status,
    /// The time reached.
    pub t: f64,
    /// The step; NaN if none was taken.
    pub step: f64,
    /// Coordinates then.
    pub q: Vec<f64>,
    /// Momenta then.
    pub p: Vec<f64>,
    /// The energy at the start.
    pub energy: f64,
    /// The least and the largest E − E0 over all steps, relative as in a run's summary.
    pub energy_error: [f64; 2],
    /// How often each event happened.
    pub counts: Vec<u64>,
    /// When each happened first; NaN if never.
    pub firsts: Vec<f64>,
}

impl Ending {
    /// Room for a member of a system with so many coordinates and events.
    pub fn new(n: usize, events: usize) -> Self {
        Self {
            status: Status::Done,
            t: f64::NAN,
            step: f64::NAN,
            q: vec![f64::NAN; n],
            p: vec![f64::NAN; n],
            energy: f64::NAN,
            energy_error: [f64::NAN; 2],
            counts: vec![0; events],
            firsts: vec![f64::NAN; events],
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Whole,
    /// Numbers.
    Real,
    /// Codes of [`Status`].
    Status,
}

/// A column of an ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// The columns of an ensemble: the member's number, what varies, how it ended, the time reached, the step, the state then, the energy, the events,
/// the outputs at the end.
pub(super) fn columns(
    varied: &[String],
    coordinates: &[String],
    events: &[&str],
    outputs: &[String],
) -> Vec<Column> {
    let column = |name: String, kind| Column { name, kind };
    let real = |name: String| column(name, Kind::Real);
    let mut columns = vec![column("index".to_owned(), Kind::Whole)];
    columns.extend(varied.iter().cloned().map(real));
    columns.push(column("status".to_owned(), Kind::Status));
    columns.push(real("t_end".to_owned()));
    columns.push(real("step".to_owned()));
    columns.extend(coordinates.iter().map(|name| real(format!("{name}_end"))));
    columns.extend(coordinates.iter().map(|name| real(format!("p_{name}_end"))));
    let energy = ["energy", "energy_error", "energy_error_low", "energy_error_high"];
    columns.extend(energy.map(|name| real(name.to_owned())));
    for name in events {
        columns.push(column(format!("{name}_count"), Kind::Whole));
        columns.push(real(format!("{name}_first")));
    }
    columns.extend(outputs.iter().map(|name| real(format!("{name}_end"))));
    columns
}

/// Members one after the other, in columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// How many members.
    pub rows: usize,
    /// Column after column.
    pub cells: Vec<u64>,
}

impl Block {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { rows, cells: vec![0; rows * columns] }
    }

    /// A column: whole numbers and codes as they are, numbers as their bits.
    pub fn column(&self, index: usize) -> &[u64] {
        &self.cells[index * self.rows..(index + 1) * self.rows]
    }

    /// The numbers of a column.
    pub fn reals(&self, index: usize) -> impl Iterator<Item = f64> + '_ {
        self.column(index).iter().map(|bits| f64::from_bits(*bits))
    }

    /// Fills in a row: a member with its values, how it ended, and its outputs then.
    pub(super) fn fill(
        &mut self,
        row: usize,
        (member, values): (u64, &[f64]),
        ending: &Ending,
        outputs: &[f64],
    ) {
        let [low, high] = ending.energy_error;
        let energy = [ending.energy, high.max(-low), low, high];
        let events = ending.counts.iter().zip(&ending.firsts);
        let cells = [member]
            .into_iter()
            .chain(values.iter().map(|x| x.to_bits()))
            .chain([ending.status.code(), ending.t.to_bits(), ending.step.to_bits()])
            .chain(ending.q.iter().chain(&ending.p).map(|x| x.to_bits()))
            .chain(energy.map(f64::to_bits))
            .chain(events.flat_map(|(count, first)| [*count, first.to_bits()]))
            .chain(outputs.iter().map(|x| x.to_bits()));
        for (column, cell) in cells.enumerate() {
            self.cells[column * self.rows + row] = cell;
        }
    }
}
