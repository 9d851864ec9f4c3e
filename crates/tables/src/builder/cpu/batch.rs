use kalah_core::index::Frame;

use super::workspace::Workspace;

/// Pairs with fewer positions are not worth computing in parallel with others.
const LEAST_POSITIONS: u64 = 1 << 16;

/// A pair of mirrored frames, one of which may exist already.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    /// The frames to make, in file order.
    pub frames: Vec<Frame>,
}

impl Wanted {
    /// Groups `frames`, which are in the order of [`crate::table::TableKey::frames`], into pairs.
    pub fn pairs(frames: &[Frame]) -> Vec<Wanted> {
        let is_pair = |a: &Frame, b: &Frame| *b == a.mirrored();
        frames.chunk_by(is_pair).map(|frames| Wanted { frames: frames.to_vec() }).collect()
    }

    /// Seeds of the side with fewer, and of the other side.
    pub fn seeds(&self) -> (usize, usize) {
        let Frame { mover, other, .. } = self.frames[0];
        (mover.min(other), mover.max(other))
    }

    fn positions(&self) -> u64 {
        self.frames[0].positions()
    }

    fn bytes(&self) -> u64 {
        let (small, large) = self.seeds();
        Workspace::bytes(self.frames[0].pits, small, large)
    }
}

/// Divides `pairs` into batches. Batches are computed one after the other, the pairs of a batch in
/// parallel. A batch takes no more memory than the largest pair alone.
///
/// A pair in which one side has few seeds has many levels of few rows, which cannot keep many
/// threads busy. Several such pairs can.
pub(super) fn batches(pairs: &[Wanted]) -> Vec<&[Wanted]> {
    let most_positions = pairs.iter().map(Wanted::positions).max().unwrap_or(0);
    let most_bytes = pairs.iter().map(Wanted::bytes).max().unwrap_or(0);
    let (mut batches, mut rest) = (Vec::new(), pairs);
    while !rest.is_empty() {
        let (mut positions, mut bytes, mut count) = (0, 0, 0);
        for pair in rest {
            positions += pair.positions();
            bytes += pair.bytes();
            let fits = positions <= most_positions && bytes <= most_bytes;
            if count > 0 && !(fits && rest[0].positions() >= LEAST_POSITIONS) {
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
    use crate::table::TableKey;
    use kalah_core::game::Rules;

    #[test]
    fn batches_have_all_pairs_in_order_and_take_no_more_memory_than_one() {
        for (pits, most) in [(2, 30), (6, 34), (8, 24)] {
            for seeds in 2..=most {
                let frames: Vec<Frame> = TableKey { rules: Rules::Standard, pits, seeds }.frames().collect();
                for missing in [0, 1, frames.len() / 2] {
                    let frames = &frames[missing.min(frames.len() - 1)..];
                    let pairs = Wanted::pairs(frames);
                    let of_pairs: Vec<Frame> = pairs.iter().flat_map(|pair| pair.frames.clone()).collect();
                    assert_eq!(of_pairs, frames, "{pits} pits, {seeds} seeds");
                    assert!(
                        pairs.iter().skip(1).all(|pair| pair.frames.len() == 2 || pair.seeds().0 == pair.seeds().1)
                    );
                    let found = batches(&pairs);
                    assert_eq!(found.concat(), pairs, "{pits} pits, {seeds} seeds");
                    let largest = pairs.iter().map(Wanted::bytes).max().unwrap();
                    for batch in &found {
                        assert!(batch.iter().map(Wanted::bytes).sum::<u64>() <= largest);
                    }
                    let together = found.iter().any(|batch| batch.len() > 1);
                    assert!(together || pits < 6 || seeds < 16 || missing > 1, "{pits} pits, {seeds} seeds");
                }
            }
        }
    }
}
