use super::constants::TILE;
use crate::gpu::{Barrier, Tracer, WORKGROUP, Words, Workgroup, extract_bits, params};

params! {
    /// Parameters of [`Stage::Transpose`](super::Stage::Transpose): a matrix of bytes, its rows padded to whole words, transposed.
    ///
    /// Buffers: the matrix, its transpose. One workgroup for each tile of [`TILE`] x [`TILE`] bytes.
    pub struct Transpose {
        /// The row of the matrix after the last to be transposed.
        rows,
        /// The column of the matrix after the last to be transposed.
        columns,
        /// The first row to be transposed: a multiple of [`TILE`].
        first_row,
        /// The first column to be transposed: a multiple of [`TILE`].
        first_column,
        /// Tiles side by side.
        tiles,
        /// Words of a row of the matrix.
        from_words,
        /// The first word of the matrix that is in the buffer.
        from_base,
        /// Words of a row of the transpose.
        to_words,
        /// The first word of the transpose that is in the buffer.
        to_base,
    }
}

/// Words of a row of a tile, and from one row to the next.
const TILE_WORDS: u32 = TILE / 4;
const TILE_STRIDE: u32 = TILE_WORDS + 1;

/// Transposes a matrix of bytes.
pub(super) fn transpose<T: Tracer>(group: &Workgroup<T>, params: &Transpose, [from, mut to]: [Words<T>; 2]) {
    let mut tile = [0; (TILE * TILE_STRIDE) as usize];
    let mut tile = group.memory(&mut tile);
    let first_row = params.first_row + group.number() / params.tiles * TILE;
    let first_column = params.first_column + group.number() % params.tiles * TILE;
    let shares = |local: u32| (local..TILE * TILE_WORDS).step_by(WORKGROUP as usize);
    for local in group.locals() {
        for index in shares(local) {
            let row = first_row + index / TILE_WORDS;
            let word = first_column / 4 + index % TILE_WORDS;
            let is_inside = row < params.rows && word < params.from_words;
            let value = if is_inside { from.get(row * params.from_words + word - params.from_base) } else { 0 };
            tile.set(index / TILE_WORDS * TILE_STRIDE + index % TILE_WORDS, value);
        }
    }
    group.barrier(Barrier::Workgroup);
    for local in group.locals() {
        for index in shares(local) {
            let column = index / TILE_WORDS;
            let word = first_row / 4 + index % TILE_WORDS;
            if first_column + column < params.columns && word < params.to_words {
                let byte = |lane: u32| {
                    let row = 4 * (index % TILE_WORDS) + lane;
                    extract_bits(tile.get(row * TILE_STRIDE + column / 4), 8 * (column % 4), 8) << (8 * lane)
                };
                let value: u32 = (0..4).map(byte).sum();
                to.set((first_column + column) * params.to_words + word - params.to_base, value);
            }
        }
    }
}
