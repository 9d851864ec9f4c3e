//! Pickling the classes of results. Each class has a private function `_of` that makes a result from its parts.

use pyo3::PyTypeInfo;
use pyo3::prelude::*;

/// Data for pickling a result: the function that makes it, and the arguments.
pub type Parts<'py, T> = (Bound<'py, PyAny>, T);

/// A result of class `C` and its parts.
pub fn parts<C: PyTypeInfo, T>(py: Python<'_>, parts: T) -> PyResult<Parts<'_, T>> {
    Ok((py.get_type::<C>().getattr("_of")?, parts))
}
