//! Boards as arguments: a list, or ranges of pits and seeds.

use clap::Args;
use kalah::game::StartPosition;

use crate::cli::flags::args::{self, Range};

/// Start positions.
#[derive(Args)]
pub struct Boards {
    /// Boards, such as 4x3: 4 pits a side with 3 seeds in each
    #[arg(value_name = "BOARD", required_unless_present = "pits")]
    boards: Vec<StartPosition>,
    /// Instead of BOARD: all boards with these numbers of pits a side, such as 2..6
    #[arg(
        long,
        value_name = "A..B",
        value_parser = args::range::<1, 16>,
        requires = "seeds",
        conflicts_with = "boards"
    )]
    pits: Option<Range>,
    /// With --pits: the numbers of seeds in each pit, such as 1..6
    #[arg(
        long = "seeds-per-pit",
        value_name = "C..D",
        value_parser = args::range::<1, 63>,
        requires = "pits"
    )]
    seeds: Option<Range>,
}

impl Boards {
    /// Returns the boards in order.
    pub fn list(&self) -> Vec<StartPosition> {
        let (Some(pits), Some(seeds)) = (self.pits, self.seeds) else { return self.boards.clone() };
        let row = |pits| seeds.iter().map(move |seeds| StartPosition { pits: pits as usize, seeds });
        pits.iter().flat_map(row).collect()
    }
}
