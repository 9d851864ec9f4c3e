use super::constants::TILE;
use crate::gpu::{extract_bits, params, read};

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

/// Transposes a matrix of bytes.
pub(super) fn transpose(workgroup: u32, params: &[u32], buffers: &mut [Vec<u32>]) {
    let params: &Transpose = read(params);
    let [from, to] = buffers else { unreachable!("bindings of the stage") };
    let first_row = params.first_row + workgroup / params.tiles * TILE;
    let first_column = params.first_column + workgroup % params.tiles * TILE;
    let byte = |row: u32, column: u32| {
        if row >= params.rows {
            return 0;
        }
        let word = row * params.from_words + column / 4 - params.from_base;
        extract_bits(from[word as usize], 8 * (column % 4), 8)
    };
    for column in first_column..(first_column + TILE).min(params.columns) {
        for word in first_row / 4..(first_row / 4 + TILE / 4).min(params.to_words) {
            let bytes = (0..4).map(|lane| byte(4 * word + lane, column) << (8 * lane));
            to[(column * params.to_words + word - params.to_base) as usize] = bytes.sum();
        }
    }
}
