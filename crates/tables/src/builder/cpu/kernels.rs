//! The loops over bytes, for each instruction set.
//!
//! A score is one byte. `total` is the number of seeds in play of the layer. A child with the
//! opponent to move and score `v` is worth `total - v` to the mover, whatever the move stored (see
//! [`kalah_core::game::mover_score`]).

use kalah_core::isa::{Isa, per_isa};

use crate::rows::CaptureMap;

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

per_isa! {
    /// `best = max(best, scores)`, for scores of the same player.
    pub fn max(best: &mut [u8], scores: &[u8]) {
        for (best, &score) in best.iter_mut().zip(scores) {
            *best = (*best).max(score);
        }
    }
}

/// Side of the square tiles of [`transpose`].
const TILE: usize = 16;

per_isa! {
    /// Copies the transpose of a matrix: element (row, column) of `from` to (column, row) of `to`.
    ///
    /// Copies `rows` x `columns` elements. Each matrix has its own distance between the starts of
    /// its rows.
    pub fn transpose(
        from: &[u8], from_stride: usize, rows: usize, columns: usize, to: &mut [u8], to_stride: usize
    ) {
        if rows < TILE || columns < TILE {
            for row in 0..rows {
                for column in 0..columns {
                    to[column * to_stride + row] = from[row * from_stride + column];
                }
            }
            return;
        }
        for row in tile_starts(rows) {
            for column in tile_starts(columns) {
                transpose_tile(
                    &from[row * from_stride + column..][..(TILE - 1) * from_stride + TILE],
                    from_stride,
                    &mut to[column * to_stride + row..][..(TILE - 1) * to_stride + TILE],
                    to_stride,
                );
            }
        }
    }
}

/// Starts of tiles that cover `len` rows or columns, at least as many as a tile has. The last two
/// tiles may overlap.
#[inline(always)]
fn tile_starts(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(TILE).map(move |start| start.min(len - TILE))
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transpose_tile(from: &[u8], from_stride: usize, to: &mut [u8], to_stride: usize) {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm_setzero_si128, _mm_storeu_si128, _mm_unpackhi_epi8, _mm_unpacklo_epi8,
    };
    // The product is checked, because with an absurd stride it could wrap around to a small number.
    let reach = |stride: usize| (TILE - 1).checked_mul(stride)?.checked_add(TILE);
    assert!(reach(from_stride).is_some_and(|reach| reach <= from.len()));
    assert!(reach(to_stride).is_some_and(|reach| reach <= to.len()));
    // SAFETY: SSE2 belongs to every x86-64 machine; the assertions keep loads and stores inside the
    // slices.
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

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn transpose_tile(from: &[u8], from_stride: usize, to: &mut [u8], to_stride: usize) {
    for row in 0..TILE {
        for column in 0..TILE {
            to[column * to_stride + row] = from[row * from_stride + column];
        }
    }
}

/// Bytes after the scores of a capture that may be read.
pub const CAPTURE_MARGIN: usize = 64;

/// [`max_after_pass`] of the scores at the places of `map`.
/// [`CAPTURE_MARGIN`] bytes must follow the scores.
///
/// # Panics
/// When there are fewer scores, or `best` does not have one score for each row of the map.
pub fn max_after_capture(isa: Isa, best: &mut [u8], scores: &[u8], map: &CaptureMap, total: u8) {
    assert_eq!(best.len(), map.rows(), "a score for each row");
    assert!(scores.len() >= map.rows() + CAPTURE_MARGIN, "a score for each place, and a margin");
    #[cfg(target_arch = "x86_64")]
    if matches!(isa, Isa::Avx512 { .. }) {
        // SAFETY: this `Isa` exists only where the machine supports the features.
        return unsafe { max_after_capture_avx512(best, scores, map, total) };
    }
    max_at_places(isa, best, scores, map.places(), total);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2")]
fn max_after_capture_avx512(best: &mut [u8], scores: &[u8], map: &CaptureMap, total: u8) {
    use std::arch::x86_64::{
        _mm512_loadu_si512, _mm512_mask_expand_epi8, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_max_epu8,
        _mm512_set1_epi8, _mm512_sub_epi8,
    };
    let total = _mm512_set1_epi8(total as i8);
    for (block, best) in best.chunks_mut(64).enumerate() {
        let mut found = total;
        for part in map.parts(block) {
            let from = &scores[part.place as usize..][..64];
            // SAFETY: 64 bytes are loaded.
            found = _mm512_mask_expand_epi8(found, part.rows, unsafe { _mm512_loadu_si512(from.as_ptr().cast()) });
        }
        let all = u64::MAX >> (64 - best.len());
        // SAFETY: only the bytes of `best` are loaded and stored.
        unsafe {
            let raised =
                _mm512_max_epu8(_mm512_maskz_loadu_epi8(all, best.as_ptr().cast()), _mm512_sub_epi8(total, found));
            _mm512_mask_storeu_epi8(best.as_mut_ptr().cast(), all, raised);
        }
    }
}

per_isa! {
    /// [`max_after_pass`] of the scores at `places`.
    ///
    /// # Panics
    /// When a place is beyond the scores.
    fn max_at_places(best: &mut [u8], scores: &[u8], places: &[u32], total: u8) {
        let (bests, best_rest) = best.as_chunks_mut::<8>();
        let (groups, place_rest) = places.as_chunks::<8>();
        for (best, places) in bests.iter_mut().zip(groups) {
            let found = places.map(|place| scores[place as usize]);
            for (best, found) in best.iter_mut().zip(found) {
                *best = (*best).max(total.wrapping_sub(found));
            }
        }
        for (best, &place) in best_rest.iter_mut().zip(place_rest) {
            *best = (*best).max(total.wrapping_sub(scores[place as usize]));
        }
    }
}
