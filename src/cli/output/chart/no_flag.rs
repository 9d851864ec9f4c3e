use clap::Args;

use super::data::Chart;

/// No flag: this program was compiled without the feature `plot`.
#[derive(Args, Clone)]
pub struct Plot {}

impl Plot {
    /// Whether charts are asked for.
    pub fn is_asked(&self) -> bool {
        false
    }

    /// Draws nothing.
    pub fn draw(&self, _charts: impl FnOnce() -> Vec<Chart>) -> anyhow::Result<()> {
        Ok(())
    }
}
