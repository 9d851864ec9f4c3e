use super::{Pit, Row, Rules};

/// A move told seed by seed, for those who show it.
///
/// Places are numbered as the mover meets them: from 1 the own pits, then the own store, then the other pits, in sowing
/// order. On a board of 6 pits a side 7 is the store, and 8 to 13 are the pits of the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The sowing, and those that a relay adds.
    pub lifts: Vec<Lift>,
    /// The places whose seeds are captured in the end, the mover's own first. None without a capture.
    pub captured: Vec<usize>,
}

/// The seeds of one pit, taken up and sown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lift {
    /// The place they are taken from.
    pub from: usize,
    /// The places they fall in, one after the other.
    pub drops: Vec<usize>,
}

impl Trace {
    /// What happens when the seeds of `pit` are sown, one by one: [`super::sow`] gives the rows after it.
    ///
    /// # Panics
    /// As [`super::sow`].
    pub fn of(rules: Rules, mover: &Row, other: &Row, pit: Pit) -> Trace {
        let pits = mover.pits();
        assert!(other.pits() == pits && mover.seeds_in(pit) > 0, "no seeds to sow in pit {pit} of {mover:?}");
        let store = pits + 1;
        let last_place = 2 * pits + 1;
        // Place 0 is not used.
        let mut seeds: Vec<u32> = [&[0], mover.seeds(), &[0], other.seeds()].into_iter().flatten().copied().collect();
        let mut trace = Trace { lifts: Vec::new(), captured: Vec::new() };
        let mut place = pit.number();
        loop {
            let from = place;
            let hand = std::mem::take(&mut seeds[from]);
            let mut drops = Vec::new();
            for _ in 0..hand {
                place = if place == last_place { 1 } else { place + 1 };
                seeds[place] += 1;
                drops.push(place);
            }
            trace.lifts.push(Lift { from, drops });
            let was_empty = seeds[place] == 1;
            if place == store {
                return trace;
            }
            if !was_empty && rules.relays() {
                continue;
            }
            if was_empty && place < store {
                let opposite = 2 * store - place;
                if rules.captures(seeds[opposite]) {
                    trace.captured = vec![place];
                    trace.captured.extend((seeds[opposite] > 0).then_some(opposite));
                }
            }
            return trace;
        }
    }
}
