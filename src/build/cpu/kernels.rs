//! The loops over bytes, for each instruction set.
//!
//! A score is one byte. `total` is the number of seeds in play of the layer: a child with the opponent to move and
//! score `v` is worth `total - v` to the mover, whatever the move stored (see [`crate::game::mover_score`]).

use crate::isa::{Isa, Set, per_isa};
use crate::rows::SpillMap;

per_isa! {
    /// `best = max(best, total - scores)`: the turn passes to the opponent.
    pub fn max_after_pass(best: &mut [u8], scores: &[u8], total: u8) {
        for (best, &score) in best.iter_mut().zip(scores) {
            *best = (*best).max(total.wrapping_sub(score));
        }
    }
}

per_isa! {
    /// [`max_after_pass`] where `mask` is 0xff; no change where it is 0.
    pub fn max_after_pass_masked(best: &mut [u8], scores: &[u8], mask: &[u8], total: u8) {
        for ((best, &score), &mask) in best.iter_mut().zip(scores).zip(mask) {
            *best = (*best).max(total.wrapping_sub(score) & mask);
        }
    }
}

per_isa! {
    /// `best = max(best, stored + scores)`: the mover moves again.
    pub fn max_after_again(best: &mut [u8], scores: &[u8], stored: u8) {
        for (best, &score) in best.iter_mut().zip(scores) {
            *best = (*best).max(score.wrapping_add(stored));
        }
    }
}

/// [`max_after_pass`] of the scores at `places`.
///
/// # Panics
/// When a place is beyond the scores, and possibly when it is one of their last three.
pub fn max_after_capture(isa: Isa, best: &mut [u8], scores: &[u8], places: &[u32], total: u8) {
    #[cfg(target_arch = "x86_64")]
    if isa.set() == Set::Avx512 {
        // SAFETY: this `Isa` exists only where the machine supports the features.
        return unsafe { max_after_capture_avx512(best, scores, places, total) };
    }
    let _ = isa;
    for (best, &place) in best.iter_mut().zip(places) {
        *best = (*best).max(total.wrapping_sub(scores[place as usize]));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn max_after_capture_avx512(best: &mut [u8], scores: &[u8], places: &[u32], total: u8) {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm_max_epu8, _mm_set1_epi8, _mm_storeu_si128, _mm_sub_epi8, _mm512_cmpgt_epu32_mask,
        _mm512_cvtepi32_epi8, _mm512_i32gather_epi32, _mm512_loadu_si512, _mm512_set1_epi32,
    };
    // Four bytes are gathered for each place.
    let last = scores.len().checked_sub(4).expect("scores of one place at least");
    assert!(last <= i32::MAX as usize, "places have 31 bits");
    let (bests, best_rest) = best.as_chunks_mut::<16>();
    let (groups, place_rest) = places.as_chunks::<16>();
    let (limit, total_16) = (_mm512_set1_epi32(last as i32), _mm_set1_epi8(total as i8));
    for (best, group) in bests.iter_mut().zip(groups) {
        // SAFETY: both hold 16 elements; the comparison keeps the gathered bytes inside `scores`.
        unsafe {
            let places = _mm512_loadu_si512(group.as_ptr().cast());
            assert!(_mm512_cmpgt_epu32_mask(places, limit) == 0, "a place is too near the end of the scores");
            let gathered = _mm512_cvtepi32_epi8(_mm512_i32gather_epi32::<1>(places, scores.as_ptr().cast()));
            let raised = _mm_max_epu8(_mm_loadu_si128(best.as_ptr().cast()), _mm_sub_epi8(total_16, gathered));
            _mm_storeu_si128(best.as_mut_ptr().cast(), raised);
        }
    }
    for (best, &place) in best_rest.iter_mut().zip(place_rest) {
        *best = (*best).max(total.wrapping_sub(scores[place as usize]));
    }
}

/// Copies the scores at the ranks that `map` selects to the start of `out`, in order.
///
/// `out` must have 64 bytes more than the map has ranks; `scores` has one score for every rank after the spill.
pub fn select(isa: Isa, scores: &[u8], map: &SpillMap, out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if isa.set() == Set::Avx512 {
        // SAFETY: this `Isa` exists only where the machine supports the features.
        return unsafe { select_avx512(scores, map, out) };
    }
    let _ = isa;
    for (out, &rank) in out.iter_mut().zip(map.ranks()) {
        *out = scores[rank as usize];
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi2,avx512f,avx512bw,avx512vbmi2")]
fn select_avx512(scores: &[u8], map: &SpillMap, out: &mut [u8]) {
    use std::arch::x86_64::{
        _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_storeu_si512,
    };
    assert!(out.len() >= map.ranks().len() + 64);
    let mut filled = 0;
    let (blocks, rest) = scores.as_chunks::<64>();
    let mut selected = map.selected().iter();
    for (block, &mask) in blocks.iter().zip(&mut selected) {
        // SAFETY: the block has 64 bytes; `filled` is at most the number of ranks, and `out` has 64 bytes more.
        unsafe {
            let packed = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(block.as_ptr().cast()));
            _mm512_storeu_si512(out.as_mut_ptr().add(filled).cast(), packed);
        }
        filled += mask.count_ones() as usize;
    }
    let mask = selected.next().copied().unwrap_or(0);
    assert!(filled + (mask.count_ones() as usize) <= map.ranks().len());
    // SAFETY: the mask keeps the load inside `rest`; for the store see above.
    unsafe {
        let block = _mm512_maskz_loadu_epi8((1 << rest.len()) - 1, rest.as_ptr().cast());
        _mm512_storeu_si512(out.as_mut_ptr().add(filled).cast(), _mm512_maskz_compress_epi8(mask, block));
    }
}

/// The side of the square tiles of [`transpose`].
const TILE: usize = 16;

per_isa! {
    /// Copies the transpose of a matrix: element (row, column) of `from` to (column, row) of `to`.
    ///
    /// `rows` x `columns` elements are copied; each matrix has its own distance between the starts of its rows.
    pub fn transpose(
        from: &[u8], from_stride: usize, rows: usize, columns: usize, to: &mut [u8], to_stride: usize
    ) {
        for row in (0..rows).step_by(TILE) {
            for column in (0..columns).step_by(TILE) {
                if row + TILE <= rows && column + TILE <= columns {
                    transpose_tile(
                        &from[row * from_stride + column..][..(TILE - 1) * from_stride + TILE],
                        from_stride,
                        &mut to[column * to_stride + row..][..(TILE - 1) * to_stride + TILE],
                        to_stride,
                    );
                } else {
                    for row in row..rows.min(row + TILE) {
                        for column in column..columns.min(column + TILE) {
                            to[column * to_stride + row] = from[row * from_stride + column];
                        }
                    }
                }
            }
        }
    }
}

/// Transposes one whole tile.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transpose_tile(from: &[u8], from_stride: usize, to: &mut [u8], to_stride: usize) {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm_setzero_si128, _mm_storeu_si128, _mm_unpackhi_epi8, _mm_unpacklo_epi8,
    };
    // Checked, because with an absurd stride the product could wrap around to a small number.
    let reach = |stride: usize| (TILE - 1).checked_mul(stride)?.checked_add(TILE);
    assert!(reach(from_stride).is_some_and(|reach| reach <= from.len()));
    assert!(reach(to_stride).is_some_and(|reach| reach <= to.len()));
    // SAFETY: SSE2 belongs to every x86-64 machine; the assertions keep loads and stores inside the slices.
    unsafe {
        let mut tile = [_mm_setzero_si128(); TILE];
        for (index, line) in tile.iter_mut().enumerate() {
            *line = _mm_loadu_si128(from.as_ptr().add(index * from_stride).cast());
        }
        // Four perfect shuffles of the 256 bytes exchange rows and columns.
        for _ in 0..4 {
            let mut shuffled = tile;
            for index in 0..TILE / 2 {
                shuffled[2 * index] = _mm_unpacklo_epi8(tile[index], tile[index + TILE / 2]);
                shuffled[2 * index + 1] = _mm_unpackhi_epi8(tile[index], tile[index + TILE / 2]);
            }
            tile = shuffled;
        }
        for (index, line) in tile.into_iter().enumerate() {
            _mm_storeu_si128(to.as_mut_ptr().add(index * to_stride).cast(), line);
        }
    }
}

/// Transposes one whole tile.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn transpose_tile(from: &[u8], from_stride: usize, to: &mut [u8], to_stride: usize) {
    for row in 0..TILE {
        for column in 0..TILE {
            to[column * to_stride + row] = from[row * from_stride + column];
        }
    }
}
