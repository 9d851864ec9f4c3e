use std::fmt;
use std::str::FromStr;

use kalah_core::game::Rules;
use kalah_solve::solve::{Method, Solver};

use super::depth_limited::DepthLimited;
use super::engine::{External, PREFIX, words};
use super::name::{PlayerName, UnknownPlayer};
use super::pekar::{Heuristic, Minimax};
use super::perfect::Perfect;
use super::plain::{Greedy, Random};
use super::{Player, Setting};

/// A participant of a game: one of our players, or an external engine, written `engine:COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Participant {
    /// One of our players.
    Player(PlayerName),
    /// The command line of an external engine, which speaks the protocol of `docs/engine.md`: a program and its
    /// arguments, split as a POSIX shell does, without a shell.
    Engine(String),
}

impl Participant {
    /// Makes the player. An engine is started for its first position.
    pub fn player<'t>(&self, setting: &Setting<'t>) -> Box<dyn Player + 't> {
        match self {
            Participant::Player(name) => name.player(setting),
            Participant::Engine(command) => Box::new(External::new(command, setting.rules)),
        }
    }

    /// Returns true if it is an external engine.
    pub fn is_engine(&self) -> bool {
        matches!(self, Participant::Engine(_))
    }
}

impl From<PlayerName> for Participant {
    fn from(name: PlayerName) -> Participant {
        Participant::Player(name)
    }
}

impl FromStr for Participant {
    type Err = String;

    fn from_str(text: &str) -> Result<Participant, String> {
        Ok(match text.strip_prefix(PREFIX) {
            Some(command) => words(command).map(|_| Participant::Engine(command.trim().to_owned()))?,
            None => {
                let unknown = |error: UnknownPlayer| format!("{error}, and engine:COMMAND for another program");
                Participant::Player(text.parse().map_err(unknown)?)
            }
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

impl PlayerName {
    /// Makes the player.
    pub fn player<'t>(self, setting: &Setting<'t>) -> Box<dyn Player + 't> {
        match self.player_without_tables(setting.rules, setting.game) {
            Some(player) => player,
            None => Box::new(Perfect::new(*setting, None)),
        }
    }

    /// Makes a perfect player that searches with `solver`, whose proved results others share.
    pub fn perfect_with<'t>(setting: &Setting<'t>, solver: Solver<'t>) -> Box<dyn Player + 't> {
        Box::new(Perfect::new(*setting, Some(solver)))
    }

    /// Makes a player that uses no tables, book or solver; `None` for `perfect`, which does. `game` is that of
    /// [`Setting`].
    pub fn player_without_tables(self, rules: Rules, game: u64) -> Option<Box<dyn Player>> {
        Some(match self {
            PlayerName::Perfect => return None,
            PlayerName::Minimax(depth) => Box::new(DepthLimited::new(self, rules, Method::SeqMm, depth)),
            PlayerName::AlphaBeta(depth) => Box::new(DepthLimited::new(self, rules, Method::SeqAb, depth)),
            PlayerName::Heuristic => Box::new(Heuristic),
            PlayerName::Minimax2(depth) => Box::new(Minimax::new(self, rules, depth, false)),
            PlayerName::Minimax3(depth) => Box::new(Minimax::new(self, rules, depth, true)),
            PlayerName::Greedy => Box::new(Greedy { rules }),
            PlayerName::Random(seed) => Box::new(Random::new(seed, game)),
        })
    }
}
