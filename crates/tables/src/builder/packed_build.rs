use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use kalah_core::index::Frame;
use kalah_core::isa::Isa;
use parking_lot::Mutex;

use super::computer::{ComputeError, Computer, Output};
use super::cpu::CpuComputer;
use super::driver::{BuildReport, Builder};
use super::error::BuildError;
use super::event::Event;
use super::finishing::clean;
use super::layer_plan::without_frames;
use super::log::BuildRecord;
use super::unpacked::{ArchiveReads, Unpacked};
use crate::progress::Pulse;
use crate::table::archive::{ArchiveReader, ArchiveWriter, archive_path, pack, remove_unfinished};
use crate::table::{Damage, DirectoryLock, PackedFrame, Table, TableError, TableKey, Tables, check_in_parallel};

/// Builds layers that are kept as archives only.
///
/// The layers below `first` are tables, as [`Builder`] builds them. The frames of each layer from `first` up are packed into an archive
/// as they are computed. What a later layer reads of it is unpacked into memory, frame by frame. The archives are the same, byte for
/// byte, as those of [`pack()`](crate::table::archive::pack()). A stopped build goes on from the last finished frame. It runs on the CPU. Tables that are there of layers
/// from `first` up are packed and deleted.
#[derive(Clone, Debug)]
pub struct PackedBuilder<'a> {
    directory: &'a Path,
    last: TableKey,
    first: usize,
    memory: u64,
}

/// What a build into archives did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PackedReport {
    /// Layers that existed, and layers that were built.
    pub build: BuildReport,
    /// Archives that were written.
    pub packed: usize,
    /// What was read from archives.
    pub reads: ArchiveReads,
}

/// A running build.
struct Run<'a> {
    directory: &'a Path,
    tables: Tables,
    unpacked: Arc<Mutex<Unpacked>>,
    /// Made for the first layer that is missing.
    computer: Option<CpuComputer>,
    last: usize,
    pulse: &'a Pulse,
    on_event: &'a (dyn Fn(Event) + Sync),
}

impl<'a> PackedBuilder<'a> {
    /// A builder of the layers from 2 seeds up to that of `last`, those from `first` seeds up as archives, that takes at most
    /// `memory` bytes, or what is necessary ([`super::Plan::packed`]).
    pub fn new(directory: &'a Path, last: TableKey, first: usize, memory: u64) -> PackedBuilder<'a> {
        PackedBuilder { directory, last, first: first.max(2), memory }
    }

    fn key(&self, seeds: usize) -> TableKey {
        TableKey { seeds, ..self.last }
    }

    /// Builds, on the threads of the current pool.
    ///
    /// # Errors
    /// As [`Builder::run`]; also when an archive is damaged.
    ///
    /// # Panics
    /// As [`Builder::run`].
    pub fn run(&self, pulse: &Pulse, on_event: &(dyn Fn(Event) + Sync)) -> Result<PackedReport, BuildError> {
        let mut report = PackedReport::default();
        if self.first > 2 {
            let below = self.key((self.first - 1).min(self.last.seeds));
            report.build = Builder::new(self.directory, below).run(pulse, on_event)?;
        }
        if self.first > self.last.seeds {
            return Ok(report);
        }
        let _lock = DirectoryLock::take(self.directory)?;
        rayon::scope(|_| self.run_locked(&mut report, pulse, on_event))?;
        Ok(report)
    }

    fn run_locked(
        &self,
        report: &mut PackedReport,
        pulse: &Pulse,
        on_event: &(dyn Fn(Event) + Sync),
    ) -> Result<(), BuildError> {
        let mut tables = Tables::empty(self.directory, self.last.rules, self.last.pits, self.last.seeds);
        for seeds in 2..self.first {
            tables.push(Arc::new(Table::open_key(self.directory, self.key(seeds))?))?;
        }
        let rest = without_frames(self.last, self.first, rayon::current_num_threads());
        let unpacked = Arc::new(Mutex::new(Unpacked::new(self.key(self.first), self.memory.saturating_sub(rest))));
        let (directory, last) = (self.directory, self.last.seeds);
        let mut run = Run { directory, tables, unpacked: Arc::clone(&unpacked), computer: None, last, pulse, on_event };
        for seeds in self.first..=last {
            let key = self.key(seeds);
            let path = archive_path(directory, key);
            let is_kept = path.exists();
            if is_kept {
                report.build.kept += 1;
            } else {
                match run.pack_table(key, &path)? {
                    true => report.build.kept += 1,
                    false => report.build.built.push(run.build(key)?),
                }
                report.packed += 1;
            }
            let mut archive = ArchiveReader::open(&path)?;
            if is_kept {
                // Later layers are computed from it. One that was just written was compared.
                archive.check_chunks(&pulse.cancel).map_err(BuildError::stopped_at(key))?;
            }
            self.remove_others(&mut archive, key, is_kept, pulse)?;
            unpacked.lock().push(archive);
        }
        report.reads = unpacked.lock().reads();
        Ok(())
    }

    /// Removes the table of a layer of which there is an archive, and the remains of other attempts. An archive that is `kept` from
    /// an earlier run must unpack to the table first.
    fn remove_others(
        &self,
        archive: &mut ArchiveReader,
        key: TableKey,
        is_kept: bool,
        pulse: &Pulse,
    ) -> Result<(), BuildError> {
        let found = archive.info().key;
        if found != key {
            return Err(TableError::damaged_archive(archive.path(), Damage::Other { found, expected: key }).into());
        }
        if is_kept {
            pulse.check().map_err(|_| BuildError::Stopped(key))?;
        }
        clean(self.directory, key)?;
        remove_unfinished(self.directory, key)?;
        let path = key.path(self.directory);
        if path.exists() {
            let digest = Table::open(&path)?.header().digest;
            if digest != archive.info().digest {
                return Err(TableError::damaged_archive(archive.path(), Damage::Digest).into());
            }
            if is_kept {
                archive.check(&pulse.cancel, &|_| {}).map_err(BuildError::stopped_at(key))?;
            }
            std::fs::remove_file(&path).map_err(TableError::io(&path))?;
        }
        Ok(())
    }
}

impl Run<'_> {
    /// Packs the table of a layer, if there is one. Returns whether there is.
    fn pack_table(&self, key: TableKey, archive: &Path) -> Result<bool, BuildError> {
        let path = key.path(self.directory);
        if !path.exists() {
            return Ok(false);
        }
        self.pulse.check().map_err(|_| BuildError::Stopped(key))?;
        let table = Table::open(&path)?;
        check_in_parallel(&table)?;
        (self.on_event)(Event::Layer { key, positions: 0, kept: key.frames().count() });
        (self.on_event)(Event::Packing(key));
        crate::file::remove_leftovers(archive).map_err(TableError::io(archive))?;
        // The positions were counted when the table was built.
        pack(&table, archive, &Pulse::new(self.pulse.cancel.clone())).map_err(BuildError::stopped_at(key))?;
        Ok(true)
    }

    /// Builds a layer, or what is missing of it.
    fn build(&mut self, key: TableKey) -> Result<BuildRecord, BuildError> {
        let start = Instant::now();
        let isa = Isa::detect();
        let writer = ArchiveWriter::open(self.directory, key)?;
        let missing = writer.missing();
        let positions = missing.iter().map(|frame| frame.positions()).sum();
        (self.on_event)(Event::Layer { key, positions, kept: key.frames().count() - missing.len() });
        let computer = match &mut self.computer {
            Some(computer) => computer,
            none => {
                let computer = CpuComputer::new(isa, &self.tables, self.last).map_err(BuildError::OutOfMemory)?;
                none.insert(computer.with_archives(Arc::clone(&self.unpacked)))
            }
        };
        let output = ToArchive { writer: Mutex::new(writer), pulse: self.pulse, on_event: self.on_event };
        let computed = computer.compute(&self.tables, &missing, self.pulse, &output);
        computed.map_err(BuildError::stopped_at(key))?;
        output.writer.into_inner().finish()?;
        let record = BuildRecord::new(key, positions, start, isa.name());
        (self.on_event)(Event::Done(&record));
        // The log is a convenience; its errors do not fail a build.
        let _ = record.append(self.directory);
        Ok(record)
    }
}

/// Packs frames into an archive as they come.
struct ToArchive<'a> {
    writer: Mutex<ArchiveWriter>,
    pulse: &'a Pulse,
    on_event: &'a (dyn Fn(Event) + Sync),
}

impl Output for ToArchive<'_> {
    fn pair(&self, frame: Frame) {
        (self.on_event)(Event::Pair(frame));
    }

    fn buffer(&self) -> Vec<u8> {
        Vec::new()
    }

    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        let mut writer = self.writer.lock();
        Ok(writer.write(&packed, &self.pulse.cancel)?)
    }
}
