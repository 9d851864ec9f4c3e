//! Frames of lower layers on the device: the resident ones, and the operand, a buffer that collects
//! the frames a stage reads.

use std::ops::Range;

use kalah_core::index::Frame;
use kalah_core::table::Tables;
use kalah_tables::builder::ComputeError;
use kalah_tables::table::frame_in_parallel;

use super::classes::Child;
use super::packer::PackedOnDevice;
use super::parts::FramePart;
use super::residency::Residency;
use super::stages::{ABSENT, FrameAt, OVER};
use crate::device::{DeviceBuffer, Gpu, GpuError, Recorder, Window};

/// Resident frames leave one part in this many of the allowed memory to maps and moves that are
/// made later.
pub(super) const HEADROOM: u64 = 16;

/// Frames that a stage reads.
pub(super) struct Loaded {
    /// The buffer that holds them.
    pub window: Window,
    /// The number of the first of their places.
    pub frames_at: u32,
    /// The rows of the waiting side that are there; `None` for all.
    pub rows: Option<Range<u32>>,
}

pub(super) struct Lower {
    /// The resident frames, each in one buffer: profile, groups, patches. A stage that reads one
    /// frame reads it there.
    pub resident: Residency<DeviceBuffer>,
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
    pub(super) fn new(gpu: &Gpu, operand_bytes: u64, memory: Option<u64>) -> Result<Lower, GpuError> {
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

    /// Calls `run` with the children of a class, the first of which has number 0 and the last
    /// `count` - 1.
    ///
    /// A resident frame that is the only child is read in place. Otherwise the children are copied
    /// to the operand, in as many parts as necessary, with one call for each. Children with an empty
    /// row are finished games: their score is the seeds of the row to move.
    pub(super) fn load(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        count: usize,
        children: &[Child],
        mut run: impl FnMut(&mut Recorder, Loaded) -> Result<(), GpuError>,
    ) -> Result<(), ComputeError> {
        let absent = FrameAt { profile_at: 0, groups_at: 0, patches_at: 0, rows: ABSENT };
        let (max_part, max_binding) = (recorder.gpu.max_part(), recorder.gpu.max_binding());
        let mut over = vec![absent; count];
        let mut to_load = Vec::new();
        for &(number, frame) in children {
            if frame.mover == 0 || frame.other == 0 {
                over[number] = FrameAt { profile_at: frame.mover as u32, rows: OVER, ..absent };
            } else {
                to_load.extend(self.parts(tables, frame, max_part)?.into_iter().map(|part| (number, part)));
            }
        }
        if let [(number, part @ FramePart { rows: None, .. })] = &to_load[..]
            && let Some(window) = self.reside(recorder, tables, part.frame)?
        {
            over[*number] = part.place(0);
            let frames_at = recorder.records(bytemuck::cast_slice(&over))?;
            return Ok(run(recorder, Loaded { window, frames_at, rows: None })?);
        }
        let mut rest = &to_load[..];
        loop {
            let capacity = self.operands[self.next].bytes();
            let (mut end, mut whole) = (0, true);
            let fitting = rest.iter().take_while(|(_, part)| {
                // A part that is not whole is alone.
                let is_next = end == 0 || (whole && part.rows.is_none());
                (end, whole) = (end + part.bytes(), part.rows.is_none());
                is_next && end <= capacity
            });
            let (now, later) = rest.split_at(fitting.count());
            if now.is_empty() && !later.is_empty() {
                // It has more patches than expected.
                let (gpu, bytes) = (recorder.gpu, later[0].1.bytes());
                if bytes > max_binding {
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
            for (number, part) in now {
                places[*number] = part.place(at);
                self.bring_one(recorder, tables, part, &Window { offset: at, ..operand.clone() })?;
                at += part.bytes();
            }
            let frames_at = recorder.records(bytemuck::cast_slice(&places))?;
            let rows = now.first().and_then(|(_, part)| part.rows.clone());
            // Stages may read the first group even if it means nothing.
            run(recorder, Loaded { window: Window { bytes: at.max(64), ..operand }, frames_at, rows })?;
            rest = later;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Divides a frame into parts. The file of a resident frame, which may not be complete yet, is needed only for a
    /// frame larger than a part.
    fn parts(&self, tables: &Tables, frame: Frame, most: u64) -> Result<Vec<FramePart>, ComputeError> {
        let resident = self.resident.bytes_of(frame).map(|bytes| FramePart::resident(frame, bytes));
        match resident.filter(|part| part.bytes() <= most) {
            Some(part) => Ok(vec![part]),
            None => Ok(FramePart::all(frame, tables.require(frame.mover + frame.other)?, most)?),
        }
    }

    fn bring_one(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        part: &FramePart,
        to: &Window,
    ) -> Result<(), ComputeError> {
        let resident = self.reside(recorder, tables, part.frame)?;
        let mut to = to.clone();
        for range in part.ranges() {
            let bytes = range.end - range.start;
            match &resident {
                Some(resident) => recorder.copy(&Window { offset: range.start, ..resident.clone() }, &to, bytes)?,
                None => {
                    let table = tables.require(part.frame.mover + part.frame.other)?;
                    let section = table.blocks().section_bytes(&table.blocks().sections()[part.frame.mover - 1]);
                    recorder.uploaded += bytes;
                    recorder.upload(&section[range.start as usize..range.end as usize], &to)?;
                }
            }
            to.offset += bytes;
        }
        Ok(())
    }

    /// Returns a resident frame, making it resident unless others are needed sooner; then `None`.
    /// The frame is compared with its checksums in any case.
    fn reside(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        frame: Frame,
    ) -> Result<Option<Window>, ComputeError> {
        if let Some(resident) = self.resident.read(frame) {
            return Ok(Some(resident.window()));
        }
        // Shaders trust the data that they read. Resident frames were compared when they were
        // copied; a frame of a file is compared once while the file is mapped.
        let table = tables.require(frame.mover + frame.other)?;
        frame_in_parallel(table, frame.mover)?;
        let entry = &table.header().entries[frame.mover - 1];
        let bytes = entry.patches_at() + entry.patch_bytes.next_multiple_of(4);
        let Some(buffer) = self.allocate(recorder, frame, bytes)? else { return Ok(None) };
        recorder.uploaded += bytes;
        recorder.upload(&table.blocks().section_bytes(&entry.section())[..bytes as usize], &buffer.window())?;
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
        let gpu = recorder.gpu;
        if bytes > gpu.max_buffer() {
            return Ok(None);
        }
        let headroom = self.memory.map_or(0, |memory| memory / HEADROOM);
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
    pub(super) fn keep(
        &mut self,
        recorder: &mut Recorder,
        frame: Frame,
        packed: &PackedOnDevice,
    ) -> Result<(), GpuError> {
        let bytes = packed.padded_bytes();
        if let Some(buffer) = self.allocate(recorder, frame, bytes)? {
            packed.copy(recorder, &buffer)?;
            self.resident.insert(frame, buffer, bytes);
        }
        Ok(())
    }

    /// Evicts the lowest resident layer. Returns true if there was one.
    pub(super) fn evict(&mut self, recorder: &mut Recorder) -> Result<bool, GpuError> {
        let evicted = self.resident.remove_lowest();
        self.most = u64::MAX;
        // Memory is freed once no submitted work uses it.
        recorder.finish()?;
        Ok(evicted)
    }
}
