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

impl Oracle {
    /// Makes the oracle of a rule set and a number of pits a side, 1 to [`MAX_TABLE_PITS`].
    pub fn new(rules: Rules, pits: usize) -> Oracle {
        assert!((1..MAX_RING / 2).contains(&pits));
        Oracle { rules, pits }
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
        let pits = self.pits;
        let mut best: Option<(u8, u8)> = None;
        for pit in (0..pits).filter(|&pit| mover[pit] > 0) {
            // The ring: the mover's pits and store, then the other player's pits and store.
            let mut ring = [0u8; MAX_RING];
            ring[..pits].copy_from_slice(&mover[..pits]);
            ring[pits + 1..][..pits].copy_from_slice(&other[..pits]);
            let again = self.sow(&mut ring, pit);

            let (mut left, mut opposite) = (TableRow::default(), TableRow::default());
            left[..pits].copy_from_slice(&ring[..pits]);
            opposite[..pits].copy_from_slice(&ring[pits + 1..][..pits]);
            let sum = |row: &TableRow| row.iter().sum::<u8>();
            let stored = ring[pits];
            let (lower, upper) = if sum(&left) == 0 {
                // The game is over; the remaining seeds belong to the other player.
                (stored, stored)
            } else if sum(&opposite) == 0 {
                // The game is over; the remaining seeds belong to the mover.
                (stored + sum(&left), stored + sum(&left))
            } else if again {
                let (lower, upper) = bounds(&left, &opposite)?;
                (stored.saturating_add(lower), stored.saturating_add(upper))
            } else {
                // The mover collects the seeds that the opponent does not.
                let all = stored + sum(&left) + sum(&opposite);
                let (lower, upper) = bounds(&opposite, &left)?;
                (all.saturating_sub(upper), all.saturating_sub(lower))
            };
            best = Some(best.map_or((lower, upper), |best| (best.0.max(lower), best.1.max(upper))));
        }
        Ok(best.expect("the mover's row holds seeds"))
    }

    /// Plays the move of `pit`. Returns true if the mover moves again.
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
