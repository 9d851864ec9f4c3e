//! Packs on the device: from a matrix of scores to the bytes of a table file.

use std::sync::mpsc::{Receiver, Sender};

use kalah_core::index::Frame;
use kalah_tables::builder::{ComputeError, FrameOutput};
use kalah_tables::table::PackedFrame;
use wgpu::SubmissionIndex;

use super::matrix::Matrix;
use super::stages::{Encode, GROUP_POSITIONS, GROUP_WORDS, Mean, PROFILE_ROWS, Profile, SCAN_BLOCK, Scan, Stage};
use crate::device::{DeviceBuffer, Gpu, GpuError, Recorder, WORKGROUP, Window};

/// Initially, one byte is allocated for patches for this many bytes of groups. More is allocated
/// when needed.
const PATCH_SHARE: u64 = 16;

/// Memory for packing one frame after the other.
pub(super) struct Packer {
    sums: DeviceBuffer,
    head: DeviceBuffer,
    patches: DeviceBuffer,
    /// Sizes of each group's patch, later the sum of those before it in its block; the same for
    /// blocks in their superblock, and for superblocks; and the total.
    sizes: [DeviceBuffer; 4],
}

/// A packed frame on the device: its bytes as in a table file, without checksums.
pub(super) struct PackedOnDevice {
    /// Profile and groups.
    pub head: Window,
    /// Patches, without padding; the window is padded.
    pub patches: Window,
    pub patch_bytes: u64,
}

/// Bytes of profile and groups of a frame.
pub(super) fn head_bytes(frame: Frame) -> u64 {
    (frame.mover_rows() as u64).next_multiple_of(64) + 4 * u64::from(GROUP_WORDS) * groups(frame)
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
        let head = most(&head_bytes);
        Ok(Packer {
            sums: gpu.storage("sums of scores", 4 * most(&|frame| frame.mover_rows() as u64 + 4))?,
            head: gpu.storage("a packed frame", head)?,
            patches: gpu.storage("patches", head / PATCH_SHARE + 4096)?,
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
        let at_once = (scores.rows_at_once(gpu) / PROFILE_ROWS as usize * PROFILE_ROWS as usize).max(1);
        for first in (0..others).step_by(at_once) {
            let end = others.min(first + at_once);
            let (window, base) = scores.window(gpu, first..end)?;
            let bound = recorder.bind(Stage::Profile.kernel(), &[window, self.sums.window()]);
            let threads = words * (end - first).div_ceil(PROFILE_ROWS as usize) as u64;
            recorder.dispatch_threads(&bound, threads, words, |thread, threads| Profile {
                threads,
                words: words as u32,
                first_row: first as u32 + (thread / words) as u32 * PROFILE_ROWS,
                end_row: end as u32,
                base,
            })?;
        }
        let groups_at = (rows as u64).next_multiple_of(64) / 4;
        let head = self.head.front(head_bytes(frame));
        let bound = recorder.bind(Stage::Mean.kernel(), &[self.sums.window(), head.clone()]);
        // The sums have a few more columns than rows: the padding. All at once, since the profile
        // begins at the first row.
        recorder.dispatch_threads(&bound, groups_at, groups_at, |_, threads| Mean {
            threads,
            rows: rows as u32,
            others: others as u32,
        })?;

        let groups = groups(frame);
        let params = |base: u32, first_group: u64, threads: u32| Encode {
            threads,
            first_group: first_group as u32,
            rows: rows as u32,
            words: words as u32,
            base,
            positions: frame.positions() as u32,
            groups_at: groups_at as u32,
        };
        for_groups(recorder, scores, rows, groups, |recorder, window, base, first, count| {
            let bound = recorder.bind(Stage::Encode.kernel(), &[window, head.clone(), self.sizes[0].window()]);
            recorder.dispatch_threads(&bound, count, 1, |group, threads| params(base, first + group, threads))
        })?;
        let patch_bytes = self.scan(recorder, groups)?;
        if patch_bytes > 0 {
            let padded = patch_bytes.next_multiple_of(4);
            if padded > self.patches.bytes() {
                // There may not be enough memory for both.
                self.patches = gpu.storage("no patches", 0)?;
                self.patches = gpu.storage("patches", padded)?;
            }
            recorder.clear(&self.patches.front(padded))?;
            for_groups(recorder, scores, rows, groups, |recorder, window, base, first, count| {
                let [sizes, blocks, superblocks, _] = &self.sizes;
                let buffers = [sizes, blocks, superblocks, &self.patches].map(DeviceBuffer::window);
                let windows: Vec<Window> = [window, head.clone()].into_iter().chain(buffers).collect();
                let bound = recorder.bind(Stage::Patch.kernel(), &windows);
                recorder.dispatch_threads(&bound, count, 1, |group, threads| params(base, first + group, threads))
            })?;
        }
        Ok(PackedOnDevice { head, patches: self.patches.front(patch_bytes.next_multiple_of(4).max(4)), patch_bytes })
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

/// Calls `run` for parts of the groups whose scores a stage can use at once. Passes the scores, the
/// number of their first word, the first group, and the number of groups.
fn for_groups(
    recorder: &mut Recorder,
    scores: &Matrix,
    rows: usize,
    groups: u64,
    mut run: impl FnMut(&mut Recorder, Window, u32, u64, u64) -> Result<(), GpuError>,
) -> Result<(), GpuError> {
    let (gpu, rows, group) = (recorder.gpu(), rows as u64, u64::from(GROUP_POSITIONS));
    // A part may begin and end within a run.
    let at_once = (scores.rows_at_once(gpu) as u64).saturating_sub(2).max(1) * rows / group;
    let at_once = at_once.max(1);
    for first in (0..groups).step_by(at_once as usize) {
        let count = at_once.min(groups - first);
        let runs = first * group / rows..(((first + count) * group).div_ceil(rows)).min(scores.rows as u64);
        let (window, base) = scores.window(gpu, runs.start as usize..runs.end as usize)?;
        run(recorder, window, base, first, count)?;
    }
    Ok(())
}

/// Buffers for packed frames that are copied back. One is filled while the other is read.
pub(super) const READBACKS: usize = 2;

/// A packed frame that is being copied back.
pub(super) struct Delivery {
    frame: Frame,
    buffer: DeviceBuffer,
    head_bytes: u64,
    patch_bytes: u64,
    submission: Option<SubmissionIndex>,
}

/// Copies a packed frame to a buffer that the CPU can read.
pub(super) fn send(
    recorder: &mut Recorder,
    frame: Frame,
    packed: &PackedOnDevice,
    spare: DeviceBuffer,
) -> Result<Delivery, GpuError> {
    let (head_bytes, patches) = (packed.head.bytes, packed.patch_bytes.next_multiple_of(4));
    let buffer = if spare.bytes() >= head_bytes + patches {
        spare
    } else {
        // It is in the machine's memory, not the device's.
        drop(spare);
        recorder.gpu().host_buffer(head_bytes + patches)?
    };
    recorder.copy(&packed.head, &buffer.window(), head_bytes)?;
    recorder.copy(&packed.patches, &Window { offset: head_bytes, ..buffer.window() }, patches)?;
    recorder.submit()?;
    let submission = recorder.last();
    Ok(Delivery { frame, buffer, head_bytes, patch_bytes: packed.patch_bytes, submission })
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
        let Delivery { frame, buffer, head_bytes, patch_bytes, submission } = delivery;
        let bytes = head_bytes + patch_bytes.next_multiple_of(4);
        let memory = output.memory();
        let packed = gpu.mapped(&buffer.buffer, bytes, submission, |view| {
            PackedFrame::copy_of(frame, &view[..(head_bytes + patch_bytes) as usize], memory)
        })?;
        // If the receiver is gone, no more frames are sent.
        let _ = spare.send(buffer);
        let damaged = || GpuError::Refused(format!("the patches of {frame:?} came back damaged"));
        output.take(packed.ok_or_else(damaged)?)?;
    }
    Ok(())
}
