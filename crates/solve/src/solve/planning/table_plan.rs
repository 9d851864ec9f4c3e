use kalah_core::index::{MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_positions};
use kalah_core::table::Cuts;
use serde::Serialize;

use super::super::memory::{Problem, SearchMemory};

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
    pub(crate) fn bytes(self, positions: u64) -> u64 {
        let bits = match self {
            LayerKind::Exact => EXACT_BITS,
            LayerKind::TwoBits => 2.0 * CHECKED_BIT,
            LayerKind::OneBit => CHECKED_BIT,
        };
        (positions as f64 * bits / 8.0) as u64
    }
}

/// Recommended tables for a search with a given memory: exact tables of the layers with few seeds, bound tables
/// of 2 bits above these, and of 1 bit at the top. Each part may be missing.
///
/// Of all such mixtures it needs the fewest nodes, by a rule of thumb from measurements. Making the bound
/// tables needs exact tables of all layers; afterwards those above [`TablePlan::exact`] can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TablePlan {
    /// Pits a side.
    pub pits: usize,
    /// The largest exact layer; 1 for none, since the smallest layer has 2 seeds.
    pub exact: usize,
    /// The largest layer in 2 bits, or the largest exact one otherwise.
    pub two_bits: usize,
    /// The largest layer in 1 bit, or the largest other one otherwise.
    pub one_bit: usize,
    /// Bytes of all tables.
    pub tables: u64,
    /// Bytes of the transposition table.
    pub transpositions: u64,
    /// The largest layer if only exact tables were used in the same memory.
    pub exact_alone: usize,
}

impl TablePlan {
    /// Plans searches on boards of `pits` pits a side with at most `seeds` seeds in play, in this memory, with tables
    /// up to `most` seeds. `None` if there are no tables of such boards, no memory for any, or no known memory.
    pub fn new(pits: usize, seeds: usize, memory: SearchMemory, most: usize) -> Option<TablePlan> {
        if !(1..=MAX_TABLE_PITS).contains(&pits) || memory.total().is_none() {
            return None;
        }
        let most = most.min(seeds).min(MAX_TABLE_SEEDS);
        let positions: Vec<u64> = (0..=most).map(|seeds| layer_positions(pits, seeds.max(1))).collect();
        // Bytes of all layers up to each one, and of the ranks of their rows.
        let up_to = |kind: LayerKind| -> Vec<u64> {
            let mut sum = 0;
            positions.iter().map(|&positions| (sum += kind.bytes(positions), sum).1).collect()
        };
        let [exact, two, one] = [LayerKind::Exact, LayerKind::TwoBits, LayerKind::OneBit].map(up_to);
        let ranks: Vec<u64> = (0..=most).map(|reach| Problem::rank_bytes(pits, reach)).collect();
        let problem = |(first, second, third): (usize, usize, usize)| {
            let files = exact[first] + two[second] - two[first] + one[third] - one[second];
            Problem { pits, seeds, reach: third, files, frame: 0, ranks: ranks[third] }
        };
        let fits = |&mixture: &(usize, usize, usize)| memory.fits(&problem(mixture));
        let exact_alone = (2..=most).rev().find(|&reach| fits(&(reach, reach, reach)))?;
        let mixtures = (2..=most).flat_map(|third| {
            (1..=third).flat_map(move |second| (1..=second).map(move |first| (first, second, third)))
        });
        // Among equal ones, the smallest.
        let best = mixtures.filter(fits).min_by(|&one, &other| {
            nodes(one).total_cmp(&nodes(other)).then_with(|| problem(one).files.cmp(&problem(other).files))
        })?;
        let (exact, two_bits, one_bit) = best;
        Some(TablePlan {
            pits,
            exact,
            two_bits,
            one_bit,
            tables: problem(best).files,
            transpositions: memory.shares(&problem(best)).transpositions,
            exact_alone,
        })
    }

    /// Estimated nodes of a search with these tables, relative to those with `other` ones.
    pub fn nodes_relative_to(&self, other: &TablePlan) -> f64 {
        let mixture = |plan: &TablePlan| (plan.exact, plan.two_bits, plan.one_bit);
        nodes(mixture(self)) / nodes(mixture(other))
    }

    /// The plan without bound tables: exact tables alone, as far as they fit.
    #[must_use]
    pub fn without_bounds(self) -> TablePlan {
        let reach = self.exact_alone;
        let tables = (2..=reach).map(|seeds| LayerKind::Exact.bytes(layer_positions(self.pits, seeds))).sum();
        TablePlan { exact: reach, two_bits: reach, one_bit: reach, tables, ..self }
    }

    /// The layers from 2 seeds up, with their kinds.
    pub(crate) fn layers(&self) -> impl Iterator<Item = (usize, LayerKind)> {
        (2..=self.one_bit).map(|seeds| (seeds, self.kind(seeds)))
    }

    /// Kind of the layer with `seeds` seeds.
    pub(crate) fn kind(&self, seeds: usize) -> LayerKind {
        match seeds {
            _ if seeds <= self.exact => LayerKind::Exact,
            _ if seeds <= self.two_bits => LayerKind::TwoBits,
            _ => LayerKind::OneBit,
        }
    }
}

/// Nodes of a search with exact tables up to `exact` seeds, 2 bits up to `two_bits` and 1 bit up to `one_bit`,
/// in an arbitrary unit.
fn nodes((exact, two_bits, one_bit): (usize, usize, usize)) -> f64 {
    let more = |(most, next): (f64, f64), layers: usize| 1.0 + most * (1.0 - next.powi(layers as i32));
    SEED.powi(-(one_bit as i32)) * more(TWO_BITS, one_bit - exact) * more(ONE_BIT, one_bit - two_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan for 72 seeds in `memory` bytes.
    fn plan(pits: usize, memory: u64, transpositions: Option<u64>) -> Option<TablePlan> {
        TablePlan::new(pits, 72, SearchMemory::new(Some(memory), transpositions), 48)
    }

    #[test]
    fn plans_fit_and_more_memory_is_never_worse() {
        for pits in 1..=MAX_TABLE_PITS {
            let mut before: Option<TablePlan> = None;
            for memory in (24..38).map(|bits| 3u64 << bits) {
                let Some(plan) = plan(pits, memory, None) else { continue };
                assert!(plan.exact <= plan.two_bits && plan.two_bits <= plan.one_bit && plan.one_bit <= 48);
                assert!(plan.tables + plan.transpositions <= memory, "{plan:?}");
                assert!(plan.nodes_relative_to(&plan.without_bounds()) <= 1.0, "{plan:?}");
                let sum: u64 = plan.layers().map(|(seeds, kind)| kind.bytes(layer_positions(pits, seeds))).sum();
                assert_eq!(sum, plan.tables);
                assert!(before.is_none_or(|before| plan.nodes_relative_to(&before) <= 1.0), "{plan:?}");
                before = Some(plan);
            }
            assert!(before.is_some());
        }
        assert_eq!((plan(9, 1 << 34, None), plan(6, 1 << 20, None)), (None, None));
    }

    #[test]
    fn tables_leave_the_memory_of_a_transposition_table_of_a_set_size() {
        let plan = |transpositions| plan(6, 1 << 34, transpositions).unwrap();
        let mut before = plan(Some(1 << 20));
        for bits in 20..34 {
            let plan = plan(Some(3 << bits >> 1));
            assert_eq!(plan.transpositions, 1 << bits);
            assert!(plan.tables + plan.transpositions <= 1 << 34, "{plan:?}");
            assert!(plan.nodes_relative_to(&before) >= 1.0, "{plan:?}");
            before = plan;
        }
        assert!(plan(Some(1 << 33)).tables < plan(None).tables);
    }

    #[test]
    fn tables_of_two_bits_have_the_known_sizes() {
        // Gigabytes of all layers up to 36, 38 and 40 seeds.
        for (seeds, gigabytes) in [(36, 17.4), (38, 30.0), (40, 52.0)] {
            let bytes: u64 = (2..=seeds).map(|seeds| LayerKind::TwoBits.bytes(layer_positions(6, seeds))).sum();
            assert!((bytes as f64 / 1e9 / gigabytes - 1.0).abs() < 0.02, "{seeds} seeds: {bytes}");
        }
    }

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
