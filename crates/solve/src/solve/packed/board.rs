use kalah_core::game::{Position, Row, Rules};

use super::word::Word;

/// The rows of a position, one byte a pit: byte `i` has the seeds of the pit with index `i`; bytes beyond the
/// board are 0.
///
/// Stores are left out: the seeds that the mover can still collect do not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board<W> {
    /// The mover's row.
    pub mover: W,
    /// The other row.
    pub other: W,
}

impl<W: Word> Board<W> {
    /// The rows of `position`; `None` if it has more than [`Word::PITS`] pits a side or [`Word::SEEDS`] seeds in play.
    pub fn of(position: &Position) -> Option<Board<W>> {
        let fits = position.pits() <= W::PITS && position.seeds() as usize <= W::SEEDS;
        let pack = |row: &Row| W::pack(row.seeds().iter().map(|&seeds| seeds as u8));
        fits.then(|| Board { mover: pack(position.mover()), other: pack(position.other()) })
    }

    /// The position with these rows, without stores, of `pits` pits a side. `None` if `pits` is not 1 to
    /// [`Word::PITS`].
    pub fn position(self, pits: usize) -> Option<Position> {
        let row =
            |row: W| (pits <= W::PITS).then(|| Row::new(&row.bytes().take(pits).map(u32::from).collect::<Vec<_>>()));
        Position::new(row(self.mover)??, row(self.other)??, 0, 0).ok()
    }

    /// Returns true if a row is empty, which ends the game.
    #[inline]
    pub fn is_over(self) -> bool {
        self.mover == W::default() || self.other == W::default()
    }

    /// The same board seen from the other side.
    #[inline]
    pub fn turned(self) -> Board<W> {
        Board { mover: self.other, other: self.mover }
    }

    /// Seeds in play.
    #[inline]
    pub fn seeds(self) -> u32 {
        self.mover.total() + self.other.total()
    }
}

/// Result of a move, like [`kalah_core::game::Sowing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sown<W> {
    /// The rows after the move, the mover's still first.
    pub board: Board<W>,
    /// Seeds that the mover's store gains, sown or captured.
    pub stored: u32,
    /// True if the mover moves again unless a row is empty.
    pub again: bool,
}

impl<W: Word> Sown<W> {
    /// The rows, seen by the player to move next.
    #[inline]
    pub fn next(self) -> Board<W> {
        if self.again { self.board } else { self.board.turned() }
    }
}

/// Seeds that a sowing of a number of seeds from a place adds to both rows and the store.
#[derive(Clone, Copy, Debug, Default)]
struct Spread<W> {
    mover: W,
    other: W,
    stored: u8,
    /// Place of the last seed.
    last: u8,
}

/// Sows with a look-up table: one look-up and two additions for each sowing; captures by shifts.
///
/// Places are numbered around the ring without the mover's store: 0 to pits - 1 the mover's row, then the other row.
/// The store has a special number, `STORE`.
#[derive(Debug)]
pub struct Sower<W> {
    rules: Rules,
    pits: usize,
    /// `spreads[place * stride + hand]`.
    spreads: Box<[Spread<W>]>,
    stride: usize,
}

/// The place of a last seed that fell into the mover's store.
const STORE: u8 = u8::MAX;

impl<W: Word> Sower<W> {
    /// A sower for boards of `pits` pits a side with up to `seeds` seeds in play. `None` if `pits` is not 1 to
    /// [`Word::PITS`], or `seeds` is more than [`Word::SEEDS`].
    pub fn new(rules: Rules, pits: usize, seeds: usize) -> Option<Sower<W>> {
        if !(1..=W::PITS).contains(&pits) || seeds > W::SEEDS {
            return None;
        }
        let stride = seeds + 1;
        let mut spreads = vec![Spread::default(); 2 * pits * stride];
        let one_in = |pit: usize| W::from(1u8) << (8 * pit as u32);
        for place in 0..2 * pits {
            // On the ring with the store, which is place `pits` there.
            let start = if place < pits { place } else { place + 1 };
            let mut spread = Spread::default();
            for hand in 1..=seeds {
                let at = (start + hand) % (2 * pits + 1);
                spread.last = if at < pits {
                    spread.mover += one_in(at);
                    at as u8
                } else if at == pits {
                    spread.stored += 1;
                    STORE
                } else {
                    spread.other += one_in(at - pits - 1);
                    (at - 1) as u8
                };
                spreads[place * stride + hand] = spread;
            }
        }
        Some(Sower { rules, pits, spreads: spreads.into(), stride })
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side.
    pub(crate) fn pits(&self) -> usize {
        self.pits
    }

    /// Sows the seeds of the pit with index `pit` of the mover's row, which must not be empty.
    ///
    /// # Panics
    /// If the board has more pits or seeds than the sower was made for.
    #[inline(always)]
    pub fn sow(&self, board: Board<W>, pit: usize) -> Sown<W> {
        let hand = board.mover.seeds_in(pit);
        debug_assert!(pit < self.pits && hand != 0);
        let spread = self.spreads[pit * self.stride + usize::from(hand)];
        let mut after = Board { mover: board.mover.without(pit) + spread.mover, other: board.other + spread.other };
        let mut stored = u32::from(spread.stored);
        if spread.last == STORE {
            return Sown { board: after, stored, again: self.rules.moves_again() };
        }
        if self.rules.relays() {
            return self.relay(after, stored, usize::from(spread.last));
        }
        let last = usize::from(spread.last);
        // The pit was empty before the last seed fell if it holds exactly one seed.
        if last < self.pits && after.mover.seeds_in(last) == 1 {
            let opposite = self.pits - 1 - last;
            let captured = after.other.seeds_in(opposite);
            if self.rules.captures(captured.into()) {
                stored += 1 + u32::from(captured);
                after.mover = after.mover.without(last);
                after.other = after.other.without(opposite);
            }
        }
        Sown { board: after, stored, again: false }
    }

    /// Continues sowing from `last` as long as the last seed falls into a non-empty pit.
    #[inline(never)]
    fn relay(&self, board: Board<W>, stored: u32, last: usize) -> Sown<W> {
        let (mut after, mut stored, mut last) = (board, stored, last);
        loop {
            let (row, pit) =
                if last < self.pits { (&mut after.mover, last) } else { (&mut after.other, last - self.pits) };
            let hand = row.seeds_in(pit);
            if hand == 1 {
                return Sown { board: after, stored, again: false };
            }
            *row = row.without(pit);
            let spread = self.spreads[last * self.stride + usize::from(hand)];
            after.mover += spread.mover;
            after.other += spread.other;
            stored += u32::from(spread.stored);
            if spread.last == STORE {
                return Sown { board: after, stored, again: self.rules.moves_again() };
            }
            last = usize::from(spread.last);
        }
    }
}
