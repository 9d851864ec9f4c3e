//! Reports as tables for a terminal, CSV or JSON.

use std::io;

use clap::Args;
use comfy_table::{CellAlignment, ContentArrangement, presets};
use serde::Serialize;

use crate::cli::output;

/// Format of a report.
#[derive(Args, Clone)]
pub(crate) struct Format {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// Rows of cells under a heading.
pub(crate) struct Grid {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Returns a grid without rows.
    pub(crate) fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Grid {
        Grid { heading: heading.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Prints the grid for a terminal: the first column aligned left, others right.
    pub(crate) fn print(&self) -> io::Result<()> {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(&self.heading);
        table.add_rows(&self.rows);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_cell_alignment(if index == 0 { CellAlignment::Left } else { CellAlignment::Right });
            column.set_padding((if index == 0 { 0 } else { 1 }, 1));
        }
        table.lines().try_for_each(|line| output::line(line.trim_end()))
    }

    /// Prints the grid as comma-separated values.
    pub(crate) fn print_csv(&self) -> io::Result<()> {
        let mut out = csv::Writer::from_writer(io::stdout().lock());
        out.write_record(&self.heading)?;
        for row in &self.rows {
            out.write_record(row)?;
        }
        out.flush()
    }
}

impl Format {
    /// Prints a report in the chosen format: `document` as JSON, `records` (one result a row, all columns
    /// machine-readable) as CSV, or the output of `text`.
    pub(crate) fn print(
        &self,
        document: &impl Serialize,
        records: impl FnOnce() -> Grid,
        text: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Format { json: true, .. } => output::json(document),
            Format { csv: true, .. } => records().print_csv(),
            _ => text(),
        }
    }
}
