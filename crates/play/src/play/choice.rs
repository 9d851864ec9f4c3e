use std::fmt;

use kalah_base::printable::signed;
use kalah_core::game::Pit;

/// A move with its worth and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move.
    pub pit: Pit,
    /// Value of the move for the mover, as far as the player has found it.
    pub worth: Worth,
    /// Source of the move.
    pub source: Source,
}

/// Worth of a move, as final store differences for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// Proved: the value, which no other move exceeds.
    Exact(i64),
    /// Proved: the value of the move is at least `lower`, and that of every move at most `upper`.
    Bounds {
        /// Lower bound of the move.
        lower: i64,
        /// Upper bound of the position.
        upper: i64,
    },
    /// Not proved: the player's evaluation, which need not be a store difference.
    Evaluation(i64),
    /// The player does not evaluate moves.
    Unknown,
}

/// Source of a player's move.
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
    /// The only move.
    OnlyMove,
    /// By the claims of a certificate.
    Certificate,
    /// From an external engine. Even a worth reported as proved is only the engine's claim.
    Engine,
}

impl Source {
    /// The name in JSON; for a rule, the name of the rule.
    pub fn name(self) -> &'static str {
        match self {
            Source::Tables => "tables",
            Source::Book => "book",
            Source::Solver => "solver",
            Source::Bound => "bound",
            Source::Depth(_) => "depth",
            Source::Rule(rule) => rule,
            Source::OnlyMove => "only-move",
            Source::Certificate => "certificate",
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
            Source::Certificate => f.write_str("by the certificate"),
            Source::Engine => f.write_str("by the engine's word"),
        }
    }
}
