//! The frames that a frame is computed from are those that its moves lead to.

use std::collections::BTreeSet;

use kalah::build::lower_frames;
use kalah::game::{Pit, Rules, sow};
use kalah::index::{Frame, RowIndex, game_row};

/// Frames of lower layers that the moves from all positions of a frame lead to.
fn played(rules: Rules, frame: Frame) -> BTreeSet<(usize, usize)> {
    let index = RowIndex::new(frame.pits, frame.mover + frame.other).unwrap();
    let rows = |seeds| (0..index.rows(seeds) as u32).map(move |rank| (seeds, rank));
    let row = |(seeds, rank)| game_row(frame.pits, &index.unrank(seeds, rank)).unwrap();
    let mut found = BTreeSet::new();
    for mover in rows(frame.mover).map(row) {
        for other in rows(frame.other).map(row) {
            for pit in (0..frame.pits).filter(|&pit| mover.seeds()[pit] > 0) {
                let sown = sow(rules, &mover, &other, Pit::from_index(pit).unwrap());
                let seeds = |row: &kalah::game::Row| row.seeds().iter().sum::<u32>() as usize;
                let (left, opponent) = (seeds(&sown.mover), seeds(&sown.other));
                let child = if sown.again { (left, opponent) } else { (opponent, left) };
                if left > 0 && opponent > 0 && left + opponent < frame.mover + frame.other {
                    found.insert(child);
                }
            }
        }
    }
    found
}

#[test]
fn what_a_frame_is_computed_from_is_what_its_moves_lead_to() {
    for rules in Rules::ALL {
        for (pits, seeds) in [(1, 12), (2, 14), (3, 17), (4, 10), (6, 7), (8, 5)] {
            for mover in 1..seeds {
                let frame = Frame { pits, mover, other: seeds - mover };
                let needs = lower_frames(rules, frame);
                assert!(needs.is_sorted_by_key(|need| (need.mover + need.other, need.mover)));
                let needs: BTreeSet<_> = needs.iter().map(|need| (need.mover, need.other)).collect();
                let found = played(rules, frame);
                assert!(needs.is_superset(&found), "{rules} {frame:?}: {:?}", found.difference(&needs));
                // After a sowing around the other row, fewer seeds can be captured than the plan assumes, and not every
                // relay is possible.
                if !rules.relays() && mover < pits + 2 && pits > 1 {
                    assert_eq!(needs, found, "{rules} {frame:?}");
                }
            }
        }
    }
}
