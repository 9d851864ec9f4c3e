//! Results of calls: instances of the data classes in `python/kalah/results.py`.

use kalah::game::Pit;
use kalah::table::Probe;
use pyo3::call::PyCallArgs;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::position::{Line, Position};

/// An instance of the class of this name with these attributes.
pub(crate) fn result<'py>(
    py: Python<'py>,
    class: &str,
    attributes: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import(intern!(py, "kalah.results"))?.getattr(class)?.call1(attributes)
}

/// The result of looking a position up in tables.
pub(crate) fn probe<'py>(py: Python<'py>, found: Probe) -> PyResult<Bound<'py, PyAny>> {
    let best: Vec<usize> = found.best().map(Pit::number).collect();
    let moves = moves_dict(py, found.moves)?;
    result(py, "Probe", (Position(found.position), found.score, found.value, moves, best, Line(found.line)))
}

/// Converts moves and their scores to a dict.
pub(crate) fn moves_dict(py: Python<'_>, moves: impl IntoIterator<Item = (Pit, u32)>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (pit, score) in moves {
        dict.set_item(pit.number(), score)?;
    }
    Ok(dict)
}
