use std::io;
use std::path::PathBuf;

use clap::Args;
use kalah::answer::Value;
use kalah::game::{Rules, StartPosition, ValueBounds};
use serde::Serialize;

use crate::cli::solving::book::file::{BookAnswer, in_use};
use crate::cli::{Grid, Outcome, args, failure, line, output};

/// Show what a book contains
///
/// `kalah probe` shows its answer for a position.
#[derive(Args)]
pub(crate) struct Show {
    /// Book to show [default: the one beside the tables, otherwise the program's]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES", conflicts_with = "book")]
    rules: Rules,
    /// Pits a side
    #[arg(long, default_value_t = 6, value_parser = args::pits, conflicts_with = "book")]
    pits: usize,
    #[command(flatten)]
    tables: args::Directory,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Positions with one number of seeds in play.
#[derive(Serialize)]
struct Layer {
    seeds: u32,
    positions: usize,
    exact: usize,
}

/// Value of a start position, or its bounds.
#[derive(Serialize)]
struct Start {
    position: String,
    #[serde(flatten)]
    bounds: Value,
}

#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    book: BookAnswer,
    bytes: usize,
    starts: Vec<Start>,
    layers: Vec<Layer>,
}

impl Show {
    pub(super) fn run(self) -> failure::Result<Outcome> {
        let (book, name) = in_use(self.book.as_deref(), self.tables.directory(), self.rules, self.pits)?;
        let entries: Vec<_> = book.iter().collect();
        let layers = entries.chunk_by(|one, next| one.0.seeds() == next.0.seeds()).map(|layer| Layer {
            seeds: layer[0].0.seeds(),
            positions: layer.len(),
            exact: layer.iter().filter(|(_, bounds)| bounds.lower == bounds.upper).count(),
        });
        let start = |seeds: u32| {
            let position = StartPosition { pits: book.pits(), seeds }.position().ok()?;
            let known = book.get(&position)?;
            let [lower, upper] = [known.lower, known.upper].map(|score| position.value(score));
            let bounds = Value::new(ValueBounds { lower, upper });
            Some(Start { position: format!("{}x{seeds}", book.pits()), bounds })
        };
        let summary = Summary {
            book: BookAnswer::new(name, &book),
            bytes: book.to_bytes().len(),
            starts: (1..=255).filter_map(start).collect(),
            layers: layers.collect(),
        };
        output::answer(self.json, &summary, || summary.text())?;
        Ok(Outcome::Done)
    }
}

impl Summary {
    fn text(&self) -> io::Result<()> {
        let BookAnswer { rules, pits, digest, .. } = &self.book;
        line!("{}\n  {rules}, {} a side", self.book, output::count(*pits, "pit"))?;
        line!("  {} bytes, digest {digest}", self.bytes)?;
        for Start { position, bounds } in &self.starts {
            line!("  {position}: value {}", bounds.words("unknown"))?;
        }
        let mut grid = Grid::new(["seeds in play", "positions", "exact"]);
        for Layer { seeds, positions, exact } in &self.layers {
            grid.row([seeds.to_string(), positions.to_string(), exact.to_string()]);
        }
        grid.print()
    }
}
