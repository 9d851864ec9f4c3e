//! Samples of positions with more seeds than can be solved in large numbers. Their scores are estimated by
//! depth-limited searches, which are far better than the evaluations at their leaves.

use std::ops::RangeInclusive;

use kalah_core::evaluation::PhasedNetwork;
use kalah_core::game::Rules;
use kalah_core::table::Tables;
use kalah_solve::solve::Solver;
use rayon::prelude::*;

use super::TrainError;
use super::sampler::{SearchSampler, TrainingSample, Visited};

/// Seeds above the tables at which the first phase begins; below it, there are exact scores to learn from.
const FIRST_ABOVE: u32 = 4;

/// Seeds of a phase.
const PHASE_SEEDS: u32 = 10;

/// Seeds spanned by the samples of the last phase, which also evaluates all positions with more.
const LAST_PHASE_SEEDS: u32 = 2 * PHASE_SEEDS;

/// Upper limit of the seeds a pit at which a phase begins.
const MOST_SEEDS_A_PIT: u32 = 5;

/// Seeds by which the samples of a phase extend beyond it on both sides.
const OVERLAP: u32 = 1;

/// Turns of the search that estimates a score.
const TURNS: u32 = 5;

/// Maximum positions taken from one search.
const TAKEN_OF_A_SEARCH: usize = 12;

/// Samples taken with one sequence of random numbers, so that they do not depend on threads.
const CHUNK: usize = 2048;

/// Fewest seeds, and seeds of the samples, of each phase above tables to `reach` seeds. Rules with relays have
/// no phases: their turns have dozens of moves, so estimates take too long (docs/measurements.md in the
/// repository).
pub(super) fn phases(rules: Rules, reach: u32, pits: usize) -> Vec<(u32, RangeInclusive<u32>)> {
    if rules.relays() {
        return Vec::new();
    }
    let end = MOST_SEEDS_A_PIT * 2 * pits as u32;
    let samples = |least: u32| {
        let next = if least + PHASE_SEEDS < end { least + PHASE_SEEDS } else { least + LAST_PHASE_SEEDS };
        (least, least - OVERLAP..=next - 1 + OVERLAP)
    };
    (reach + FIRST_ABOVE..end).step_by(PHASE_SEEDS as usize).map(samples).collect()
}

/// Takes samples for the phases above the tables.
#[derive(Clone, Copy)]
pub(super) struct PhaseSampler<'t> {
    pub tables: &'t Tables,
    /// The network by which searches order moves.
    pub network: &'t PhasedNetwork,
    /// A solver with this network, which estimates scores.
    pub solver: &'t Solver<'t>,
}

impl PhaseSampler<'_> {
    /// Positions with `seeds` seeds in play that searches visit or might have visited, with estimates of their
    /// scores. The random numbers begin with `first`.
    ///
    /// # Errors
    /// [`TrainError::Board`] if random games do not lead to such positions; also if a table is damaged.
    pub(crate) fn samples(
        &self,
        seeds: &RangeInclusive<u32>,
        wanted: usize,
        first: u64,
    ) -> Result<Vec<TrainingSample>, TrainError> {
        let chunks = (0..wanted.div_ceil(CHUNK)).into_par_iter();
        let chunks =
            chunks.map(|chunk| self.chunk(seeds, CHUNK.min(wanted - chunk * CHUNK), (first << 32) + chunk as u64));
        Ok(chunks.collect::<Result<Vec<_>, TrainError>>()?.concat())
    }

    /// One chunk of samples, with a sequence of random numbers of its own.
    fn chunk(
        &self,
        seeds: &RangeInclusive<u32>,
        wanted: usize,
        random: u64,
    ) -> Result<Vec<TrainingSample>, TrainError> {
        let (least, pits) = (*seeds.start(), self.tables.pits());
        let mut sampler = SearchSampler::new(self.tables, Some(self.network), random);
        let mut samples = Vec::new();
        while samples.len() < wanted {
            let most = sampler.random.u32(seeds.clone());
            let Some(start) = sampler.next_start(least..=most)? else { continue };
            let mut visited = sampler.visit(start, least - 1)?;
            visited.retain(|visited| visited.seeds >= least);
            let taken = spread(&mut sampler, &visited, least..=start.seeds);
            for visited in taken.into_iter().take(wanted - samples.len()) {
                let position = visited.board.position(pits).expect("the board of tables");
                let estimate = self.solver.evaluation(&position, TURNS)?;
                samples.push(visited.sample(estimate.round().clamp(0.0, visited.seeds.into()) as u32));
            }
        }
        Ok(samples)
    }
}

/// Some of the positions visited, spread evenly over numbers of seeds, although most have few. Every other
/// one is replaced by a position after a random move, since searches evaluate those too, and hardly visit
/// the bad ones.
fn spread(sampler: &mut SearchSampler, visited: &[Visited], seeds: RangeInclusive<u32>) -> Vec<Visited> {
    let mut taken: Vec<Visited> = Vec::new();
    for _ in 0..TAKEN_OF_A_SEARCH {
        let level = sampler.random.u32(seeds.clone());
        let distance = |visited: &&Visited| visited.seeds.abs_diff(level);
        let least = visited.iter().map(|visited| distance(&visited)).min();
        let nearest: Vec<&Visited> = visited.iter().filter(|visited| Some(distance(visited)) == least).collect();
        let Some(&&one) = nearest.get(sampler.random.usize(..nearest.len().max(1))) else { break };
        let chosen = if sampler.random.bool() { after_a_move(sampler, one) } else { Some(one) };
        let is_new = |chosen: &Visited| !taken.iter().any(|one| one.board == chosen.board);
        taken.extend(chosen.filter(|chosen| chosen.seeds >= *seeds.start() && is_new(chosen)));
    }
    taken
}

/// The position after a random move, unless the game is over then.
fn after_a_move(sampler: &mut SearchSampler, Visited { board, seeds }: Visited) -> Option<Visited> {
    let pit = sampler.random_move(board);
    let sown = sampler.sower.sow(board, pit);
    (!sown.board.is_over()).then(|| Visited { board: sown.next(), seeds: seeds - sown.stored })
}
