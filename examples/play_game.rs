//! Plays a game between two players, and shows what each move is worth by tables.
//! `cargo run --release --example play_game -- greedy minimax:4 standard`.

use std::error::Error;

use kalah::build::build;
use kalah::cancel::Cancel;
use kalah::game::{Position, Rules};
use kalah::play::{PlayerName, Setting, play_game};
use kalah::table::Tables;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let south: PlayerName = arguments.next().as_deref().unwrap_or("greedy").parse()?;
    let north: PlayerName = arguments.next().as_deref().unwrap_or("minimax:4").parse()?;
    let rules = arguments.next().map_or(Ok(Rules::default()), |rules| rules.parse())?;
    let start: Position = "6x4".parse()?;

    // To keep the tables, use another directory; existing layers are not built again.
    let directory = tempfile::tempdir()?;
    build(directory.path(), rules, start.pits(), 12)?;
    let tables = Tables::open(directory.path(), rules, start.pits(), 12)?;

    let setting = Setting { tables: Some(&tables), ..Setting::new(rules) };
    let mut players = [south.player(&setting), north.player(&setting)];
    let game = play_game(rules, &start, &mut players, None, &Cancel::new())?;
    for made in &game.moves {
        let name = if made.first { "South" } else { "North" };
        // The tables have the positions of the end of the game.
        match tables.probe(&made.position) {
            Ok(probe) => println!("{name} {} best {:?}", made.choice.pit, probe.best().collect::<Vec<_>>()),
            Err(_) => println!("{name} {}", made.choice.pit),
        }
    }
    println!("{south} {} : {} {north}, line {}", game.seeds[0], game.seeds[1], game.line());
    Ok(())
}
