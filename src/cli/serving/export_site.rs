use std::path::PathBuf;

use clap::Args;
use indicatif::HumanBytes;
use kalah::progress::Pulse;
use kalah::serve::{SiteError, SiteOptions, SitePlan, SiteReport};
use serde::Serialize;

use crate::cli::flags::args;
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::output::progress::Progress;
use crate::cli::process::outcome::Outcome;
use crate::cli::process::signals::stopped_by_signal;

/// Write the page and its tables for a static web host
///
/// Use this to publish the page without a server program: any web server that answers range requests will do. The
/// page reads the tables itself. Values come from the tables and the book, and puzzles are found in advance; above
/// the tables there are only short searches. An older site in the folder is replaced once the new one is complete;
/// other files stay. See docs/serve.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Write the page with 50 MB of tables", "kalah export-site site --size 50MB"),
    ("Include puzzles of the day for a month", "kalah export-site site --days 30"),
]))]
pub struct ExportSite {
    /// Folder to write
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    book: args::BookFlag,
    /// Copy at most this size of tables, smallest layers first
    #[arg(long, value_name = "SIZE", value_parser = args::bytes, default_value = "100MiB")]
    size: u64,
    /// Find puzzles of the day for N days; later days repeat other puzzles
    #[arg(long, value_name = "N", default_value_t = 366, value_parser = clap::value_parser!(u32).range(..=36_525))]
    days: u32,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ExportSiteReport {
    directory: String,
    tables: usize,
    table_bytes: u64,
    left_out: usize,
    book_positions: usize,
    puzzles: usize,
}

impl ExportSite {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let pulse = stopped_by_signal();
        let mut options = SiteOptions::new(self.tables.path.clone());
        options.size = self.size;
        if !self.tables.path.is_dir() {
            return Err(SiteError::NoTables(self.tables.path).into());
        }
        options.books = self.book.find_all(&self.tables.path);
        options.days = self.days;
        let plan = SitePlan::new(&options)?;
        let written = match self.write(&plan, &pulse) {
            Err(SiteError::Stopped(_)) => {
                output::message("stopped: the folder is unchanged; the same command starts over");
                return Ok(Outcome::Failed);
            }
            written => written?,
        };
        let report = ExportSiteReport {
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
                "{} left out, since they exceed --size {}",
                output::count(report.left_out, "table"),
                HumanBytes(self.size)
            ));
        }
        if report.tables == 0 {
            output::note(format_args!(
                "there are no tables in {}: build some with `kalah build --seeds 20`",
                self.tables.path.display()
            ));
        }
        Ok(Outcome::Done)
    }

    /// Writes the planned site, and shows the progress.
    fn write(&self, plan: &SitePlan, pulse: &Pulse) -> Result<SiteReport, SiteError> {
        output::note(format_args!(
            "{} to copy, {}; then puzzles are searched for",
            output::count(plan.tables(), "table"),
            HumanBytes(plan.bytes())
        ));
        let progress = Progress::of(plan.bytes(), "bytes");
        progress.stage("tables".to_owned());
        let copied = progress.watch(&pulse.positions, || plan.copy_tables(&self.directory, pulse));
        progress.finish();
        let folder = copied?;
        let progress = Progress::of(plan.puzzle_steps(), "games and days");
        progress.stage("puzzles".to_owned());
        let written = progress.watch(&pulse.positions, || plan.write_rest(folder, pulse));
        progress.finish();
        written
    }
}
