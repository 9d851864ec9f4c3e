//! Arguments from Python: whole numbers of any size, texts, callbacks. A wrong type is a TypeError, a wrong value
//! an error of this package.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::python::ArgumentError;

/// A whole number of any size: an `int`, or an object with `__index__`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Integer(i128);

impl Integer {
    /// The number if it is in `range`, otherwise an error with this `name`.
    pub(crate) fn within<T>(self, name: &str, range: RangeInclusive<T>) -> PyResult<T>
    where
        T: TryFrom<i128> + PartialOrd + fmt::Display,
    {
        self.get().filter(|number| range.contains(number)).ok_or_else(|| {
            ArgumentError::new_err(format!("{name} must be {} to {}, not {self}", range.start(), range.end()))
        })
    }

    /// The number if it is at least `least`, capped at `most`; otherwise an error with this `name`.
    pub(crate) fn at_least<T>(self, name: &str, least: T, most: T) -> PyResult<T>
    where
        T: TryFrom<i128> + Into<i128> + Copy + fmt::Display,
    {
        match T::try_from(self.0.min(most.into())) {
            Ok(number) if number.into() >= least.into() => Ok(number),
            _ => Err(ArgumentError::new_err(format!("{name} must be at least {least}, not {self}"))),
        }
    }

    /// The number if it fits the type.
    pub(crate) fn get<T: TryFrom<i128>>(self) -> Option<T> {
        T::try_from(self.0).ok()
    }

    /// The nearest number of 64 bits.
    pub(crate) fn clamped(self) -> i64 {
        self.0.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

impl From<u64> for Integer {
    fn from(number: u64) -> Integer {
        Integer(number.into())
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            i128::MIN | i128::MAX => f.write_str("a number of 128 bits or more"),
            number => number.fmt(f),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Integer {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Integer> {
        match object.extract::<i64>() {
            Ok(number) => return Ok(Integer(number.into())),
            Err(error) if !error.is_instance_of::<PyOverflowError>(object.py()) => return Err(error),
            Err(_) => {}
        }
        let number = object.call_method0(intern!(object.py(), "__index__"))?;
        match number.extract::<i128>() {
            Ok(number) => Ok(Integer(number)),
            Err(_) => Ok(Integer(if number.lt(0)? { i128::MIN } else { i128::MAX })),
        }
    }
}

/// A text. Lone surrogates, which cannot be encoded, are replaced, so that the text is neither a name nor a
/// position.
pub(crate) struct Text(pub(crate) String);

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Text> {
        Ok(Text(object.cast::<PyString>()?.to_string_lossy().into_owned()))
    }
}

/// A number of 64 bits; the error of one beyond their range is `wrong` with its description.
pub(crate) fn float(object: Borrowed<'_, '_, PyAny>, wrong: impl Fn(&dyn fmt::Display) -> PyErr) -> PyResult<f64> {
    let is_beyond = |error: &PyErr| error.is_instance_of::<PyOverflowError>(object.py());
    match object.extract::<f64>() {
        Err(error) if is_beyond(&error) => Err(wrong(&"one that is too large for a float")),
        found => found,
    }
}

/// A number of seconds, from 0 up.
pub(crate) struct Seconds(pub(crate) Duration);

impl<'py> FromPyObject<'_, 'py> for Seconds {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Seconds> {
        let wrong = |seconds: &dyn fmt::Display| {
            ArgumentError::new_err(format!("seconds must be a finite number of at least 0, not {seconds}"))
        };
        let seconds = float(object, wrong)?;
        Duration::try_from_secs_f64(seconds).map(Seconds).map_err(|_| wrong(&seconds))
    }
}

/// A function that is called with the progress of long work.
pub(crate) struct Callback(pub(crate) Py<PyAny>);

impl<'py> FromPyObject<'_, 'py> for Callback {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Callback> {
        if object.is_callable() {
            return Ok(Callback(object.to_owned().unbind()));
        }
        Err(PyTypeError::new_err(format!("a function is expected, not {}", object.get_type())))
    }
}
