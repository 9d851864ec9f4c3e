use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::bounds::{BoundTable, BoundTables};
use super::error::TableError;
use super::key::TableKey;
use super::probe::{Probe, ProbeError};
use super::reader::Table;
use super::tables::{Tables, gaps};
use crate::directory::Directory;
use crate::game::{Position, Rules};
use crate::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};

/// The tables of all rules and boards in a directory, each opened on first use and kept open: see [`Table::open`].
///
/// A damaged layer ends the tables of its board, as a missing one does: positions above it must be searched. If a bound
/// table above them is damaged, none of the board are used. [`AllTables::list`] names what is damaged.
#[derive(Debug)]
pub struct AllTables {
    directory: Directory,
    /// By rules and pits.
    opened: [[OnceLock<Opened>; MAX_TABLE_PITS]; Rules::ALL.len()],
}

/// The tables of a board.
#[derive(Debug)]
struct Opened {
    exact: Tables,
    /// Bound tables of the layers above.
    bounds: Option<BoundTables>,
}

/// The contents of a directory, by the names of the rules, pits and seeds.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Listing {
    /// The tables.
    pub tables: Vec<Table>,
    /// The bound tables.
    pub bounds: Vec<BoundTable>,
    /// Names of tables and bound tables that cannot be used, with the reason; larger ones are not used either.
    pub damaged: Vec<(String, TableError)>,
}

impl Listing {
    /// Opens all tables and bound tables of `directory`; an error if it cannot be listed.
    pub fn read(directory: &Directory) -> std::io::Result<Listing> {
        let mut listing = Listing::default();
        for name in directory.names()? {
            let opened = match Path::new(&name).extension().and_then(OsStr::to_str) {
                Some("kalah") => Table::open_in(directory, &name).map(|table| listing.tables.push(table)),
                Some("bounds") => BoundTable::open_in(directory, &name).map(|table| listing.bounds.push(table)),
                _ => continue,
            };
            listing.damaged.extend(opened.err().map(|error| (name, error)));
        }
        let by_board = |key: TableKey| (key.rules.name(), key.pits, key.seeds);
        listing.tables.sort_by_key(|table| by_board(table.key()));
        listing.bounds.sort_by_key(|table| by_board(table.key()));
        listing.damaged.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(listing)
    }

    /// Boards with layers that are missing below another one, and the seeds of these layers. Damaged layers are not
    /// missing.
    pub fn gaps(&self) -> Vec<(Rules, usize, Vec<usize>)> {
        let mut boards: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
        let damaged = self.damaged.iter().filter_map(|(name, _)| TableKey::named(Path::new(name)));
        for TableKey { rules, pits, seeds } in self.tables.iter().map(Table::key).chain(damaged) {
            boards.entry((rules.name(), pits, rules.index())).or_default().insert(seeds);
        }
        let gaps = |((_, pits, rules), seeds): (_, BTreeSet<usize>)| {
            (Rules::ALL[rules], pits, gaps(&seeds.into_iter().collect::<Vec<_>>()))
        };
        boards.into_iter().map(gaps).filter(|(.., missing)| !missing.is_empty()).collect()
    }
}

impl AllTables {
    /// Prepares the tables in `directory`, if any.
    pub fn new(directory: impl Into<Directory>) -> AllTables {
        let opened = [const { [const { OnceLock::new() }; MAX_TABLE_PITS] }; Rules::ALL.len()];
        AllTables { directory: directory.into(), opened }
    }

    /// Collects opened tables, at most one set for each board. No other board has tables.
    pub fn of(tables: impl IntoIterator<Item = Tables>) -> AllTables {
        let all_tables = AllTables::new(PathBuf::new());
        for exact in tables {
            let place = &all_tables.opened[exact.rules().index()][exact.pits() - 1];
            place.get_or_init(|| Opened { exact, bounds: None });
        }
        for rules in Rules::ALL {
            for (pits, place) in (1..).zip(&all_tables.opened[rules.index()]) {
                let none = || Tables::empty(&all_tables.directory, rules, pits, 2).expect("pits of a table");
                place.get_or_init(|| Opened { exact: none(), bounds: None });
            }
        }
        all_tables
    }

    /// The directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The tables of a board; `None` without any.
    pub fn tables(&self, rules: Rules, pits: usize) -> Option<&Tables> {
        self.opened(rules, pits).map(|opened| &opened.exact).filter(|exact| exact.max_seeds().is_some())
    }

    /// The bound tables of a board above its tables, as far as they share one network; `None` without any.
    pub fn bounds(&self, rules: Rules, pits: usize) -> Option<&BoundTables> {
        self.opened(rules, pits)?.bounds.as_ref()
    }

    /// The tables of a board, opened if necessary; `None` if no table can have this number of pits.
    fn opened(&self, rules: Rules, pits: usize) -> Option<&Opened> {
        let place = self.opened[rules.index()].get(pits.checked_sub(1)?)?;
        Some(place.get_or_init(|| {
            let mut exact = Tables::empty(&self.directory, rules, pits, MAX_TABLE_SEEDS).expect("pits of a table");
            for seeds in 2..=MAX_TABLE_SEEDS {
                let table = Table::find(&self.directory, TableKey { rules, pits, seeds });
                let Ok(Some(table)) = table else { break };
                exact.push(Arc::new(table)).expect("it follows the one below");
            }
            let (below, most) = (exact.max_seeds().unwrap_or(1), MAX_TABLE_SEEDS);
            let bounds = BoundTables::open_around(&self.directory, rules, pits, below, most);
            let bounds = bounds.ok().flatten().filter(|bounds| *bounds.seeds().end() > below);
            Opened { exact, bounds }
        }))
    }

    /// Returns true if the tables contain `position`.
    pub fn reaches(&self, rules: Rules, position: &Position) -> bool {
        let most = self.tables(rules, position.pits()).and_then(Tables::max_seeds);
        position.is_over() || most.is_some_and(|most| position.seeds() as usize <= most)
    }

    /// Looks up `position` in the tables; `None` if it is above them. A damaged table is an error.
    pub fn probe(&self, rules: Rules, position: &Position) -> Result<Option<Probe>, TableError> {
        let Some(tables) = self.tables(rules, position.pits()) else { return Ok(None) };
        ProbeError::unless_above(tables.probe(position))
    }

    /// Lists the current contents of the directory; an error if it cannot be listed.
    pub fn list(&self) -> std::io::Result<Listing> {
        Listing::read(&self.directory.clone().reading_files())
    }
}
