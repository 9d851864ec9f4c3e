use std::path::PathBuf;

use clap::Args;
use indicatif::HumanBytes;
use kalah::game::Rules;
use kalah::serve::{SiteOptions, SitePlan, SiteReport};
use serde::Serialize;

use crate::cli::{Outcome, Progress, Stoppable, args, examples, failure, line, note, output, stopped_by_signal};

/// Write the page and its engine for a static web host
///
/// Use this to publish the page without a server program. The engine, a WebAssembly module, runs in the visitor's
/// browser: it builds small tables in memory, and searches above them. It reads the tables in the folder, if any, in
/// parts, so the host must answer range requests. See docs/serve.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Write the page without tables", "kalah export-site site --module kalah_wasm.wasm --size 0"),
    ("Add 50 MB of tables", "kalah export-site site --module kalah_wasm.wasm --size 50MB"),
]))]
pub(crate) struct ExportSite {
    /// New or empty folder to write into
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The engine, with kalah_first.wasm beside it: files of the npm package (docs/packages.md), made by packaging/wasm
    #[arg(long, value_name = "FILE", env = "KALAH_MODULE", hide_env_values = true)]
    module: PathBuf,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    book: args::BookFlag,
    /// Copy at most this size of tables, smallest layers first
    #[arg(long, value_name = "SIZE", value_parser = args::bytes, default_value = "100MiB")]
    size: u64,
    /// Let browsers build tables up to N seeds, or as many positions on other boards than 6 pits; 0 for none
    #[arg(long, value_name = "N", default_value_t = 18, value_parser = clap::value_parser!(u8).range(..=24))]
    seeds: u8,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ExportSiteReport {
    directory: String,
    #[serde(flatten)]
    written: SiteReport,
}

impl ExportSite {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let pulse = stopped_by_signal();
        let options = SiteOptions {
            module: self.module,
            tables: self.tables.path().to_owned(),
            size: self.size,
            books: self.book.find(self.tables.directory(), &Rules::ALL)?,
            seeds: self.seeds.into(),
        };
        let plan = SitePlan::new(&options)?;
        note!("{} to copy, {}", output::count(plan.tables(), "table"), HumanBytes(plan.bytes()));
        let progress = Progress::of(plan.bytes(), "bytes").at("tables");
        let written = progress.complete(&pulse.positions, || plan.write(&self.directory, &pulse));
        let written = written.if_stopped("stopped: delete the incomplete folder before the same command")?;
        let report = ExportSiteReport { directory: self.directory.display().to_string(), written };
        output::answer(self.json, &report, || {
            let SiteReport { module_bytes, tables, table_bytes, book_positions, left_out, .. } = report.written;
            let (module, bytes) = (HumanBytes(module_bytes), HumanBytes(table_bytes));
            let tables = output::count(tables, "table");
            let positions = output::many(book_positions as u64, "position");
            line!(
                "{}: the engine ({module}), {tables} ({bytes}; {left_out} left out), {positions} of the book",
                report.directory
            )
        })?;
        Ok(Outcome::Done)
    }
}
