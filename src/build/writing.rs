use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::computer::{Computer, Output};
use super::error::BuildError;
use super::event::Event;
use crate::index::Frame;
use crate::progress::Pulse;
use crate::table::{PackedFrame, Piece, TableError, TableWriter, Tables};

/// A table all of whose frames are written.
pub(super) struct Written {
    /// Its writer, to finish it.
    pub writer: TableWriter,
    /// How long writing took, in parallel to computing.
    pub writing: Duration,
}

/// Computes and packs the missing frames, up to the first one that a piece holds, while another thread writes those
/// before. `None` if stopped.
pub(super) fn write_frames(
    computer: &mut dyn Computer,
    mut writer: TableWriter,
    pieces: &[Piece],
    tables: &Tables,
    pulse: &Pulse,
    on_event: &(dyn Fn(Event) + Sync),
) -> Result<Option<Written>, BuildError> {
    let missing: Vec<Frame> =
        writer.missing().take_while(|&frame| !pieces.iter().any(|piece| piece.holds(frame))).collect();
    // With a channel of capacity 0, at most one packed frame waits while another is being written.
    let (sender, receiver) = sync_channel::<PackedFrame>(0);
    // The memory of written frames is reused for the next ones.
    let (give_back, given_back) = channel::<Vec<u8>>();
    std::thread::scope(|scope| {
        let write = move || -> Result<Written, TableError> {
            let mut writing = Duration::ZERO;
            for packed in receiver {
                let start = Instant::now();
                writer.write(&packed)?;
                writing += start.elapsed();
                // The receiver is gone when everything is packed.
                let _ = give_back.send(packed.into_buffer());
            }
            Ok(Written { writer, writing })
        };
        let spawned = std::thread::Builder::new().spawn_scoped(scope, write);
        let writing = spawned.map_err(TableError::io(Path::new("a thread to write frames")))?;
        let output = ToWriter { frames: sender, given_back: Mutex::new((given_back, Vec::new())), on_event };
        let completed = computer.compute(tables, &missing, pulse, &output);
        drop(output);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(completed?.then_some(written))
    })
}

/// Sends frames to the thread that writes.
struct ToWriter<'a> {
    frames: SyncSender<PackedFrame>,
    /// The memory of written frames, and that of them which will be used again.
    given_back: Mutex<(Receiver<Vec<u8>>, Vec<Vec<u8>>)>,
    on_event: &'a (dyn Fn(Event) + Sync),
}

impl Output for ToWriter<'_> {
    fn pair(&self, frame: Frame) {
        (self.on_event)(Event::Pair(frame));
    }

    fn buffer(&self) -> Vec<u8> {
        let mut given_back = self.given_back.lock().unwrap_or_else(PoisonError::into_inner);
        let (receiver, kept) = &mut *given_back;
        kept.extend(receiver.try_iter());
        // There are two at a time, or many small ones of pairs that were computed together.
        kept.sort_unstable_by_key(|buffer| std::cmp::Reverse(buffer.capacity()));
        kept.truncate(2);
        if kept.is_empty() { Vec::new() } else { kept.remove(0) }
    }

    fn take(&self, packed: PackedFrame) -> bool {
        // If the writer failed, the channel is closed; its error is returned at the end.
        self.frames.send(packed).is_ok()
    }
}
