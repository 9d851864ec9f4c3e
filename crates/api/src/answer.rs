//! JSON documents of answers. Names and meanings are those of `kalah probe --json` and `kalah move --json`.

use kalah_core::game::{Bounds, Line, MAX_PITS, Pit, Position, Rules, Trace, ValueBounds};
use kalah_core::table::{Listing, Probe};
use kalah_play::play::{Choice, PlayerName, Source, Worth};
use kalah_solve::book::{Books, Recalled};
use serde::Serialize;

use super::analysis::{Analysis, Assessment};

/// A value, bounds of it, or an evaluation.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "known", rename_all = "lowercase")]
enum Value {
    Exact {
        value: i64,
    },
    Bounds {
        lower: i64,
        upper: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        estimate: Option<i64>,
    },
    Estimate {
        estimate: i64,
    },
}

impl Value {
    /// Returns `None` if nothing is proved or evaluated.
    fn new(Assessment { bounds, evaluation: estimate }: Assessment) -> Option<Value> {
        match bounds {
            Some(ValueBounds { lower, upper }) if lower == upper => Some(Value::Exact { value: lower }),
            Some(ValueBounds { lower, upper }) => Some(Value::Bounds { lower, upper, estimate }),
            None => estimate.map(|estimate| Value::Estimate { estimate }),
        }
    }

    fn of_choice(worth: Worth) -> Option<Value> {
        match worth {
            Worth::Exact(value) => Some(Value::Exact { value }),
            Worth::Bounds { lower, upper } => Some(Value::Bounds { lower, upper, estimate: None }),
            Worth::Evaluation(estimate) => Some(Value::Estimate { estimate }),
            Worth::Unknown => None,
        }
    }

    /// Returns the value, if it is proved.
    fn exact(self) -> Option<i64> {
        if let Value::Exact { value } = self { Some(value) } else { None }
    }
}

/// Seeds of one pit, taken up and sown.
#[derive(Clone, Debug, Serialize)]
struct Lift {
    from: usize,
    drops: Vec<usize>,
}

/// Effects of a move.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MoveEffects {
    /// Position after the move, as the next player to move sees it.
    next: String,
    again: bool,
    finished: bool,
    sowing: Vec<Lift>,
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

#[derive(Clone, Debug, Serialize)]
struct Move {
    r#move: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<u32>,
    #[serde(flatten)]
    value: Option<Value>,
    #[serde(flatten)]
    sown: Option<MoveEffects>,
}

impl Move {
    fn new(rules: Rules, position: &Position, pit: Pit, assessment: Assessment) -> Move {
        Move {
            r#move: pit.number(),
            score: assessment.value().map(|value| position.score(value)),
            value: Value::new(assessment),
            sown: Some(MoveEffects::new(rules, position, pit)),
        }
    }
}

/// Answer about a position.
#[derive(Clone, Debug, Serialize)]
pub struct PositionAnswer {
    position: String,
    rules: &'static str,
    seeds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<u32>,
    #[serde(flatten)]
    value: Option<Value>,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    moves: Vec<Move>,
    best: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    finished: bool,
}

impl PositionAnswer {
    /// Value for the mover, if it is proved.
    pub fn value(&self) -> Option<i64> {
        self.value?.exact()
    }

    /// Returns the value of a move, by its number.
    pub fn move_value(&self, number: usize) -> Option<i64> {
        self.moves.iter().find(|one| one.r#move == number)?.value?.exact()
    }

    /// Returns the number of legal moves.
    pub fn move_count(&self) -> usize {
        self.moves.len()
    }

    /// Returns the answer without the effects of moves.
    pub fn without_sowing(mut self) -> PositionAnswer {
        self.moves.iter_mut().for_each(|one| one.sown = None);
        self
    }

    /// Returns an answer without a depth.
    fn new(
        rules: Rules,
        position: &Position,
        assessment: Assessment,
        source: &'static str,
        moves: Vec<Move>,
        best: impl Iterator<Item = Pit>,
        line: Option<&Line>,
    ) -> PositionAnswer {
        PositionAnswer {
            position: position.to_string(),
            rules: rules.name(),
            seeds: position.seeds(),
            score: assessment.value().map(|value| position.score(value)),
            value: Value::new(assessment),
            source,
            depth: None,
            moves,
            best: best.map(Pit::number).collect(),
            line: line.map(ToString::to_string),
            finished: position.is_over(),
        }
    }

    /// Returns the answer of the tables, or of the rules if the game is over.
    pub fn probed(rules: Rules, probe: &Probe) -> PositionAnswer {
        let position = &probe.position;
        let exact = |score| Assessment::exact(position.value(score));
        let moves = probe.moves.iter().map(|&(pit, score)| Move::new(rules, position, pit, exact(score)));
        let (source, value) = (if position.is_over() { "rules" } else { "tables" }, Assessment::exact(probe.value));
        PositionAnswer::new(rules, position, value, source, moves.collect(), probe.best(), Some(&probe.line))
    }

    /// Returns the book's answer: bounds of the score and of those of the moves; `line` is a line of best play.
    pub fn recalled(rules: Rules, position: &Position, recalled: &Recalled, line: Option<&Line>) -> PositionAnswer {
        let proved = |bounds: Bounds| {
            let [lower, upper] = [bounds.lower, bounds.upper].map(|score| position.value(score));
            Assessment { bounds: Some(ValueBounds { lower, upper }), evaluation: None }
        };
        let moves = recalled.moves.iter().map(|&(pit, bounds)| Move::new(rules, position, pit, proved(bounds)));
        let value = proved(recalled.bounds);
        PositionAnswer::new(rules, position, value, "book", moves.collect(), recalled.best(), line)
    }

    /// Returns the answer of a search.
    pub(crate) fn searched(rules: Rules, position: &Position, analysis: &Analysis) -> PositionAnswer {
        let best = analysis.moves.iter().filter_map(|(_, _, assessment)| assessment.apparent()).max();
        let best = analysis.assessment.value().or(best);
        let keeps = |assessment: &Assessment| match analysis.assessment.value() {
            Some(_) => assessment.value() == best,
            None => assessment.apparent() == best,
        };
        let best = analysis.moves.iter().filter(|(_, _, assessment)| keeps(assessment)).map(|&(pit, ..)| pit);
        let moves = analysis.moves.iter();
        let moves = moves.map(|&(pit, _, assessment)| Move::new(rules, position, pit, assessment));
        let (source, depth) = match Value::new(analysis.assessment) {
            Some(Value::Exact { .. }) => ("solver", None),
            Some(Value::Bounds { estimate, .. }) => ("bound", estimate.map(|_| analysis.ahead)),
            estimate => ("depth", estimate.map(|_| analysis.ahead)),
        };
        let line = analysis.line.as_ref();
        let answer = PositionAnswer::new(rules, position, analysis.assessment, source, moves.collect(), best, line);
        PositionAnswer { depth, ..answer }
    }
}

/// Answer of the opening explorer: of the book, the tables and the rules.
#[derive(Debug, Serialize)]
pub struct ExplorerAnswer {
    #[serde(flatten)]
    pub(crate) known: PositionAnswer,
    /// True if the book has the position or one after its moves.
    pub(crate) in_book: bool,
    /// True if the line leads to the end of the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) complete: Option<bool>,
}

/// Answer of a streaming search, during the search or at its end.
#[derive(Debug, Serialize)]
pub struct SearchAnswer {
    #[serde(flatten)]
    /// Results.
    pub known: PositionAnswer,
    /// Nodes searched by the solver.
    pub(crate) nodes: u64,
    pub(crate) seconds: f64,
    /// Reason of the end: `proved`, `time`, `depth` or `stopped`; absent during the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<&'static str>,
}

/// Position on a line of play, and the move played there; no move at the end.
#[derive(Debug, Serialize)]
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
pub struct LineAnswer {
    pub(crate) rules: &'static str,
    pub(crate) places: Vec<PlaceAnswer>,
}

/// Move that a player chose.
#[derive(Debug, Serialize)]
pub struct ChosenMove {
    position: String,
    rules: &'static str,
    player: String,
    r#move: usize,
    #[serde(flatten)]
    value: Option<Value>,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(flatten)]
    sown: MoveEffects,
}

/// Move of a player, and the time that it took.
#[derive(Debug, Serialize)]
pub struct MoveAnswer {
    #[serde(flatten)]
    pub(crate) chosen: ChosenMove,
    pub(crate) seconds: f64,
}

impl ChosenMove {
    pub(crate) fn new(rules: Rules, position: &Position, player: PlayerName, choice: &Choice) -> ChosenMove {
        ChosenMove {
            position: position.to_string(),
            rules: rules.name(),
            player: player.to_string(),
            r#move: choice.pit.number(),
            value: Value::of_choice(choice.worth),
            source: choice.source.name(),
            depth: if let Source::Depth(depth) = choice.source { Some(depth) } else { None },
            sown: MoveEffects::new(rules, position, choice.pit),
        }
    }
}

#[derive(Debug, Serialize)]
struct TableEntry {
    rules: &'static str,
    pits: usize,
    seeds: usize,
    positions: u64,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct DamagedEntry {
    file: String,
    error: String,
}

/// Tables of the server.
#[derive(Debug, Serialize)]
pub struct TablesAnswer {
    tables: Vec<TableEntry>,
    damaged: Vec<DamagedEntry>,
}

impl From<Listing> for TablesAnswer {
    fn from(mut listing: Listing) -> TablesAnswer {
        listing.tables.sort_by_key(|(key, ..)| (key.rules.name(), key.pits, key.seeds));
        let tables = listing.tables.into_iter().map(|(key, positions, bytes)| TableEntry {
            rules: key.rules.name(),
            pits: key.pits,
            seeds: key.seeds,
            positions,
            bytes,
        });
        let damaged = listing.damaged.into_iter().map(|(file, error)| DamagedEntry { file, error });
        TablesAnswer { tables: tables.collect(), damaged: damaged.collect() }
    }
}

/// Description of a rule set.
#[derive(Debug, Serialize)]
pub(crate) struct RuleSet {
    name: &'static str,
    played_by: &'static str,
    summary: &'static str,
    /// True if a last seed in the mover's store gives another move.
    moves_again: bool,
}

impl From<Rules> for RuleSet {
    fn from(rules: Rules) -> RuleSet {
        let (name, played_by, summary) = (rules.name(), rules.played_by(), rules.summary());
        RuleSet { name, played_by, summary, moves_again: rules.moves_again() }
    }
}

/// Book of one board.
#[derive(Debug, Serialize)]
pub(crate) struct BookEntry {
    rules: &'static str,
    pits: usize,
    positions: usize,
}

impl BookEntry {
    /// Returns all books that contain positions.
    pub(crate) fn list(books: &Books) -> Vec<BookEntry> {
        let boards = Rules::ALL.into_iter().flat_map(|rules| (1..=MAX_PITS).map(move |pits| (rules, pits)));
        let there = boards.filter_map(|(rules, pits)| Some((rules, pits, books.get(rules, pits)?.len())));
        let entry = |(rules, pits, positions): (Rules, _, _)| BookEntry { rules: rules.name(), pits, positions };
        there.filter(|&(.., positions)| positions > 0).map(entry).collect()
    }
}

/// Description of the server and its limits.
#[derive(Debug, Serialize)]
pub struct ServerAnswer {
    pub(crate) version: &'static str,
    pub(crate) rules: [&'static str; Rules::ALL.len()],
    pub(crate) rule_sets: [RuleSet; Rules::ALL.len()],
    pub(crate) players: [&'static str; 8],
    /// Maximum seconds of a search.
    pub(crate) time: f64,
    /// Maximum seconds of a streaming search.
    pub(crate) stream_time: f64,
    /// Maximum number of searches at a time.
    pub(crate) searches: usize,
    /// Maximum seeds in play.
    pub(crate) seeds: u32,
    /// Maximum pits a side.
    pub(crate) pits: usize,
    pub(crate) books: Vec<BookEntry>,
}
