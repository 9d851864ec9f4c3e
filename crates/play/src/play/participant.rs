use std::fmt;
use std::str::FromStr;

use kalah_core::cancel::Cancel;
use kalah_core::game::Position;

use super::engine::{BadEngineCommand, EngineCommand, External, PREFIX};
use super::name::{PlayerName, UnknownPlayer};
use super::{PlayError, Player, Setting};

/// A participant of a game: one of our players, or an external engine, written `engine:COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Participant {
    /// One of our players.
    Player(PlayerName),
    /// An external engine, which speaks the protocol of `docs/engine.md`.
    Engine(EngineCommand),
}

/// Error: a text that is not a participant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownParticipant {
    /// It is neither a player nor begins with `engine:`.
    #[error("{0}, and engine:COMMAND for another program")]
    Player(#[from] UnknownPlayer),
    /// Its command line cannot be read.
    #[error("{0}")]
    Engine(#[from] BadEngineCommand),
}

impl Participant {
    /// Makes the player. An engine is started for its first position.
    pub fn player<'t>(&self, setting: &Setting<'t>) -> Box<dyn Player + 't> {
        match self {
            Participant::Player(name) => name.player(setting),
            Participant::Engine(command) => Box::new(External::new(command.clone(), setting.rules)),
        }
    }

    /// Returns true if it is an external engine.
    pub fn is_engine(&self) -> bool {
        matches!(self, Participant::Engine(_))
    }

    /// Starts and ends an external engine once, to check that it can play from `start`. Other players need no
    /// check.
    ///
    /// # Errors
    /// If it cannot be started, does not answer, or does not play by the rules of the setting.
    pub fn try_out(&self, setting: &Setting, start: &Position, cancel: &Cancel) -> Result<(), PlayError> {
        if self.is_engine() { self.player(setting).prepare(start, cancel) } else { Ok(()) }
    }
}

impl From<PlayerName> for Participant {
    fn from(name: PlayerName) -> Participant {
        Participant::Player(name)
    }
}

impl FromStr for Participant {
    type Err = UnknownParticipant;

    fn from_str(text: &str) -> Result<Participant, UnknownParticipant> {
        Ok(match text.strip_prefix(PREFIX) {
            Some(command) => Participant::Engine(command.parse()?),
            None => Participant::Player(text.parse()?),
        })
    }
}

impl fmt::Display for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Participant::Player(name) => name.fmt(f),
            Participant::Engine(command) => write!(f, "{PREFIX}{command}"),
        }
    }
}
