//! The `kalah` command.
use kalah::build::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let b = Builder {
        directory: std::path::Path::new(&a[1]),
        rules: a[2].parse().unwrap(),
        pits: a[3].parse().unwrap(),
        seeds: a[4].parse().unwrap(),
        isa: kalah::isa::Isa::detect(),
        only_last: false,
    };
    let r = b.run(&cpu::Pulse::default(), &|e| {
        if let Event::Done(d) = e {
            println!("{} {} {:.3}s {:.1} M/s", d.seeds, d.positions, d.seconds, d.rate() / 1e6)
        }
    });
    println!("{:?}", r.map(|r| r.positions()));
}
