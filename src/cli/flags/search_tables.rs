//! The tables of a search: exact ones, and bound tables above them.

use std::path::Path;

use kalah::index::MAX_TABLE_SEEDS;
use kalah::table::{BoundTable, BoundTables, TableError, TableKey, Tables, missing_layers};
use kalah::verify::Survey;

use crate::cli::errors::advice;
use crate::cli::output;

/// The tables of a search; none by default.
#[derive(Default)]
pub struct SearchTables {
    tables: Option<Tables>,
    bounds: Option<BoundTables>,
    /// The largest exact layer; 0 for none.
    pub exact: usize,
    /// The largest layer; 0 for none.
    pub reach: usize,
}

/// A note names the layers that are missing below others of an opened directory: those are not used.
pub fn note_gaps(tables: &Tables) {
    if let Err(error) = tables.require_all() {
        output::note(format_args!("the layers above are not used: {error}"));
    }
}

impl SearchTables {
    /// Opens the exact tables in `directory` of the layers up to that of `last`.
    ///
    /// # Errors
    /// When a table is damaged or cannot be read.
    pub fn exact(directory: &Path, last: TableKey) -> Result<SearchTables, TableError> {
        let tables = Tables::open_if_there(directory, last.rules, last.pits, last.seeds)?;
        let exact = tables.max_seeds().unwrap_or(0);
        Ok(SearchTables { tables: Some(tables), bounds: None, exact, reach: exact })
    }

    /// Opens the tables in `directory` that a search uses, of the layers up to that of `last`: exact ones, up to `exact_up_to`
    /// seeds at most, and bound tables above those.
    ///
    /// # Errors
    /// When a table is damaged or cannot be read.
    pub fn open(directory: &Path, last: TableKey, exact_up_to: Option<usize>) -> Result<SearchTables, TableError> {
        let TableKey { rules, pits, seeds } = last;
        let tables = Tables::open_if_there(directory, rules, pits, seeds)?;
        let exact = tables.max_seeds().unwrap_or(0).min(exact_up_to.unwrap_or(MAX_TABLE_SEEDS));
        let bounds = BoundTables::open_around(directory, rules, pits, exact, seeds)?;
        let reach = bounds.as_ref().map_or(exact, |bounds| exact.max(*bounds.seeds().end()));
        Ok(SearchTables { tables: Some(tables), bounds, exact, reach })
    }

    /// The exact tables, if there are any.
    pub fn tables(&self) -> Option<&Tables> {
        self.tables.as_ref().filter(|tables| tables.max_seeds().is_some())
    }

    /// The bound tables, if there are any.
    pub fn bounds(&self) -> Option<&BoundTables> {
        self.bounds.as_ref()
    }

    /// The layers up to `seeds` seeds of which there is no exact table.
    pub fn missing(&self, seeds: usize) -> Vec<usize> {
        self.tables.as_ref().map_or(Vec::new(), |tables| tables.missing(seeds))
    }

    /// A note says why bound tables in `directory`, of larger layers than are used and at most that of `last`, are not used.
    pub fn note_unused(&self, directory: &Path, last: TableKey) {
        let Ok(survey) = Survey::read(directory) else { return };
        let unused = survey.bound_layers(last.rules, last.pits).iter().copied();
        let unused: Vec<usize> = unused.filter(|&seeds| seeds > self.reach && seeds <= last.seeds).collect();
        let (Some(&first), Some(&most)) = (unused.first(), unused.last()) else { return };
        let next = self.reach.max(1) + 1;
        let network = self.bounds().and_then(|bounds| bounds.layers().last());
        let why = match (BoundTable::open_key(directory, TableKey { seeds: next, ..last }), network) {
            (Ok(Some(table)), Some(other)) => {
                let (path, other) = (table.path().to_owned(), other.path().to_owned());
                advice::with_advice(&TableError::Networks { path, other })
            }
            _ => missing_layers(&(next..first).collect::<Vec<_>>()),
        };
        output::note(format_args!("the bound tables of {first} to {most} seeds are not used: {why}"));
    }
}
