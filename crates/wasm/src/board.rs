use std::error::Error;

use kalah_api::hex;
use kalah_base::progress::Pulse;
use kalah_core::cancel::Instant;
use kalah_core::game::Rules;
use kalah_core::index::layer_positions;
use kalah_core::table::{TableKey, Tables};
use kalah_tables::builder::MemoryBuilder;
use serde::Serialize;

/// The tables of one rule set and board, which grow layer by layer.
pub(super) struct Board {
    builder: MemoryBuilder,
    last: TableKey,
}

/// A layer that was built.
#[derive(Serialize)]
pub(super) struct LayerAnswer {
    rules: &'static str,
    pits: usize,
    seeds: usize,
    positions: u64,
    bytes: u64,
    /// The digest of the table, as in `tables/manifest.jsonl`.
    digest: String,
    seconds: f64,
}

impl Board {
    /// Begins without tables; those up to `last` can be built.
    ///
    /// # Errors
    /// When the tables are too large.
    pub(crate) fn new(last: TableKey) -> Result<Board, Box<dyn Error>> {
        Ok(Board { builder: MemoryBuilder::new(last)?, last })
    }

    pub(crate) fn is(&self, rules: Rules, pits: usize) -> bool {
        (self.last.rules, self.last.pits) == (rules, pits)
    }

    /// The largest layer.
    pub(crate) fn last(&self) -> TableKey {
        self.last
    }

    /// The layers that were built.
    pub(crate) fn tables(&self) -> &Tables {
        self.builder.tables()
    }

    /// Seeds of the largest layer that was built, at least 1.
    pub(crate) fn seeds(&self) -> usize {
        self.tables().max_seeds().unwrap_or(1)
    }

    /// Builds the next layer; `None` if all are built.
    pub(crate) fn build(&mut self) -> Result<Option<LayerAnswer>, Box<dyn Error>> {
        let start = Instant::now();
        let Some(table) = self.builder.build_layer(&Pulse::default())? else { return Ok(None) };
        let (key, header) = (table.key(), table.header());
        Ok(Some(LayerAnswer {
            rules: key.rules.name(),
            pits: key.pits,
            seeds: key.seeds,
            positions: layer_positions(key.pits, key.seeds),
            bytes: header.file_bytes,
            digest: hex(&header.digest),
            seconds: start.elapsed().as_secs_f64(),
        }))
    }
}
