use std::collections::HashMap;
use std::io::{self, Read};

use kalah_core::game::{Bounds, MAX_PITS, Position, Row};

use super::test::Test;

/// The rows of a position, one byte a pit, the mover's first; 0 beyond the last pit of the other row.
type Key = [u8; 2 * MAX_PITS];

/// zstd level of the claims of a job.
const LEVEL: i32 = 7;

/// Proved bounds of the score of a position, with the way in which each follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claimed {
    lower: u8,
    upper: u8,
    /// True for a lower or upper bound that follows from a re-search, false if it follows in one ply from other
    /// claims.
    searched: [bool; 2],
}

/// Claims in memory: bounds that a search can prove again, or that follow in one ply from other claims.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    pits: usize,
    entries: HashMap<Key, Claimed, foldhash::fast::FixedState>,
    /// Positions whose claims were added or changed. A position may be listed several times.
    new: Vec<Key>,
}

impl Claims {
    /// An empty set, for positions with `pits` pits a side.
    pub fn new(pits: usize) -> Claims {
        Claims { pits, entries: HashMap::default(), new: Vec::new() }
    }

    /// Number of claimed positions.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no claims.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The claimed bounds of a position, whose stores do not matter.
    pub fn get(&self, position: &Position) -> Option<Bounds> {
        let Claimed { lower, upper, .. } = *self.entries.get(&key(position))?;
        Some(Bounds { lower: lower.into(), upper: upper.into() })
    }

    /// The claimed answer of a test, and true if it follows from a re-search.
    pub(super) fn answer(&self, test: &Test) -> Option<(bool, bool)> {
        let Claimed { lower, upper, searched } = *self.entries.get(&key(&test.position))?;
        let answer = test.decided_by(Bounds { lower: lower.into(), upper: upper.into() })?;
        Some((answer, searched[usize::from(!answer)]))
    }

    /// Returns true if a test is claimed to have this answer, whatever else is claimed of its position.
    pub(super) fn gives(&self, test: &Test, answer: bool) -> bool {
        let claimed = self.entries.get(&key(&test.position));
        claimed.is_some_and(|&Claimed { lower, upper, .. }| match answer {
            true => u32::from(lower) >= test.score,
            false => u32::from(upper) < test.score,
        })
    }

    /// The claims as tests with their answers, and true if the answer follows from a re-search. Trivial bounds
    /// are left out.
    pub(super) fn answers(&self) -> impl Iterator<Item = (Test, bool, bool)> + '_ {
        self.entries.iter().flat_map(|(key, &Claimed { lower, upper, searched })| {
            let position = self.position(key);
            let [lower, upper] = [lower, upper].map(u32::from);
            let reached = (lower > 0).then(|| (Test::new(&position, lower), true, searched[0]));
            let held = (upper < position.seeds()).then(|| (Test::new(&position, upper + 1), false, searched[1]));
            reached.into_iter().chain(held)
        })
    }

    /// Claims the answer of a test, which follows from a re-search or in one ply. A tighter claim stays.
    pub(super) fn add(&mut self, test: &Test, answer: bool, searched: bool) {
        let Bounds { lower, upper } = test.bounds(answer);
        let claimed = Claimed { lower: lower as u8, upper: upper as u8, searched: [searched; 2] };
        let key = key(&test.position);
        self.merge(key, claimed, test.position.seeds() as u8);
        self.new.push(key);
    }

    /// Claims of the positions with [additions](Claims::add) since the last call.
    pub(super) fn take_new(&mut self) -> Claims {
        let mut claims = Claims::new(self.pits);
        for key in std::mem::take(&mut self.new) {
            if let Some(claimed) = self.entries.get(&key) {
                claims.entries.insert(key, *claimed);
            }
        }
        claims
    }

    fn merge(&mut self, key: Key, new: Claimed, seeds: u8) {
        let old = self.entries.entry(key).or_insert(Claimed { lower: 0, upper: seeds, searched: [false; 2] });
        if new.lower > old.lower {
            (old.lower, old.searched[0]) = (new.lower, new.searched[0]);
        }
        if new.upper < old.upper {
            (old.upper, old.searched[1]) = (new.upper, new.searched[1]);
        }
    }

    /// Removes the claim that answers a test, if there is one.
    pub(super) fn remove(&mut self, test: &Test) {
        let Some((answer, _)) = self.answer(test) else { return };
        if let Some(claimed) = self.entries.get_mut(&key(&test.position)) {
            if answer {
                claimed.lower = 0;
            } else {
                claimed.upper = test.position.seeds() as u8;
            }
        }
    }

    /// Adds all claims of `others`. The tighter bounds of a position stay.
    pub fn extend(&mut self, others: &Claims) {
        for (key, claimed) in &others.entries {
            self.merge(*key, *claimed, key.iter().sum());
        }
    }

    /// The claimed positions with their bounds, sorted by rows.
    pub fn sorted(&self) -> Vec<(Position, Bounds)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| **key);
        let claim = |(key, claimed): (&Key, &Claimed)| {
            (self.position(key), Bounds { lower: claimed.lower.into(), upper: claimed.upper.into() })
        };
        entries.into_iter().map(claim).collect()
    }

    fn position(&self, key: &Key) -> Position {
        let row = |from: usize| {
            let seeds: Vec<u32> = key[from..from + self.pits].iter().map(|&seeds| seeds.into()).collect();
            Row::new(&seeds).expect("a row of a position")
        };
        Position::new(row(0), row(self.pits), 0, 0).expect("rows of a position")
    }

    /// All claims as compressed bytes: for each, by rows, the pits, the bounds, and how these follow.
    pub(super) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| **key);
        let mut bytes = Vec::with_capacity(entries.len() * self.entry_bytes());
        for (key, Claimed { lower, upper, searched }) in entries {
            bytes.extend_from_slice(&key[..2 * self.pits]);
            bytes.extend_from_slice(&[*lower, *upper, u8::from(searched[0]) | u8::from(searched[1]) << 1]);
        }
        zstd::bulk::compress(&bytes, LEVEL)
    }

    /// Parses `count` claims from their compressed bytes; `None` if the bytes are invalid.
    pub(super) fn from_bytes(pits: usize, count: usize, compressed: &[u8]) -> Option<Claims> {
        let mut claims = Claims::new(pits);
        let size = claims.entry_bytes();
        let mut reader = zstd::stream::read::Decoder::new(compressed).ok()?;
        let mut entry = [0; 2 * MAX_PITS + 3];
        for _ in 0..count {
            reader.read_exact(&mut entry[..size]).ok()?;
            let (rows, rest) = entry[..size].split_at(2 * pits);
            let mut key = [0; 2 * MAX_PITS];
            key[..2 * pits].copy_from_slice(rows);
            let seeds = u8::try_from(rows.iter().map(|&seeds| u32::from(seeds)).sum::<u32>()).ok()?;
            let &[lower, upper, flags] = rest else { return None };
            let (mover, other) = rows.split_at(pits);
            let is_over = [mover, other].iter().any(|row| row.iter().all(|&seeds| seeds == 0));
            if lower > upper || upper > seeds || flags > 3 || is_over {
                return None;
            }
            let claimed = Claimed { lower, upper, searched: [flags & 1 > 0, flags & 2 > 0] };
            claims.merge(key, claimed, seeds);
        }
        (reader.read(&mut [0]).ok()? == 0).then_some(claims)
    }

    fn entry_bytes(&self) -> usize {
        2 * self.pits + 3
    }
}

fn key(position: &Position) -> Key {
    let mut key = [0; 2 * MAX_PITS];
    let seeds = position.mover().seeds().iter().chain(position.other().seeds());
    for (place, &seeds) in key.iter_mut().zip(seeds) {
        *place = seeds as u8;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_hold_the_claims_and_damage_is_found() {
        let mut claims = Claims::new(3);
        let position = |text: &str| text.parse::<Position>().unwrap();
        for (text, score, answer, searched) in [
            ("4,4,4/4,4,4", 13, true, false),
            ("4,4,4/4,4,4", 15, false, true),
            ("4,4,4/4,4,4", 11, true, true),
            ("0,1,2/3,0,1", 3, false, true),
        ] {
            claims.add(&Test::new(&position(text), score), answer, searched);
        }
        assert_eq!(claims.get(&position("4,4,4/4,4,4")), Some(Bounds { lower: 13, upper: 14 }));
        assert_eq!(claims.answer(&Test::new(&position("4,4,4/4,4,4"), 12)), Some((true, false)));
        assert_eq!(claims.answer(&Test::new(&position("4,4,4/4,4,4"), 15)), Some((false, true)));
        assert_eq!(claims.answer(&Test::new(&position("4,4,4/4,4,4"), 14)), None);
        let bytes = claims.to_bytes().unwrap();
        assert_eq!(Claims::from_bytes(3, 2, &bytes).map(|read| read.entries), Some(claims.entries.clone()));
        assert!(Claims::from_bytes(3, 1, &bytes).is_none());
        assert!(Claims::from_bytes(3, 3, &bytes).is_none());
        assert!(Claims::from_bytes(3, 2, &bytes[..bytes.len() - 1]).is_none());
        let mut others = Claims::new(3);
        others.add(&Test::new(&position("4,4,4/4,4,4"), 14), false, false);
        others.extend(&claims);
        assert_eq!(others.get(&position("4,4,4/4,4,4")), Some(Bounds { lower: 13, upper: 13 }));
        others.remove(&Test::new(&position("4,4,4/4,4,4"), 14));
        assert_eq!(others.get(&position("4,4,4/4,4,4")), Some(Bounds { lower: 13, upper: 24 }));
    }
}
