//! Players without a search: they weigh single moves, or none.

use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Position, Rules};
use kalah_tables::random::mixed;

use super::{Choice, PlayError, Player, PlayerName, Source, Worth};

/// Plays the move that stores most, seeds swept up at the end of the game included; among equals one that moves again,
/// then the one nearest the store.
pub(super) struct Greedy {
    pub rules: Rules,
}

impl Player for Greedy {
    fn name(&self) -> String {
        PlayerName::Greedy.to_string()
    }

    fn choose(&mut self, position: &Position, _: &Cancel, _: &mut dyn FnMut(&Choice)) -> Result<Choice, PlayError> {
        let weighed = position.moves().map(|pit| {
            let played = position.play(self.rules, pit).expect("a legal move");
            // After a move the mover is South only when to move again; the game's end is seen from the other side.
            let own = if played.again { played.position } else { played.position.turned() };
            let swept = if own.is_over() { own.mover().total() } else { 0 };
            (i64::from(own.mover_store() + swept - position.mover_store()), played.again, pit)
        });
        let (gain, _, pit) = weighed.max().ok_or(PlayError::GameOver)?;
        Ok(Choice { pit, worth: Worth::Evaluation(gain), source: Source::Rule("most stored") })
    }
}

/// Plays any move, each as likely as the others.
pub(super) struct Random {
    seed: u64,
    random: fastrand::Rng,
}

impl Random {
    /// The same moves for the same seed and game.
    pub fn new(seed: u64, game: u64) -> Random {
        let mut games = fastrand::Rng::with_seed(game);
        Random { seed, random: fastrand::Rng::with_seed(mixed(seed) ^ games.u64(..)) }
    }
}

impl Player for Random {
    fn name(&self) -> String {
        PlayerName::Random(self.seed).to_string()
    }

    fn choose(&mut self, position: &Position, _: &Cancel, _: &mut dyn FnMut(&Choice)) -> Result<Choice, PlayError> {
        let moves: Vec<Pit> = position.moves().collect();
        let pit = self.random.choice(moves).ok_or(PlayError::GameOver)?;
        Ok(Choice { pit, worth: Worth::Unknown, source: Source::Rule("chance") })
    }
}
