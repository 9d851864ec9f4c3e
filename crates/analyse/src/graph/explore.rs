use std::sync::Arc;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_core::cancel::{Cancel, Stopped};
use kalah_core::game::{Rules, StartPosition};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, RowIndex, TableRow};
use kalah_core::table::{TableError, Tables};
use kalah_core::text::size;
use rayon::prelude::*;

use super::expand::Block;
use super::space::{Convention, GraphRows, RowSeeds, Side, Space, state_space};
use super::tally::{Branching, Outcomes, Subgraph, tally};

/// Explores a game graph.
#[derive(Clone, Copy, Debug)]
pub struct Explorer<'a> {
    /// The rule set.
    pub rules: Rules,
    /// The start: 1 to [`MAX_TABLE_PITS`] pits a side, at most [`MAX_TABLE_SEEDS`] seeds.
    pub start: StartPosition,
    /// The convention by which positions are counted.
    pub convention: Convention,
    /// Maximum bytes of memory.
    pub memory: u64,
    /// The tables of the rule set and number of pits, up to all seeds of the start. They give the outcomes;
    /// without them positions are only counted.
    pub tables: Option<&'a Tables>,
}

/// A layer of a game graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphLayer {
    /// Seeds in play.
    pub seeds: usize,
    /// The subgraphs reached, by the first player's store.
    pub subgraphs: Vec<Subgraph>,
}

impl GraphLayer {
    /// Number of positions in all subgraphs.
    pub fn positions(&self) -> u64 {
        self.subgraphs.iter().map(|subgraph| subgraph.positions).sum()
    }
}

/// Counts of a game graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GameGraph {
    /// Its layers, most seeds in play first.
    pub layers: Vec<GraphLayer>,
    /// Numbers of moves of its positions.
    pub branching: Branching,
    /// Peak bytes of memory of the positions and the maps of rows.
    pub memory: u64,
}

impl GameGraph {
    /// Number of positions.
    pub fn positions(&self) -> u64 {
        self.layers.iter().map(GraphLayer::positions).sum()
    }

    /// All positions by their outcomes; `None` without tables.
    pub fn outcomes(&self) -> Option<Outcomes> {
        let mut all = Outcomes::default();
        for subgraph in self.layers.iter().flat_map(|layer| &layer.subgraphs) {
            all.add(subgraph.outcomes?);
        }
        Some(all)
    }
}

/// Error of exploring a game graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The positions of the board cannot be ranked.
    #[error(
        "the graph of {0} cannot be explored: boards have 1 to {MAX_TABLE_PITS} pits a side \
        and at most {MAX_TABLE_SEEDS} seeds in all"
    )]
    Board(StartPosition),
    /// The graph needs more memory than the limit.
    #[error(
        "the graph of {start} does not fit into {}: it needs about {} of memory, at most {}",
        size(*limit), size(need.expected), size(need.most)
    )]
    Memory {
        /// The start.
        start: StartPosition,
        /// Memory that the graph needs.
        need: Need,
        /// The limit in bytes.
        limit: u64,
    },
    /// A table is missing or damaged.
    #[error("{0}")]
    Table(#[from] TableError),
    /// It was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl Diagnostic for GraphError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            GraphError::Board(_) => Outcome::Usage.into(),
            GraphError::Memory { .. } => Outcome::Failed.help("allow more with --memory, or choose a smaller board"),
            GraphError::Table(error) => error.diagnosis(),
            GraphError::Stopped(error) => error.diagnosis(),
        }
    }
}

/// Memory that a graph needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Need {
    /// Expected bytes.
    pub expected: u64,
    /// Upper limit in bytes.
    pub most: u64,
}

impl Need {
    /// Memory for the graph of a start; `None` if its positions cannot be ranked.
    ///
    /// The upper limit is the size of all bit matrices of the board. The expected part of them that is in
    /// memory at one time is 3 to 8 % with 3 pits a side, 11 to 18 % with 4, 13 to 35 % with 5 and 36 % with 6,
    /// measured on the boards of docs/results.md.
    pub fn of(start: StartPosition) -> Option<Need> {
        let total = 2 * start.pits * start.seeds as usize;
        let fits = (1..=MAX_TABLE_PITS).contains(&start.pits) && (1..=MAX_TABLE_SEEDS).contains(&total);
        fits.then(|| {
            let rows = GraphRows::bytes(start.pits, total);
            let planes = (0..=total).map(|seeds| Space::layer_bytes(start.pits, total, seeds)).sum::<u64>();
            Need { expected: rows + planes / 20 * start.pits as u64, most: rows + planes }
        })
    }
}

impl Explorer<'_> {
    /// Explores the graph on the threads of the current pool. Calls `on_layer` after every layer.
    ///
    /// # Errors
    /// If the board is too large, the memory too small, a table missing or damaged, or `cancel` is cancelled.
    pub fn run(&self, cancel: &Cancel, on_layer: &mut dyn FnMut(&GraphLayer)) -> Result<GameGraph, GraphError> {
        let Explorer { rules, start, convention, memory: limit, tables } = *self;
        let need = Need::of(start).ok_or(GraphError::Board(start))?;
        if need.expected > limit {
            return Err(GraphError::Memory { start, need, limit });
        }
        let total = 2 * start.pits * start.seeds as usize;
        let row_bytes = GraphRows::bytes(start.pits, total);
        let index = RowIndex::new(start.pits, total.max(2)).ok_or(GraphError::Board(start))?;
        let rows = GraphRows::new(rules, Arc::new(index), total);
        let mut space = Space::new(start.pits, total, convention, limit - row_bytes);
        let mut row = TableRow::default();
        row[..start.pits].fill(start.seeds as u8);
        let rank = rows.maps.rows().rank(&row);
        space.target(0, RowSeeds { first: total / 2, second: total / 2 }, Side::First).insert(rank, rank);
        let mut graph = GameGraph { layers: Vec::new(), branching: Branching::default(), memory: 0 };
        for seeds in (0..=total).rev() {
            let blocks = (0..=total - seeds)
                .flat_map(|store| (1..seeds).map(move |first| (store, RowSeeds { first, second: seeds - first })));
            blocks
                .filter(|&(store, seeds)| !space.is_final(store, seeds))
                .collect::<Vec<_>>()
                .into_par_iter()
                .filter(|_| !space.is_exhausted() && !cancel.is_cancelled())
                .for_each(|(store, seeds)| Block::new(&rows, &space, store, seeds).expand());
            if space.is_exhausted() {
                return Err(GraphError::Memory { start, need, limit });
            }
            cancel.check()?;
            graph.memory = graph.memory.max(row_bytes + space.used());
            let table = tables.filter(|_| seeds >= 2).map(|tables| tables.require(seeds)).transpose()?;
            let (subgraphs, branching) = tally(&rows, &space, seeds, tables.is_some(), table)?;
            graph.branching.add(&branching);
            let layer = GraphLayer { seeds, subgraphs };
            if !layer.subgraphs.is_empty() {
                on_layer(&layer);
                graph.layers.push(layer);
            }
            space.free(seeds);
        }
        debug_assert!(u128::from(graph.positions()) <= state_space(start));
        Ok(graph)
    }
}
