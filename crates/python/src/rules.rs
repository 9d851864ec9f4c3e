//! The class `Rules`.

use kalah::game::Rules as GameRules;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::argument::{Integer, Text};
use crate::errors::python::RulesError;

/// A rule set: the effect of the last seed of a sowing.
///
/// `Rules(name)` takes one of the names 'empty-capture', 'standard', 's-kalaha' and 'single-move', in upper or
/// lower case. Functions that take a rule set accept its name too. Raises RulesError for any other name.
#[pyclass(module = "kalah", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rules(pub(crate) GameRules);

#[pymethods]
impl Rules {
    #[new]
    fn new(name: Text) -> PyResult<Rules> {
        name.0.parse().map(Rules).map_err(|error: kalah::game::UnknownRules| RulesError::new_err(error.to_string()))
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

    /// Players and programs that use these rules, in a few words.
    #[getter]
    fn played_by(&self) -> &'static str {
        self.0.played_by()
    }

    /// True if the mover moves again after a last seed in their store.
    #[getter]
    fn moves_again(&self) -> bool {
        self.0.moves_again()
    }

    /// True if a last seed in a pit that holds seeds picks all of them up and the sowing goes on.
    #[getter]
    fn relays(&self) -> bool {
        self.0.relays()
    }

    /// Returns True if a last seed in an empty pit of the mover is captured when the opposite pit holds this
    /// many seeds. Raises ArgumentError if no pit can hold that many.
    fn captures(&self, opposite: Integer) -> PyResult<bool> {
        Ok(self.0.captures(opposite.within("opposite", 0..=i32::MAX as u32)?))
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

/// A rule set as an argument: a `Rules`, or its name.
#[derive(Clone, Copy, Default)]
pub(crate) struct RulesArgument(pub(crate) GameRules);

impl<'py> FromPyObject<'_, 'py> for RulesArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<RulesArgument> {
        if let Ok(rules) = object.cast::<Rules>() {
            return Ok(RulesArgument(rules.get().0));
        }
        match object.cast::<PyString>() {
            Ok(name) => Ok(RulesArgument(Rules::new(Text(name.to_string_lossy().into_owned()))?.0)),
            Err(_) => {
                Err(PyTypeError::new_err(format!("a rule set is a kalah.Rules or a name, not {}", object.get_type())))
            }
        }
    }
}
