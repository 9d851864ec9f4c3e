//! Frames of lower layers on the device: the resident ones, and the operand, a buffer in which the frames that a stage
//! reads are collected.

use std::collections::BTreeMap;

use super::stages::{ABSENT, FrameAt, OVER};
use crate::build::computer::ComputeError;
use crate::gpu::{DeviceBuffer, Gpu, GpuError, Recorder, Window};
use crate::index::Frame;
use crate::table::{FrameEntry, Tables, frame_in_parallel};

/// Resident frames leave one part in this many of the allowed memory to maps and moves that are made later.
const HEADROOM: u64 = 16;

/// A frame that stays on the device.
struct Resident {
    /// Profile and groups.
    head: DeviceBuffer,
    patches: DeviceBuffer,
}

/// The frames of lower layers.
pub(super) struct Lower {
    /// By seeds in play, then by seeds in the mover's row.
    resident: BTreeMap<usize, BTreeMap<usize, Resident>>,
    /// Used alternately, so that one is filled while a stage reads the other.
    operands: [DeviceBuffer; 2],
    next: usize,
    memory: Option<u64>,
    /// Whether there was no memory for a frame of a lower layer; if so, no other is tried until one is evicted.
    full: bool,
}

/// A frame that a stage reads, with its number in the stage's list.
pub(super) type Child = (usize, Frame);

impl Lower {
    /// No frame yet, and operands of this size.
    pub fn new(gpu: &Gpu, operand_bytes: u64, memory: Option<u64>) -> Result<Lower, GpuError> {
        let operand = || gpu.storage("frames of lower layers", operand_bytes);
        Ok(Lower { resident: BTreeMap::new(), operands: [operand()?, operand()?], next: 0, memory, full: false })
    }

    /// Bytes of the resident frames.
    pub fn resident_bytes(&self) -> u64 {
        let frames = self.resident.values().flat_map(BTreeMap::values);
        frames.map(|frame| frame.head.bytes() + frame.patches.bytes()).sum()
    }

    /// Brings the children of a stage to the operand, in as many parts as necessary, and calls `run` for each part with
    /// the operand and the number of the first of `count` frames. Children with an empty row are finished games: their
    /// score is the seeds of the row to move.
    pub fn bring(
        &mut self,
        recorder: &mut Recorder,
        tables: &Tables,
        count: usize,
        children: &[Child],
        mut run: impl FnMut(&mut Recorder, Window, u32) -> Result<(), GpuError>,
    ) -> Result<(), ComputeError> {
        let absent = FrameAt { profile_at: 0, groups_at: 0, patches_at: 0, rows: ABSENT };
        let mut over = vec![absent; count];
        let mut to_bring = Vec::new();
        for &(number, frame) in children {
            if frame.mover == 0 || frame.other == 0 {
                over[number] = FrameAt { profile_at: frame.mover as u32, rows: OVER, ..absent };
            } else {
                let table = tables.require(frame.mover + frame.other)?;
                to_bring.push((number, frame, table.header().entries[frame.mover - 1]));
            }
        }
        let mut rest = &to_bring[..];
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
                places[*number] = FrameAt {
                    profile_at: at as u32,
                    groups_at: ((at + entry.groups_at()) / 4) as u32,
                    patches_at: (at + entry.patches_at()) as u32,
                    rows: entry.rows as u32,
                };
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
        let seeds = frame.mover + frame.other;
        let is_resident =
            |lower: &Lower| lower.resident.get(&seeds).is_some_and(|layer| layer.contains_key(&frame.mover));
        if !is_resident(self) {
            // Shaders trust what they read. Resident frames were checked when they were copied.
            let table = tables.require(seeds)?;
            frame_in_parallel(table, frame.mover)?;
            let section = table.section(entry);
            let (head, rest) = section.split_at(entry.patches_at() as usize);
            let patches = &rest[..entry.patch_bytes.next_multiple_of(4) as usize];
            match self.allocate(recorder.gpu(), head.len() as u64, patches.len() as u64)? {
                Some(resident) => {
                    recorder.upload(head, &resident.head.window())?;
                    recorder.upload(patches, &resident.patches.window())?;
                    self.resident.entry(seeds).or_default().insert(frame.mover, resident);
                }
                None => {
                    self.full = true;
                    return Ok(recorder.upload(&section[..entry.checksums_at() as usize], to)?);
                }
            }
        }
        let resident = &self.resident[&seeds][&frame.mover];
        recorder.copy(&resident.head.window(), to, entry.patches_at())?;
        let patches = Window { offset: to.offset + entry.patches_at(), ..to.clone() };
        Ok(recorder.copy(&resident.patches.window(), &patches, entry.patch_bytes.next_multiple_of(4))?)
    }

    /// Memory for one more frame; `None` if there is none.
    fn allocate(&self, gpu: &Gpu, head_bytes: u64, patch_bytes: u64) -> Result<Option<Resident>, GpuError> {
        let headroom = self.memory.map_or(0, |memory| memory / HEADROOM);
        if self.full || !gpu.room_for(head_bytes + patch_bytes + headroom) {
            return Ok(None);
        }
        let made = gpu
            .storage("a frame that stays", head_bytes)
            .and_then(|head| Ok(Resident { head, patches: gpu.storage("patches that stay", patch_bytes)? }));
        match made {
            Ok(resident) => Ok(Some(resident)),
            Err(GpuError::OutOfMemory { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a packed frame on the device if there is memory, evicting lower layers if need be.
    pub fn keep(
        &mut self,
        recorder: &mut Recorder,
        frame: Frame,
        head: &Window,
        patches: &Window,
    ) -> Result<(), GpuError> {
        let seeds = frame.mover + frame.other;
        let patch_bytes = patches.bytes.next_multiple_of(4);
        loop {
            if let Some(resident) = self.allocate(recorder.gpu(), head.bytes, patch_bytes)? {
                recorder.copy(head, &resident.head.window(), head.bytes)?;
                recorder.copy(patches, &resident.patches.window(), patch_bytes)?;
                self.resident.entry(seeds).or_default().insert(frame.mover, resident);
                return Ok(());
            }
            // The highest layers are read most.
            if self.resident.first_key_value().is_none_or(|(&lowest, _)| lowest >= seeds) {
                return Ok(());
            }
            self.evict(recorder)?;
        }
    }

    /// Evicts the lowest resident layer. Returns whether there was one.
    pub fn evict(&mut self, recorder: &mut Recorder) -> Result<bool, GpuError> {
        let evicted = self.resident.pop_first().is_some();
        self.full = false;
        // Memory is freed once no submitted work uses it.
        recorder.finish()?;
        Ok(evicted)
    }
}
