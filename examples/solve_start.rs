//! Solves a start position: its value, the best first moves, and a line of best play.
//! `cargo run --release --example solve_start -- 4x4 standard`.

use std::error::Error;

use kalah::game::{Position, Rules};
use kalah::solve::{Solver, SolverOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let position: Position = arguments.next().as_deref().unwrap_or("4x3").parse()?;
    let rules = arguments.next().map_or(Ok(Rules::default()), |rules| rules.parse())?;

    // Without tables every line of play is searched to its end. `SolverOptions::tables` adds existing ones.
    let threads = std::thread::available_parallelism()?.get();
    let solver = Solver::new(SolverOptions::new(rules, &position).threads(threads))?;
    let solution = solver.solve(&position, solver.first_guess(&position)?)?;
    println!("{position} under {rules}: value {:+}", solution.value);
    let best: Vec<String> = solution.best().map(|pit| pit.to_string()).collect();
    println!("  best {}", best.join(" "));
    println!("  line {}", solution.line);
    println!("  {} nodes", solver.nodes());
    Ok(())
}
