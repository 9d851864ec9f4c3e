use std::path::Path;

use kalah_core::game::{Position, Rules};
use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions};
use kalah_core::table::{Cuts, TableKey};
use kalah_tables::builder::{Backend, BuildPlan};
use serde::Serialize;

use crate::solve::memory::{Needs, SearchMemory};

/// Bits per position in an exact table (measured: 4.07 to 4.15).
const EXACT_BITS: f64 = 4.15;

/// Bits per bit of a bound table, checksums included.
const CHECKED_BIT: f64 = 1.0 + 8.0 / 65536.0;

/// Factor by which tables of one seed more reduce the nodes of a search: the square root of 2.2. Two more seeds
/// save a factor of 1.3 to 3.0 (docs/measurements.md), so predicted times are rough.
const SEED: f64 = 1.483;

/// Additional nodes, as a share, of a search with many layers in 2 bits instead of exact ones; and the factor
/// by which each further layer adds less (docs/measurements.md, with evaluation networks and cuts at 4 seeds).
const TWO_BITS: (f64, f64) = (0.05, 0.83);

/// The same for layers in 1 bit instead of 2, at the top: 0.36 for 4 layers, 0.54 for 14.
const ONE_BIT: (f64, f64) = (0.55, 0.77);

/// Positions for which bound tables are made, per second and thread. It is half of the rate measured with exact
/// tables in the page cache (docs/measurements.md), since those of large layers are read from the disk.
const BOUNDS_RATE: f64 = 50e6;

/// Kind of the table of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum LayerKind {
    /// The score of every position.
    #[serde(rename = "exact")]
    Exact,
    /// A bound table of 2 bits a position.
    #[serde(rename = "2 bits")]
    TwoBits,
    /// A bound table of 1 bit a position.
    #[serde(rename = "1 bit")]
    OneBit,
}

impl LayerKind {
    /// The name: exact, 2 bits, 1 bit.
    pub fn name(self) -> &'static str {
        match self {
            LayerKind::Exact => "exact",
            LayerKind::TwoBits => "2 bits",
            LayerKind::OneBit => "1 bit",
        }
    }

    /// The cuts of its bound tables; `None` for exact tables.
    pub fn cuts(self) -> Option<Cuts> {
        match self {
            LayerKind::Exact => None,
            LayerKind::TwoBits => Some(Cuts::TWO_BITS),
            LayerKind::OneBit => Some(Cuts::ONE_BIT),
        }
    }

    /// Approximate bytes of this many positions.
    fn bytes(self, positions: u64) -> u64 {
        let bits = match self {
            LayerKind::Exact => EXACT_BITS,
            LayerKind::TwoBits => 2.0 * CHECKED_BIT,
            LayerKind::OneBit => CHECKED_BIT,
        };
        (positions as f64 * bits / 8.0) as u64
    }
}

/// The largest exact layer of a search, the largest in at least 2 bits, and the largest of all.
type Mixture = (usize, usize, usize);

/// Nodes of a search with these tables, in an arbitrary unit.
fn nodes((exact, two_bits, one_bit): Mixture) -> f64 {
    let more = |(most, next): (f64, f64), layers: usize| 1.0 + most * (1.0 - next.powi(layers as i32));
    SEED.powi(-(one_bit as i32)) * more(TWO_BITS, one_bit - exact) * more(ONE_BIT, one_bit - two_bits)
}

/// A search whose tables are planned, and the means to make them.
#[derive(Clone, Copy, Debug)]
pub struct PlannedSearch<'a> {
    /// The rule set.
    pub rules: Rules,
    /// The position to search.
    pub position: Position,
    /// The directory of the tables.
    pub directory: &'a Path,
    /// The memory of the search.
    pub memory: SearchMemory,
    /// Free bytes of disk for missing tables; `None` if they are unknown.
    pub disk: Option<u64>,
    /// False if no bound tables can be made.
    pub with_bounds: bool,
    /// Backend that computes missing tables.
    pub backend: &'a Backend,
    /// Number of its threads.
    pub threads: usize,
}

/// A layer of a plan.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct PlannedLayer {
    /// The layer; in a document, its seeds.
    #[serde(rename = "seeds", serialize_with = "TableKey::serialize_seeds")]
    pub key: TableKey,
    /// Kind of its table.
    pub kind: LayerKind,
    /// Number of positions.
    pub positions: u64,
    /// Approximate bytes of the table.
    pub bytes: u64,
    /// True if the table exists.
    pub exists: bool,
}

/// Recommended tables for a search with a given memory, and the cost of making those that are missing: exact tables of
/// the layers with few seeds, bound tables of 2 bits above these, and of 1 bit at the top. Each part may be missing.
///
/// Of all such mixtures it needs the fewest nodes, by a rule of thumb from measurements. Making the bound tables needs
/// exact tables of all layers; afterwards those above [`SearchPlan::exact`] can be removed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchPlan {
    /// The layers, from 2 seeds up.
    pub layers: Vec<PlannedLayer>,
    /// The largest exact layer; 1 for none.
    pub exact: usize,
    /// Bytes of the transposition table.
    pub transpositions: u64,
    /// The largest layer if only exact tables were used in the same memory.
    pub exact_alone: usize,
    /// Estimated nodes of the search, in an arbitrary unit.
    pub nodes: f64,
    /// The same with exact tables alone.
    pub nodes_exact_alone: f64,
    /// The largest exact layer that is needed: that of the largest missing bound table, if there is one.
    pub exact_up_to: usize,
    /// Plan of the build of the missing exact layers up to there.
    pub build: BuildPlan,
    /// Layers whose bound tables are missing, fewest seeds first.
    pub bounds: Vec<PlannedLayer>,
    /// Bytes of disk for all missing tables.
    pub disk: u64,
    /// Estimated seconds to make all missing tables.
    pub seconds: f64,
}

impl PlannedSearch<'_> {
    /// The best tables for the memory, up to `most` seeds, whether or not they fit the disk. `None` if there are no
    /// tables of such boards, no memory for any, or no known memory.
    pub fn plan(&self, most: usize) -> Option<SearchPlan> {
        let (pits, seeds) = (self.position.pits(), self.position.seeds() as usize);
        if pits > MAX_TABLE_PITS || self.memory.total().is_none() {
            return None;
        }
        let most = most.min(seeds).min(MAX_TABLE_SEEDS);
        let positions: Vec<u64> = (0..=most).map(|seeds| layer_positions(pits, seeds.max(1))).collect();
        // Bytes of all layers up to each one, and what a search up to there needs beside them.
        let up_to = |kind: LayerKind| -> Vec<u64> {
            let mut sum = 0;
            positions.iter().map(|&positions| (sum += kind.bytes(positions), sum).1).collect()
        };
        let [exact, two, one] = [LayerKind::Exact, LayerKind::TwoBits, LayerKind::OneBit].map(up_to);
        let others: Vec<Needs> = (0..=most).map(|reach| Needs::new(pits, seeds, reach, 0)).collect();
        let needs = |(first, second, third): Mixture| {
            others[third].and_files(exact[first] + two[second] - two[first] + one[third] - one[second])
        };
        let fixed = |mixture: Mixture| needs(mixture).fixed;
        let fits = |&mixture: &Mixture| self.memory.fits(needs(mixture));
        let exact_alone = (2..=most).rev().find(|&reach| fits(&(reach, reach, reach)))?;
        let alone = (exact_alone, exact_alone, exact_alone);
        let mixtures = (2..=most).flat_map(|third| {
            (1..=third).flat_map(move |second| (1..=second).map(move |first| (first, second, third)))
        });
        // Among equal ones, the smallest.
        let best = mixtures
            .filter(|_| self.with_bounds)
            .filter(fits)
            .min_by(|&one, &other| nodes(one).total_cmp(&nodes(other)).then_with(|| fixed(one).cmp(&fixed(other))));
        let best = best.unwrap_or(alone);
        let layers: Vec<PlannedLayer> = (2..=best.2).map(|seeds| self.layer(seeds, best)).collect();
        let is_missing = |layer: &&PlannedLayer| layer.kind != LayerKind::Exact && !layer.exists;
        let bounds: Vec<PlannedLayer> = layers.iter().filter(is_missing).copied().collect();
        let exact_up_to = bounds.last().map_or(best.0, |layer| layer.key.seeds);
        let last = TableKey { rules: self.rules, pits, seeds: exact_up_to };
        let build = BuildPlan::new(self.directory, last, self.backend, self.threads);
        let bound_positions: u64 = bounds.iter().map(|layer| layer.positions).sum();
        Some(SearchPlan {
            layers,
            exact: best.0,
            transpositions: self.memory.transposition_bytes(needs(best)),
            exact_alone,
            nodes: nodes(best),
            nodes_exact_alone: nodes(alone),
            exact_up_to,
            disk: build.disk + bounds.iter().map(|layer| layer.bytes).sum::<u64>(),
            seconds: build.seconds + bound_positions as f64 / (BOUNDS_RATE * self.threads as f64),
            build,
            bounds,
        })
    }

    /// The best tables, up to `most` seeds, of which the missing ones fit the disk and meet `condition`. `None` if
    /// there is no such plan.
    pub fn plan_that_fits(&self, most: usize, condition: impl Fn(&SearchPlan) -> bool) -> Option<SearchPlan> {
        let fits = |plan: &SearchPlan| self.disk.is_none_or(|free| plan.disk <= free) && condition(plan);
        (2..=most.min(MAX_TABLE_SEEDS)).rev().filter_map(|most| self.plan(most)).find(fits)
    }

    /// The layer with `seeds` seeds of a mixture.
    fn layer(&self, seeds: usize, (exact, two_bits, _): Mixture) -> PlannedLayer {
        let key = TableKey { rules: self.rules, pits: self.position.pits(), seeds };
        let (kind, path) = match seeds {
            _ if seeds <= exact => (LayerKind::Exact, key.path(self.directory)),
            _ if seeds <= two_bits => (LayerKind::TwoBits, key.bounds_path(self.directory)),
            _ => (LayerKind::OneBit, key.bounds_path(self.directory)),
        };
        let positions = layer_positions(key.pits, seeds);
        PlannedLayer { key, kind, positions, bytes: kind.bytes(positions), exists: path.exists() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_of_thumb_is_close_to_what_was_measured() {
        // Million nodes of Kalah(6,5) with these tables and an evaluation network.
        let measured = [
            ((24, 24, 24), 85.4),
            ((26, 26, 26), 48.9),
            ((28, 28, 28), 21.9),
            ((14, 28, 28), 21.4),
            ((14, 24, 28), 27.2),
            ((14, 14, 28), 30.8),
        ];
        for (mixture, million) in measured {
            let ratio = nodes(mixture) / nodes((28, 28, 28)) / (million / 21.9);
            assert!((0.7..1.5).contains(&ratio), "{mixture:?}: {ratio}");
        }
    }
}
