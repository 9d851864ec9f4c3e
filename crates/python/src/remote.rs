//! Tables at an address.

use std::path::{Path, PathBuf};

use kalah::game::Rules;
use kalah::remote::{Address, Cache, RemoteError, RemoteOptions, RemoteTables};
use kalah::table::Directories;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::python::{ArgumentError, MissingTableError, TableError};

/// Returns an address as a string, and any other location as a path.
pub fn location(py: Python<'_>, name: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    match name.to_str() {
        Some(text) if Address::is_address(text) => Ok(PyString::new(py, text).into_any()),
        _ => Ok(name.into_pyobject(py)?.into_any()),
    }
}

/// Returns the directories that stand for these locations: see [`directory`].
pub fn directories(given: &[PathBuf], rules: Rules) -> PyResult<Directories> {
    let paths = given.iter().map(|path| directory(path, rules)).collect::<PyResult<Vec<PathBuf>>>()?;
    Ok(Directories::new(paths).expect("a location is given"))
}

/// Returns the directory that stands for an address in this process, with tables of these rules; any other directory as
/// it is.
fn directory(given: &Path, rules: Rules) -> PyResult<PathBuf> {
    let Some(text) = given.to_str().filter(|text| Address::is_address(text)) else { return Ok(given.to_owned()) };
    if let Some(path) = Address::local_path(text) {
        return Ok(path);
    }
    let failed = |error: RemoteError| match error {
        RemoteError::Address { .. } => ArgumentError::new_err(error.to_string()),
        RemoteError::NoTables(_) => MissingTableError::new_err(error.to_string()),
        _ => TableError::new_err(format!("{text}: {error}")),
    };
    let address = Address::parse(text).map_err(failed)?;
    let chosen = std::env::var_os("KALAH_CACHE").filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = chosen.or_else(Cache::default_directory);
    let cache = cache.ok_or_else(|| TableError::new_err("there is no cache directory: set KALAH_CACHE"))?;
    let cache = Cache::open(&cache, Cache::DEFAULT_LIMIT).map_err(failed)?;
    let tables = RemoteTables::open(&address, RemoteOptions::new(cache).rules(&[rules])).map_err(failed)?;
    Ok(tables.directory().to_owned())
}
