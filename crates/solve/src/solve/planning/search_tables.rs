use std::path::Path;
use std::sync::OnceLock;

use kalah_base::progress::Pulse;
use kalah_core::cancel::Cancel;
use kalah_core::directory::Directory;
use kalah_core::evaluation::{Network, NetworkError, PhasedNetwork};
use kalah_core::file::InFile;
use kalah_core::game::{Position, Rules};
use kalah_core::header::Kind;
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions};
use kalah_core::table::{BoundTable, BoundTables, TableError, TableKey, Tables, layers_in};
use kalah_tables::builder::{BuildError, MemoryBuilder};

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

impl SearchTables {
    /// Opens the exact tables in `directory` up to the layer of `last`.
    ///
    /// # Errors
    /// If a table is damaged or cannot be read.
    pub fn exact(directory: impl Into<Directory>, last: TableKey) -> Result<SearchTables, TableError> {
        let tables = Tables::open(directory, last.rules, last.pits, last.seeds)?;
        let exact = tables.max_seeds().unwrap_or(0);
        Ok(SearchTables { tables: Some(tables), exact, reach: exact, ..SearchTables::default() })
    }

    /// Opens the tables in `directory` that a search uses, up to the layer of `last`: exact tables, with at
    /// most `exact_up_to` seeds, and bound tables above those.
    ///
    /// # Errors
    /// If a table is damaged or cannot be read.
    pub fn open(
        directory: impl Into<Directory>,
        last: TableKey,
        exact_up_to: Option<usize>,
    ) -> Result<SearchTables, TableError> {
        let directory = directory.into();
        let TableKey { rules, pits, seeds } = last;
        let tables = Tables::open(&directory, rules, pits, seeds)?;
        let exact = tables.max_seeds().unwrap_or(0).min(exact_up_to.unwrap_or(MAX_TABLE_SEEDS));
        let bounds = BoundTables::open_around(&directory, rules, pits, exact, seeds)?;
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

/// The evaluation network for new bound tables in `bounds`, made from the exact tables in `tables`: that of existing
/// bound tables, since a search uses bound tables of one network only, or else that of the directory of the exact
/// tables, or the shipped one. `None` if there is no network.
///
/// # Errors
/// If the network beside the exact tables cannot be read.
pub fn bound_network(
    tables: &Path,
    bounds: &Path,
    rules: Rules,
    pits: usize,
) -> Result<Option<Network>, InFile<NetworkError>> {
    let keys = layers_in(&bounds.into(), Kind::BoundTable).unwrap_or_default();
    let mut own = keys.into_iter().filter(|key| (key.rules, key.pits) == (rules, pits));
    match own.find_map(|key| BoundTable::find(bounds, key).ok().flatten()) {
        Some(table) => Ok(Some(table.network().clone())),
        None => Ok(PhasedNetwork::find(tables, rules, pits)?.map(|found| found.first().clone())),
    }
}
