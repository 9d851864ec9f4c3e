use std::sync::OnceLock;

use kalah_core::game::{Capture, Rules};
use kalah_core::index::{RowIndex, TableRow};

use super::rank_sums::{OffsetList, RankOffsets, RankSums};

/// The end of a relay against all other rows in which the pits that it meets hold the same seeds.
///
/// The relay *meets* a pit of the other row when a last seed falls there. Its course depends on the
/// mover's row and on the seeds that the met pits held before the move, and on nothing else. So it
/// ends alike for all ways to distribute the other seeds over the pits that it did not meet, the
/// [fillings](Relays::fillings) of these pits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// True if the last seed fell into the store and the rules give another move for that.
    pub again: bool,
    /// Pits of the other row that were not met: bit `p` for pit `p`, from 0.
    pub unmet: u8,
    /// Seeds that these pits held before the move.
    pub rest: u8,
    /// Seeds of the mover's row after the move.
    pub left: u8,
    /// Seeds of the other row after the move.
    pub opponent: u8,
    /// Rank of the mover's row after the move.
    pub own: u32,
    /// Offsets of the seeds in the met pits before the move. Adding the offsets of a filling gives
    /// the other row before the move.
    pub before: RankOffsets,
    /// Offsets of the seeds in the met pits after the move, and of those sown into the others.
    /// Adding the offsets of a filling gives the other row after the move.
    pub after: RankOffsets,
}

/// The relays of a board: sowings that continue with the seeds of the pit in which they ended.
#[derive(Debug)]
pub struct Relays {
    rules: Rules,
    pits: usize,
    sums: RankSums,
    /// By seeds, then by set of pits, which varies faster: made on first use.
    fillings: Vec<OnceLock<OffsetList>>,
    /// Sowings of fewer seeds than this are in `sowings`.
    hands: usize,
    /// By the pit where a sowing begins, then by its seeds.
    sowings: Vec<Sown>,
}

/// The effect of a sowing: seeds for each pit, less all those of the first one.
#[derive(Clone, Copy, Debug)]
struct Sown {
    /// To be added to the bytes of the ring, modulo 2^128.
    ring: u128,
    /// To be added to the offsets of the mover's row and of the other row.
    own: RankOffsets,
    other: RankOffsets,
    /// Place where the last seed falls.
    last: u32,
}

impl Relays {
    /// Prepares relays of the rows that `rows` ranks, with one seed more in play than a row can
    /// have.
    ///
    /// # Panics
    /// When a sowing can end in a capture under these rules.
    pub fn new(rules: Rules, rows: &RowIndex) -> Relays {
        assert!(rules.capture() == Capture::Never, "relays are played without captures");
        let (pits, hands, sums) = (rows.pits(), rows.max_seeds() + 2, RankSums::new(rows));
        let store = 2 * pits;
        // In sowing order the store comes between the rows.
        let sown = |index: usize| {
            let (place, seeds) = (index / hands, index % hands);
            let mut after = (0..pits).chain([store]).chain(pits..store).cycle().skip_while(|&next| next != place);
            let places: Vec<usize> = after.by_ref().skip(1).take(seeds).collect();
            let last = places.last().copied().unwrap_or(place);
            let mut sown =
                Sown { ring: 0, own: RankOffsets::default(), other: RankOffsets::default(), last: last as u32 };
            let gained = places.into_iter().map(|place| (place, 1)).chain([(place, (seeds as u64).wrapping_neg())]);
            for (place, seeds) in gained.filter(|&(place, _)| place != store) {
                let row = if place < pits { &mut sown.own } else { &mut sown.other };
                row.add_seeds(sums.seed(place % pits), seeds);
                sown.ring = sown.ring.wrapping_add((i128::from(seeds as i64) << (8 * place)) as u128);
            }
            sown
        };
        let sowings = (0..store * hands).map(sown).collect();
        Relays { rules, pits, sums, fillings: vec![OnceLock::new(); hands << pits], hands, sowings }
    }

    /// Ranks of rows from their offsets.
    #[inline]
    pub fn sums(&self) -> &RankSums {
        &self.sums
    }

    /// All ways to distribute `seeds` seeds over these pits (bit `p` for pit `p`), as offsets of
    /// ranks. They are in the order of the ranks of the rows that they complete, whatever the other
    /// pits hold.
    #[inline]
    pub fn fillings(&self, pits: u8, seeds: usize) -> &OffsetList {
        self.fillings[seeds << self.pits | usize::from(pits)].get_or_init(|| {
            let mut found = Vec::new();
            self.fill(0, pits, seeds, 0, RankOffsets::default(), &mut found);
            // Found in lexicographic order, which the sort keeps among rows of equal potential.
            found.sort_by_key(|&(potential, _)| potential);
            found.into_iter().map(|(_, offsets)| offsets).collect()
        })
    }

    /// Appends potential and offsets of all ways to distribute `seeds` seeds over the `pits` from
    /// `pit` on, added to those of the pits before.
    fn fill(
        &self,
        pit: usize,
        pits: u8,
        seeds: usize,
        mut potential: usize,
        mut offsets: RankOffsets,
        found: &mut Vec<(usize, RankOffsets)>,
    ) {
        if u32::from(pits) >> pit == 0 {
            if seeds == 0 {
                found.push((potential, offsets));
            }
            return;
        }
        let most = if pits >> pit & 1 == 1 { seeds } else { 0 };
        for held in 0..=most {
            self.fill(pit + 1, pits, seeds - held, potential, offsets, found);
            potential += self.pits - 1 - pit;
            offsets += self.sums.seed(pit);
        }
    }

    /// Appends to `endings` all endings of a relay against the other rows with `seeds` seeds. Each
    /// row is in exactly one ending.
    ///
    /// `own` and `spilled` describe the first time that the last seed of a sowing falls into the
    /// other row: the mover's row, and the seeds sown into the other row by then (see
    /// [`super::RowMove::Relay`]).
    pub fn endings(&self, own: &TableRow, spilled: usize, seeds: usize, endings: &mut Vec<Ending>) {
        let pits = self.pits;
        let mut ring = [0; 16];
        ring[..pits].copy_from_slice(&own[..pits]);
        for (pit, place) in ring[pits..2 * pits].iter_mut().enumerate() {
            *place = (spilled / pits + usize::from(pit < spilled % pits)) as u8;
        }
        let ring = u128::from_le_bytes(ring);
        let (own, other) = self.rows(ring);
        let state = State {
            ring,
            own: self.sums.offsets(own),
            other: self.sums.offsets(other),
            before: RankOffsets::default(),
            place: (pits + (spilled - 1) % pits) as u32,
            unmet: ((1 << pits) - 1) << pits,
            rest: seeds as u32,
        };
        self.follow(state, endings);
    }

    /// Follows a relay from the fall of a last seed on.
    #[inline(always)]
    fn follow(&self, mut state: State, endings: &mut Vec<Ending>) {
        while state.place != 2 * self.pits as u32 {
            if state.unmet >> state.place & 1 == 1 {
                return self.meet(state, endings);
            }
            let hand = state.hand();
            if hand == 1 {
                break;
            }
            self.sow(&mut state, hand);
        }
        endings.push(self.ending(&state));
    }

    /// Continues for every number of seeds that the unmet pit, in which the last seed fell, may
    /// hold.
    fn meet(&self, mut state: State, endings: &mut Vec<Ending>) {
        state.unmet &= !(1 << state.place);
        let seed = self.sums.seed(state.place as usize - self.pits);
        // The last unmet pit holds all remaining seeds.
        state.hold(seed, if state.unmet == 0 { state.rest } else { 0 });
        loop {
            let hand = state.hand();
            if hand == 1 {
                endings.push(self.ending(&state));
            } else {
                let mut next = state;
                self.sow(&mut next, hand);
                self.follow(next, endings);
            }
            if state.rest == 0 {
                return;
            }
            state.hold(seed, 1);
        }
    }

    /// Sows the `hand`, all seeds of the place where the last one fell.
    #[inline(always)]
    fn sow(&self, state: &mut State, hand: u32) {
        let Sown { ring, own, other, last } = &self.sowings[state.place as usize * self.hands + hand as usize];
        state.ring = state.ring.wrapping_add(*ring);
        state.own.add_seeds(*own, 1);
        state.other.add_seeds(*other, 1);
        state.place = *last;
    }

    /// The mover's row and the other row, the first pit in the lowest byte.
    #[inline(always)]
    fn rows(&self, ring: u128) -> (u64, u64) {
        let row = u64::MAX >> (64 - 8 * self.pits);
        (ring as u64 & row, (ring >> (8 * self.pits)) as u64 & row)
    }

    #[inline(always)]
    fn ending(&self, state: &State) -> Ending {
        let (own, other) = self.rows(state.ring);
        // Sums the bytes of a row in the highest byte.
        let seeds = |row: u64| (row.wrapping_mul(0x0101_0101_0101_0101) >> 56) as u8;
        let left = seeds(own);
        Ending {
            again: state.place == 2 * self.pits as u32 && self.rules.moves_again(),
            unmet: (state.unmet >> self.pits) as u8,
            rest: state.rest as u8,
            left,
            opponent: seeds(other) + state.rest as u8,
            own: self.sums.from(usize::from(left), state.own).rank(RankOffsets::default()),
            before: state.before,
            after: state.other,
        }
    }
}

/// A relay when a last seed has fallen.
#[derive(Clone, Copy)]
struct State {
    /// A byte for each pit, the first one in the lowest byte: the mover's row, then the other row.
    /// Unmet pits have only the seeds sown into them. The store does not matter to a relay.
    ring: u128,
    /// Offsets of the two rows.
    own: RankOffsets,
    other: RankOffsets,
    /// Seeds that the met pits held before the move.
    before: RankOffsets,
    /// Place where the last seed fell: the byte of a pit, or the store, which comes after all pits.
    place: u32,
    /// Unmet pits of the other row, a bit for each by its byte, and the seeds that they held before
    /// the move.
    unmet: u32,
    rest: u32,
}

impl State {
    /// Seeds of the place where the last one fell.
    #[inline(always)]
    fn hand(&self) -> u32 {
        u32::from((self.ring >> (8 * self.place)) as u8)
    }

    /// Records that the met pit, where the last seed fell, held `seeds` of the remaining seeds
    /// before the move. `seed` is one seed there.
    #[inline(always)]
    fn hold(&mut self, seed: RankOffsets, seeds: u32) {
        self.ring += u128::from(seeds) << (8 * self.place);
        self.other.add_seeds(seed, u64::from(seeds));
        self.before.add_seeds(seed, u64::from(seeds));
        self.rest -= seeds;
    }
}
