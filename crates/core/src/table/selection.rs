//! Unpacks selected scores of a run: those of a set of mover's rows, against one other row.
//!
//! Each group is unpacked and its selected scores are packed side by side before the next one is read. Only these are
//! written to memory. Groups without selected scores are skipped.

use super::group::{BASE_BYTE, GROUP_BYTES, GROUP_POSITIONS, Group, GroupPatch, PATCHED, base, patch_offset};
use crate::index::RankSet;
use crate::isa::Isa;
use crate::memory::prefetch;

/// Bytes after the selected scores that may be overwritten, since whole blocks are stored.
pub const SELECTED_MARGIN: usize = 64;

/// Prefetch distance of groups, in groups.
const GROUPS_AHEAD: usize = 16;

/// Prefetch distance of patches, in groups.
const PATCHES_AHEAD: usize = 6;

/// Places of a group, including the two of the base byte.
const PLACES: usize = 2 * GROUP_BYTES;

/// The places of a group that hold scores.
const ALL: u128 = (1 << GROUP_POSITIONS) - 1;

/// The scores of all mover's rows against one other row, packed.
pub(super) struct Run<'a> {
    /// All groups that have a score of the run.
    pub groups: &'a [Group],
    /// The place of the first score in the first group.
    pub skip: usize,
    /// Addend of the residuals of each mover's row.
    pub profile: &'a [u8],
    /// The patches of the frame.
    pub patches: &'a [u8],
}

impl Run<'_> {
    /// Implements [`super::FrameScores::unpack_selected`].
    pub(super) fn unpack_selected(&self, isa: Isa, selected: &RankSet, out: &mut [u8]) -> Result<(), usize> {
        assert_eq!(selected.rows(), self.profile.len(), "a set of the mover's rows of this frame");
        assert!(out.len() >= selected.len() + SELECTED_MARGIN, "space for whole blocks");
        #[cfg(target_arch = "x86_64")]
        match isa {
            // SAFETY: this `Isa` exists only where the machine supports the features.
            Isa::Avx512 => return unsafe { unpack_avx512(self, selected, out) },
            // SAFETY: as above.
            Isa::Avx2 => return unsafe { unpack_avx2(self, selected, out) },
            Isa::Baseline => {}
        }
        let _ = isa;
        unpack_plain(self, selected, out)
    }

    /// Selected places of group `index`.
    #[inline(always)]
    fn selected_places(&self, selected: &RankSet, index: usize) -> u128 {
        let window = match index {
            0 => selected.window(0) << self.skip,
            _ => selected.window(index * GROUP_POSITIONS - self.skip),
        };
        window & ALL
    }

    /// Prefetches a group that will be unpacked soon, and the patch of a group already fetched.
    #[inline(always)]
    fn prefetch_after(&self, index: usize) {
        prefetch(self.groups.as_ptr().wrapping_add(index + GROUPS_AHEAD));
        if let Some(offset) = self.groups.get(index + PATCHES_AHEAD).and_then(patch_offset) {
            prefetch(self.patches.as_ptr().wrapping_add(offset as usize));
        }
    }

    /// Corrects the unpacked residuals of a group with exceptions.
    #[cold]
    fn apply_patch(&self, index: usize, residuals: &mut [u8; PLACES]) -> Result<(), usize> {
        let group = &self.groups[index];
        let Some(offset) = patch_offset(group) else { return Ok(()) };
        let patch = GroupPatch::read(self.patches, offset).ok_or(index)?;
        patch.apply(group, residuals.first_chunk_mut().expect("more places than positions"));
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn unpack_avx512(run: &Run, selected: &RankSet, out: &mut [u8]) -> Result<(), usize> {
    use std::arch::x86_64::{
        _mm512_add_epi8, _mm512_and_si512, _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8,
        _mm512_permutex2var_epi8, _mm512_set1_epi8, _mm512_srli_epi16, _mm512_storeu_si512,
    };
    /// For each place of one half of a group, the byte with its code; bit 6 is set for the high half of that byte.
    const fn bytes_of_places(first: usize) -> [u8; 64] {
        let mut bytes = [0; 64];
        let mut place = 0;
        while place < 64 {
            bytes[place] = ((first + place) / 2 + 64 * (place % 2)) as u8;
            place += 1;
        }
        bytes
    }
    const FIRST_HALF: [u8; 64] = bytes_of_places(0);
    const SECOND_HALF: [u8; 64] = bytes_of_places(64);
    assert!(selected.rows() == run.profile.len() && out.len() >= selected.len() + SELECTED_MARGIN);
    let code = _mm512_set1_epi8(15);
    // SAFETY: each has 64 bytes.
    let (first_half, second_half) =
        unsafe { (_mm512_loadu_si512(FIRST_HALF.as_ptr().cast()), _mm512_loadu_si512(SECOND_HALF.as_ptr().cast())) };
    let mut filled = 0;
    for (index, group) in run.groups.iter().enumerate() {
        let places = run.selected_places(selected, index);
        if places == 0 {
            continue;
        }
        run.prefetch_after(index);
        let (first_mask, second_mask) = (places as u64, (places >> 64) as u64);
        // SAFETY: a group has 64 bytes.
        let codes = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
        let (low, high) = (_mm512_and_si512(codes, code), _mm512_and_si512(_mm512_srli_epi16::<4>(codes), code));
        let base_of_all = _mm512_set1_epi8(base(group) as i8);
        let mut first = _mm512_add_epi8(_mm512_permutex2var_epi8(low, first_half, high), base_of_all);
        let mut second = _mm512_add_epi8(_mm512_permutex2var_epi8(low, second_half, high), base_of_all);
        if group[BASE_BYTE] & PATCHED != 0 {
            let mut residuals = [0; PLACES];
            // SAFETY: the two halves are all places.
            unsafe {
                _mm512_storeu_si512(residuals.as_mut_ptr().cast(), first);
                _mm512_storeu_si512(residuals.as_mut_ptr().add(64).cast(), second);
            }
            run.apply_patch(index, &mut residuals)?;
            // SAFETY: as above.
            unsafe {
                first = _mm512_loadu_si512(residuals.as_ptr().cast());
                second = _mm512_loadu_si512(residuals.as_ptr().add(64).cast());
            }
        }
        // In the first group this is before the profile, where no place is selected.
        let profile = run.profile.as_ptr().wrapping_add(index * GROUP_POSITIONS).wrapping_sub(run.skip);
        // SAFETY: only bytes of selected rows are loaded, which the profile has. `filled` scores
        // are stored already. With the scores of both masks they are at most all selected ones, and
        // `out` has a block more.
        unsafe {
            first = _mm512_add_epi8(first, _mm512_maskz_loadu_epi8(first_mask, profile.cast()));
            let packed = _mm512_maskz_compress_epi8(first_mask, first);
            _mm512_storeu_si512(out.as_mut_ptr().add(filled).cast(), packed);
            filled += first_mask.count_ones() as usize;
            second = _mm512_add_epi8(second, _mm512_maskz_loadu_epi8(second_mask, profile.wrapping_add(64).cast()));
            let packed = _mm512_maskz_compress_epi8(second_mask, second);
            _mm512_storeu_si512(out.as_mut_ptr().add(filled).cast(), packed);
            filled += second_mask.count_ones() as usize;
        }
    }
    Ok(())
}

/// The profile of a group whose first `from` places are before the run. `padded` holds a profile
/// that must be copied.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn all_places<'a>(profile: &'a [u8], from: usize, padded: &'a mut [u8; PLACES]) -> &'a [u8; PLACES] {
    match profile.first_chunk::<PLACES>() {
        Some(profile) if from == 0 => profile,
        _ => {
            let count = profile.len().min(PLACES - from);
            padded[from..from + count].copy_from_slice(&profile[..count]);
            padded
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn unpack_avx2(run: &Run, selected: &RankSet, out: &mut [u8]) -> Result<(), usize> {
    use std::arch::x86_64::{
        _mm_loadl_epi64, _mm_shuffle_epi8, _mm_storel_epi64, _mm256_add_epi8, _mm256_and_si256, _mm256_loadu_si256,
        _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_srli_epi16, _mm256_storeu_si256, _mm256_unpackhi_epi8,
        _mm256_unpacklo_epi8,
    };
    assert!(selected.rows() == run.profile.len() && out.len() >= selected.len() + SELECTED_MARGIN);
    let code = _mm256_set1_epi8(15);
    let mut scores = [0u8; PLACES];
    let mut filled = 0;
    for (index, group) in run.groups.iter().enumerate() {
        let places = run.selected_places(selected, index);
        if places == 0 {
            continue;
        }
        run.prefetch_after(index);
        let base_of_all = _mm256_set1_epi8(base(group) as i8);
        // SAFETY: a group has 64 bytes, two for each score of 128 places.
        let mut residuals = unsafe {
            let halves = [group.as_ptr(), group.as_ptr().add(32)].map(|codes| _mm256_loadu_si256(codes.cast()));
            let unpacked = halves.map(|codes| {
                let (low, high) =
                    (_mm256_and_si256(codes, code), _mm256_and_si256(_mm256_srli_epi16::<4>(codes), code));
                let (first, second) = (_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high));
                [_mm256_permute2x128_si256::<0x20>(first, second), _mm256_permute2x128_si256::<0x31>(first, second)]
            });
            [unpacked[0][0], unpacked[0][1], unpacked[1][0], unpacked[1][1]]
        };
        for residuals in &mut residuals {
            *residuals = _mm256_add_epi8(*residuals, base_of_all);
        }
        if group[BASE_BYTE] & PATCHED != 0 {
            let mut patched = [0; PLACES];
            // SAFETY: four vectors are all places.
            unsafe {
                for (at, &residuals) in residuals.iter().enumerate() {
                    _mm256_storeu_si256(patched.as_mut_ptr().add(32 * at).cast(), residuals);
                }
                run.apply_patch(index, &mut patched)?;
                for (at, residuals) in residuals.iter_mut().enumerate() {
                    *residuals = _mm256_loadu_si256(patched.as_ptr().add(32 * at).cast());
                }
            }
        }
        let (from, first) = if index == 0 { (run.skip, 0) } else { (0, index * GROUP_POSITIONS - run.skip) };
        let mut padded = [0; PLACES];
        let profile = all_places(&run.profile[first..], from, &mut padded);
        // SAFETY: four vectors are all places. `filled` scores are stored already. With those of
        // this group they are at most all selected ones, and `out` has a block more.
        unsafe {
            for (at, &residuals) in residuals.iter().enumerate() {
                let profile = _mm256_loadu_si256(profile.as_ptr().add(32 * at).cast());
                _mm256_storeu_si256(scores.as_mut_ptr().add(32 * at).cast(), _mm256_add_epi8(residuals, profile));
            }
            for half in 0..2 {
                let mask = (places >> (64 * half)) as u64;
                let (mut to, block) = (out.as_mut_ptr().add(filled), scores.as_ptr().add(64 * half));
                filled += mask.count_ones() as usize;
                if mask == 0 {
                    continue;
                }
                if mask == u64::MAX {
                    std::ptr::copy_nonoverlapping(block, to, 64);
                    continue;
                }
                for byte in 0..8 {
                    let bits = (mask >> (8 * byte)) as u8;
                    let places = _mm_loadl_epi64(SELECTED[usize::from(bits)].as_ptr().cast());
                    let packed = _mm_shuffle_epi8(_mm_loadl_epi64(block.add(8 * byte).cast()), places);
                    _mm_storel_epi64(to.cast(), packed);
                    to = to.add(bits.count_ones() as usize);
                }
            }
        }
    }
    Ok(())
}

fn unpack_plain(run: &Run, selected: &RankSet, out: &mut [u8]) -> Result<(), usize> {
    let mut filled = 0;
    for (index, group) in run.groups.iter().enumerate() {
        let places = run.selected_places(selected, index);
        if places == 0 {
            continue;
        }
        run.prefetch_after(index);
        let (from, first) = if index == 0 { (run.skip, 0) } else { (0, index * GROUP_POSITIONS - run.skip) };
        let profile = &run.profile[first..];
        let mut scores = [0; PLACES];
        let base = base(group);
        for (pair, &codes) in scores.as_chunks_mut::<2>().0.iter_mut().zip(group) {
            pair[0] = base.wrapping_add(codes & 15);
            pair[1] = base.wrapping_add(codes >> 4);
        }
        if group[BASE_BYTE] & PATCHED != 0 {
            run.apply_patch(index, &mut scores)?;
        }
        match profile.first_chunk::<PLACES>() {
            // Most groups take this loop of fixed length.
            Some(profile) if from == 0 => add(&mut scores, profile),
            _ => add(&mut scores[from..], profile),
        }
        for (half, block) in scores.as_chunks::<64>().0.iter().enumerate() {
            let mut mask = (places >> (64 * half)) as u64;
            if mask == u64::MAX {
                out[filled..][..64].copy_from_slice(block);
                filled += 64;
                continue;
            }
            while mask != 0 {
                out[filled] = block[mask.trailing_zeros() as usize];
                mask &= mask - 1;
                filled += 1;
            }
        }
    }
    Ok(())
}

/// For each mask of eight bits, the bytes that it selects, in order.
#[cfg(target_arch = "x86_64")]
static SELECTED: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut bit, mut filled) = (0, 0);
        while bit < 8 {
            if bits >> bit & 1 == 1 {
                places[bits][filled] = bit;
                filled += 1;
            }
            bit += 1;
        }
        bits += 1;
    }
    places
};

#[inline(always)]
fn add(scores: &mut [u8], profile: &[u8]) {
    for (score, &profile) in scores.iter_mut().zip(profile) {
        *score = score.wrapping_add(profile);
    }
}
