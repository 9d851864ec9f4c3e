//! The boards that a command is about: a list, or a rectangle of pits and seeds.

use clap::Args;
use kalah::game::StartPosition;

use crate::cli::flags::args::{self, Range};

/// Start positions.
#[derive(Args)]
pub struct Boards {
    /// The boards, such as 4x3: pits a side and seeds in each
    #[arg(value_name = "BOARD", required_unless_present = "pits")]
    boards: Vec<StartPosition>,
    /// Boards of so many pits a side, such as 2..6, with all --seeds-per-pit
    #[arg(long, value_name = "A..B", value_parser = args::range::<1, 16>, requires = "seeds", conflicts_with = "boards")]
    pits: Option<Range>,
    /// Boards of so many seeds a pit, such as 1..6, with all --pits
    #[arg(long = "seeds-per-pit", alias = "seeds", value_name = "C..D", value_parser = args::range::<1, 63>, requires = "pits")]
    seeds: Option<Range>,
}

impl Boards {
    /// The boards in order.
    pub fn list(&self) -> Vec<StartPosition> {
        let (Some(pits), Some(seeds)) = (self.pits, self.seeds) else { return self.boards.clone() };
        let row = |pits| seeds.iter().map(move |seeds| StartPosition { pits: pits as usize, seeds });
        pits.iter().flat_map(row).collect()
    }
}
