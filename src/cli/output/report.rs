//! Reports as tables for a terminal, CSV or JSON.

use std::io;

use clap::Args;
use comfy_table::{CellAlignment, ContentArrangement, presets};
use serde::Serialize;
use serde_json::Value;

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
}

impl Format {
    /// Prints a report in the chosen format: `document` as JSON; its list `rows` as CSV, with these columns; or the
    /// output of `text`. Columns are separated by spaces. Each is the name of a JSON field, or `heading=field.inner`.
    pub(crate) fn print(
        &self,
        document: &impl Serialize,
        (rows, columns): (&str, &str),
        text: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Format { json: true, .. } => output::json(document),
            Format { csv: true, .. } => print_csv(document, rows, columns),
            _ => text(),
        }
    }
}

/// Prints a line for each entry of the list `rows` of a document, or for the document if it has no such list. A field
/// that the entry lacks is that of the document.
fn print_csv(document: &impl Serialize, rows: &str, columns: &str) -> io::Result<()> {
    let document = serde_json::to_value(document)?;
    let columns: Vec<(&str, String)> = columns
        .split_whitespace()
        .map(|column| column.split_once('=').unwrap_or((column, column)))
        .map(|(heading, path)| (heading, format!("/{}", path.replace('.', "/"))))
        .collect();
    let entries = document[rows].as_array().map_or(std::slice::from_ref(&document), |entries| entries);
    let mut out = csv::Writer::from_writer(io::stdout().lock());
    out.write_record(columns.iter().map(|(heading, _)| heading))?;
    for entry in entries {
        let field = |path: &str| entry.pointer(path).or_else(|| document.pointer(path));
        out.write_record(columns.iter().map(|(_, path)| field(path).map_or(String::new(), cell)))?;
    }
    out.flush()
}

/// Returns the text of a JSON value.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => output::joined(list.iter().map(cell), "; "),
        other => other.to_string(),
    }
}
