use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::audit::Audit;
use crate::index::TableRow;
use crate::solve::memory::Copies;
use crate::solve::packed::{Keys, Word};
use crate::table::{FrameScores, TableError, Tables};

/// Copying tables to memory starts after a search of this length: shorter ones end before it pays off.
const COPY_AFTER: Duration = Duration::from_secs(2);

/// After this, tables are copied even if they then leave the page cache, so that the next search has to read them from the
/// disk.
const MOVE_AFTER: Duration = Duration::from_secs(60);

/// Looks up scores in tables by the numbers that [`Keys`] gives rows.
///
/// [`TableScores::score`] does not compare checksums: results of a search are used only once its [`Audit`] is complete.
pub(crate) struct TableScores<'a> {
    tables: Option<&'a Tables>,
    /// The largest layer to look up; 0 for none.
    reach: usize,
    /// By the number of a row: its rank among the rows with the same number of seeds.
    ranks: Vec<u32>,
    /// The frame with `k` seeds in the mover's row of the layer `n` at `n * reach + k`.
    frames: Vec<Frame<'a>>,
    /// The frames in the order in which they are copied: seeds in play and in the mover's row.
    to_copy: Vec<(usize, usize)>,
    /// How many of them were copied, or passed over.
    copied: AtomicUsize,
    /// Bytes copied that stay in the page cache.
    twice: AtomicU64,
}

/// The scores of a frame.
#[derive(Default)]
struct Frame<'a> {
    /// In the file, perhaps not compared with their checksums yet.
    file: Option<FrameScores<'a>>,
    /// In memory, once copied there, and compared.
    memory: OnceLock<FrameScores<'a>>,
}

impl<'a> Frame<'a> {
    #[inline]
    fn scores(&self) -> Option<&FrameScores<'a>> {
        self.memory.get().or(self.file.as_ref())
    }
}

/// Where the score of a position is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot {
    frame: u32,
    mover: u32,
    other: u32,
}

impl<'a> TableScores<'a> {
    /// The scores of the layers of `tables` up to `reach` seeds; `None` if `end` returns true before all rows are
    /// numbered.
    pub fn new<W: Word>(
        keys: &Keys<W>,
        tables: Option<&'a Tables>,
        reach: usize,
        end: &dyn Fn() -> bool,
    ) -> Option<TableScores<'a>> {
        let reach = reach.min(tables.and_then(Tables::max_seeds).unwrap_or(0));
        let Some(tables) = tables.filter(|_| reach >= 2) else {
            return Some(TableScores {
                tables: None,
                reach: 0,
                ranks: Vec::new(),
                frames: Vec::new(),
                to_copy: Vec::new(),
                copied: AtomicUsize::new(0),
                twice: AtomicU64::new(0),
            });
        };
        let pits = tables.pits();
        // Both rows are non-empty, so neither has more than this.
        let most = reach - 1;
        let mut ranks = Vec::new();
        let mut row = TableRow::default();
        let rows = tables.rows();
        for seeds in 0..=most {
            // Large tables have millions of rows.
            if end() {
                return None;
            }
            each_row(&mut row, pits, seeds, &mut |row: &TableRow| {
                let number = keys.row(W::pack(row.iter().copied()).sums()).low() as usize;
                if ranks.len() <= number {
                    ranks.resize(number + 1, 0);
                }
                ranks[number] = rows.rank(row);
            });
        }
        let mut frames: Vec<Frame> = (0..(reach + 1) * reach).map(|_| Frame::default()).collect();
        for layer in &tables.layers()[..reach - 1] {
            let seeds = layer.key().seeds;
            for mover in 1..seeds {
                frames[seeds * reach + mover].file = Some(layer.frame_unchecked(mover));
            }
        }
        Some(TableScores {
            tables: Some(tables),
            reach,
            ranks,
            frames,
            to_copy: (2..=reach).rev().flat_map(|seeds| (1..seeds).map(move |mover| (seeds, mover))).collect(),
            copied: AtomicUsize::new(0),
            twice: AtomicU64::new(0),
        })
    }

    /// Whether all tables that can be copied were.
    pub fn is_copied(&self) -> bool {
        self.copied.load(Ordering::Relaxed) == self.to_copy.len()
    }

    /// Copies tables to memory, frame by frame, those of the largest layer first, until `stop`: random reads of files
    /// cost more, because of their small pages. `wait` waits until the search has lasted so long, or `stop`. The next call
    /// continues where this one stopped. A frame for which there is not enough memory is still read from its file; a
    /// damaged one makes the `audit` fail.
    pub fn copy(&self, copies: Copies, audit: &Audit, wait: &dyn Fn(Duration), stop: &AtomicBool) {
        let Some(tables) = self.tables else { return };
        while let Some(&(seeds, mover)) = self.to_copy.get(self.copied.load(Ordering::Relaxed)) {
            let layer = tables.layer(seeds).expect("a layer in use");
            let bytes = layer.blocks().sections()[mover - 1].data;
            let twice = self.twice.load(Ordering::Relaxed) + bytes <= copies.twice;
            if twice || copies.moved {
                wait(if twice { COPY_AFTER } else { MOVE_AFTER });
                match layer.copied_frame(mover, stop) {
                    Ok(Some(copy)) => {
                        self.frames[seeds * self.reach + mover].memory.get_or_init(|| copy);
                        if twice {
                            self.twice.fetch_add(bytes, Ordering::Relaxed);
                        } else {
                            layer.blocks().release(mover);
                        }
                    }
                    Err(error) if error.is_damage() => return audit.fail(error),
                    Ok(None) | Err(_) => {}
                }
            }
            if stop.load(Ordering::Relaxed) {
                return;
            }
            self.copied.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The largest layer that is looked up; 0 for none.
    #[inline]
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// Where the score of the position with `seeds` seeds in play is whose rows have these numbers; the mover's row has
    /// `mover_seeds` seeds.
    #[inline]
    pub fn locate<W: Word>(&self, seeds: u32, mover_seeds: u32, mover: W, other: W) -> Spot {
        let frame = seeds * self.reach as u32 + mover_seeds;
        Spot { frame, mover: self.ranks[mover.low() as usize], other: self.ranks[other.low() as usize] }
    }

    /// Has the processor fetch the score at `spot`.
    #[inline]
    pub fn prefetch(&self, spot: Spot) {
        if let Some(scores) = self.frames[spot.frame as usize].scores() {
            scores.prefetch(spot.mover, spot.other);
        }
    }

    /// The score at `spot` of a position with `seeds` seeds in play, whether or not it was compared with its checksum.
    ///
    /// # Errors
    /// When the table is damaged.
    #[inline]
    pub fn score(&self, seeds: u32, spot: Spot) -> Result<u32, TableError> {
        let found = match self.frames[spot.frame as usize].scores() {
            Some(scores) => scores.score(spot.mover, spot.other),
            None => Ok(u8::MAX),
        };
        match found {
            Ok(score) if u32::from(score) <= seeds => Ok(score.into()),
            _ => Err(self.damaged(seeds, spot)),
        }
    }

    /// The same, but compared with its checksum: now, if not before.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn checked_score(&self, seeds: u32, spot: Spot) -> Result<u32, TableError> {
        let frame = &self.frames[spot.frame as usize];
        if let (None, Some(table)) = (frame.memory.get(), self.tables.and_then(|tables| tables.layer(seeds as usize))) {
            table.score(spot.frame as usize % self.reach, spot.mover, spot.other)?;
        }
        self.score(seeds, spot)
    }

    /// The error for an impossible score: usually a damaged block, as its checksum shows.
    #[cold]
    fn damaged(&self, seeds: u32, spot: Spot) -> TableError {
        let table = self.tables.and_then(|tables| tables.layer(seeds as usize)).expect("a spot lies in a layer");
        let mover = spot.frame as usize % self.reach;
        match table.score(mover, spot.mover, spot.other) {
            Err(error) => error,
            Ok(_) => table.damaged_score(mover, spot.mover, spot.other),
        }
    }
}

/// Calls `each` with every row of `pits` pits and `seeds` seeds.
fn each_row(row: &mut TableRow, pits: usize, seeds: usize, each: &mut impl FnMut(&TableRow)) {
    let Some(last) = pits.checked_sub(1) else { return };
    if last == 0 {
        row[0] = seeds as u8;
        return each(row);
    }
    for here in 0..=seeds {
        row[last] = here as u8;
        each_row(row, last, seeds - here, each);
    }
}
