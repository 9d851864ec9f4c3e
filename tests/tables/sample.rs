//! Samples of a layer: the choice of positions.

use kalah::game::Rules;
use kalah::index::Frame;
use kalah::table::TableKey;
use kalah::verify::Sample;

fn key(pits: usize, seeds: usize) -> TableKey {
    TableKey { rules: Rules::EmptyCapture, pits, seeds }
}

/// Chosen positions, frame by frame.
fn chosen(sample: &Sample) -> Vec<(Frame, Vec<u64>)> {
    sample.frames().map(|frame| (frame, sample.indices(frame).collect())).collect()
}

#[test]
fn every_frame_is_visited_at_its_ends_and_between_them() {
    for (pits, seeds) in [(1, 2), (1, 9), (2, 5), (3, 7), (6, 2), (6, 3), (6, 12), (6, 34), (6, 48), (8, 28), (8, 48)] {
        let key = key(pits, seeds);
        let all: u64 = key.frames().map(Frame::positions).sum();
        for count in [0, 1, 2, 50, 1000, 100_000] {
            let sample = Sample::new(key, count, count + 5);
            let frames = chosen(&sample);
            assert_eq!(frames.len(), seeds - 1);
            let mut total = 0;
            for (frame, indices) in frames {
                let positions = frame.positions();
                assert!(indices.is_sorted_by(|a, b| a < b), "{key} {frame:?}: in order, none twice");
                assert_eq!((indices[0], *indices.last().unwrap()), (0, positions - 1), "{key} {frame:?}");
                assert!(indices.len() as u64 >= positions.min(3), "{key} {frame:?}: at least one between the ends");
                // The choice is in proportion: at most the share rounded up, or three.
                let share = u128::from(count.min(all)) * u128::from(positions);
                assert!(indices.len() as u128 >= share / u128::from(all), "{key} {frame:?} {count}");
                assert!(indices.len() as u128 <= (share / u128::from(all) + 1).max(3), "{key} {frame:?} {count}");
                total += indices.len() as u64;
            }
            assert_eq!(total, sample.positions());
            let excess = 3 * (seeds as u64 - 1);
            assert!(
                total >= count.min(all) && total <= count.min(all) + excess && total <= all,
                "{key} {count} {total}"
            );
        }
    }
}

#[test]
fn the_same_source_chooses_the_same_positions_and_another_one_others() {
    let sample = |source| chosen(&Sample::new(key(6, 12), 10_000, source));
    assert_eq!(sample(0), sample(0));
    let (first, second) = (sample(0), sample(1));
    // Each large frame differs, not only some.
    for ((frame, first), (_, second)) in first.iter().zip(&second).filter(|((_, first), _)| first.len() > 100) {
        let common = first.iter().filter(|index| second.contains(index)).count();
        assert!(common < first.len() / 2, "{frame:?}");
    }
}

/// Every position is chosen by some source of random numbers, even near the borders of the runs.
#[test]
fn no_position_is_out_of_reach() {
    let key = key(3, 6);
    for frame in key.frames() {
        let mut reached = vec![false; frame.positions() as usize];
        for source in 0..3000 {
            Sample::new(key, 60, source).indices(frame).for_each(|index| reached[index as usize] = true);
        }
        assert!(reached.iter().all(|&reached| reached), "{frame:?}");
    }
}
