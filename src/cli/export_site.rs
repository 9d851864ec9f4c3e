use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use indicatif::HumanBytes;
use kalah::game::Rules;
use kalah::serve::{SiteError, SiteOptions, export_site};
use serde::Serialize;

use super::outcome::Outcome;
use super::signals::stop_on_signal;
use super::{args, output};

/// Write the page and tables for a static host
///
/// The page reads the tables itself. The folder needs no program: any web server that answers range requests will do.
/// Values come from the tables and the book, puzzles are found in advance; above the tables there are short searches only.
/// docs/serve.md says what else is missing. A folder that was written before is replaced.
#[derive(Args)]
pub struct ExportSite {
    /// The folder
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    book: args::BookFlag,
    /// The most bytes of all tables; the smallest layers are taken first
    #[arg(long, value_name = "SIZE", value_parser = args::bytes, default_value = "100MiB")]
    size: u64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    directory: String,
    tables: usize,
    table_bytes: u64,
    left_out: usize,
    book_positions: usize,
    puzzles: usize,
}

impl ExportSite {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let stop = Arc::new(AtomicBool::new(false));
        stop_on_signal(&stop)?;
        let mut options = SiteOptions::new(self.tables.path.clone());
        options.size = self.size;
        options.books = self.book.find(&self.tables.path, &Rules::ALL)?;
        let written = match export_site(&self.directory, &options, &|| stop.load(Ordering::Relaxed)) {
            Err(SiteError::Stopped) => {
                output::tell("stopped: the folder is not complete; the same command writes it anew");
                return Ok(Outcome::Failed);
            }
            written => written?,
        };
        let report = Report {
            directory: self.directory.display().to_string(),
            tables: written.tables.len(),
            table_bytes: written.table_bytes,
            left_out: written.left_out,
            book_positions: written.book_positions,
            puzzles: written.puzzles,
        };
        if self.json {
            output::json(&report)?;
            return Ok(Outcome::Done);
        }
        output::line(format_args!(
            "{}: {} ({}), {} of the book, {}",
            report.directory,
            output::count(report.tables, "table"),
            HumanBytes(report.table_bytes),
            output::many(report.book_positions as u64, "position"),
            output::count(report.puzzles, "puzzle"),
        ))?;
        if report.left_out > 0 {
            output::note(format_args!(
                "{} left out: they are larger than --size {} allows",
                output::count(report.left_out, "table"),
                HumanBytes(self.size)
            ));
        }
        if report.tables == 0 {
            output::note("there are no tables: give their directory with --tables");
        }
        Ok(Outcome::Done)
    }
}
