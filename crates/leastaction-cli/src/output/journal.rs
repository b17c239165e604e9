//! Where finished blocks of an ensemble wait until all are there: a file beside the output, in which nothing is believed without its
//! checksum.
//!
//! It begins with the text that says which ensemble it belongs to, and another that says what else it takes to continue it. Blocks follow in their order, each with its number, its columns and a
//! checksum, so that any of them, and any column of one, has a known place. A file that was cut anywhere is good up to its last whole block.

use crate::{Ending, say};
use leastaction::scalar::Checksum;
use leastaction::simulate::ensemble::Block;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const TITLE: &str = "leastaction: an ensemble that is not finished\n";
/// Bytes of a number.
const CELL: u64 = 8;
/// Blocks are on the disk at the latest after this time, so that a power cut costs no more.
const SYNC: Duration = Duration::from_secs(10);

/// Which blocks there will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Members in all.
    pub(crate) members: u64,
    /// Members a block, but for the last.
    pub(crate) block: u64,
    /// Columns.
    pub(crate) columns: usize,
}

impl Shape {
    pub(crate) fn blocks(&self) -> u64 {
        self.members.div_ceil(self.block)
    }
    fn rows(&self, block: u64) -> usize {
        self.block.min(self.members - block * self.block) as usize
    }
}

/// Blocks in a file.
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    shape: Shape,
    /// Where the first block begins.
    start: u64,
    /// How many blocks are there.
    pub(crate) blocks: u64,
    /// When they were on the disk for sure.
    synced: Instant,
}

/// The place of a journal.
pub(crate) fn path_beside(output: &Path) -> PathBuf {
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    output.with_file_name(name)
}

impl Journal {
    /// Opens the journal of an ensemble, which is told by a text; a new one, or with `resume` an old one if there is any. A new one
    /// keeps a note for those who find it.
    pub(crate) fn open(
        path: &Path,
        text: &str,
        note: &str,
        shape: Shape,
        resume: bool,
    ) -> std::result::Result<Self, Ending> {
        let cannot =
            |error: &std::io::Error| Ending::Failed(format!("cannot write `{}`: {error}", path.display()));
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(|error| cannot(&error))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Ending::BadInput(format!(
                    "another process is computing into `{}`; wait for it, or choose another --out",
                    path.display()
                )));
            }
            // not all file systems have locks
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let head = head(text);
        let mut found = Vec::new();
        (&mut file).take(head.len() as u64).read_to_end(&mut found).map_err(|error| cannot(&error))?;
        if !found.is_empty() && !resume {
            return Err(Ending::BadInput(format!(
                "`{}` is left of an ensemble that was not finished\n  --resume continues it; remove the file to begin anew",
                path.display()
            )));
        }
        if !head.starts_with(&found) {
            return Err(Ending::BadInput(format!(
                "`{}` belongs to another ensemble: the system, the run, what varies, the shard or the version differ\n  \
                 repeat the command as it was, or remove the file to begin anew",
                path.display()
            )));
        }
        let old = if found.len() == head.len() { counted_text(&mut file).ok() } else { None };
        let length = old.as_deref().unwrap_or(note).len() as u64;
        let start = head.len() as u64 + CELL + length;
        let mut journal =
            Self { file, path: path.to_owned(), shape, start, blocks: 0, synced: Instant::now() };
        if old.is_none() {
            journal.begin(&[&head, counted(note).as_slice()].concat()).map_err(|error| cannot(&error))?;
        }
        journal.find_blocks().map_err(|error| cannot(&error))?;
        Ok(journal)
    }

    /// Which ensemble a file belongs to, and its note; nothing if it is no journal.
    pub(crate) fn about(path: &Path) -> Result<Option<(String, String)>> {
        // a device or a pipe may never end
        if !std::fs::metadata(path)?.is_file() {
            return Ok(None);
        }
        let mut file = File::open(path)?;
        let mut title = Vec::new();
        (&mut file).take(TITLE.len() as u64).read_to_end(&mut title)?;
        if title != TITLE.as_bytes() {
            return Ok(None);
        }
        Ok(Some((counted_text(&mut file)?, counted_text(&mut file)?)))
    }

    fn begin(&mut self, head: &[u8]) -> Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(head)?;
        self.sync()?;
        // the folder's entry as well; not all systems can
        if let Some(folder) = self.path.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.synced = Instant::now();
        self.file.sync_data()
    }

    /// Counts the whole blocks and drops what comes after them.
    fn find_blocks(&mut self) -> Result<()> {
        while self.blocks < self.shape.blocks() {
            match self.read(self.blocks) {
                Ok(_) => self.blocks += 1,
                // it was killed while it wrote
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    say(&format!(
                        "warning: `{}` is damaged behind {} members; those after them are computed again",
                        self.path.display(),
                        self.shape.members.min(self.blocks * self.shape.block)
                    ));
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.file.set_len(self.place(self.blocks))
    }

    /// Where a block begins.
    fn place(&self, block: u64) -> u64 {
        let before = self.shape.members.min(block * self.shape.block);
        self.start + CELL * (2 * block + before * self.shape.columns as u64)
    }

    /// Adds the next block.
    pub(crate) fn append(&mut self, block: &Block) -> Result<()> {
        let words = [self.blocks].into_iter().chain(block.cells.iter().copied());
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        bytes.extend(checksum(self.blocks, &block.cells).to_le_bytes());
        self.file.seek(SeekFrom::Start(self.place(self.blocks)))?;
        self.file.write_all(&bytes)?;
        self.blocks += 1;
        if self.synced.elapsed() >= SYNC { self.sync() } else { Ok(()) }
    }

    /// A block.
    pub(crate) fn read(&mut self, block: u64) -> Result<Block> {
        let rows = self.shape.rows(block);
        let mut words = self.words(self.place(block), rows * self.shape.columns + 2)?;
        let sum = words.pop().unwrap_or(0);
        let number = words.remove(0);
        if number != block || sum != checksum(block, &words) {
            return Err(ErrorKind::InvalidData.into());
        }
        Ok(Block { rows, cells: words })
    }

    /// A column of a block.
    pub(crate) fn column(&mut self, block: u64, column: usize) -> Result<Vec<u64>> {
        let rows = self.shape.rows(block);
        self.words(self.place(block) + CELL * (1 + rows * column) as u64, rows)
    }

    fn words(&mut self, place: u64, count: usize) -> Result<Vec<u64>> {
        let mut bytes = vec![0; count * CELL as usize];
        self.file.seek(SeekFrom::Start(place))?;
        self.file.read_exact(&mut bytes)?;
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        Ok(bytes.chunks_exact(CELL as usize).map(word).collect())
    }

    /// Its file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All members have been written elsewhere.
    pub(crate) fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// Whether a file could be read, and what stands there is no journal any more.
pub(crate) fn is_damage(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData)
}

/// What is said of a journal that does not tell what it belongs to.
pub(crate) fn damaged(path: &Path) -> Ending {
    Ending::BadInput(format!(
        "`{}` is left of an ensemble, and its beginning, which says of which one, is damaged\n  \
         try the command that began it with --resume, which takes up what is whole; if that is refused, remove the file to begin anew",
        path.display()
    ))
}

/// The beginning of a file, up to the note.
fn head(text: &str) -> Vec<u8> {
    [TITLE.as_bytes(), counted(text).as_slice()].concat()
}

/// A text with its length in front.
fn counted(text: &str) -> Vec<u8> {
    [(text.len() as u64).to_le_bytes().as_slice(), text.as_bytes()].concat()
}

/// Reads a text with its length in front.
fn counted_text(file: &mut File) -> Result<String> {
    let mut length = [0; CELL as usize];
    file.read_exact(&mut length)?;
    let (length, mut bytes) = (u64::from_le_bytes(length), Vec::new());
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    String::from_utf8(bytes).map_err(|_| ErrorKind::InvalidData.into())
}

/// Of a block and its number.
fn checksum(block: u64, cells: &[u64]) -> u64 {
    let mut sum = Checksum::new();
    [block].iter().chain(cells).for_each(|word| sum.add(*word));
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { members: 20, block: 8, columns: 3 };

    fn block(number: u64) -> Block {
        let rows = SHAPE.rows(number);
        Block { rows, cells: (0..rows as u64 * 3).map(|i| (i + 1000 * number) << 17).collect() }
    }

    fn open(path: &Path, text: &str, resume: bool) -> std::result::Result<Journal, Ending> {
        Journal::open(path, text, "a note", SHAPE, resume)
    }

    #[test]
    fn a_file_cut_or_changed_anywhere_is_good_up_to_there() {
        let folder = std::env::temp_dir().join(format!("leastaction-journal-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("map.npz.part");
        let mut journal = open(&path, "which", true).unwrap();
        for number in 0..3 {
            journal.append(&block(number)).unwrap();
        }
        let ends: Vec<u64> = (0..=3).map(|number| journal.place(number)).collect();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole.len() as u64, ends[3]);
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = open(&path, "which", true).unwrap();
            let good = ends[1..].iter().filter(|end| **end <= cut as u64).count() as u64;
            assert_eq!(journal.blocks, good, "cut at {cut}");
            for number in good..3 {
                journal.append(&block(number)).unwrap();
            }
            assert_eq!(journal.column(2, 1).unwrap(), block(2).column(1));
            drop(journal);
            assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
        for at in (ends[0] as usize..whole.len()).step_by(5) {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            // and a sign that changes at once with another one
            if let Some(sign) = bytes.get_mut(at + 8).filter(|_| at % 8 == 7) {
                *sign ^= 128;
                bytes[at] ^= 128 | 4;
            }
            std::fs::write(&path, &bytes).unwrap();
            let good = ends[1..].iter().filter(|end| **end <= at as u64).count() as u64;
            assert_eq!(open(&path, "which", true).unwrap().blocks, good, "changed at {at}");
        }
        std::fs::write(&path, &whole).unwrap();
        let about = Journal::about(&path).unwrap();
        assert_eq!(about, Some(("which".to_owned(), "a note".to_owned())));
        // the old note stays
        drop(Journal::open(&path, "which", "another and a longer one", SHAPE, true).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        assert!(matches!(open(&path, "other", true), Err(Ending::BadInput(_))));
        assert!(matches!(open(&path, "which", false), Err(Ending::BadInput(_))));
        let first = open(&path, "which", true).unwrap();
        assert!(matches!(open(&path, "which", true), Err(Ending::BadInput(_))), "two at once");
        first.remove().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
