use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kalah_tables::progress::Pulse;
use kalah_tables::table::{Blocks, FileStamp, TableError, Tables};

use super::check_error::CheckError;

/// Tables whose frames were all compared with their digests.
///
/// A table's own digest covers those of its frames, so these are the bytes that the digest stands for. Bytes in memory
/// cannot change after that; those of mapped files can, so they are compared again once they were used.
pub(super) struct ComparedTables<'a> {
    mapped: Vec<(&'a Blocks, FileStamp)>,
    /// How long it took to compare the mapped tables.
    took: Duration,
}

impl<'a> ComparedTables<'a> {
    /// Compares the tables up to `seeds` seeds, on all threads. Adds the bytes compared to `pulse.positions`; `None` if `pulse`
    /// stopped it.
    ///
    /// # Errors
    /// When a frame does not match its digest, or a file cannot be read.
    pub fn new(tables: &'a Tables, seeds: usize, pulse: &Pulse) -> Result<Option<ComparedTables<'a>>, TableError> {
        let (mut in_memory, mut mapped) = (Vec::new(), Vec::new());
        for table in tables.layers().iter().take(seeds.saturating_sub(1)) {
            match table.blocks().file_stamp()? {
                Some(stamp) => mapped.push((table.blocks(), stamp)),
                None => in_memory.push(table.blocks()),
            }
        }
        let go_on = |bytes| {
            pulse.positions.fetch_add(bytes, Ordering::Relaxed);
            !pulse.is_stopped()
        };
        let all_compared = compare(&in_memory, &go_on)?;
        let start = Instant::now();
        let all_compared = all_compared && compare(&blocks_of(&mapped), &go_on)?;
        Ok(all_compared.then(|| ComparedTables { mapped, took: start.elapsed() }))
    }

    /// Compares again what may have changed.
    ///
    /// # Errors
    /// When a frame does not match its digest any more, or a file was written to, even if it has its old bytes again.
    pub fn compare_again(&self) -> Result<(), CheckError> {
        compare(&blocks_of(&self.mapped), &|_| true)?;
        for (blocks, stamp) in &self.mapped {
            if blocks.file_stamp()? != Some(*stamp) {
                return Err(CheckError::Changed { path: blocks.path().to_owned() });
            }
        }
        Ok(())
    }

    /// How long [`ComparedTables::compare_again`] takes, about.
    pub fn duration(&self) -> Duration {
        if self.mapped.is_empty() { Duration::ZERO } else { self.took }
    }
}

fn blocks_of<'a>(mapped: &[(&'a Blocks, FileStamp)]) -> Vec<&'a Blocks> {
    mapped.iter().map(|&(blocks, _)| blocks).collect()
}

/// Compares all frames of these tables with their digests. Returns false if `go_on` did.
///
/// The threads are its own: a thread of the pool that waits for others may begin any other work of the pool meanwhile,
/// also such that waits for a lock that it holds.
fn compare(files: &[&Blocks], go_on: &(dyn Fn(u64) -> bool + Sync)) -> Result<bool, TableError> {
    let mut frames: Vec<(&Blocks, usize)> = Vec::new();
    for file in files {
        let mut movers: Vec<usize> = (1..=file.sections().len()).collect();
        // In the order of the file.
        movers.sort_unstable_by_key(|&mover| file.sections()[mover - 1].offset);
        frames.extend(movers.into_iter().map(|mover| (*file, mover)));
    }
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, TableError)>> = Mutex::new(None);
    let stopped = AtomicBool::new(false);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((file, mover)) = frames.get(number) else { return };
            match file.check_digest(*mover, &|bytes| go_on(bytes)) {
                Ok(true) => {}
                Ok(false) => return stopped.store(true, Ordering::Relaxed),
                Err(error) => {
                    // Those after it need not be compared; those before it are, by other threads.
                    next.store(frames.len(), Ordering::Relaxed);
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    if failed.as_ref().is_none_or(|(before, _)| number < *before) {
                        *failed = Some((number, error));
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..rayon::current_num_threads().min(frames.len()) {
            // Where the system gives no more threads, fewer do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(!stopped.into_inner()),
    }
}
