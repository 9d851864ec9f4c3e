use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::format::{ALIGNMENT, BLOCK_BYTES, FrameEntry};
use super::line::{self, LINE_BYTES, LINE_POSITIONS, Line, Patch};
use crate::index::Frame;
use crate::isa::{Isa, per_isa};
use crate::memory::prefetch;

/// Bytes around a run that unpacking may overwrite.
pub const RUN_MARGIN: usize = 2 * LINE_BYTES;

/// Lines packed by one task.
const TASK_LINES: usize = 1024;

/// The scores of a frame in their packed form.
///
/// The bytes may come from a damaged file when nobody compared them with their checksums ([`super::Table::frame_unchecked`]):
/// nothing here panics on them, and a line that refers to a patch which is not there is told.
#[derive(Clone, Copy)]
pub struct FrameScores<'a> {
    frame: Frame,
    /// What each mover's row adds to its residuals.
    profile: &'a [u8],
    lines: &'a [Line],
    patches: &'a [u8],
}

/// A line refers to a patch that the frame does not have: the file is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the frame with {mover} seeds to move and {other} opposite is damaged")]
pub struct DamagedLine {
    /// The line, from 0.
    pub line: u64,
    /// Seeds in the mover's row.
    pub mover: usize,
    /// Seeds in the other row.
    pub other: usize,
}

impl<'a> FrameScores<'a> {
    /// The scores in the `section` of a file that `entry` describes; `None` if it cannot be that.
    #[inline]
    pub(super) fn new(frame: Frame, entry: &FrameEntry, section: &'a [u8]) -> Option<FrameScores<'a>> {
        let profile = section.get(..entry.rows as usize)?;
        let lines = section.get(entry.lines_at() as usize..entry.patches_at() as usize)?.as_chunks().0;
        let patches = section.get(entry.patches_at() as usize..)?.get(..entry.patch_bytes as usize)?;
        Some(FrameScores { frame, profile, lines, patches })
    }

    /// The frame.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// The score of the position with these ranks of rows (see [`Frame::index`]).
    ///
    /// # Errors
    /// When its line is damaged.
    ///
    /// # Panics
    /// When the frame has no such ranks.
    #[inline]
    pub fn score(&self, mover_rank: u32, other_rank: u32) -> Result<u8, DamagedLine> {
        let index = u64::from(other_rank) * self.profile.len() as u64 + u64::from(mover_rank);
        let (number, place) = (index / LINE_POSITIONS as u64, (index % LINE_POSITIONS as u64) as usize);
        let line = &self.lines[number as usize];
        let residual = match line::patch_offset(line) {
            None => line::residual(line, place),
            Some(offset) => self.patch(number, offset)?.residual(line, place),
        };
        Ok(residual.wrapping_add(self.profile[mover_rank as usize]))
    }

    /// Has the processor fetch what [`FrameScores::score`] reads for these ranks.
    #[inline]
    pub fn prefetch(&self, mover_rank: u32, other_rank: u32) {
        let index = u64::from(other_rank) * self.profile.len() as u64 + u64::from(mover_rank);
        prefetch(self.lines.as_ptr().wrapping_add((index / LINE_POSITIONS as u64) as usize));
        prefetch(self.profile.as_ptr().wrapping_add(mover_rank as usize));
    }

    /// Unpacks the scores of the `count` positions from rank `mover_rank` of the mover's row on, against one other row, to
    /// `buffer[at..at + count]`.
    ///
    /// Whole lines are unpacked: up to [`RUN_MARGIN`] bytes before and behind are overwritten, and must be there.
    ///
    /// # Errors
    /// When a line is damaged.
    #[inline]
    pub fn unpack_run(
        &self,
        isa: Isa,
        (mover_rank, other_rank): (u32, u32),
        count: usize,
        buffer: &mut [u8],
        at: usize,
    ) -> Result<(), DamagedLine> {
        let start = u64::from(other_rank) * self.profile.len() as u64 + u64::from(mover_rank);
        let first = (start / LINE_POSITIONS as u64) as usize;
        let skip = (start % LINE_POSITIONS as u64) as usize;
        let lines = &self.lines[first..first + (skip + count).div_ceil(LINE_POSITIONS)];
        let residuals = &mut buffer[at - skip..];
        if line::decode_lines(isa, lines, residuals) {
            for (index, (line, residuals)) in lines.iter().zip(residuals.as_chunks_mut().0).enumerate() {
                if let Some(offset) = line::patch_offset(line) {
                    self.patch((first + index) as u64, offset)?.mend(line, residuals);
                }
            }
        }
        add(isa, &mut buffer[at..at + count], &self.profile[mover_rank as usize..]);
        Ok(())
    }

    /// Has the processor fetch the lines of the run against one other row, the first `most` of them.
    #[inline]
    pub fn prefetch_run(&self, other_rank: u32, most: usize) {
        let start = u64::from(other_rank) * self.profile.len() as u64 / LINE_POSITIONS as u64;
        let count = most.min(self.profile.len() / LINE_POSITIONS + 2);
        for line in self.lines[start as usize..].iter().take(count) {
            prefetch(line.as_ptr());
        }
    }

    #[inline]
    fn patch(&self, number: u64, offset: u32) -> Result<Patch<'a>, DamagedLine> {
        let damaged = DamagedLine { line: number, mover: self.frame.mover, other: self.frame.other };
        Patch::read(self.patches, offset).ok_or(damaged)
    }
}

per_isa! {
    fn add(values: &mut [u8], profile: &[u8]) {
        for (value, &profile) in values.iter_mut().zip(profile) {
            *value = value.wrapping_add(profile);
        }
    }
}

per_isa! {
    /// `residuals = scores - profile`, the scores starting at rank `first` of the profile and going around it.
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
    /// Adds the scores of some whole runs to the sums of their columns.
    fn add_runs(runs: &[u8], sums: &mut [u64]) {
        // Sums of 256 scores below 256 fit 16 bits; columns are taken in parts that stay in the cache.
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

/// The profile of a frame: the mean score of each mover's row over all other rows, rounded down.
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

/// A frame packed for writing: profile, lines, patches, and the checksums of these (see [`FrameEntry`]).
///
/// The profile tells the mean score of each mover's row; lines keep what the scores differ from it. Neighbours in a line
/// differ in the mover's row, so this brings them close enough for 4 bits. The bytes depend on the scores alone.
pub struct PackedFrame {
    /// The frame.
    pub frame: Frame,
    entry: FrameEntry,
    section: Vec<u8>,
}

impl PackedFrame {
    /// Packs the scores of `frame`, one byte each (below 64) in the order of their indices, on all threads of the current
    /// pool.
    ///
    /// # Panics
    /// When there is not one score for each position, or they are so disorderly that lines cannot tell where their patch
    /// begins (beyond 4 GiB of patches: 17 exceptions in every line of the largest frame that there is).
    pub fn pack(isa: Isa, frame: Frame, scores: &[u8]) -> PackedFrame {
        PackedFrame::pack_in(isa, frame, scores, Vec::new())
    }

    /// [`PackedFrame::pack`] into memory that was used before (see [`PackedFrame::into_buffer`]): fresh memory costs
    /// more than packing.
    ///
    /// # Panics
    /// When there is not one score for each position, or they are so disorderly that lines cannot tell where their patch
    /// begins (beyond 4 GiB of patches: 17 exceptions in every line of the largest frame that there is).
    pub fn pack_in(isa: Isa, frame: Frame, scores: &[u8], buffer: Vec<u8>) -> PackedFrame {
        assert_eq!(scores.len() as u64, frame.positions(), "one score for each position of {frame:?}");
        let rows = frame.mover_rows();
        let lines = scores.len().div_ceil(LINE_POSITIONS);
        let profile = profile(isa, scores, rows);
        let mut entry = FrameEntry {
            offset: 0,
            rows: rows as u64,
            lines: lines as u64,
            patch_bytes: 0,
            exceptions: 0,
            digest: [0; 32],
        };
        let lines_at = entry.lines_at() as usize;
        let mut section = buffer;
        section.truncate(lines_at + lines * LINE_BYTES);
        section.reserve((lines_at + lines * (LINE_BYTES + 3)).saturating_sub(section.len()));
        section.resize(lines_at + lines * LINE_BYTES, 0);
        section[..rows].copy_from_slice(&profile);
        section[rows..lines_at].fill(0);
        let packed: Vec<(Vec<u8>, u64)> = section[lines_at..]
            .as_chunks_mut()
            .0
            .par_chunks_mut(TASK_LINES)
            .zip(scores.par_chunks(TASK_LINES * LINE_POSITIONS))
            .enumerate()
            .map_init(
                || vec![0; TASK_LINES * LINE_POSITIONS],
                |residuals, (task, (lines, scores))| {
                    let residuals = &mut residuals[..scores.len()];
                    let first = task * TASK_LINES * LINE_POSITIONS % rows;
                    subtract_profile(isa, scores, &profile, first, residuals);
                    let mut patches = Vec::new();
                    let exceptions = line::encode_lines(isa, residuals, lines, &mut patches);
                    (patches, exceptions)
                },
            )
            .collect();
        // Each task counted its patches from 0.
        let mut offset = 0u32;
        for (lines, (patches, _)) in section[lines_at..].as_chunks_mut().0.chunks_mut(TASK_LINES).zip(&packed) {
            if offset > 0 && !patches.is_empty() {
                for line in lines {
                    if let Some(local) = line::patch_offset(line) {
                        line::set_patch_offset(line, offset + local);
                    }
                }
            }
            let next = u64::from(offset) + patches.len() as u64;
            offset = next.try_into().expect("a frame has less than 4 GiB of patches");
        }
        for (patches, exceptions) in &packed {
            section.extend_from_slice(patches);
            entry.patch_bytes += patches.len() as u64;
            entry.exceptions += exceptions;
        }
        PackedFrame::seal(frame, entry, section)
    }

    /// A frame that was packed elsewhere: `section` holds its profile (padded), lines and patches (not padded). `None` if
    /// these cannot be its parts.
    pub fn from_section(frame: Frame, section: Vec<u8>) -> Option<PackedFrame> {
        let mut entry = FrameEntry {
            offset: 0,
            rows: frame.mover_rows() as u64,
            lines: frame.positions().div_ceil(LINE_POSITIONS as u64),
            patch_bytes: 0,
            exceptions: 0,
            digest: [0; 32],
        };
        let patches = section.get(entry.patches_at() as usize..)?;
        entry.patch_bytes = patches.len() as u64;
        entry.exceptions = line::count_exceptions(patches)?;
        Some(PackedFrame::seal(frame, entry, section))
    }

    /// Pads profile, lines and patches, and adds the checksums.
    fn seal(frame: Frame, entry: FrameEntry, mut section: Vec<u8>) -> PackedFrame {
        section.resize(section.len().next_multiple_of(ALIGNMENT as usize), 0);
        let checksums: Vec<u64> = section.par_chunks(BLOCK_BYTES).map(xxh3_64).collect();
        section.extend(checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
        section.resize(section.len().next_multiple_of(ALIGNMENT as usize), 0);
        PackedFrame { frame, entry, section }
    }

    /// The packed scores.
    pub fn scores(&self) -> FrameScores<'_> {
        FrameScores::new(self.frame, &self.entry, &self.section).expect("packed with this entry")
    }

    /// The memory, for another frame.
    pub fn into_buffer(self) -> Vec<u8> {
        self.section
    }

    /// The bytes as they stand in a file.
    pub fn section(&self) -> &[u8] {
        &self.section
    }

    /// The directory entry of the frame when it stands at `offset`.
    pub fn entry(&self, offset: u64) -> FrameEntry {
        FrameEntry { offset, digest: *blake3::hash(&self.section).as_bytes(), ..self.entry }
    }
}
