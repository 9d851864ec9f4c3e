use std::fmt;
use std::str::FromStr;

use super::lookahead::Lookahead;
use super::perfect::Perfect;
use super::plain::{Greedy, Random};
use super::{Player, Setting};
use crate::solve::Method;

/// The most moves or turns a player may be asked to look ahead.
const MAX_DEPTH: u32 = 99;

/// A player by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlayerName {
    /// `perfect`: the tables, then the solver; where nothing is proved in time, what looks best some turns later.
    Perfect,
    /// `minimax:D`: minimax by store difference, D moves ahead (Gonai and Cendejas 2022, section 3.3).
    Minimax(u32),
    /// `alphabeta:D`: alpha-beta by store difference, D moves ahead; plays as minimax does.
    AlphaBeta(u32),
    /// `greedy`: the move that stores most.
    Greedy,
    /// `random` or `random:SEED`: any move.
    Random(u64),
}

/// A text that names no player.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown player '{0}': the players are {known}; D is 1 to {MAX_DEPTH}", known = PlayerName::KNOWN.join(", "))]
pub struct UnknownPlayer(String);

impl PlayerName {
    /// All names, with D for a depth and SEED for a number.
    pub const KNOWN: [&str; 5] = ["perfect", "minimax:D", "alphabeta:D", "greedy", "random:SEED"];

    /// Makes the player.
    pub fn player<'t>(self, setting: &Setting<'t>) -> Box<dyn Player + 't> {
        let rules = setting.rules;
        match self {
            PlayerName::Perfect => Box::new(Perfect::new(*setting)),
            PlayerName::Minimax(depth) => Box::new(Lookahead::new(self, rules, Method::SeqMm, depth)),
            PlayerName::AlphaBeta(depth) => Box::new(Lookahead::new(self, rules, Method::SeqAb, depth)),
            PlayerName::Greedy => Box::new(Greedy { rules }),
            PlayerName::Random(seed) => Box::new(Random::new(seed, setting.game)),
        }
    }
}

impl FromStr for PlayerName {
    type Err = UnknownPlayer;

    fn from_str(text: &str) -> Result<PlayerName, UnknownPlayer> {
        let (kind, number) = text.split_once(':').map_or((text, None), |(kind, number)| (kind, Some(number)));
        // Digits alone: a plus sign is none of ours.
        let number = number.map(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()));
        let number: Option<Option<u64>> = number.map(Option::flatten);
        let depth =
            || number.flatten().and_then(|depth| u32::try_from(depth).ok()).filter(|d| (1..=MAX_DEPTH).contains(d));
        let name = match (kind, number) {
            ("perfect", None) => Some(PlayerName::Perfect),
            ("minimax", _) => depth().map(PlayerName::Minimax),
            ("alphabeta", _) => depth().map(PlayerName::AlphaBeta),
            ("greedy", None) => Some(PlayerName::Greedy),
            ("random", None) => Some(PlayerName::Random(0)),
            ("random", Some(seed)) => seed.map(PlayerName::Random),
            _ => None,
        };
        name.ok_or_else(|| UnknownPlayer(text.to_owned()))
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerName::Perfect => f.write_str("perfect"),
            PlayerName::Minimax(depth) => write!(f, "minimax:{depth}"),
            PlayerName::AlphaBeta(depth) => write!(f, "alphabeta:{depth}"),
            PlayerName::Greedy => f.write_str("greedy"),
            PlayerName::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}
