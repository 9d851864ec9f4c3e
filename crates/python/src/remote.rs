//! Tables at an address, or in a file system of fsspec.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kalah::cancel::Cancel;
use kalah::game::Rules;
use kalah::remote::{Address, Cache, RemoteError, RemoteOptions, RemoteTables};
use kalah::table::{Directories, Place, user_cache};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::argument::Text;
use crate::errors::python::{ArgumentError, MissingTableError, TableError};
use crate::errors::raised_by;
use crate::filesystem::Filesystem;
use crate::waiting::wait_for;

/// Directories, and those of them that are elsewhere.
pub(crate) struct Located {
    pub(crate) directories: Directories,
    pub(crate) remote: Vec<RemoteTables>,
}

/// Tables elsewhere, until they are closed.
pub(crate) struct Elsewhere {
    tables: Mutex<Vec<RemoteTables>>,
    /// True for those of a file system.
    in_filesystem: bool,
    /// Bytes fetched before they were closed.
    fetched: AtomicU64,
}

impl Elsewhere {
    /// Holds on to tables at addresses or in a file system.
    pub(crate) fn new(tables: Vec<RemoteTables>, in_filesystem: bool) -> Elsewhere {
        Elsewhere { tables: Mutex::new(tables), in_filesystem, fetched: AtomicU64::new(0) }
    }

    /// Bytes fetched so far.
    pub(crate) fn fetched(&self) -> u64 {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let open: u64 = tables.iter().map(RemoteTables::fetched).sum();
        open + self.fetched.load(Ordering::Relaxed)
    }

    /// Does `work`, a lookup in these tables, without the interpreter's lock. Ctrl-C ends its waits for servers. Python
    /// itself interrupts a file system, which therefore is called in this thread.
    pub(crate) fn look_up<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if tables.is_empty() || self.in_filesystem {
            return Ok(py.detach(work));
        }
        let interrupt = || tables.iter().for_each(RemoteTables::interrupt);
        wait_for(py, work, &Cancel::new(), |py| py.check_signals().inspect_err(|_| interrupt()))
    }

    /// Lets go of the file system and the connections, as soon as no open table reads from them.
    pub(crate) fn close(&self) {
        let tables = std::mem::take(&mut *self.tables.lock().unwrap_or_else(PoisonError::into_inner));
        for tables in &tables {
            self.fetched.fetch_add(tables.fetched(), Ordering::Relaxed);
        }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        self.close();
    }
}

/// Tables to look for: rules, and pits a side.
pub(crate) type Board = (Rules, usize);

/// Returns an address as a string, and any other location as a path.
pub(crate) fn location(py: Python<'_>, name: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    match name.to_str() {
        Some(text) if Address::is_address(text) => Ok(PyString::new(py, text).into_any()),
        _ => Ok(name.into_pyobject(py)?.into_any()),
    }
}

/// Returns the directories at these locations: those of addresses, with tables of `board`, and all others as they are.
pub(crate) fn located(py: Python<'_>, given: &[PathBuf], board: Board) -> PyResult<Located> {
    let (mut places, mut remote) = (Vec::new(), Vec::new());
    for location in given {
        match location.to_str().filter(|text| Address::is_address(text)) {
            None => places.push(Place::Here(location.clone())),
            Some(text) => {
                let cancel = Cancel::new();
                let tables = wait_for(py, || at_address(text, board, &cancel), &cancel, |_| Ok(()))??;
                places.push(tables.clone().into());
                remote.push(tables);
            }
        }
    }
    Ok(Located { directories: Directories::new(places).expect("a location is given"), remote })
}

/// Returns a directory in a file system.
pub(crate) fn in_filesystem(filesystem: Filesystem, board: Board) -> PyResult<Located> {
    let shown = kalah::remote::Store::address(&filesystem).to_owned();
    let tables = options(board).and_then(|options| RemoteTables::of(Arc::new(filesystem), options));
    let tables = tables.map_err(|error| failed(&shown, error))?;
    Ok(Located { directories: tables.directory(), remote: vec![tables] })
}

fn at_address(text: &str, board: Board, cancel: &Cancel) -> PyResult<RemoteTables> {
    let shown = Address::without_secrets(text);
    let options = options(board).map(|options| RemoteOptions { cancel: cancel.clone(), ..options });
    let tables = Address::parse(text).and_then(|address| RemoteTables::open(&address, options?));
    tables.map_err(|error| failed(Path::new(&shown), error))
}

fn options((rules, pits): Board) -> Result<RemoteOptions, RemoteError> {
    let chosen = std::env::var_os("KALAH_CACHE").filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = chosen
        .or_else(user_cache)
        .ok_or_else(|| RemoteError::Store("the user's directory for caches is unknown: set KALAH_CACHE".into()))?;
    let cache = Cache::new(directory, Cache::DEFAULT_LIMIT);
    Ok(RemoteOptions { rules: vec![rules], pits: Some(pits), ..RemoteOptions::new(cache) })
}

/// Returns True if a text is an address, not a path.
#[pyfunction]
pub(crate) fn is_address(text: Text) -> bool {
    Address::is_address(&text.0)
}

/// The exception for an error of the tables at an address.
fn failed(address: &Path, error: RemoteError) -> PyErr {
    let exception = match error {
        RemoteError::Address { .. } => {
            ArgumentError::new_err(format!("{error}; for other places, pass a filesystem of fsspec"))
        }
        RemoteError::NoTables(_) => MissingTableError::new_err(error.to_string()),
        _ => TableError::new_err(format!("{}: {error}", address.display())),
    };
    raised_by(exception, &error)
}
