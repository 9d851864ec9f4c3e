use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::error::TableError;
use super::key::TableKey;
use super::probe::{Probe, ProbeError};
use super::reader::Table;
use super::tables::Tables;
use crate::game::{Position, Rules};
use crate::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};

/// The tables of all rules and boards in a directory, each opened on first use and kept open.
///
/// A damaged layer ends the tables of its board, just as a missing one does: positions above it must be searched.
///
/// The files are mapped: see [`Table::open`] for what must not happen to them.
#[derive(Debug)]
pub struct Shelf {
    directory: PathBuf,
    /// By rules and pits.
    opened: [[OnceLock<Tables>; MAX_TABLE_PITS]; Rules::ALL.len()],
}

/// What is in the directory.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Listing {
    /// The tables, with their positions and bytes.
    pub tables: Vec<(TableKey, u64, u64)>,
    /// The names of files that cannot be used, and why.
    pub damaged: Vec<(String, String)>,
}

impl Shelf {
    /// The tables in `directory`, if any.
    pub fn new(directory: PathBuf) -> Shelf {
        Shelf { directory, opened: [const { [const { OnceLock::new() }; MAX_TABLE_PITS] }; Rules::ALL.len()] }
    }

    /// The tables of a board; `None` if there are none.
    pub fn tables(&self, rules: Rules, pits: usize) -> Option<&Tables> {
        let place = self.opened[rules.index()].get(pits.checked_sub(1)?)?;
        let tables = place.get_or_init(|| {
            let mut tables = Tables::empty(&self.directory, rules, pits, MAX_TABLE_SEEDS);
            for seeds in 2..=MAX_TABLE_SEEDS {
                let table = Table::open_key(&self.directory, TableKey { rules, pits, seeds });
                if table.and_then(|table| tables.push(Arc::new(table))).is_err() {
                    break;
                }
            }
            tables
        });
        tables.max_seeds().map(|_| tables)
    }

    /// Whether the tables contain `position`.
    pub fn reaches(&self, rules: Rules, position: &Position) -> bool {
        let most = self.tables(rules, position.pits()).and_then(Tables::max_seeds);
        position.is_over() || most.is_some_and(|most| position.seeds() as usize <= most)
    }

    /// What the tables contain about `position`; `None` if it is above them.
    ///
    /// # Errors
    /// When a table is damaged.
    pub fn probe(&self, rules: Rules, position: &Position) -> Result<Option<Probe>, TableError> {
        let Some(tables) = self.tables(rules, position.pits()) else { return Ok(None) };
        match tables.probe(position) {
            Ok(probe) => Ok(Some(probe)),
            Err(ProbeError::Table(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// What is in the directory now.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn list(&self) -> std::io::Result<Listing> {
        let mut listing = Listing { tables: Vec::new(), damaged: Vec::new() };
        for file in std::fs::read_dir(&self.directory)? {
            let path = file?.path();
            if path.extension() != Some(OsStr::new("kalah")) {
                continue;
            }
            match Table::open(&path) {
                Ok(table) => listing.tables.push((table.key(), table.header().positions, table.header().file_bytes)),
                Err(error) => {
                    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    listing.damaged.push((name, error.to_string()));
                }
            }
        }
        listing.tables.sort_by_key(|(key, ..)| (key.rules.name(), key.pits, key.seeds));
        listing.damaged.sort();
        Ok(listing)
    }
}
