use std::fmt;

/// Maximum pits a side of a position. For tables see [`crate::index::MAX_TABLE_PITS`].
pub const MAX_PITS: usize = 16;

/// A pit of one side, counted from 0 in its owner's sowing order; the last is next to the owner's store. It is printed
/// from 1, as a move number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pit(u8);

impl Pit {
    /// Returns the pit with this `index`, from 0; `None` if it is not below [`MAX_PITS`].
    pub fn from_index(index: usize) -> Option<Pit> {
        (index < MAX_PITS).then_some(Pit(index as u8))
    }

    /// Returns the pit that move `number` (from 1) empties; `None` outside 1 to [`MAX_PITS`].
    pub fn from_number(number: usize) -> Option<Pit> {
        number.checked_sub(1).and_then(Pit::from_index)
    }

    /// The index from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The move number, from 1.
    pub fn number(self) -> usize {
        self.0 as usize + 1
    }
}

impl fmt::Display for Pit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

impl fmt::Debug for Pit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pit({self})")
    }
}

/// The pits of one side in their owner's sowing order, 1 to [`MAX_PITS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    seeds: [u32; MAX_PITS],
    pits: u8,
}

impl Row {
    /// Makes a row with these seeds in its pits; `None` if there are no pits, or more than [`MAX_PITS`].
    pub fn new(seeds: &[u32]) -> Option<Row> {
        if !(1..=MAX_PITS).contains(&seeds.len()) {
            return None;
        }
        let mut row = Row { seeds: [0; MAX_PITS], pits: seeds.len() as u8 };
        row.seeds[..seeds.len()].copy_from_slice(seeds);
        Some(row)
    }

    /// Number of pits.
    #[inline]
    pub fn pits(&self) -> usize {
        self.pits as usize
    }

    /// Seeds in each pit.
    #[inline]
    pub fn seeds(&self) -> &[u32] {
        &self.seeds[..self.pits()]
    }

    #[inline]
    pub(super) fn seeds_mut(&mut self) -> &mut [u32] {
        &mut self.seeds[..self.pits as usize]
    }

    /// Seeds in one pit; 0 beyond the last.
    #[inline]
    pub fn seeds_in(&self, pit: Pit) -> u32 {
        self.seeds[pit.index()]
    }

    /// Seeds in all pits.
    #[inline]
    pub fn total(&self) -> u32 {
        self.seeds.iter().sum()
    }

    /// Returns true if no pit holds a seed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.seeds.iter().all(|&seeds| seeds == 0)
    }

    /// The pits that hold seeds, the owner's legal moves, from the first to the one next to the store.
    pub fn moves(&self) -> impl Iterator<Item = Pit> + '_ {
        self.seeds().iter().enumerate().filter(|&(_, &seeds)| seeds > 0).map(|(index, _)| Pit(index as u8))
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Row").field(&self.seeds()).finish()
    }
}
