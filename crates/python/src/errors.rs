//! Python exceptions: for the errors of the library, and for arguments. The classes are defined in
//! `python/kalah/errors.py`. An argument of a wrong type is a TypeError, a number that is too large for any use an
//! OverflowError, any other wrong value an error of this package.

use std::error::Error;
use std::io;
use std::iter::successors;
use std::ops::RangeInclusive;
use std::time::Duration;

use kalah::book::BookError;
use kalah::build::BuildError;
use kalah::diagnostic::{Diagnostic, ErrorKind};
use kalah::play::PlayError;
use kalah::solve::SolveError;
use kalah::system::MemoryShortage;
use kalah::table::{ProbeError, TableError};
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

/// Returns `exception` with the Python exception that caused `error`, if there is one; or that exception itself, if it
/// is no error, as for Ctrl-C.
pub(crate) fn raised_by(exception: PyErr, error: &(dyn Error + 'static)) -> PyErr {
    // Unlike its source, the error that an `io::Error` was made from may be the one of Python.
    let mut causes = successors(Some(error), |&error| match error.downcast_ref().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner as &(dyn Error + 'static)),
        None => error.source(),
    });
    let Some(raised) = causes.find_map(|cause| cause.downcast_ref::<PyErr>()) else { return exception };
    Python::attach(|py| {
        let raised = raised.clone_ref(py);
        if !raised.is_instance_of::<PyException>(py) {
            return raised;
        }
        exception.set_cause(py, Some(raised));
        exception
    })
}

/// The exception for an error. Its class is that of the error's kind, or else the one that `other` makes.
fn exception(error: &(impl Diagnostic + 'static), other: fn(String) -> PyErr) -> PyErr {
    let exception = match error.diagnosis().kind {
        ErrorKind::Damaged | ErrorKind::Unreadable => python::DamagedTableError::new_err(error.advised()),
        ErrorKind::Missing => python::MissingTableError::new_err(error.advised()),
        ErrorKind::Table => python::TableError::new_err(error.advised()),
        ErrorKind::Memory => python::OutOfMemoryError::new_err(error.to_string()),
        _ => other(error.to_string()),
    };
    raised_by(exception, error)
}

/// The classes of errors of no other kind.
macro_rules! raises {
    ($($error:ty => $class:ident),* $(,)?) => {$(
        impl ToPython for $error {
            fn to_python(self) -> PyErr {
                exception(&self, |text| python::$class::new_err(text))
            }
        }
    )*};
}

raises!(
    TableError => TableError,
    ProbeError => PositionError,
    BuildError => BuildError,
    MemoryShortage => OutOfMemoryError,
    SolveError => SolveError,
    BookError => SolveError,
    PlayError => SolveError,
);

/// The number if it is in `range`, otherwise an error with this `name`.
pub(crate) fn within(name: &str, number: i64, range: RangeInclusive<usize>) -> PyResult<usize> {
    usize::try_from(number).ok().filter(|number| range.contains(number)).ok_or_else(|| {
        python::ArgumentError::new_err(format!("{name} must be {} to {}, not {number}", range.start(), range.end()))
    })
}

/// A number of seconds, from 0 up, if one is given.
pub(crate) fn duration(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    seconds
        .map(Duration::try_from_secs_f64)
        .transpose()
        .map_err(|error| python::ArgumentError::new_err(format!("seconds: {error}")))
}
