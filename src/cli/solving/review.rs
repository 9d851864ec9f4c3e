use std::time::{Duration, Instant};

use clap::Args;
use kalah::analyse::{BoundsSource, QualityTally, ReviewedTurn, review};
use kalah::answer::Value;
use kalah::game::{Line, Pit, Place};
use kalah::solve::Solver;
use serde::Serialize;

use crate::cli::{
    GivenGame, Grid, Outcome, Progress, SolverFlags, Stoppable, args, cancelled_by_signal, examples, failure, line,
    output,
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
    /// Returns the turn with this number, from 1.
    fn new(number: usize, turn: &ReviewedTurn) -> TurnAnswer {
        let (position, quality) = (&turn.place.position, turn.quality());
        let pits = position.pits();
        TurnAnswer {
            turn: number,
            player: if turn.place.first { "south" } else { "north" },
            position: position.to_string(),
            played: text(pits, &turn.moves),
            worth: Value::new(turn.worth).beyond_stores(position),
            best_worth: Value::new(turn.value).beyond_stores(position),
            best: turn.best.iter().map(|moves| text(pits, moves)).collect(),
            choice: turn.choice,
            seeds_lost: turn.lost(),
            seeds_lost_at_least: Some(turn.least_lost()).filter(|&least| turn.lost().is_none() && least > 0),
            judgement: quality.map(|quality| quality.name()),
            mark: quality.map_or("", |quality| quality.mark()),
        }
    }

    /// Returns the lost seeds as text.
    fn lost(&self) -> String {
        let least = self.seeds_lost_at_least.map_or("unknown".to_owned(), |least| format!(">= {least}"));
        self.seeds_lost.map_or(least, |lost| lost.to_string())
    }
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
    /// Returns the turns of a side as cells of the summary; `least` if some losses are bounds.
    fn cells(&self, side: &str, least: bool) -> [String; 9] {
        let QualityTally { evaluated, best, inaccuracies, mistakes, blunders, lost, .. } = self.tally;
        let [best, inaccuracies, mistakes, blunders] =
            [best, inaccuracies, mistakes, blunders].map(|it| it.to_string());
        [
            self.name.as_ref().map_or(side.to_owned(), |name| format!("{side}, {name}")),
            self.choices.to_string(),
            (self.choices - evaluated as usize).to_string(),
            self.accuracy.map_or("unknown".to_owned(), |accuracy| format!("{accuracy:.1} %")),
            best,
            inaccuracies,
            mistakes,
            blunders,
            if least { format!(">= {lost}") } else { lost.to_string() },
        ]
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
        let game = self.game.read(self.with.rules)?;
        self.with.rules = game.rules;
        let (rules, start) = (game.rules, game.start);
        let places = game.line.follow(rules, &start)?;
        self.with.threads.start()?;
        let cancel = cancelled_by_signal();
        let began = Instant::now();
        let books = self.book.find(self.with.directory(), &[rules])?;
        let book = books.get(rules, start.pits());
        let tables = self.with.open_tables(&start, &cancel)?;
        let known = BoundsSource::new(rules, start.pits(), book, tables.tables());
        // Making a solver takes memory, and reads all tables.
        let open = places.iter().filter(|place| !place.position.is_over());
        let recalled: Vec<_> = open.map(|place| known.at_once(&place.position)).collect::<Result<_, _>>()?;
        let search = recalled.iter().any(|recalled| !recalled.is_decided());
        let progress = Progress::open();
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
        let reviewed = solver.as_ref().map_or_else(work, |solver| progress.search(solver, work));
        let reviewed = reviewed
            .if_stopped("stopped: an incomplete review is not printed; a smaller --within SECONDS makes it shorter")?;
        let player = |first: bool, side: &str| {
            let choices = reviewed.turns.iter().filter(|turn| turn.choice && turn.place.first == first).count();
            let tally = reviewed.tallies[usize::from(!first)];
            PlayerAnswer { name: game.header(side).map(str::to_owned), choices, tally, accuracy: tally.accuracy() }
        };
        let answer = ReviewAnswer {
            rules: rules.name(),
            start: start.to_string(),
            line: game.line.to_string(),
            result: game.result,
            turns: (1..).zip(&reviewed.turns).map(|(number, turn)| TurnAnswer::new(number, turn)).collect(),
            south: player(true, "South"),
            north: player(false, "North"),
            table_seeds: tables.tables().and_then(|tables| tables.max_seeds()),
            nodes: solver.as_ref().map_or(0, Solver::nodes),
            seconds: began.elapsed().as_secs_f64(),
        };
        output::answer(self.json, &answer, || {
            answer.print(if start.pits() > 9 { " or " } else { " " })?;
            output::default_rules(rules)
        })?;
        Ok(Outcome::Done)
    }
}

impl ReviewAnswer {
    /// Prints the turns as a table, with best moves separated by `separator`, and a summary of both players.
    fn print(&self, separator: &str) -> std::io::Result<()> {
        let mut grid = Grid::new(["turn", "player", "played", "mark", "worth", "best", "value", "seeds lost"]);
        for turn in &self.turns {
            grid.row([
                turn.turn.to_string(),
                turn.player.to_owned(),
                turn.played.clone(),
                turn.mark.to_owned(),
                turn.worth.symbols("unknown"),
                if turn.best.is_empty() { "unknown".to_owned() } else { turn.best.join(separator) },
                turn.best_worth.symbols("unknown"),
                turn.lost(),
            ]);
        }
        grid.print()?;
        line!("")?;
        let counts = ["accuracy", "best", "inaccuracies", "mistakes", "blunders", "seeds lost"];
        let mut grid = Grid::new(["player", "choices", "unknown"].into_iter().chain(counts));
        let least = |player| self.turns.iter().any(|it| it.player == player && it.seeds_lost_at_least.is_some());
        grid.row(self.south.cells("south", least("south")));
        grid.row(self.north.cells("north", least("north")));
        grid.print()
    }
}
