use rayon::prelude::*;

use super::moves::{ForwardMove, Kind, Moves};

/// The state of a relay when it *crosses*: when a last seed falls into the other row for the first
/// time.
///
/// The rest of the relay depends on this and on the other row alone, not on the sowings before it.
/// So relays from different rows, or from two pits of one row, that cross alike collect the same
/// score against each other row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// Seeds of the mover's row.
    pub left: u8,
    /// The rank of the mover's row.
    pub own: u32,
    /// Seeds sown into the other row.
    pub spilled: u8,
}

impl Crossing {
    /// Crossings of the relays among the moves of a row.
    pub fn all(moves: &[ForwardMove]) -> impl Iterator<Item = Crossing> {
        let relays = moves.iter().filter(|next| matches!(next.kind, Kind::Relay { .. }));
        relays.map(|next| Crossing { left: next.left, own: next.own, spilled: next.spilled })
    }
}

/// All crossings of the relays from the rows with the same seeds.
///
/// With 11 seeds in rows of six pits there are 2.3 relays for each row, but only 1.1 crossings. A
/// sowing that ends in the mover's own row continues like a move of the row that it has made.
#[derive(Debug)]
pub struct Crossings {
    crossings: Vec<Crossing>,
    /// Ranks of the rows from which relays cross: one crossing after another.
    movers: Vec<u32>,
    /// Where the rows of each crossing end.
    ends: Vec<u32>,
}

impl Crossings {
    /// Collects the crossings of `rows` rows with these `moves`.
    pub fn new(rows: usize, moves: &Moves) -> Crossings {
        let of_row = |mover: u32| Crossing::all(moves.forward(mover)).map(move |crossing| (crossing, mover));
        Crossings::of((0..rows as u32).into_par_iter().flat_map_iter(of_row).collect())
    }

    /// Collects the crossings of these relays, each given with the rank of its mover's row, in any
    /// order.
    pub fn of(mut relays: Vec<(Crossing, u32)>) -> Crossings {
        relays.par_sort_unstable();
        // Relays from two pits of one row.
        relays.dedup();
        let (mut crossings, mut ends): (Vec<Crossing>, Vec<u32>) = (Vec::new(), Vec::new());
        for (end, &(crossing, _)) in (1..).zip(&relays) {
            if crossings.last() == Some(&crossing) {
                *ends.last_mut().expect("an end for each crossing") = end;
            } else {
                crossings.push(crossing);
                ends.push(end);
            }
        }
        Crossings { crossings, movers: relays.into_iter().map(|(_, mover)| mover).collect(), ends }
    }

    /// All crossings.
    pub fn all(&self) -> &[Crossing] {
        &self.crossings
    }

    /// Ranks of the rows whose relays have the crossing with this index, ascending.
    pub fn movers(&self, index: usize) -> &[u32] {
        let first = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.movers[first as usize..self.ends[index] as usize]
    }
}
