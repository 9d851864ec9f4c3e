//! Arrays of numpy as arguments and results, and memory for them.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
use kalah::system::check_memory;
use numpy::ndarray::IxDyn;
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::errors::python::{ArgumentError, OutOfMemoryError};

/// Loads the parts of numpy that arrays need when they are first used.
pub(crate) fn load(py: Python<'_>) -> PyResult<()> {
    let array = PyArray1::<u8>::zeros(py, 0, false);
    array.try_readonly().map(|_| ()).map_err(|error| ArgumentError::new_err(error.to_string()))
}

/// The elements of an array in C order. No call may write to the array meanwhile.
pub(crate) struct Elements<'py, T: Element>(PyReadonlyArrayDyn<'py, T>);

impl<T: Element> Elements<'_, T> {
    /// All elements.
    pub(crate) fn get(&self) -> &[T] {
        self.0.as_slice().expect("an array in C order")
    }

    /// The axes of an array of positions without the last one, which has their pits.
    pub(crate) fn axes(&self) -> &[usize] {
        let shape = self.shape();
        &shape[..shape.len() - 1]
    }

    /// The shape of the array.
    pub(crate) fn shape(&self) -> &[usize] {
        self.0.shape()
    }
}

/// The positions of `object`, on boards of `pits` pits a side. The last axis has the pits of a position: the mover's
/// pits, then the other player's, each in its owner's sowing order.
pub(crate) fn positions<'py>(object: &Bound<'py, PyAny>, pits: usize) -> PyResult<Elements<'py, u8>> {
    let expected = || format!("positions are a numpy array of type uint8 and shape (n, {})", 2 * pits);
    elements(object, &expected, Some(2 * pits))
}

/// The ranks of `object`.
pub(crate) fn ranks<'py>(object: &Bound<'py, PyAny>) -> PyResult<Elements<'py, i64>> {
    elements(object, &|| "ranks are a numpy array of type int64 and shape (n,)".to_owned(), None)
}

/// The whole numbers of `object`: an array, or anything that numpy converts to one, of any integer type. They are
/// converted unless they are of type `T` and in C order. The last axis has `width` elements, if that is given.
/// `expected` describes the right array.
fn elements<'py, T: Element>(
    object: &Bound<'py, PyAny>,
    expected: &dyn Fn() -> String,
    width: Option<usize>,
) -> PyResult<Elements<'py, T>> {
    let has_width = |shape: &[usize]| shape.last().is_some_and(|&last| width.is_none_or(|width| last == width));
    let array = match object.cast::<PyArrayDyn<T>>() {
        // Arrays in column order are contiguous too, but in another order.
        Ok(array) if array.is_c_contiguous() && array.is_aligned() && has_width(array.shape()) => array.clone(),
        _ => {
            let py = object.py();
            let arguments = py.import(intern!(py, "kalah._arguments"))?;
            let array = arguments.call_method1("converted", (object, T::get_dtype(py), expected(), width))?;
            array.cast_into::<PyArrayDyn<T>>()?
        }
    };
    array.try_readonly().map(Elements).map_err(|error| ArgumentError::new_err(error.to_string()))
}

/// A new array of these elements in C order.
pub(crate) fn shaped<'py, T: Element>(
    py: Python<'py>,
    elements: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_vec(py, elements).reshape(IxDyn(shape))
}

/// Bytes from which on the system is asked for available memory before it is allocated. It may grant more than
/// it has, and end the process later.
const LARGE: usize = 1 << 26;

/// Allocates zeros for an array of this `shape`, to be overwritten. An error names the contents. The threads that write
/// are the first to touch the memory.
pub(crate) fn zeros<T: Zeroable>(shape: &[usize], contents: &str) -> PyResult<Vec<T>> {
    let count = shape.iter().try_fold(1, |count: usize, &axis| count.checked_mul(axis)).unwrap_or(usize::MAX);
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
    let Some(bytes) = bytes else {
        return Err(OutOfMemoryError::new_err(format!("{count} {contents} exceed the memory of any computer")));
    };
    if bytes >= LARGE {
        check_memory(bytes as u64, None, || format!("an array of {count} {contents} takes")).or_raise()?;
    }
    try_zeroed_vec(count).map_err(|()| OutOfMemoryError::new_err(format!("not enough memory for {count} {contents}")))
}

/// Checks that a caller's limit of memory is available. Otherwise the work would fail late, or slow down the
/// computer.
pub(crate) fn check_limit(bytes: u64, work: &str) -> PyResult<()> {
    check_memory(bytes, None, || format!("{work} takes")).or_raise()
}
