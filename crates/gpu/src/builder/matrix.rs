use std::ops::Range;

use super::stages::rows_of_whole_groups;
use crate::device::{DeviceBuffer, Gpu, GpuError, Window};

/// A matrix of scores on the device: one byte each, every row padded to whole words.
///
/// A stage uses one buffer of it at once. If the matrix is larger, it has several buffers. Each but
/// the last has a multiple of four rows, which are whole words of the transposed matrix, and whole
/// groups.
pub(super) struct Matrix {
    buffers: Vec<DeviceBuffer>,
    pub rows: usize,
    pub columns: usize,
    /// Rows of each buffer but the last.
    buffer_rows: usize,
    /// Maximum bytes of a buffer.
    most: u64,
}

/// Some rows of a matrix that are in one buffer.
#[derive(Clone)]
pub(super) struct MatrixPart {
    pub rows: Range<usize>,
    /// All rows of that buffer.
    pub window: Window,
    /// Number of the first word of that buffer in the matrix.
    pub base: u32,
}

impl Matrix {
    /// Allocates buffers of these sizes, see [`Matrix::buffer_bytes`].
    pub(super) fn new(gpu: &Gpu, bytes: &[u64]) -> Result<Matrix, GpuError> {
        let buffer = |&bytes: &u64| gpu.storage("the scores of a pair of frames", bytes);
        let buffers = bytes.iter().map(buffer).collect::<Result<Vec<DeviceBuffer>, GpuError>>()?;
        Ok(Matrix { buffers, rows: 0, columns: 0, buffer_rows: 1, most: gpu.max_binding() })
    }

    /// Words of a matrix of this shape.
    pub(super) fn words_of(rows: usize, columns: usize) -> u64 {
        rows as u64 * columns.div_ceil(4) as u64
    }

    /// Rows of each buffer but the last, if a buffer has at most `most` bytes. If that is
    /// impossible, the fewest rows.
    fn rows_of_buffer(rows: usize, columns: usize, most: u64) -> usize {
        let groups = rows_of_whole_groups(columns as u64) as usize;
        let unit = groups * if groups.is_multiple_of(2) { 2 } else { 4 };
        let units = most / (4 * Matrix::words_of(unit, columns));
        if 4 * Matrix::words_of(rows, columns) <= most { rows } else { rows.min(units.max(1) as usize * unit) }
    }

    /// Bytes of the buffers of a matrix of this shape, if a buffer has at most `most` bytes. If that
    /// is impossible, some have more.
    pub(super) fn buffer_bytes(rows: usize, columns: usize, most: u64) -> impl Iterator<Item = u64> {
        let part = Matrix::rows_of_buffer(rows, columns, most);
        (0..rows).step_by(part).map(move |first| 4 * Matrix::words_of(part.min(rows - first), columns))
    }

    /// Sets the shape.
    pub(super) fn shape(&mut self, rows: usize, columns: usize) {
        let mut needed = Matrix::buffer_bytes(rows, columns, self.most).zip(&self.buffers);
        assert!(needed.all(|(bytes, buffer)| bytes <= buffer.bytes()), "{rows} x {columns} scores");
        (self.rows, self.columns) = (rows, columns);
        self.buffer_rows = Matrix::rows_of_buffer(rows, columns, self.most);
    }

    /// Words of a row.
    pub(super) fn words(&self) -> u32 {
        self.columns.div_ceil(4) as u32
    }

    /// Returns true if a stage can use the whole matrix at once.
    pub(super) fn is_whole(&self) -> bool {
        self.buffer_rows == self.rows
    }

    /// The parts of the whole matrix.
    pub(super) fn all(&self) -> impl Iterator<Item = MatrixPart> {
        self.parts(0..self.rows)
    }

    /// Divides rows into parts that a stage can use at once.
    pub(super) fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = MatrixPart> {
        let numbers = rows.start / self.buffer_rows..rows.end.div_ceil(self.buffer_rows);
        numbers.map(move |number| {
            let first = number * self.buffer_rows;
            let end = self.rows.min(first + self.buffer_rows);
            MatrixPart {
                rows: rows.start.max(first)..rows.end.min(end),
                window: self.buffers[number].front(4 * Matrix::words_of(end - first, self.columns)),
                base: Matrix::words_of(first, self.columns) as u32,
            }
        })
    }
}
