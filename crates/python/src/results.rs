//! Results of calls: instances of the data classes in `python/kalah/results.py`.

use kalah::answer::PositionAnswer;
use kalah::game::{Pit, Rules};
use kalah::table::Probe;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
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

/// The JSON document of an answer, made when it is asked for.
#[pyclass(module = "kalah._kalah", frozen)]
pub(crate) struct Document(Box<dyn Fn() -> serde_json::Result<String> + Send + Sync>);

impl Document {
    pub(crate) fn new(text: impl Fn() -> serde_json::Result<String> + Send + Sync + 'static) -> Document {
        Document(Box::new(text))
    }
}

#[pymethods]
impl Document {
    #[new]
    fn of_text(text: String) -> Document {
        Document::new(move || Ok(text.clone()))
    }

    fn __str__(&self) -> PyResult<String> {
        (self.0)().map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Document>().into_any(), (self.__str__()?,)))
    }
}

/// The result of looking a position up in tables of these rules.
pub(crate) fn probe<'py>(py: Python<'py>, rules: Rules, found: Probe) -> PyResult<Bound<'py, PyAny>> {
    let (best, moves) =
        (found.best().map(Pit::number).collect::<Vec<_>>(), moves_dict(py, found.moves.iter().copied())?);
    let (position, score, value, line) = (Position(found.position), found.score, found.value, Line(found.line.clone()));
    let document = Document::new(move || serde_json::to_string(&PositionAnswer::probed(rules, &found)));
    result(py, "Probe", (position, score, value, moves, best, line, document))
}

/// Converts moves and their scores to a dict.
pub(crate) fn moves_dict(py: Python<'_>, moves: impl IntoIterator<Item = (Pit, u32)>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (pit, score) in moves {
        dict.set_item(pit.number(), score)?;
    }
    Ok(dict)
}
