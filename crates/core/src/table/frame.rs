use std::fmt;

use super::format::FrameEntry;
use super::group::{self, GROUP_BYTES, GROUP_POSITIONS, Group, GroupPatch};
use super::selection::Run;
use crate::index::{Frame, RankSet};
use crate::isa::{Isa, per_isa};
use crate::memory::prefetch;

/// Bytes around a run that unpacking may overwrite.
pub const RUN_MARGIN: usize = 2 * GROUP_BYTES;

/// The packed scores of a frame.
///
/// The profile holds the mean score of each mover's row. The groups hold residuals, the differences from the profile.
/// The patches hold the residuals that do not fit 4 bits.
///
/// Bytes that were not compared with their checksums ([`super::Table::frame_unchecked`]) may be damaged. Nothing here
/// panics then, and a group that refers to a missing patch is an error.
#[derive(Clone, Copy)]
pub struct FrameScores<'a> {
    frame: Frame,
    /// Addend of the residuals of each mover's row.
    profile: &'a [u8],
    groups: &'a [Group],
    patches: &'a [u8],
}

/// Location of the score of a position: see [`FrameScores::place`].
#[derive(Clone, Copy, Debug)]
pub struct ScorePlace<'a> {
    group: &'a Group,
    /// Place in the group.
    place: u8,
    /// Addend of the residual.
    profile: u8,
}

impl ScorePlace<'_> {
    /// Prefetches the group.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(std::ptr::from_ref(self.group));
    }
}

/// A group refers to a patch that the frame does not have: the file is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("group {group} of the frame with {mover} seeds to move and {other} opposite is damaged")]
pub struct DamagedGroup {
    /// The group, from 0.
    pub group: u64,
    /// Seeds in the mover's row.
    pub mover: usize,
    /// Seeds in the other row.
    pub other: usize,
}

impl fmt::Debug for FrameScores<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameScores").field("frame", &self.frame).finish_non_exhaustive()
    }
}

impl<'a> FrameScores<'a> {
    /// Wraps the scores in `section`, the bytes of `frame` as `entry` describes them. The checksums at the end may be
    /// missing. `None` if the section is too short.
    #[inline]
    pub fn new(frame: Frame, entry: &FrameEntry, section: &'a [u8]) -> Option<FrameScores<'a>> {
        let profile = section.get(..entry.rows as usize)?;
        let groups = section.get(entry.groups_at() as usize..entry.patches_at() as usize)?.as_chunks().0;
        let patches = section.get(entry.patches_at() as usize..)?.get(..entry.patch_bytes as usize)?;
        Some(FrameScores { frame, profile, groups, patches })
    }

    /// The frame.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// Score of the position with these ranks of rows: see [`Frame::index`]. Panics if the frame does not have them; a
    /// damaged group is an error.
    #[inline]
    pub fn score(&self, mover_rank: u32, other_rank: u32) -> Result<u8, DamagedGroup> {
        self.score_at(self.place(mover_rank, other_rank))
    }

    /// Place of the score of the position with these ranks, to be read by [`FrameScores::score_at`]. Panics if the
    /// frame does not have them.
    #[inline(always)]
    pub fn place(&self, mover_rank: u32, other_rank: u32) -> ScorePlace<'a> {
        let profile = self.profile[mover_rank as usize];
        let index = u64::from(other_rank) * self.profile.len() as u64 + u64::from(mover_rank);
        let (number, place) = (index / GROUP_POSITIONS as u64, (index % GROUP_POSITIONS as u64) as u8);
        ScorePlace { group: &self.groups[number as usize], place, profile }
    }

    /// Score at a place of this frame; an error if its group is damaged.
    #[inline(always)]
    pub fn score_at(&self, at: ScorePlace<'a>) -> Result<u8, DamagedGroup> {
        let place = usize::from(at.place);
        let residual = match group::patch_offset(at.group) {
            None => group::residual(at.group, place),
            Some(offset) => self.patched_residual(at, offset)?,
        };
        Ok(residual.wrapping_add(at.profile))
    }

    /// Residual at a place of a group whose patch begins at `offset`.
    #[cold]
    fn patched_residual(&self, at: ScorePlace<'a>, offset: u32) -> Result<u8, DamagedGroup> {
        let bytes = std::ptr::from_ref(at.group).addr().wrapping_sub(self.groups.as_ptr().addr());
        Ok(self.patch((bytes / GROUP_BYTES) as u64, offset)?.residual(at.group, usize::from(at.place)))
    }

    /// Prefetches the group that [`FrameScores::score`] reads for these ranks.
    #[inline]
    pub fn prefetch(&self, mover_rank: u32, other_rank: u32) {
        let index = u64::from(other_rank) * self.profile.len() as u64 + u64::from(mover_rank);
        prefetch(self.groups.as_ptr().wrapping_add((index / GROUP_POSITIONS as u64) as usize));
        prefetch(self.profile.as_ptr().wrapping_add(mover_rank as usize));
    }

    /// Unpacks the scores of `count` positions to `buffer[at..at + count]`: those with the mover's rows from
    /// `mover_rank` on, against one other row. A damaged group is an error.
    ///
    /// Whole groups are unpacked, so up to [`RUN_MARGIN`] bytes on either side are overwritten and must exist.
    #[inline]
    pub fn unpack_run(
        &self,
        isa: Isa,
        mover_rank: u32,
        other_rank: u32,
        count: usize,
        buffer: &mut [u8],
        at: usize,
    ) -> Result<(), DamagedGroup> {
        let start = u64::from(other_rank) * self.profile.len() as u64 + u64::from(mover_rank);
        let first = (start / GROUP_POSITIONS as u64) as usize;
        let skip = (start % GROUP_POSITIONS as u64) as usize;
        let groups = &self.groups[first..first + (skip + count).div_ceil(GROUP_POSITIONS)];
        let residuals = &mut buffer[at - skip..];
        if group::decode_groups(isa, groups, residuals) {
            for (index, (group, residuals)) in groups.iter().zip(residuals.as_chunks_mut().0).enumerate() {
                if let Some(offset) = group::patch_offset(group) {
                    self.patch((first + index) as u64, offset)?.apply(group, residuals);
                }
            }
        }
        add(isa, &mut buffer[at..at + count], &self.profile[mover_rank as usize..]);
        Ok(())
    }

    /// Unpacks the scores of the mover's rows in `selected`, against one other row, to the start of `out`, in rank
    /// order. A damaged group is an error.
    ///
    /// # Panics
    /// When the set is not one of the mover's rows of this frame, or `out` does not have
    /// [`SELECTED_MARGIN`](super::SELECTED_MARGIN) bytes more than there are selected rows. These are overwritten.
    #[inline]
    pub fn unpack_selected(
        &self,
        isa: Isa,
        other_rank: u32,
        selected: &RankSet,
        out: &mut [u8],
    ) -> Result<(), DamagedGroup> {
        let rows = self.profile.len();
        let start = u64::from(other_rank) * rows as u64;
        let first = (start / GROUP_POSITIONS as u64) as usize;
        let skip = (start % GROUP_POSITIONS as u64) as usize;
        let groups = &self.groups[first..first + (skip + rows).div_ceil(GROUP_POSITIONS)];
        let run = Run { groups, skip, profile: self.profile, patches: self.patches };
        run.unpack_selected(isa, selected, out).map_err(|index| self.damaged((first + index) as u64))
    }

    /// Prefetches the first `most` groups of the run against one other row, from one mover's row on.
    #[inline]
    pub fn prefetch_run(&self, mover_rank: u32, other_rank: u32, most: usize) {
        let index = u64::from(other_rank) * self.profile.len() as u64 + u64::from(mover_rank);
        let start = index / GROUP_POSITIONS as u64;
        let count = most.min(self.profile.len() / GROUP_POSITIONS + 2);
        for group in self.groups[start as usize..].iter().take(count) {
            prefetch(group.as_ptr());
        }
    }

    #[inline]
    fn patch(&self, number: u64, offset: u32) -> Result<GroupPatch<'a>, DamagedGroup> {
        GroupPatch::read(self.patches, offset).ok_or_else(|| self.damaged(number))
    }

    fn damaged(&self, group: u64) -> DamagedGroup {
        DamagedGroup { group, mover: self.frame.mover, other: self.frame.other }
    }
}

per_isa! {
    fn add(values: &mut [u8], profile: &[u8]) {
        for (value, &profile) in values.iter_mut().zip(profile) {
            *value = value.wrapping_add(profile);
        }
    }
}
