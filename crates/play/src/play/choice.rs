use std::fmt;

use kalah_core::game::Pit;
use kalah_tables::printable::signed;

/// A move, what the player knows of its value, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move.
    pub pit: Pit,
    /// What it is worth to the mover, as far as the player knows.
    pub worth: Worth,
    /// How the player came to it.
    pub source: Source,
}

/// What is known of a move: final store differences for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// Proved: the value, which no other move exceeds.
    Exact(i64),
    /// Proved: the move is worth at least `lower`, and no move more than `upper`.
    Bounds {
        /// What it is worth at least.
        lower: i64,
        /// What the position is worth at most.
        upper: i64,
    },
    /// Not proved: the player's evaluation, which need not be a store difference.
    Evaluation(i64),
    /// The player does not weigh moves.
    Unknown,
}

/// How a player came to a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// By the tables.
    Tables,
    /// By the book.
    Book,
    /// By the solver, above the tables.
    Solver,
    /// By a bound that the solver proved before the limit.
    Bound,
    /// By a search to this depth: moves or turns, as the player counts.
    Depth(u32),
    /// By a named heuristic rule.
    Rule(&'static str),
    /// There is no other move.
    OnlyMove,
    /// By an external engine. What the move is worth is only what it says, also where it says that it is proved.
    Engine,
}

impl Source {
    /// The name in JSON; of a rule, the rule's.
    pub fn name(self) -> &'static str {
        match self {
            Source::Tables => "tables",
            Source::Book => "book",
            Source::Solver => "solver",
            Source::Bound => "bound",
            Source::Depth(_) => "depth",
            Source::Rule(rule) => rule,
            Source::OnlyMove => "only-move",
            Source::Engine => "engine",
        }
    }
}

impl fmt::Display for Worth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Worth::Exact(value) => write!(f, "value {}", signed(*value)),
            Worth::Bounds { lower, upper } => write!(f, "proved {} to {}", signed(*lower), signed(*upper)),
            Worth::Evaluation(value) => write!(f, "evaluation {}", signed(*value)),
            Worth::Unknown => f.write_str("no evaluation"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Tables => f.write_str("from the tables"),
            Source::Book => f.write_str("from the book"),
            Source::Solver => f.write_str("proved by the solver"),
            Source::Bound => f.write_str("the best bound so far"),
            Source::Depth(depth) => write!(f, "searched to depth {depth}"),
            Source::Rule(rule) => write!(f, "by {rule}"),
            Source::OnlyMove => f.write_str("the only move"),
            Source::Engine => f.write_str("by the engine's word"),
        }
    }
}
