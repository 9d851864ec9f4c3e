use std::time::{Duration, Instant};

use kalah_core::cancel::Cancel;
use kalah_core::game::{Line, Position, Rules};

use super::{Choice, PlayError, Player};

/// A move of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MoveMade {
    /// The position before it; the mover is South.
    pub position: Position,
    /// True if the first player made it.
    pub first: bool,
    /// The move, with its worth and source.
    pub choice: Choice,
    /// Seconds that its player took.
    pub seconds: f64,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Game {
    /// The position at the start; the first player is South.
    pub start: Position,
    /// All moves.
    pub moves: Vec<MoveMade>,
    /// Seeds of the first and the second player at the end, the seeds left in their rows included. In a
    /// forfeited game the other player gets all seeds.
    pub seeds: [u32; 2],
    /// The forfeit, if the game was forfeited.
    pub forfeit: Option<Forfeit>,
}

/// Loss of a game by a fault of an external engine.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forfeit {
    /// True if the first player forfeits the game.
    pub first: bool,
    /// The fault.
    pub fault: String,
}

impl Game {
    /// Final store difference for the first player.
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

/// Plays a game from `start`; the first player is to move. Each move takes at most `time`, if there is a limit,
/// and is checked by the rules. An external engine with a fault forfeits the game.
///
/// # Errors
/// If one of our players fails, or `cancel` is cancelled before the game is over.
///
/// # Panics
/// If one of our players makes an illegal move.
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
        let played = position.play(rules, choice.pit).expect("players make legal moves");
        moves.push(MoveMade { position, first, choice, seconds });
        (position, first) = (played.position, first == played.again);
    }
    let end = if first { position } else { position.turned() };
    let seeds = [end.mover_store() + end.mover().total(), end.other_store() + end.other().total()];
    Ok(Game { start: *start, moves, seeds, forfeit: None })
}
