use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use kalah_core::file::{found, open, open_with};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Document, DocumentError, FileLock, LockError, Seal, remove_leftovers, resolved};
use crate::diagnostic::{Diagnosis, Diagnostic, Outcome};

/// First bytes of each file.
const BEGINNING: &[u8] = b"{\"format\":\"kalah ";

/// A file of unfinished work, from which a later run continues.
///
/// Its first line identifies the work: what is done by which rules, and the digests of the inputs. A
/// line for each finished part follows. Each line is JSON with a [checksum](Seal). A line that a
/// kill cut off is dropped, so the work continues after the last whole one. One process at a time has
/// the file open.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    file: File,
    /// Bytes of the whole lines.
    length: u64,
    /// The first line.
    head: Vec<u8>,
    _lock: FileLock,
}

/// Reasons why a file of unfinished work cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Another process has it open.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It holds something else, or its first bytes are damaged.
    #[error("{path} cannot be used: {what}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The fault.
        what: String,
    },
    /// It is damaged, or contradicts the rules.
    #[error("{path}{} is damaged: {what}", line.map_or(String::new(), |line| format!(", line {line},")))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1, if the others can be used without it.
        line: Option<usize>,
        /// The fault.
        what: String,
    },
    /// Another version of the program wrote it.
    #[error("{path} cannot be used: {what}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Both versions.
        what: String,
    },
    /// It belongs to other work.
    #[error("{path} belongs to other work: {what}")]
    Other {
        /// The file.
        path: PathBuf,
        /// The first difference.
        what: String,
    },
}

/// Only a file that is certainly of this program and damaged is to be deleted.
impl Diagnostic for StateError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            StateError::Lock(error) => error.diagnosis(),
            StateError::Io { source, .. } => source.diagnosis(),
            StateError::Foreign { .. } => Outcome::Wrong.help("choose another file with --state"),
            StateError::Other { .. } | StateError::Version { .. } => {
                Outcome::Failed.help("choose another file with --state")
            }
            StateError::Damaged { line: None, .. } => {
                Outcome::Wrong.help("delete it to start over, or choose another file with --state")
            }
            StateError::Damaged { .. } => {
                Outcome::Wrong.help("delete the line to do its part again, or choose another file with --state")
            }
        }
    }
}

impl StateFile {
    /// Opens or creates the file of `work`, and returns the records of earlier runs. No other process
    /// can open it until it is dropped.
    ///
    /// # Errors
    /// When another process has the file open, or it is damaged, belongs to other work, holds something
    /// else, or cannot be read or written.
    pub fn open<R: DeserializeOwned>(
        path: &Path,
        document: Document,
        work: &impl Serialize,
    ) -> Result<(StateFile, Vec<R>), StateError> {
        let path = resolved(path);
        let lock = FileLock::beside(&path)?;
        remove_leftovers(&path).map_err(StateError::io(&path))?;
        let bytes = bytes_of(&path, document)?;
        let head = document.line(work).map_err(StateError::io(&path))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let (lines, rest) = bytes.split_at(whole);
        // Bytes after the last whole line belong to a line cut off, never to a file of another kind.
        let is_own =
            if lines.is_empty() { head.starts_with(rest) } else { rest.first().is_none_or(|&byte| byte == b'{') };
        if !is_own {
            return Err(StateError::document(&path)(DocumentError::Foreign(document.format)));
        }
        let mut lines = lines.split_inclusive(|&byte| byte == b'\n');
        if let Some(first) = lines.next() {
            StateError::unless_same(&path, document, first, work)?;
        }
        let record = |(index, line)| {
            let opened = Seal(&head).open(line);
            opened.map_err(|error| StateError::damaged_record(&path, index, error))
        };
        let records = lines.enumerate().map(record).collect::<Result<_, _>>()?;
        let opened = open_with(&path, OpenOptions::new().write(true).create(true).truncate(false));
        let mut file = opened.map_err(StateError::io(&path))?;
        let end = file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0)));
        end.map_err(StateError::io(&path))?;
        let mut state = StateFile { path, file, length: whole as u64, head, _lock: lock };
        if whole == 0 {
            state.write(&state.head.clone())?;
        }
        Ok((state, records))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Saves a record, in full or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, record: &impl Serialize) -> Result<(), StateError> {
        let line = Seal(&self.head).close(record).map_err(|error| StateError::io(&self.path)(error.into()))?;
        self.write(&line)
    }

    /// Removes the file, since the work is done.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> Result<(), StateError> {
        found(std::fs::remove_file(&self.path)).map(drop).map_err(StateError::io(&self.path))
    }

    fn write(&mut self, line: &[u8]) -> Result<(), StateError> {
        if let Err(source) = self.file.write_all(line).and_then(|()| self.file.sync_data()) {
            // A partial line would join the next one.
            let _ = self.file.set_len(self.length).and_then(|()| self.file.seek(SeekFrom::Start(self.length)));
            return Err(StateError::io(&self.path)(source));
        }
        self.length += line.len() as u64;
        Ok(())
    }
}

impl StateError {
    /// Returns the error for a file that cannot be read or written.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> StateError {
        let path = path.into();
        |source| StateError::Io { path, source }
    }

    /// Returns the error for a damaged file.
    pub fn damaged(path: &Path, what: impl Display) -> StateError {
        StateError::Damaged { path: path.to_owned(), line: None, what: what.to_string() }
    }

    /// Returns the error for a wrong record: the one with this `index` of a [`StateFile`].
    pub fn damaged_record(path: &Path, index: usize, what: impl Display) -> StateError {
        StateError::Damaged { path: path.to_owned(), line: Some(index + 2), what: what.to_string() }
    }

    /// Returns the error for a file that is not the expected document.
    pub fn document(path: &Path) -> impl FnOnce(DocumentError) -> StateError {
        let path = path.to_owned();
        move |error| match error {
            DocumentError::Version { .. } => StateError::Version { path, what: error.to_string() },
            DocumentError::Foreign(_) => StateError::Foreign { path, what: error.to_string() },
            _ => StateError::damaged(&path, error),
        }
    }

    /// Returns an error unless `line`, the first one of the file `path`, is that of a `document` and identifies the
    /// work `own`.
    ///
    /// # Errors
    /// [`StateError::Other`] with the first difference; those of [`StateError::document`].
    pub fn unless_same(path: &Path, document: Document, line: &[u8], own: &impl Serialize) -> Result<(), StateError> {
        let found: Map<String, Value> = document.parse(line).map_err(StateError::document(path))?;
        let own = match serde_json::to_value(own) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let names = own.keys().chain(found.keys());
        let Some(name) = names.into_iter().find(|name| own.get(*name) != found.get(*name)) else { return Ok(()) };
        let value = |fields: &Map<String, Value>| fields.get(name).map_or("missing".to_owned(), text);
        Err(StateError::other(path, &name.replace('_', " "), value(&found), value(&own)))
    }

    /// Returns the error for a file of other work, of which `name` is `found` and not `own`.
    pub fn other(path: &Path, name: &str, found: impl Display, own: impl Display) -> StateError {
        StateError::Other { path: path.to_owned(), what: format!("{name} {found}, not {own}") }
    }
}

/// The bytes of a file, which may be missing. Only those that begin like our own are read.
fn bytes_of(path: &Path, document: Document) -> Result<Vec<u8>, StateError> {
    let Some(mut file) = found(open(path)).map_err(StateError::io(path))? else { return Ok(Vec::new()) };
    let mut bytes = Vec::new();
    (&mut file).take(BEGINNING.len() as u64).read_to_end(&mut bytes).map_err(StateError::io(path))?;
    if !BEGINNING.starts_with(&bytes) {
        return Err(StateError::document(path)(DocumentError::Foreign(document.format)));
    }
    file.read_to_end(&mut bytes).map_err(StateError::io(path))?;
    Ok(bytes)
}

/// A value of the first line for a message.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
