//! Tables at an address, or in a file system of fsspec.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kalah::game::Rules;
use kalah::remote::{Address, Cache, RemoteError, RemoteOptions, RemoteTables};
use kalah::table::Directories;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::python::{ArgumentError, MissingTableError, TableError};
use crate::errors::raised_by;
use crate::filesystem::Filesystem;

/// Directories, and the tables that some of them stand for.
pub struct Located {
    pub directories: Directories,
    pub remote: Vec<RemoteTables>,
}

/// Tables to look for: rules, and pits a side.
pub type Board = (Rules, usize);

/// Returns an address as a string, and any other location as a path.
pub fn location(py: Python<'_>, name: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    match name.to_str() {
        Some(text) if Address::is_address(text) => Ok(PyString::new(py, text).into_any()),
        _ => Ok(name.into_pyobject(py)?.into_any()),
    }
}

/// Returns the directories that stand for these locations in this process: those of addresses, with tables of `board`,
/// and all others as they are.
pub fn located(given: &[PathBuf], board: Board) -> PyResult<Located> {
    let (mut paths, mut remote) = (Vec::new(), Vec::new());
    for location in given {
        match location.to_str().filter(|text| Address::is_address(text)) {
            None => paths.push(location.clone()),
            Some(text) => match Address::local_path(text) {
                Some(path) => paths.push(path),
                None => {
                    let tables = at_address(text, board)?;
                    paths.push(tables.directory().to_owned());
                    remote.push(tables);
                }
            },
        }
    }
    Ok(Located { directories: Directories::new(paths).expect("a location is given"), remote })
}

/// Returns the directory that stands for one in a file system.
pub fn in_filesystem(filesystem: Filesystem, board: Board) -> PyResult<Located> {
    let shown = kalah::remote::Store::address(&filesystem).to_owned();
    let tables = options(board).and_then(|options| RemoteTables::of(Arc::new(filesystem), options));
    let tables = tables.map_err(|error| failed(&shown, error))?;
    Ok(Located { directories: tables.directory().into(), remote: vec![tables] })
}

fn at_address(text: &str, board: Board) -> PyResult<RemoteTables> {
    let shown = Address::without_secrets(text);
    let tables = Address::parse(text).and_then(|address| RemoteTables::open(&address, options(board)?));
    tables.map_err(|error| failed(Path::new(&shown), error))
}

fn options((rules, pits): Board) -> Result<RemoteOptions, RemoteError> {
    let chosen = std::env::var_os("KALAH_CACHE").filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = chosen.or_else(Cache::default_directory).ok_or_else(|| RemoteError::Cache {
        directory: "of the user".to_owned(),
        source: std::io::Error::other("it is unknown: set KALAH_CACHE"),
    })?;
    let cache = Cache::open(&directory, Cache::DEFAULT_LIMIT)?;
    Ok(RemoteOptions::new(cache).rules(&[rules]).pits(pits))
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
