use super::{Pit, Row, Rules};

/// A move seed by seed, for display.
///
/// Places are numbered from 1 in the mover's sowing order: the mover's pits, the mover's store, the
/// other pits. On a board with 6 pits a side, 7 is the store and 8 to 13 are the other side's pits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The first sowing, then one for each relay.
    pub lifts: Vec<Lift>,
    /// Places whose seeds are captured, the mover's pit first; empty without a capture.
    pub captured: Vec<usize>,
}

/// The seeds of one pit, picked up and sown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lift {
    /// Place of the pit.
    pub from: usize,
    /// Places where the seeds fall, in order.
    pub drops: Vec<usize>,
}

impl Trace {
    /// Sows the seeds of `pit` one by one. [`super::sow`] returns the rows after the move.
    ///
    /// # Panics
    /// As [`super::sow`].
    pub fn of(rules: Rules, mover: &Row, other: &Row, pit: Pit) -> Trace {
        let pits = mover.pits();
        assert!(other.pits() == pits && mover.seeds_in(pit) > 0, "no seeds to sow in pit {pit} of {mover:?}");
        let store = pits + 1;
        let last_place = 2 * pits + 1;
        // Place 0 is unused.
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
