use std::time::Duration;

use kalah_base::random::{choice, generator};
use kalah_core::cancel::Cancel;
use kalah_core::game::{Pit, Position, Rules};
use kalah_core::table::{ProbeError, TableError, Tables};
use rayon::prelude::*;

use super::engine::External;
use super::{Game, Participant, PlayError, Player, Setting, play_game};

/// A tournament: every player against every other, from every start, as first and as second player.
#[derive(Clone, Debug)]
pub struct Tournament<'t> {
    /// The players.
    pub players: Vec<Participant>,
    /// The start positions, at least one; the first player is South.
    pub starts: Vec<Position>,
    /// Settings of players, such as rules and tables; its `game` makes tournaments differ.
    pub setting: Setting<'t>,
    /// The time for a move; without it players search to their own depths.
    pub time: Option<Duration>,
    /// True if each player plays itself, too, once from every start. One that is alone does.
    pub self_play: bool,
}

/// One game of a tournament.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Match {
    /// Number of the game, from 0 in the order of [`Tournament::run`].
    pub number: usize,
    /// Index of the first player.
    pub first: usize,
    /// Index of the second player.
    pub second: usize,
    /// Index of the start.
    pub start: usize,
    /// The game.
    pub game: Game,
    /// Accuracy of both players, by the tables.
    pub accuracy: [Accuracy; 2],
}

/// Comparison of a player's moves with the best ones, by the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accuracy {
    /// Moves from positions within the tables with a choice.
    pub moves: u64,
    /// Number of these moves that lost something.
    pub mistakes: u64,
    /// Total seeds lost.
    pub lost: u64,
}

impl Accuracy {
    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Accuracy) -> Accuracy {
        let Accuracy { moves, mistakes, lost } = other;
        Accuracy { moves: self.moves + moves, mistakes: self.mistakes + mistakes, lost: self.lost + lost }
    }

    /// Seeds lost per move; `None` without moves.
    pub fn loss(self) -> Option<f64> {
        (self.moves > 0).then(|| self.lost as f64 / self.moves as f64)
    }
}

impl<'t> Tournament<'t> {
    /// A tournament of `players` from `starts`, without a time limit.
    pub fn new(players: Vec<impl Into<Participant>>, starts: Vec<Position>, setting: Setting<'t>) -> Tournament<'t> {
        let players: Vec<Participant> = players.into_iter().map(Into::into).collect();
        let self_play = players.len() == 1;
        Tournament { players, starts, setting, time: None, self_play }
    }

    /// Number of games.
    pub fn games(&self) -> usize {
        self.players.len() * self.opponents() * self.starts.len()
    }

    /// Number of opponents of each player.
    fn opponents(&self) -> usize {
        self.players.len() - usize::from(!self.self_play)
    }

    /// Starts and ends every external engine once, before the games, so that an engine that cannot play does
    /// not lose each game. Returns the names of all players: that which an engine sent, unless another player has
    /// the same.
    ///
    /// # Errors
    /// If an engine cannot be started, does not answer, or does not play by the rules. Also if `cancel` is cancelled.
    pub fn try_engines(&self, cancel: &Cancel) -> Result<Vec<String>, PlayError> {
        let tried = self.players.par_iter().with_max_len(1).map(|player| {
            let Participant::Engine(command) = player else { return Ok(player.to_string()) };
            let mut engine = External::new(command, self.setting.rules);
            engine.prepare(&self.starts[0], cancel)?;
            Ok(engine.sent_name.take().unwrap_or_else(|| player.to_string()))
        });
        let tried: Result<Vec<String>, PlayError> = tried.collect();
        cancel.check()?;
        let sent = tried?;
        let is_single = |name: &str| sent.iter().filter(|&other| other == name).count() == 1;
        let named = self.players.iter().zip(&sent);
        Ok(named.map(|(player, sent)| if is_single(sent) { sent.clone() } else { player.to_string() }).collect())
    }

    /// Plays the games with these numbers on the threads of the current pool. Numbers count from 0 by first player,
    /// second player, start. Calls `on_game` as games end, and returns them in order.
    ///
    /// Every game has players of its own, made with its number. So the number of threads changes the times,
    /// never a game, unless `time` cuts a player short. An external engine is started for each of its games.
    ///
    /// # Errors
    /// If a player or a table fails, or `cancel` is cancelled.
    pub fn run(
        &self,
        numbers: &[usize],
        cancel: &Cancel,
        on_game: &(dyn Fn(&Match) + Sync),
    ) -> Result<Vec<Match>, PlayError> {
        numbers
            .par_iter()
            .copied()
            // The lengths of games differ a thousandfold, so no game should wait for another.
            .with_max_len(1)
            .map(|number| {
                let played = self.game(number, cancel)?;
                on_game(&played);
                Ok(played)
            })
            .collect()
    }

    /// First player, second player and start of the game with this number.
    pub fn pairing(&self, number: usize) -> (usize, usize, usize) {
        let (start, pair) = (number % self.starts.len(), number / self.starts.len());
        let (first, opponent) = (pair / self.opponents(), pair % self.opponents());
        (first, opponent + usize::from(!self.self_play && opponent >= first), start)
    }

    fn game(&self, number: usize, cancel: &Cancel) -> Result<Match, PlayError> {
        let (first, second, start) = self.pairing(number);
        let seat = |seat: u64| {
            let game = fastrand::Rng::with_seed(2 * number as u64 + seat).u64(..);
            Setting { game: self.setting.game ^ game, ..self.setting }
        };
        let mut players = [self.players[first].player(&seat(0)), self.players[second].player(&seat(1))];
        let game = play_game(self.setting.rules, &self.starts[start], &mut players, self.time, cancel)?;
        let mut accuracy = [Accuracy::default(); 2];
        if let Some(tables) = self.setting.tables {
            for made in &game.moves {
                let player = &mut accuracy[usize::from(!made.first)];
                *player = player.and(accuracy_of(tables, &made.position, made.choice.pit)?);
            }
        }
        Ok(Match { number, first, second, start, game, accuracy })
    }
}

/// Compares a move with the best one. Empty above the tables and without a choice.
fn accuracy_of(tables: &Tables, position: &Position, pit: Pit) -> Result<Accuracy, TableError> {
    if position.moves().count() < 2 {
        return Ok(Accuracy::default());
    }
    let found = ProbeError::unless_above(tables.move_scores(position))?;
    let Some(moves) = found else { return Ok(Accuracy::default()) };
    let best = moves.iter().map(|&(_, score)| score).max().unwrap_or(0);
    let score = moves.iter().find(|&&(other, _)| other == pit).map_or(best, |&(_, score)| score);
    let lost = u64::from(best - score);
    Ok(Accuracy { moves: 1, mistakes: u64::from(lost > 0), lost })
}

/// Start positions: each is `start` after `moves` random moves, and is not a finished game. The same seed gives
/// the same positions.
pub fn random_starts(rules: Rules, start: &Position, moves: u32, count: usize, seed: u64) -> Vec<Position> {
    let mut random = generator(seed);
    let mut one = || {
        let mut position = *start;
        for _ in 0..moves {
            let pits: Vec<Pit> = position.moves().collect();
            let played = choice(&mut random, &pits).and_then(|pit| position.play(rules, pit).ok());
            match played.map(|played| played.position).filter(|next| !next.is_over()) {
                Some(next) => position = next,
                None => break,
            }
        }
        position
    };
    (0..count).map(|_| one()).collect()
}
