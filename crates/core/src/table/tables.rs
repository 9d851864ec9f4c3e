use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::ScopedJoinHandle;

use super::error::TableError;
use super::key::TableKey;
use super::reader::Table;
use crate::cancel::Stopped;
use crate::directory::Directory;
use crate::file;
use crate::game::Rules;
use crate::header::Kind;
use crate::index::{Frame, MAX_TABLE_SEEDS, RowIndex, TableRow, row_seeds};

/// A layer that another thread still makes; `None` once that has failed.
pub type ComingLayer = Arc<OnceLock<Option<Arc<Table>>>>;

/// A layer that is opened when it is first read.
struct LaterLayer {
    open: Box<dyn Fn() -> Result<Table, TableError> + Send + Sync>,
    opened: OnceLock<Table>,
}

impl LaterLayer {
    fn table(&self) -> Result<&Table, TableError> {
        if let Some(table) = self.opened.get() {
            return Ok(table);
        }
        let table = (self.open)()?;
        Ok(self.opened.get_or_init(|| table))
    }
}

/// The tables of one rule set and number of pits in a directory: all layers from 2 seeds up, without a gap.
pub struct Tables {
    directory: Directory,
    rules: Rules,
    rows: Arc<RowIndex>,
    /// The table with `s` seeds at `s - 2`.
    layers: Vec<Arc<Table>>,
    /// The layer after those.
    coming: Option<ComingLayer>,
    /// The layers after those.
    later: Vec<LaterLayer>,
    /// Seeds of the layers that were missing below another one when the directory was listed.
    gaps: Vec<usize>,
}

/// The layers of which a directory has a file of this kind, a table, bound table or archive, by the names. A directory
/// that does not exist has none.
///
/// # Errors
/// When the directory cannot be listed.
pub fn layers_in(directory: &Directory, kind: Kind) -> Result<BTreeSet<TableKey>, TableError> {
    let names = file::found(directory.names()).map_err(TableError::io(directory.name()))?.unwrap_or_default();
    Ok(names.iter().filter_map(|name| TableKey::of_file(kind, Path::new(name))).collect())
}

/// Seeds of the layers that are missing below the last of those with these seeds, which ascend. Layers above a gap are
/// of no use.
pub fn gaps(present: &[usize]) -> Vec<usize> {
    (2..present.last().copied().unwrap_or(2)).filter(|seeds| present.binary_search(seeds).is_err()).collect()
}

impl Tables {
    /// Opens the layers from 2 seeds up to the first that is missing, at most to `max_seeds`. A directory that
    /// does not exist has no layers. Callers that need all layers must also call [`Tables::require_all`].
    ///
    /// # Errors
    /// When the directory cannot be listed; when a table is damaged, does not match its name, or cannot be read;
    /// when `pits` is not 1 to [`MAX_TABLE_PITS`](crate::index::MAX_TABLE_PITS).
    pub fn open(
        directory: impl Into<Directory>,
        rules: Rules,
        pits: usize,
        max_seeds: usize,
    ) -> Result<Tables, TableError> {
        let mut tables = Tables::empty(directory, rules, pits, max_seeds)?;
        let keys = layers_in(&tables.directory, Kind::Table)?;
        let own = keys.into_iter().filter(|key| (key.rules, key.pits) == (rules, pits) && key.seeds <= max_seeds);
        let mut present: Vec<usize> = own.map(|key| key.seeds).collect();
        tables.gaps = gaps(&present);
        present.truncate(tables.gaps.first().map_or(present.len(), |first| first - 2));
        for seeds in present {
            tables.push(Arc::new(Table::open_key(&tables.directory, tables.key(seeds))?))?;
        }
        Ok(tables)
    }

    /// Opens the layers of all boards of which the directory has some.
    ///
    /// # Errors
    /// As [`Tables::open`]; also when a layer is missing below another one.
    pub fn open_all(directory: &Directory) -> Result<Vec<Tables>, TableError> {
        let boards: BTreeSet<_> =
            layers_in(directory, Kind::Table)?.into_iter().map(|key| (key.rules, key.pits)).collect();
        let open = |(rules, pits)| {
            let tables = Tables::open(directory, rules, pits, MAX_TABLE_SEEDS)?;
            tables.require_all().map(|()| tables)
        };
        boards.into_iter().map(open).collect()
    }

    /// Makes tables without layers; those up to `max_seeds` can be added. An error if no table has `pits` pits.
    pub fn empty(
        directory: impl Into<Directory>,
        rules: Rules,
        pits: usize,
        max_seeds: usize,
    ) -> Result<Tables, TableError> {
        TableError::unless_possible(pits, 0)?;
        let rows = RowIndex::new(pits, max_seeds.clamp(2, MAX_TABLE_SEEDS)).expect("the pits of a table");
        Ok(Tables {
            directory: directory.into(),
            rules,
            rows: Arc::new(rows),
            layers: Vec::new(),
            coming: None,
            later: Vec::new(),
            gaps: Vec::new(),
        })
    }

    /// Adds the next layer; an error if `table` is another one, or the layer below has failed.
    pub fn push(&mut self, table: Arc<Table>) -> Result<(), TableError> {
        self.await_coming()?;
        let expected = self.key(self.max_seeds().map_or(2, |seeds| seeds + 1));
        TableError::unless_expected(Kind::Table, table.path(), table.key(), expected)?;
        assert!(self.later.is_empty(), "layers that are opened later are the last");
        self.layers.push(table);
        Ok(())
    }

    /// Adds the next layer while another thread makes it. Until one more is added, only [`Tables::require`] returns it.
    /// An error if the layer below has failed.
    pub fn push_coming(&mut self, layer: ComingLayer) -> Result<(), TableError> {
        self.await_coming()?;
        self.coming = Some(layer);
        Ok(())
    }

    /// Adds the next layer, which `open` opens when it is first read. Only such layers may follow.
    pub fn push_later(&mut self, open: impl Fn() -> Result<Table, TableError> + Send + Sync + 'static) {
        self.later.push(LaterLayer { open: Box::new(open), opened: OnceLock::new() });
    }

    /// Waits for the layer that another thread makes, if there is one.
    fn await_coming(&mut self) -> Result<(), TableError> {
        let Some(coming) = self.coming.take() else { return Ok(()) };
        self.push(coming.wait().clone().ok_or(Stopped)?)
    }

    /// The layer that another thread still makes, if one was added last.
    pub fn coming(&self) -> Option<&ComingLayer> {
        self.coming.as_ref()
    }

    /// The directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.rows.pits()
    }

    /// Ranks of the rows.
    pub fn rows(&self) -> &Arc<RowIndex> {
        &self.rows
    }

    /// Seeds of the largest layer; `None` if there is no layer.
    pub fn max_seeds(&self) -> Option<usize> {
        let layers = self.layers.len() + self.later.len();
        (layers > 0).then_some(layers + 1)
    }

    /// Key of the table with `seeds` seeds.
    pub fn key(&self, seeds: usize) -> TableKey {
        TableKey { rules: self.rules, pits: self.pits(), seeds }
    }

    /// The open layers, from 2 seeds up.
    pub fn layers(&self) -> &[Arc<Table>] {
        &self.layers
    }

    /// The table with `seeds` seeds, if it is open.
    #[inline]
    pub fn layer(&self, seeds: usize) -> Option<&Table> {
        seeds.checked_sub(2).and_then(|index| self.layers.get(index)).map(|table| &**table)
    }

    /// Layers up to `seeds` that are not in the directory, fewest seeds first.
    pub fn missing(&self, seeds: usize) -> Vec<usize> {
        let first = self.max_seeds().map_or(2, |max| max + 1);
        let is_missing = |&seeds: &usize| !self.key(seeds).is_in(&self.directory);
        (first..=seeds.min(MAX_TABLE_SEEDS)).filter(is_missing).collect()
    }

    /// Seeds of the layers that were missing below another one when the directory was
    /// listed. Layers above a gap are not open.
    pub fn gaps(&self) -> &[usize] {
        &self.gaps
    }

    /// Returns an error that names the [`Tables::gaps`] if there are any.
    pub fn require_all(&self) -> Result<(), TableError> {
        let Some(&last) = self.gaps.last() else { return Ok(()) };
        Err(TableError::Missing { directory: self.directory.clone(), key: self.key(last), missing: self.gaps.clone() })
    }

    /// The table with `seeds` seeds. Waits for it if another thread makes it. An error names the missing layers.
    pub fn require(&self, seeds: usize) -> Result<&Table, TableError> {
        self.layer(seeds).map_or_else(|| self.require_other(seeds), Ok)
    }

    /// The same for a table that is not open.
    fn require_other(&self, seeds: usize) -> Result<&Table, TableError> {
        if let Some(coming) = self.coming.as_ref().filter(|_| seeds == self.layers.len() + 2) {
            return Ok(coming.wait().as_deref().ok_or(Stopped)?);
        }
        if let Some(later) = seeds.checked_sub(self.layers.len() + 2).and_then(|index| self.later.get(index)) {
            return later.table();
        }
        let (directory, mut missing) = (self.directory.clone(), self.missing(seeds));
        // The files were made after these tables were opened, or `seeds` is beyond all tables.
        if missing.is_empty() {
            missing.push(seeds);
        }
        Err(TableError::Missing { directory, key: self.key(seeds), missing })
    }

    /// Score of the position with these rows: the seeds in play that the mover still collects. If a row is empty, the
    /// remaining seeds belong to the owner of the other one.
    ///
    /// # Errors
    /// When the layer of the position is missing, or its table is damaged there.
    #[inline]
    pub fn score_rows(&self, mover: &TableRow, other: &TableRow) -> Result<u8, TableError> {
        let frame = Frame { pits: self.pits(), mover: row_seeds(mover), other: row_seeds(other) };
        if frame.mover == 0 || frame.other == 0 {
            return Ok(frame.mover as u8);
        }
        let table = self.require(frame.mover + frame.other)?;
        let (mover_rank, other_rank) = (self.rows.rank(mover), self.rows.rank(other));
        table.score(frame.mover, mover_rank, other_rank)
    }

    /// Reads ahead what the scores of these positions need from other machines, all of it together. Each position is
    /// given by its rows; those that no layer has are left out. Does nothing if the tables are on this machine.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn request(&self, positions: &[(TableRow, TableRow)]) -> Result<(), TableError> {
        let most = self.max_seeds().filter(|_| self.is_remote()).unwrap_or(0);
        self.request_ranks(positions.iter().filter_map(|(mover, other)| {
            let (mover_seeds, other_seeds) = (row_seeds(mover), row_seeds(other));
            let is_there = mover_seeds > 0 && other_seeds > 0 && mover_seeds + other_seeds <= most;
            let ranks = || (mover_seeds, self.rows.rank(mover), self.rows.rank(other));
            is_there.then(|| (mover_seeds + other_seeds, ranks()))
        }))
    }

    /// The same for positions of the layers, given by the seeds in play, those in the mover's row, and the ranks of the
    /// rows.
    pub fn request_ranks(
        &self,
        positions: impl IntoIterator<Item = (usize, (usize, u32, u32))>,
    ) -> Result<(), TableError> {
        let mut wanted: BTreeMap<usize, Vec<(usize, u32, u32)>> = BTreeMap::new();
        for (seeds, position) in positions {
            wanted.entry(seeds).or_default().push(position);
        }
        wanted.retain(|&seeds, _| self.layer(seeds).is_none_or(|table| table.blocks().is_remote()));
        let request = |seeds, positions: &[(usize, u32, u32)]| self.require(seeds)?.request(positions);
        // A browser has no threads here. Its page fetches what all of these requests lack.
        if cfg!(target_family = "wasm") {
            return wanted.iter().map(|(&seeds, positions)| request(seeds, positions)).fold(Ok(()), Result::and);
        }
        let Some((last, positions)) = wanted.pop_last() else { return Ok(()) };
        // The origin answers several tables at once.
        std::thread::scope(|scope| {
            let others: Vec<_> =
                wanted.iter().map(|(&seeds, positions)| scope.spawn(move || request(seeds, positions))).collect();
            let requested = request(last, &positions);
            let join = |other: ScopedJoinHandle<'_, _>| other.join().expect("a request does not panic");
            others.into_iter().map(join).fold(requested, Result::and)
        })
    }

    /// Returns true if tables are on another machine.
    pub fn is_remote(&self) -> bool {
        !self.later.is_empty() || self.layers.iter().any(|layer| layer.blocks().is_remote())
    }

    /// Seeds of the largest layer that, like all below it, is on this machine as a whole, so that a search may read all
    /// of it; 0 for none.
    pub fn local_seeds(&self) -> usize {
        let is_local = |table: &&Arc<Table>| table.blocks().is_resident() || !table.blocks().is_remote();
        let local = self.layers.iter().take_while(is_local).count();
        if local == 0 { 0 } else { local + 1 }
    }
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").field("directory", &self.directory).field("rules", &self.rules).finish_non_exhaustive()
    }
}
