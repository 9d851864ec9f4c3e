use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use kalah_base::file::{self, FileLock, Seal, StateError, StateKind};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::outcome::Limits;
use super::scan::{Batch, OpeningScan};

/// Version of the file.
const VERSION: u32 = 2;

/// The file with the finished batches of a scan: a first line that describes the scan, then one line for each
/// batch. Each is JSON with a [checksum](Seal::Line). A line cut off by a kill is dropped, so the scan
/// continues after the last whole line.
#[derive(Debug)]
pub struct ScanState {
    path: PathBuf,
    file: File,
    /// Bytes of the whole lines.
    length: u64,
    /// The first line.
    head: Vec<u8>,
    _lock: FileLock,
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
    fn of(scan: &OpeningScan) -> Header {
        Header { opening_scan: VERSION, rules: scan.rules.name().to_owned(), limits: scan.limits, wins: scan.wins }
    }
}

/// The version in a first line with any other content.
#[derive(Deserialize)]
struct HeaderVersion {
    opening_scan: u32,
}

impl ScanState {
    /// Opens or creates the state of a scan. Returns the finished batches, whose proofs are checked by the
    /// rules on the threads of the current pool. No other process can open the file until the state is dropped.
    ///
    /// # Errors
    /// If another process has the file open, or the file is damaged, belongs to another scan, is of another
    /// kind, or cannot be read or written.
    pub fn open(path: &Path, scan: &OpeningScan) -> Result<(ScanState, Vec<Batch>), StateError> {
        let path = file::resolved(path);
        file::require_unprotected(&path).map_err(StateError::io(&path))?;
        let lock = FileLock::beside(&path)?;
        let io = |source| StateError::Io { path: path.clone(), source };
        let bytes = file::found(file::read(&path)).map_err(io)?.unwrap_or_default();
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let damaged = |line: usize, what: String| StateError::DamagedLine { path: path.clone(), line: line + 1, what };
        let foreign = || damaged(0, "this is not the state of a scan".to_owned());
        let header = Header::of(scan);
        let head = Seal::Line { head: &[] }.close(&header).map_err(|error| io(error.into()))?;
        let mut lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n');
        if let Some(first) = lines.next() {
            let HeaderVersion { opening_scan } = serde_json::from_slice(first).map_err(|_| foreign())?;
            if opening_scan != VERSION {
                let what = format!("has version {opening_scan}, but this program reads version {VERSION}");
                let (kind, is_newer) = (StateKind::Scan, opening_scan > VERSION);
                return Err(StateError::Version { kind, path, is_newer, what });
            }
            let found = Seal::Line { head: &[] }.open::<Header>(first);
            if found.map_err(|error| damaged(0, error.to_string()))? != header {
                let what = "belongs to a scan with other rules or limits, or with another choice of wins to list";
                return Err(StateError::other(StateKind::Scan, &path, what.to_owned()));
            }
        }
        let lines: Vec<_> = lines.enumerate().collect();
        let batch = |&(index, line): &(usize, &[u8])| {
            let damaged = |what| damaged(index + 1, what);
            let batch: Batch = Seal::Line { head: &head }.open(line).map_err(|error| damaged(error.to_string()))?;
            scan.confirm(&batch).map_err(|error| damaged(error.to_string()))?;
            Ok(batch)
        };
        let batches = lines.par_iter().map(batch).collect::<Result<_, StateError>>()?;
        // Bytes after the last whole line belong to a line cut off, never to a file of another kind.
        let is_ours = |rest: &[u8]| if whole > 0 { rest.starts_with(b"{\"houses\":") } else { head.starts_with(rest) };
        let rest = &bytes[whole..];
        if !rest.is_empty() && !is_ours(rest) && !b"{\"houses\":".starts_with(rest) {
            return Err(foreign());
        }
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(io)?;
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(io)?;
        let mut state = ScanState { path: path.clone(), file, length: whole as u64, head, _lock: lock };
        if whole == 0 {
            state.write(&state.head.clone())?;
        }
        Ok((state, batches))
    }

    /// Saves a finished batch.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&mut self, batch: &Batch) -> Result<(), StateError> {
        let line = Seal::Line { head: &self.head }.close(batch).map_err(|error| self.io(error.into()))?;
        self.write(&line)
    }

    /// Appends a line, in full or not at all.
    fn write(&mut self, line: &[u8]) -> Result<(), StateError> {
        let written = self.file.write_all(line).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // A partial line would join the next one, so it is removed. The error ends the scan in any case.
            let _ = self.file.set_len(self.length).and_then(|()| self.file.seek(SeekFrom::Start(self.length)));
            return Err(self.io(error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    fn io(&self, source: io::Error) -> StateError {
        StateError::Io { path: self.path.clone(), source }
    }
}
