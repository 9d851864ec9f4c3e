use std::sync::Arc;

use kalah_core::game::{Capture, Rules};
use kalah_core::index::{MAX_TABLE_PITS, RowIndex, TableRow};
use rayon::prelude::*;

use super::maps::{Cache, RowMaps};

/// A move that leads to a lower layer, with ranks instead of rows.
#[derive(Clone, Copy, Debug)]
pub struct ForwardMove {
    /// Continuation of the turn.
    pub kind: Kind,
    /// Rank of the mover's row after the move.
    pub own: u32,
    /// Seeds of the mover's row after the move.
    pub left: u8,
    /// Seeds stored, as far as the mover's row determines them.
    pub stored: u8,
    /// Seeds sown into the other row (see [`RowMove`]).
    pub spilled: u8,
}

/// The continuation of a turn after a sowing.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The mover moves again.
    Again,
    /// The other player is to move.
    Pass,
    /// A capture of this pit of the other row.
    Capture {
        /// The pit, from 0 in its owner's sowing order.
        pit: u8,
        /// True if an empty pit is captured, too.
        even_empty: bool,
    },
    /// A sowing from this pit of the mover that may pick up seeds of the other row.
    Relay {
        /// The pit, from 0 in the mover's sowing order.
        pit: u8,
    },
}

/// A move that stays in the layer. The child is in the mirrored frame, with the opponent to move.
#[derive(Clone, Copy, Debug)]
pub struct QuietMove {
    /// Rank of the mover's row after the move.
    pub own: u32,
    /// The move is quiet only if this pit of the other row is empty (otherwise it captures).
    pub only_if_empty: Option<u8>,
}

/// The moves of all mover's rows with the same seeds.
#[derive(Debug)]
pub struct Moves {
    forward: Lists<ForwardMove>,
    quiet: Lists<QuietMove>,
}

impl Moves {
    /// The moves of the rows with `seeds` seeds.
    pub fn new(rules: Rules, maps: &RowMaps, seeds: usize) -> Moves {
        let rows = maps.rows();
        let of_row = |row: &TableRow| {
            let (mut forward, mut quiet) = (Vec::with_capacity(rows.pits()), Vec::with_capacity(rows.pits()));
            Moves::of_row(rules, rows, row, &mut forward, &mut quiet);
            (forward, quiet)
        };
        let (forward, quiet) = maps.all(seeds).par_iter().with_min_len(256).map(of_row).unzip();
        Moves { forward: Lists::new(forward), quiet: Lists::new(quiet) }
    }

    /// Appends the moves of one row: those that lead to lower layers, and those that stay in the
    /// layer.
    pub fn of_row(
        rules: Rules,
        rows: &RowIndex,
        row: &TableRow,
        forward: &mut Vec<ForwardMove>,
        quiet: &mut Vec<QuietMove>,
    ) {
        let rank = |own: &TableRow| (rows.rank(own), own.iter().sum::<u8>());
        let mut lower = |kind, own: &TableRow, stored, spilled| {
            let (own, left) = rank(own);
            forward.push(ForwardMove { kind, own, left, stored, spilled });
        };
        for (pit, row_move) in RowMove::all(rules, rows.pits(), row) {
            match row_move {
                RowMove::Quiet { own } => quiet.push(QuietMove { own: rank(&own).0, only_if_empty: None }),
                RowMove::Again { own, stored, spilled } => lower(Kind::Again, &own, stored, spilled),
                RowMove::Pass { own, spilled } => lower(Kind::Pass, &own, 0, spilled),
                RowMove::Relay { own, spilled } => lower(Kind::Relay { pit: pit as u8 }, &own, 0, spilled),
                RowMove::Capture { own, stored, spilled, pit, uncaptured } => {
                    let pit = pit as u8;
                    let kind = Kind::Capture { pit, even_empty: uncaptured.is_none() };
                    lower(kind, &own, stored, spilled);
                    let quiet_move = |own| QuietMove { own: rank(&own).0, only_if_empty: Some(pit) };
                    quiet.extend(uncaptured.map(quiet_move));
                }
            }
        }
    }

    /// Moves of the row with this rank that lead to lower layers; empty beyond the last row.
    #[inline]
    pub fn forward(&self, rank: u32) -> &[ForwardMove] {
        self.forward.get(rank)
    }

    /// Moves of the row with this rank that stay in the layer.
    #[inline]
    pub fn quiet(&self, rank: u32) -> &[QuietMove] {
        self.quiet.get(rank)
    }
}

/// Lists of different lengths, stored one after the other.
#[derive(Debug)]
struct Lists<T> {
    items: Vec<T>,
    starts: Vec<u32>,
}

impl<T: Copy> Lists<T> {
    fn new(lists: Vec<Vec<T>>) -> Lists<T> {
        let mut starts = vec![0];
        starts.extend(lists.iter().scan(0, |end, list| {
            *end += list.len() as u32;
            Some(*end)
        }));
        Lists { items: lists.concat(), starts }
    }

    #[inline]
    fn get(&self, index: u32) -> &[T] {
        match self.starts.get(index as usize..index as usize + 2) {
            Some(&[start, end]) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }
}

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
    pub(crate) fn new(rules: Rules, pits: usize, row: &TableRow, pit: usize) -> RowMove {
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

/// Moves and maps of the rows of a board, for all layers: made on first use and kept.
#[derive(Debug)]
pub struct BoardRows {
    /// The rule set.
    pub rules: Rules,
    /// Changes of row ranks when seeds are added.
    pub maps: RowMaps,
    moves: Cache<usize, Moves>,
}

impl BoardRows {
    /// Prepares the moves and maps of the rows that `rows` ranks.
    pub fn new(rules: Rules, rows: Arc<RowIndex>) -> BoardRows {
        BoardRows { rules, maps: RowMaps::new(rows), moves: Cache::default() }
    }

    /// The moves of the rows with `seeds` seeds.
    pub(crate) fn moves(&self, seeds: usize) -> Arc<Moves> {
        self.moves.get(seeds, || Moves::new(self.rules, &self.maps, seeds))
    }
}
