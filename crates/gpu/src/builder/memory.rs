//! Device memory for a build.

use kalah_core::index::{Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, layer_frames, row_count};

use super::matrix::Matrix;
use super::packer::{head_bytes, packer_bytes};
use super::stages::RANK_BITS;
use crate::device::{AdapterReport, RECORDER_BYTES};

/// Assumed size of a frame with patches, relative to one without.
const PATCHES: (u64, u64) = (21, 20);

/// Bytes of moves and maps for each row of a board with 6 pits or fewer. Measured at 6 pits: 60 to
/// 90, and some 14 for the quiet moves of four rows at once. Relays need more, which a test
/// compares. More pits need proportionally more.
const ROW_BYTES: u64 = 112;

/// Bytes of parameters, places of frames, ranks, times, and other small buffers.
const SMALL_BYTES: u64 = RECORDER_BYTES + (512 << 10);

/// Assumed bytes of a frame on the device, with a reserve for small frames full of exceptions.
fn with_patches(frame: Frame) -> u64 {
    head_bytes(frame) * PATCHES.0 / PATCHES.1 + 4096
}

/// Minimum device memory for a build of all layers up to a given one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeviceMemory {
    /// Bytes of the buffers of a matrix of a pair; there are two.
    pub matrix_bytes: Vec<u64>,
    /// Bytes of an operand; there are two.
    pub operand_bytes: u64,
    /// Minimum bytes of an operand.
    least_operand_bytes: u64,
    /// Bytes for packing.
    pub packer_bytes: u64,
    /// Bytes of moves and maps.
    pub row_bytes: u64,
}

impl DeviceMemory {
    /// Computes the memory for the layers up to `seeds`, with at most `budget` bytes, and stages
    /// that use at most `max_binding` bytes of a buffer.
    pub(super) fn new(pits: usize, seeds: usize, budget: Option<u64>, max_binding: u64) -> DeviceMemory {
        let frames = |seeds| layer_frames(pits, seeds);
        let mut matrix_bytes: Vec<u64> = Vec::new();
        // A smaller layer may have more rows in a buffer.
        for frame in (2..=seeds).flat_map(frames) {
            let (rows, columns) = (row_count(pits, frame.other), row_count(pits, frame.mover));
            let needed: Vec<u64> = Matrix::buffer_bytes(rows, columns, max_binding).collect();
            matrix_bytes.resize(matrix_bytes.len().max(needed.len()), 0);
            matrix_bytes.iter_mut().zip(needed).for_each(|(most, bytes)| *most = bytes.max(*most));
        }
        let largest = frames(seeds).max_by_key(|frame| frame.positions());
        let child = frames(seeds.saturating_sub(1)).map(with_patches).max().unwrap_or(4096);
        // All frames that the captures of a frame lead to.
        let captures = |frame: Frame| {
            (1..=frame.other)
                .filter(|_| frame.mover > 1)
                .map(|other| with_patches(Frame { pits, mover: other, other: frame.mover - 1 }))
                .sum::<u64>()
        };
        let all = frames(seeds).map(captures).max().unwrap_or(0);
        let mut memory = DeviceMemory {
            operand_bytes: 0,
            least_operand_bytes: 0,
            packer_bytes: largest.map_or(0, |frame| packer_bytes(frame, &matrix_bytes)),
            matrix_bytes,
            row_bytes: (1..seeds).map(|seeds| row_count(pits, seeds) as u64).sum::<u64>()
                * ROW_BYTES
                * pits.max(6) as u64
                / 6,
        };
        // A share of the remaining memory, so that a budget sufficient for small operands always
        // suffices.
        let share = budget.map_or(u64::MAX, |budget| budget.saturating_sub(memory.least()) / 4);
        let most = max_binding / 64 * 64;
        memory.operand_bytes = all.min(share).max(child).next_multiple_of(64).min(most);
        memory.least_operand_bytes = child.next_multiple_of(64).min(most);
        memory
    }

    /// Halves the operands, for a device that has less memory than it may use. Returns true if they
    /// could be smaller.
    pub(super) fn halve_operands(&mut self) -> bool {
        let before = self.operand_bytes;
        self.operand_bytes = (before / 2).next_multiple_of(64).max(self.least_operand_bytes);
        self.operand_bytes < before
    }

    /// Minimum bytes.
    pub(super) fn least(&self) -> u64 {
        let matrices = 2 * self.matrix_bytes.iter().sum::<u64>();
        matrices + 2 * self.operand_bytes + self.packer_bytes + self.row_bytes + SMALL_BYTES
    }
}

/// Seeds of the largest layer that can be built within the limits of an adapter, memory aside, for
/// boards with `pits` pits a side; 0 for none.
pub fn max_seeds(report: &AdapterReport, pits: usize) -> usize {
    largest_layer(pits, report.max_binding())
}

/// Largest layer that can be built with 32-bit numbers of words, and stages that use at most
/// `max_binding` bytes of a buffer.
pub(super) fn largest_layer(pits: usize, max_binding: u64) -> usize {
    if !(1..=MAX_TABLE_PITS).contains(&pits) {
        return 0;
    }
    let fits = |frame: Frame| {
        let (rows, columns) = (row_count(pits, frame.other), row_count(pits, frame.mover));
        Matrix::words_of(rows, columns) <= u64::from(u32::MAX)
            && rows <= 1 << RANK_BITS
            && Matrix::buffer_bytes(rows, columns, max_binding).all(|bytes| bytes <= max_binding)
    };
    (2..=MAX_TABLE_SEEDS).take_while(|&seeds| layer_frames(pits, seeds).all(fits)).last().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kalah_core::index::RowIndex;

    use super::super::lists::list_moves;
    use super::*;
    use kalah_core::game::Rules;
    use kalah_tables::rows::RowMaps;

    const VULKAN_BINDING: u64 = (1 << 31) - 256;

    #[test]
    fn a_card_with_8_gb_can_build_34_seeds() {
        let least = DeviceMemory::new(6, 34, Some(8_000_000_000), VULKAN_BINDING).least();
        assert!(least <= 6_000_000_000, "{least} bytes");
    }

    #[test]
    fn operands_become_smaller_until_a_lower_frame_just_fits() {
        // The driver reports no limit, and the card has 8 GB.
        let mut memory = DeviceMemory::new(6, 34, None, VULKAN_BINDING);
        let least = DeviceMemory::new(6, 34, Some(1), VULKAN_BINDING);
        assert!(memory.operand_bytes > least.operand_bytes);
        while memory.halve_operands() {}
        assert_eq!(memory, least);
    }

    #[test]
    fn no_number_of_a_shader_overflows_up_to_the_largest_layer() {
        let fits = |number: u128, what: &str| assert!(number <= u128::from(u32::MAX), "{what}: {number}");
        // The largest part of a frame or of scores that a stage uses at once.
        let positions = u128::from(VULKAN_BINDING) / 64 * 126;
        fits(positions + 2 * positions / 126, "a code of a part");
        for pits in 1..=kalah_core::index::MAX_TABLE_PITS {
            let seeds = largest_layer(pits, VULKAN_BINDING);
            for frame in layer_frames(pits, seeds) {
                let (movers, others) = (frame.mover_rows() as u128, frame.mirrored().mover_rows() as u128);
                fits(others * movers.div_ceil(4), "a word of a matrix");
                fits((movers * others).div_ceil(126), "a group");
                fits(others * seeds as u128, "a sum of scores for the profile");
                // The moves of a row, with the entries of four rows at once, and maps of all pits.
                fits(movers * (pits as u128 + 1) * 8, "a word of the moves");
                fits(movers * (pits as u128 + 1), "a word of a map");
                assert!(movers.max(others) <= 1 << RANK_BITS);
            }
        }
    }

    #[test]
    fn parts_reach_all_of_kalah_6_4() {
        // The largest frame of 42 seeds has more than 2^32 positions.
        assert_eq!([6, 7, 8].map(|pits| largest_layer(pits, VULKAN_BINDING)), [MAX_TABLE_SEEDS, 35, 28]);
        let least = DeviceMemory::new(6, 48, Some(80_000_000_000), VULKAN_BINDING).least();
        assert!((40_000_000_000..50_000_000_000).contains(&least), "{least} bytes");
        // The limits of a software adapter.
        assert!(largest_layer(6, 128 << 20) >= 40);
    }

    #[test]
    fn moves_of_relays_take_no_more_than_is_reckoned() {
        for (pits, seeds) in [(6, 22), (5, 26), (8, 11)] {
            let maps = RowMaps::new(Arc::new(RowIndex::new(pits, seeds).unwrap()));
            let words: usize = (1..seeds).map(|seeds| list_moves(Rules::SKalaha, &maps, seeds).0.len()).sum();
            // Also two words for each row of the other side, and maps of spilled seeds.
            let rows: usize = (1..seeds).map(|seeds| row_count(pits, seeds)).sum();
            let (bytes, reckoned) =
                (4 * (words + 4 * rows) as u64, DeviceMemory::new(pits, seeds, None, VULKAN_BINDING).row_bytes);
            assert!(bytes <= reckoned, "{pits} pits, {seeds} seeds: {bytes} bytes, not {reckoned}");
        }
    }
}
