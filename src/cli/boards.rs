//! The boards that a command is about: a list, or a rectangle of pits and seeds.

use std::ops::RangeInclusive;

use clap::Args;
use kalah::game::StartPosition;

/// Start positions.
#[derive(Args)]
pub struct Boards {
    /// The boards, such as 4x3: pits a side and seeds in each
    #[arg(value_name = "BOARD", required_unless_present = "pits")]
    boards: Vec<StartPosition>,
    /// Boards of so many pits a side, such as 2..6, with all --seeds
    #[arg(long, value_name = "A..B", value_parser = range, requires = "seeds", conflicts_with = "boards")]
    pits: Option<RangeInclusive<u32>>,
    /// Boards of so many seeds a pit, such as 1..6, with all --pits
    #[arg(long, value_name = "C..D", value_parser = range, requires = "pits")]
    seeds: Option<RangeInclusive<u32>>,
}

/// The most boards of one command.
const MOST: u32 = 64;

impl Boards {
    /// The boards in order.
    pub fn list(&self) -> Vec<StartPosition> {
        match (&self.pits, &self.seeds) {
            (Some(pits), Some(seeds)) => {
                let row = |pits| seeds.clone().map(move |seeds| StartPosition { pits: pits as usize, seeds });
                pits.clone().flat_map(row).collect()
            }
            _ => self.boards.clone(),
        }
    }
}

/// Reads a number from 1 on or a range of such.
fn range(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| text.parse().ok().filter(|number| (1..=MOST).contains(number));
    match (number(from), number(to.strip_prefix('=').unwrap_or(to))) {
        (Some(from), Some(to)) if from <= to => Ok(from..=to),
        _ => Err(format!("write a number, or two with dots between them such as 2..6, from 1 to {MOST}")),
    }
}
