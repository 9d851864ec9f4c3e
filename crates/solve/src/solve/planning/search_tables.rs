use kalah_core::directories::Directories;
use kalah_core::index::MAX_TABLE_SEEDS;
use kalah_core::table::{BoundTable, BoundTables, Opening, TableError, TableKey, Tables};
use kalah_tables::verify::Survey;

/// The tables of a search: exact ones, and bound tables above them. Empty by default.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SearchTables {
    tables: Option<Tables>,
    bounds: Option<BoundTables>,
    /// The largest exact layer; 0 for none.
    pub exact: usize,
    /// The largest layer; 0 for none.
    pub reach: usize,
}

/// Existing bound tables that a search does not use.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnusedBounds {
    /// Seeds of the smallest of these layers.
    pub first: usize,
    /// Seeds of the largest of these layers.
    pub last: usize,
    /// The reason.
    pub reason: Unused,
}

/// Reason why a search does not use some bound tables.
#[derive(Debug)]
pub enum Unused {
    /// They have another evaluation network than those in use.
    Network(TableError),
    /// These layers below them are missing.
    Missing(Vec<usize>),
}

impl SearchTables {
    /// Opens the exact tables in `directories` up to the layer of `last`.
    ///
    /// # Errors
    /// If a table is damaged or cannot be read.
    pub fn exact(directories: impl Into<Directories>, last: TableKey) -> Result<SearchTables, TableError> {
        let tables = Tables::open(directories, last.rules, last.pits, Opening::to(last.seeds).if_there())?;
        let exact = tables.max_seeds().unwrap_or(0);
        Ok(SearchTables { tables: Some(tables), bounds: None, exact, reach: exact })
    }

    /// Opens the tables in `directories` that a search uses, up to the layer of `last`: exact tables, with at
    /// most `exact_up_to` seeds, and bound tables above those.
    ///
    /// # Errors
    /// If a table is damaged or cannot be read.
    pub fn open(
        directories: impl Into<Directories>,
        last: TableKey,
        exact_up_to: Option<usize>,
    ) -> Result<SearchTables, TableError> {
        let directories = directories.into();
        let TableKey { rules, pits, seeds } = last;
        let tables = Tables::open(&directories, rules, pits, Opening::to(seeds).if_there())?;
        let exact = tables.max_seeds().unwrap_or(0).min(exact_up_to.unwrap_or(MAX_TABLE_SEEDS));
        let bounds = BoundTables::open_around(directories, rules, pits, exact, seeds)?;
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

    /// The layers up to `seeds` seeds without an exact table.
    pub fn missing(&self, seeds: usize) -> Vec<usize> {
        self.tables.as_ref().map_or(Vec::new(), |tables| tables.missing(seeds))
    }

    /// The bound tables in `directories` of layers above those in use, up to the layer of `last`, if there are
    /// any.
    pub fn unused_bounds(&self, directories: &Directories, last: TableKey) -> Option<UnusedBounds> {
        let survey = Survey::read(directories).ok()?;
        let unused = survey.bound_layers(last.rules, last.pits).iter().copied();
        let unused: Vec<usize> = unused.filter(|&seeds| seeds > self.reach && seeds <= last.seeds).collect();
        let (&first, &most) = (unused.first()?, unused.last()?);
        let next = self.reach.max(1) + 1;
        let network = self.bounds().and_then(|bounds| bounds.layers().last());
        let reason = match (BoundTable::open_key(directories, TableKey { seeds: next, ..last }), network) {
            (Ok(Some(table)), Some(other)) => {
                Unused::Network(TableError::Networks { path: table.path().to_owned(), other: other.path().to_owned() })
            }
            _ => Unused::Missing((next..first).collect()),
        };
        Some(UnusedBounds { first, last: most, reason })
    }
}
