//! Makes bound tables from exact ones.

// | module | contents |
// |---|---|
// | `run_evaluation` | the evaluations of all positions of a run |

mod run_evaluation;

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use kalah_base::file::{Replacement, remove_leftovers};
use kalah_base::progress::Pulse;
use kalah_core::evaluation::{Network, SEED};
use kalah_core::index::{Frame, RowIndex, TableRow};
use kalah_core::isa::{Isa, per_isa};
use kalah_core::table::bound_format::{self, BoundEntry, BoundHeader, LINE_BYTES};
use kalah_core::table::{BoundTable, Cuts, FrameScores, MAX_CUTS, RUN_MARGIN, Table, TableError, TableKey};
use rayon::prelude::*;
use run_evaluation::{ROWS_PER_BLOCK, RunEvaluation};

use crate::table::digest::seal;
use crate::table::frame_in_parallel;

/// Makes bound tables from exact ones. The bytes depend only on the exact table, the network and the cuts.
#[derive(Clone, Copy, Debug)]
pub struct BoundMaker<'a> {
    network: &'a Network,
    cuts: Cuts,
}

impl<'a> BoundMaker<'a> {
    /// Makes bound tables with this network and the same cuts in all frames.
    pub fn new(network: &'a Network, cuts: Cuts) -> BoundMaker<'a> {
        BoundMaker { network, cuts }
    }

    /// Bytes of the file of a layer's bound table.
    pub fn file_bytes(&self, key: TableKey) -> u64 {
        bound_format::file_bytes(key, self.cuts.bits())
    }

    /// Returns true if this maker would make `bounds` from its exact table, which is `exact` if
    /// that is given.
    pub fn made(&self, bounds: &BoundTable, exact: Option<&Table>) -> bool {
        let header = bounds.header();
        bounds.network() == self.network
            && header.entries.iter().all(|entry| entry.cuts == self.cuts)
            && exact.is_none_or(|exact| exact.header().digest == header.source)
    }

    /// Writes the bound table of `table` to a file in `directory`, replacing an existing one, on
    /// the threads of the current pool. No other process may be writing it. The blocks of `table`
    /// are compared with their checksums. `pulse` counts the positions.
    ///
    /// # Errors
    /// When the table is damaged, the file cannot be written, or `pulse` was stopped. The old file
    /// stays then.
    ///
    /// # Panics
    /// When the network is for other rules or another number of pits.
    pub fn write(&self, table: &Table, directory: &Path, pulse: &Pulse) -> Result<PathBuf, TableError> {
        let key = table.key();
        assert_eq!(
            (self.network.rules(), self.network.pits()),
            (key.rules, key.pits),
            "a network of the table's board"
        );
        let path = key.bounds_path(directory);
        // Leftovers of a killed process take disk space.
        remove_leftovers(&path).map_err(TableError::io(&path))?;
        let mut file = Replacement::begin(&path).map_err(TableError::io(&path))?;
        let rows = RowIndex::new(key.pits, key.seeds).expect("pits and seeds of tables");
        let mut entries = Vec::with_capacity(key.seeds - 1);
        let mut offset = BoundHeader::prefix_bytes(key, key.seeds - 1) as u64;
        file.seek(SeekFrom::Start(offset)).map_err(TableError::io(&path))?;
        // In file order.
        for frame in key.frames() {
            let conversion = Conversion::new(table, self.network, &rows, frame.mover)?;
            let FrameCodes { lines: mut section, counts } = conversion.codes(self.cuts, pulse)?;
            let lines = (section.len() / bound_format::LINE_BYTES) as u64;
            let digest = seal(&mut section, frame.mover as u64);
            file.write_all(&section).map_err(TableError::io(&path))?;
            entries.push((frame.mover, BoundEntry { offset, lines, cuts: self.cuts, counts, digest }));
            offset += section.len() as u64;
        }
        entries.sort_unstable_by_key(|&(mover, _)| mover);
        let entries: Vec<BoundEntry> = entries.into_iter().map(|(_, entry)| entry).collect();
        let prefix = bound_format::prefix(key, table.header().digest, self.network, &entries);
        // The first bytes last.
        file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&prefix)).map_err(TableError::io(&path))?;
        file.finish().map_err(TableError::io(&path))?;
        Ok(path)
    }
}

/// Positions that one task converts: a whole number of lines for either size of codes.
const TASK: usize = 1 << 15;

/// The codes of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrameCodes {
    /// The lines: 64 bytes each, the codes in the order of the positions in the frame.
    pub lines: Vec<u8>,
    /// Number of positions with each code.
    pub counts: [u64; MAX_CUTS + 1],
}

/// Makes the codes of the frame with `mover` seeds in the mover's row, for a bound table of `table`
/// with this network and these cuts. Runs on the threads of the current pool, and `pulse` counts
/// the positions.
///
/// # Panics
/// When the layer has no such frame, or the network is for another number of pits.
pub(crate) fn frame_codes(
    table: &Table,
    network: &Network,
    cuts: Cuts,
    mover: usize,
    pulse: &Pulse,
) -> Result<FrameCodes, TableError> {
    let rows = RowIndex::new(table.key().pits, table.key().seeds).expect("pits and seeds of tables");
    Conversion::new(table, network, &rows, mover)?.codes(cuts, pulse)
}

/// A frame and the evaluation of its positions.
pub(super) struct Conversion<'a> {
    table: &'a Table,
    scores: FrameScores<'a>,
    runs: RunEvaluation,
    others: Vec<TableRow>,
    isa: Isa,
}

impl<'a> Conversion<'a> {
    /// Prepares the frame with `mover` seeds in the mover's row. Its blocks are compared with their
    /// checksums first, on all threads of the current pool.
    pub(super) fn new(
        table: &'a Table,
        network: &'a Network,
        rows: &RowIndex,
        mover: usize,
    ) -> Result<Conversion<'a>, TableError> {
        let scores = frame_in_parallel(table, mover)?;
        let seeds = table.key().seeds;
        let runs = RunEvaluation::new(network, rows, seeds, mover);
        let others = (0..rows.rows(seeds - mover) as u32).map(|rank| rows.unrank(seeds - mover, rank)).collect();
        Ok(Conversion { table, scores, runs, others, isa: Isa::detect() })
    }

    fn frame(&self) -> Frame {
        self.scores.frame()
    }

    /// Makes the codes of all positions, on all threads of the current pool. `pulse` counts the
    /// positions.
    pub(super) fn codes(&self, cuts: Cuts, pulse: &Pulse) -> Result<FrameCodes, TableError> {
        let (positions, bits) = (self.frame().positions(), cuts.bits());
        let mut lines = vec![0; BoundEntry::lines_of(self.frame(), bits) as usize * LINE_BYTES];
        let tasks = lines.par_chunks_mut(TASK * bits as usize / 8).enumerate();
        let counted = tasks.map_init(Scratch::new, |scratch, (task, lines)| {
            pulse.check()?;
            let first = (task * TASK) as u64;
            let count = (positions - first).min(TASK as u64) as usize;
            let counts = self.task(cuts, first, count, scratch, lines)?;
            pulse.positions.fetch_add(count as u64, Ordering::Relaxed);
            Ok::<_, TableError>(counts)
        });
        let add = |one: [u64; MAX_CUTS + 1], two: [u64; _]| Ok(std::array::from_fn(|code| one[code] + two[code]));
        let counts = counted.try_reduce(|| [0; MAX_CUTS + 1], add)?;
        Ok(FrameCodes { lines, counts })
    }

    /// Packs the codes of `count` positions from index `first` on to `lines`.
    fn task(
        &self,
        cuts: Cuts,
        first: u64,
        count: usize,
        scratch: &mut Scratch,
        lines: &mut [u8],
    ) -> Result<[u64; MAX_CUTS + 1], TableError> {
        let (seeds, run) = (self.table.key().seeds, self.frame().mover_rows());
        let mut limits = [i32::MAX; MAX_CUTS];
        limits.iter_mut().zip(cuts.sixteenths()).for_each(|(limit, &cut)| *limit = cut.into());
        let mut done = 0;
        while done < count {
            let (mover, other) = self.frame().ranks(first + done as u64);
            let part = (run - mover as usize).min(count - done);
            let unpacked = self.scores.unpack_run(self.isa, mover, other, part, &mut scratch.scores, RUN_MARGIN);
            unpacked.map_err(|group| self.table.damaged_group(group))?;
            let scores = &scratch.scores[RUN_MARGIN..][..part];
            if let Some(wrong) = scores.iter().position(|&score| usize::from(score) > seeds) {
                return Err(self.table.damaged_score(self.frame().mover, mover + wrong as u32, other));
            }
            let (first, before) = (mover as usize / ROWS_PER_BLOCK, mover as usize % ROWS_PER_BLOCK);
            let evaluations = &mut scratch.evaluations[..(before + part).div_ceil(ROWS_PER_BLOCK)];
            self.runs.evaluate(self.isa, &self.others[other as usize], first, evaluations);
            let evaluations = &evaluations.as_flattened()[before..][..part];
            compare(self.isa, scores, evaluations, &limits, &mut scratch.codes[done..done + part]);
            done += part;
        }
        // The last line may be only partly filled.
        scratch.codes[count..].fill(0);
        let counts = count_codes(self.isa, &scratch.codes[..count]);
        match cuts.bits() {
            1 => pack_1(self.isa, &scratch.codes, lines),
            _ => pack_2(self.isa, &scratch.codes, lines),
        }
        Ok(counts)
    }
}

/// The memory of a thread.
struct Scratch {
    scores: Vec<u8>,
    evaluations: Vec<[i32; ROWS_PER_BLOCK]>,
    codes: Vec<u8>,
}

impl Scratch {
    fn new() -> Scratch {
        Scratch {
            scores: vec![0; TASK + 2 * RUN_MARGIN],
            evaluations: vec![[0; ROWS_PER_BLOCK]; TASK / ROWS_PER_BLOCK + 2],
            codes: vec![0; TASK],
        }
    }
}

per_isa! {
    /// Sets `codes` to the number of `cuts` that the differences of `scores` from `evaluations`
    /// reach, all in sixteenths of a seed: the same as [`Cuts::code`].
    fn compare(scores: &[u8], evaluations: &[i32], cuts: &[i32; MAX_CUTS], codes: &mut [u8]) {
        let &[low, middle, high] = cuts;
        for ((code, &score), &evaluation) in codes.iter_mut().zip(scores).zip(evaluations) {
            let difference = (SEED * i32::from(score)).saturating_sub(evaluation);
            *code = u8::from(difference >= low) + u8::from(difference >= middle) + u8::from(difference >= high);
        }
    }
}

per_isa! {
    fn count_codes(codes: &[u8]) -> [u64; MAX_CUTS + 1] {
        let mut counts = [0u64; MAX_CUTS + 1];
        // Their number is limited so that the sums fit a byte.
        for codes in codes.chunks(255 * 64) {
            for (code, count) in counts.iter_mut().enumerate() {
                *count += codes.iter().map(|&own| u32::from(own == code as u8)).sum::<u32>() as u64;
            }
        }
        counts
    }
}

per_isa! {
    /// Packs codes of 2 bits, four to a byte, the first in the lowest bits.
    fn pack_2(codes: &[u8], lines: &mut [u8]) {
        for (byte, codes) in lines.iter_mut().zip(codes.as_chunks::<4>().0) {
            // Codes are below 4, so products of lower places do not carry into the highest byte.
            *byte = (u32::from_le_bytes(*codes).wrapping_mul(1 << 24 | 1 << 18 | 1 << 12 | 1 << 6) >> 24) as u8;
        }
    }
}

per_isa! {
    /// Packs codes of 1 bit, eight to a byte, the first in the lowest bit.
    fn pack_1(codes: &[u8], lines: &mut [u8]) {
        for (byte, codes) in lines.iter_mut().zip(codes.as_chunks::<8>().0) {
            *byte = codes.iter().rev().fold(0, |byte, &code| byte << 1 | code);
        }
    }
}
