use kalah_core::game::Rules;
use kalah_core::index::{MAX_TABLE_PITS, TableRow};

/// Pits and stores of the largest ring.
const MAX_RING: usize = 2 * (MAX_TABLE_PITS + 1);

/// A second implementation of the rules, written from their description alone. It shares no code
/// with [`kalah_core::game`] or [`crate::builder`].
///
/// Seeds are sown one by one around a ring of all pits and both stores. It is slow: the reference
/// oracle with which everything fast is compared.
#[derive(Clone, Copy, Debug)]
pub struct Oracle {
    rules: Rules,
    pits: usize,
}

/// A position after a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Played {
    /// Row of the player who moved.
    pub left: TableRow,
    /// The other row.
    pub opposite: TableRow,
    /// Seeds stored by the move.
    pub stored: u8,
    /// True if the last seed gives another move.
    pub again: bool,
}

/// Continuation of the game after a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The game is over. The player who moved has collected this many seeds.
    Over(u8),
    /// The same player moves again.
    Again,
    /// The other player moves.
    Other,
}

/// Seeds in a row.
pub(super) fn seeds(row: &TableRow) -> u8 {
    row.iter().sum()
}

/// Continuation of the game after a move that stored `stored` seeds and left this many in the mover's row and
/// in the opposite one.
#[inline]
pub(super) fn next(left: u8, opposite: u8, stored: u8, again: bool) -> Next {
    if left == 0 {
        // The remaining seeds belong to the other player.
        Next::Over(stored)
    } else if opposite == 0 {
        // The remaining seeds belong to the player who moved.
        Next::Over(stored + left)
    } else if again {
        Next::Again
    } else {
        Next::Other
    }
}

impl Oracle {
    /// Makes the oracle of a rule set and a number of pits a side. `None` if this is not 1 to
    /// [`MAX_TABLE_PITS`].
    pub fn new(rules: Rules, pits: usize) -> Option<Oracle> {
        (1..=MAX_TABLE_PITS).contains(&pits).then_some(Oracle { rules, pits })
    }

    /// Pits a side.
    pub(super) fn pits(&self) -> usize {
        self.pits
    }

    /// Score of a position by one step of minimax: the maximum that the mover can collect of the
    /// seeds in play. `score(mover, other)` returns the scores of the positions one move later.
    ///
    /// Both rows must hold seeds. `score` is called only for positions with seeds in both rows. If
    /// it returns more than the seeds in play, as only a damaged table does, the result is
    /// meaningless.
    ///
    /// # Errors
    /// The first error of `score`.
    pub fn minimax<E>(
        &self,
        mover: &TableRow,
        other: &TableRow,
        mut score: impl FnMut(&TableRow, &TableRow) -> Result<u8, E>,
    ) -> Result<u8, E> {
        let (lower, _) = self.minimax_bounds(mover, other, |mover, other| {
            let score = score(mover, other)?;
            Ok((score, score))
        })?;
        Ok(lower)
    }

    /// The same as [`Oracle::minimax`] for bounds (lower, upper): bounds of the score from those of
    /// the positions one move later.
    ///
    /// # Errors
    /// The first error of `bounds`.
    pub fn minimax_bounds<E>(
        &self,
        mover: &TableRow,
        other: &TableRow,
        mut bounds: impl FnMut(&TableRow, &TableRow) -> Result<(u8, u8), E>,
    ) -> Result<(u8, u8), E> {
        let mut best: Option<(u8, u8)> = None;
        for pit in (0..self.pits).filter(|&pit| mover[pit] > 0) {
            let played = self.play(mover, other, pit);
            let (left, opposite) = (seeds(&played.left), seeds(&played.opposite));
            let (lower, upper) = match next(left, opposite, played.stored, played.again) {
                Next::Over(score) => (score, score),
                Next::Again => {
                    let (lower, upper) = bounds(&played.left, &played.opposite)?;
                    (played.stored.saturating_add(lower), played.stored.saturating_add(upper))
                }
                Next::Other => {
                    let (lower, upper) = bounds(&played.opposite, &played.left)?;
                    // The mover collects the seeds that the opponent does not.
                    let all = played.stored + left + opposite;
                    (all.saturating_sub(upper), all.saturating_sub(lower))
                }
            };
            best = Some(best.map_or((lower, upper), |best| (best.0.max(lower), best.1.max(upper))));
        }
        Ok(best.expect("the mover's row holds seeds"))
    }

    /// Plays the move of `pit`, which must not be empty, from empty stores. With rules without relays, the
    /// other row may hold any seeds up to 100 a pit.
    #[inline(always)]
    pub(super) fn play(&self, mover: &TableRow, other: &TableRow, pit: usize) -> Played {
        let pits = self.pits;
        // The ring: the mover's pits and store, then the other player's pits and store.
        let mut ring = [0u8; MAX_RING];
        ring[..pits].copy_from_slice(&mover[..pits]);
        ring[pits + 1..][..pits].copy_from_slice(&other[..pits]);
        let again = self.sow(&mut ring, pit);
        let mut played = Played { left: TableRow::default(), opposite: TableRow::default(), stored: ring[pits], again };
        played.left[..pits].copy_from_slice(&ring[..pits]);
        played.opposite[..pits].copy_from_slice(&ring[pits + 1..][..pits]);
        played
    }

    /// Plays the move of `pit` on a ring. Returns true if the mover moves again.
    fn sow(&self, ring: &mut [u8; MAX_RING], pit: usize) -> bool {
        let pits = self.pits;
        let (store, other_store) = (pits, 2 * pits + 1);
        let mut at = pit;
        loop {
            let mut hand = ring[at];
            ring[at] = 0;
            let mut found_empty = false;
            while hand > 0 {
                at = (at + 1) % (2 * pits + 2);
                if at == other_store {
                    continue;
                }
                found_empty = ring[at] == 0;
                ring[at] += 1;
                hand -= 1;
            }
            if at == store {
                return match self.rules {
                    Rules::EmptyCapture | Rules::Standard | Rules::SKalaha => true,
                    Rules::SingleMove => false,
                };
            }
            // The opposite pit: the two indices add up to 2 * pits.
            let facing = 2 * pits - at;
            let own = at < store;
            let captures = match self.rules {
                Rules::SKalaha if !found_empty => continue,
                Rules::SKalaha => false,
                Rules::EmptyCapture | Rules::SingleMove => own && found_empty,
                Rules::Standard => own && found_empty && ring[facing] > 0,
            };
            if captures {
                ring[store] += ring[at] + ring[facing];
                ring[at] = 0;
                ring[facing] = 0;
            }
            return false;
        }
    }
}
