use kalah_core::index::Frame;

use super::workspace::Workspace;

/// Pairs with fewer positions are not worth computing in parallel with others.
const LEAST_POSITIONS: u64 = 1 << 16;

/// The frames to make of a pair of mirrored frames, in file order. One of them may exist already.
pub(super) type Wanted<'f> = &'f [Frame];

/// Groups `frames`, which are in the order of [`kalah_core::table::TableKey::frames`], into pairs.
pub(super) fn pairs(frames: &[Frame]) -> Vec<Wanted<'_>> {
    frames.chunk_by(|a, b| *b == a.mirrored()).collect()
}

/// Seeds of the side with fewer, and of the other side.
pub(super) fn sides(pair: Wanted) -> (usize, usize) {
    let Frame { mover, other, .. } = pair[0];
    (mover.min(other), mover.max(other))
}

fn bytes(pair: Wanted) -> u64 {
    let (small, large) = sides(pair);
    Workspace::bytes(pair[0].pits, small, large)
}

/// Divides `pairs` into batches. Batches are computed one after the other, the pairs of a batch in
/// parallel. A batch takes no more memory than the largest pair alone.
///
/// A pair in which one side has few seeds has many levels of few rows, which cannot keep many
/// threads busy. Several such pairs can.
pub(super) fn batches<'a>(pairs: &'a [Wanted<'a>]) -> Vec<&'a [Wanted<'a>]> {
    let most_positions = pairs.iter().map(|pair| pair[0].positions()).max().unwrap_or(0);
    let most_bytes = pairs.iter().map(|pair| bytes(pair)).max().unwrap_or(0);
    let (mut batches, mut rest) = (Vec::new(), pairs);
    while !rest.is_empty() {
        let (mut positions, mut together, mut count) = (0, 0, 0);
        for pair in rest {
            positions += pair[0].positions();
            together += bytes(pair);
            let fits = positions <= most_positions && together <= most_bytes;
            if count > 0 && !(fits && rest[0][0].positions() >= LEAST_POSITIONS) {
                break;
            }
            count += 1;
        }
        let (batch, later) = rest.split_at(count);
        batches.push(batch);
        rest = later;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use kalah_core::game::Rules;
    use kalah_core::table::TableKey;

    #[test]
    fn batches_have_all_pairs_in_order_and_take_no_more_memory_than_one() {
        for (pits, most) in [(2, 30), (6, 34), (8, 24)] {
            for seeds in 2..=most {
                let frames: Vec<Frame> = TableKey { rules: Rules::Standard, pits, seeds }.frames().collect();
                for missing in [0, 1, frames.len() / 2] {
                    let frames = &frames[missing.min(frames.len() - 1)..];
                    let pairs = pairs(frames);
                    assert_eq!(pairs.concat(), frames, "{pits} pits, {seeds} seeds");
                    assert!(pairs.iter().skip(1).all(|pair| pair.len() == 2 || pair[0] == pair[0].mirrored()));
                    let found = batches(&pairs);
                    assert_eq!(found.concat(), pairs, "{pits} pits, {seeds} seeds");
                    let largest = pairs.iter().map(|pair| bytes(pair)).max().unwrap();
                    for batch in &found {
                        assert!(batch.iter().map(|pair| bytes(pair)).sum::<u64>() <= largest);
                    }
                    let together = found.iter().any(|batch| batch.len() > 1);
                    assert!(together || pits < 6 || seeds < 16 || missing > 1, "{pits} pits, {seeds} seeds");
                }
            }
        }
    }
}
