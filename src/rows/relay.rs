use std::fmt;
use std::sync::Arc;

use super::cache::Cache;
use super::rank_sums::{RankOffsets, RankSums};
use crate::game::{Capture, Rules};
use crate::index::{MAX_TABLE_PITS, RowIndex, TableRow};

/// Places on the largest ring: both rows and the mover's store.
const MAX_RING: usize = 2 * MAX_TABLE_PITS + 1;

/// How a relay ends against all other rows in which the pits that it meets hold the same seeds.
///
/// The relay *meets* a pit of the other row when a last seed falls there. What it does depends on the mover's row and on the
/// seeds that the met pits held before the move, and on no others: so it ends alike for all ways to distribute the other seeds
/// over the pits that it did not meet, the [fillings](Relays::fillings) of these pits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Whether the last seed fell into the store and the rules give another move for that.
    pub again: bool,
    /// The pits of the other row that were not met: bit `p` for pit `p`, from 0.
    pub unmet: u8,
    /// Seeds that these pits held before the move.
    pub rest: u8,
    /// The mover's row after the move.
    pub own: TableRow,
    /// Its seeds.
    pub left: u8,
    /// Seeds of the other row after the move.
    pub opponent: u8,
    /// The seeds of the met pits before the move. The offsets of a filling added: the other row before the move.
    pub before: RankOffsets,
    /// The seeds of the met pits after the move, and those that were sown into the others. The offsets of a filling added: the
    /// other row after the move.
    pub after: RankOffsets,
}

/// The relays of a board: sowings that go on with the seeds of the pit in which they ended.
pub struct Relays {
    rules: Rules,
    pits: usize,
    sums: RankSums,
    fillings: Cache<(u8, usize), Vec<RankOffsets>>,
}

impl Relays {
    /// Relays of the rows that `rows` ranks.
    ///
    /// # Panics
    /// When a sowing can end in a capture by these rules.
    pub fn new(rules: Rules, rows: &RowIndex) -> Relays {
        assert!(rules.capture() == Capture::Never, "relays are played without captures");
        Relays { rules, pits: rows.pits(), sums: RankSums::new(rows), fillings: Cache::default() }
    }

    /// The rules.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The ranks of rows from their offsets.
    #[inline]
    pub fn sums(&self) -> &RankSums {
        &self.sums
    }

    /// All ways to distribute `seeds` seeds over these pits (bit `p` for pit `p`), as offsets of ranks: in the order of the
    /// ranks of the rows that they complete, whatever the other pits hold.
    pub fn fillings(&self, pits: u8, seeds: usize) -> Arc<Vec<RankOffsets>> {
        self.fillings.get((pits, seeds), || {
            let mut found = Vec::new();
            self.fill(0, pits, seeds, 0, RankOffsets::default(), &mut found);
            // Found in lexicographic order, which the sort keeps among rows of equal potential.
            found.sort_by_key(|&(potential, _)| potential);
            found.into_iter().map(|(_, offsets)| offsets).collect()
        })
    }

    /// Appends all ways to distribute `seeds` seeds over the `pits` from `pit` on, first pit first.
    fn fill(
        &self,
        pit: usize,
        pits: u8,
        seeds: usize,
        potential: usize,
        offsets: RankOffsets,
        found: &mut Vec<(usize, RankOffsets)>,
    ) {
        if pits >> pit == 0 {
            if seeds == 0 {
                found.push((potential, offsets));
            }
        } else if pits >> pit & 1 == 0 {
            self.fill(pit + 1, pits, seeds, potential, offsets, found);
        } else {
            let (mut potential, mut offsets) = (potential, offsets);
            for held in 0..=seeds {
                self.fill(pit + 1, pits, seeds - held, potential, offsets, found);
                potential += self.pits - 1 - pit;
                offsets += self.sums.seed(pit);
            }
        }
    }

    /// Passes to `found` all endings of a relay against the other rows with `seeds` seeds. Each row is in exactly one of them.
    ///
    /// Of the relay, `own` is the mover's row when the last seed of a sowing falls into the other row for the first time, and
    /// `spilled` the seeds sown there by then (see [`super::RowMove::Relay`]).
    pub fn endings(&self, own: &TableRow, spilled: usize, seeds: usize, found: &mut impl FnMut(Ending)) {
        let pits = self.pits;
        let mut ring = [0; MAX_RING];
        ring[..pits].copy_from_slice(&own[..pits]);
        for (pit, place) in ring[pits + 1..=2 * pits].iter_mut().enumerate() {
            *place = (spilled / pits + usize::from(pit < spilled % pits)) as u8;
        }
        let place = pits + 1 + (spilled - 1) % pits;
        let unmet = ((1 << pits) - 1) as u8;
        self.follow(State { ring, place, unmet, rest: seeds as u8, before: RankOffsets::default() }, found);
    }

    /// Follows a relay from the fall of a last seed on.
    fn follow(&self, mut state: State, found: &mut impl FnMut(Ending)) {
        let pits = self.pits;
        while state.place != pits {
            if let Some(pit) = state.place.checked_sub(pits + 1)
                && state.unmet >> pit & 1 == 1
            {
                return self.meet(state, pit, found);
            }
            if state.ring[state.place] == 1 {
                break;
            }
            state.sow(pits);
        }
        found(self.ending(&state));
    }

    /// Goes on for every number of seeds that the unmet `pit`, in which the last seed fell, may hold.
    fn meet(&self, state: State, pit: usize, found: &mut impl FnMut(Ending)) {
        let unmet = state.unmet & !(1 << pit);
        // The last unmet pit holds all the seeds that are left.
        let least = if unmet == 0 { state.rest } else { 0 };
        let mut before = state.before;
        for held in 0..=state.rest {
            if held >= least {
                let mut next = State { unmet, rest: state.rest - held, before, ..state };
                next.ring[next.place] += held;
                if next.ring[next.place] == 1 {
                    found(self.ending(&next));
                } else {
                    next.sow(self.pits);
                    self.follow(next, found);
                }
            }
            before += self.sums.seed(pit);
        }
    }

    fn ending(&self, state: &State) -> Ending {
        let pits = self.pits;
        let (mut own, mut other) = (TableRow::default(), TableRow::default());
        own[..pits].copy_from_slice(&state.ring[..pits]);
        other[..pits].copy_from_slice(&state.ring[pits + 1..=2 * pits]);
        Ending {
            again: state.place == pits && self.rules.moves_again(),
            unmet: state.unmet,
            rest: state.rest,
            own,
            left: own.iter().sum(),
            opponent: other.iter().sum::<u8>() + state.rest,
            before: state.before,
            after: self.sums.offsets(&other),
        }
    }
}

impl fmt::Debug for Relays {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_struct("Relays").field("pits", &self.pits).finish_non_exhaustive()
    }
}

/// A relay when a last seed has fallen.
#[derive(Clone, Copy)]
struct State {
    /// The mover's row, the store, and the other row, of which unmet pits have only the seeds sown into them.
    ring: [u8; MAX_RING],
    /// Where the last seed fell.
    place: usize,
    /// The unmet pits of the other row, and the seeds that they held before the move.
    unmet: u8,
    rest: u8,
    /// The seeds that the met pits held before the move.
    before: RankOffsets,
}

impl State {
    /// Sows the seeds of the place where the last one fell.
    #[inline]
    fn sow(&mut self, pits: usize) {
        let hand = std::mem::take(&mut self.ring[self.place]);
        for _ in 0..hand {
            self.place = if self.place == 2 * pits { 0 } else { self.place + 1 };
            self.ring[self.place] += 1;
        }
    }
}
