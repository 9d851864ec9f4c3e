use std::io;
use std::path::PathBuf;

use clap::Args;
use kalah::answer::Value;
use kalah::game::{Rules, StartPosition, ValueBounds};
use serde::Serialize;

use crate::cli::solving::book::file::{BookAnswer, in_use};
use crate::cli::{Outcome, args, failure, line, output, usage};

/// Show what a book contains
///
/// `kalah probe` shows its answer for a position.
#[derive(Args)]
pub(crate) struct Show {
    /// Rule set [default: empty-capture, or the rules of --book]
    #[arg(long, value_name = "RULES")]
    rules: Option<Rules>,
    /// Pits a side [default: those of --book, otherwise 6]
    #[arg(long, value_parser = args::pits)]
    pits: Option<usize>,
    /// Book to show [default: the one beside the tables, otherwise the program's]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
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
        let (rules, pits) = (self.rules.unwrap_or_default(), self.pits.unwrap_or(6));
        let (book, name) = in_use(self.book.as_deref(), &self.tables.directory, rules, pits)?;
        let (rules, pits) = (self.rules.unwrap_or(book.rules()), self.pits.unwrap_or(book.pits()));
        if (rules, pits) != (book.rules(), book.pits()) {
            let for_other = format!("{name} is a book for {} with {}", book.rules(), output::count(book.pits(), "pit"));
            return Err(usage(format_args!("{for_other}, not for {rules} with {pits}")));
        }
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
        if !self.layers.is_empty() {
            line!("seeds in play  positions  exact")?;
        }
        for Layer { seeds, positions, exact } in &self.layers {
            line!("{seeds:>13}  {positions:>9}  {exact:>5}")?;
        }
        Ok(())
    }
}
