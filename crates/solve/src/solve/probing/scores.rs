use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use kalah_base::file::is_in_memory;
use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::evaluation::Network;
use kalah_core::game::Bounds;
use kalah_core::isa::Isa;
use kalah_core::table::{FrameBounds, FrameScores, TableError};

use super::layers::{Layer, Layers};
use crate::solve::memory::Copies;
use crate::solve::packed::{Board, BoardKeys, Word};

/// Duration of a search, in nanoseconds for each byte to be copied, after which copying tables to memory starts
/// (3.2 seconds a GiB). By then the search has lost about as much time by the small pages of files as the
/// copies cost. So it never loses more than twice the optimum for its length.
const COPY_AFTER_BYTE: u64 = 3;

/// Duration of a search after which tables are copied even if they then leave the page cache, so that the next
/// search must read them from the disk.
const MOVE_AFTER: Duration = Duration::from_secs(60);

/// Looks up scores in exact tables and bounds in bound tables, by the numbers that [`BoardKeys`] gives rows.
///
/// Every block that is read was compared with its checksum. Frames whose blocks all were need no further check, so a
/// search is fastest in tables that were compared before.
pub(crate) struct TableScores<'a> {
    layers: Layers<'a>,
    /// The network of the bound tables, and the instruction set that evaluates it.
    network: Option<(&'a Network, Isa)>,
    /// By the number of a row: its rank among the rows with the same number of seeds.
    ranks: Vec<u32>,
    /// Frames of the exact tables: that of layer `n` with `k` seeds in the mover's row is at `n * reach + k`.
    frames: Vec<Frame<FrameScores<'a>>>,
    /// Frames of the bound tables, likewise; empty without them.
    bounds: Vec<Frame<FrameBounds<'a>>>,
    /// The frames in the order of copying, each as seeds in play and in the mover's row.
    to_copy: Vec<(usize, usize)>,
    /// Number of frames that were copied or passed over.
    copied: AtomicUsize,
    /// Bytes copied that also stay in the page cache.
    twice: AtomicU64,
}

/// The scores of a frame, or the codes of bounds.
struct Frame<S> {
    /// In the file, once all its blocks were compared with their checksums.
    file: OnceLock<S>,
    /// Compared copy in memory, once made.
    memory: OnceLock<S>,
}

impl<S> Frame<S> {
    /// Empty places for the frames of layers up to `reach`.
    fn places(reach: usize) -> Vec<Frame<S>> {
        (0..(reach + 1) * reach).map(|_| Frame { file: OnceLock::new(), memory: OnceLock::new() }).collect()
    }

    #[inline]
    fn contents(&self) -> Option<&S> {
        self.memory.get().or(self.file.get())
    }

    /// Fills the place with a copy in memory. Returns true if it had none.
    fn fill(&self, copy: Result<S, TableError>) -> Result<bool, TableError> {
        Ok(self.memory.set(copy?).is_ok())
    }
}

/// Location of the score of a position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScoreLocation {
    frame: u32,
    mover: u32,
    other: u32,
}

impl<'a> TableScores<'a> {
    /// Scores and bounds of these `layers`.
    ///
    /// # Errors
    /// If `cancel` was cancelled before all rows were numbered.
    pub(crate) fn new<W: Word>(
        keys: &BoardKeys<W>,
        layers: Layers<'a>,
        cancel: &Cancel,
    ) -> Result<TableScores<'a>, Stopped> {
        let reach = layers.reach;
        let mut scores = TableScores {
            layers,
            network: layers.bounds.map(|bounds| (bounds.network(), Isa::detect())),
            ranks: Vec::new(),
            frames: Vec::new(),
            bounds: Vec::new(),
            to_copy: layers.seeds().rev().flat_map(|seeds| (1..seeds).map(move |mover| (seeds, mover))).collect(),
            copied: AtomicUsize::new(0),
            twice: AtomicU64::new(0),
        };
        let Some(rows) = layers.rows() else { return Ok(scores) };
        // Both rows are non-empty, so neither has all seeds.
        scores.ranks.resize((0..reach).map(|seeds| rows.rows(seeds)).sum(), 0);
        for seeds in 0..reach {
            // Large tables have millions of rows.
            cancel.check()?;
            // By potential: the rank of the next row.
            let mut next = rows.level_bounds(seeds).to_vec();
            each_row(keys, rows.pits(), seeds, RowStart::default(), &mut |number, potential| {
                scores.ranks[number.low() as usize] = next[potential];
                next[potential] += 1;
            });
        }
        scores.frames = Frame::places(reach);
        if layers.bounds.is_some() {
            scores.bounds = Frame::places(reach);
        }
        for seeds in layers.seeds() {
            (1..seeds).for_each(|mover| scores.open(seeds, mover));
        }
        Ok(scores)
    }

    /// Makes lookups in a frame faster, if all its blocks were compared with their checksums and are in memory.
    fn open(&self, seeds: usize, mover: usize) {
        let (file, place) = (self.layers.blocks(seeds), seeds * self.reach() + mover);
        if !file.is_resident() || !file.is_frame_checked(mover) {
            return;
        }
        // Another thread may have opened it.
        match self.layers.layer(seeds) {
            Layer::Exact(table) => _ = self.frames[place].file.set(table.frame_unchecked(mover)),
            Layer::Bounds(table) => _ = self.bounds[place].file.set(table.frame_unchecked(mover)),
        }
    }

    /// Bytes of the frame with these seeds in play and in the mover's row.
    fn frame_bytes(&self, seeds: usize, mover: usize) -> u64 {
        self.layers.blocks(seeds).sections()[mover - 1].data
    }

    /// Returns true if all tables that can be copied were.
    pub(crate) fn is_copied(&self) -> bool {
        self.copied.load(Ordering::Relaxed) >= self.to_copy.len()
    }

    /// Copies tables to memory, frame by frame, largest layer first, until `cancel` is cancelled. Random reads
    /// of files cost more, because of their small pages.
    ///
    /// `wait` waits until the search has lasted that long or is over. The next call continues where this one
    /// stopped. If two calls copy the same frame, one copy stays. A frame that is damaged, or for which there is not
    /// enough memory, is still read from its file.
    pub(crate) fn copy(&self, copies: Copies, wait: &dyn Fn(Duration), cancel: &Cancel) {
        let sizes = self.to_copy.iter().map(|&(seeds, mover)| self.frame_bytes(seeds, mover));
        let copy_after = Duration::from_nanos(COPY_AFTER_BYTE.saturating_mul(copies.twice.min(sizes.sum())));
        loop {
            let next = self.copied.load(Ordering::Relaxed);
            let Some(&(seeds, mover)) = self.to_copy.get(next) else { return };
            let (file, place) = (self.layers.blocks(seeds), seeds * self.reach() + mover);
            let bytes = self.frame_bytes(seeds, mover);
            let twice = self.twice.load(Ordering::Relaxed) + bytes <= copies.twice;
            // A file in memory never leaves it.
            if twice || copies.moved && !is_in_memory(file.path()) {
                wait(if twice { copy_after } else { MOVE_AFTER });
                let copied = match self.layers.layer(seeds) {
                    Layer::Exact(table) => self.frames[place].fill(table.copied_frame(mover, cancel)),
                    Layer::Bounds(table) => self.bounds[place].fill(table.copied_frame(mover, cancel)),
                };
                match copied {
                    Ok(true) if twice => _ = self.twice.fetch_add(bytes, Ordering::Relaxed),
                    Ok(true) => file.release(mover),
                    Ok(false) | Err(_) => {}
                }
            }
            if cancel.is_cancelled() {
                return;
            }
            // Fails if another call counted this frame meanwhile.
            let _ = self.copied.compare_exchange(next, next + 1, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// The largest layer that is looked up; 0 for none.
    #[inline]
    pub(crate) fn reach(&self) -> usize {
        self.layers.reach
    }

    /// The largest layer with exact scores; 0 for none. Higher layers have only bounds.
    #[inline]
    pub(crate) fn exact(&self) -> usize {
        self.layers.exact
    }

    /// Location of the score of the position with `seeds` seeds in play whose rows have these numbers; the
    /// mover's row has `mover_seeds` seeds.
    #[inline]
    pub(crate) fn locate<W: Word>(&self, seeds: u32, mover_seeds: u32, mover: W, other: W) -> ScoreLocation {
        let frame = seeds * self.reach() as u32 + mover_seeds;
        ScoreLocation { frame, mover: self.ranks[mover.low() as usize], other: self.ranks[other.low() as usize] }
    }

    /// Prefetches the data at `location`, the location of a position with `seeds` seeds in play.
    #[inline]
    pub(crate) fn prefetch(&self, seeds: u32, location: ScoreLocation) {
        if seeds as usize <= self.exact() {
            if let Some(scores) = self.frames[location.frame as usize].contents() {
                scores.prefetch(location.mover, location.other);
            }
        } else if let Some(bounds) = self.bounds[location.frame as usize].contents() {
            bounds.prefetch(location.mover, location.other);
        }
    }

    /// The score at `location` of a position with `seeds` seeds in play, at most [`TableScores::exact`].
    ///
    /// # Errors
    /// If the table is damaged.
    #[inline]
    pub(crate) fn score(&self, seeds: u32, location: ScoreLocation) -> Result<u32, TableError> {
        let found = match self.frames[location.frame as usize].contents() {
            Some(scores) => scores.score(location.mover, location.other).ok(),
            None => Some(self.score_in_file(seeds, location)?),
        };
        match found {
            Some(score) if u32::from(score) <= seeds => Ok(score.into()),
            _ => Err(self.damaged(seeds, location)),
        }
    }

    /// The score at `location` of a frame that is not in memory, or not yet compared with its checksums.
    #[cold]
    fn score_in_file(&self, seeds: u32, location: ScoreLocation) -> Result<u8, TableError> {
        let Layer::Exact(table) = self.layers.layer(seeds as usize) else { unreachable!("a layer of exact scores") };
        let mover = location.frame as usize % self.reach();
        let score = table.score(mover, location.mover, location.other)?;
        self.open(seeds as usize, mover);
        Ok(score)
    }

    /// The same for bounds, of a position with this evaluation.
    #[cold]
    fn bounds_in_file(&self, seeds: u32, location: ScoreLocation, evaluation: i32) -> Result<Bounds, TableError> {
        let Layer::Bounds(table) = self.layers.layer(seeds as usize) else { unreachable!("a layer of bounds") };
        let mover = location.frame as usize % self.reach();
        let code = table.code(mover, location.mover, location.other)?;
        self.open(seeds as usize, mover);
        Ok(table.bounds_of(mover, code, evaluation))
    }

    /// Bounds of the score of `board` at `location`, with `seeds` seeds in play, at most [`TableScores::reach`].
    ///
    /// # Errors
    /// If the table is damaged.
    #[inline]
    pub(crate) fn bounds<W: Word>(
        &self,
        board: Board<W>,
        seeds: u32,
        location: ScoreLocation,
    ) -> Result<Bounds, TableError> {
        if seeds as usize <= self.exact() {
            return self.score(seeds, location).map(|score| Bounds { lower: score, upper: score });
        }
        let Some((network, isa)) = self.network else { unreachable!("a layer in use") };
        let evaluation = network.evaluate_on(isa, &board.mover.array(), &board.other.array(), seeds);
        let bounds = match self.bounds[location.frame as usize].contents() {
            Some(frame) => frame.bounds(frame.code(location.mover, location.other), evaluation),
            None => self.bounds_in_file(seeds, location, evaluation)?,
        };
        if bounds.lower > bounds.upper {
            return Err(self.damaged(seeds, location));
        }
        Ok(bounds)
    }

    /// The error for an impossible score or impossible bounds.
    #[cold]
    fn damaged(&self, seeds: u32, location: ScoreLocation) -> TableError {
        let mover = location.frame as usize % self.reach();
        match self.layers.layer(seeds as usize) {
            Layer::Exact(table) => table.damaged_score(mover, location.mover, location.other),
            Layer::Bounds(table) => table.damaged_code(mover, location.mover, location.other),
        }
    }
}

/// The first pits of a row: how many, their seeds, and their part of the row's number and potential ([`RowIndex`]).
#[derive(Clone, Copy, Default)]
struct RowStart<W> {
    pits: usize,
    seeds: usize,
    number: W,
    potential: usize,
}

/// Calls `each` with the number and the potential of every row of `pits` pits and `seeds` seeds that begins with
/// `start`, in lexicographic order.
fn each_row<W: Word>(
    keys: &BoardKeys<W>,
    pits: usize,
    seeds: usize,
    start: RowStart<W>,
    each: &mut impl FnMut(W, usize),
) {
    let potential = start.potential + start.seeds;
    if start.pits + 1 == pits {
        return each(start.number + keys.term(start.pits, seeds), potential);
    }
    for sum in start.seeds..=seeds {
        let number = start.number + keys.term(start.pits, sum);
        each_row(keys, pits, seeds, RowStart { pits: start.pits + 1, seeds: sum, number, potential }, each);
    }
}
