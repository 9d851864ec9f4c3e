use std::path::{Path, PathBuf};

use clap::Args;

use super::data::Chart;
#[cfg(feature = "plot")]
use super::svg;
use crate::cli::output;

/// The flag for charts.
#[derive(Args, Clone)]
pub struct Plot {
    /// Draw a chart into this file
    #[arg(long, value_name = "FILE.svg", value_parser = svg_file)]
    plot: Option<PathBuf>,
}

/// Reads the name of a file for a chart.
fn svg_file(text: &str) -> Result<PathBuf, String> {
    if cfg!(not(feature = "plot")) {
        return Err("this program was compiled without the feature `plot`: build it with \
                    `cargo build --release --locked --features plot`"
            .to_owned());
    }
    let path = Path::new(text);
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")) {
        return Err("charts are SVG files: choose a name that ends in .svg".to_owned());
    }
    match path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
        Some(parent) => Err(format!("there is no directory {}", parent.display())),
        None => Ok(path.to_owned()),
    }
}

/// Draws nothing, since the flag is an error.
#[cfg(not(feature = "plot"))]
mod svg {
    pub fn draw(_charts: &[super::Chart], _path: &std::path::Path) -> anyhow::Result<bool> {
        Ok(false)
    }
}

impl Plot {
    /// Returns true if charts are asked for.
    pub fn is_asked(&self) -> bool {
        self.plot.is_some()
    }

    /// Draws the charts, one below the other, if they are asked for.
    pub fn draw(&self, charts: impl FnOnce() -> Vec<Chart>) -> anyhow::Result<()> {
        let Some(path) = &self.plot else { return Ok(()) };
        if svg::draw(&charts(), path)? {
            output::note(format_args!("drawn: {}", path.display()));
        } else {
            output::note(format_args!("no chart is written to {}: there are no data for it", path.display()));
        }
        Ok(())
    }
}
