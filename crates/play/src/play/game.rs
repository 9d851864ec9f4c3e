use std::time::{Duration, Instant};

use kalah_core::cancel::Cancel;
use kalah_core::game::{Line, Position, Rules};

use super::fault::EngineFault;
use super::{Choice, PlayError, Player};

/// A move of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MoveMade {
    /// The position before it, the mover South.
    pub position: Position,
    /// Whether the first player made it.
    pub first: bool,
    /// The move, and what its player knew.
    pub choice: Choice,
    /// The seconds that its player took.
    pub seconds: f64,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Game {
    /// The position at the start, the first player South.
    pub start: Position,
    /// All moves.
    pub moves: Vec<MoveMade>,
    /// What the first and the second player hold in the end, the seeds left in their rows included. Of a forfeited game the
    /// other player gets all seeds.
    pub seeds: [u32; 2],
    /// How the game was forfeited, if it was.
    pub forfeit: Option<Forfeit>,
}

/// A game that an external engine lost by a fault.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forfeit {
    /// Whether the first player forfeits the game.
    pub first: bool,
    /// What it did.
    pub fault: EngineFault,
}

impl Game {
    /// The final difference for the first player.
    pub fn value(&self) -> i64 {
        i64::from(self.seeds[0]) - i64::from(self.seeds[1])
    }

    /// The moves, turn by turn.
    pub fn line(&self) -> Line {
        let mut line = Line::new(self.start.pits());
        for turn in self.moves.chunk_by(|a, b| a.first == b.first) {
            line.push(turn.iter().map(|made| made.choice.pit).collect());
        }
        line
    }
}

/// Plays a game from `start`, the first player to move, each move within `time` if there is one. Every move is checked by the
/// rules. An external engine that does something wrong forfeits the game.
///
/// # Errors
/// When one of our players fails or plays what is not legal, or `cancel` is cancelled before the game is over.
pub fn play_game(
    rules: Rules,
    start: &Position,
    players: &mut [Box<dyn Player + '_>; 2],
    time: Option<Duration>,
    cancel: &Cancel,
) -> Result<Game, PlayError> {
    let (mut position, mut first, mut moves) = (*start, true, Vec::new());
    let forfeited = |moves, first: bool, error| match error {
        _ if cancel.is_cancelled() => Err(PlayError::Stopped),
        PlayError::Engine { fault, .. } => {
            let all = start.seeds() + start.mover_store() + start.other_store();
            let seeds = if first { [0, all] } else { [all, 0] };
            Ok(Game { start: *start, moves, seeds, forfeit: Some(Forfeit { first, fault }) })
        }
        error => Err(error),
    };
    for (player, first) in players.iter_mut().zip([true, false]) {
        if let Err(error) = player.prepare(start, cancel) {
            return forfeited(moves, first, error);
        }
    }
    while !position.is_over() {
        cancel.check()?;
        let player = &mut players[usize::from(!first)];
        let in_time = time.map_or_else(|| cancel.clone(), |time| cancel.within(time));
        let begin = Instant::now();
        let choice = match player.choose(&position, &in_time, &mut |_| ()) {
            Ok(choice) => choice,
            Err(error) => return forfeited(moves, first, error),
        };
        let seconds = begin.elapsed().as_secs_f64();
        cancel.check()?;
        let played = position.play(rules, choice.pit);
        let played = played.map_err(|source| PlayError::Illegal { player: player.name(), source })?;
        moves.push(MoveMade { position, first, choice, seconds });
        (position, first) = (played.position, first == played.again);
    }
    let end = if first { position } else { position.turned() };
    let seeds = [end.mover_store() + end.mover().total(), end.other_store() + end.other().total()];
    Ok(Game { start: *start, moves, seeds, forfeit: None })
}
