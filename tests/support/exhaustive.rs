//! Scores by exhaustive search with the rules alone.

use kalah_core::game::{Position, Rules};

/// Scores of positions, by the pits of a side and the seeds in each pit of both. By a quick hash, the search is some
/// times as fast.
pub type Scores = foldhash::HashMap<(usize, [u8; 32]), u32>;

/// Seeds that the mover collects of those in play.
pub fn exhaustive(rules: Rules, position: &Position, known: &mut Scores) -> u32 {
    if position.is_over() {
        return position.mover().total();
    }
    let mut seeds = [0; 32];
    let both = position.mover().seeds().iter().chain(position.other().seeds());
    seeds.iter_mut().zip(both).for_each(|(place, &seeds)| *place = seeds.try_into().unwrap());
    let key = (position.pits(), seeds);
    if let Some(&score) = known.get(&key) {
        return score;
    }
    let bare = Position::new(*position.mover(), *position.other(), 0, 0).unwrap();
    let collected = |pit| {
        let played = bare.play(rules, pit).unwrap();
        let score = exhaustive(rules, &played.position, known);
        if played.again { played.position.mover_store() + score } else { bare.seeds() - score }
    };
    let score = bare.moves().map(collected).max().unwrap();
    known.insert(key, score);
    score
}
