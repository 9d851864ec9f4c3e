use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use kalah_core::index::Frame;
use kalah_core::isa::Isa;

use super::archived_frames::ArchivedFrames;
use super::computer::{ComputeError, Computer, FrameOutput};
use super::cpu::CpuComputer;
use super::error::BuildError;
use super::event::BuildEvent;
use super::finishing::clean;
use super::layer_plan::without_frames;
use super::log::BuildRecord;
use super::report::BuildReport;
use super::run::Run;
use crate::lock::Mutex;
use crate::progress::Pulse;
use crate::table::archive::{ArchiveReader, ArchiveWriter, archive_path, compress, remove_unfinished};
use crate::table::{Damage, Manifest, PackedFrame, Table, TableError, TableKey, Tables, check_in_parallel};

/// Builds the layers kept as archives, above those kept as tables.
pub(super) struct ArchiveLayers<'a> {
    run: Run<'a>,
    last: TableKey,
    /// Seeds of the lowest archived layer.
    first: usize,
    archived: Arc<Mutex<ArchivedFrames>>,
    /// Created for the first missing layer.
    computer: Option<CpuComputer>,
}

impl<'a> ArchiveLayers<'a> {
    /// Continues from the `run` that built the tables, up to the layer of `last`, with at most
    /// `memory` bytes or the necessary minimum.
    pub fn new(run: Run<'a>, last: TableKey, first: usize, memory: u64) -> Result<ArchiveLayers<'a>, TableError> {
        let mut tables = Tables::empty(run.directory, last.rules, last.pits, last.seeds)?;
        for table in run.tables.layers() {
            tables.push(Arc::clone(table))?;
        }
        let rest = without_frames(last, first, rayon::current_num_threads());
        let lowest = TableKey { seeds: first, ..last };
        let archived = Arc::new(Mutex::new(ArchivedFrames::new(lowest, memory.saturating_sub(rest))));
        Ok(ArchiveLayers { run: run.above(tables, last.seeds), last, first, archived, computer: None })
    }

    /// Builds the missing layers.
    pub fn build(mut self, report: &mut BuildReport) -> Result<(), BuildError> {
        for seeds in self.first..=self.last.seeds {
            let key = TableKey { seeds, ..self.last };
            let path = archive_path(self.run.directory, key);
            let is_kept = path.exists();
            if is_kept {
                report.kept += 1;
            } else {
                match self.compress_table(key, &path)? {
                    true => report.kept += 1,
                    false => report.built.push(self.layer(key)?),
                }
                report.compressed += 1;
            }
            let mut archive = ArchiveReader::open(&path)?;
            if is_kept {
                // Later layers are computed from it. A newly written archive was compared already.
                archive.check_chunks(&self.run.pulse.cancel).map_err(BuildError::stopped_at(key))?;
            }
            self.remove_others(&mut archive, key, is_kept)?;
            self.archived.lock().push(archive);
        }
        report.reads = self.archived.lock().reads();
        Ok(())
    }

    /// Removes the table of an archived layer, and leftovers of other attempts. An archive `kept`
    /// from another run must first decompress to the table.
    fn remove_others(&self, archive: &mut ArchiveReader, key: TableKey, is_kept: bool) -> Result<(), BuildError> {
        let Run { directory, pulse, .. } = self.run;
        let found = archive.info().key;
        if found != key {
            return Err(TableError::damaged_archive(archive.path(), Damage::Other { found, expected: key }).into());
        }
        if is_kept {
            self.run.check(key)?;
        }
        clean(directory, key)?;
        remove_unfinished(directory, key)?;
        let path = key.path(directory);
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

    /// Compresses the table of a layer, if it exists. Returns true if it did.
    fn compress_table(&self, key: TableKey, archive: &Path) -> Result<bool, BuildError> {
        let Run { directory, pulse, on_event, .. } = self.run;
        let path = key.path(directory);
        if !path.exists() {
            return Ok(false);
        }
        self.run.check(key)?;
        let table = Table::open(&path)?;
        check_in_parallel(table.blocks())?;
        on_event(BuildEvent::Layer { key, positions: 0, kept: key.frames().count() });
        on_event(BuildEvent::Compressing(key));
        crate::file::remove_leftovers(archive).map_err(TableError::io(archive))?;
        // The positions were counted when the table was built.
        compress(&table, archive, &Pulse::new(pulse.cancel.clone())).map_err(BuildError::stopped_at(key))?;
        Ok(true)
    }

    /// Builds a layer, or its missing frames.
    fn layer(&mut self, key: TableKey) -> Result<BuildRecord, BuildError> {
        let start = Instant::now();
        let Run { directory, pulse, on_event, .. } = self.run;
        let writer = ArchiveWriter::open(directory, key)?;
        let missing = writer.missing();
        let positions = missing.iter().map(|frame| frame.positions()).sum();
        on_event(BuildEvent::Layer { key, positions, kept: key.frames().count() - missing.len() });
        let isa = Isa::detect();
        let computer = match &mut self.computer {
            Some(computer) => computer,
            none => {
                let computer =
                    CpuComputer::new(isa, &self.run.tables, self.last.seeds).map_err(BuildError::OutOfMemory)?;
                none.insert(computer.with_archives(Arc::clone(&self.archived)))
            }
        };
        let output = ToArchive { writer: Mutex::new(writer), pulse, on_event };
        let computed = computer.compute(&self.run.tables, &missing, pulse, &output);
        computed.map_err(BuildError::stopped_at(key))?;
        let writer = output.writer.into_inner();
        if Manifest::contradicts(key, &writer.digest()) {
            remove_unfinished(directory, key)?;
            return Err(BuildError::Contradiction { key, kept: missing.len() < key.frames().count() });
        }
        writer.finish()?;
        let record = BuildRecord::new(key, positions, start, isa.name());
        on_event(BuildEvent::Done(&record));
        // The log is a convenience, so its errors do not fail a build.
        let _ = record.append(directory);
        Ok(record)
    }
}

/// Compresses frames into an archive as they arrive. All memory is used to compute one frame, or to compress
/// it.
struct ToArchive<'a> {
    writer: Mutex<ArchiveWriter>,
    pulse: &'a Pulse,
    on_event: &'a (dyn Fn(BuildEvent) + Sync),
}

impl FrameOutput for ToArchive<'_> {
    fn pair(&self, frame: Frame) {
        (self.on_event)(BuildEvent::Pair(frame));
    }

    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        let mut writer = self.writer.lock();
        Ok(writer.write(&packed, &self.pulse.cancel)?)
    }
}
