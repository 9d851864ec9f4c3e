//! Reports that people look at: tables for a terminal, CSV, JSON, charts.

use std::io;

use clap::Args;
use comfy_table::{CellAlignment, ContentArrangement, presets};
use serde::Serialize;

use crate::cli::output;
use crate::cli::output::chart::{Chart, Plot};

/// How a report is printed.
#[derive(Args, Clone)]
pub struct Format {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    #[command(flatten)]
    pub plot: Plot,
}

/// Rows of cells under a heading.
pub struct Grid {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A grid without rows.
    pub fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Grid {
        Grid { heading: heading.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Prints it for a terminal: columns set flush right, the first one left.
    pub fn print(&self) -> io::Result<()> {
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

    /// Prints it as comma-separated values.
    pub fn print_csv(&self) -> io::Result<()> {
        let mut out = csv::Writer::from_writer(io::stdout().lock());
        out.write_record(&self.heading)?;
        for row in &self.rows {
            out.write_record(row)?;
        }
        out.flush()
    }
}

impl Format {
    /// Prints a report in one of its shapes: `document` as JSON, `records` (one a result, every column machine-readable)
    /// as CSV, or whatever `text` prints; and draws the charts, one below the other, if they are asked for.
    pub fn print(
        &self,
        document: &impl Serialize,
        records: impl FnOnce() -> Grid,
        text: impl FnOnce() -> io::Result<()>,
        charts: impl FnOnce() -> Vec<Chart>,
    ) -> anyhow::Result<()> {
        match self {
            Format { json: true, .. } => output::json(document)?,
            Format { csv: true, .. } => records().print_csv()?,
            _ => text()?,
        }
        // Last: what was found is not lost where it cannot be drawn.
        self.plot.draw(charts)
    }
}
