//! The class `Rules`.

use kalah::game::Rules as GameRules;
use pyo3::prelude::*;

use crate::errors::python::RulesError;

/// A rule set: the effect of the last seed of a sowing.
///
/// `Rules(name)` takes one of the names 'empty-capture', 'standard', 's-kalaha' and 'single-move', in upper or
/// lower case. Functions that take a rule set accept its name too. Raises RulesError for any other name.
#[pyclass(module = "kalah", frozen, eq, hash)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Rules(pub(crate) GameRules);

#[pymethods]
impl Rules {
    #[new]
    fn new(name: &str) -> PyResult<Rules> {
        name.parse().map(Rules).map_err(|error: kalah::game::UnknownRules| RulesError::new_err(error.to_string()))
    }

    /// Returns all rule sets.
    #[staticmethod]
    fn all() -> Vec<Rules> {
        GameRules::ALL.into_iter().map(Rules).collect()
    }

    /// The name, as in names of files.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Description of the special rules, in a sentence or two.
    #[getter]
    fn summary(&self) -> &'static str {
        self.0.summary()
    }

    fn __str__(&self) -> &'static str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        format!("Rules('{}')", self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (&'static str,)) {
        (py.get_type::<Rules>().into_any(), (self.0.name(),))
    }
}

/// Arguments may also be the name of a rule set.
impl<'py> FromPyObject<'_, 'py> for Rules {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Rules> {
        object.cast::<Rules>().map_or_else(|_| Rules::new(object.extract()?), |rules| Ok(*rules.get()))
    }
}
