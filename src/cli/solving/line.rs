use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use kalah::analyse::BoundsSource;
use kalah::answer::Value;
use kalah::cancel::Cancel;
use kalah::game::{Place, ValueBounds};
use kalah::record::GameRecord;
use kalah::solve::{SolveError, Solver};
use serde::Serialize;

use crate::cli::{
    GameFlags, GameOutput, GivenGame, Outcome, SearchProgress, args, cancelled_by_signal, examples, failure, line,
    message, output,
};

/// Prove the values of all positions on a line of play
///
/// Use this to check a published line or a game; the last turn may be incomplete. All values are final store
/// differences for the player who moves first in the first position. The last position is solved first, then the one a
/// turn earlier, until one takes longer than --within. Positions that are over, in the book or in the tables are not
/// searched.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Prove the values along three turns of Kalah(6,3)", "kalah line 6x3 '42 1 3'"),
    ("Stop at the first position that takes more than ten seconds", "kalah line 6x4 '36 21' --within 10s"),
]))]
pub(crate) struct Line {
    #[command(flatten)]
    game: GivenGame,
    /// Add the line as a game to FILE before solving
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Test that every position has the value V, and exit 3 if one has another. This needs only two tests a position
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    value: Option<i64>,
    /// Stop at the first position that takes longer: 90s, 15m, 2h, or a number of seconds
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = args::time::<1>)]
    within: Duration,
    #[command(flatten)]
    flags: GameFlags,
}

/// Position on the line.
#[derive(Serialize)]
struct Row {
    turns: usize,
    /// Moves of the last turn; none at the start.
    played: String,
    moves: usize,
    seeds: u32,
    position: String,
    /// True if the player to move is the one who moved first.
    first: bool,
    /// Value for that first player.
    #[serde(flatten)]
    proved: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

impl Row {
    fn new(place: &Place, played: &str) -> Row {
        Row {
            turns: place.turns,
            played: played.to_owned(),
            moves: place.moves,
            seeds: place.position.seeds(),
            position: place.position.to_string(),
            first: place.first,
            proved: Value::default(),
            nodes: None,
            seconds: None,
        }
    }

    /// Returns true if it is proved not to have this `value`.
    fn differs(&self, value: i64) -> bool {
        self.proved.bounds().is_some_and(|bounds| value < bounds.lower || value > bounds.upper)
    }

    /// Returns the value or its bounds.
    fn worth(&self) -> String {
        self.proved.symbols("?")
    }

    /// Describes what was proved, for progress.
    fn summary(&self) -> String {
        format!(
            "after {}: value {}, {} in play, {}, {:.2} s",
            output::count(self.turns, "turn"),
            self.worth(),
            output::count(self.seeds as usize, "seed"),
            output::many(self.nodes.unwrap_or(0), "node"),
            self.seconds.unwrap_or(0.0)
        )
    }
}

#[derive(Serialize)]
struct LineAnswer<'a> {
    position: String,
    rules: &'a str,
    line: String,
    places: Vec<Row>,
    /// Fewest turns after which the value is proved, as it is after all later ones.
    proved_from: Option<usize>,
    /// Fewest turns after which the position is proved to have another value than --value.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_at: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table_seeds: Option<usize>,
    threads: usize,
    nodes: u64,
    table_hits: u64,
    seconds: f64,
}

/// End of the proofs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// All positions are proved, up to the start.
    Start,
    /// One position took too long.
    Time,
    /// A signal stopped them.
    Signal,
}

impl Line {
    pub(crate) fn run(mut self) -> failure::Result<Outcome> {
        let (game, has_rules) = self.game.read(self.flags.with.rules)?;
        if let Some(path) = &self.save {
            GameOutput::open(path, self.game.file())?.write(&game)?;
        }
        let GameRecord { rules, start, line, .. } = game;
        self.flags.with.rules = rules;
        let places = line.follow(rules, &start)?;
        self.flags.with.threads.start()?;
        // Before building tables, which may take long.
        let cancel = cancelled_by_signal();
        let tables = self.flags.with.open_tables(&start, &cancel)?;
        let began = Instant::now();
        let books = self.flags.book.find(self.flags.with.directories(), &[rules]);
        let book = books.get(rules, start.pits());

        let line = line.to_string();
        let played = [""].into_iter().chain(line.split(' '));
        let mut positions: Vec<Row> =
            places.iter().zip(played).map(|(place, played)| Row::new(place, played)).collect();
        let known = BoundsSource::new(rules, start.pits(), book, tables.tables());
        for (place, row) in places.iter().zip(&mut positions) {
            if let Some(score) = known.at_once(&place.position)?.score() {
                row.proved = Value::exact(place.turned(place.position.value(score)));
                (row.nodes, row.seconds) = (Some(0), Some(0.0));
            }
        }
        // Making a solver takes memory, and checks all tables against their checksums.
        let (mut end, mut nodes, mut table_hits, mut table_seeds) = (End::Start, 0, 0, None);
        if positions.iter().any(|row| row.proved.value().is_none()) {
            let progress = SearchProgress::new(start);
            let solver = self.flags.with.solver_that_makes(&start, &tables, &cancel, |options| options.book(book))?;
            let solver = solver.with_events(|_, event| progress.event(event));
            let proved = self.prove(&places, &mut positions, &solver, &progress, &cancel);
            progress.finish();
            end = proved?;
            (nodes, table_hits, table_seeds) = (solver.nodes(), solver.table_hits(), solver.table_seeds());
        }

        let proved = positions.iter().rev().take_while(|row| row.proved.value().is_some());
        let proved_from = proved.last().map(|row| row.turns);
        let wrong = self.value.and_then(|value| positions.iter().position(|row| row.differs(value)));
        let answer = LineAnswer {
            position: start.to_string(),
            rules: self.flags.with.rules.name(),
            line,
            proved_from,
            wrong_at: wrong.map(|index| positions[index].turns),
            places: positions,
            table_seeds: table_seeds.or_else(|| tables.tables().and_then(|tables| tables.max_seeds())),
            threads: rayon::current_num_threads(),
            nodes,
            table_hits,
            seconds: began.elapsed().as_secs_f64(),
        };
        output::answer(self.flags.json, &answer, || {
            self.text(&answer, end)?;
            output::default_rules(rules, has_rules)
        })?;
        if let (Some(index), Some(value)) = (wrong, self.value) {
            let row = &answer.places[index];
            let (turns, worth) = (output::count(row.turns, "turn"), row.worth());
            message!("WRONG: after {turns} the value is {worth}, not {}", output::value(value));
            return Ok(Outcome::Wrong);
        }
        Ok(if end == End::Signal { Outcome::Failed } else { Outcome::Done })
    }

    /// Solves the positions of `places` without a value in `rows`, from the last one on, and adds the results to
    /// `rows`.
    fn prove(
        &self,
        places: &[Place],
        rows: &mut [Row],
        solver: &Solver,
        progress: &SearchProgress,
        cancel: &Cancel,
    ) -> Result<End, SolveError> {
        let within = self.within;
        // All values are for the first player, so they are equal along a line of best play.
        let mut guess = self.value;
        for (place, row) in places.iter().zip(rows).rev() {
            if let Some(known) = row.proved.value() {
                guess = self.value.or(Some(known));
                continue;
            }
            let position = &place.position;
            progress.position(*position);
            progress.stage(format!("after {}, {} seeds", output::count(place.turns, "turn"), position.seeds()));
            let (start, nodes) = (Instant::now(), solver.nodes());
            let in_time = cancel.child();
            let solved = progress.watch(
                solver,
                Some(within),
                || in_time.cancel(),
                || {
                    let solver = solver.under(&in_time);
                    let guess = match guess {
                        Some(guess) => place.turned(guess),
                        None => solver.first_guess(position)?,
                    };
                    solver.value(position, guess)
                },
            );
            (row.nodes, row.seconds) = (Some(solver.nodes() - nodes), Some(start.elapsed().as_secs_f64()));
            match solved {
                Ok((_, value)) => {
                    let value = place.turned(value);
                    row.proved = Value::exact(value);
                    if row.seconds > Some(1.0) {
                        progress.note(&row.summary());
                    }
                    guess = self.value.or(Some(value));
                }
                Err(SolveError::Stopped) => {
                    self.note_bounds(place, row, solver)?;
                    return Ok(if cancel.is_cancelled() { End::Signal } else { End::Time });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(End::Start)
    }

    /// Records the bounds that finished tests proved, if the value was not found.
    fn note_bounds(&self, place: &Place, row: &mut Row, solver: &Solver) -> Result<(), SolveError> {
        let known = solver.known(&place.position)?;
        let turned = |worst, best| {
            let ends = [worst, best].map(|score| place.turned(place.position.value(score)));
            ValueBounds { lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
        };
        row.proved = Value::new(turned(known.lower, known.upper)).beyond(turned(0, place.position.seeds()));
        Ok(())
    }

    fn text(&self, answer: &LineAnswer, end: End) -> std::io::Result<()> {
        line!("turns  played  moves  seeds    value  position")?;
        for row in &answer.places {
            line!(
                "{:>5}  {:>6}  {:>5}  {:>5}  {:>7}  {}",
                row.turns,
                row.played,
                row.moves,
                row.seeds,
                row.worth(),
                row.position
            )?;
        }
        let open = answer.places.iter().rfind(|row| row.proved.value().is_none());
        output::line(match (open, answer.proved_from) {
            (None, _) => "proved to the start".to_owned(),
            (Some(open), from) => {
                let turns = output::count(open.turns, "turn");
                let why = match end {
                    End::Signal => "was stopped".to_owned(),
                    _ => format!("takes longer than {} s", self.within.as_secs_f64()),
                };
                let proved = match from {
                    Some(from) => format!("proved from the end back to turn {from} of {}", answer.places.len() - 1),
                    None => "nothing is proved".to_owned(),
                };
                format!("{proved}: the position after {turns} with {} seeds in play {why}", open.seeds)
            }
        })?;
        line!(
            "{}, {}, {:.2} s",
            output::many(answer.nodes, "node"),
            output::many(answer.table_hits, "table hit"),
            answer.seconds
        )
    }
}
