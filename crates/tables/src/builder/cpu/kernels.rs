//! The loops over bytes, for each instruction set.
//!
//! A score is one byte. `total` is the number of seeds in play of the layer. A child with the
//! opponent to move and score `v` is worth `total - v` to the mover, whatever the move stored (see
//! [`kalah_core::game::mover_score`]).

mod capture;

pub use capture::{CAPTURE_MARGIN, max_after_capture};

use kalah_core::isa::per_isa;

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
