use std::time::{Duration, Instant};

use clap::Args;
use kalah::analyse::{BoundsSource, QualityTally, Review as Reviewed, ReviewedTurn, review};
use kalah::answer::Value;
use kalah::game::{Line, MAX_PITS, Pit, Place, Position, ValueBounds};
use kalah::solve::Solver;
use serde::Serialize;

use crate::cli::{
    GivenGame, Grid, Outcome, SearchProgress, SolverFlags, Stoppable, args, cancelled_by_signal, examples, failure,
    line, output,
};

/// Review a game: find the turns that lost seeds, a win or a draw
///
/// Use this to learn from your games. `??` marks a turn that loses a won or drawn game, `?` one that loses 4 seeds or
/// more but not the outcome, and `?!` one that loses fewer. Values are final store differences for the player whose
/// turn it is. They come from the rules, the book and the tables; other positions are searched. Where time runs out,
/// bounds are shown, with the least loss that they prove.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Review a saved game, with three seconds for each position", "kalah review mine.games --within 3s"),
    ("Review the first turns of a game", "kalah review 6x4 36 1 --rules standard"),
]))]
pub(crate) struct Review {
    #[command(flatten)]
    game: GivenGame,
    /// Search each position that is neither in the book nor in the tables for at most this time
    #[arg(long, value_name = "TIME", value_parser = args::time::<1>, default_value = "10s")]
    within: Duration,
    #[command(flatten)]
    book: args::BookFlag,
    #[command(flatten)]
    with: SolverFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct TurnAnswer {
    turn: usize,
    player: &'static str,
    position: String,
    played: String,
    /// Value of the turn.
    worth: Value,
    /// Value of the position, which the best turns keep.
    best_worth: Value,
    /// First moves of the best turns.
    best: Vec<String>,
    choice: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    seeds_lost: Option<i64>,
    /// Seeds lost at least, if the bounds prove a loss but not how great it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    seeds_lost_at_least: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judgement: Option<&'static str>,
    #[serde(skip)]
    mark: &'static str,
}

impl TurnAnswer {
    /// Returns the turn with this number, from 1, which leads to `next`.
    fn new(number: usize, turn: &ReviewedTurn, next: &Place) -> TurnAnswer {
        let position = &turn.place.position;
        let pits = position.pits();
        let after = plain(&next.position);
        let plain_worth = match next.first == turn.place.first {
            true => after,
            false => ValueBounds { lower: -after.upper, upper: -after.lower },
        };
        let quality = turn.quality();
        TurnAnswer {
            turn: number,
            player: if turn.place.first { "south" } else { "north" },
            position: position.to_string(),
            played: text(pits, &turn.moves),
            worth: Value::new(turn.worth).beyond(plain_worth),
            best_worth: Value::new(turn.value).beyond_stores(position),
            best: turn.best.iter().map(|moves| text(pits, moves)).collect(),
            choice: turn.choice,
            seeds_lost: turn.lost(),
            seeds_lost_at_least: Some(turn.least_lost()).filter(|&least| turn.lost().is_none() && least > 0),
            judgement: quality.map(|quality| quality.name()),
            mark: quality.map_or("", |quality| quality.mark()),
        }
    }
}

/// Returns the bounds that these stores give to the value of any position.
fn plain(position: &Position) -> ValueBounds {
    ValueBounds { lower: position.value(0), upper: position.value(position.seeds()) }
}

/// Formats the moves of a turn, or of its beginning.
fn text(pits: usize, moves: &[Pit]) -> String {
    let mut line = Line::new(pits);
    line.push(moves.to_vec());
    line.to_string()
}

/// Summary of a player's turns.
#[derive(Serialize)]
struct PlayerAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Number of turns with a choice.
    choices: usize,
    #[serde(flatten)]
    tally: QualityTally,
    /// Share of the best turns, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
}

impl PlayerAnswer {
    fn new(name: Option<&str>, choices: usize, tally: &QualityTally) -> PlayerAnswer {
        PlayerAnswer { name: name.map(str::to_owned), choices, tally: *tally, accuracy: tally.accuracy() }
    }

    /// Describes the turns of a side; `is_exact` if all losses are exact.
    fn text(&self, of: &str, is_exact: bool) -> String {
        let side = &self.tally;
        let name = self.name.as_ref().map_or(String::new(), |name| format!(", {name}"));
        let open = match self.choices as u64 - u64::from(side.evaluated) {
            0 => String::new(),
            open => format!("; {} unknown", output::many(open, "turn")),
        };
        let Some(accuracy) = self.accuracy else {
            return format!("{of}{name}: no turn with a choice is evaluated{open}");
        };
        let counts = [
            (side.inaccuracies, "inaccuracy", "inaccuracies"),
            (side.mistakes, "mistake", "mistakes"),
            (side.blunders, "blunder", "blunders"),
        ];
        let counts = counts.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }));
        let least = if is_exact { "" } else { "at least " };
        format!(
            "{of}{name}: {} of {} with a choice best ({accuracy:.1} %), {}, {least}{} lost{open}",
            side.best,
            output::many(u64::from(side.evaluated), "turn"),
            counts.join(", "),
            output::many(side.lost.unsigned_abs(), "seed"),
        )
    }
}

#[derive(Serialize)]
struct ReviewAnswer {
    rules: &'static str,
    start: String,
    line: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<[u32; 2]>,
    turns: Vec<TurnAnswer>,
    south: PlayerAnswer,
    north: PlayerAnswer,
    #[serde(skip_serializing_if = "Option::is_none")]
    table_seeds: Option<usize>,
    nodes: u64,
    seconds: f64,
}

impl Review {
    pub(crate) fn run(mut self) -> failure::Result<Outcome> {
        let (game, from_file) = self.game.read(self.with.rules)?;
        self.with.rules = game.rules;
        let (rules, start) = (game.rules, game.start);
        let places = game.line.follow(rules, &start)?;
        self.with.threads.start()?;
        let cancel = cancelled_by_signal();
        let began = Instant::now();
        let books = self.book.find(self.with.directory(), &[rules]);
        let book = books.get(rules, start.pits());
        let tables = self.with.open_tables(&start, &cancel)?;
        let known = BoundsSource::new(rules, start.pits(), book, tables.tables());
        // Making a solver takes memory, and reads all tables.
        let search = self.needs_search(&known, &places)?;
        let progress = SearchProgress::new();
        let make = || self.with.solver_that_makes(&start, &tables, &cancel, |options| options.book(book));
        let solver = search.then(make).transpose()?;
        let solver = solver.map(|solver| solver.with_events(|_, event| progress.event(event)));
        let known = match &solver {
            Some(solver) => known.search(solver, self.within),
            None => known,
        };
        let report = |place: &Place| {
            let turns = output::count(place.turns, "turn");
            progress.stage(format!("after {turns}, {} seeds in play", place.position.seeds()));
        };
        let work = || review(rules, &places, game.line.turns(), &known, &report);
        let reviewed = match &solver {
            Some(solver) => progress.watch(solver, work),
            None => work(),
        };
        progress.finish();
        let reviewed = reviewed
            .if_stopped("stopped: an incomplete review is not printed; a smaller --within SECONDS makes it shorter")?;
        let turns = |first: bool| reviewed.turns.iter().filter(|turn| turn.choice && turn.place.first == first).count();
        let [south, north] = &reviewed.tallies;
        let answer = ReviewAnswer {
            rules: rules.name(),
            start: start.to_string(),
            line: game.line.to_string(),
            result: game.result,
            turns: (1..)
                .zip(&reviewed.turns)
                .map(|(number, turn)| TurnAnswer::new(number, turn, &places[number]))
                .collect(),
            south: PlayerAnswer::new(game.header("South"), turns(true), south),
            north: PlayerAnswer::new(game.header("North"), turns(false), north),
            table_seeds: tables.tables().and_then(|tables| tables.max_seeds()),
            nodes: solver.as_ref().map_or(0, Solver::nodes),
            seconds: began.elapsed().as_secs_f64(),
        };
        output::answer(self.json, &answer, || {
            answer.print(&reviewed)?;
            output::default_rules(rules, from_file)
        })?;
        Ok(Outcome::Done)
    }

    /// Returns true if a position is neither over nor in the book nor in the tables.
    fn needs_search(&self, known: &BoundsSource, places: &[Place]) -> failure::Result<bool> {
        for place in places {
            let recalled = known.at_once(&place.position)?;
            if !place.position.is_over() && !recalled.is_decided() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl ReviewAnswer {
    /// Prints the turns as a table, and a summary of both players.
    fn print(&self, reviewed: &Reviewed) -> std::io::Result<()> {
        let mut grid = Grid::new(["turn", "player", "played", "mark", "worth", "best", "value", "seeds lost"]);
        for turn in &self.turns {
            let pits = reviewed.turns.first().map_or(MAX_PITS, |turn| turn.place.position.pits());
            let separator = if pits > 9 { " or " } else { " " };
            grid.row([
                turn.turn.to_string(),
                if turn.player == "south" { "South" } else { "North" }.to_owned(),
                turn.played.clone(),
                turn.mark.to_owned(),
                turn.worth.symbols("unknown"),
                if turn.best.is_empty() { "unknown".to_owned() } else { turn.best.join(separator) },
                turn.best_worth.symbols("unknown"),
                match (turn.seeds_lost, turn.seeds_lost_at_least) {
                    (Some(lost), _) => lost.to_string(),
                    (None, Some(least)) => format!(">= {least}"),
                    (None, None) => "unknown".to_owned(),
                },
            ]);
        }
        grid.print()?;
        line!("")?;
        let is_exact =
            |player: &str| self.turns.iter().all(|turn| turn.player != player || turn.seeds_lost_at_least.is_none());
        output::line(self.south.text("South", is_exact("south")))?;
        output::line(self.north.text("North", is_exact("north")))
    }
}
