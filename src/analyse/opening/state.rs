use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::outcome::Limits;
use super::scan::{Piece, Scan};
use crate::files;

/// The file in which a scan keeps its finished pieces: a first line that tells what is scanned, then a line a piece, all
/// JSON. A line cut off by a kill is dropped, so a scan goes on from the last whole one.
#[derive(Debug)]
pub struct ScanState {
    path: PathBuf,
    file: File,
}

/// Why a state file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Another process writes to it.
    #[error("{0} is in use by another scan; wait for it, or choose another file with --state")]
    Held(PathBuf),
    /// It is of another scan.
    #[error("{0} is of a scan with other rules, limits or --wins; use the same ones, or another file with --state")]
    Other(PathBuf),
    /// It holds something else.
    #[error("{path}, line {line}: this is no scan; choose another file with --state")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The first line.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    /// Version of the file.
    opening_scan: u32,
    rules: String,
    limits: Limits,
    wins: bool,
}

impl Header {
    fn of(scan: &Scan) -> Header {
        Header { opening_scan: 1, rules: scan.rules.name().to_owned(), limits: scan.limits, wins: scan.wins }
    }
}

impl Drop for ScanState {
    fn drop(&mut self) {
        // Closing the file would leave it locked for as long as a process that is just being started still has it open.
        let _ = self.file.unlock();
    }
}

impl ScanState {
    /// Opens the state of a scan, or begins one, and locks it; gives the pieces that are done.
    ///
    /// # Errors
    /// When the file is in use, is of another scan or none, or the file system says no.
    pub fn open(path: &Path, scan: &Scan) -> Result<(ScanState, Vec<Piece>), StateError> {
        let io = |source| StateError::Io { path: path.to_owned(), source };
        let options = &mut OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = files::open_with(path, options).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StateError::Held(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let damaged = |line| StateError::Damaged { path: path.to_owned(), line: line + 1 };
        let header = Header::of(scan);
        let mut pieces = Vec::new();
        for (number, line) in bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate() {
            if number == 0 {
                let found: Header = serde_json::from_slice(line).map_err(|_| damaged(number))?;
                if found != header {
                    return Err(StateError::Other(path.to_owned()));
                }
            } else {
                pieces.push(serde_json::from_slice(line).map_err(|_| damaged(number))?);
            }
        }
        let mut first = serde_json::to_vec(&header).expect("it is plain JSON");
        first.push(b'\n');
        // Bytes after the last whole line are a line cut off, never a file of something else.
        let is_ours = |rest: &[u8]| if whole > 0 { rest.starts_with(b"{\"houses\":") } else { first.starts_with(rest) };
        let rest = &bytes[whole..];
        if !rest.is_empty() && !is_ours(rest) && !b"{\"houses\":".starts_with(rest) {
            return Err(damaged(0));
        }
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(io)?;
        let mut state = ScanState { path: path.to_owned(), file };
        if whole == 0 {
            state.write(&first)?;
        }
        Ok((state, pieces))
    }

    /// Keeps a finished piece.
    ///
    /// # Errors
    /// When the file system says no.
    pub fn keep(&mut self, piece: &Piece) -> Result<(), StateError> {
        let mut line = serde_json::to_vec(piece).expect("it is plain JSON");
        line.push(b'\n');
        self.write(&line)
    }

    fn write(&mut self, line: &[u8]) -> Result<(), StateError> {
        let io = |source| StateError::Io { path: self.path.clone(), source };
        self.file.write_all(line).map_err(io)?;
        self.file.sync_data().map_err(io)
    }
}
