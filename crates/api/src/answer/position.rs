use std::fmt;

use kalah_core::game::{Bounds, Line, Pit, Position, Rules, Trace, ValueBounds};
use kalah_core::table::{Probe, Tables};
use kalah_core::text::count;
use kalah_solve::book::{Book, BookError, Recalled};
use serde::Serialize;

use super::value::Value;

/// Seeds of one pit, taken up and sown. Places are numbered in sowing order from the mover's first pit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Lift {
    /// Place that the seeds are taken from.
    from: usize,
    /// Places that they fall into.
    drops: Vec<usize>,
}

/// Effects of a move.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MoveEffects {
    /// Position after the move, as the next player to move sees it.
    next: String,
    /// True if the same player moves again.
    again: bool,
    /// True if the game is over.
    finished: bool,
    /// Sowings of the move: the first one, and one for each relay.
    sowing: Vec<Lift>,
    /// Places whose seeds are captured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    captured: Vec<usize>,
}

impl MoveEffects {
    /// Returns the effects of a legal move.
    pub(crate) fn new(rules: Rules, position: &Position, pit: Pit) -> MoveEffects {
        let played = position.play(rules, pit).expect("the move is legal");
        let trace = Trace::of(rules, position.mover(), position.other(), pit);
        MoveEffects {
            next: played.position.to_string(),
            again: played.again,
            finished: played.position.is_over(),
            sowing: trace.lifts.into_iter().map(|lift| Lift { from: lift.from, drops: lift.drops }).collect(),
            captured: trace.captured,
        }
    }
}

/// A legal move with what is known of its value. Positions of a game leave out its effects.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ValuedMove {
    /// Number of the pit, from 1.
    r#move: usize,
    /// Seeds in play that the mover collects, if the value is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<u32>,
    #[serde(flatten)]
    value: Value,
    #[serde(flatten)]
    sown: Option<MoveEffects>,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    /// Result for the position.
    pub value: Value,
    /// Depth of the evaluations, counted by turns; by moves on boards too large for a solver, and if turns may be
    /// endless.
    pub ahead: u32,
    /// Results for the legal moves.
    pub moves: Vec<(Pit, Value)>,
    /// Line of best play, if the value was proved and time was left.
    pub line: Option<Line>,
    /// Nodes searched by the solver.
    pub nodes: u64,
}

impl Analysis {
    /// Returns true if the value of the position and those of all moves are proved.
    pub(crate) fn is_proved(&self) -> bool {
        self.value.value().is_some() && self.moves.iter().all(|(_, value)| value.value().is_some())
    }
}

/// Where an answer about a position comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The rules: the game is over.
    Rules,
    /// The tables.
    Tables,
    /// The book.
    Book,
    /// A search that proved the value.
    #[default]
    Solver,
    /// A search that proved bounds.
    Bound,
    /// A search of limited depth, which proves nothing.
    Depth,
}

/// Answer about a position.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PositionAnswer {
    position: String,
    rules: &'static str,
    /// Seeds in play.
    seeds: u32,
    /// Seeds in play that the mover collects, if the value is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<u32>,
    #[serde(flatten)]
    value: Value,
    source: Source,
    /// Depth of the evaluations.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    moves: Vec<ValuedMove>,
    /// Best moves, proved if the value is exact.
    best: Vec<usize>,
    /// Line of best play.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    /// True if the line stops before the end of the game, where book and tables end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    line_open: bool,
    /// True if the game is over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    finished: bool,
}

impl PositionAnswer {
    /// Returns the answer without the effects of moves.
    pub(crate) fn without_sowing(mut self) -> PositionAnswer {
        self.moves.iter_mut().for_each(|one| one.sown = None);
        self
    }

    /// Returns an answer without best moves, depth and line.
    fn new(
        rules: Rules,
        position: &Position,
        value: Value,
        source: Source,
        moves: impl Iterator<Item = (Pit, Value)>,
    ) -> PositionAnswer {
        let score = |value: Value| value.value().map(|value| position.score(value));
        let valued = |(pit, value): (Pit, Value)| ValuedMove {
            r#move: pit.number(),
            score: score(value),
            value,
            sown: Some(MoveEffects::new(rules, position, pit)),
        };
        PositionAnswer {
            position: position.to_string(),
            rules: rules.name(),
            seeds: position.seeds(),
            score: score(value),
            value,
            source,
            depth: None,
            moves: moves.map(valued).collect(),
            best: Vec::new(),
            line: None,
            line_open: false,
            finished: position.is_over(),
        }
    }

    /// Returns the answer of the tables, or of the rules if the game is over. It has a line if one was looked up.
    pub fn probed(rules: Rules, probe: &Probe) -> PositionAnswer {
        let (position, line) = (&probe.position, &probe.line);
        let source = if position.is_over() { Source::Rules } else { Source::Tables };
        let moves = probe.moves.iter().map(|&(pit, score)| (pit, Value::exact(position.value(score))));
        PositionAnswer {
            best: probe.best().map(Pit::number).collect(),
            line: (position.is_over() || !line.turns().is_empty()).then(|| line.to_string()),
            ..PositionAnswer::new(rules, position, Value::exact(probe.value), source, moves)
        }
    }

    /// Returns the answer of `book`, with `tables` for the rest of the line; `None` if it has no bounds.
    ///
    /// # Errors
    /// If a table is damaged, or the book contradicts it.
    pub fn of_book(
        book: &Book,
        position: &Position,
        tables: Option<&Tables>,
    ) -> Result<Option<PositionAnswer>, BookError> {
        let recalled = book.recall(position, tables)?;
        let is_known = recalled.from_book && (book.get(position).is_some() || recalled.score().is_some());
        is_known.then(|| PositionAnswer::recalled(book, position, tables, &recalled)).transpose()
    }

    /// Returns the answer of `book`, which has `recalled` the position with these tables: bounds of its value and of
    /// those of its moves, and a line of best play if the value is exact.
    pub(crate) fn recalled(
        book: &Book,
        position: &Position,
        tables: Option<&Tables>,
        recalled: &Recalled,
    ) -> Result<PositionAnswer, BookError> {
        let proved = |bounds: Bounds| {
            let [lower, upper] = [bounds.lower, bounds.upper].map(|score| position.value(score));
            Value::new(ValueBounds { lower, upper }).beyond_stores(position)
        };
        let line = recalled.score().map(|_| book.line(position, tables)).transpose()?;
        let moves = recalled.moves.iter().map(|&(pit, bounds)| (pit, proved(bounds)));
        Ok(PositionAnswer {
            best: recalled.best().map(Pit::number).collect(),
            line_open: line.as_ref().is_some_and(|(_, complete)| !complete),
            line: line.map(|(line, _): (Line, bool)| line.to_string()),
            ..PositionAnswer::new(book.rules(), position, proved(recalled.bounds), Source::Book, moves)
        })
    }

    /// Returns the answer of a search.
    pub(crate) fn searched(rules: Rules, position: &Position, analysis: &Analysis) -> PositionAnswer {
        let Analysis { value, ahead, ref moves, ref line, .. } = *analysis;
        let best = value.value().or_else(|| moves.iter().filter_map(|(_, value)| value.apparent()).max());
        let keeps = |move_value: &Value| match value.value() {
            Some(_) => move_value.value() == best,
            None => move_value.apparent() == best,
        };
        let source = match (value.value(), value.bounds()) {
            (Some(_), _) => Source::Solver,
            (None, Some(_)) => Source::Bound,
            (None, None) => Source::Depth,
        };
        PositionAnswer {
            depth: value.is_estimated().then_some(ahead),
            best: moves.iter().filter(|(_, value)| keeps(value)).map(|(pit, _)| pit.number()).collect(),
            line: line.as_ref().map(ToString::to_string),
            ..PositionAnswer::new(rules, position, value, source, moves.iter().copied())
        }
    }
}

impl fmt::Display for PositionAnswer {
    /// Writes the answer as lines of text: scores of the moves from tables, otherwise their values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = if self.finished { "the game is over: " } else { "" };
        let score = self.score.map_or(String::new(), |score| format!("score {score} of the "));
        let (seeds, value) = (count(self.seeds as usize, "seed"), self.value.words("unknown"));
        let from = if self.source == Source::Book { ", from the book" } else { "" };
        write!(f, "{}\n  {over}{score}{seeds} in play, value {value}{from}", self.position)?;
        if self.finished {
            return Ok(());
        }
        let of_move = |one: &ValuedMove| match one.score {
            Some(score) if self.source == Source::Tables => format!("{}: {score}", one.r#move),
            _ => format!("{}: {}", one.r#move, one.value.words("unknown")),
        };
        let moves: Vec<String> = self.moves.iter().map(of_move).collect();
        match self.source {
            Source::Tables => write!(f, "\n  moves  {}", moves.join("  "))?,
            _ => write!(f, "\n  values of the moves  {}", moves.join(", "))?,
        }
        write_play(f, &self.best, self.line.as_deref(), if self.line_open { " ... (the book ends here)" } else { "" })
    }
}

/// Writes the best moves, and a line of best play with `open` after it, as lines of text; what is empty is left out.
pub(super) fn write_play(f: &mut fmt::Formatter<'_>, best: &[usize], line: Option<&str>, open: &str) -> fmt::Result {
    if !best.is_empty() {
        write!(f, "\n  best   {}", best.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))?;
    }
    line.filter(|line| !line.is_empty()).map_or(Ok(()), |line| write!(f, "\n  line   {line}{open}"))
}

/// Answer of the opening explorer: of the book, the tables and the rules.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExplorerAnswer {
    #[serde(flatten)]
    pub(crate) known: PositionAnswer,
    /// True if the book has the position or one after its moves; otherwise the answer is from the tables and the rules.
    pub(crate) in_book: bool,
}

/// Reason of the end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// The values of the position and of all moves are proved.
    Proved,
    /// The time is over, or the server stops.
    Time,
    /// Nothing more can be found.
    Depth,
}

/// Answer of a streaming search, during the search or at its end.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchAnswer {
    /// Results.
    #[serde(flatten)]
    pub known: PositionAnswer,
    /// Nodes searched by the solver.
    pub(crate) nodes: u64,
    pub(crate) seconds: f64,
    /// Reason of the end; absent during the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

impl SearchAnswer {
    /// Returns the answer of a search that was not necessary.
    pub fn at_once(known: PositionAnswer, seconds: f64) -> SearchAnswer {
        SearchAnswer { known, nodes: 0, seconds, ended: Some(Ended::Proved) }
    }
}
