//! Packs on the device: from a matrix of scores to the bytes of a table file.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use kalah_core::index::Frame;
use kalah_tables::builder::{ARRIVING_FRAMES, ComputeError, SMALL_ARRIVING_FRAMES};
use kalah_tables::table::{FrameMemory, PackedFrame};
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
    profile: DeviceBuffer,
    /// For each buffer of a matrix, one for the groups of its scores.
    groups: Vec<DeviceBuffer>,
    patches: DeviceBuffer,
    /// Sizes of each group's patch, later the sum of those before it in its block; the same for
    /// blocks in their superblock, and for superblocks; and the total.
    sizes: [DeviceBuffer; 4],
}

/// A packed frame on the device: its bytes as in a table file, without checksums.
pub(super) struct PackedOnDevice {
    /// Profile, groups, and patches in whole words.
    windows: Vec<Window>,
    /// Bytes after the patches, in the last word.
    padding: u64,
}

impl PackedOnDevice {
    /// Bytes of profile, groups and patches.
    pub(super) fn bytes(&self) -> u64 {
        self.padded_bytes() - self.padding
    }

    /// The same in whole words.
    pub(super) fn padded_bytes(&self) -> u64 {
        bytes_of(&self.windows)
    }

    /// Copies the frame to the beginning of a buffer.
    pub(super) fn copy(&self, recorder: &mut Recorder, to: &DeviceBuffer) -> Result<(), GpuError> {
        copy(recorder, &self.windows, to)
    }

    /// Divides the windows among buffers of at most `most` bytes, or of one window.
    fn parts(&self, most: u64) -> Vec<&[Window]> {
        let (mut parts, mut first) = (Vec::new(), 0);
        for end in 1..=self.windows.len() {
            if end == self.windows.len() || bytes_of(&self.windows[first..=end]) > most {
                parts.push(&self.windows[first..end]);
                first = end;
            }
        }
        parts
    }
}

fn bytes_of(windows: &[Window]) -> u64 {
    windows.iter().map(|window| window.bytes).sum()
}

/// Copies windows, one after the other, to the beginning of a buffer.
fn copy(recorder: &mut Recorder, windows: &[Window], to: &DeviceBuffer) -> Result<(), GpuError> {
    let mut to = to.window();
    for from in windows {
        recorder.copy(from, &to, from.bytes)?;
        to.offset += from.bytes;
    }
    Ok(())
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

/// Bytes for the groups of the scores in these buffers, for each of them.
fn group_bytes_of(matrix_bytes: &[u64]) -> impl Iterator<Item = u64> {
    let groups = |bytes: &u64| bytes.div_ceil(GROUP_POSITIONS.into());
    matrix_bytes.iter().map(move |bytes| 4 * u64::from(GROUP_WORDS) * groups(bytes))
}

/// Bytes of memory for frames up to this one, whose scores take these buffers.
pub(super) fn packer_bytes(largest: Frame, matrix_bytes: &[u64]) -> u64 {
    let head = profile_bytes(largest) + group_bytes_of(matrix_bytes).sum::<u64>();
    head + head / PATCH_SHARE + 4 * groups(largest) + 4 * largest.mover_rows() as u64
}

impl Packer {
    /// Allocates memory for frames as large as `frames`, whose scores take these buffers.
    pub(super) fn new(gpu: &Gpu, frames: &[Frame], matrix_bytes: &[u64]) -> Result<Packer, GpuError> {
        let most = |of: &dyn Fn(Frame) -> u64| frames.iter().map(|&frame| of(frame)).max().unwrap_or(0);
        let groups = most(&groups);
        let block = u64::from(SCAN_BLOCK);
        let sizes = |numbers: u64| gpu.storage("sizes of patches", 4 * numbers);
        let of_groups = group_bytes_of(matrix_bytes).map(|bytes| gpu.storage("a packed frame", bytes));
        Ok(Packer {
            sums: gpu.storage("sums of scores", 4 * most(&|frame| frame.mover_rows() as u64 + 4))?,
            profile: gpu.storage("a profile", most(&profile_bytes))?,
            groups: of_groups.collect::<Result<Vec<DeviceBuffer>, GpuError>>()?,
            patches: gpu.storage("patches", most(&group_bytes) / PATCH_SHARE + 4096)?,
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
        let gpu = recorder.gpu;
        let (rows, others) = (frame.mover_rows(), scores.rows);
        assert_eq!((scores.columns as u64, others as u64), (rows as u64, frame.positions() / rows as u64));
        let words = u64::from(scores.words());
        recorder.clear(&self.sums.window())?;
        for part in scores.all() {
            let bound = recorder.bind(Stage::Profile.kernel(), &[part.window, self.sums.window()]);
            let threads = words * part.rows.len().div_ceil(PROFILE_ROWS as usize) as u64;
            recorder.dispatch_threads(&bound, threads, words, |thread, threads| Profile {
                threads,
                words: words as u32,
                first_row: part.rows.start as u32 + (thread / words) as u32 * PROFILE_ROWS,
                end_row: part.rows.end as u32,
                base: part.base,
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

        let group_windows = scores.all().zip(&self.groups).map(|(part, buffer)| {
            let positions = part.rows.len() as u64 * rows as u64;
            buffer.front(4 * u64::from(GROUP_WORDS) * positions.div_ceil(GROUP_POSITIONS.into()))
        });
        let packing = Packing { scores, profile, groups: group_windows.collect() };
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
        let patches = self.patches.front(patch_bytes.next_multiple_of(4));
        let padding = patches.bytes - patch_bytes;
        Ok(PackedOnDevice { windows: [vec![packing.profile], packing.groups, vec![patches]].concat(), padding })
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
        let total = recorder.gpu.read(&self.sizes[3].front(4))?;
        Ok(bytemuck::pod_read_unaligned::<u32>(&total).into())
    }
}

/// A frame whose scores are being packed.
struct Packing<'a> {
    scores: &'a Matrix,
    profile: Window,
    /// For each part of the scores.
    groups: Vec<Window>,
}

impl Packing<'_> {
    /// Runs a stage for all groups. `more` are its buffers after the groups.
    fn run(&self, recorder: &mut Recorder, stage: Stage, more: &[Window]) -> Result<(), GpuError> {
        let rows = self.scores.columns as u64;
        for (part, groups) in self.scores.all().zip(&self.groups) {
            let positions = part.rows.len() as u64 * rows;
            let origin = (part.rows.start as u64 * rows / u64::from(GROUP_POSITIONS)) as u32;
            let count = positions.div_ceil(GROUP_POSITIONS.into());
            let windows = [[part.window, self.profile.clone(), groups.clone()].as_slice(), more].concat();
            let bound = recorder.bind(stage.kernel(), &windows);
            recorder.dispatch_threads(&bound, count, 1, |done, threads| Encode {
                threads,
                first_group: origin + done as u32,
                rows: rows as u32,
                words: self.scores.words(),
                origin,
                positions: positions as u32,
            })?;
        }
        Ok(())
    }
}

/// Buffers for copying packed frames back. Those of some are filled while those of others are read.
pub(super) struct Readbacks {
    /// Buffers of small frames, and of all others, that are not in use.
    free: [Vec<Vec<DeviceBuffer>>; 2],
    used: Receiver<(usize, Vec<DeviceBuffer>)>,
    give_back: Sender<(usize, Vec<DeviceBuffer>)>,
}

impl Readbacks {
    /// Starts without memory.
    pub(super) fn new() -> Readbacks {
        let (give_back, used) = channel();
        let free = [SMALL_ARRIVING_FRAMES.0, ARRIVING_FRAMES].map(|frames| (0..frames).map(|_| Vec::new()).collect());
        Readbacks { free, used, give_back }
    }

    /// Copies a packed frame to buffers that the CPU can read: one, unless no buffer can be as large. Waits until
    /// some are free, which is noted in `waited`.
    pub(super) fn send(
        &mut self,
        gpu: &Arc<Gpu>,
        recorder: &mut Recorder,
        frame: Frame,
        packed: &PackedOnDevice,
        waited: &mut Duration,
    ) -> Result<Delivery, GpuError> {
        let first = usize::from(packed.padded_bytes() > SMALL_ARRIVING_FRAMES.1);
        let start = Instant::now();
        let (kind, buffers) = loop {
            // A small frame may have the place of a large one.
            if let Some(found) = (first..2).find_map(|kind| Some((kind, self.free[kind].pop()?))) {
                break found;
            }
            let (kind, buffers) = self.used.recv().expect("an end for sending is here");
            self.free[kind].push(buffers);
        };
        *waited += start.elapsed();
        let (gpu, give_back) = (Arc::clone(gpu), self.give_back.clone());
        let (bytes, padding) = (Vec::new(), packed.padding);
        let mut delivery = Delivery { gpu, frame, kind, buffers, bytes, padding, submission: None, give_back };
        delivery.fill(recorder, packed)?;
        Ok(delivery)
    }
}

/// A packed frame that is being copied back.
pub(super) struct Delivery {
    gpu: Arc<Gpu>,
    frame: Frame,
    /// Whose buffers these are: 0 for those of small frames.
    kind: usize,
    buffers: Vec<DeviceBuffer>,
    /// Bytes of the frame in each of the first buffers, in whole words.
    bytes: Vec<u64>,
    /// Bytes after the frame, in the last word.
    padding: u64,
    submission: Option<SubmissionIndex>,
    /// Where the buffers return, even if nobody wants the frame.
    give_back: Sender<(usize, Vec<DeviceBuffer>)>,
}

impl Delivery {
    /// Copies the frame to the buffers.
    fn fill(&mut self, recorder: &mut Recorder, packed: &PackedOnDevice) -> Result<(), GpuError> {
        for (number, windows) in packed.parts(self.gpu.max_buffer()).into_iter().enumerate() {
            let bytes = bytes_of(windows);
            if self.buffers.get(number).is_none_or(|buffer| buffer.bytes() < bytes) {
                // They are in the machine's memory, not the device's.
                self.buffers.truncate(number);
                self.buffers.push(self.gpu.host_buffer(bytes)?);
            }
            copy(recorder, windows, &self.buffers[number])?;
            self.bytes.push(bytes);
        }
        recorder.submit()?;
        self.submission = recorder.flights.last.clone();
        Ok(())
    }

    /// Waits until the frame has arrived, and copies it to this memory.
    pub(super) fn collect(self, memory: FrameMemory) -> Result<PackedFrame, ComputeError> {
        let windows: Vec<Window> =
            self.buffers.iter().zip(&self.bytes).map(|(buffer, &bytes)| buffer.front(bytes)).collect();
        let packed = self.gpu.mapped(&windows, self.submission.clone(), |parts| {
            if let Some(last) = parts.last_mut() {
                *last = &last[..last.len() - self.padding as usize];
            }
            PackedFrame::copy_of(self.frame, parts, memory)
        })?;
        let damaged = || GpuError::Refused(format!("the patches of {:?} came back damaged", self.frame));
        Ok(packed.ok_or_else(damaged)?)
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        // If the computer is gone, no more frames are sent.
        let _ = self.give_back.send((self.kind, std::mem::take(&mut self.buffers)));
    }
}
