use std::fmt;

use kalah_analyse::Puzzle;
use kalah_core::game::{Position, Rules};
use kalah_play::play::{Choice, Source};
use serde::Serialize;

use super::position::MoveEffects;
use super::value::Value;

/// Position on a line of play, and the move played there; no move at the end.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PlaceAnswer {
    pub(crate) position: String,
    /// True if the player to move is the one who moved first.
    pub(crate) first: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) r#move: Option<usize>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) sown: Option<MoveEffects>,
}

/// Line of play.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineAnswer {
    pub(crate) rules: &'static str,
    pub(crate) places: Vec<PlaceAnswer>,
}

/// Move that a player chose, with its effects. The first module of a page has no code for the time in seconds.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChosenMove {
    position: String,
    rules: &'static str,
    player: String,
    r#move: usize,
    #[serde(flatten)]
    value: Value,
    /// Source of the choice, such as `tables`, `book`, `solver`, or the name of a rule.
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(flatten)]
    sown: MoveEffects,
}

/// Move that a player chose, and the time that it took.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MoveAnswer {
    #[serde(flatten)]
    chosen: ChosenMove,
    seconds: f64,
    #[serde(skip)]
    choice: Choice,
}

impl fmt::Display for MoveAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ChosenMove { position, player, .. }, Choice { pit, worth, source }) = (&self.chosen, self.choice);
        write!(f, "{position}\n  {player}  move {pit}, {worth}, {source}")
    }
}

impl MoveAnswer {
    /// Returns the answer of a `player` who chose within these seconds.
    pub fn new(rules: Rules, position: &Position, player: String, choice: &Choice, seconds: f64) -> MoveAnswer {
        MoveAnswer { chosen: ChosenMove::new(rules, position, player, choice), seconds, choice: *choice }
    }
}

impl ChosenMove {
    pub(crate) fn new(rules: Rules, position: &Position, player: String, choice: &Choice) -> ChosenMove {
        ChosenMove {
            position: position.to_string(),
            rules: rules.name(),
            player,
            r#move: choice.pit.number(),
            value: choice.worth.into(),
            source: choice.source.name(),
            depth: if let Source::Depth(depth) = choice.source { Some(depth) } else { None },
            sown: MoveEffects::new(rules, position, choice.pit),
        }
    }
}

/// A puzzle: a position in which only one move keeps the win or the draw.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PuzzleAnswer {
    /// The position.
    pub position: String,
    /// The rule set.
    pub rules: &'static str,
    /// Seeds in play.
    pub seeds: u32,
    /// The number of the pit, from 1.
    pub r#move: usize,
    /// The outcome that the move keeps for the mover.
    #[cfg_attr(test, schemars(extend("enum" = ["win", "draw"])))]
    pub outcome: &'static str,
    /// The value of the position.
    pub value: i64,
    /// The value of the second best move.
    pub second: i64,
    /// The difference of these values.
    pub gap: i64,
    /// The line of best play.
    pub line: String,
    /// Number of turns of the line.
    pub turns: usize,
    /// Smallest depth of a search that finds the move.
    pub depth: u32,
    /// Level of difficulty.
    #[cfg_attr(test, schemars(extend("enum" = ["easy", "medium", "hard"])))]
    pub level: &'static str,
    /// The day that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// The number that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl From<&Puzzle> for PuzzleAnswer {
    fn from(puzzle: &Puzzle) -> PuzzleAnswer {
        PuzzleAnswer {
            position: puzzle.position.to_string(),
            rules: puzzle.rules.name(),
            seeds: puzzle.position.seeds(),
            r#move: puzzle.pit.number(),
            outcome: if puzzle.value > 0 { "win" } else { "draw" },
            value: puzzle.value,
            second: puzzle.second,
            gap: puzzle.gap(),
            line: puzzle.line.to_string(),
            turns: puzzle.line.turns().len(),
            depth: puzzle.depth,
            level: puzzle.level().name(),
            day: None,
            seed: None,
        }
    }
}
