//! Python exceptions for the errors of the library. The classes are defined in `python/kalah/errors.py`.

use kalah::build::BuildError;
use kalah::play::PlayError;
use kalah::solve::SolveError;
use kalah::table::{ProbeError, TableError};
use pyo3::prelude::*;

/// The exception classes.
pub mod python {
    pyo3::import_exception!(kalah.errors, BuildError);
    pyo3::import_exception!(kalah.errors, DamagedTableError);
    pyo3::import_exception!(kalah.errors, IllegalMoveError);
    pyo3::import_exception!(kalah.errors, MissingTableError);
    pyo3::import_exception!(kalah.errors, OutOfMemoryError);
    pyo3::import_exception!(kalah.errors, PositionError);
    pyo3::import_exception!(kalah.errors, RulesError);
    pyo3::import_exception!(kalah.errors, SolveError);
    pyo3::import_exception!(kalah.errors, TableError);
    pyo3::import_exception!(kalah.errors, TimeUpError);
}

/// An error of the library that has a Python exception.
pub trait ToPython {
    /// The exception.
    fn to_python(self) -> PyErr;
}

/// The exception for an error in a result.
pub trait OrRaise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: ToPython> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(ToPython::to_python)
    }
}

impl ToPython for TableError {
    fn to_python(self) -> PyErr {
        let text = self.to_string();
        match &self {
            TableError::Missing { key, directory, .. } => python::MissingTableError::new_err(format!(
                "{text}: build it with kalah.build({:?}, {}, {:?}, {})",
                directory.display().to_string(),
                key.seeds,
                key.rules.name(),
                key.pits
            )),
            TableError::Damaged { .. } => {
                python::DamagedTableError::new_err(format!("{text}: delete it and build it again"))
            }
            TableError::OutOfMemory { .. } => python::OutOfMemoryError::new_err(text),
            _ => python::TableError::new_err(text),
        }
    }
}

impl ToPython for ProbeError {
    fn to_python(self) -> PyErr {
        let text = self.to_string();
        match self {
            ProbeError::Table(error) => error.to_python(),
            ProbeError::AboveTables { key, directory, .. } => python::MissingTableError::new_err(format!(
                "{text}: build it with kalah.build({:?}, {}, {:?}, {}), or solve the position with kalah.solve",
                directory.display().to_string(),
                key.seeds,
                key.rules.name(),
                key.pits
            )),
            ProbeError::BeyondTables { .. } => {
                python::MissingTableError::new_err(format!("{text}; solve the position with kalah.solve"))
            }
            _ => python::PositionError::new_err(text),
        }
    }
}

impl ToPython for BuildError {
    fn to_python(self) -> PyErr {
        match self {
            BuildError::Table(error) => error.to_python(),
            BuildError::OutOfMemory(error) => python::OutOfMemoryError::new_err(error.to_string()),
            error => python::BuildError::new_err(error.to_string()),
        }
    }
}

impl ToPython for SolveError {
    fn to_python(self) -> PyErr {
        let text = self.to_string();
        match self {
            SolveError::Table(error) => error.to_python(),
            SolveError::OutOfMemory { .. } => python::OutOfMemoryError::new_err(text),
            SolveError::TimedOut => python::TimeUpError::new_err(text),
            _ => python::SolveError::new_err(text),
        }
    }
}

impl ToPython for PlayError {
    fn to_python(self) -> PyErr {
        match self {
            PlayError::Table(error) => error.to_python(),
            PlayError::Solve(error) => error.to_python(),
            error @ PlayError::GameOver => python::IllegalMoveError::new_err(error.to_string()),
            error => python::SolveError::new_err(error.to_string()),
        }
    }
}
