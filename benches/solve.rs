//! scratch
use kalah::game::{Position, Rules};
use kalah::solve::{Solver, SolverOptions};
use kalah::table::Tables;
fn main() {
    let set = |name, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let rules: Rules = set("RULES", "empty-capture").parse().unwrap();
    let position: Position = set("POS", "6x4").parse().unwrap();
    let up_to: usize = set("UPTO", "24").parse().unwrap();
    let threads: usize = set("THREADS", "1").parse().unwrap();
    let memory: u64 = set("MIB", "512").parse::<u64>().unwrap() << 20;
    let guess: u32 = set("GUESS", "24").parse().unwrap();
    let t = std::time::Instant::now();
    let tables = Tables::open(std::path::Path::new(&set("TABLES", "/work/tables")), rules, position.pits(), up_to).unwrap();
    let solver = Solver::new(&SolverOptions { rules, pits: position.pits(), seeds: position.seeds() as usize, tables: Some(&tables), tables_up_to: up_to, memory, threads }).unwrap();
    println!("open {:.3}", t.elapsed().as_secs_f64());
    let score = solver.score(&position, guess).unwrap();
    let nodes = solver.nodes.into_inner();
    let s = t.elapsed().as_secs_f64();
    println!("score {score} value {} nodes {} hits {} {:.3} s {:.2} M/s", position.value(score), nodes, solver.hits.into_inner(), s, nodes as f64 / s / 1e6);
}
