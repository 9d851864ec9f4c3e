//! Frames of lower layers on the device: the resident ones, and the operand, a buffer that collects
//! the frames a stage reads.

use std::cmp::Reverse;
use std::collections::HashMap;

use kalah_core::index::Frame;
use kalah_tables::builder::ComputeError;
use kalah_tables::table::{FrameEntry, Tables, frame_in_parallel};

use super::classes::Child;
use super::packer::PackedOnDevice;
use super::stages::{ABSENT, FrameAt, OVER};
use crate::device::{DeviceBuffer, Gpu, GpuError, Recorder, Window};

/// Resident frames leave one part in this many of the allowed memory to maps and moves that are
/// made later.
pub(super) const HEADROOM: u64 = 16;

pub(super) struct Lower {
    /// The resident frames, each in one buffer: profile, groups, patches. A stage that reads one
    /// frame reads it there.
    resident: Residency<DeviceBuffer>,
    /// Used alternately, so that one is filled while a stage reads the other.
    operands: [DeviceBuffer; 2],
    next: usize,
    memory: Option<u64>,
    /// Maximum bytes of resident frames, once the device had no memory for more; until a layer is
    /// evicted.
    most: u64,
}

impl Lower {
    /// Starts without frames, with operands of this size.
    pub fn new(gpu: &Gpu, operand_bytes: u64, memory: Option<u64>) -> Result<Lower, GpuError> {
        let operand = || gpu.storage("frames of lower layers", operand_bytes);
        Ok(Lower {
            // Among frames that are not read again, those of the lowest layer give way first.
            resident: Residency::new(|frame| -((frame.mover + frame.other) as i64)),
            operands: [operand()?, operand()?],
            next: 0,
            memory,
            most: u64::MAX,
        })
    }

    /// Bytes of the resident frames.
    pub fn resident_bytes(&self) -> u64 {
        self.resident.bytes()
    }

    /// Begins a layer with these reads, which determine the frames that stay.
    pub fn plan(&mut self, reads: ReadSteps) {
        self.resident.plan(reads);
    }

    /// Begins a step of the layer: see [`ReadSteps`].
    pub fn begin(&mut self, step: u32) {
        self.resident.begin(step);
    }

    /// Calls `run` with a window and the number of the first of `count` frames in it.
    ///
    /// The window is a resident frame, if it is the only child of a stage. Otherwise it is the
    /// operand, to which the children are copied, in as many parts as necessary, with one call for
    /// each. Children with an empty row are finished games: their score is the seeds of the row to
    /// move.
    pub fn load(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        count: usize,
        children: &[Child],
        mut run: impl FnMut(&mut Recorder, Window, u32) -> Result<(), GpuError>,
    ) -> Result<(), ComputeError> {
        let absent = FrameAt { profile_at: 0, groups_at: 0, patches_at: 0, rows: ABSENT };
        let mut over = vec![absent; count];
        let mut to_load = Vec::new();
        for &(number, frame) in children {
            if frame.mover == 0 || frame.other == 0 {
                over[number] = FrameAt { profile_at: frame.mover as u32, rows: OVER, ..absent };
            } else {
                let table = tables.require(frame.mover + frame.other)?;
                to_load.push((number, frame, table.header().entries[frame.mover - 1]));
            }
        }
        if let &[(number, frame, entry)] = &to_load[..]
            && entry.checksums_at() <= recorder.gpu().max_binding()
            && let Some(resident) = self.reside(recorder, tables, frame, &entry)?
        {
            over[number] = FrameAt::new(0, &entry);
            let first = recorder.records(bytemuck::cast_slice(&over))?;
            return Ok(run(recorder, resident, first)?);
        }
        let mut rest = &to_load[..];
        loop {
            let capacity = self.operands[self.next].bytes();
            let mut end = 0;
            let fitting = rest.iter().take_while(|(_, _, entry)| {
                end += entry.checksums_at();
                end <= capacity
            });
            let (now, later) = rest.split_at(fitting.count());
            if now.is_empty() && !later.is_empty() {
                // A frame with more patches than expected.
                let (gpu, bytes) = (recorder.gpu(), later[0].2.checksums_at());
                if bytes > gpu.max_binding() {
                    return Err(gpu.binding_error(bytes).into());
                }
                // There may not be enough memory for both.
                self.operands[self.next] = gpu.storage("no frame", 0)?;
                self.operands[self.next] = gpu.storage("a frame of a lower layer", bytes)?;
                continue;
            }
            let operand = self.operands[self.next].window();
            self.next = 1 - self.next;
            let mut places = over.clone();
            let mut at = 0;
            for (number, frame, entry) in now {
                places[*number] = FrameAt::new(at, entry);
                self.bring_one(recorder, tables, *frame, entry, &Window { offset: at, ..operand.clone() })?;
                at += entry.checksums_at();
            }
            let first = recorder.records(bytemuck::cast_slice(&places))?;
            // Stages may read the first group even if it means nothing.
            run(recorder, Window { bytes: at.max(64), ..operand }, first)?;
            rest = later;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    fn bring_one(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        frame: Frame,
        entry: &FrameEntry,
        to: &Window,
    ) -> Result<(), ComputeError> {
        if let Some(resident) = self.reside(recorder, tables, frame, entry)? {
            return Ok(recorder.copy(&resident, to, bytes_of(entry))?);
        }
        let section = tables.require(frame.mover + frame.other)?.section(entry);
        recorder.uploaded += entry.checksums_at();
        Ok(recorder.upload(&section[..entry.checksums_at() as usize], to)?)
    }

    /// Returns a resident frame, making it resident unless others are needed sooner; then `None`.
    /// The frame is compared with its checksums in any case.
    fn reside(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        frame: Frame,
        entry: &FrameEntry,
    ) -> Result<Option<Window>, ComputeError> {
        if let Some(resident) = self.resident.read(frame) {
            return Ok(Some(resident.window()));
        }
        // Shaders trust the data that they read. Resident frames were compared when they were
        // copied; a frame of a file is compared once while the file is mapped.
        let table = tables.require(frame.mover + frame.other)?;
        frame_in_parallel(table, frame.mover)?;
        let bytes = bytes_of(entry);
        let Some(buffer) = self.allocate(recorder, frame, bytes)? else { return Ok(None) };
        recorder.uploaded += bytes;
        recorder.upload(&table.section(entry)[..bytes as usize], &buffer.window())?;
        let window = buffer.window();
        self.resident.insert(frame, buffer, bytes);
        Ok(Some(window))
    }

    /// Allocates memory for one more frame, for which others give way; `None` if that is
    /// impossible.
    fn allocate(
        &mut self,
        recorder: &mut Recorder,
        frame: Frame,
        bytes: u64,
    ) -> Result<Option<DeviceBuffer>, GpuError> {
        let headroom = self.memory.map_or(0, |memory| memory / HEADROOM);
        let gpu = recorder.gpu();
        // The shortage, of the allowed memory and of the device's memory.
        let allowed = gpu.budget().map_or(0, |budget| (gpu.used() + bytes + headroom).saturating_sub(budget));
        let missing = allowed.max((self.resident.bytes() + bytes).saturating_sub(self.most));
        if missing > 0 {
            let Some(yielding) = self.resident.yielding(frame, missing) else { return Ok(None) };
            yielding.into_iter().for_each(|frame| self.resident.remove(frame));
            // Memory is freed once no submitted work uses it.
            recorder.finish()?;
        }
        match gpu.storage("a resident frame", bytes) {
            Ok(made) => Ok(Some(made)),
            Err(GpuError::OutOfMemory { .. }) => {
                self.most = self.resident.bytes();
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Keeps a packed frame on the device if there is memory. Frames that are not read again give
    /// way.
    pub fn keep(&mut self, recorder: &mut Recorder, frame: Frame, packed: &PackedOnDevice) -> Result<(), GpuError> {
        let (head, patches) = (packed.head.bytes, packed.patch_bytes.next_multiple_of(4));
        if let Some(buffer) = self.allocate(recorder, frame, head + patches)? {
            let to = buffer.window();
            recorder.copy(&packed.head, &to, head)?;
            recorder.copy(&packed.patches, &Window { offset: head, ..to }, patches)?;
            self.resident.insert(frame, buffer, head + patches);
        }
        Ok(())
    }

    /// Evicts the lowest resident layer. Returns true if there was one.
    pub fn evict(&mut self, recorder: &mut Recorder) -> Result<bool, GpuError> {
        let evicted = self.resident.remove_lowest();
        self.most = u64::MAX;
        // Memory is freed once no submitted work uses it.
        recorder.finish()?;
        Ok(evicted)
    }
}

/// Bytes of a frame that stages read: as in its file up to the padding after the patches.
fn bytes_of(entry: &FrameEntry) -> u64 {
    entry.patches_at() + entry.patch_bytes.next_multiple_of(4)
}

/// Next step of a frame that the layer does not read again.
const NEVER: u32 = u32::MAX;

/// The steps in which a layer reads each lower frame. A layer has one step for each of its frames.
#[derive(Debug, Default)]
pub(super) struct ReadSteps {
    /// Steps by frame, ascending.
    steps: HashMap<Frame, Vec<u32>>,
}

impl ReadSteps {
    /// Collects the frames that each step reads; a frame may occur several times.
    pub fn new<F: IntoIterator<Item = Frame>>(frames: impl IntoIterator<Item = F>) -> ReadSteps {
        let mut reads = ReadSteps::default();
        for (step, frames) in (0..).zip(frames) {
            for frame in frames {
                let steps = reads.steps.entry(frame).or_default();
                if steps.last() != Some(&step) {
                    steps.push(step);
                }
            }
        }
        reads
    }

    /// First step from `step` on that reads a frame.
    fn next(&self, frame: Frame, step: u32) -> u32 {
        let Some(steps) = self.steps.get(&frame) else { return NEVER };
        steps.get(steps.partition_point(|&other| other < step)).copied().unwrap_or(NEVER)
    }
}

/// A frame that is kept.
#[derive(Debug)]
struct Resident<T> {
    held: T,
    bytes: u64,
    /// Step of its next read.
    next: u32,
}

/// The frames that are kept, each with the object that holds it.
#[derive(Debug)]
pub(super) struct Residency<T> {
    frames: HashMap<Frame, Resident<T>>,
    bytes: u64,
    reads: ReadSteps,
    step: u32,
    /// Among frames with the same next step, or none, those with the largest rank give way first.
    rank: fn(Frame) -> i64,
}

impl<T> Residency<T> {
    /// Starts without frames.
    pub fn new(rank: fn(Frame) -> i64) -> Residency<T> {
        Residency { frames: HashMap::new(), bytes: 0, reads: ReadSteps::default(), step: 0, rank }
    }

    /// Bytes of all frames.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Begins a layer with these reads.
    pub fn plan(&mut self, reads: ReadSteps) {
        (self.reads, self.step) = (reads, 0);
        for (frame, resident) in &mut self.frames {
            resident.next = self.reads.next(*frame, 0);
        }
    }

    /// Begins a step of the layer.
    pub fn begin(&mut self, step: u32) {
        self.step = step;
    }

    /// Returns the object that holds a frame that is read now, if it is kept.
    pub fn read(&mut self, frame: Frame) -> Option<&T> {
        let resident = self.frames.get_mut(&frame)?;
        resident.next = self.reads.next(frame, self.step + 1);
        Some(&resident.held)
    }

    /// All frames and their bytes, in the order in which they give way: the last to be read first.
    fn latest(&self) -> impl Iterator<Item = (Frame, u64)> {
        let key = |(frame, resident): (&Frame, &Resident<T>)| {
            ((resident.next, (self.rank)(*frame)), frame.mover, *frame, resident.bytes)
        };
        let mut latest: Vec<_> = self.frames.iter().map(key).collect();
        latest.sort_unstable_by_key(|&(order, mover, _, _)| Reverse((order, mover)));
        latest.into_iter().map(|(_, _, frame, bytes)| (frame, bytes))
    }

    /// Frames that should give way to `frame`, which takes `bytes` more than fit. `frame` is read
    /// now, or belongs to the current layer. `None` if `frame` itself should not be kept.
    pub fn yielding(&self, frame: Frame, bytes: u64) -> Option<Vec<Frame>> {
        let own = (self.reads.next(frame, self.step + 1), (self.rank)(frame));
        let later = self.latest().take_while(|(frame, _)| (self.frames[frame].next, (self.rank)(*frame)) > own);
        let mut freed = 0;
        let enough = later.take_while(|(_, own)| {
            let more = freed < bytes;
            freed += if more { *own } else { 0 };
            more
        });
        let yielding = enough.map(|(frame, _)| frame).collect();
        (freed >= bytes).then_some(yielding)
    }

    /// Keeps a frame that is read now, or belongs to the current layer.
    pub fn insert(&mut self, frame: Frame, held: T, bytes: u64) {
        let next = self.reads.next(frame, self.step + 1);
        self.remove(frame);
        self.frames.insert(frame, Resident { held, bytes, next });
        self.bytes += bytes;
    }

    /// Drops a frame.
    pub fn remove(&mut self, frame: Frame) {
        self.bytes -= self.frames.remove(&frame).map_or(0, |resident| resident.bytes);
    }

    /// Drops all frames of the lowest layer. Returns true if there was one.
    pub fn remove_lowest(&mut self) -> bool {
        let layer = |frame: &Frame| frame.mover + frame.other;
        let lowest = self.frames.keys().map(layer).min();
        let removed: Vec<Frame> = self.frames.keys().copied().filter(|frame| Some(layer(frame)) == lowest).collect();
        removed.iter().for_each(|&frame| self.remove(frame));
        lowest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(mover: usize, other: usize) -> Frame {
        Frame { pits: 6, mover, other }
    }

    #[test]
    fn what_is_read_last_gives_way_first() {
        let reads =
            [(frame(1, 1), vec![0, 5]), (frame(1, 2), vec![0, 9]), (frame(2, 1), vec![0]), (frame(1, 3), vec![0])];
        let mut residency = Residency::new(|frame| -((frame.mover + frame.other) as i64));
        residency.plan(ReadSteps { steps: reads.into_iter().collect() });
        for (mover, other) in [(1, 1), (1, 2), (2, 1), (1, 3)] {
            residency.insert(frame(mover, other), (), 10);
        }
        assert_eq!(residency.bytes(), 40);
        // Frames that are not read again give way first, of the lowest layer first; then the last
        // to be read.
        residency.reads.steps.insert(frame(3, 3), vec![0, 7]);
        assert_eq!(residency.yielding(frame(3, 3), 1), Some(vec![frame(2, 1)]));
        assert_eq!(residency.yielding(frame(3, 3), 30), Some(vec![frame(2, 1), frame(1, 3), frame(1, 2)]));
        assert_eq!(residency.yielding(frame(3, 3), 31), None, "what is read sooner stays");
        // A frame of this layer displaces only frames that the layer does not read.
        assert_eq!(residency.yielding(frame(4, 4), 21), None);
        assert_eq!(residency.yielding(frame(4, 4), 20), Some(vec![frame(2, 1), frame(1, 3)]));
        residency.begin(9);
        assert!(residency.read(frame(1, 2)).is_some() && residency.read(frame(3, 3)).is_none());
        assert_eq!(residency.yielding(frame(4, 4), 20), Some(vec![frame(2, 1), frame(1, 2)]));
        assert!(residency.remove_lowest());
        assert_eq!(residency.bytes(), 30);
    }

    #[test]
    fn a_frame_is_counted_once_a_step() {
        let reads = ReadSteps::new([vec![frame(1, 1), frame(1, 2), frame(1, 1)], vec![], vec![frame(1, 1)]]);
        assert_eq!([0, 1, 3].map(|step| reads.next(frame(1, 1), step)), [0, 2, NEVER]);
        assert_eq!([0, 1].map(|step| reads.next(frame(1, 2), step)), [0, NEVER]);
    }
}
