use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::board::Board;
use super::solver::Solver;
use super::transposition::Bounds;
use crate::game::Position;

/// The first bytes of a saved transposition table.
const MAGIC: [u8; 8] = *b"KALAHTT\n";

/// The version of both files.
const VERSION: u32 = 1;

/// Words written at a time.
const CHUNK: usize = 1 << 16;

/// A search saved to files: `FILE` holds the position and all proved tests as JSON, `FILE.table` the transposition table.
///
/// Both are replaced whole by renaming, so a stop at any time leaves the last ones. `FILE` is small and written after
/// every proved test; `FILE.table` now and then. What docs/solving.md says of their bytes is this version.
pub struct Checkpoint {
    path: PathBuf,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is none, or damaged.
    #[error("{path} cannot be used: {what}; delete it to begin anew, or name another file with --checkpoint")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It is the checkpoint of another search.
    #[error("{path} belongs to {found}, not to {expected}; name another file with --checkpoint")]
    Other {
        /// The file.
        path: PathBuf,
        /// What it is a checkpoint of.
        found: String,
        /// What is to be solved.
        expected: String,
    },
}

#[derive(Serialize, Deserialize)]
struct State {
    format: String,
    version: u32,
    rules: String,
    position: String,
    proofs: Vec<Proof>,
}

/// A bound of a score that whole tests proved.
#[derive(Serialize, Deserialize)]
struct Proof {
    position: String,
    lower: u32,
    upper: u32,
}

const FORMAT: &str = "kalah solve checkpoint";

impl Checkpoint {
    /// The checkpoint in the file `path` and the one beside it.
    pub fn new(path: &Path) -> Checkpoint {
        Checkpoint { path: path.to_owned() }
    }

    /// Where the transposition table is saved.
    pub fn table_path(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".table");
        name.into()
    }

    /// Removes the files, if they are there.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn remove(&self) -> Result<(), CheckpointError> {
        for path in [self.path.clone(), self.table_path()] {
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(CheckpointError::Io { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Saves what whole tests proved of `position`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_proofs(&self, solver: &Solver, position: &Position) -> Result<(), CheckpointError> {
        let proof = |(board, bounds): (Board, Bounds)| Proof {
            position: literal(solver.pits(), board),
            lower: bounds.lower,
            upper: bounds.upper,
        };
        let state = State {
            format: FORMAT.to_owned(),
            version: VERSION,
            rules: solver.rules().to_string(),
            position: position.to_string(),
            proofs: solver.proofs().into_iter().map(proof).collect(),
        };
        replace(&self.path, |file| Ok(serde_json::to_writer_pretty(file, &state)?))
    }

    /// Saves the transposition table, also while it is searched: each entry is read whole, and true by itself.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_table(&self, solver: &Solver) -> Result<(), CheckpointError> {
        let table = solver.transpositions();
        replace(&self.table_path(), |file| {
            let (key_bits, bucket_bits) = table.bits();
            file.write_all(&MAGIC)?;
            file.write_all(&VERSION.to_le_bytes())?;
            file.write_all(&[solver.rules() as u8, solver.pits() as u8, solver.seeds() as u8])?;
            file.write_all(&[key_bits as u8, bucket_bits as u8])?;
            let mut hash = Xxh3Default::new();
            let mut packed = zstd::Encoder::new(&mut *file, 1)?;
            let mut bytes = Vec::with_capacity(8 * CHUNK);
            let mut words = table.words().peekable();
            while words.peek().is_some() {
                bytes.clear();
                bytes.extend(words.by_ref().take(CHUNK).flat_map(u64::to_le_bytes));
                hash.update(&bytes);
                packed.write_all(&bytes)?;
            }
            packed.finish()?;
            file.write_all(&hash.digest().to_le_bytes())
        })
    }

    /// Takes up a saved search of `position`, if there is one: the number of proofs and transpositions read.
    ///
    /// # Errors
    /// When a file cannot be read, is damaged, or belongs to another position or rule set.
    pub fn load(&self, solver: &Solver, position: &Position) -> Result<Option<(usize, u64)>, CheckpointError> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CheckpointError::Io { path: self.path.clone(), source }),
        };
        let damaged =
            |what: &dyn std::fmt::Display| CheckpointError::Damaged { path: self.path.clone(), what: what.to_string() };
        let state: State = serde_json::from_slice(&bytes).map_err(|error| damaged(&error))?;
        if state.format != FORMAT || state.version != VERSION {
            return Err(damaged(&format_args!("it is no '{FORMAT}' of version {VERSION}")));
        }
        let found = format!("{} with {} rules", state.position, state.rules);
        let expected = format!("{position} with {} rules", solver.rules());
        if found != expected {
            return Err(CheckpointError::Other { path: self.path.clone(), found, expected });
        }
        let count = state.proofs.len();
        for Proof { position: text, lower, upper } in state.proofs {
            let board = text.parse().ok().filter(|position: &Position| position.pits() == solver.pits());
            let board = board.and_then(|position| Board::of(&position));
            let sound = |board: &Board| lower <= upper && upper <= board.seeds();
            let board = board.filter(sound).ok_or_else(|| damaged(&format_args!("its proof of {text} is none")))?;
            solver.believe(board, Bounds { lower, upper });
        }
        Ok(Some((count, self.load_table(solver)?)))
    }

    fn load_table(&self, solver: &Solver) -> Result<u64, CheckpointError> {
        let path = self.table_path();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(source) => return Err(CheckpointError::Io { path, source }),
        };
        let damaged = |what: &str| CheckpointError::Damaged { path: path.clone(), what: what.to_owned() };
        let short = |_| damaged("it ends too early or is not what was saved");
        let mut file = BufReader::new(file);
        let mut head = [0; 17];
        file.read_exact(&mut head).map_err(short)?;
        if head[..8] != MAGIC || head[8..12] != VERSION.to_le_bytes() {
            return Err(damaged("it is no saved transposition table of this version"));
        }
        let (key_bits, bucket_bits) = (u32::from(head[15]), u32::from(head[16]));
        let ours = [solver.rules() as u8, solver.pits() as u8, solver.seeds() as u8];
        if head[12..15] != ours || key_bits != solver.transpositions().bits().0 || bucket_bits > key_bits {
            return Err(damaged("it was saved by a search of another board"));
        }
        // Checked as a whole before a single entry is believed.
        let mut words = Vec::new();
        let mut hash = Xxh3Default::new();
        {
            let mut packed = zstd::Decoder::with_buffer(&mut file).map_err(short)?.single_frame();
            let mut bytes = vec![0; 8 * CHUNK];
            let mut index = 0u64;
            let count = 8u64 << bucket_bits;
            while index < count {
                let part = bytes.len().min(8 * (count - index) as usize);
                packed.read_exact(&mut bytes[..part]).map_err(short)?;
                hash.update(&bytes[..part]);
                for word in bytes[..part].as_chunks().0 {
                    let word = u64::from_le_bytes(*word);
                    if word != 0 {
                        words.push((index, word));
                    }
                    index += 1;
                }
            }
            // The end of the frame.
            if packed.read(&mut bytes[..1]).map_err(short)? != 0 {
                return Err(damaged("it goes on too long"));
            }
        }
        let mut checksum = [0; 8];
        file.read_exact(&mut checksum).map_err(short)?;
        if u64::from_le_bytes(checksum) != hash.digest() {
            return Err(damaged("its checksum is wrong"));
        }
        let count = words.len() as u64;
        for (index, word) in words {
            solver.transpositions().restore(bucket_bits, index, word);
        }
        Ok(count)
    }
}

/// The rows of a board as a position without stores.
fn literal(pits: usize, board: Board) -> String {
    let row = |row: u64| row.to_le_bytes()[..pits].iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    format!("{}/{}", row(board.mover), row(board.other))
}

/// Writes a file beside `path` and puts it in its place.
fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), CheckpointError> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let written = || {
        let mut file = BufWriter::new(File::create(&partial)?);
        write(&mut file)?;
        file.into_inner()?.sync_all()?;
        std::fs::rename(&partial, path)
    };
    written().map_err(|source| CheckpointError::Io { path: path.to_owned(), source })
}
