use std::ops::RangeInclusive;

use kalah_base::diagnostic::{Diagnosis, Diagnostic, Outcome};
use kalah_core::evaluation::{NetworkError, SEED};
use kalah_core::index::TableRow;
use kalah_core::table::{TableError, Tables};
use kalah_core::text::count;

use super::search_sampler::{SearchSampler, Visited};
use crate::solve::{SolveError, Solver};

/// The smallest layer at which searches for samples end, unless the tables end below it.
const LEAST_REACH: u32 = 8;

/// Maximum seeds above that layer at which these searches begin.
const START_ABOVE_REACH: u32 = 10;

/// Maximum seeds above the tables at which searches above them begin.
const START_ABOVE_TABLES: u32 = 14;

/// Maximum positions above the tables that are solved from one search.
const SOLVED_OF_A_SEARCH: usize = 4;

/// Number of consecutive random games without a suitable position after which the board is given up.
const MOST_FAILED_GAMES: u32 = 10_000;

/// A position with its score: exact, or estimated if it is far above the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TrainingSample {
    /// The mover's row.
    pub mover: TableRow,
    /// The other row.
    pub other: TableRow,
    /// Seeds in play.
    pub seeds: u8,
    /// The score.
    pub score: u8,
}

impl TrainingSample {
    pub(super) fn new(visited: Visited, score: u32) -> TrainingSample {
        let (mover, other) = visited.rows();
        TrainingSample { mover, other, seeds: visited.seeds as u8, score: score as u8 }
    }
}

/// Positions within the tables that searches visit: some from every search, until there are `wanted`.
///
/// The layer at which a search ends is random, so that all layers occur, the larger ones more often.
pub(super) fn samples_within(
    sampler: &mut SearchSampler,
    tables: &Tables,
    wanted: usize,
) -> Result<Vec<TrainingSample>, TrainError> {
    let reach = tables.max_seeds().unwrap_or(0) as u32;
    let mut samples = Vec::new();
    let mut failed_games = 0;
    while samples.len() < wanted {
        let below = reach - LEAST_REACH.min(reach);
        let search_reach = reach - sampler.random.u32(0..=below).min(sampler.random.u32(0..=below));
        let seeds = search_reach + sampler.random.u32(1..=START_ABOVE_REACH);
        let Some(start) = next_start(sampler, 0..=seeds, tables.pits(), &mut failed_games)? else { continue };
        for visited in sampler.search(start, search_reach.min(start.seeds))? {
            if visited.seeds <= reach {
                let (mover, other) = visited.rows();
                samples.push(TrainingSample::new(visited, tables.score_rows(&mover, &other)?.into()));
            }
        }
    }
    samples.truncate(wanted);
    Ok(samples)
}

/// Positions that searches visit above the tables, solved.
pub(super) fn samples_above(
    sampler: &mut SearchSampler,
    tables: &Tables,
    solver: &Solver,
    wanted: usize,
) -> Result<Vec<TrainingSample>, TrainError> {
    let reach = tables.max_seeds().unwrap_or(0) as u32;
    let mut samples = Vec::new();
    let mut failed_games = 0;
    while samples.len() < wanted {
        let seeds = reach + sampler.random.u32(1..=START_ABOVE_TABLES);
        let Some(start) = next_start(sampler, reach + 1..=seeds, tables.pits(), &mut failed_games)? else { continue };
        let visited = sampler.search(start, reach)?;
        for visited in visited.into_iter().filter(|visited| visited.seeds > reach).take(SOLVED_OF_A_SEARCH) {
            let guess = sampler.evaluate(visited.board, visited.seeds).div_euclid(SEED);
            let guess = guess.clamp(0, visited.seeds as i32) as u32;
            let position = visited.board.position(tables.pits()).expect("the board of tables");
            let score = solver.score(&position, guess)?;
            samples.push(TrainingSample::new(visited, score));
        }
    }
    samples.truncate(wanted);
    Ok(samples)
}

/// A position with these seeds in play from the next suitable random game. `failed_games` counts consecutive
/// games without one.
pub(super) fn next_start(
    sampler: &mut SearchSampler,
    seeds: RangeInclusive<u32>,
    pits: usize,
    failed_games: &mut u32,
) -> Result<Option<Visited>, TrainError> {
    let start = sampler.random_start(*seeds.end()).filter(|start| seeds.contains(&start.seeds));
    *failed_games = if start.is_some() { 0 } else { *failed_games + 1 };
    if *failed_games > MOST_FAILED_GAMES { Err(TrainError::Board { pits }) } else { Ok(start) }
}

/// Error of training a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// There are too few tables.
    #[error("training a network needs tables to at least {least} seeds, but they end at {found}")]
    Tables {
        /// The largest layer that is needed.
        least: usize,
        /// The largest layer with a table; 0 for none.
        found: usize,
    },
    /// Random games do not lead to positions to learn from.
    #[error("games with {} a side end before there are positions to learn from", count(*pits, "pit"))]
    Board {
        /// Pits a side.
        pits: usize,
    },
    /// A table is damaged.
    #[error("{0}")]
    Table(#[from] TableError),
    /// A position above the tables could not be solved.
    #[error("{0}")]
    Solve(#[from] SolveError),
    /// The trained weights are too large.
    #[error("training did not converge: {0}")]
    Network(#[from] NetworkError),
}

impl Diagnostic for TrainError {
    fn diagnosis(&self) -> Diagnosis {
        match self {
            TrainError::Table(error) => error.diagnosis(),
            TrainError::Solve(error) => error.diagnosis(),
            _ => Outcome::Failed.into(),
        }
    }
}
