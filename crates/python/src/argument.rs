//! Arguments from Python: whole numbers of any size, texts, times. A wrong type is a TypeError, a wrong value an
//! error of this package.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use pyo3::exceptions::PyOverflowError;
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

    /// The number if it fits the type.
    pub(crate) fn get<T: TryFrom<i128>>(self) -> Option<T> {
        T::try_from(self.0).ok()
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

/// A number of 64 bits; infinity for an `int` beyond their range.
#[derive(Clone, Copy)]
pub(crate) struct Float(pub(crate) f64);

impl<'py> FromPyObject<'_, 'py> for Float {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Float> {
        match object.extract::<f64>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => Ok(Float(f64::INFINITY)),
            found => found.map(Float),
        }
    }
}

/// A number of seconds, from 0 up.
pub(crate) struct Seconds(pub(crate) Duration);

impl<'py> FromPyObject<'_, 'py> for Seconds {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Seconds> {
        let Float(seconds) = object.extract()?;
        Duration::try_from_secs_f64(seconds).map(Seconds).map_err(|_| {
            ArgumentError::new_err(format!("seconds must be a finite number of at least 0, not {seconds}"))
        })
    }
}
