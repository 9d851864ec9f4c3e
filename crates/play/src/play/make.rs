use kalah_solve::solve::Method;

use super::depth_limited::DepthLimited;
use super::name::PlayerName;
use super::pekar::{Heuristic, Minimax};
use super::perfect::Perfect;
use super::plain::{Greedy, Random};
use super::{Player, Setting};

impl PlayerName {
    /// Makes the player.
    pub fn player<'t>(self, setting: &Setting<'t>) -> Box<dyn Player + 't> {
        let rules = setting.rules;
        match self {
            PlayerName::Perfect => Box::new(Perfect::new(*setting)),
            PlayerName::Minimax(depth) => Box::new(DepthLimited::new(self, rules, Method::SeqMm, depth)),
            PlayerName::AlphaBeta(depth) => Box::new(DepthLimited::new(self, rules, Method::SeqAb, depth)),
            PlayerName::Heuristic => Box::new(Heuristic),
            PlayerName::Minimax2(depth) => Box::new(Minimax::new(self, rules, depth, false)),
            PlayerName::Minimax3(depth) => Box::new(Minimax::new(self, rules, depth, true)),
            PlayerName::Greedy => Box::new(Greedy { rules }),
            PlayerName::Random(seed) => Box::new(Random::new(seed, setting.game)),
        }
    }
}
