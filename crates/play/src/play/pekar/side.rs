use kalah_core::game::{Pit, Position};

/// The mover's side of a position, with pits numbered as in the paper (Figure 3): 1 is next to the store, the
/// last is the farthest.
#[derive(Clone, Copy)]
pub(super) struct Side<'p> {
    position: &'p Position,
}

impl<'p> Side<'p> {
    pub fn of(position: &'p Position) -> Side<'p> {
        Side { position }
    }

    /// The highest number of a pit.
    pub fn pits(self) -> usize {
        self.position.pits()
    }

    /// Number of seeds that a sowing needs to come back to its start: 13 with 6 pits a side.
    fn ring(self) -> usize {
        2 * self.pits() + 1
    }

    /// The pit with this number.
    pub fn pit(self, number: usize) -> Pit {
        Pit::from_index(self.pits() - number).expect("a number of the board")
    }

    /// The seeds of a pit.
    pub fn seeds(self, number: usize) -> usize {
        self.position.mover().seeds_in(self.pit(number)) as usize
    }

    /// The seeds of the opponent's pit opposite to a pit.
    pub fn opposite(self, number: usize) -> usize {
        self.position.other().seeds()[number - 1] as usize
    }

    /// Returns true if the last seed of a pit falls into the store, after any number of laps.
    pub fn ends_in_store(self, number: usize) -> bool {
        self.seeds(number) % self.ring() == number
    }

    /// Returns true if the last seed of a pit falls straight into the empty own pit `target`, without passing
    /// the store.
    pub fn ends_directly_in(self, number: usize, target: usize) -> bool {
        number > target && self.seeds(target) == 0 && self.seeds(number) == number - target
    }

    /// Returns true if the last seed of a pit goes all around and falls into that pit itself.
    pub fn comes_back(self, number: usize) -> bool {
        self.seeds(number) == self.ring()
    }

    /// The empty own pit, farther from the store, where the last seed of a pit falls after passing the other
    /// side.
    pub fn ends_around_in(self, number: usize) -> Option<usize> {
        let beyond = self.ring().checked_sub(self.seeds(number)).filter(|&beyond| beyond > 0)?;
        Some(number + beyond).filter(|&target| target <= self.pits() && self.seeds(target) == 0)
    }
}
