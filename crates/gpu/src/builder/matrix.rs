use std::ops::Range;

use crate::device::{DeviceBuffer, Gpu, GpuError, Window};

/// A matrix of scores on the device: one byte each, every row padded to whole words.
pub(super) struct Matrix {
    buffer: DeviceBuffer,
    pub rows: usize,
    pub columns: usize,
}

impl Matrix {
    /// Allocates memory for matrices of up to `words` words.
    pub(super) fn new(gpu: &Gpu, words: u64) -> Result<Matrix, GpuError> {
        Ok(Matrix { buffer: gpu.storage("the scores of a pair of frames", 4 * words)?, rows: 0, columns: 0 })
    }

    /// Words of a matrix of this shape.
    pub(super) fn words_of(rows: usize, columns: usize) -> u64 {
        rows as u64 * columns.div_ceil(4) as u64
    }

    /// Sets the shape.
    pub(super) fn shape(&mut self, rows: usize, columns: usize) {
        assert!(4 * Matrix::words_of(rows, columns) <= self.buffer.bytes(), "{rows} x {columns} scores");
        (self.rows, self.columns) = (rows, columns);
    }

    /// Words of a row.
    pub(super) fn words(&self) -> u32 {
        self.columns.div_ceil(4) as u32
    }

    /// The whole matrix.
    pub(super) fn all(&self) -> Window {
        self.buffer.front(4 * Matrix::words_of(self.rows, self.columns))
    }

    /// Maximum rows that a stage can use at once.
    pub(super) fn rows_at_once(&self, gpu: &Gpu) -> usize {
        let bytes = gpu.max_binding() - gpu.window_alignment();
        usize::try_from(bytes / (4 * u64::from(self.words()))).expect("bindings fit the memory")
    }

    /// Divides rows into parts that a stage can use at once, each with a multiple of `unit` rows. It
    /// is one part if a stage can use the whole matrix at once.
    pub(super) fn parts(&self, gpu: &Gpu, rows: Range<usize>, unit: usize) -> impl Iterator<Item = Range<usize>> {
        let part = (self.rows_at_once(gpu) / unit).max(1) * unit;
        let part = if self.is_whole(gpu) { rows.len().max(1) } else { part };
        rows.clone().step_by(part).map(move |first| first..rows.end.min(first + part))
    }

    /// Returns true if a stage can use the whole matrix at once.
    pub(super) fn is_whole(&self, gpu: &Gpu) -> bool {
        self.all().bytes <= gpu.max_binding()
    }

    /// Returns the part that holds these rows, and the number of its first word. It is the whole
    /// matrix if a stage can use that at once.
    pub(super) fn window(&self, gpu: &Gpu, rows: Range<usize>) -> Result<(Window, u32), GpuError> {
        let all = self.all();
        if self.is_whole(gpu) {
            return Ok((all, 0));
        }
        let row_bytes = 4 * u64::from(self.words());
        let offset = rows.start as u64 * row_bytes / gpu.window_alignment() * gpu.window_alignment();
        let bytes = rows.end as u64 * row_bytes - offset;
        if bytes > gpu.max_binding() {
            return Err(gpu.binding_error(bytes));
        }
        Ok((Window { offset, bytes, ..all }, (offset / 4) as u32))
    }
}
