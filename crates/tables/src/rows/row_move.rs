use kalah_core::game::{Capture, Rules};
use kalah_core::index::{MAX_TABLE_PITS, TableRow};

/// The part of a move that the mover's row determines.
///
/// `own` is the mover's row after the move, and `stored` the seeds that the store gains. `spilled`
/// are the seeds that fall into the other row, from its first pit on, lap by lap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowMove {
    /// The last seed falls into the store, and the mover moves again.
    Again {
        /// The mover's row after the move.
        own: TableRow,
        /// Seeds stored.
        stored: u8,
        /// Seeds sown into the other row.
        spilled: u8,
    },
    /// The turn is over, with seeds stored.
    Pass {
        /// The mover's row after the move.
        own: TableRow,
        /// Seeds sown into the other row.
        spilled: u8,
    },
    /// The turn is over and all seeds are still in the mover's row.
    Quiet {
        /// The mover's row after the move.
        own: TableRow,
    },
    /// The last seed and all seeds of the opposite pit are captured, after the spilled ones were
    /// sown.
    Capture {
        /// The mover's row after the capture.
        own: TableRow,
        /// Seeds stored while sowing, and the capturing one.
        stored: u8,
        /// Seeds sown into the other row before the capture: whole laps.
        spilled: u8,
        /// The captured pit of the other row, from 0.
        pit: usize,
        /// The mover's row when the turn ends without a capture, if an empty pit is not captured
        /// (`standard` rules, no lap sown). The move is quiet in that case.
        uncaptured: Option<TableRow>,
    },
    /// The last seed falls into a pit of the other row whose seeds, if any, are sown on. The rest
    /// of the move depends on both rows.
    Relay {
        /// The mover's row when the last seed falls.
        own: TableRow,
        /// Seeds sown into the other row by then.
        spilled: u8,
    },
}

impl RowMove {
    /// Moves of `row` on a board of `pits` pits a side, each with its pit (from 0). None if tables
    /// cannot have as many pits.
    pub fn all(rules: Rules, pits: usize, row: &TableRow) -> impl Iterator<Item = (usize, RowMove)> {
        let row = *row;
        (0..if pits <= MAX_TABLE_PITS { pits } else { 0 })
            .filter(move |&pit| row[pit] > 0)
            .map(move |pit| (pit, RowMove::new(rules, pits, &row, pit)))
    }

    /// Sows pit `pit` (from 0, holding seeds) of `row`, on a board of `pits` pits a side.
    ///
    /// # Panics
    /// When the board has no such pit, or tables cannot have as many pits.
    pub fn new(rules: Rules, pits: usize, row: &TableRow, pit: usize) -> RowMove {
        let ring = 2 * pits + 1;
        let mut own = *row;
        let (mut place, mut stored, mut spilled) = (pit, 0u8, 0u8);
        loop {
            let hand = usize::from(std::mem::take(&mut own[place]));
            debug_assert!(hand > 0, "pit {place} of {row:?} holds no seeds");
            for _ in 0..hand {
                place = (place + 1) % ring;
                match place {
                    _ if place < pits => own[place] += 1,
                    _ if place == pits => stored += 1,
                    _ => spilled += 1,
                }
            }
            if place == pits {
                let again = RowMove::Again { own, stored, spilled };
                return if rules.moves_again() { again } else { RowMove::Pass { own, spilled } };
            }
            if place > pits {
                return if rules.relays() { RowMove::Relay { own, spilled } } else { RowMove::Pass { own, spilled } };
            }
            let was_empty = own[place] == 1;
            if !was_empty && rules.relays() {
                continue;
            }
            if !was_empty || rules.capture() == Capture::Never {
                return if stored == 0 { RowMove::Quiet { own } } else { RowMove::Pass { own, spilled } };
            }
            let uncaptured = (spilled == 0 && !rules.captures(0)).then_some(own);
            own[place] = 0;
            return RowMove::Capture { own, stored: stored + 1, spilled, pit: pits - 1 - place, uncaptured };
        }
    }
}
