use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use kalah_core::game::Rules;
use kalah_core::index::{Frame, layer_positions};
use kalah_core::isa::Isa;

use super::backend::Backend;
use super::computer::Computer;
use super::error::BuildError;
use super::event::Event;
use super::finishing::{Finishing, clean};
use super::log::BuildRecord;
use super::sizes::packed_bytes;
use super::writer::write_frames;
use crate::progress::Pulse;
use crate::system::available_memory;
use crate::table::{
    BoundMaker, BoundTable, CompleteTable, DirectoryLock, LayerFiles, PairKey, Piece, Table, TableError, TableKey,
    TableWriter, Tables, check_blocks_in_parallel, check_in_parallel, remove_partial, remove_piece,
};

/// What a build did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildReport {
    /// Layers that existed already.
    pub kept: usize,
    /// Layers built or completed.
    pub built: Vec<BuildRecord>,
}

/// Builds the tables of one rule set and board in a directory.
///
/// Existing layers and frames are kept, and pieces that other processes left are used (see [`super::PairBuilder`]). The
/// files depend only on rules, pits and seeds.
#[derive(Clone, Debug)]
pub struct Builder<'a> {
    directory: &'a Path,
    rules: Rules,
    pits: usize,
    seeds: usize,
    backend: Backend,
    only_last: bool,
    bounds: Option<BoundsToMake<'a>>,
}

/// Bound tables to make beside the exact ones.
#[derive(Clone, Copy, Debug)]
struct BoundsToMake<'a> {
    maker: BoundMaker<'a>,
    /// Seeds of the lowest layer that has one.
    first: usize,
}

impl<'a> Builder<'a> {
    /// A builder of the layers from 2 seeds up to that of `last`, on the CPU.
    pub fn new(directory: &'a Path, last: TableKey) -> Builder<'a> {
        let TableKey { rules, pits, seeds } = last;
        Builder { directory, rules, pits, seeds, backend: Backend::Cpu(Isa::detect()), only_last: false, bounds: None }
    }

    /// What computes the layers.
    #[must_use]
    pub fn backend(self, backend: Backend) -> Builder<'a> {
        Builder { backend, ..self }
    }

    /// Whether to build only the last layer, and fail if one below is missing.
    #[must_use]
    pub fn only_last(self, only_last: bool) -> Builder<'a> {
        Builder { only_last, ..self }
    }

    /// Makes bound tables, too, of the layers from `first` seeds up: each when its layer is finished, while its table
    /// is in the page cache. Those that are there are kept, also with other cuts or another network, unless they are
    /// damaged or were made from another table.
    #[must_use]
    pub fn bounds(self, maker: BoundMaker<'a>, first: usize) -> Builder<'a> {
        Builder { bounds: Some(BoundsToMake { maker, first }), ..self }
    }

    /// Builds, on the threads of the current pool.
    ///
    /// # Errors
    /// When layers are missing and the directory is in use, a table in it is damaged (all are checked) or foreign, a
    /// file cannot be written, or `pulse` was stopped.
    ///
    /// # Panics
    /// When there are more pits or seeds than tables have ([`kalah_core::index::MAX_TABLE_PITS`],
    /// [`kalah_core::index::MAX_TABLE_SEEDS`]).
    pub fn run(&self, pulse: &Pulse, on_event: &(dyn Fn(Event) + Sync)) -> Result<BuildReport, BuildError> {
        let open = || Tables::open_if_there(self.directory, self.rules, self.pits, self.seeds);
        // If nothing is missing, nothing is written: the directory may be in use by others, or read-only.
        let found = open()?;
        if self.only_last && self.seeds > 2 {
            // Before anything is written.
            found.require(self.seeds - 1)?;
        }
        let mut complete = found.layers().len() + 1 == self.seeds;
        for table in found.layers() {
            complete &= self.bounds.is_none_or(|bounds| bounds.are_there(self.directory, table));
        }
        let lock = match DirectoryLock::take(self.directory) {
            Ok(lock) => Some(lock),
            Err(_) if complete => None,
            Err(error) => return Err(error.into()),
        };
        let mut tables = if complete { found } else { open()? };
        // Wrong scores below would give wrong scores above, with valid checksums.
        for table in tables.layers() {
            pulse.check().map_err(|_| BuildError::Stopped(tables.key(self.seeds)))?;
            check_in_parallel(table)?;
            if let Some(bounds) = self.bounds.filter(|_| lock.is_none()) {
                // Nothing is made again here, so damage is an error.
                bounds.find(self.directory, table)?;
            }
        }
        if lock.is_none() {
            return Ok(BuildReport { kept: tables.layers().len(), built: Vec::new() });
        }
        let mut build = Build { backend: &self.backend, computer: None, pulse, on_event };
        self.backend.in_pool(|| {
            std::thread::scope(|scope| {
                let mut finishing = Finishing::new(scope, self.directory, pulse, on_event);
                let built = self.run_locked(&mut tables, &mut build, &mut finishing);
                // If a layer did not get its name, that is why one above it could not be built, or is not there yet.
                finishing.wait()?;
                built
            })
        })
    }

    fn run_locked(
        &self,
        tables: &mut Tables,
        build: &mut Build,
        finishing: &mut Finishing,
    ) -> Result<BuildReport, BuildError> {
        let mut report = BuildReport { kept: tables.layers().len(), built: Vec::new() };
        for table in tables.layers() {
            clean(self.directory, table.key())?;
            self.make_bounds(table, build)?;
        }
        for seeds in tables.layers().len() + 2..=self.seeds {
            let key = tables.key(seeds);
            let path = key.path(self.directory);
            let table = if path.exists() {
                // Built by another process since the tables were opened.
                report.kept += 1;
                let table = Table::open(&path)?;
                check_in_parallel(&table)?;
                clean(self.directory, key)?;
                table
            } else if self.only_last && seeds < self.seeds {
                return Err(tables.require(seeds).expect_err("the file is not there").into());
            } else {
                let (complete, record) = build.layer(self.directory, tables, key, self.seeds)?;
                finishing.wait()?;
                report.built.push(record.clone());
                finishing.begin(complete, key, record, self.is_read_soon(tables, key))?
            };
            if self.bounds.is_some_and(|bounds| bounds.has(&table)) {
                // Finishing removes unfinished files of the layer, and a bound table that is being written is one.
                finishing.wait()?;
            }
            self.make_bounds(&table, build)?;
            tables.push(Arc::new(table))?;
        }
        Ok(report)
    }

    /// Whether the table of a layer above `tables` is read when it is finished, and finds place in the page cache beside them until
    /// then.
    fn is_read_soon(&self, tables: &Tables, key: TableKey) -> bool {
        let below = tables.layers().iter().map(|table| table.header().file_bytes).sum::<u64>();
        let bytes = below + packed_bytes(layer_positions(key.pits, key.seeds));
        (key.seeds < self.seeds || self.bounds.is_some_and(|bounds| bounds.first <= key.seeds))
            && available_memory().is_none_or(|available| bytes <= available)
    }

    /// Makes the bound table of a layer, if it is to have one that is not there.
    fn make_bounds(&self, table: &Table, build: &Build) -> Result<(), BuildError> {
        let Some(bounds) = self.bounds.filter(|bounds| bounds.has(table)) else { return Ok(()) };
        match bounds.find(self.directory, table) {
            Ok(Some(found)) => {
                if !bounds.maker.made(&found, Some(table)) {
                    (build.on_event)(Event::BoundsKept(table.key()));
                }
                return Ok(());
            }
            Err(error) if error.is_newer() => return Err(error.into()),
            Err(error) if error.is_damage() => (build.on_event)(Event::BoundsDamaged(&error)),
            Ok(None) | Err(_) => {}
        }
        (build.on_event)(Event::Bounds(table.key()));
        let written = bounds.maker.write(table, self.directory, build.pulse);
        written.map(drop).map_err(BuildError::stopped_at(table.key()))
    }
}

impl BoundsToMake<'_> {
    /// Whether the layer of `table` is to have a bound table.
    fn has(&self, table: &Table) -> bool {
        table.key().seeds >= self.first
    }

    /// Whether the layer of `table` is to have no bound table, or one is there; its blocks are not checked.
    fn are_there(&self, directory: &Path, table: &Table) -> bool {
        !self.has(table) || BoundsToMake::open(directory, table).is_ok_and(|found| found.is_some())
    }

    /// The bound table of the layer of `table`, if it is to have one and it is there, compared with its checksums.
    fn find(&self, directory: &Path, table: &Table) -> Result<Option<BoundTable>, TableError> {
        let found = if self.has(table) { BoundsToMake::open(directory, table)? } else { None };
        if let Some(found) = &found {
            check_blocks_in_parallel(found.blocks())?;
        }
        Ok(found)
    }

    /// The bound table that was made from `table`, with whatever cuts and network, if it is there.
    fn open(directory: &Path, table: &Table) -> Result<Option<BoundTable>, TableError> {
        let found = BoundTable::open_key(directory, table.key())?;
        Ok(found.filter(|found| found.header().exact == table.header().digest))
    }
}

/// A running build: what stays the same from layer to layer.
struct Build<'a> {
    backend: &'a Backend,
    /// Made for the first layer that is missing.
    computer: Option<Box<dyn Computer>>,
    pulse: &'a Pulse,
    on_event: &'a (dyn Fn(Event) + Sync),
}

impl Build<'_> {
    /// Builds one layer, or what is missing of it, from those below in `tables`; the last layer of the build has `last`
    /// seeds.
    fn layer(
        &mut self,
        directory: &Path,
        tables: &Tables,
        key: TableKey,
        last: usize,
    ) -> Result<(CompleteTable, BuildRecord), BuildError> {
        let start = Instant::now();
        let mut writer = TableWriter::open(directory, key)?;
        let mut pieces = self.pieces(directory, key)?;
        let is_computed = |frame: &Frame| !pieces.iter().any(|piece| piece.holds(*frame));
        let mut positions = writer.missing().filter(is_computed).map(Frame::positions).sum();
        let kept = key.frames().count() - writer.missing().filter(is_computed).count();
        (self.on_event)(Event::Layer { key, positions, kept });
        if positions > 0 {
            // If the disk lost a part of this layer, what was computed from it is not relied upon.
            remove_partial(directory, TableKey { seeds: key.seeds + 1, ..key })?;
        }
        while let Some(next) = writer.missing().next() {
            if let Some(at) = pieces.iter().position(|piece| piece.holds(next)) {
                if let Err(error) = writer.copy(&mut pieces[at], next) {
                    let pair = pieces.remove(at).pair();
                    positions += writer
                        .missing()
                        .filter(|&frame| pair.frames().any(|own| own == frame))
                        .map(Frame::positions)
                        .sum::<u64>();
                    self.put_away(directory, pair, error)?;
                }
                continue;
            }
            let computer = match &mut self.computer {
                Some(computer) => computer,
                none => none.insert(self.backend.computer(tables, last)?),
            };
            let written = write_frames(&mut **computer, writer, &pieces, tables, self.pulse, self.on_event);
            writer = written.map_err(BuildError::stopped_at(key))?.writer;
        }
        let complete = writer.complete()?;
        let record = BuildRecord::new(key, positions, start, self.backend.name());
        Ok((complete, record))
    }
}

impl Build<'_> {
    /// The pieces of a layer that other processes left.
    fn pieces(&self, directory: &Path, key: TableKey) -> Result<Vec<Piece>, TableError> {
        let mut pieces = Vec::new();
        for pair in LayerFiles::read(directory, key)?.pieces {
            match Piece::open(directory, pair) {
                Ok(piece) => pieces.push(piece),
                Err(error) => self.put_away(directory, pair, error)?,
            }
        }
        Ok(pieces)
    }

    /// Removes a damaged piece. One that cannot be read was removed by another process, or is computed again anyway.
    fn put_away(&self, directory: &Path, pair: PairKey, error: TableError) -> Result<(), TableError> {
        if error.is_damage() {
            (self.on_event)(Event::Damaged(&error));
            remove_piece(directory, pair)?;
        }
        Ok(())
    }
}

/// Builds the tables of all layers from 2 to `seeds` in `directory`, on the threads of the current pool: a [`Builder`]
/// with default settings.
///
/// # Errors
/// As [`Builder::run`].
///
/// # Panics
/// As [`Builder::run`].
pub fn build(directory: &Path, rules: Rules, pits: usize, seeds: usize) -> Result<BuildReport, BuildError> {
    Builder::new(directory, TableKey { rules, pits, seeds }).run(&Pulse::default(), &|_| {})
}

impl BuildReport {
    /// Positions computed.
    pub fn positions(&self) -> u64 {
        self.built.iter().map(|record| record.positions).sum()
    }
}
