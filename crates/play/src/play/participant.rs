use std::fmt;
use std::str::FromStr;

use kalah_core::cancel::Cancel;
use kalah_core::game::Position;

use super::engine::{BadEngineCommand, EngineCommand, External, PREFIX};
use super::name::{PlayerName, UnknownPlayer};
use super::{PlayError, Player, Setting};

/// Who can play in a game: one of our players, or an external engine, written `engine:COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Participant {
    /// One of ours.
    Player(PlayerName),
    /// An external engine, which speaks the protocol of `docs/engine.md`.
    Engine(EngineCommand),
}

/// A text that names no participant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownParticipant {
    /// It is no player, and does not begin as an engine does.
    #[error("{0}; or engine:COMMAND, another program")]
    Player(#[from] UnknownPlayer),
    /// Its command line cannot be read.
    #[error("{0}")]
    Engine(#[from] BadEngineCommand),
}

impl Participant {
    /// Makes the player. An engine is started when it is asked first.
    pub fn player<'t>(&self, setting: &Setting<'t>) -> Box<dyn Player + 't> {
        match self {
            Participant::Player(name) => name.player(setting),
            Participant::Engine(command) => Box::new(External::new(command.clone(), setting.rules)),
        }
    }

    /// Whether it is an external engine.
    pub fn is_engine(&self) -> bool {
        matches!(self, Participant::Engine(_))
    }

    /// Starts and ends an external engine once, to see whether it could play from `start`. Nothing is done for other players.
    ///
    /// # Errors
    /// When it cannot be started, does not answer, or does not play by the rules of the setting.
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
