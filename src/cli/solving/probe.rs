use std::collections::HashMap;
use std::ffi::OsString;

use clap::Args;
use kalah::answer::PositionAnswer;
use kalah::book::Books;
use kalah::game::{Position, Rules};
use kalah::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS};
use kalah::table::{self, ProbeError, Tables};

use crate::cli::{Failure, Outcome, args, examples, failure, output, positions};

/// Look up positions in the tables: score, value, best moves, line
///
/// Use this for positions with few enough seeds in play for the tables; it answers at once and never searches. Use
/// `kalah solve` for others. Write a position as 6x4 (6 pits a side, 4 seeds in each), or as two rows
/// (0,0,1,0,2,1/1,0,0,3,0,0). With stores, write <m,S,N,s1..sm,n1..nm>: pits a side, both stores, both rows. The mover
/// is South, whose store and row come first. Each row begins with its owner's pit 1. A score is the number of seeds in
/// play that the mover still collects; a value is the final store difference for the mover. Files have one position a
/// line, and # begins a comment. Write ./6x4 for a file that is named like a position.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Look up a position with its stores", "kalah probe '<6,5,3,0,1,2,0,3,0,1,0,0,2,0,0>'"),
    ("Look up two rows under the rules that most people play", "kalah probe 0,0,1,0,2,1/1,0,0,3,0,0 --rules standard"),
]))]
pub(crate) struct Probe {
    /// Positions, files with positions, or - for standard input [default: -]
    #[arg(value_name = "POSITION|FILE")]
    positions: Vec<OsString>,
    /// Rule set
    #[arg(long, default_value_t, value_name = "RULES")]
    rules: Rules,
    #[command(flatten)]
    tables: args::Directory,
    /// Read single blocks of the tables instead of mapping the files: slower, but safe on network file systems
    #[arg(long)]
    no_map: bool,
    /// Look up scores only, without a line of best play: fewer reads, which counts for tables at an address
    #[arg(long)]
    no_line: bool,
    #[command(flatten)]
    book: args::BookFlag,
    /// Print one JSON object for each position
    #[arg(long)]
    json: bool,
}

impl Probe {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let (directory, rules) = (self.tables.directory(), self.rules);
        let books = self.book.find(directory, &[rules])?;
        let mut prober = Prober { probe: &self, books, tables: HashMap::new() };
        let (outcome, is_answered) = positions::answer_each(&self.positions, |position| prober.answer(position))?;
        if is_answered && !self.json {
            output::default_rules(rules)?;
        }
        Ok(outcome)
    }
}

struct Prober<'a> {
    probe: &'a Probe,
    books: Books,
    /// Tables by pits a side.
    tables: HashMap<usize, Tables>,
}

impl Prober<'_> {
    /// Prints the answer for one position, or returns why there is no answer.
    fn answer(&mut self, position: &Position) -> failure::Result<Option<Failure>> {
        match self.look_up(position) {
            Ok(probe) => self.print(&PositionAnswer::probed(self.probe.rules, &probe))?,
            Err(ProbeError::Table(error)) if error.is_damage() => return Err(error.into()),
            Err(error) => match self.recall(position)? {
                Some(recalled) => self.print(&recalled)?,
                None => return Ok(Some(error.into())),
            },
        }
        Ok(None)
    }

    fn look_up(&mut self, position: &Position) -> Result<table::Probe, ProbeError> {
        // The game may be over, which is answered without tables.
        let pits = position.pits().min(MAX_TABLE_PITS);
        let tables = match self.tables.get(&pits) {
            Some(tables) => tables,
            None => {
                let directory = self.probe.tables.directory().clone();
                let directory = if self.probe.no_map { directory.reading_files() } else { directory };
                let opened = Tables::open(directory, self.probe.rules, pits, MAX_TABLE_SEEDS)?;
                args::note_gaps(&opened);
                self.tables.entry(pits).or_insert(opened)
            }
        };
        if self.probe.no_line { tables.probe_moves(position) } else { tables.probe(position) }
    }

    /// Returns the book's answer for a position beyond the tables; `None` if it is not in the book.
    fn recall(&self, position: &Position) -> failure::Result<Option<PositionAnswer>> {
        let Some(book) = self.books.get(self.probe.rules, position.pits()) else { return Ok(None) };
        // The tables of its board were opened already; there may be none.
        let tables = self.tables.get(&position.pits());
        Ok(PositionAnswer::of_book(book, position, tables)?)
    }

    fn print(&self, answer: &PositionAnswer) -> std::io::Result<()> {
        output::answer(self.probe.json, answer, || output::line(answer))
    }
}
