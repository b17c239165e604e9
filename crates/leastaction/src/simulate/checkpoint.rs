//! A run on its way as a file: the run, and everything that it takes to go on.
//!
//! ```text
//! leastaction checkpoint 2            the format
//! length, text                        the version of the program as a comment, and the run as TOML
//! steps, of so many, 0 or 1           how far it is, and whether it is over
//! length, words                       what a journey saves
//! checksum                            of everything before
//! ```
//!
//! Numbers have 64 bits, the least significant byte first. Nothing is believed without the checksum.

use super::{Journey, Plan, Run};
use crate::error::{Error, Result, Source};
use crate::scalar::checksum_of_bytes;
use std::io::Read;
use std::path::Path;

pub(super) const TITLE: &str = "leastaction checkpoint ";
/// The format that is written. What reads another one says so.
const FORMAT: u32 = 3;

/// A run, and where it is.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The run, every default filled in, with its files.
    pub run: Run,
    /// The version of the program that wrote it.
    pub version: String,
    /// How many steps were taken.
    pub steps: u64,
    /// How many there are.
    pub of: u64,
    /// Whether nothing is left to do: all steps were taken, or an event or a failure has ended the run.
    pub over: bool,
    words: Vec<u64>,
}

impl Checkpoint {
    /// Whether a file begins as checkpoints do.
    pub fn is_one(path: &Path) -> std::io::Result<bool> {
        is_file(path)?;
        let mut start = Vec::new();
        std::fs::File::open(path)?.take(TITLE.len() as u64).read_to_end(&mut start)?;
        Ok(start == TITLE.as_bytes())
    }

    /// Reads a file.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = is_file(path)
            .and_then(|()| std::fs::read(path))
            .map_err(|error| bad(format!("it cannot be read: {error}")));
        bytes.and_then(|bytes| Self::read(&bytes)).map_err(|error| about(path, error))
    }

    /// Where a journey is.
    pub fn new(plan: &Plan, journey: &mut Journey<'_>) -> Self {
        Self {
            run: plan.with_files(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            steps: journey.steps(),
            of: plan.steps,
            over: journey.is_over(),
            words: journey.save(),
        }
    }

    /// Goes on from here: the journey is of the plan of this run.
    pub fn restore(&self, journey: &mut Journey<'_>) -> Result<()> {
        journey.restore(self.words.clone())?;
        if journey.steps() == self.steps {
            return Ok(());
        }
        Err(bad(format!("it says that it is after {} steps, and is after {}", self.steps, journey.steps())))
    }

    /// The same, of a run that a failure has ended after it.
    pub(super) fn ended(self) -> Self {
        Self { over: true, ..self }
    }

    /// Whether a journey is where this one was, to the last bit. How long it took does not count.
    pub fn agrees(&self, journey: &mut Journey<'_>) -> bool {
        let timeless = |words: &[u64]| {
            let mut words = words.to_vec();
            if let Some(clock) = words.get_mut(Journey::CLOCK) {
                *clock = 0;
            }
            words
        };
        timeless(&self.words) == timeless(&journey.save())
    }

    /// As it stands in a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let text = format!("# leastaction {}\n{}", self.version, self.run.to_toml()?);
        let mut bytes = format!("{TITLE}{FORMAT}\n").into_bytes();
        let mut put = |words: &[u64]| words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        put(&[text.len() as u64]);
        bytes.extend(text.bytes());
        let mut put = |words: &[u64]| words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        put(&[self.steps, self.of, u64::from(self.over), self.words.len() as u64]);
        put(&self.words);
        bytes.extend(checksum_of_bytes(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Reads what stands in a file.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let rest = bytes.strip_prefix(TITLE.as_bytes()).ok_or_else(|| bad("it is no checkpoint"))?;
        let end = rest.iter().take(12).position(|byte| *byte == b'\n');
        let format = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok()?.parse::<u32>().ok());
        match format {
            Some(FORMAT) => {}
            Some(other) => {
                return Err(bad(format!(
                    "it has format {other}, and this build (version {}) reads format {FORMAT}; builds of one version may have different formats\n  \
                     continue it with the build that wrote it, or begin the run anew",
                    env!("CARGO_PKG_VERSION")
                )));
            }
            None => return Err(bad("it is no checkpoint, or its beginning is damaged")),
        }
        let damaged = |what: &str| {
            bad(format!("{what}\n  it cannot be continued; take a copy of it if there is one, or begin anew"))
        };
        let cut = || damaged("it is cut off");
        let (whole, sum) = bytes.split_last_chunk::<8>().ok_or_else(cut)?;
        let mut reader = Reader(&rest[end.map_or(0, |end| end + 1)..]);
        // the lengths tell what is missing, the checksum whether they are to be believed
        let parts = reader.parts();
        if u64::from_le_bytes(*sum) != checksum_of_bytes(whole) {
            return Err(match parts {
                None => cut(),
                Some(_) => damaged("its checksum does not fit: it was changed or damaged"),
            });
        }
        let Parts { text, steps, of, over, words } = parts.ok_or_else(cut)?;
        let text = std::str::from_utf8(text).map_err(|_| damaged("its run is no text"))?;
        let version = text.lines().next().and_then(|line| line.strip_prefix("# leastaction "));
        let run = Run::read("run", &Source::new("the run in the checkpoint", text))?;
        Ok(Self { run, version: version.unwrap_or("?").to_owned(), steps, of, over: over == 1, words })
    }
}

/// An error if it is a device or a pipe, which may never end.
fn is_file(path: &Path) -> std::io::Result<()> {
    let is_file = std::fs::metadata(path)?.is_file();
    if is_file {
        Ok(())
    } else {
        Err(std::io::Error::other("it is no regular file\n  give the path of a checkpoint"))
    }
}

fn bad(message: impl Into<String>) -> Error {
    Error::BadCheckpoint { message: message.into() }
}

/// An error about a file, with its name in front.
pub(super) fn about(path: &Path, error: Error) -> Error {
    match error {
        Error::BadCheckpoint { message } => bad(format!("`{}`: {message}", path.display())),
        other => other,
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u64> {
        self.bytes(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    /// What stands between the title and the checksum, if all of it is there and nothing else.
    fn parts(&mut self) -> Option<Parts<'a>> {
        let length = self.word()?;
        let text = self.bytes(length)?;
        let (steps, of, over, count) = (self.word()?, self.word()?, self.word()?, self.word()?);
        let words = self.bytes(count.checked_mul(8)?)?;
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        let words = words.chunks_exact(8).map(word).collect();
        (self.0.len() == 8).then_some(Parts { text, steps, of, over, words })
    }
}

/// What a checkpoint says.
struct Parts<'a> {
    text: &'a [u8],
    steps: u64,
    of: u64,
    over: u64,
    words: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Vec<u8> {
        let run = Run { every: Some(10), ..Run::of("pendulum") };
        let plan = run.plan().unwrap();
        let mut journey = plan.begin().unwrap();
        journey.go(&mut |step| {
            if step == 50 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        });
        Checkpoint::new(&plan, &mut journey).to_bytes().unwrap()
    }

    fn message(bytes: &[u8]) -> String {
        Checkpoint::read(bytes).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = checkpoint();
        let found = Checkpoint::read(&bytes).unwrap();
        assert_eq!((found.steps, found.run.system.as_str()), (50, "pendulum"));
        assert_eq!(found.version, env!("CARGO_PKG_VERSION"));
        assert_eq!(found.to_bytes().unwrap(), bytes);
        let plan = found.run.plan().unwrap();
        let mut journey = plan.begin().unwrap();
        found.restore(&mut journey).unwrap();
        assert_eq!(journey.steps(), 50);
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let bytes = checkpoint();
        for cut in 0..bytes.len() {
            let message = message(&bytes[..cut]);
            assert!(message.contains("cut off") || message.contains("no checkpoint"), "{cut}: {message}");
        }
        assert!(message(&[bytes.as_slice(), b"x"].concat()).contains("cannot be continued"));
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(Checkpoint::read(&changed).is_err(), "{bit}");
        }
    }

    #[test]
    fn other_formats_are_told() {
        let bytes = String::from_utf8_lossy(&checkpoint()[..TITLE.len()]).into_owned();
        assert!(
            message(format!("{bytes}1\nxyz").as_bytes())
                .contains("format 1, and this build (version 0.1.0) reads format 3")
        );
        assert!(message(b"t,q1\n0,1\n").contains("no checkpoint"));
        assert!(message(b"").contains("no checkpoint"));
    }

    #[test]
    fn a_checkpoint_of_another_run_is_refused() {
        let found = Checkpoint::read(&checkpoint()).unwrap();
        for run in [
            Run { every: Some(10), ..Run::of("double-pendulum") },
            Run { method: Some("gauss8".to_owned()), ..found.run.clone() },
            Run { every: Some(0), ..found.run.clone() },
            Run { until: Some("0.1".into()), ..found.run.clone() },
        ] {
            let plan = run.plan().unwrap();
            let refused = found.restore(&mut plan.begin().unwrap());
            assert!(matches!(refused, Err(Error::BadCheckpoint { .. })), "{run:?}");
        }
    }
}
