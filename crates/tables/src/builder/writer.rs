use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use kalah_base::parallel::small_thread;
use kalah_base::progress::Pulse;
use kalah_core::cancel::Stopped;
use kalah_core::index::Frame;
use kalah_core::table::{TableError, TableKey, Tables};
use parking_lot::Mutex;

use super::backend::Backend;
use super::computer::{ComputeError, Computer, FrameOutput};
use super::event::BuildEvent;
use crate::table::{FrameMemory, PackedFrame, TableWriter};

/// Computes and packs `frames`, while another thread writes the previous ones, in order. Returns the time spent
/// writing.
pub(super) fn write_frames(
    computer: &mut dyn Computer,
    frames: &[Frame],
    tables: &Tables,
    pulse: &Pulse,
    on_event: &(dyn Fn(BuildEvent) + Sync),
    spare: &Spare,
    writer: &mut TableWriter,
) -> Result<Duration, ComputeError> {
    let (sender, receiver) = sync_channel::<PackedFrame>(spare.waiting);
    let next = AtomicU64::new(writer.end());
    std::thread::scope(|scope| {
        let write_all = move || -> Result<Duration, TableError> {
            let mut writing = Duration::ZERO;
            for packed in receiver {
                let start = Instant::now();
                writer.write(&packed)?;
                writing += start.elapsed();
                spare.put(packed.into_buffer());
            }
            Ok(writing)
        };
        let spawned = small_thread("writer").spawn_scoped(scope, write_all);
        let writing = spawned.map_err(TableError::io(Path::new("a thread to write frames")))?;
        let output = ToWriter { frames: sender, next, spare, on_event };
        let completed = computer.compute(tables, frames, pulse, &output);
        drop(output);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        completed?;
        Ok(written)
    })
}

/// The memory of written frames, reused for the next ones.
pub(super) struct Spare {
    buffers: Mutex<Vec<Vec<u8>>>,
    /// Frames that may wait while one is written and the next one is packed or copied.
    waiting: usize,
    /// Bytes of the largest frame, if memory is made for it at once.
    most: usize,
}

impl Spare {
    /// Starts without memory, for layers up to that of `last`.
    pub(super) fn new(backend: &Backend, last: TableKey) -> Spare {
        let waiting = backend.waiting_frames();
        let most = if waiting > 0 { last.frames().map(PackedFrame::most_bytes).max() } else { None };
        Spare { buffers: Mutex::default(), waiting, most: most.unwrap_or(0) as usize }
    }

    /// Keeps the largest buffers: one for each frame that waits, is written, or is packed. Small frames computed in
    /// parallel may leave more, which are useless later.
    fn put(&self, buffer: Vec<u8>) {
        let mut spare = self.buffers.lock();
        spare.push(buffer);
        spare.sort_unstable_by_key(|buffer| std::cmp::Reverse(buffer.capacity()));
        spare.truncate(self.waiting + 2);
    }

    /// Takes the largest buffer, or an empty one.
    fn take_buffer(&self) -> Vec<u8> {
        let mut spare = self.buffers.lock();
        if spare.is_empty() { Vec::new() } else { spare.remove(0) }
    }
}

/// Frames go nowhere.
impl FrameOutput for Spare {
    fn memory(&self) -> FrameMemory {
        FrameMemory { bytes: self.take_buffer(), most: self.most, file_at: 0 }
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
    spare: &'a Spare,
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
