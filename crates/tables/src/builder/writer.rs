use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use kalah_base::progress::Pulse;
use kalah_core::cancel::Stopped;
use kalah_core::index::Frame;
use kalah_core::table::{TableError, Tables};
use parking_lot::Mutex;

use super::computer::{ComputeError, Computer, FrameOutput};
use super::event::BuildEvent;
use crate::table::PackedFrame;

/// Computes and packs `frames`, while another thread passes the previous ones to `write`, in order.
/// Returns the time spent writing.
pub(super) fn write_frames(
    computer: &mut dyn Computer,
    frames: &[Frame],
    tables: &Tables,
    pulse: &Pulse,
    on_event: &(dyn Fn(BuildEvent) + Sync),
    mut write: impl FnMut(&PackedFrame) -> Result<(), TableError> + Send,
) -> Result<Duration, ComputeError> {
    // With a channel of capacity 0, at most one packed frame waits while another is being written.
    let (sender, receiver) = sync_channel::<PackedFrame>(0);
    let spare = Spare::default();
    std::thread::scope(|scope| {
        let spare = &spare;
        let write_all = move || -> Result<Duration, TableError> {
            let mut writing = Duration::ZERO;
            for packed in receiver {
                let start = Instant::now();
                write(&packed)?;
                writing += start.elapsed();
                spare.put(packed.into_buffer());
            }
            Ok(writing)
        };
        let spawned = std::thread::Builder::new().spawn_scoped(scope, write_all);
        let writing = spawned.map_err(TableError::io(Path::new("a thread to write frames")))?;
        let output = ToWriter { frames: sender, spare, on_event };
        let completed = computer.compute(tables, frames, pulse, &output);
        drop(output);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        completed?;
        Ok(written)
    })
}

/// The memory of written frames, reused for the next ones.
///
/// Two buffers are enough: while one frame is written, the next one is packed. Small frames
/// computed in parallel may leave more buffers, which are useless later.
#[derive(Default)]
struct Spare(Mutex<Vec<Vec<u8>>>);

impl Spare {
    fn put(&self, buffer: Vec<u8>) {
        let mut spare = self.0.lock();
        spare.push(buffer);
        spare.sort_unstable_by_key(|buffer| std::cmp::Reverse(buffer.capacity()));
        spare.truncate(2);
    }

    /// Takes the largest buffer, or an empty one.
    fn take(&self) -> Vec<u8> {
        let mut spare = self.0.lock();
        if spare.is_empty() { Vec::new() } else { spare.remove(0) }
    }
}

struct ToWriter<'a> {
    frames: SyncSender<PackedFrame>,
    spare: &'a Spare,
    on_event: &'a (dyn Fn(BuildEvent) + Sync),
}

impl FrameOutput for ToWriter<'_> {
    fn pair(&self, frame: Frame) {
        (self.on_event)(BuildEvent::Pair(frame));
    }

    fn buffer(&self) -> Vec<u8> {
        self.spare.take()
    }

    fn take(&self, packed: PackedFrame) -> Result<(), ComputeError> {
        // If the writer failed, the channel is closed. Its error is returned at the end.
        Ok(self.frames.send(packed).map_err(|_| Stopped)?)
    }
}
