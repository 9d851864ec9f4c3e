use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kalah_base::lock::Mutex;
use kalah_base::progress::Pulse;
use kalah_core::table::{Blocks, FileStamp, TableError, Tables};

use super::check_error::CheckError;

/// Tables whose frames were all compared with their digests.
///
/// A table's own digest covers those of its frames, so its bytes are those that the digest stands for. Bytes in
/// memory cannot change afterwards. Bytes of mapped files can, so they are compared again after use.
pub(super) struct ComparedTables<'a> {
    mapped: Vec<(&'a Blocks, FileStamp)>,
    /// Time that comparing the mapped tables took.
    took: Duration,
}

impl<'a> ComparedTables<'a> {
    /// Compares the tables up to `seeds` seeds with their digests, on all threads. Adds the bytes compared to
    /// `pulse.positions`.
    ///
    /// # Errors
    /// If a frame does not match its digest, or a file cannot be read; [`TableError::Stopped`] if `pulse` was
    /// stopped.
    pub fn new(tables: &'a Tables, seeds: usize, pulse: &Pulse) -> Result<ComparedTables<'a>, TableError> {
        let (mut in_memory, mut mapped) = (Vec::new(), Vec::new());
        for table in tables.layers().iter().take(seeds.saturating_sub(1)) {
            match table.blocks().file_stamp()? {
                Some(stamp) => mapped.push((table.blocks(), stamp)),
                None => in_memory.push(table.blocks()),
            }
        }
        compare(&in_memory, pulse)?;
        let start = Instant::now();
        compare(&blocks_of(&mapped), pulse)?;
        Ok(ComparedTables { mapped, took: start.elapsed() })
    }

    /// Compares the mapped tables again.
    ///
    /// # Errors
    /// If a frame does not match its digest, or a file was written to, even if it has its old bytes again.
    pub fn compare_again(&self) -> Result<(), CheckError> {
        compare(&blocks_of(&self.mapped), &Pulse::default())?;
        for (blocks, stamp) in &self.mapped {
            if blocks.file_stamp()? != Some(*stamp) {
                return Err(CheckError::Changed { path: blocks.path().to_owned() });
            }
        }
        Ok(())
    }

    /// Approximate duration of [`ComparedTables::compare_again`].
    pub fn duration(&self) -> Duration {
        if self.mapped.is_empty() { Duration::ZERO } else { self.took }
    }
}

fn blocks_of<'a>(mapped: &[(&'a Blocks, FileStamp)]) -> Vec<&'a Blocks> {
    mapped.iter().map(|&(blocks, _)| blocks).collect()
}

/// Compares all frames of these tables with their digests. Adds the bytes compared to `pulse.positions`.
///
/// It uses threads of its own. A thread of the pool that waits may start other work of the pool, which could
/// wait for a lock that this thread holds.
fn compare(files: &[&Blocks], pulse: &Pulse) -> Result<(), TableError> {
    let mut frames: Vec<(&Blocks, usize)> = Vec::new();
    for file in files {
        let mut movers: Vec<usize> = (1..=file.sections().len()).collect();
        // In the order of the file.
        movers.sort_unstable_by_key(|&mover| file.sections()[mover - 1].offset);
        frames.extend(movers.into_iter().map(|mover| (*file, mover)));
    }
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, TableError)>> = Mutex::new(None);
    let count = |bytes| _ = pulse.positions.fetch_add(bytes, Ordering::Relaxed);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((file, mover)) = frames.get(number) else { return };
            if let Err(error) = file.check_digest(*mover, &pulse.cancel, &count) {
                // Frames after a wrong one need not be compared. Those before it are compared by other threads.
                next.store(frames.len(), Ordering::Relaxed);
                // Damage is reported rather than a stop.
                let number = if matches!(error, TableError::Stopped(_)) { usize::MAX } else { number };
                let mut failed = failed.lock();
                if failed.as_ref().is_none_or(|(before, _)| number < *before) {
                    *failed = Some((number, error));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..rayon::current_num_threads().min(frames.len()) {
            // If the system gives no more threads, fewer do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    failed.into_inner().map_or(Ok(()), |(_, error)| Err(error))
}
