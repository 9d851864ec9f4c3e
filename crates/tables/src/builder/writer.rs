use std::borrow::BorrowMut;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use kalah_base::parallel::small_thread;
use kalah_core::cancel::Stopped;
use kalah_core::index::Frame;
use kalah_core::table::{TableError, TableKey, Tables};
use parking_lot::Mutex;

use super::backend::Backend;
use super::computer::{Arriving, Collector, ComputeError, FrameOutput, collected};
use super::event::BuildEvent;
use crate::table::{FrameMemory, PackedFrame, TableWriter};

/// Frames that are collected and written, in order, by two threads.
pub(super) struct Writing<'scope, W> {
    collector: Collector<'scope>,
    writer: ScopedJoinHandle<'scope, Result<(W, Duration), TableError>>,
}

impl<'scope, W: BorrowMut<TableWriter> + Send + 'scope> Writing<'scope, W> {
    /// Calls `compute`, which computes frames from the layers below in `tables` and passes them on, while other threads
    /// collect and write the previous ones. When this returns, the last frames may still be arriving, or waiting to be
    /// written. Nothing is written before the layer below is.
    pub(super) fn compute(
        scope: &'scope Scope<'scope, '_>,
        tables: &Tables,
        on_event: &'scope (dyn Fn(BuildEvent) + Sync),
        spare: &Arc<Spare>,
        mut writer: W,
        compute: impl FnOnce(&dyn FrameOutput) -> Result<(), ComputeError>,
    ) -> Result<Writing<'scope, W>, ComputeError> {
        let (sender, receiver) = sync_channel::<PackedFrame>(spare.waiting);
        let next = AtomicU64::new(writer.borrow().end());
        let output = Arc::new(ToWriter { frames: sender, next, spare: Arc::clone(spare), on_event });
        let (spare, below) = (Arc::clone(spare), tables.coming().cloned());
        let write_all = move || {
            if below.is_some_and(|below| below.wait().is_none()) {
                return Err(Stopped.into());
            }
            let mut writing = Duration::ZERO;
            for packed in receiver {
                let start = Instant::now();
                writer.borrow_mut().write(&packed)?;
                writing += start.elapsed();
                spare.put(packed.into_buffer());
            }
            Ok((writer, writing))
        };
        let spawned = small_thread("writer").spawn_scoped(scope, write_all);
        let writer = spawned.map_err(TableError::io(Path::new("a thread to write frames")))?;
        let (output, collector) = Arriving::new(scope, output)?;
        let computed = compute(&output);
        drop(output);
        let writing = Writing { collector, writer };
        if computed.is_ok() { Ok(writing) } else { Err(writing.ended(computed).err().expect("computing failed")) }
    }

    /// Waits until all frames are written. Returns the writer, and the time spent writing.
    pub(super) fn wait(self) -> Result<(W, Duration), ComputeError> {
        self.ended(Ok(()))
    }

    fn ended(self, computed: Result<(), ComputeError>) -> Result<(W, Duration), ComputeError> {
        let computed = collected(computed, self.collector);
        let written = self.writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        computed.map(|()| written)
    }
}

/// The memory of written frames, reused for the next ones.
pub(super) struct Spare {
    state: Mutex<SpareState>,
    /// Frames that may wait while one is written and the next one is packed or copied.
    waiting: usize,
    /// Bytes of the largest frame, if memory is made for it at once.
    most: usize,
}

#[derive(Default)]
struct SpareState {
    buffers: Vec<Vec<u8>>,
    /// Frames that have memory.
    used: usize,
}

impl Spare {
    /// Starts without memory, for layers up to that of `last`.
    pub(super) fn new(backend: &Backend, last: TableKey) -> Spare {
        let waiting = backend.waiting_frames();
        let most = if waiting > 0 { last.frames().map(PackedFrame::most_bytes).max() } else { None };
        Spare { state: Mutex::default(), waiting, most: most.unwrap_or(0) as usize }
    }

    /// Frames of any size that have memory at once: one for each that waits, is written, or is packed.
    fn large_frames(&self) -> usize {
        self.waiting + 2
    }

    /// Keeps the largest buffers. Small frames computed in parallel, or at the start of a layer, may leave more, which
    /// are useless later.
    fn put(&self, buffer: Vec<u8>) {
        let SpareState { buffers, used } = &mut *self.state.lock();
        *used = used.saturating_sub(1);
        buffers.push(buffer);
        buffers.sort_unstable_by_key(|buffer| std::cmp::Reverse(buffer.capacity()));
        buffers.truncate(self.large_frames());
    }
}

/// Frames go nowhere.
impl FrameOutput for Spare {
    /// The largest buffer, or an empty one.
    fn memory(&self) -> FrameMemory {
        let SpareState { buffers, used } = &mut *self.state.lock();
        *used += 1;
        // More frames than that are small.
        let most = if *used <= self.large_frames() { self.most } else { 0 };
        FrameMemory { bytes: if buffers.is_empty() { Vec::new() } else { buffers.remove(0) }, most, file_at: 0 }
    }

    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        self.put(packed.into_buffer());
        Ok(())
    }
}

struct ToWriter<'a> {
    frames: SyncSender<PackedFrame>,
    /// Where the frame after those taken will be in the file.
    next: AtomicU64,
    spare: Arc<Spare>,
    on_event: &'a (dyn Fn(BuildEvent) + Sync),
}

impl FrameOutput for ToWriter<'_> {
    fn pair(&self, frame: Frame) {
        (self.on_event)(BuildEvent::Pair(frame));
    }

    fn memory(&self) -> FrameMemory {
        FrameMemory { file_at: self.next.load(Ordering::Relaxed), ..self.spare.memory() }
    }

    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        self.next.fetch_add(packed.section().len() as u64, Ordering::Relaxed);
        // If the writer failed, the channel is closed. Its error is returned at the end.
        Ok(self.frames.send(packed).map_err(|_| Stopped)?)
    }
}
