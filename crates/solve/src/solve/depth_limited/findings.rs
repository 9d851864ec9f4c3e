use crate::solve::evaluation::SEED;

/// Bits of the index of an entry: a table of 256 KiB, which stays in the cache of a core.
const BITS: u32 = 15;

/// Bits of the index of an entry within its line of the cache.
const LINE_BITS: u32 = 3;

/// Words of one bit for each line of entries.
const WORDS: usize = (1 << (BITS - LINE_BITS)) / u64::BITS as usize;

/// Bits beside the number of a pit that mark an evaluation as a lower or an upper bound.
const AT_LEAST: u8 = 1 << 7;
const AT_MOST: u8 = 1 << 6;

/// The evaluations that matter to a search, in sixteenths of a seed. Up to `low` and from `high` on, a bound suffices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub low: i32,
    pub high: i32,
}

impl Window {
    /// The window of the position after a move, with `seeds` seeds in play before it, for the player to move next.
    #[inline]
    pub(crate) fn after(self, again: bool, stored: u32, seeds: u32) -> Window {
        let Window { low, high } = self;
        if again {
            Window { low: low - SEED * stored as i32, high: high - SEED * stored as i32 }
        } else {
            Window { low: SEED * seeds as i32 - high, high: SEED * seeds as i32 - low }
        }
    }
}

/// Result of a depth-limited search of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The evaluation or a bound of it, in sixteenths of a seed.
    pub evaluation: i32,
    /// Number of turns searched.
    pub turns: u32,
    /// True if the evaluation is at least this.
    pub at_least: bool,
    /// True if the evaluation is at most this.
    pub at_most: bool,
    /// The pit of the best move.
    pub pit: usize,
}

impl Finding {
    /// Narrows a window to the part that the evaluation may be in.
    ///
    /// # Errors
    /// With the evaluation or its bound, if that answers the search.
    #[inline(always)]
    pub(crate) fn narrow(self, window: Window) -> Result<Window, i32> {
        let Window { low, high } = window;
        let Finding { evaluation, at_least, at_most, .. } = self;
        if at_least && (at_most || evaluation >= high) || at_most && evaluation <= low {
            return Err(evaluation);
        }
        Ok(if at_least {
            Window { low: low.max(evaluation), high }
        } else {
            Window { low, high: high.min(evaluation) }
        })
    }
}

/// [`Finding`] in 8 bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Lower half of the hash.
    tag: u32,
    evaluation: i16,
    /// 0 in an unused entry.
    turns: u8,
    /// The pit of the best move, and marks of a bound.
    pit: u8,
}

/// Recent results of the depth-limited searches of one thread, and the nodes that they may still visit.
///
/// A depth-limited search includes those of the positions after its moves, one turn less deep. So most of the
/// work is done when the zero-window search comes to one of these. An entry identifies its position by a hash
/// alone. A collision costs time, but cannot make a proof wrong, since evaluations prove nothing.
#[derive(Debug)]
pub(crate) struct Findings {
    /// Nodes that may still be visited.
    pub left: u32,
    /// Entries by the upper bits of the hash; empty until the first finding.
    entries: Vec<Entry>,
    /// A bit for each line of entries, set if one of them may be in use.
    used: [u64; WORDS],
}

impl Default for Findings {
    fn default() -> Findings {
        Findings { left: 0, entries: Vec::new(), used: [0; WORDS] }
    }
}

impl Findings {
    /// Removes all findings, in time proportional to their number.
    pub(crate) fn clear(&mut self) {
        for (number, word) in self.used.iter_mut().enumerate() {
            let mut left = std::mem::take(word);
            while left != 0 {
                let line = number * u64::BITS as usize + left.trailing_zeros() as usize;
                self.entries[line << LINE_BITS..][..1 << LINE_BITS].fill(Entry::default());
                left &= left - 1;
            }
        }
    }

    /// The finding for the position with this hash.
    #[inline]
    pub(crate) fn get(&self, hash: u64) -> Option<Finding> {
        let Entry { tag, evaluation, turns, pit } = *self.entries.get((hash >> (u64::BITS - BITS)) as usize)?;
        (tag == hash as u32 && turns > 0).then(|| Finding {
            evaluation: evaluation.into(),
            turns: turns.into(),
            at_least: pit & AT_LEAST != 0,
            at_most: pit & AT_MOST != 0,
            pit: usize::from(pit & !(AT_LEAST | AT_MOST)),
        })
    }

    /// Stores the result of a search to at least one turn of the position with this hash, and replaces the old
    /// entry.
    #[inline]
    pub(crate) fn put(&mut self, hash: u64, found: Finding) {
        if self.entries.is_empty() {
            self.entries.resize(1 << BITS, Entry::default());
        }
        let Finding { evaluation, turns, at_least, at_most, pit } = found;
        let index = (hash >> (u64::BITS - BITS)) as usize;
        let line = index >> LINE_BITS;
        self.used[line / u64::BITS as usize] |= 1 << (line % u64::BITS as usize);
        self.entries[index] = Entry {
            tag: hash as u32,
            evaluation: evaluation.clamp(i16::MIN.into(), i16::MAX.into()) as i16,
            turns: turns.min(u8::MAX.into()) as u8,
            pit: pit as u8 | if at_least { AT_LEAST } else { 0 } | if at_most { AT_MOST } else { 0 },
        };
    }
}
