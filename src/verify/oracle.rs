use crate::game::Rules;
use crate::index::TableRow;

/// Pits and stores of a ring: 2 (6 + 1).
const MAX_RING: usize = 14;

/// The rules once more, written from their text alone and sharing no code with [`crate::game`] or [`crate::build`].
///
/// Seeds are sown one by one around a ring of all pits and both stores. Slow: the reference oracle that everything fast is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Oracle {
    rules: Rules,
    pits: usize,
}

impl Oracle {
    /// The oracle of a rule set and a number of pits a side, 1 to 6.
    pub fn new(rules: Rules, pits: usize) -> Oracle {
        assert!((1..MAX_RING / 2).contains(&pits));
        Oracle { rules, pits }
    }

    /// The score of a position by one step of minimax: the most the mover can collect of the seeds in play, when
    /// `score(mover, other)` is how much a mover collects in the positions one move on.
    ///
    /// Both rows must hold seeds. `score` is asked about positions with seeds in both rows only; scores above the seeds in
    /// play, which only a damaged table has, give some number.
    ///
    /// # Errors
    /// The first that `score` gives.
    pub fn minimax<E>(
        &self,
        mover: &TableRow,
        other: &TableRow,
        mut score: impl FnMut(&TableRow, &TableRow) -> Result<u8, E>,
    ) -> Result<u8, E> {
        let pits = self.pits;
        let mut best = None;
        for pit in (0..pits).filter(|&pit| mover[pit] > 0) {
            // The ring: the mover's pits, his store, the other's pits, the other's store.
            let mut ring = [0u8; MAX_RING];
            ring[..pits].copy_from_slice(&mover[..pits]);
            ring[pits + 1..][..pits].copy_from_slice(&other[..pits]);
            let again = self.sow(&mut ring, pit);

            let (mut left, mut opposite) = (TableRow::default(), TableRow::default());
            left[..pits].copy_from_slice(&ring[..pits]);
            opposite[..pits].copy_from_slice(&ring[pits + 1..][..pits]);
            let sum = |row: &TableRow| row.iter().sum::<u8>();
            let stored = ring[pits];
            let collected = if sum(&left) == 0 {
                // The game is over, the rest belongs to the other side.
                stored
            } else if sum(&opposite) == 0 {
                // The game is over, the rest belongs to the mover.
                stored + sum(&left)
            } else if again {
                stored.saturating_add(score(&left, &opposite)?)
            } else {
                // The opponent collects his part of what is left, the mover the remainder.
                let in_play = sum(&left) + sum(&opposite);
                (stored + in_play).saturating_sub(score(&opposite, &left)?)
            };
            best = best.max(Some(collected));
        }
        Ok(best.expect("the mover's row holds seeds"))
    }

    /// Plays the move of `pit`; whether it gives another one.
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
            // Facing pits are equally far from the other side's store.
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
