use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::Ordering;

use kalah_base::diagnostic::{Diagnosis, Diagnostic};
use kalah_base::progress::Pulse;
use kalah_base::random::generator;
use kalah_core::index::{Frame, RowIndex, TableRow, layer_frames};
use kalah_core::isa::Isa;
use kalah_core::table::{FrameScores, RUN_MARGIN, Table, TableError, TableKey};
use kalah_tables::table::frame_in_parallel;
use rayon::prelude::*;

use super::ExportFormat;
#[cfg(feature = "parquet")]
use super::parquet::ParquetFile;

/// Positions that one task formats.
const TASK: usize = 1 << 14;

/// Positions that are formatted before they are written, unless a run has more.
const BATCH: usize = 1 << 20;

/// Options of an export of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Export<'t> {
    /// The layer.
    pub table: &'t Table,
    /// The format.
    pub format: ExportFormat,
    /// Number of random positions, distinct and equally likely, and the seed that selects them; `None` for all.
    pub sample: Option<(u64, u64)>,
}

/// Reasons why an export failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The table is damaged or cannot be read.
    #[error("{0}")]
    Table(#[from] TableError),
    /// The records cannot be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Diagnostic for ExportError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            ExportError::Table(error) => error.diagnosis(),
            ExportError::Io(error) => error.diagnosis(),
        }
    }
}

impl Export<'_> {
    /// Number of positions to write.
    pub fn positions(&self) -> u64 {
        let all = self.table.header().positions;
        self.sample.map_or(all, |(count, _)| count.min(all))
    }
}

/// Writes the records to `out`, in table order, and counts them in `pulse`. They are formatted on
/// the threads of the current pool.
///
/// A layer has no positions with an empty row: such a game is over, and the player with seeds in
/// the row keeps them.
///
/// # Errors
/// When the table is damaged, `out` cannot be written, or `pulse` is stopped.
pub fn export(export: &Export, out: &mut dyn Write, pulse: &Pulse) -> Result<(), ExportError> {
    let TableKey { pits, seeds, .. } = export.table.key();
    let writing = Writing { export, rows: RowIndex::new(pits, seeds).expect("pits and seeds of tables"), pulse };
    #[cfg(feature = "parquet")]
    if export.format == ExportFormat::Parquet {
        let mut file = ParquetFile::begin(pits, out)?;
        writing.all(&mut file)?;
        file.finish()?;
        return Ok(out.flush()?);
    }
    out.write_all(&export.format.head(pits, export.positions()))?;
    writing.all(out)?;
    Ok(out.flush()?)
}

struct Writing<'e> {
    export: &'e Export<'e>,
    rows: RowIndex,
    pulse: &'e Pulse,
}

impl Writing<'_> {
    fn all(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        let positions = self.export.table.header().positions;
        match self.export.sample {
            None => (1..self.export.table.key().seeds).try_for_each(|mover| self.frame(mover, out)),
            Some((count, seed)) => self.sample(&random_indices(positions, count, seed), out),
        }
    }

    fn frame(&self, mover: usize, out: &mut dyn Write) -> Result<(), ExportError> {
        let scores = frame_in_parallel(self.export.table, mover)?;
        let frame = scores.frame();
        let rows: Vec<TableRow> = (0..frame.mover_rows() as u32).map(|rank| self.rows.unrank(mover, rank)).collect();
        let others = frame.mirrored().mover_rows();
        let (task, batch) = (TASK.div_ceil(rows.len()), (BATCH / rows.len()).max(1));
        for first in (0..others).step_by(batch) {
            let last = others.min(first + batch);
            let tasks: Vec<Range<usize>> =
                (first..last).step_by(task).map(|begin| begin..last.min(begin + task)).collect();
            let parts: Result<Vec<_>, TableError> =
                tasks.into_par_iter().map(|others| self.runs(&scores, &rows, others)).collect();
            self.write(&parts?, ((last - first) * rows.len()) as u64, out)?;
        }
        Ok(())
    }

    /// Formats the records of a frame against some other rows.
    fn runs(&self, scores: &FrameScores, rows: &[TableRow], others: Range<usize>) -> Result<Vec<u8>, TableError> {
        let (table, format, frame) = (self.export.table, self.export.format, scores.frame());
        let (isa, pits) = (Isa::detect(), frame.pits);
        let (mut out, mut buffer) = (Vec::new(), vec![0; rows.len() + 2 * RUN_MARGIN]);
        for other_rank in others.start as u32..others.end as u32 {
            let unpacked = scores.unpack_run(isa, 0, other_rank, rows.len(), &mut buffer, RUN_MARGIN);
            unpacked.map_err(|group| table.damaged_group(group))?;
            let other = self.rows.unrank(frame.other, other_rank);
            for (rank, (mover, &score)) in rows.iter().zip(&buffer[RUN_MARGIN..]).enumerate() {
                self.require(frame, rank as u32, other_rank, score)?;
                format.push(&mut out, &mover[..pits], &other[..pits], score);
            }
        }
        Ok(out)
    }

    /// Writes the positions with these ascending indices in the layer.
    fn sample(&self, mut indices: &[u64], out: &mut dyn Write) -> Result<(), ExportError> {
        let TableKey { pits, seeds, .. } = self.export.table.key();
        let mut start = 0;
        for frame in layer_frames(pits, seeds) {
            let end = start + frame.positions();
            let (of_frame, rest) = indices.split_at(indices.partition_point(|&index| index < end));
            for batch in of_frame.chunks(BATCH) {
                let parts: Result<Vec<_>, TableError> =
                    batch.par_chunks(TASK).map(|indices| self.chosen(frame, start, indices)).collect();
                self.write(&parts?, batch.len() as u64, out)?;
            }
            (indices, start) = (rest, end);
        }
        Ok(())
    }

    /// Formats the records of selected positions of a frame that begins at `start` in the layer.
    fn chosen(&self, frame: Frame, start: u64, indices: &[u64]) -> Result<Vec<u8>, TableError> {
        let (table, mut out) = (self.export.table, Vec::new());
        for &index in indices {
            let (mover_rank, other_rank) = frame.ranks(index - start);
            let score = table.score(frame.mover, mover_rank, other_rank)?;
            self.require(frame, mover_rank, other_rank, score)?;
            let (mover, other) = (self.rows.unrank(frame.mover, mover_rank), self.rows.unrank(frame.other, other_rank));
            self.export.format.push(&mut out, &mover[..frame.pits], &other[..frame.pits], score);
        }
        Ok(out)
    }

    /// Returns an error for a score above the seeds in play, which is damage.
    fn require(&self, frame: Frame, mover_rank: u32, other_rank: u32, score: u8) -> Result<(), TableError> {
        let is_sound = usize::from(score) <= frame.mover + frame.other;
        if is_sound { Ok(()) } else { Err(self.export.table.damaged_score(frame.mover, mover_rank, other_rank)) }
    }

    fn write(&self, parts: &[Vec<u8>], positions: u64, out: &mut dyn Write) -> Result<(), ExportError> {
        self.pulse.check().map_err(TableError::from)?;
        parts.iter().try_for_each(|part| out.write_all(part))?;
        self.pulse.positions.fetch_add(positions, Ordering::Relaxed);
        Ok(())
    }
}

/// Selects `count` distinct random numbers below `positions`, ascending, or all if there are fewer.
/// Every set of that size is equally likely, and the same `seed` gives the same set.
///
/// Takes 8 bytes for each number, or twice that if more than half of all are selected.
pub fn random_indices(positions: u64, count: u64, seed: u64) -> Vec<u64> {
    let count = count.min(positions);
    if count > positions / 2 {
        // Selects the numbers to leave out, which are fewer.
        let mut left_out = random_indices(positions, positions - count, seed).into_iter().peekable();
        return (0..positions).filter(|index| left_out.next_if_eq(index).is_none()).collect();
    }
    let mut random = generator(seed);
    let mut chosen = Vec::with_capacity(count as usize);
    // Takes the first `count` distinct numbers of a random sequence: at most half of all, so that a
    // few rounds suffice.
    while (chosen.len() as u64) < count {
        let missing = count - chosen.len() as u64;
        chosen.extend((0..missing).map(|_| random.u64(..positions)));
        chosen.sort_unstable();
        chosen.dedup();
    }
    chosen
}
