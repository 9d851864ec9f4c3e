//! Looks a position up: `cargo run --release --example probe -- tables
//! '<6,7,21,0,2,10,1,0,1,1,3,0,1,1,0>'`.
//!
//! Only `kalah-core` is needed for this. Blocks of the tables are read when they are needed, which
//! suits a single position.

use std::error::Error;

use kalah_core::directory::Directory;
use kalah_core::game::{Position, Rules};
use kalah_core::index::MAX_TABLE_SEEDS;
use kalah_core::table::Tables;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(position)) = (arguments.next(), arguments.next()) else {
        return Err("usage: probe DIRECTORY POSITION [RULES]".into());
    };
    let rules = arguments.next().map_or(Ok(Rules::default()), |rules| rules.parse())?;
    let position: Position = position.parse()?;
    let directory = Directory::from(&directory).reading_files();
    let tables = Tables::open(directory, rules, position.pits(), MAX_TABLE_SEEDS)?;
    let probe = tables.probe(&position)?;
    println!("{position}: score {} of the {} seeds in play, value {:+}", probe.score, position.seeds(), probe.value);
    for (pit, score) in &probe.moves {
        println!("  move {pit}: score {score}{}", if *score == probe.score { ", best" } else { "" });
    }
    println!("  line {}", probe.line);
    Ok(())
}
