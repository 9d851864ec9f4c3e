//! The Python package `kalah`, over the crates `kalah` and `kalah-core`. Its Python part (`python/kalah`)
//! re-exports the classes and functions of this module. docs/python.md describes the package.
//!
//! | module | contents |
//! |---|---|
//! | [`errors`] | Python exceptions for the errors of the library; numbers and times as arguments |
//! | [`array`] | arrays as arguments and results, and memory for them |
//! | [`waiting`] | long work without the interpreter's lock: progress, Ctrl-C, threads |
//! | [`rules`] | the class `Rules` |
//! | [`position`] | the classes `Position` and `Line` |
//! | [`results`] | results of calls |
//! | [`rows`] | rows of positions in arrays, and locating them in tables |
//! | [`bulk`] | scores of many positions and of their moves, ranks, whole layers |
//! | [`sampling`] | random positions |
//! | [`tables`] | the class `Tables` |
//! | [`remote`] | tables at an address |
//! | [`filesystem`] | tables in a file system of fsspec |
//! | [`build`] | building tables |
//! | [`solver`] | the class `Solver` |
//! | [`player`] | the class `Player` |

// Rust code cannot use these types.
#![allow(missing_debug_implementations)]

use pyo3::prelude::*;

mod array;
mod build;
mod bulk;
mod errors;
mod filesystem;
mod player;
mod position;
mod remote;
mod results;
mod rows;
mod rules;
mod sampling;
mod solver;
mod tables;
mod waiting;

/// The compiled part of the package `kalah`.
#[pymodule(name = "_kalah")]
mod module {
    #[pymodule_export]
    use super::build::build;
    #[pymodule_export]
    use super::player::Player;
    #[pymodule_export]
    use super::position::{Line, Position};
    #[pymodule_export]
    use super::remote::is_address;
    #[pymodule_export]
    use super::results::Document;
    #[pymodule_export]
    use super::rules::Rules;
    #[pymodule_export]
    use super::solver::Solver;
    #[pymodule_export]
    use super::tables::{Tables, layer_positions};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        load(module.py())?;
        // SAFETY: nothing here writes to finished tables. The documentation of `Tables` states the rules for
        // their files, and `mapped=False` does without mappings.
        unsafe { kalah::table::map_files() };
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("MAX_TABLE_PITS", kalah::index::MAX_TABLE_PITS)?;
        module.add("MAX_TABLE_SEEDS", kalah::index::MAX_TABLE_SEEDS)
    }
}

/// Imports everything that this module uses from others. Otherwise its first calls do so, and Ctrl-C at that
/// moment would cause a panic.
fn load(py: Python<'_>) -> PyResult<()> {
    errors::python::load(py)?;
    array::load(py)
}
