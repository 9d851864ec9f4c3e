//! Memory for results. An exception is raised if it does not suffice.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
use kalah::system::check_memory;
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::errors::python::OutOfMemoryError;

/// Bytes from which on the system is asked for available memory before it is allocated. It may grant more than
/// it has, and end the process later.
const LARGE: usize = 1 << 26;

/// Allocates `count` zeros, to be overwritten. An error names the contents. The threads that write are the
/// first to touch the memory.
pub fn zeros<T: Zeroable>(count: usize, contents: &str) -> PyResult<Vec<T>> {
    check_count::<T>(Some(count), contents)?;
    try_zeroed_vec(count).map_err(|()| OutOfMemoryError::new_err(format!("not enough memory for {count} {contents}")))
}

/// Checks that there is memory for `count` numbers; `None` is a count beyond all memory.
pub fn check_count<T>(count: Option<usize>, contents: &str) -> PyResult<()> {
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
pub fn check_limit(bytes: u64, work: &str) -> PyResult<()> {
    check_memory(bytes, None, || format!("{work} takes")).or_raise()
}
