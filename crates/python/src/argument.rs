//! Arguments from Python. A wrong type is a TypeError, a number that is too large for any use an OverflowError, any
//! other wrong value an error of this package.

use std::ops::RangeInclusive;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::python::ArgumentError;

/// The number if it is in `range`, otherwise an error with this `name`.
pub(crate) fn within(name: &str, number: i64, range: RangeInclusive<usize>) -> PyResult<usize> {
    usize::try_from(number).ok().filter(|number| range.contains(number)).ok_or_else(|| {
        ArgumentError::new_err(format!("{name} must be {} to {}, not {number}", range.start(), range.end()))
    })
}

/// A number of seconds, from 0 up, if one is given.
pub(crate) fn duration(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    seconds
        .map(Duration::try_from_secs_f64)
        .transpose()
        .map_err(|error| ArgumentError::new_err(format!("seconds: {error}")))
}
