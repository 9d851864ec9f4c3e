//! Game-tree complexity, estimated from sampled games.
//!
//! The game tree of games of `d` plies whose positions have `w` moves on average has about `w^d` leaves (Allis
//! 1994). Irving, Donkers, Uiterwijk 2000 (section 2.2, Table 1) sample games between two alpha-beta players,
//! Kvitberg 2026 (section 4.2, Table 3) games of random moves.

use kalah_base::random::choice;
use kalah_core::game::{ParseError, Pit, Position, Rules, StartPosition};
use kalah_solve::solve::{Evaluation, LimitedSearch, Method};
use rayon::prelude::*;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Players of the sampled games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Players {
    /// Both players search to this depth (at least 1) by alpha-beta, evaluate by the difference of the stores,
    /// and choose at random among the best moves.
    AlphaBeta {
        /// Depth in moves.
        depth: u32,
    },
    /// Both players choose at random among all moves.
    Random,
}

/// Settings of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// The rule set.
    pub rules: Rules,
    /// The players.
    pub players: Players,
    /// True if a game also ends as soon as a store holds more than half of all seeds.
    pub until_decided: bool,
    /// Number of games, at least 1.
    pub games: usize,
    /// Random seed. The same seed gives the same games with any number of threads.
    pub seed: u64,
}

/// Counts of one game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledGame {
    /// Its plies. Every move is one, an again-move included.
    pub plies: u32,
    /// Legal moves in all its positions, played or not.
    pub moves: u32,
}

impl SampledGame {
    /// The mean number of moves of its positions; 1 for a game without plies.
    fn branching(self) -> f64 {
        if self.plies == 0 { 1.0 } else { f64::from(self.moves) / f64::from(self.plies) }
    }
}

/// A mean and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean over the games.
    pub mean: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// Results of the sampled games of a board.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Complexity {
    /// Plies of a game.
    pub length: Estimate,
    /// Moves of a position: the mean of the means of the games.
    pub branching: Estimate,
    /// Decimal logarithm of the number of leaves of the game tree: `length` x lg `branching`.
    pub tree: Estimate,
    /// The games.
    pub games: Vec<SampledGame>,
}

/// Bootstrap resamples for a confidence interval.
const RESAMPLES: usize = 2000;

impl Sampling {
    /// Plays games from `start` on the threads of the current pool.
    ///
    /// Confidence intervals are bootstrap intervals: the middle 95 % of the means of games drawn from the
    /// sample with repetition.
    ///
    /// # Errors
    /// If `start` is not a valid position.
    pub fn run(&self, start: StartPosition) -> Result<Complexity, ParseError> {
        let position = start.position()?;
        let games: Vec<_> =
            (0..self.games).into_par_iter().map(|game| self.play(&position, &mut self.random(start, game))).collect();
        let mut random = self.random(start, self.games);
        let mut resampled: Vec<[f64; 3]> =
            (0..RESAMPLES).map(|_| means((0..games.len()).map(|_| games[random.usize(..games.len())]))).collect();
        let (all, tail) = (means(games.iter().copied()), RESAMPLES / 40);
        let [length, branching, tree] = [0, 1, 2].map(|index| {
            resampled.sort_by(|a, b| a[index].total_cmp(&b[index]));
            Estimate { mean: all[index], low: resampled[tail][index], high: resampled[RESAMPLES - 1 - tail][index] }
        });
        Ok(Complexity { length, branching, tree, games })
    }

    /// The random number generator of one game.
    fn random(&self, start: StartPosition, game: usize) -> fastrand::Rng {
        let of_game = [start.pits as u64, u64::from(start.seeds), game as u64];
        fastrand::Rng::with_seed(xxh3_64_with_seed(bytemuck::bytes_of(&of_game), self.seed))
    }

    fn play(&self, start: &Position, random: &mut fastrand::Rng) -> SampledGame {
        let mut position = *start;
        let mut game = SampledGame { plies: 0, moves: 0 };
        let half = start.seeds() / 2;
        while !(position.is_over() || self.until_decided && position.mover_store().max(position.other_store()) > half) {
            let choice = self.choose(&position, random);
            game.plies += 1;
            game.moves += position.moves().count() as u32;
            position = position.play(self.rules, choice).expect("a legal move").position;
        }
        game
    }

    /// The move to play.
    fn choose(&self, position: &Position, random: &mut fastrand::Rng) -> Pit {
        let moves: Vec<Pit> = position.moves().collect();
        let choices = match self.players {
            Players::Random => moves,
            Players::AlphaBeta { depth } => {
                let depth = depth.saturating_sub(1);
                let (rules, method, evaluation) = (self.rules, Method::SeqAb, Evaluation::Stores);
                let search = LimitedSearch { rules, method, depth, par_depth: 0, evaluation };
                let value = |&pit: &Pit| {
                    let played = position.play(rules, pit).expect("a legal move");
                    played.mover_value(search.run(&played.position).value)
                };
                let values: Vec<i64> = moves.iter().map(value).collect();
                let best = values.iter().max().copied();
                moves.into_iter().zip(&values).filter(|&(_, &value)| Some(value) == best).map(|(pit, _)| pit).collect()
            }
        };
        choice(random, &choices).expect("a game that goes on has moves")
    }
}

/// Mean length of some games, their mean branching, and the decimal logarithm of the size of their tree.
fn means(games: impl ExactSizeIterator<Item = SampledGame>) -> [f64; 3] {
    let count = games.len() as f64;
    let (plies, branching) = games
        .fold((0.0, 0.0), |(plies, branching), game| (plies + f64::from(game.plies), branching + game.branching()));
    let (length, branching) = (plies / count, branching / count);
    [length, branching, length * branching.log10()]
}
