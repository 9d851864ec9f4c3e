use std::collections::VecDeque;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::reader::BoundTable;
use crate::directory::Directory;
use crate::evaluation::Network;
use crate::game::{Bounds, Rules};
use crate::index::{Frame, MAX_TABLE_SEEDS, RowIndex, TableRow, row_seeds};
use crate::table::error::TableError;
use crate::table::key::TableKey;

/// The bound tables of one rule set and number of pits in a directory: consecutive layers with one network.
pub struct BoundTables {
    directory: Directory,
    rows: Arc<RowIndex>,
    /// Fewest seeds first, without a gap; not empty.
    layers: Vec<Arc<BoundTable>>,
}

impl BoundTables {
    /// Opens the bound tables that a search can use together with exact tables up to `exact` seeds (0 without exact
    /// tables). `None` without any.
    ///
    /// Above `exact`, these are the layers up to `max_seeds`, or to the first that is missing or has another network.
    /// Down from `exact`, these are those with the same network, to the first that is missing or unusable. They can
    /// replace exact tables.
    ///
    /// # Errors
    /// When a file above `exact` is damaged, does not match its name, or cannot be read; when no table has `pits` pits.
    pub fn open_around(
        directory: impl Into<Directory>,
        rules: Rules,
        pits: usize,
        exact: usize,
        max_seeds: usize,
    ) -> Result<Option<BoundTables>, TableError> {
        TableError::unless_possible(pits, 0)?;
        let directory = directory.into();
        let open = |seeds| BoundTable::find(&directory, TableKey { rules, pits, seeds });
        let mut layers: VecDeque<Arc<BoundTable>> = VecDeque::new();
        let fits = |layers: &VecDeque<Arc<BoundTable>>, table: &BoundTable| {
            layers.front().is_none_or(|first| first.network() == table.network())
        };
        let most = max_seeds.min(MAX_TABLE_SEEDS);
        for seeds in exact.max(1) + 1..=most {
            match open(seeds)? {
                Some(table) if fits(&layers, &table) => layers.push_back(Arc::new(table)),
                _ => break,
            }
        }
        for seeds in (2..=exact.min(most)).rev() {
            // A search can do without these, so a damaged one does not affect the others.
            match open(seeds) {
                Ok(Some(table)) if fits(&layers, &table) => layers.push_front(Arc::new(table)),
                _ => break,
            }
        }
        Ok(BoundTables::new(directory, layers.into()))
    }

    /// Combines the bound tables of these layers, fewest seeds first; `None` without layers. Panics when they are of
    /// different boards, not consecutive, or made with different networks.
    pub fn new(directory: impl Into<Directory>, layers: Vec<Arc<BoundTable>>) -> Option<BoundTables> {
        let (first, last) = (layers.first()?, layers.last()?);
        for (table, seeds) in layers.iter().zip(first.key().seeds..) {
            let fits = table.key() == TableKey { seeds, ..first.key() } && table.network() == first.network();
            assert!(fits, "{} follows the layers below it", table.path().display());
        }
        let rows = RowIndex::new(last.key().pits, last.key().seeds).expect("the pits and seeds of a table");
        Some(BoundTables { directory: directory.into(), rows: Arc::new(rows), layers })
    }

    /// The directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.layers[0].key().rules
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.rows.pits()
    }

    /// Ranks of the rows.
    pub fn rows(&self) -> &Arc<RowIndex> {
        &self.rows
    }

    /// Seeds of the layers.
    pub fn seeds(&self) -> RangeInclusive<usize> {
        let first = self.layers[0].key().seeds;
        first..=first + self.layers.len() - 1
    }

    /// The network that all of them share.
    pub fn network(&self) -> &Network {
        self.layers[0].network()
    }

    /// The layers, fewest seeds first.
    pub fn layers(&self) -> &[Arc<BoundTable>] {
        &self.layers
    }

    /// The bound table with `seeds` seeds, if it is open.
    #[inline]
    pub fn layer(&self, seeds: usize) -> Option<&BoundTable> {
        seeds.checked_sub(self.layers[0].key().seeds).and_then(|index| self.layers.get(index)).map(|table| &**table)
    }

    /// Bounds of the score of the position with these rows, as far as the table states; `None` if its layer is not
    /// open. If a row is empty, the remaining seeds belong to the owner of the other one. Damage is an error.
    pub fn bounds(&self, mover: &TableRow, other: &TableRow) -> Result<Option<Bounds>, TableError> {
        let frame = Frame { pits: self.pits(), mover: row_seeds(mover), other: row_seeds(other) };
        let seeds = frame.mover + frame.other;
        if frame.mover == 0 || frame.other == 0 {
            let score = frame.mover as u32;
            return Ok(Some(Bounds { lower: score, upper: score }));
        }
        let Some(table) = self.layer(seeds) else { return Ok(None) };
        let code = table.code(frame.mover, self.rows.rank(mover), self.rows.rank(other))?;
        let evaluation = self.network().evaluate(mover, other, seeds as u32);
        Ok(Some(table.bounds_of(frame.mover, code, evaluation)))
    }
}

impl fmt::Debug for BoundTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundTables").field("directory", &self.directory).finish_non_exhaustive()
    }
}
