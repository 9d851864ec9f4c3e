use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kalah_base::progress::Pulse;
use kalah_core::cancel::Cancel;
use kalah_core::directories::Directories;
use kalah_core::evaluation::{Network, NetworkFileError, PhasedNetwork};
use kalah_core::game::{Position, Rules};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions};
use kalah_core::table::{BoundTable, BoundTables, Opening, TableError, TableKey, Tables};
use kalah_tables::builder::{BuildError, MemoryBuilder};
use kalah_tables::verify::Survey;

/// Positions of the tables made in memory for a search from [`FEW_SEEDS`] or fewer: with 6 pits, those to 11 seeds.
const FEW_POSITIONS: u64 = 1 << 21;

/// See [`FEW_POSITIONS`].
const FEW_SEEDS: u32 = 24;

/// Number of further seeds that doubles these positions: searches grow as fast.
const DOUBLED_BY: u32 = 4;

/// Maximum of doublings: with 6 pits, tables to 18 seeds, which take half a second and 45 MB.
const MOST_DOUBLINGS: u32 = 6;

/// The tables of a search: exact ones, and bound tables above them, or those made in memory. Empty by default.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SearchTables {
    tables: Option<Tables>,
    bounds: Option<BoundTables>,
    /// Tables that [`SearchTables::make`] made.
    made: OnceLock<MemoryBuilder>,
    /// The largest exact layer that was opened; 0 for none.
    pub exact: usize,
    /// The largest layer that was opened; 0 for none.
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
    /// The reason: they have another evaluation network than those in use, or layers below them are missing.
    pub reason: TableError,
}

impl SearchTables {
    /// Opens the exact tables in `directories` up to the layer of `last`.
    ///
    /// # Errors
    /// If a table is damaged or cannot be read.
    pub fn exact(directories: impl Into<Directories>, last: TableKey) -> Result<SearchTables, TableError> {
        let tables = Tables::open(directories, last.rules, last.pits, Opening::to(last.seeds).if_there())?;
        let exact = tables.max_seeds().unwrap_or(0);
        Ok(SearchTables { tables: Some(tables), exact, reach: exact, ..SearchTables::default() })
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
        Ok(SearchTables { tables: Some(tables), bounds, made: OnceLock::new(), exact, reach })
    }

    /// Makes tables in memory that pay for themselves in a search of `position` that is not a small one: more for more
    /// seeds in play. Makes none of boards without tables.
    ///
    /// # Errors
    /// If there is not enough memory, or `cancel` was cancelled.
    pub fn make(&self, rules: Rules, position: &Position, cancel: &Cancel) -> Result<(), BuildError> {
        let (pits, doublings) = (position.pits(), position.seeds().saturating_sub(FEW_SEEDS) / DOUBLED_BY);
        if pits > MAX_TABLE_PITS {
            return Ok(());
        }
        let seeds = seeds_within(pits, FEW_POSITIONS << doublings.min(MOST_DOUBLINGS)).min(position.seeds() as usize);
        let mut builder = MemoryBuilder::new(TableKey { rules, pits, seeds })?;
        let pulse = Pulse::new(cancel.clone());
        while builder.build_layer(&pulse)?.is_some() {}
        self.made.get_or_init(|| builder);
        Ok(())
    }

    /// The exact tables, if there are any.
    pub fn tables(&self) -> Option<&Tables> {
        let tables = self.made.get().map(MemoryBuilder::tables).or(self.tables.as_ref());
        tables.filter(|tables| tables.max_seeds().is_some())
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
        let unused = survey.bound_layers(last.rules, last.pits).into_iter();
        let unused: Vec<usize> = unused.filter(|&seeds| seeds > self.reach && seeds <= last.seeds).collect();
        let (&first, &most) = (unused.first()?, unused.last()?);
        let next = self.reach.max(1) + 1;
        let network = self.bounds().and_then(|bounds| bounds.layers().last());
        let reason = match (BoundTable::open_key(directories, TableKey { seeds: next, ..last }), network) {
            (Ok(Some(table)), Some(other)) => {
                TableError::Networks { path: table.path().to_owned(), other: other.path().to_owned() }
            }
            _ => {
                let (directories, key) = (directories.clone(), TableKey { seeds: next, ..last });
                TableError::Missing { directories, key, missing: (next..first).collect() }
            }
        };
        Some(UnusedBounds { first, last: most, reason })
    }
}

/// Seeds of the largest layer such that all layers up to it have at most `positions` positions, and at least 2.
pub fn seeds_within(pits: usize, positions: u64) -> usize {
    let mut all = 0;
    let fits = |&seeds: &usize| {
        all += layer_positions(pits, seeds);
        all <= positions
    };
    (2..=MAX_TABLE_SEEDS).take_while(fits).last().unwrap_or(2)
}

/// The evaluation network for new bound tables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BoundNetwork {
    /// The network.
    pub network: Network,
    /// The bound table that this network comes from, if the network of the tables' directory or the shipped one
    /// is not used because of it.
    pub instead: Option<PathBuf>,
}

impl BoundNetwork {
    /// Finds the network for new bound tables in `bounds`, made from the exact tables in `tables`. It is that
    /// of the existing bound tables, since a search uses bound tables of one network only. Without any, it is
    /// that of the directory of the exact tables, or the shipped one. `None` if there is no network.
    ///
    /// # Errors
    /// If the network beside the exact tables cannot be read.
    pub fn find(
        tables: &Path,
        bounds: &Path,
        rules: Rules,
        pits: usize,
    ) -> Result<Option<BoundNetwork>, NetworkFileError> {
        let usual = PhasedNetwork::find(tables, rules, pits)?.map(|found| found.first().clone());
        let there = bound_tables(bounds, rules, pits);
        let is_usual = |table: &BoundTable| usual.as_ref() == Some(table.network());
        Ok(match there.first().filter(|_| !there.iter().any(is_usual)) {
            Some(first) => {
                let instead = usual.is_some().then(|| first.path().to_owned());
                Some(BoundNetwork { network: first.network().clone(), instead })
            }
            None => usual.map(|network| BoundNetwork { network, instead: None }),
        })
    }
}

/// The bound tables of a board in `directory` that can be opened, fewest seeds first.
pub fn bound_tables(directory: &Path, rules: Rules, pits: usize) -> Vec<BoundTable> {
    let survey = Survey::read(directory).unwrap_or_default();
    let keys = survey.bound_layers(rules, pits).into_iter().map(|seeds| TableKey { rules, pits, seeds });
    keys.filter_map(|key| BoundTable::open_key(directory, key).ok().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_made_in_memory_are_larger_for_larger_searches() {
        let made = |rows: &str| {
            let (tables, position) = (SearchTables::default(), rows.parse().unwrap());
            tables.make(Rules::Standard, &position, &Cancel::new()).unwrap();
            tables.tables().and_then(Tables::max_seeds)
        };
        assert_eq!([made("3x1"), made("6x2"), made("6x3"), made("9x2")], [Some(6), Some(11), Some(14), None]);
        let cancel = Cancel::new();
        cancel.cancel();
        let (tables, position) = (SearchTables::default(), "6x2".parse().unwrap());
        assert!(matches!(tables.make(Rules::Standard, &position, &cancel), Err(BuildError::Stopped(_))));
        assert!(tables.tables().is_none());
    }
}
