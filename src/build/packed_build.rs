use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::backend::Backend;
use super::cpu::CpuComputer;
use super::driver::{Build, BuildReport, Builder, clean};
use super::error::BuildError;
use super::event::Event;
use super::layer_plan::PackedMemory;
use super::unpacked::{ArchiveReads, Unpacked};
use crate::isa::Isa;
use crate::progress::Pulse;
use crate::table::archive::{ArchiveReader, archive_path, pack};
use crate::table::{Damage, DirectoryLock, LayerFiles, Table, TableError, TableKey, Tables, check_in_parallel};

/// Builds layers that are kept as archives only.
///
/// The layers below `first` are tables, as [`Builder`] builds them. Each layer from `first` up is built as a table, packed into an
/// archive, and the table is deleted. What a later layer reads of it is unpacked into memory, frame by frame. The archives are the
/// same, byte for byte, as those of [`pack`]. A stopped build goes on from the last finished frame. It runs on the CPU.
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
    /// Layers that were packed.
    pub packed: usize,
    /// What was read from archives.
    pub reads: ArchiveReads,
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
        let mut tables = Tables::empty(self.directory, self.last.rules, self.last.pits, self.last.seeds);
        for seeds in 2..self.first {
            tables.push(Arc::new(Table::open_key(self.directory, self.key(seeds))?))?;
        }
        let memory = PackedMemory::new(self.last, self.first, rayon::current_num_threads());
        let unpacked = Arc::new(Mutex::new(Unpacked::new(self.key(self.first), memory.frames(self.memory))));
        let isa = Isa::detect();
        let backend = Backend::Cpu(isa);
        let mut build = Build::new(&backend, pulse, on_event);
        for seeds in self.first..=self.last.seeds {
            let key = self.key(seeds);
            let archive = archive_path(self.directory, key);
            if archive.exists() {
                report.build.kept += 1;
            } else {
                if !build.has_computer() {
                    let computer = CpuComputer::new(isa, &tables, self.last.seeds).map_err(BuildError::OutOfMemory)?;
                    build.set_computer(Box::new(computer.with_archives(Arc::clone(&unpacked))));
                }
                let table = self.table(key, &tables, &mut build, &mut report.build, on_event)?;
                if pulse.is_stopped() {
                    return Err(BuildError::Stopped(key));
                }
                unpacked
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .shrink(memory.frames_while_packing(self.memory));
                on_event(Event::Packing(key));
                crate::file::remove_leftovers(&archive).map_err(TableError::io(&archive))?;
                pack(&table, &archive, &|_| {})?;
                report.packed += 1;
            }
            let reader = ArchiveReader::open(&archive)?;
            self.delete_table(&reader, &archive, key)?;
            unpacked.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        }
        report.reads = unpacked.lock().unwrap_or_else(PoisonError::into_inner).reads();
        Ok(report)
    }

    /// The table of a layer: one that is there, or a new one.
    fn table(
        &self,
        key: TableKey,
        tables: &Tables,
        build: &mut Build,
        report: &mut BuildReport,
        on_event: &(dyn Fn(Event) + Sync),
    ) -> Result<Table, BuildError> {
        let path = key.path(self.directory);
        if path.exists() {
            let table = Table::open(&path)?;
            check_in_parallel(&table)?;
            on_event(Event::Layer { key, positions: 0, kept: key.frames().count() });
            report.kept += 1;
            return Ok(table);
        }
        let record = build.layer(self.directory, tables, key, self.last.seeds)?;
        on_event(Event::Done(&record));
        // The log is a convenience; its errors do not fail a build.
        let _ = record.append(self.directory);
        report.built.push(record);
        Ok(Table::open(&path)?)
    }

    /// Deletes the table of a layer of which there is an archive, and the remains of other attempts.
    fn delete_table(&self, archive: &ArchiveReader, path: &Path, key: TableKey) -> Result<(), TableError> {
        let found = archive.info().key;
        if found != key {
            return Err(TableError::damaged_archive(path, Damage::Other { found, expected: key }));
        }
        clean(self.directory, key)?;
        if LayerFiles::read(self.directory, key)?.finished {
            let table = Table::open_key(self.directory, key)?;
            if table.header().digest != archive.info().digest {
                return Err(TableError::damaged_archive(path, Damage::Digest));
            }
            let path = table.path().to_owned();
            drop(table);
            std::fs::remove_file(&path).map_err(TableError::io(&path))?;
        }
        Ok(())
    }
}
