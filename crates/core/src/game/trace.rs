use super::sowing::sow_observed;
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
    /// Sows the seeds of `pit` as [`super::sow`] does, which returns the rows after the move.
    ///
    /// # Panics
    /// As [`super::sow`].
    pub fn of(rules: Rules, mover: &Row, other: &Row, pit: Pit) -> Trace {
        let (store, ring) = (mover.pits() + 1, 2 * mover.pits() + 1);
        let mut lifts = Vec::new();
        let sown = sow_observed(rules, mover, other, pit, |place, hand| {
            let drops = (1..=hand as usize).map(|seed| (place + seed) % ring + 1).collect();
            lifts.push(Lift { from: place + 1, drops });
        });
        let last = lifts.last().and_then(|lift: &Lift| lift.drops.last().copied());
        let captured = match (last, sown.captured) {
            (None, _) | (_, 0) => Vec::new(),
            // The opposite pit is empty.
            (Some(last), 1) => vec![last],
            (Some(last), _) => vec![last, 2 * store - last],
        };
        Trace { lifts, captured }
    }
}
