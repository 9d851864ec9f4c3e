//! Arrays of numpy as arguments and results, and memory for them.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
use kalah::system::check_memory;
use numpy::ndarray::IxDyn;
use numpy::{
    Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};

use crate::argument::Integer;
use crate::errors::OrRaise;
use crate::errors::python::{ArgumentError, OutOfMemoryError, PositionError};

/// The module `numpy`.
static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// Imports numpy and the parts of it that arrays load when they are first used.
pub(crate) fn load(py: Python<'_>) -> PyResult<()> {
    numpy(py)?;
    let array = PyArray1::<u8>::zeros(py, 0, false);
    array.try_readonly().map(|_| ()).map_err(|error| ArgumentError::new_err(error.to_string()))
}

fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    Ok(NUMPY.get_or_try_init(py, || py.import("numpy").map(Bound::unbind))?.bind(py))
}

/// A type of the whole numbers in arguments.
pub(crate) trait Whole: Element + Copy {
    /// The name of the type in numpy.
    const NAME: &'static str;

    /// Returns true if the type has this number.
    fn has(number: Integer) -> bool;
}

impl Whole for u8 {
    const NAME: &'static str = "uint8";

    fn has(number: Integer) -> bool {
        number.get::<u8>().is_some()
    }
}

impl Whole for i64 {
    const NAME: &'static str = "int64";

    fn has(number: Integer) -> bool {
        number.get::<i64>().is_some()
    }
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
/// converted unless they are of type `T` and in C order.
///
/// `expected` describes the right array, and `has_shape` checks its shape. An empty list gets the shape `empty`.
pub(crate) fn elements<'py, T: Whole>(
    object: &Bound<'py, PyAny>,
    expected: &dyn Fn() -> String,
    has_shape: impl Fn(&[usize]) -> bool,
    empty: &[usize],
) -> PyResult<Elements<'py, T>> {
    let array = match object.cast::<PyArrayDyn<T>>() {
        // Arrays in column order are contiguous too, but in another order.
        Ok(array) if array.is_c_contiguous() && array.is_aligned() && has_shape(array.shape()) => array.clone(),
        _ => converted(object, expected, &has_shape, empty)?,
    };
    let borrowed = array.try_readonly().map_err(|_| in_use(&array))?;
    Ok(Elements(borrowed))
}

fn in_use(array: &Bound<'_, PyAny>) -> PyErr {
    ArgumentError::new_err(format!("another call writes to this array, or `out` overlaps it: {}", describe(array)))
}

/// The numbers of `object` in a new array of type `T` in C order.
fn converted<'py, T: Whole>(
    object: &Bound<'py, PyAny>,
    expected: &dyn Fn() -> String,
    has_shape: &dyn Fn(&[usize]) -> bool,
    empty: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let py = object.py();
    let is_list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    // Numpy reads ranges and texts, too, which may be long.
    if !is_list && !object.hasattr(intern!(py, "__array__"))? {
        return Err(PyTypeError::new_err(format!("{}, not {}", expected(), describe(object))));
    }
    let array = numpy(py)?.call_method1(intern!(py, "asarray"), (object,)).map_err(|error| {
        if error.is_instance_of::<PyValueError>(py) {
            PositionError::new_err(format!("{}: {error}", expected()))
        } else {
            raised_by_numpy(py, error)
        }
    })?;
    let shape: Vec<usize> = array.getattr(intern!(py, "shape"))?.extract()?;
    // The type of an empty list is a float.
    let is_empty = shape == [0];
    if !is_empty {
        let kind: String = array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "kind"))?.extract()?;
        if !matches!(kind.as_str(), "i" | "u") {
            return Err(PyTypeError::new_err(format!("{}, not {}", expected(), describe(&array))));
        }
        if !has_shape(&shape) {
            return Err(PositionError::new_err(format!("{}, not {}", expected(), describe(&array))));
        }
    }
    check_count::<T>(shape.iter().try_fold(1usize, |count, &axis| count.checked_mul(axis)), "elements of an array")?;
    if !shape.contains(&0) {
        for limit in ["min", "max"] {
            let number: Integer = array.call_method0(limit)?.extract()?;
            if !T::has(number) {
                return Err(PositionError::new_err(format!("{}, not the number {number}", expected())));
            }
        }
    }
    let array =
        array.call_method1(intern!(py, "astype"), (T::NAME, "C")).map_err(|error| raised_by_numpy(py, error))?;
    let array = if is_empty { array.call_method1(intern!(py, "reshape"), (empty.to_vec(),))? } else { array };
    Ok(array.cast_into::<PyArrayDyn<T>>()?)
}

/// The exception for a failed conversion.
fn raised_by_numpy(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyMemoryError>(py) { OutOfMemoryError::new_err(error.to_string()) } else { error }
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
    check_count::<T>(Some(count), contents)?;
    try_zeroed_vec(count).map_err(|()| OutOfMemoryError::new_err(format!("not enough memory for {count} {contents}")))
}

/// Checks that there is memory for `count` numbers; `None` is a count beyond all memory.
pub(crate) fn check_count<T>(count: Option<usize>, contents: &str) -> PyResult<()> {
    let count = count.unwrap_or(usize::MAX);
    let bytes = count.checked_mul(size_of::<T>());
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
