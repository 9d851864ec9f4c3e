//! Arrays of numpy as arguments and results, and memory for them.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
use kalah::system::check_memory;
use numpy::ndarray::IxDyn;
use numpy::{
    Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

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

    /// The shape of the array.
    pub(crate) fn shape(&self) -> &[usize] {
        self.0.shape()
    }
}

/// The whole numbers of `object`: an array, or anything that numpy converts to one, of any integer type. They are
/// converted unless they are of type `T` and in C order. The last axis has `width` elements, if that is given.
/// `expected` describes the right array.
pub(crate) fn elements<'py, T: Element>(
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
    let borrowed = array.try_readonly().map_err(|_| in_use(&array))?;
    Ok(Elements(borrowed))
}

fn in_use(array: &Bound<'_, PyAny>) -> PyErr {
    ArgumentError::new_err(format!("another call writes to this array, or `out` overlaps it: {}", describe(array)))
}

/// Description of an object for messages: type and shape of an array, otherwise the class.
fn describe(object: &Bound<'_, PyAny>) -> String {
    let name = |attribute: &str| object.getattr(attribute).map(|value| value.to_string());
    match (name("dtype"), name("shape")) {
        (Ok(dtype), Ok(shape)) => format!("type {dtype} and shape {shape}"),
        _ => object.get_type().to_string(),
    }
}

/// Place for results: the array that the caller gave as `out`, or a new one.
pub(crate) enum Results<'py, T: Element> {
    /// The caller's array, and the right to write to it.
    Given(Bound<'py, PyArrayDyn<T>>, PyReadwriteArrayDyn<'py, T>),
    /// Elements and shape of a new one.
    New(Vec<T>, Vec<usize>),
}

impl<'py, T: Element + Zeroable> Results<'py, T> {
    /// Place for results of this `shape`. `contents` names them.
    pub(crate) fn new(out: Option<&Bound<'py, PyAny>>, shape: Vec<usize>, contents: &str) -> PyResult<Results<'py, T>> {
        let Some(out) = out else {
            let count = shape.iter().try_fold(1usize, |count, &axis| count.checked_mul(axis));
            return Ok(Results::New(zeros(count.unwrap_or(usize::MAX), contents)?, shape));
        };
        let expected = || {
            let kind = T::get_dtype(out.py());
            let shape = PyTuple::new(out.py(), &shape).map(|shape| shape.to_string()).unwrap_or_default();
            format!("out is a writable numpy array of type {kind} and shape {shape} in C order")
        };
        let array = out
            .cast::<PyArrayDyn<T>>()
            .map_err(|_| PyTypeError::new_err(format!("{}, not {}", expected(), describe(out))))?;
        if array.shape() != shape || !array.is_c_contiguous() || !array.is_aligned() {
            return Err(ArgumentError::new_err(format!("{}, not {}", expected(), describe(out))));
        }
        let writable = array.try_readwrite().map_err(|error| match error {
            numpy::BorrowError::NotWriteable => ArgumentError::new_err(format!("{}: this one is not", expected())),
            _ => in_use(out),
        })?;
        Ok(Results::Given(array.clone(), writable))
    }

    /// The elements.
    pub(crate) fn get(&mut self) -> &mut [T] {
        match self {
            Results::Given(_, array) => array.as_slice_mut().expect("an array in C order"),
            Results::New(elements, _) => elements,
        }
    }

    /// The array.
    pub(crate) fn finish(self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
        match self {
            Results::Given(array, _) => Ok(array),
            Results::New(elements, shape) if shape.len() == 1 => Ok(PyArray1::from_vec(py, elements).to_dyn().clone()),
            Results::New(elements, shape) => PyArray1::from_vec(py, elements).reshape(IxDyn(&shape)),
        }
    }
}

/// Bytes from which on the system is asked for available memory before it is allocated. It may grant more than
/// it has, and end the process later.
const LARGE: usize = 1 << 26;

/// Allocates `count` zeros, to be overwritten. An error names the contents. The threads that write are the
/// first to touch the memory.
pub(crate) fn zeros<T: Zeroable>(count: usize, contents: &str) -> PyResult<Vec<T>> {
    check_count::<T>(count, contents)?;
    try_zeroed_vec(count).map_err(|()| OutOfMemoryError::new_err(format!("not enough memory for {count} {contents}")))
}

/// Checks that there is memory for `count` numbers.
fn check_count<T>(count: usize, contents: &str) -> PyResult<()> {
    check_room(count, size_of::<T>(), contents)
}

/// Checks that there is memory for `count` numbers of `size` bytes. Raises OutOfMemoryError.
#[pyfunction]
pub(crate) fn check_room(count: usize, size: usize, contents: &str) -> PyResult<()> {
    let bytes = count.checked_mul(size);
    let Some(bytes) = bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) else {
        return Err(OutOfMemoryError::new_err(format!("{count} {contents} exceed the memory of any computer")));
    };
    if bytes < LARGE {
        return Ok(());
    }
    check_memory(bytes as u64, None, || format!("an array of {count} {contents} takes")).or_raise()
}

/// Checks that a caller's limit of memory is available. Otherwise the work would fail late, or slow down the
/// computer.
pub(crate) fn check_limit(bytes: u64, work: &str) -> PyResult<()> {
    check_memory(bytes, None, || format!("{work} takes")).or_raise()
}
