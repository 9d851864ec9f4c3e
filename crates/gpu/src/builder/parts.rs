//! Parts of frames of lower layers: whole rows of the waiting side.
//!
//! A stage uses at most 2 GiB of a frame at once, so that all its indices have 32 bits. It reads a
//! larger frame part by part.

use std::ops::Range;

use kalah_core::index::Frame;
use kalah_core::table::format::{BLOCK_BYTES, FrameEntry};
use kalah_core::table::group::{GROUP_BYTES, GROUP_POSITIONS, patch_offset};
use kalah_core::table::{Table, TableError};

use super::stages::{FrameAt, rows_of_whole_groups};

/// A frame, or the profile of one with the groups and patches of some rows of the waiting side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FramePart {
    pub frame: Frame,
    pub entry: FrameEntry,
    /// The rows; `None` for a whole frame.
    pub rows: Option<Range<u32>>,
    groups: Range<u64>,
    /// Bytes from the start of the patches, in whole words.
    patches: Range<u64>,
}

impl FramePart {
    /// The whole frame.
    pub(super) fn whole(frame: Frame, entry: FrameEntry) -> FramePart {
        let patches = 0..entry.patch_bytes.next_multiple_of(4);
        FramePart { frame, entry, rows: None, groups: 0..entry.groups, patches }
    }

    /// A whole frame on the device, with profile, groups and patches of `bytes` bytes.
    pub(super) fn resident(frame: Frame, bytes: u64) -> FramePart {
        let (rows, groups) = (frame.mover_rows() as u64, frame.positions().div_ceil(GROUP_POSITIONS as u64));
        let entry = FrameEntry { offset: 0, rows, groups, patch_bytes: 0, exceptions: 0, digest: [0; 32] };
        let patch_bytes = bytes - entry.patches_at();
        FramePart::whole(frame, FrameEntry { patch_bytes, ..entry })
    }

    /// Divides a frame into parts of at most `most` bytes, or of the fewest rows with whole groups.
    ///
    /// # Errors
    /// When a block is damaged that says where patches begin.
    pub(super) fn all(frame: Frame, table: &Table, most: u64) -> Result<Vec<FramePart>, TableError> {
        let entry = table.header().entries[frame.mover - 1];
        if entry.checksums_at() <= most {
            return Ok(vec![FramePart::whole(frame, entry)]);
        }
        let (unit, rows) = (rows_of_whole_groups(entry.rows), frame.mirrored().mover_rows() as u64);
        let units = rows.div_ceil(unit);
        // Patches are denser in some rows than in others.
        let expected = (entry.checksums_at() - entry.groups_at()).div_ceil(units);
        let mut parts: Vec<FramePart> = Vec::new();
        let mut first = 0;
        while first < rows {
            let mut count = (most.saturating_sub(entry.groups_at()) / expected).max(1);
            let part = loop {
                let part = FramePart::of_rows(frame, table, first..rows.min(first + count * unit))?;
                if part.bytes() <= most || count == 1 {
                    break part;
                }
                count -= count.div_ceil(8);
            };
            first += count * unit;
            parts.push(part);
        }
        Ok(parts)
    }

    /// The part of these rows, whose groups are whole.
    fn of_rows(frame: Frame, table: &Table, rows: Range<u64>) -> Result<FramePart, TableError> {
        let entry = table.header().entries[frame.mover - 1];
        let group = |row: u64| (row * entry.rows).div_ceil(GROUP_POSITIONS as u64);
        let groups = group(rows.start)..group(rows.end);
        let first = patches_from(frame, table, groups.start)? / 4 * 4;
        let patches = first..patches_from(frame, table, groups.end)?.next_multiple_of(4).max(first);
        Ok(FramePart { frame, entry, rows: Some(rows.start as u32..rows.end as u32), groups, patches })
    }

    /// Bytes that it takes in the operand.
    pub(super) fn bytes(&self) -> u64 {
        let groups = (self.groups.end - self.groups.start) * GROUP_BYTES as u64;
        self.entry.groups_at() + groups + (self.patches.end - self.patches.start).next_multiple_of(64)
    }

    /// The bytes of the frame that it has, in order.
    pub(super) fn ranges(&self) -> Vec<Range<u64>> {
        let groups =
            [self.groups.start, self.groups.end].map(|group| self.entry.groups_at() + group * GROUP_BYTES as u64);
        let patches = [self.patches.start, self.patches.end].map(|at| self.entry.patches_at() + at);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for [start, end] in [[0, self.entry.groups_at()], groups, patches] {
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => ranges.push(start..end),
            }
        }
        ranges
    }

    /// Its place for shaders, if it begins at byte `at` of the operand.
    pub(super) fn place(&self, at: u64) -> FrameAt {
        let groups_at = at + self.entry.groups_at();
        let patches_at = groups_at + (self.groups.end - self.groups.start) * GROUP_BYTES as u64;
        FrameAt {
            profile_at: at as u32,
            groups_at: (groups_at / 4) as u32,
            // Groups have the offsets of their patches from the first patch of the frame.
            patches_at: (patches_at as u32).wrapping_sub(self.patches.start as u32),
            rows: self.entry.rows as u32,
        }
    }
}

/// Where the patches of the groups from this one on begin.
fn patches_from(frame: Frame, table: &Table, group: u64) -> Result<u64, TableError> {
    let entry = table.header().entries[frame.mover - 1];
    let section = table.blocks().section_bytes(&entry.section());
    for group in group..entry.groups {
        let at = entry.groups_at() + group * GROUP_BYTES as u64;
        let block = at / BLOCK_BYTES as u64;
        if !table.blocks().is_block_checked(frame.mover, block) {
            table.blocks().check_block(frame.mover, block)?;
        }
        if let Some(offset) = section[at as usize..].first_chunk().and_then(patch_offset) {
            return Ok(u64::from(offset).min(entry.patch_bytes));
        }
    }
    Ok(entry.patch_bytes)
}
