//! Players without a search: they evaluate single moves, or none.

use kalah_base::random::{choice, mixed};
use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Position, Rules};
use kalah_proof::certificate::{Basis, Strategy};

use super::{Choice, PlayError, Player, PlayerName, Source, Worth};

/// Plays the move that stores most, including seeds collected at the end of the game. Of equal moves it plays
/// an again-move, then the one nearest the store.
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
            // The mover is South after a move only if they are to move again; otherwise the position is turned,
            // also at the end of the game.
            let own = if played.again { played.position } else { played.position.turned() };
            let swept = if own.is_over() { own.mover().total() } else { 0 };
            (i64::from(own.mover_store() + swept - position.mover_store()), played.again, pit)
        });
        let (gain, _, pit) = weighed.max().ok_or(PlayError::GameOver)?;
        Ok(Choice { pit, worth: Worth::Evaluation(gain), source: Source::Rule("most stored") })
    }
}

/// Plays any move with equal probability.
pub(super) struct Random {
    seed: u64,
    random: fastrand::Rng,
}

impl Random {
    /// A player whose moves are the same for the same seed and game.
    pub(super) fn new(seed: u64, game: u64) -> Random {
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
        let pit = choice(&mut self.random, &moves).ok_or(PlayError::GameOver)?;
        Ok(Choice { pit, worth: Worth::Unknown, source: Source::Rule("chance") })
    }
}

/// Plays the [`Strategy`] of a certificate, which never loses what the certificate states.
#[derive(Debug)]
pub struct ByCertificate<'a>(Strategy<'a>);

impl<'a> ByCertificate<'a> {
    /// The name of the player.
    pub const NAME: &'static str = "certificate";

    /// A player by this strategy.
    pub fn new(strategy: Strategy<'a>) -> ByCertificate<'a> {
        ByCertificate(strategy)
    }
}

impl Player for ByCertificate<'_> {
    fn name(&self) -> String {
        ByCertificate::NAME.to_owned()
    }

    fn choose(&mut self, position: &Position, _: &Cancel, _: &mut dyn FnMut(&Choice)) -> Result<Choice, PlayError> {
        let chosen = self.0.choose(position)?.ok_or(PlayError::GameOver)?;
        let [lower, upper] = [chosen.bounds.lower, chosen.bounds.upper].map(|score| position.value(score));
        let worth = if lower == upper { Worth::Exact(lower) } else { Worth::Bounds { lower, upper } };
        let source = match chosen.basis {
            Basis::Tables => Source::Tables,
            Basis::Claims => Source::Certificate,
            Basis::NoClaims => Source::Rule("most stored"),
        };
        Ok(Choice { pit: chosen.pit, worth, source })
    }
}
