//! Python exceptions for the errors of the library. The classes are defined in `python/kalah/errors.py`.

use std::error::Error;
use std::path::Path;

use kalah::book::BookError;
use kalah::build::BuildError;
use kalah::cause;
use kalah::header::Kind;
use kalah::play::PlayError;
use kalah::solve::SolveError;
use kalah::system::{MemoryShortage, OutOfMemory};
use kalah::table::{Damage, Directories, ProbeError, TableError, TableKey};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

/// The exception classes.
pub(crate) mod python {
    use pyo3::prelude::*;

    macro_rules! exceptions {
        ($($name:ident),* $(,)?) => {
            $(pyo3::import_exception!(kalah.errors, $name);)*

            /// Imports all classes. Otherwise the first exception of each class does so, and Ctrl-C at that
            /// moment would cause a panic.
            pub(crate) fn load(py: Python<'_>) -> PyResult<()> {
                py.import("kalah.errors")?;
                $(let _ = py.get_type::<$name>();)*
                Ok(())
            }
        };
    }

    exceptions!(
        ArgumentError,
        BuildError,
        DamagedTableError,
        IllegalMoveError,
        InUseError,
        MissingTableError,
        OutOfMemoryError,
        PositionError,
        RulesError,
        SolveError,
        TableError,
        TimeUpError,
    );
}

/// An error of the library that has a Python exception.
pub(crate) trait ToPython {
    /// The exception.
    fn to_python(self) -> PyErr;
}

/// The exception for an error in a result.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: ToPython> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(ToPython::to_python)
    }
}

/// Describes why the table `key` is not among the open tables of `directories`, and the remedy: layers are `missing`.
/// `text` describes the error; `is_solvable` if a search could replace the table.
fn missing_table(directories: &Directories, key: TableKey, missing: &[usize], text: &str, is_solvable: bool) -> String {
    let TableKey { rules, pits, seeds } = key;
    if let Some(text) = no_directory(directories) {
        return text;
    }
    let is_alone = missing.iter().all(|&layer| layer == seeds);
    if is_alone && key.is_in(directories) {
        return format!(
            "the table with {seeds} seeds in play is in {directories}, but was not opened: it was missing then, or has \
             more than max_seeds seeds; open them again",
        );
    }
    if directories.are_remote() {
        let solve = if is_solvable { "; solve the position with kalah.solve" } else { "" };
        return format!("{text}: the layers are not at that address{solve}");
    }
    // A build uses one directory.
    let name = directories.places()[0].name().display().to_string();
    let call = format!("kalah.build({name:?}, {seeds}, {:?}, {pits})", rules.name());
    let solve = if is_solvable { ", or solve the position with kalah.solve" } else { "" };
    format!("{text}: build it with {call}{solve}")
}

/// Names a missing directory of tables; `None` if all exist.
pub(crate) fn no_directory(directories: &Directories) -> Option<String> {
    let missing = directories.paths().find(|directory| matches!(directory.try_exists(), Ok(false)))?;
    Some(format!("there is no directory {}", missing.display()))
}

/// The exception for an error of a table that the position in this row of an array needs.
pub(crate) fn of_row(row: usize, error: &TableError) -> PyErr {
    let TableError::Missing { key, directories, missing } = error else { return of_table(error) };
    let text = missing_table(directories, *key, missing, &error.to_string(), false);
    python::MissingTableError::new_err(format!("row {row}: {text}"))
}

/// Returns true if a table has this address, not this path.
fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains("://"))
}

/// Returns `exception` with the Python exception that caused `error`, if there is one; or that exception itself, if it
/// is no error, as for Ctrl-C.
pub(crate) fn raised_by(exception: PyErr, error: &(dyn Error + 'static)) -> PyErr {
    let Some(raised) = cause::find::<PyErr>(error) else { return exception };
    Python::attach(|py| {
        let raised = raised.clone_ref(py);
        if !raised.is_instance_of::<PyException>(py) {
            return raised;
        }
        exception.set_cause(py, Some(raised));
        exception
    })
}

/// The exception for an error of a table.
fn of_table(error: &TableError) -> PyErr {
    let text = error.to_string();
    let exception = match error {
        TableError::Missing { key, directories, missing } => {
            python::MissingTableError::new_err(missing_table(directories, *key, missing, &text, false))
        }
        TableError::Damaged { damage: Damage::Header(error), .. } if error.is_newer() => {
            python::TableError::new_err(format!("{text}; use a newer kalah, or another directory"))
        }
        TableError::Damaged { path, .. } if is_address(path) => {
            python::DamagedTableError::new_err(format!("{text}: the fault is at that address, not on this machine"))
        }
        TableError::Damaged { kind: Kind::Table, .. } => {
            python::DamagedTableError::new_err(format!("{text}: delete it and build it again"))
        }
        TableError::Damaged { .. } => python::DamagedTableError::new_err(text),
        TableError::OutOfMemory { .. } => python::OutOfMemoryError::new_err(text),
        _ => python::TableError::new_err(text),
    };
    raised_by(exception, error)
}

impl ToPython for TableError {
    fn to_python(self) -> PyErr {
        of_table(&self)
    }
}

impl ToPython for ProbeError {
    fn to_python(self) -> PyErr {
        let text = self.to_string();
        match self {
            ProbeError::Table(error) => error.to_python(),
            ProbeError::AboveTables { key, directories, missing, .. } => {
                python::MissingTableError::new_err(missing_table(&directories, key, &missing, &text, true))
            }
            ProbeError::BeyondTables { .. } => {
                python::MissingTableError::new_err(format!("{text}; solve the position with kalah.solve"))
            }
            _ => python::PositionError::new_err(text),
        }
    }
}

/// The exception for an error caused by a table or by a lack of memory; `None` for other causes.
fn of_cause(error: &(dyn Error + 'static)) -> Option<PyErr> {
    if let Some(error) = cause::find(error) {
        return Some(of_table(error));
    }
    let is_memory = cause::find::<OutOfMemory>(error).is_some() || cause::find::<MemoryShortage>(error).is_some();
    is_memory.then(|| python::OutOfMemoryError::new_err(error.to_string()))
}

impl ToPython for BuildError {
    fn to_python(self) -> PyErr {
        of_cause(&self).unwrap_or_else(|| python::BuildError::new_err(self.to_string()))
    }
}

impl ToPython for MemoryShortage {
    fn to_python(self) -> PyErr {
        python::OutOfMemoryError::new_err(self.to_string())
    }
}

impl ToPython for SolveError {
    fn to_python(self) -> PyErr {
        of_search(&self)
    }
}

impl ToPython for BookError {
    fn to_python(self) -> PyErr {
        of_search(&self)
    }
}

impl ToPython for PlayError {
    fn to_python(self) -> PyErr {
        match self {
            PlayError::GameOver => python::IllegalMoveError::new_err(self.to_string()),
            error => of_search(&error),
        }
    }
}

/// The exception for a failed search.
fn of_search(error: &(dyn Error + 'static)) -> PyErr {
    of_cause(error).unwrap_or_else(|| python::SolveError::new_err(error.to_string()))
}
