//! Packs on the device: from a matrix of scores to the bytes of a table file.

use std::sync::mpsc::{Receiver, Sender};

use kalah_core::index::Frame;
use kalah_tables::builder::{ComputeError, FrameOutput};
use kalah_tables::table::PackedFrame;
use wgpu::SubmissionIndex;

use super::matrix::Matrix;
use super::stages::{
    Encode, GROUP_POSITIONS, GROUP_WORDS, Mean, PROFILE_ROWS, Profile, SCAN_BLOCK, Scan, Stage, rows_of_whole_groups,
};
use crate::device::{DeviceBuffer, Gpu, GpuError, Recorder, WORKGROUP, Window};

/// Initially, one byte is allocated for patches for this many bytes of groups. More is allocated
/// when needed.
const PATCH_SHARE: u64 = 16;

/// Memory for packing one frame after the other.
pub(super) struct Packer {
    sums: DeviceBuffer,
    profile: DeviceBuffer,
    groups: DeviceBuffer,
    patches: DeviceBuffer,
    /// Sizes of each group's patch, later the sum of those before it in its block; the same for
    /// blocks in their superblock, and for superblocks; and the total.
    sizes: [DeviceBuffer; 4],
}

/// A packed frame on the device: its bytes as in a table file, without checksums.
pub(super) struct PackedOnDevice {
    profile: Window,
    groups: Window,
    /// In whole words.
    patches: Window,
    patch_bytes: u64,
}

impl PackedOnDevice {
    /// Bytes of profile, groups and patches.
    pub(super) fn bytes(&self) -> u64 {
        self.profile.bytes + self.groups.bytes + self.patch_bytes
    }

    /// The same in whole words.
    pub(super) fn padded_bytes(&self) -> u64 {
        self.bytes().next_multiple_of(4)
    }

    /// Copies the frame to the beginning of a buffer.
    pub(super) fn copy(&self, recorder: &mut Recorder, to: &DeviceBuffer) -> Result<(), GpuError> {
        let mut to = to.window();
        let patches = Window { bytes: self.patch_bytes.next_multiple_of(4), ..self.patches.clone() };
        for from in [&self.profile, &self.groups, &patches] {
            recorder.copy(from, &to, from.bytes)?;
            to.offset += from.bytes;
        }
        Ok(())
    }
}

/// Bytes of the profile of a frame.
fn profile_bytes(frame: Frame) -> u64 {
    (frame.mover_rows() as u64).next_multiple_of(64)
}

/// Bytes of the groups of a frame.
fn group_bytes(frame: Frame) -> u64 {
    4 * u64::from(GROUP_WORDS) * groups(frame)
}

/// Bytes of profile and groups of a frame.
pub(super) fn head_bytes(frame: Frame) -> u64 {
    profile_bytes(frame) + group_bytes(frame)
}

fn groups(frame: Frame) -> u64 {
    frame.positions().div_ceil(GROUP_POSITIONS.into())
}

/// Bytes of memory for frames up to this one.
pub(super) fn packer_bytes(largest: Frame) -> u64 {
    let head = head_bytes(largest);
    head + head / PATCH_SHARE + 4 * groups(largest) + 4 * largest.mover_rows() as u64
}

impl Packer {
    /// Allocates memory for frames as large as `frames`.
    pub(super) fn new(gpu: &Gpu, frames: &[Frame]) -> Result<Packer, GpuError> {
        let most = |of: &dyn Fn(Frame) -> u64| frames.iter().map(|&frame| of(frame)).max().unwrap_or(0);
        let groups = most(&groups);
        let block = u64::from(SCAN_BLOCK);
        let sizes = |numbers: u64| gpu.storage("sizes of patches", 4 * numbers);
        let of_groups = most(&group_bytes);
        Ok(Packer {
            sums: gpu.storage("sums of scores", 4 * most(&|frame| frame.mover_rows() as u64 + 4))?,
            profile: gpu.storage("a profile", most(&profile_bytes))?,
            groups: gpu.storage("a packed frame", of_groups)?,
            patches: gpu.storage("patches", of_groups / PATCH_SHARE + 4096)?,
            sizes: [sizes(groups)?, sizes(groups.div_ceil(block))?, sizes(groups.div_ceil(block * block))?, sizes(1)?],
        })
    }

    /// Packs the scores of `frame`: for each other row, a run over the mover's rows.
    pub(super) fn pack(
        &mut self,
        recorder: &mut Recorder,
        frame: Frame,
        scores: &Matrix,
    ) -> Result<PackedOnDevice, GpuError> {
        let gpu = recorder.gpu();
        let (rows, others) = (frame.mover_rows(), scores.rows);
        assert_eq!((scores.columns as u64, others as u64), (rows as u64, frame.positions() / rows as u64));
        let words = u64::from(scores.words());
        // The scores are read twice, for the profile and for the groups. The head is written once.
        recorder.touched += 2 * scores.all().bytes + head_bytes(frame);
        recorder.clear(&self.sums.window())?;
        for part in scores.parts(gpu, 0..others, PROFILE_ROWS as usize) {
            let (window, base) = scores.window(gpu, part.clone())?;
            let bound = recorder.bind(Stage::Profile.kernel(), &[window, self.sums.window()]);
            let threads = words * part.len().div_ceil(PROFILE_ROWS as usize) as u64;
            recorder.dispatch_threads(&bound, threads, words, |thread, threads| Profile {
                threads,
                words: words as u32,
                first_row: part.start as u32 + (thread / words) as u32 * PROFILE_ROWS,
                end_row: part.end as u32,
                base,
            })?;
        }
        let profile = self.profile.front(profile_bytes(frame));
        let bound = recorder.bind(Stage::Mean.kernel(), &[self.sums.window(), profile.clone()]);
        // The sums have a few more columns than rows: the padding. All at once, since the profile
        // begins at the first row.
        recorder.dispatch_threads(&bound, profile.bytes / 4, profile.bytes / 4, |_, threads| Mean {
            threads,
            rows: rows as u32,
            others: others as u32,
        })?;

        let packing = Packing { scores, profile, groups: self.groups.front(group_bytes(frame)) };
        packing.run(recorder, Stage::Encode, &[self.sizes[0].window()])?;
        let patch_bytes = self.scan(recorder, groups(frame))?;
        if patch_bytes > 0 {
            let padded = patch_bytes.next_multiple_of(4);
            if padded > gpu.max_binding() {
                return Err(gpu.binding_error(padded));
            }
            if padded > self.patches.bytes() {
                // There may not be enough memory for both.
                self.patches = gpu.storage("no patches", 0)?;
                self.patches = gpu.storage("patches", padded)?;
            }
            recorder.clear(&self.patches.front(padded))?;
            let [sizes, blocks, superblocks, _] = &self.sizes;
            let more = [sizes.window(), blocks.window(), superblocks.window(), self.patches.front(padded)];
            packing.run(recorder, Stage::Patch, &more)?;
        }
        let patches = self.patches.front(patch_bytes.next_multiple_of(4).max(4));
        Ok(PackedOnDevice { profile: packing.profile, groups: packing.groups, patches, patch_bytes })
    }

    /// Replaces the sizes of the patches by their offsets. Returns the sum of all sizes.
    fn scan(&mut self, recorder: &mut Recorder, groups: u64) -> Result<u64, GpuError> {
        let mut numbers = groups;
        for level in 0..3 {
            let blocks = numbers.div_ceil(SCAN_BLOCK.into());
            let windows = [self.sizes[level].window(), self.sizes[level + 1].window()];
            let bound = recorder.bind(Stage::Scan.kernel(), &windows);
            let block = u64::from(WORKGROUP);
            recorder.dispatch_threads(&bound, blocks * block, block, |thread, _| Scan {
                numbers: numbers as u32,
                first_block: (thread / block) as u32,
            })?;
            numbers = blocks;
        }
        assert_eq!(numbers, 1, "superblocks fit a block");
        recorder.finish()?;
        let total = recorder.gpu().read(&self.sizes[3].front(4))?;
        Ok(bytemuck::pod_read_unaligned::<u32>(&total).into())
    }
}

/// A frame whose scores are being packed.
struct Packing<'a> {
    scores: &'a Matrix,
    profile: Window,
    groups: Window,
}

impl Packing<'_> {
    /// Runs a stage for all groups, in parts that it can use at once: whole groups of whole runs.
    /// `more` are its buffers after the groups.
    fn run(&self, recorder: &mut Recorder, stage: Stage, more: &[Window]) -> Result<(), GpuError> {
        let (gpu, rows, group) = (recorder.gpu(), self.scores.columns as u64, u64::from(GROUP_POSITIONS));
        let words = u64::from(self.scores.words());
        let (unit, group_bytes) = (rows_of_whole_groups(rows) as usize, 4 * u64::from(GROUP_WORDS));
        for part in self.scores.parts(gpu, 0..self.scores.rows, unit) {
            let (scores, base) = self.scores.window(gpu, part.clone())?;
            let positions = part.len() as u64 * rows;
            let (origin, count) = (part.start as u64 * rows / group, positions.div_ceil(group));
            // Windows begin at multiples of an alignment.
            let first = origin * group_bytes;
            let offset = first / gpu.window_alignment() * gpu.window_alignment();
            let bytes = first + count * group_bytes - offset;
            let groups = Window { offset, bytes, ..self.groups.clone() };
            let windows = [[scores, self.profile.clone(), groups].as_slice(), more].concat();
            let bound = recorder.bind(stage.kernel(), &windows);
            let scores_at = (part.start as u64 * words - u64::from(base)) as u32;
            recorder.dispatch_threads(&bound, count, 1, |done, threads| Encode {
                threads,
                first_group: (origin + done) as u32,
                rows: rows as u32,
                words: words as u32,
                origin: origin as u32,
                scores_at,
                positions: positions as u32,
                groups_at: ((first - offset) / 4) as u32,
            })?;
        }
        Ok(())
    }
}

/// Buffers for packed frames that are copied back. One is filled while the other is read.
pub(super) const READBACKS: usize = 2;

/// A packed frame that is being copied back.
pub(super) struct Delivery {
    frame: Frame,
    buffer: DeviceBuffer,
    /// Bytes of the frame.
    bytes: u64,
    submission: Option<SubmissionIndex>,
}

/// Copies a packed frame to a buffer that the CPU can read.
pub(super) fn send(
    recorder: &mut Recorder,
    frame: Frame,
    packed: &PackedOnDevice,
    spare: DeviceBuffer,
) -> Result<Delivery, GpuError> {
    let buffer = if spare.bytes() >= packed.padded_bytes() {
        spare
    } else {
        // It is in the machine's memory, not the device's.
        drop(spare);
        recorder.gpu().host_buffer(packed.padded_bytes())?
    };
    packed.copy(recorder, &buffer)?;
    recorder.submit()?;
    let submission = recorder.last();
    Ok(Delivery { frame, buffer, bytes: packed.bytes(), submission })
}

/// Passes arriving frames to `output` and their buffers to `spare`, until no more come or a frame
/// is not taken.
pub(super) fn collect(
    gpu: &Gpu,
    deliveries: Receiver<Delivery>,
    spare: Sender<DeviceBuffer>,
    output: &dyn FrameOutput,
) -> Result<(), ComputeError> {
    for delivery in deliveries {
        let Delivery { frame, buffer, bytes, submission } = delivery;
        let memory = output.memory();
        let packed = gpu.mapped(&buffer.buffer, bytes.next_multiple_of(4), submission, |view| {
            PackedFrame::copy_of(frame, &view[..bytes as usize], memory)
        })?;
        // If the receiver is gone, no more frames are sent.
        let _ = spare.send(buffer);
        let damaged = || GpuError::Refused(format!("the patches of {frame:?} came back damaged"));
        output.take(packed.ok_or_else(damaged)?)?;
    }
    Ok(())
}
