use super::key::MAX_SEEDS;
use crate::game::{Capture, MAX_PITS, Position, Row, Rules};

/// What a rule set says about the last seed of a sowing, and the number of pits a side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub pits: usize,
    moves_again: bool,
    relays: bool,
    capture: Capture,
}

impl Law {
    pub fn new(rules: Rules, pits: usize) -> Law {
        assert!((1..=MAX_PITS).contains(&pits), "{pits} pits");
        Law { pits, moves_again: rules.moves_again(), relays: rules.relays(), capture: rules.capture() }
    }
}

/// The pits of a position with at most 255 seeds in play: the mover's row, then the other one, each in its owner's sowing order; then
/// zeros.
///
/// The checker moves on this board by code of its own: nothing here uses [`crate::game::sow`] or anything of the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Board(pub [u8; 2 * MAX_PITS]);

/// What a move leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct After {
    /// The board as the player sees it who moves next.
    pub board: Board,
    /// Seeds that the move stores.
    pub stored: u32,
    /// Whether the same player moves again.
    pub again: bool,
    /// If the game is over: what the player who moved collected by this move and by its end.
    pub end: Option<u32>,
}

impl Board {
    /// The pits of a position; `None` if it has more than 255 seeds in play.
    pub fn new(position: &Position) -> Option<Board> {
        let mut board = Board([0; 2 * MAX_PITS]);
        if position.seeds() as usize > MAX_SEEDS {
            return None;
        }
        for (place, &pit) in board.0.iter_mut().zip(position.mover().seeds().iter().chain(position.other().seeds())) {
            *place = pit as u8;
        }
        Some(board)
    }

    /// The position, with empty stores.
    pub fn position(&self, pits: usize) -> Position {
        let row = |from: usize| Row::new(&self.0.map(u32::from)[from..from + pits]).expect("1 to 16 pits");
        Position::new(row(0), row(pits), 0, 0).expect("rows of equal length with few seeds")
    }

    /// Seeds in the mover's row.
    pub fn mover_seeds(&self, pits: usize) -> u32 {
        self.0[..pits].iter().map(|&pit| u32::from(pit)).sum()
    }

    /// Seeds in the other row.
    pub fn other_seeds(&self, pits: usize) -> u32 {
        self.0[pits..2 * pits].iter().map(|&pit| u32::from(pit)).sum()
    }

    /// Plays the move of the mover's pit `pit`, which holds seeds, seed by seed.
    pub fn after(&self, law: &Law, pit: usize) -> After {
        let pits = law.pits;
        // Places on the way of the seeds: 0 to pits - 1 the mover's row, `pits` the mover's store, then the other row. The other
        // store is passed over.
        let (store, last) = (pits, 2 * pits);
        let mut row = self.0;
        let (mut place, mut stored, mut again) = (pit, 0u32, false);
        loop {
            // Beyond the store, every place is one farther than the pit in the board.
            let from = if place < store { place } else { place - 1 };
            let hand = std::mem::take(&mut row[from]);
            for _ in 0..hand {
                place = if place == last { 0 } else { place + 1 };
                if place < store {
                    row[place] += 1;
                } else if place > store {
                    row[place - 1] += 1;
                } else {
                    stored += 1;
                }
            }
            if place == store {
                again = law.moves_again;
                break;
            }
            let ended = if place < store { place } else { place - 1 };
            let found_empty = row[ended] == 1;
            if !found_empty && law.relays {
                continue;
            }
            if found_empty && place < store {
                // The mover's first pit is opposite the other player's last one.
                let opposite = 2 * pits - 1 - place;
                let captures = match law.capture {
                    Capture::Never => false,
                    Capture::OppositeSeeds => row[opposite] > 0,
                    Capture::Always => true,
                };
                if captures {
                    stored += u32::from(row[opposite]) + 1;
                    row[place] = 0;
                    row[opposite] = 0;
                }
            }
            break;
        }
        let board = Board(row);
        let end = if row[..pits].iter().all(|&pit| pit == 0) {
            // What is left belongs to the other player.
            Some(stored)
        } else if row[pits..2 * pits].iter().all(|&pit| pit == 0) {
            Some(stored + board.mover_seeds(pits))
        } else {
            None
        };
        let board = if again && end.is_none() { board } else { board.turned(pits) };
        After { board, stored, again: again && end.is_none(), end }
    }

    /// The same board seen from the other side.
    fn turned(&self, pits: usize) -> Board {
        let mut turned = [0; 2 * MAX_PITS];
        turned[..pits].copy_from_slice(&self.0[pits..2 * pits]);
        turned[pits..2 * pits].copy_from_slice(&self.0[..pits]);
        Board(turned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Keys;
    use crate::game::Pit;
    use crate::index::{TableRow, table_row};
    use crate::verify::Oracle;

    /// Every position of these boards that is not over.
    fn positions(pits: usize, seeds: std::ops::RangeInclusive<usize>) -> impl Iterator<Item = Position> {
        let keys = Keys::new(pits);
        seeds
            .flat_map(move |seeds| {
                let count = keys.sequences(seeds).expect("few seeds");
                let position = |rank| keys.position(Keys::of_rank(seeds, rank)).expect("a rank below the number");
                (0..count).map(position).collect::<Vec<_>>()
            })
            .filter(|position| !position.is_over())
    }

    fn assert_same_moves(rules: Rules, position: &Position) {
        let law = Law::new(rules, position.pits());
        let board = Board::new(position).expect("few seeds");
        assert_eq!(board.position(law.pits), *position);
        for pit in (0..law.pits).filter(|&pit| board.0[pit] > 0) {
            let after = board.after(&law, pit);
            let played = position.play(rules, Pit::from_index(pit).expect("a pit")).expect("a legal move");
            assert_eq!(after.board.position(law.pits), played.position.without_stores(), "{rules} {position} {pit}");
            assert_eq!(after.again, played.again);
            let store = if played.again { played.position.mover_store() } else { played.position.other_store() };
            assert_eq!(after.stored, store);
            let end = played.position.is_over().then(|| store + played.position.other().total());
            assert_eq!(after.end, end, "{rules} {position} {pit}");
        }
    }

    #[test]
    fn moves_are_those_of_the_game() {
        for rules in Rules::ALL {
            for (pits, seeds) in [(1, 2..=12), (2, 2..=9), (3, 2..=6)] {
                positions(pits, seeds).for_each(|position| assert_same_moves(rules, &position));
            }
            // Boards of all sizes, with full laps.
            let mut random = fastrand::Rng::with_seed(1);
            for _ in 0..3000 {
                let pits = random.usize(1..=MAX_PITS);
                let mut row = || {
                    let most = *random.choice(&[2, 4, 40]).expect("three numbers");
                    let mut left = 127;
                    let mut row = vec![0; pits];
                    for pit in &mut row {
                        *pit = random.u32(0..=most).min(left);
                        left -= *pit;
                    }
                    Row::new(&row).expect("1 to 16 pits")
                };
                let position = Position::new(row(), row(), 0, 0).expect("few seeds");
                if !position.is_over() {
                    assert_same_moves(rules, &position);
                }
            }
        }
    }

    #[test]
    fn moves_are_those_of_the_reference_oracle() {
        // Any scores show whether both lead to the same positions.
        let score = |mover: &TableRow, other: &TableRow, seeds: u32| {
            let bytes = [*mover, *other].concat();
            (xxhash_rust::xxh3::xxh3_64(&bytes) % u64::from(seeds + 1)) as u8
        };
        for rules in Rules::ALL {
            for (pits, seeds) in [(1, 2..=12), (2, 2..=9), (3, 2..=7), (6, 2..=4)] {
                let (oracle, law) = (Oracle::new(rules, pits), Law::new(rules, pits));
                for position in positions(pits, seeds) {
                    let row = |row: &Row| table_row(row).expect("few seeds");
                    let sum = |row: &TableRow| row.iter().map(|&pit| u32::from(pit)).sum::<u32>();
                    let by_oracle = oracle.minimax(&row(position.mover()), &row(position.other()), |mover, other| {
                        Ok::<u8, ()>(score(mover, other, sum(mover) + sum(other)))
                    });
                    let board = Board::new(&position).expect("few seeds");
                    let by_move = |pit| {
                        let after = board.after(&law, pit);
                        let next = after.board.position(pits);
                        let score = || u32::from(score(&row(next.mover()), &row(next.other()), next.seeds()));
                        match after.end {
                            Some(end) => end,
                            None if after.again => after.stored + score(),
                            None => position.seeds() - score(),
                        }
                    };
                    let best = (0..pits).filter(|&pit| board.0[pit] > 0).map(by_move).max();
                    assert_eq!(best.map(|best| best as u8), by_oracle.ok(), "{rules} {position}");
                }
            }
        }
    }
}
