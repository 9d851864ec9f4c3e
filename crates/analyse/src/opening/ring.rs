use kalah_core::game::{Position, Row, Rules};

/// A board as a ring of `PLACES = 2 * pits + 1` places, for fast sowing of many seeds: the mover's row, the
/// mover's store, the other row, each in sowing order. The other store follows from the seeds of the game.
///
/// A sowing costs one pass over the ring, however many seeds it has. Its whole laps and the rest of a lap, read
/// from a table, are added in the same pass. Tests compare the result with [`kalah_core::game::sow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ring<const PLACES: usize> {
    seeds: [u32; PLACES],
}

/// End of a move on a [`Ring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingEnd {
    /// The last seed fell into the mover's store. The mover moves again unless a row is empty.
    Again,
    /// The turn is over.
    Over,
    /// The store holds enough seeds. The relay was stopped there, with seeds left to sow.
    Enough,
}

/// A window of two laps for each remainder. `LAP[rest][i + PLACES - 1 - start]` is 1 at the places `i` that
/// `rest` seeds sown from `start` reach, else 0.
struct Lap<const PLACES: usize>;

impl<const PLACES: usize> Lap<PLACES> {
    const ONES: [[[u32; PLACES]; 2]; PLACES] = {
        let mut ones = [[[0; PLACES]; 2]; PLACES];
        let mut rest = 0;
        while rest < PLACES {
            let mut place = 0;
            while place < rest {
                ones[rest][0][place] = 1;
                ones[rest][1][place] = 1;
                place += 1;
            }
            rest += 1;
        }
        ones
    };
}

impl<const PLACES: usize> Ring<PLACES> {
    /// Pits a side.
    pub const PITS: usize = PLACES / 2;

    /// The ring of a position; `None` for another number of pits.
    pub fn new(position: &Position) -> Option<Ring<PLACES>> {
        if 2 * position.pits() + 1 != PLACES {
            return None;
        }
        let mut seeds = [0; PLACES];
        seeds[..Self::PITS].copy_from_slice(position.mover().seeds());
        seeds[Self::PITS] = position.mover_store();
        seeds[Self::PITS + 1..].copy_from_slice(position.other().seeds());
        Some(Ring { seeds })
    }

    /// The seeds of the mover's row, of the mover's store, and of the other row.
    #[inline]
    pub fn parts(&self) -> (&[u32], u32, &[u32]) {
        (&self.seeds[..Self::PITS], self.store(), &self.seeds[Self::PITS + 1..])
    }

    /// Seeds in the mover's store.
    #[inline]
    pub fn store(&self) -> u32 {
        self.seeds[Self::PITS]
    }

    /// Seeds in both rows and the mover's store: those of the game without the other store.
    #[inline]
    pub fn total(&self) -> u32 {
        self.seeds.iter().sum()
    }

    /// Returns true if a row is empty, which ends the game.
    #[inline]
    pub fn is_over(&self) -> bool {
        let (mover, _, other) = self.parts();
        mover.iter().all(|&seeds| seeds == 0) || other.iter().all(|&seeds| seeds == 0)
    }

    /// Seeds of the mover at the end of a finished game: the store and the rest of the mover's row.
    #[inline]
    pub fn collected(&self) -> u32 {
        self.seeds[..=Self::PITS].iter().sum()
    }

    /// Seeds in the pit with this index of the mover's row.
    #[inline]
    pub fn seeds_in(&self, pit: usize) -> u32 {
        self.seeds[pit]
    }

    /// The board seen by the other player, in a game with `seeds` seeds.
    pub fn turned(&self, seeds: u32) -> Ring<PLACES> {
        let (mover, _, other) = self.parts();
        let mut turned = [0; PLACES];
        turned[..Self::PITS].copy_from_slice(other);
        turned[Self::PITS] = seeds - self.total();
        turned[Self::PITS + 1..].copy_from_slice(mover);
        Ring { seeds: turned }
    }

    /// The position, in a game with `seeds` seeds.
    pub fn position(&self, seeds: u32) -> Position {
        let (mover, store, other) = self.parts();
        let row = |seeds: &[u32]| Row::new(seeds).expect("a ring has 1 to 16 pits a side");
        Position::new(row(mover), row(other), store, seeds - self.total()).expect("it has the seeds of a position")
    }

    /// Sows the seeds of the pit with index `pit` of the mover's row, as [`kalah_core::game::sow`] does. A
    /// relay stops as soon as the store holds `enough` seeds.
    ///
    /// The pit must not be empty.
    #[inline]
    pub fn sow(&mut self, rules: Rules, pit: usize, enough: u32) -> RingEnd {
        let lap = const { PLACES as u32 };
        let mut place = pit;
        loop {
            let hand = std::mem::take(&mut self.seeds[place]);
            debug_assert!(hand > 0, "no seeds to sow at {place} of {self:?}");
            let (laps, rest) = (hand / lap, (hand % lap) as usize);
            let ones = &Lap::<PLACES>::ONES[rest].as_flattened()[PLACES - 1 - place..][..PLACES];
            for (seeds, one) in self.seeds.iter_mut().zip(ones) {
                *seeds += laps + one;
            }
            place += rest;
            if place >= PLACES {
                place -= PLACES;
            }
            if place == Self::PITS {
                return if rules.moves_again() { RingEnd::Again } else { RingEnd::Over };
            }
            // A pit that was empty before the last seed fell holds exactly that seed.
            let last = self.seeds[place];
            if last > 1 && rules.relays() {
                if self.store() >= enough {
                    return RingEnd::Enough;
                }
                continue;
            }
            if last == 1 && place < Self::PITS {
                let captured = self.seeds[2 * Self::PITS - place];
                if rules.captures(captured) {
                    self.seeds[Self::PITS] += 1 + captured;
                    self.seeds[place] = 0;
                    self.seeds[2 * Self::PITS - place] = 0;
                }
            }
            return RingEnd::Over;
        }
    }
}
