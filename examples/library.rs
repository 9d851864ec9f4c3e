//! The examples of docs/library.md, word for word: `cargo run --release --example library`, in a directory that has
//! `tables` to 20 seeds.

use std::error::Error;

fn reading() -> Result<(), Box<dyn Error>> {
    use kalah_core::game::{Pit, Position, Rules};
    use kalah_core::table::Tables;

    let tables = Tables::open("tables", Rules::EmptyCapture, 6, 24)?;
    let position: Position = "<6,7,21,0,2,10,1,0,1,1,3,0,1,1,0>".parse()?;
    let probe = tables.probe(&position)?;
    assert_eq!((probe.score, probe.value), (12, -10));
    let pit = Pit::from_number(4).ok_or("pits count from 1")?;
    let played = position.play(Rules::EmptyCapture, pit)?;
    assert!(!played.again);
    Ok(())
}

fn building_solving_and_playing() -> Result<(), Box<dyn Error>> {
    use kalah::cancel::Cancel;
    use kalah::game::{Position, Rules};
    use kalah::play::{PlayerName, Setting, play_game};
    use kalah::solve::{Solver, SolverOptions};
    use kalah::table::Tables;

    kalah::build::build("tables", Rules::Standard, 6, 18)?; // Layers that exist stay.
    let tables = Tables::open("tables", Rules::Standard, 6, 18)?;
    let start: Position = "6x4".parse()?;

    let cancel = Cancel::new().within(std::time::Duration::from_secs(60));
    let solver = Solver::new(SolverOptions::new(Rules::Standard, &start).tables(&tables).cancel(cancel))?;
    assert_eq!(solver.solve(&start, solver.first_guess(&start)?)?.value, 8);

    let setting = Setting { tables: Some(&tables), ..Setting::new(Rules::Standard) };
    let [south, north]: [PlayerName; 2] = ["greedy".parse()?, "minimax:4".parse()?];
    let mut players = [south.player(&setting), north.player(&setting)];
    let game = play_game(Rules::Standard, &start, &mut players, None, &Cancel::new())?;
    println!("{}: {:?}", game.line(), game.seeds);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    reading()?;
    building_solving_and_playing()
}
