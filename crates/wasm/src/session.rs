use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use kalah_core::cancel::Cancel;
use kalah_core::clock::Instant;
use kalah_core::game::{Position, Rules};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions};
use kalah_solve::answer::{BookAnswer, ProbeAnswer, SolveAnswer};
use kalah_solve::book::Book;
use kalah_solve::solve::{SolveError, Solver, SolverOptions};
use kalah_tables::builder::MemoryBuilder;
use kalah_tables::progress::Pulse;
use kalah_tables::table::{TableKey, Tables};
use serde::Serialize;

/// Maximum bytes of the transposition table: a quarter of the address space.
const MAX_TRANSPOSITIONS: u64 = 1 << 30;

/// The tables, the book and the solver of one rule set and board.
pub(super) struct Session {
    last: TableKey,
    builder: MemoryBuilder,
    book: Option<&'static Book>,
    /// Maximum bytes of the transposition table.
    transpositions: u64,
    /// The layers for the solver, once it was made. They are shared, and none is ever dropped, so
    /// the memory lost with each list is small.
    layers: Option<&'static Tables>,
    /// Kept for its proved bounds, while no layer is added.
    solver: Option<Solver<'static>>,
}

/// A layer that was built.
#[derive(Serialize)]
pub(super) struct LayerAnswer {
    seeds: usize,
    positions: u64,
    bytes: u64,
    /// The digest of the table, as in `tables/manifest.jsonl`.
    digest: String,
    seconds: f64,
}

/// The answer of the tables or the book.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum LookUpAnswer {
    Tables(ProbeAnswer),
    Book(BookAnswer),
}

impl Session {
    /// Begins without tables; those up to `last` can be built.
    ///
    /// # Errors
    /// When the tables are too large.
    pub fn new(last: TableKey, transpositions: u64) -> Result<Session, Box<dyn Error>> {
        let TableKey { rules, pits, seeds } = last;
        if !(1..=MAX_TABLE_PITS).contains(&pits) || !(2..=MAX_TABLE_SEEDS).contains(&seeds) {
            let limits = format!("1 to {MAX_TABLE_PITS} pits and 2 to {MAX_TABLE_SEEDS} seeds");
            return Err(format!("no tables for {pits} pits and {seeds} seeds: they have {limits}").into());
        }
        let builder = MemoryBuilder::new(last)?;
        let transpositions = transpositions.min(MAX_TRANSPOSITIONS);
        Ok(Session { last, builder, book: Book::shipped(rules, pits), transpositions, layers: None, solver: None })
    }

    /// Pits a side.
    pub fn pits(&self) -> usize {
        self.last.pits
    }

    fn rules(&self) -> Rules {
        self.last.rules
    }

    /// Builds the next layer; `None` if all are built.
    pub fn build(&mut self) -> Result<Option<LayerAnswer>, Box<dyn Error>> {
        let start = Instant::now();
        let Some(table) = self.builder.build_layer(&Pulse::default())? else { return Ok(None) };
        let (key, header) = (table.key(), table.header());
        let hex = header.digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(LayerAnswer {
            seeds: key.seeds,
            positions: layer_positions(key.pits, key.seeds),
            bytes: header.file_bytes,
            digest: hex,
            seconds: start.elapsed().as_secs_f64(),
        }))
    }

    /// Looks up a position in the tables, or else in the book.
    pub fn probe(&self, position: &Position) -> Result<LookUpAnswer, Box<dyn Error>> {
        let tables = self.builder.tables();
        let above = match tables.probe(position) {
            Ok(probe) => return Ok(LookUpAnswer::Tables(ProbeAnswer::from(&probe))),
            Err(error) => error,
        };
        let recalled = self.book.map(|book| BookAnswer::recall(book, position, Some(tables))).transpose()?;
        Ok(LookUpAnswer::Book(recalled.flatten().ok_or(above)?))
    }

    /// Solves a position by the book or by a search of at most `seconds`.
    pub fn solve(&mut self, position: &Position, seconds: f64) -> Result<SolveAnswer, Box<dyn Error>> {
        let (start, mut answer) = (Instant::now(), SolveAnswer::new(self.rules(), position));
        if let Some(book) = self.book {
            let recalled = book.recall(position, None)?;
            answer.book = recalled.from_book && recalled.score().is_some();
            if answer.book && recalled.is_decided() {
                answer.value = recalled.score().map(|score| position.value(score));
                answer.add_recalled(book, position, &recalled)?;
                answer.seconds = start.elapsed().as_secs_f64();
                return Ok(answer);
            }
        }
        // A time beyond the clock's range is no limit.
        let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        let cancel = Cancel::new().within(time);
        match self.solver(position, &cancel) {
            Ok(solver) => {
                let solver = solver.under(&cancel);
                let (nodes, hits) = (solver.nodes(), solver.table_hits());
                search(&solver, position, time, &mut answer)?;
                answer.add_effort(&solver, 1, start.elapsed());
                (answer.nodes, answer.table_hits) = (answer.nodes - nodes, answer.table_hits - hits);
            }
            Err(SolveError::Stopped) => answer.seconds = start.elapsed().as_secs_f64(),
            Err(error) => return Err(error.into()),
        }
        Ok(answer)
    }

    /// A solver for `position` that uses all tables.
    fn solver(&mut self, position: &Position, cancel: &Cancel) -> Result<&Solver<'static>, SolveError> {
        let layers = self.layers()?;
        if self.solver.as_ref().is_none_or(|solver| solver.seeds() < position.seeds() as usize) {
            // Its transposition table is freed before another one is allocated.
            self.solver = None;
            let options = SolverOptions::new(self.rules(), position)
                .tables(Some(layers))
                .book(self.book)
                .transpositions_up_to(self.transpositions)
                .cancel(cancel.clone());
            self.solver = Some(Solver::new(options)?);
        }
        Ok(self.solver.as_ref().expect("made above"))
    }

    /// All layers. Drops a solver that uses fewer.
    fn layers(&mut self) -> Result<&'static Tables, SolveError> {
        let tables = self.builder.tables();
        if let Some(layers) = self.layers.filter(|layers| layers.max_seeds() == tables.max_seeds()) {
            return Ok(layers);
        }
        self.solver = None;
        let mut layers = Tables::empty(tables.directory(), self.last.rules, self.last.pits, self.last.seeds);
        tables.layers().iter().try_for_each(|layer| layers.push(Arc::clone(layer)))?;
        Ok(self.layers.insert(Box::leak(Box::new(layers))))
    }
}

/// Searches until the value is proved or the time is over, and adds the result to `answer`.
fn search(solver: &Solver, position: &Position, time: Duration, answer: &mut SolveAnswer) -> Result<(), SolveError> {
    let searched = solver.first_guess(position).and_then(|guess| solver.narrow(position, guess, time));
    match searched {
        Err(SolveError::Stopped) | Ok(_) => {}
        Err(error) => return Err(error),
    }
    let bounds = solver.value_bounds(position)?;
    let Some(value) = bounds.value() else {
        answer.add_bounds(position, bounds);
        return Ok(());
    };
    answer.value = Some(value);
    match solver.solve(position, value) {
        Ok(solution) => answer.add_solution(&solution),
        // Best moves and line are missing.
        Err(SolveError::Stopped) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
