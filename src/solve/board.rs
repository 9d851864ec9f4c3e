use crate::game::{Position, Row, Rules};

/// The most pits a side that a [`Board`] has room for.
pub const MAX_BOARD_PITS: usize = 8;

/// The most seeds in play of a [`Board`].
pub const MAX_BOARD_SEEDS: usize = 127;

/// The rows of a position, one byte a pit: byte `i` holds the seeds of the pit with index `i`, bytes beyond the board 0.
///
/// Stores are left out: what the mover still collects does not depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    /// The mover's row.
    pub mover: u64,
    /// The other row.
    pub other: u64,
}

impl Board {
    /// The rows of `position`; `None` if it has more than [`MAX_BOARD_PITS`] pits a side or [`MAX_BOARD_SEEDS`] seeds in
    /// play.
    pub fn of(position: &Position) -> Option<Board> {
        let fits = position.pits() <= MAX_BOARD_PITS && position.seeds() as usize <= MAX_BOARD_SEEDS;
        let pack = |row: &Row| row.seeds().iter().rev().fold(0, |packed, &seeds| packed << 8 | u64::from(seeds));
        fits.then(|| Board { mover: pack(position.mover()), other: pack(position.other()) })
    }

    /// Whether a row is empty, which ends the game.
    #[inline]
    pub fn is_over(self) -> bool {
        self.mover == 0 || self.other == 0
    }

    /// The same board seen from the other side.
    #[inline]
    pub fn turned(self) -> Board {
        Board { mover: self.other, other: self.mover }
    }

    /// Seeds in play.
    #[inline]
    pub fn seeds(self) -> u32 {
        total(self.mover) + total(self.other)
    }
}

/// Sums of a row from its first pit on: byte `i` of the result is the sum of the bytes 0 to `i`.
///
/// No byte overflows into the next: a row has at most [`MAX_BOARD_SEEDS`] seeds.
#[inline]
pub(super) fn sums(row: u64) -> u64 {
    row.wrapping_mul(0x0101_0101_0101_0101)
}

/// The seeds of a row.
#[inline]
pub(super) fn total(row: u64) -> u32 {
    (sums(row) >> 56) as u32
}

/// What one move does, as [`crate::game::Sowing`] tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sown {
    /// The rows after the move, the mover's still first.
    pub board: Board,
    /// Seeds the mover's store gains, sown or captured.
    pub stored: u32,
    /// Whether the last seed fell into the mover's store.
    pub again: bool,
}

impl Sown {
    /// The rows seen by who moves next.
    #[inline]
    pub fn next(self) -> Board {
        if self.again { self.board } else { self.board.turned() }
    }
}

/// What a sowing from one place with one number of seeds adds to both rows and the store.
#[derive(Clone, Copy, Default)]
struct Spread {
    mover: u64,
    other: u64,
    stored: u8,
    /// The place of the last seed.
    last: u8,
}

/// Sows by table: one look-up and two additions a sowing, a capture by shifts.
///
/// Places go around the ring without the mover's store: 0 to pits - 1 the mover's row, then the other row. A last seed in
/// the store has a place of its own.
pub struct Sower {
    rules: Rules,
    pits: usize,
    /// `spreads[place * stride + hand]`.
    spreads: Box<[Spread]>,
    stride: usize,
}

/// The place of a last seed that fell into the mover's store.
const STORE: u8 = u8::MAX;

impl Sower {
    /// A sower for boards of `pits` pits a side (1 to [`MAX_BOARD_PITS`]) with up to `seeds` seeds in play (at most
    /// [`MAX_BOARD_SEEDS`]).
    ///
    /// # Panics
    /// Outside these ranges.
    pub fn new(rules: Rules, pits: usize, seeds: usize) -> Sower {
        assert!((1..=MAX_BOARD_PITS).contains(&pits) && seeds <= MAX_BOARD_SEEDS, "{pits} pits, {seeds} seeds");
        let stride = seeds + 1;
        let mut spreads = vec![Spread::default(); 2 * pits * stride];
        for place in 0..2 * pits {
            // On the ring with the store, which is place `pits` there.
            let start = if place < pits { place } else { place + 1 };
            let mut spread = Spread::default();
            for hand in 1..=seeds {
                let at = (start + hand) % (2 * pits + 1);
                spread.last = if at < pits {
                    spread.mover += 1 << (8 * at);
                    at as u8
                } else if at == pits {
                    spread.stored += 1;
                    STORE
                } else {
                    spread.other += 1 << (8 * (at - pits - 1));
                    (at - 1) as u8
                };
                spreads[place * stride + hand] = spread;
            }
        }
        Sower { rules, pits, spreads: spreads.into(), stride }
    }

    /// The rule set.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.pits
    }

    /// Sows the seeds of the pit with index `pit` of the mover's row, which must hold some.
    ///
    /// # Panics
    /// When the board has more pits or seeds than the sower was made for.
    #[inline]
    pub fn sow(&self, board: Board, pit: usize) -> Sown {
        debug_assert!(pit < self.pits && board.mover >> (8 * pit) & 0xff != 0);
        let hand = (board.mover >> (8 * pit)) as u8;
        let spread = self.spreads[pit * self.stride + usize::from(hand)];
        let mut after =
            Board { mover: (board.mover & !(0xff << (8 * pit))) + spread.mover, other: board.other + spread.other };
        let mut stored = u32::from(spread.stored);
        if spread.last == STORE {
            return Sown { board: after, stored, again: true };
        }
        if self.rules == Rules::SKalaha {
            return self.relay(after, stored, usize::from(spread.last));
        }
        let last = usize::from(spread.last);
        // A pit that was empty before the last seed fell holds exactly that seed now.
        if last < self.pits && (after.mover >> (8 * last)) as u8 == 1 {
            let opposite = 8 * (self.pits - 1 - last);
            let captured = (after.other >> opposite) as u8;
            if captured > 0 || self.rules == Rules::EmptyCapture {
                stored += 1 + u32::from(captured);
                after.mover &= !(0xff << (8 * last));
                after.other &= !(0xff << opposite);
            }
        }
        Sown { board: after, stored, again: false }
    }

    /// Sows on from `last` for as long as the last seed falls into a pit with others.
    fn relay(&self, board: Board, stored: u32, last: usize) -> Sown {
        let (mut after, mut stored, mut last) = (board, stored, last);
        loop {
            let (row, shift) = if last < self.pits {
                (&mut after.mover, 8 * last)
            } else {
                (&mut after.other, 8 * (last - self.pits))
            };
            let hand = (*row >> shift) as u8;
            if hand == 1 {
                return Sown { board: after, stored, again: false };
            }
            *row &= !(0xff << shift);
            let spread = self.spreads[last * self.stride + usize::from(hand)];
            after.mover += spread.mover;
            after.other += spread.other;
            stored += u32::from(spread.stored);
            if spread.last == STORE {
                return Sown { board: after, stored, again: true };
            }
            last = usize::from(spread.last);
        }
    }
}
