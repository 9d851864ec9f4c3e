//! Computes pairs of frames one by one, while other processes do the same in one directory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kalah_base::file::create_directory;
use kalah_core::index::Frame;
use kalah_core::table::{PairKey, Table, TableError, TableKey};

use super::computer::ComputeError;
use super::event::{BuildError, BuildEvent, BuildReport};
use super::run::Run;
use crate::table::{Joined, LayerFiles, Leases, PieceWriter, join_pieces, remove_pieces};

/// Intervals at which a waiting process checks the progress of others: initially, and in the long
/// run.
const POLL_INTERVALS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// Builds layers together with other processes.
///
/// Each pair is written to a piece. The process that finds the pieces of a layer complete joins
/// them. No lock is needed: two processes that do the same work produce the same bytes.
pub(super) struct SharedLayers<'a> {
    /// Tables are added one by one, as layers are finished.
    run: Run<'a>,
    leases: Leases,
}

impl<'a> SharedLayers<'a> {
    /// Starts without open layers. Processes whose leases do not change for `patience` are presumed
    /// dead.
    pub(super) fn new(run: Run<'a>, patience: Duration) -> SharedLayers<'a> {
        SharedLayers { run, leases: Leases::new(patience) }
    }

    /// Builds all layers together with the other processes.
    pub(super) fn build(&mut self) -> Result<BuildReport, BuildError> {
        create_directory(self.run.directory).map_err(TableError::io(self.run.directory))?;
        let mut report = BuildReport::new(self.run.tables.key(self.run.last));
        for seeds in 2..=self.run.last {
            self.share_layer(seeds, &mut report)?;
            self.open_finished(seeds)?;
        }
        Ok(report)
    }

    /// Works on one layer until it is finished.
    fn share_layer(&mut self, seeds: usize, report: &mut BuildReport) -> Result<(), BuildError> {
        let key = self.run.tables.key(seeds);
        let mut interval = POLL_INTERVALS[0];
        loop {
            let files = LayerFiles::read(self.run.directory, key)?;
            if files.finished {
                return Ok(());
            }
            if files.missing.is_empty() {
                report.joined += usize::from(self.join(key)?);
                continue;
            }
            // The largest pair first, so that the last tasks are small.
            let mut missing = files.missing;
            missing.sort_by_key(|pair| std::cmp::Reverse(pair.positions()));
            let mut taken = None;
            for pair in missing {
                if let Some(lease) = self.leases.pair(self.run.directory, pair)? {
                    taken = Some((pair, lease));
                    break;
                }
            }
            match taken {
                Some((pair, _lease)) => {
                    // Its piece may have appeared between the listing and the lease.
                    if self.make(pair)? {
                        report.pairs.push(pair);
                    }
                    interval = POLL_INTERVALS[0];
                }
                None => {
                    self.run.check(key)?;
                    std::thread::sleep(interval);
                    interval = (interval * 2).min(POLL_INTERVALS[1]);
                }
            }
        }
    }

    /// Opens and checks the finished table of `seeds` seeds, for computing pairs.
    fn open_finished(&mut self, seeds: usize) -> Result<(), BuildError> {
        let key = self.run.tables.key(seeds);
        let table = Table::open_key(self.run.directory, key)?;
        self.run.compare(&table)?;
        // The process that joined it may have been killed during cleanup.
        remove_pieces(self.run.directory, table.key())?;
        Ok(self.run.tables.push(Arc::new(table))?)
    }

    /// Computes a pair unless its piece or layer exists. Returns true if it was computed.
    fn make(&mut self, pair: PairKey) -> Result<bool, BuildError> {
        let files = LayerFiles::read(self.run.directory, pair.layer)?;
        if files.finished || !files.missing.contains(&pair) {
            return Ok(false);
        }
        let start = Instant::now();
        let computed = self.compute(pair);
        if LayerFiles::read(self.run.directory, pair.layer)?.finished {
            // Another process was faster, and may have removed the files of this one.
            remove_pieces(self.run.directory, pair.layer)?;
            return Ok(computed.is_ok());
        }
        computed?;
        (self.run.on_event)(BuildEvent::Piece { pair, seconds: start.elapsed().as_secs_f64() });
        Ok(true)
    }

    /// Computes a pair and writes its piece. All layers below must be open.
    fn compute(&mut self, pair: PairKey) -> Result<(), BuildError> {
        let frames: Vec<Frame> = pair.frames().collect();
        let mut writer = PieceWriter::new(self.run.directory, pair)?;
        let written = std::thread::scope(|scope| self.run.compute(scope, &frames, writer.table())?.wait());
        written.map_err(BuildError::stopped_at::<ComputeError>(pair.layer))?;
        writer.finish()?;
        Ok(())
    }

    /// Joins the pieces of a layer, or waits a moment if another process seems to be joining them.
    /// Returns true if it joined them.
    fn join(&mut self, key: TableKey) -> Result<bool, BuildError> {
        self.run.check(key)?;
        let Some(_lease) = self.leases.join(self.run.directory, key)? else {
            std::thread::sleep(POLL_INTERVALS[0] * 5);
            return Ok(false);
        };
        match join_pieces(self.run.directory, key)? {
            Joined::Done => {
                (self.run.on_event)(BuildEvent::Joined(key));
                remove_pieces(self.run.directory, key)?;
                return Ok(true);
            }
            Joined::Incomplete => {}
            Joined::Contradiction => return Err(BuildError::Contradiction(key)),
            Joined::Damaged(damaged, error) => {
                (self.run.on_event)(BuildEvent::Damaged(&error));
                self.make(damaged)?;
            }
        }
        Ok(false)
    }
}
