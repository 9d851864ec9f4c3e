use std::mem::MaybeUninit;

use kalah_core::index::Frame;
use kalah_core::isa::{Isa, per_isa};
use kalah_core::table::FrameScores;
use kalah_core::table::format::FrameEntry;
use kalah_core::table::group::{self, GROUP_BYTES, GROUP_POSITIONS};
use rayon::prelude::*;

use super::digest::{seal, seal_filled};

/// Bytes of new memory that one task touches.
const TOUCHED_BYTES: usize = 1 << 20;

/// Bytes of patches reserved for each group, checksums included: more than tables have.
const PATCH_BYTES: usize = 3;

/// Alignment of direct writes.
const PAGE_BYTES: usize = 1 << 12;

const TASK_GROUPS: usize = 1024;

/// Groups whose residuals are computed at a time: they fit the nearest cache.
const RESIDUAL_GROUPS: usize = 64;

per_isa! {
    /// `residuals = scores - profile`. The scores start at rank `first` of the profile and wrap
    /// around.
    fn subtract_profile(scores: &[u8], profile: &[u8], first: usize, residuals: &mut [u8]) {
        let (mut scores, mut residuals, mut first) = (scores, residuals, first);
        while !scores.is_empty() {
            let count = scores.len().min(profile.len() - first);
            let (now, later) = residuals.split_at_mut(count);
            for ((residual, &score), &profile) in now.iter_mut().zip(scores).zip(&profile[first..]) {
                *residual = score.wrapping_sub(profile);
            }
            (scores, residuals, first) = (&scores[count..], later, 0);
        }
    }
}

per_isa! {
    /// Adds the scores of whole runs to the sums of their columns.
    fn add_runs(runs: &[u8], sums: &mut [u64]) {
        // Sums of 256 scores below 256 fit 16 bits. Columns are processed in parts that fit the
        // cache.
        let width = sums.len();
        for group in runs.chunks(256 * width) {
            for start in (0..width).step_by(512) {
                let part = 512.min(width - start);
                let mut small = [0u16; 512];
                for run in group.chunks_exact(width) {
                    for (sum, &score) in small.iter_mut().zip(&run[start..start + part]) {
                        *sum += u16::from(score);
                    }
                }
                for (sum, &small) in sums[start..start + part].iter_mut().zip(&small) {
                    *sum += u64::from(small);
                }
            }
        }
    }
}

/// Extends `bytes` to this length with zeros. Touching memory for the first time is slow, so all
/// threads do it.
fn lengthen(bytes: &mut Vec<u8>, length: usize) {
    let added = length.saturating_sub(bytes.len());
    bytes.reserve(added);
    let spare = &mut bytes.spare_capacity_mut()[..added];
    spare.par_chunks_mut(TOUCHED_BYTES).for_each(|part| {
        part.fill(MaybeUninit::new(0));
    });
    // SAFETY: the capacity was reserved, and the bytes were just written.
    unsafe { bytes.set_len(bytes.len() + added) };
}

/// Profile of a frame: the mean score of each mover's row over all other rows, rounded down.
fn profile(isa: Isa, scores: &[u8], rows: usize) -> Vec<u8> {
    let runs = (scores.len() / rows) as u64;
    let task = (1usize << 20).div_ceil(rows) * rows;
    let sums = scores
        .par_chunks(task)
        .fold(
            || vec![0u64; rows],
            |mut sums, runs| {
                add_runs(isa, runs, &mut sums);
                sums
            },
        )
        .reduce_with(|mut a, b| {
            a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
            a
        });
    sums.unwrap_or_default().into_iter().map(|sum| (sum / runs) as u8).collect()
}

/// Memory for a packed frame.
#[derive(Debug, Default)]
pub struct FrameMemory {
    /// Memory of another frame, whose content does not matter. Fresh memory costs more than packing.
    pub bytes: Vec<u8>,
    /// Bytes of the largest frame to come, so that larger ones need no other memory.
    pub most: usize,
    /// Where the frame will be in its file, if that is known. A frame that begins at the same place of a page in memory
    /// as in the file is written past the page cache without another copy.
    pub file_at: u64,
}

impl FrameMemory {
    /// Returns memory with `length` bytes of any content after the start of the frame, which is returned too, and space
    /// for `all` bytes.
    fn prepare(self, length: usize, all: usize) -> (Vec<u8>, usize) {
        let FrameMemory { mut bytes, most, file_at } = self;
        if bytes.capacity() < all + PAGE_BYTES {
            bytes = Vec::with_capacity(most.max(all) + PAGE_BYTES);
        }
        let start = (file_at as usize).wrapping_sub(bytes.as_ptr() as usize) % PAGE_BYTES;
        bytes.truncate(start + length);
        lengthen(&mut bytes, start + length);
        (bytes, start)
    }
}

/// A frame packed for writing: profile, groups, patches, and their checksums (see [`FrameEntry`]).
///
/// The profile holds the mean score of each mover's row; groups hold the differences from it.
/// Neighbours in a group differ in the mover's row, so this brings them close enough for 4 bits.
/// The bytes depend only on the scores.
#[derive(Debug)]
pub struct PackedFrame {
    /// The frame.
    pub frame: Frame,
    entry: FrameEntry,
    bytes: Vec<u8>,
    /// Where the frame begins in its memory.
    start: usize,
}

impl PackedFrame {
    /// Packs the scores of `frame`, one byte each (below 64) in index order, on all threads of the
    /// current pool.
    ///
    /// # Panics
    /// When there is not one score for each position; or with more than 4 GiB of patches, which
    /// offsets cannot reach. That takes 17 exceptions in every group of the largest possible frame.
    pub fn pack(isa: Isa, frame: Frame, scores: &[u8]) -> PackedFrame {
        PackedFrame::pack_in(isa, frame, scores, Vec::new())
    }

    /// The same as [`PackedFrame::pack`], reusing the memory of another frame (see
    /// [`PackedFrame::into_buffer`]). Fresh memory costs more than packing.
    ///
    /// # Panics
    /// As [`PackedFrame::pack`].
    pub(crate) fn pack_in(isa: Isa, frame: Frame, scores: &[u8], buffer: Vec<u8>) -> PackedFrame {
        assert_eq!(scores.len() as u64, frame.positions(), "one score for each position of {frame:?}");
        let mut entry = PackedFrame::without_patches(frame);
        let (rows, groups) = (entry.rows as usize, entry.groups as usize);
        let profile = profile(isa, scores, rows);
        let groups_at = entry.groups_at() as usize;
        let mut section = buffer;
        section.truncate(groups_at + groups * GROUP_BYTES);
        section.reserve((groups_at + groups * (GROUP_BYTES + PATCH_BYTES)).saturating_sub(section.len()));
        lengthen(&mut section, groups_at + groups * GROUP_BYTES);
        section[..rows].copy_from_slice(&profile);
        section[rows..groups_at].fill(0);
        let packed: Vec<(Vec<u8>, u64)> = section[groups_at..]
            .as_chunks_mut()
            .0
            .par_chunks_mut(TASK_GROUPS)
            .zip(scores.par_chunks(TASK_GROUPS * GROUP_POSITIONS))
            .enumerate()
            .map_init(
                || vec![0; RESIDUAL_GROUPS * GROUP_POSITIONS],
                |residuals, (task, (groups, scores))| {
                    let (mut patches, mut exceptions) = (Vec::new(), 0);
                    let mut first = task * TASK_GROUPS * GROUP_POSITIONS;
                    let parts = groups.chunks_mut(RESIDUAL_GROUPS).zip(scores.chunks(residuals.len()));
                    for (groups, scores) in parts {
                        let residuals = &mut residuals[..scores.len()];
                        subtract_profile(isa, scores, &profile, first % rows, residuals);
                        exceptions += group::encode_groups(isa, residuals, groups, &mut patches);
                        first += scores.len();
                    }
                    (patches, exceptions)
                },
            )
            .collect();
        // Each task counted its patches from 0.
        let mut end = 0u32;
        let mut offsets = Vec::with_capacity(packed.len());
        for (patches, _) in &packed {
            offsets.push((end, !patches.is_empty()));
            let next = u64::from(end) + patches.len() as u64;
            end = next.try_into().expect("a frame has less than 4 GiB of patches");
        }
        let groups = section[groups_at..].as_chunks_mut().0.par_chunks_mut(TASK_GROUPS).zip(&offsets);
        groups.filter(|&(_, &(offset, any))| offset > 0 && any).for_each(|(groups, &(offset, _))| {
            for group in groups {
                if let Some(local) = group::patch_offset(group) {
                    group::set_patch_offset(group, offset + local);
                }
            }
        });
        for (patches, exceptions) in &packed {
            section.extend_from_slice(patches);
            entry.patch_bytes += patches.len() as u64;
            entry.exceptions += exceptions;
        }
        PackedFrame::seal(frame, entry, section)
    }

    /// Approximate maximum bytes of memory to pack a frame, besides its scores.
    pub(crate) fn most_bytes(frame: Frame) -> u64 {
        let groups = frame.positions().div_ceil(GROUP_POSITIONS as u64);
        // Patches are made in parts before they are put together.
        frame.mover_rows() as u64 + groups * (GROUP_BYTES + 2 * PATCH_BYTES) as u64
    }

    /// Makes a frame that was packed elsewhere. `packed` holds its profile (padded), groups, and patches (not padded,
    /// all in the last part), which are copied to `memory`, on all threads of the current pool. `None` if they do not
    /// fit the frame.
    pub fn copy_of(frame: Frame, packed: &[&[u8]], memory: FrameMemory) -> Option<PackedFrame> {
        let mut entry = PackedFrame::without_patches(frame);
        let length = packed.iter().map(|part| part.len()).sum::<usize>();
        let (last, patch_bytes) = (packed.last()?, length.checked_sub(entry.patches_at() as usize)?);
        let patches = &last[last.len().checked_sub(patch_bytes)?..];
        entry.patch_bytes = patch_bytes as u64;
        let (mut bytes, start) = memory.prepare(length, entry.section().bytes() as usize);
        // The padding, which is zero already, may follow.
        let copy = |at: usize, block: &mut [u8]| {
            let mut first = 0;
            for part in packed {
                let (from, to) = (at.max(first), (at + block.len()).min(first + part.len()));
                if from < to {
                    block[from - at..to - at].copy_from_slice(&part[from - first..to - first]);
                }
                first += part.len();
            }
        };
        let sealed = || seal_filled(&mut bytes, start, 0, copy);
        let (digest, exceptions) = rayon::join(sealed, || group::count_exceptions(patches));
        Some(PackedFrame { frame, entry: FrameEntry { exceptions: exceptions?, digest, ..entry }, bytes, start })
    }

    /// Entry of a frame without patches and digest.
    fn without_patches(frame: Frame) -> FrameEntry {
        let (rows, groups) = (frame.mover_rows() as u64, frame.positions().div_ceil(GROUP_POSITIONS as u64));
        FrameEntry { offset: 0, rows, groups, patch_bytes: 0, exceptions: 0, digest: [0; 32] }
    }

    /// Pads the section and adds the checksums.
    fn seal(frame: Frame, entry: FrameEntry, mut section: Vec<u8>) -> PackedFrame {
        let entry = FrameEntry { digest: seal(&mut section, 0), ..entry };
        PackedFrame { frame, entry, bytes: section, start: 0 }
    }

    /// The packed scores.
    pub fn scores(&self) -> FrameScores<'_> {
        FrameScores::new(self.frame, &self.entry, self.section()).expect("packed with this entry")
    }

    /// Returns the memory, for another frame.
    pub fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes as stored in a file.
    pub fn section(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Directory entry of the frame if it is stored at `offset`.
    pub fn entry(&self, offset: u64) -> FrameEntry {
        FrameEntry { offset, ..self.entry }
    }
}
