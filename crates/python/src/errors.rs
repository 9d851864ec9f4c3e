//! Python exceptions for the errors of the library. The classes are defined in `python/kalah/errors.py`.

use std::error::Error;
use std::path::Path;

use kalah::book::BookError;
use kalah::build::{Backend, BuildError, BuildPlan};
use kalah::cause;
use kalah::diagnostic::{Commands, Diagnostic, ErrorKind};
use kalah::game::{Position, Rules};
use kalah::isa::Isa;
use kalah::play::PlayError;
use kalah::solve::SolveError;
use kalah::system::MemoryShortage;
use kalah::table::{Directory, ProbeError, TableError, TableKey};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::waiting;

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

/// The calls of this package, for advice.
struct Calls;

impl Commands for Calls {
    fn build(&self, directory: &Path, key: TableKey) -> String {
        let TableKey { rules, pits, seeds } = key;
        format!("kalah.build({:?}, {seeds}, {:?}, {pits})", directory.display().to_string(), rules.name())
    }

    fn build_that_fits(&self, directory: &Path, key: TableKey, _: bool) -> Result<String, String> {
        let build = self.build(directory, key);
        match BuildPlan::new(directory, key, &Backend::Cpu(Isa::detect()), waiting::number(None)).check(directory, None)
        {
            Ok(()) => Ok(build),
            Err(error) => Err(format!("{build} does not fit this machine: {error}")),
        }
    }

    fn bounds(&self, _: &Path, key: TableKey) -> String {
        format!("kalah bounds --seeds {}", key.seeds)
    }

    fn solve(&self, _: &Directory, _: Rules, _: &Position) -> Option<String> {
        Some("kalah.solve".to_owned())
    }
}

/// Describes why the table `key` is not among the open tables of `directory`, whose `missing` layers it needs, if no
/// build would help.
fn not_opened(directory: &Directory, key: TableKey, missing: &[usize]) -> Option<String> {
    let seeds = key.seeds;
    no_directory(directory).or_else(|| {
        let is_alone = missing.iter().all(|&layer| layer == seeds);
        (is_alone && key.is_in(directory)).then(|| {
            format!(
                "the table with {seeds} seeds in play is in {directory}, but was not opened: it was missing then, or \
                 has more than max_seeds seeds; open them again",
            )
        })
    })
}

/// Names the directory of the tables if it is missing.
pub(crate) fn no_directory(directory: &Directory) -> Option<String> {
    let missing = directory.path().filter(|directory| matches!(directory.try_exists(), Ok(false)))?;
    Some(format!("there is no directory {}", missing.display()))
}

/// The exception for an error of a table that the position in this row of an array needs.
pub(crate) fn of_row(row: usize, error: TableError) -> PyErr {
    match &error {
        TableError::Missing { directory, key, missing } => {
            let text = not_opened(directory, *key, missing).unwrap_or_else(|| advised(&error));
            python::MissingTableError::new_err(format!("row {row}: {text}"))
        }
        _ => error.to_python(),
    }
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

/// The text of an error of a table, with advice.
fn advised(error: &impl Diagnostic) -> String {
    error.diagnosis(&Calls).help.map_or_else(|| error.to_string(), |help| format!("{error}; {help}"))
}

/// The exception for an error. Its class is that of the error's kind, or else the one that `other` makes.
fn exception(error: &(impl Diagnostic + 'static), other: fn(String) -> PyErr) -> PyErr {
    let exception = match error.diagnosis(&Calls).kind {
        ErrorKind::Damaged | ErrorKind::Unreadable => python::DamagedTableError::new_err(advised(error)),
        ErrorKind::Missing => python::MissingTableError::new_err(advised(error)),
        ErrorKind::Table => python::TableError::new_err(advised(error)),
        ErrorKind::Memory => python::OutOfMemoryError::new_err(error.to_string()),
        _ => other(error.to_string()),
    };
    raised_by(exception, error)
}

impl ToPython for TableError {
    fn to_python(self) -> PyErr {
        if let TableError::Missing { directory, key, missing } = &self
            && let Some(text) = not_opened(directory, *key, missing)
        {
            return python::MissingTableError::new_err(text);
        }
        exception(&self, python::TableError::new_err)
    }
}

impl ToPython for ProbeError {
    fn to_python(self) -> PyErr {
        match self {
            ProbeError::Table(error) => error.to_python(),
            ProbeError::AboveTables { ref directory, key, ref missing, .. } => {
                let elsewhere = || format!("{self}; the layers are not at that address; use kalah.solve");
                let advised = || if directory.is_remote() { elsewhere() } else { advised(&self) };
                let text = not_opened(directory, key, missing);
                python::MissingTableError::new_err(text.unwrap_or_else(advised))
            }
            error => exception(&error, python::PositionError::new_err),
        }
    }
}

impl ToPython for BuildError {
    fn to_python(self) -> PyErr {
        exception(&self, python::BuildError::new_err)
    }
}

impl ToPython for MemoryShortage {
    fn to_python(self) -> PyErr {
        exception(&self, python::OutOfMemoryError::new_err)
    }
}

impl ToPython for SolveError {
    fn to_python(self) -> PyErr {
        exception(&self, python::SolveError::new_err)
    }
}

impl ToPython for BookError {
    fn to_python(self) -> PyErr {
        exception(&self, python::SolveError::new_err)
    }
}

impl ToPython for PlayError {
    fn to_python(self) -> PyErr {
        match self {
            PlayError::GameOver => python::IllegalMoveError::new_err(self.to_string()),
            error => exception(&error, python::SolveError::new_err),
        }
    }
}
