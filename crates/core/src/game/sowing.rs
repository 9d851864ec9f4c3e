use super::{Pit, Row, Rules};

/// The result of one move: the rows after sowing and capture, and the seeds it stores. Seeds that remain when a row is
/// empty are not moved to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sowing {
    /// Seeds that the mover's store gains by sowing and capture.
    pub stored: u32,
    /// Captured seeds, the last seed of the sowing included.
    pub captured: u32,
    /// Number of relays.
    pub relays: u32,
    /// The mover's row after the move.
    pub mover: Row,
    /// The other row after the move.
    pub other: Row,
    /// True if the last seed fell into the store and the rules give another move for that, unless a row is empty.
    pub again: bool,
}

/// Sows the seeds of `pit` of the row `mover` under `rules`. Full laps are added in one step, so a pit may hold any
/// number of seeds.
///
/// # Panics
/// When the rows differ in length, or the pit is empty or not on the board. [`super::Position::play`] checks this.
pub fn sow(rules: Rules, mover: &Row, other: &Row, pit: Pit) -> Sowing {
    sow_observed(rules, mover, other, pit, |_, _| {})
}

/// The same as [`sow`], and passes the place of each pit that is emptied, and its seeds, to `lifted`. Places on the
/// ring are numbered from 0: the mover's row, the store, the other row.
#[inline]
pub(super) fn sow_observed(
    rules: Rules,
    mover: &Row,
    other: &Row,
    pit: Pit,
    mut lifted: impl FnMut(usize, u32),
) -> Sowing {
    let pits = mover.pits();
    let ring = 2 * pits + 1;
    assert!(other.pits() == pits && mover.seeds_in(pit) > 0, "no seeds to sow in pit {pit} of {mover:?}");
    let mut after = Sowing { stored: 0, captured: 0, relays: 0, mover: *mover, other: *other, again: false };
    let mut place = pit.index();
    loop {
        let hand = std::mem::take(if place < pits {
            &mut after.mover.seeds_mut()[place]
        } else {
            &mut after.other.seeds_mut()[place - pits - 1]
        });
        lifted(place, hand);
        let laps = hand / ring as u32;
        if laps > 0 {
            after.mover.seeds_mut().iter_mut().for_each(|seeds| *seeds += laps);
            after.other.seeds_mut().iter_mut().for_each(|seeds| *seeds += laps);
            after.stored += laps;
        }
        for _ in 0..hand % ring as u32 {
            place = if place + 1 == ring { 0 } else { place + 1 };
            if place < pits {
                after.mover.seeds_mut()[place] += 1;
            } else if place == pits {
                after.stored += 1;
            } else {
                after.other.seeds_mut()[place - pits - 1] += 1;
            }
        }
        if place == pits {
            after.again = rules.moves_again();
            return after;
        }
        let (own, last) = if place < pits {
            (true, after.mover.seeds()[place])
        } else {
            (false, after.other.seeds()[place - pits - 1])
        };
        // A pit that was empty before the last seed fell holds exactly one seed.
        if last > 1 && rules.relays() {
            after.relays += 1;
            continue;
        }
        if last == 1 && own {
            let opposite = pits - 1 - place;
            let captured = after.other.seeds()[opposite];
            if rules.captures(captured) {
                after.captured = 1 + captured;
                after.stored += after.captured;
                after.mover.seeds_mut()[place] = 0;
                after.other.seeds_mut()[opposite] = 0;
            }
        }
        return after;
    }
}

/// A move seed by seed, for display. Places are numbered from 1: the mover's pits, the mover's store, the other pits.
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
    /// Sows the seeds of `pit` as [`super::sow`] does, which returns the rows after the move. It panics likewise.
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
