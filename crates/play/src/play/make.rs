use kalah_core::game::Rules;
use kalah_solve::solve::{Method, Solver};

use super::depth_limited::DepthLimited;
use super::name::PlayerName;
use super::pekar::{Heuristic, Minimax};
use super::perfect::Perfect;
use super::plain::{Greedy, Random};
use super::{Player, Setting};

impl PlayerName {
    /// Makes the player.
    pub fn player<'t>(self, setting: &Setting<'t>) -> Box<dyn Player + 't> {
        match self.player_without_tables(setting.rules, setting.game) {
            Some(player) => player,
            None => Box::new(Perfect::new(*setting)),
        }
    }

    /// Makes a perfect player that searches with `solver`, whose proved results others share.
    pub fn perfect_with<'t>(setting: &Setting<'t>, solver: Solver<'t>) -> Box<dyn Player + 't> {
        Box::new(Perfect::with(*setting, solver))
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
