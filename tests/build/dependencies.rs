//! The frames that a frame is computed from are those that its moves lead to.

use std::collections::{HashMap, HashSet};

use kalah::build::lower_frames;
use kalah::game::{Position, Rules};
use kalah::index::Frame;

use kalah_tests::small_boards::each_position_of;

fn frame(position: &Position) -> Frame {
    let [mover, other] = [position.mover(), position.other()].map(|row| row.total() as usize);
    Frame { pits: position.pits(), mover, other }
}

#[test]
fn what_a_frame_is_computed_from_is_what_its_moves_lead_to() {
    for (pits, seeds) in [(1, 12), (2, 14), (3, 17), (4, 10), (6, 7), (8, 5)] {
        let mut played: HashMap<(Rules, Frame), HashSet<Frame>> = HashMap::new();
        each_position_of(pits, seeds, |position| {
            for rules in Rules::ALL.into_iter().filter(|_| !position.is_over()) {
                let after = position.moves().map(|pit| position.play(rules, pit).unwrap().position);
                let lower = after.filter(|after| !after.is_over() && after.seeds() < position.seeds());
                played.entry((rules, frame(position))).or_default().extend(lower.map(|after| frame(&after)));
            }
        });
        for ((rules, frame), found) in played {
            let needs = lower_frames(rules, frame);
            assert!(needs.is_sorted_by_key(|need| (need.mover + need.other, need.mover)));
            let needs = HashSet::from_iter(needs);
            assert!(needs.is_superset(&found), "{rules} {frame:?}: {:?}", found.difference(&needs));
            // After a sowing around the other row, fewer seeds can be captured than the plan assumes, and not every
            // relay is possible.
            if !rules.relays() && frame.mover < pits + 2 && pits > 1 {
                assert_eq!(needs, found, "{rules} {frame:?}");
            }
        }
    }
}
