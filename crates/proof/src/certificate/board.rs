use kalah_core::game::{Capture, MAX_PITS, Position, Row, Rules};
use kalah_solve::bounds::MAX_SEEDS;

/// Rules for the last seed of a sowing, and the number of pits a side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variant {
    pub pits: usize,
    moves_again: bool,
    relays: bool,
    capture: Capture,
}

impl Variant {
    /// `None` if no board has this many pits.
    pub(crate) fn new(rules: Rules, pits: usize) -> Option<Variant> {
        (1..=MAX_PITS).contains(&pits).then(|| Variant {
            pits,
            moves_again: rules.moves_again(),
            relays: rules.relays(),
            capture: rules.capture(),
        })
    }
}

/// The two rows of a position with at most 255 seeds in play. Every pit is a byte of its row, the first pit the
/// lowest byte. Bytes beyond the last pit are zero.
///
/// The checker has its own code for moves on this board. It uses neither [`kalah_core::game::sow`] nor anything
/// of the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckerBoard {
    pub mover: u128,
    pub other: u128,
}

/// Result of a move.
#[derive(Clone, Copy, Debug)]
pub(super) struct After {
    /// The board, seen by the player to move next.
    pub board: CheckerBoard,
    /// Seeds stored by the move.
    pub stored: u32,
    /// True if the same player moves again.
    pub again: bool,
    /// Seeds that the player who moved collects by this move and the end of the game, if the game is over.
    pub end: Option<u32>,
}

/// `ONES[n]` has a 1 in each of the first n bytes.
const ONES: [u128; MAX_PITS + 1] = {
    let mut ones = [0; MAX_PITS + 1];
    let mut n = 0;
    while n < MAX_PITS {
        ones[n + 1] = ones[n] << 8 | 1;
        n += 1;
    }
    ones
};

/// The seeds in a pit of a row.
#[inline]
fn pit_of(row: u128, pit: usize) -> u32 {
    u32::from((row >> (8 * pit)) as u8)
}

/// The seeds in a row.
#[inline]
pub(super) fn sum(row: u128) -> u32 {
    row.to_le_bytes().iter().map(|&pit| u32::from(pit)).sum()
}

impl CheckerBoard {
    /// The rows of a position; `None` if it has more than 255 seeds in play.
    pub(crate) fn new(position: &Position) -> Option<CheckerBoard> {
        let row = |row: &Row| row.seeds().iter().rev().fold(0, |bytes, &pit| bytes << 8 | u128::from(pit));
        (position.seeds() as usize <= MAX_SEEDS)
            .then(|| CheckerBoard { mover: row(position.mover()), other: row(position.other()) })
    }

    /// The position, with empty stores.
    pub(crate) fn position(&self, pits: usize) -> Position {
        let row = |row: u128| Row::new(&row.to_le_bytes().map(u32::from)[..pits]).expect("1 to 16 pits");
        Position::new(row(self.mover), row(self.other), 0, 0).expect("rows of equal length with few seeds")
    }

    /// Pits from which the mover can sow, from the one next to the store to the first.
    #[inline]
    pub(crate) fn moves(&self, variant: &Variant) -> impl Iterator<Item = usize> + use<> {
        let row = self.mover;
        (0..variant.pits).rev().filter(move |&pit| pit_of(row, pit) > 0)
    }

    /// Plays the mover's pit `pit`, which must not be empty.
    pub(crate) fn after(&self, variant: &Variant, pit: usize) -> After {
        let pits = variant.pits;
        // The rows and the store of the player who moves.
        let (mut own, mut other, mut stored) = (self.mover, self.other, 0);
        // Place of the hand: a pit of the own row or of the other row.
        let (mut in_own, mut place) = (true, pit);
        let again = loop {
            let row = if in_own { &mut own } else { &mut other };
            let mut hand = pit_of(*row, place);
            *row &= !(0xff << (8 * place));
            place += 1;
            let ended_in_store = loop {
                // One seed in each pit to the end of the row.
                let count = (hand as usize).min(pits - place);
                // Beyond the last pit nothing is added, so the shift does not matter.
                let seeds = ONES[count].wrapping_shl(8 * place as u32);
                *(if in_own { &mut own } else { &mut other }) += seeds;
                hand -= count as u32;
                if hand == 0 {
                    // At least one seed was sown into this row.
                    place += count - 1;
                    break false;
                }
                place = 0;
                in_own = !in_own;
                if !in_own {
                    stored += 1;
                    hand -= 1;
                    if hand == 0 {
                        break true;
                    }
                }
            };
            if ended_in_store {
                break variant.moves_again;
            }
            let found_empty = pit_of(if in_own { own } else { other }, place) == 1;
            if !found_empty && variant.relays {
                continue;
            }
            if found_empty && in_own {
                // The mover's first pit is opposite the other player's last one.
                let opposite = pits - 1 - place;
                let seeds = pit_of(other, opposite);
                let captures = match variant.capture {
                    Capture::Never => false,
                    Capture::OppositeSeeds => seeds > 0,
                    Capture::Always => true,
                };
                if captures {
                    stored += seeds + 1;
                    own &= !(0xff << (8 * place));
                    other &= !(0xff << (8 * opposite));
                }
            }
            break false;
        };
        let end = if own == 0 {
            // The remaining seeds belong to the other player.
            Some(stored)
        } else if other == 0 {
            Some(stored + sum(own))
        } else {
            None
        };
        let again = again && end.is_none();
        let board = if again { CheckerBoard { mover: own, other } } else { CheckerBoard { mover: other, other: own } };
        After { board, stored, again, end }
    }
}
