use super::constants::TILE;
use crate::device::{WORKGROUP, Words, Workgroup, extract_bits, params};

params! {
    /// Parameters of the stage `transpose`, which transposes a matrix of
    /// bytes with rows padded to whole words.
    ///
    /// Buffers: the matrix, its transpose. One workgroup for each tile of [`TILE`] x [`TILE`] bytes.
    pub struct Transpose {
        /// The row of the matrix after the last to be transposed: a multiple of four, or the last of all.
        rows,
        /// The column of the matrix after the last to be transposed.
        columns,
        /// The first row to be transposed: a multiple of four.
        first_row,
        /// The first column to be transposed: a multiple of four.
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

/// Words of a row of a tile, and the distance between rows.
const TILE_WORDS: u32 = TILE / 4;
const TILE_STRIDE: u32 = TILE_WORDS + 1;

// A thread has a block of 4 x 4 bytes.
const _: () = assert!(TILE * TILE == 16 * WORKGROUP);

pub(super) fn transpose(group: &Workgroup, params: &Transpose, [from, mut to]: [Words; 2]) {
    let mut tile = [0; (TILE * TILE_STRIDE) as usize];
    let mut tile = group.memory(&mut tile);
    let first_row = params.first_row + group.number() / params.tiles * TILE;
    let first_column = params.first_column + group.number() % params.tiles * TILE;
    // A word of the matrix; zero beyond the last row.
    let from_word = |row: u32, word: u32| {
        let at = row.min(params.rows - 1) * params.from_words + word.min(params.from_words - 1);
        let value = from.get(at - params.from_base);
        if row < params.rows { value } else { 0 }
    };
    for local in group.locals() {
        let (word, block) = (local % TILE_WORDS, local / TILE_WORDS);
        let rows = [0, 1, 2, 3].map(|lane| from_word(first_row + 4 * block + lane, first_column / 4 + word));
        for column in 0..4 {
            let bytes = (0..4).map(|lane| extract_bits(rows[lane as usize], 8 * column, 8) << (8 * lane));
            tile.set((4 * word + column) * TILE_STRIDE + block, bytes.sum());
        }
    }
    group.barrier();
    for local in group.locals() {
        let (word, block) = (local % TILE_WORDS, local / TILE_WORDS);
        let to_word = first_row / 4 + word;
        for place in (0..4).map(|index| block + index * TILE_WORDS) {
            let column = first_column + place;
            if column < params.columns && 4 * to_word < params.rows {
                let value = tile.get(place * TILE_STRIDE + word);
                to.set(column * params.to_words + to_word - params.to_base, value);
            }
        }
    }
}
