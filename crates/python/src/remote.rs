//! Tables at an address, or in a file system of fsspec.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kalah::cancel::Cancel;
use kalah::game::Rules;
use kalah::remote::{Address, Cache, RemoteError, RemoteOptions, RemoteTables, Store};
use pyo3::prelude::*;

use crate::errors::python::{ArgumentError, MissingTableError, TableError};
use crate::errors::raised_by;
use crate::filesystem::Filesystem;
use crate::waiting::wait_for;

/// Tables to look for: rules, and pits a side.
pub(crate) type Board = (Rules, usize);

/// The tables of `board` at an address.
pub(crate) fn at_address(py: Python<'_>, text: &str, board: Board) -> PyResult<RemoteTables> {
    let cancel = Cancel::new();
    let open = || {
        let options = RemoteOptions { cancel: cancel.clone(), ..options(board)? };
        RemoteTables::open(&Address::parse(text)?, options)
    };
    let opened = wait_for(py, open, &cancel, |_| Ok(()))?;
    opened.map_err(|error| failed(Path::new(&Address::without_secrets(text)), error))
}

/// The tables of `board` in a file system.
pub(crate) fn in_filesystem(py: Python<'_>, directory: &Bound<'_, PyAny>, board: Board) -> PyResult<RemoteTables> {
    let files = Filesystem::new(directory)?;
    let shown = files.address().to_owned();
    let opened = py.detach(|| options(board).and_then(|options| RemoteTables::of(Arc::new(files), options)));
    opened.map_err(|error| failed(&shown, error))
}

fn options((rules, pits): Board) -> Result<RemoteOptions, RemoteError> {
    let chosen = std::env::var_os("KALAH_CACHE").filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = chosen
        .or_else(Cache::default_directory)
        .ok_or_else(|| RemoteError::Store("the user's directory for caches is unknown: set KALAH_CACHE".into()))?;
    let cache = Cache::new(directory, Cache::DEFAULT_LIMIT);
    Ok(RemoteOptions { rules: vec![rules], pits: Some(pits), ..RemoteOptions::new(cache) })
}

/// Returns True if a text is an address, not a path.
#[pyfunction]
pub(crate) fn is_address(text: &str) -> bool {
    Address::is_address(text)
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
