use std::collections::HashSet;

use kalah_core::game::Position;
use kalah_solve::book::{Book, BookError};

/// The positions of the first turns of a game, without stores.
pub(super) struct Reached {
    /// Positions with moves in these turns, each listed before the positions after its moves.
    pub inner: Vec<Position>,
    /// Positions at the beginning of the turn that follows.
    pub leaves: Vec<Position>,
}

/// Returns the positions of the first `turns` turns from `start` with more seeds in play than `reach`. With a
/// `loss`, moves proved to lose more seeds than that against the best move are not followed.
///
/// # Errors
/// If the book contradicts itself.
pub(super) fn reached(
    book: &Book,
    start: &Position,
    turns: u32,
    reach: u32,
    loss: Option<u32>,
) -> Result<Reached, BookError> {
    let start = start.without_stores();
    let mut seen = HashSet::from([start]);
    let (mut inner, mut leaves) = (Vec::new(), vec![start]);
    for _ in 0..turns {
        let mut next = Vec::new();
        // Again-moves add positions of the same turn.
        let mut turn = std::mem::take(&mut leaves);
        let mut index = 0;
        while let Some(&position) = turn.get(index) {
            index += 1;
            let recalled = book.recall(&position, None)?;
            for &(pit, bounds) in &recalled.moves {
                let played = position.play(book.rules(), pit).expect("a legal move");
                let after = played.position.without_stores();
                let lost = loss.is_some_and(|loss| bounds.upper.saturating_add(loss) < recalled.bounds.lower);
                if lost || after.is_over() || after.seeds() <= reach || !seen.insert(after) {
                    continue;
                }
                if played.again { &mut turn } else { &mut next }.push(after);
            }
        }
        inner.extend(turn);
        leaves = next;
    }
    Ok(Reached { inner, leaves })
}
