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
    let tables = if std::env::var("HOT").is_ok() {
        let mut hot = Tables::open(std::path::Path::new("/nonexistent"), rules, position.pits(), up_to).unwrap();
        for layer in tables.layers() { hot.push(std::sync::Arc::new(layer.copied().unwrap())).unwrap(); }
        hot
    } else { tables };
    println!("hot {:.3}", t.elapsed().as_secs_f64());
    let solver = Solver::new(SolverOptions { stop: Default::default(), rules, pits: position.pits(), seeds: position.seeds() as usize, tables: Some(&tables), tables_up_to: up_to, memory, threads }).unwrap().with_events(|_, e| if let kalah::solve::Event::Proved{known,nodes,seconds,..} = e { eprintln!("   {known:?} {nodes} {seconds:.2}") });
    println!("open {:.3}", t.elapsed().as_secs_f64());
    let t = std::time::Instant::now();
    if std::env::var("ONE").is_ok() { let b = kalah::solve::Board::of(&position).unwrap(); for _ in 0..2 { let n0 = solver.nodes(); let r = solver.test(b, guess).unwrap(); let s = t.elapsed().as_secs_f64(); let nodes = solver.nodes() - n0; if nodes > 10 { println!("waste {} test {guess}: {r:?} nodes {nodes} hits {} {s:.3} s {:.2} M/s", solver.waste.load(std::sync::atomic::Ordering::Relaxed), solver.table_hits(), nodes as f64 / s / 1e6);} } return; }
    let score = solver.score(kalah::solve::Board::of(&position).unwrap(), guess).unwrap();
    let nodes = solver.nodes();
    let s = t.elapsed().as_secs_f64();
    println!("score {score} value {} nodes {} hits {} {:.3} s {:.2} M/s", position.value(score), nodes, solver.table_hits(), s, nodes as f64 / s / 1e6);
}
