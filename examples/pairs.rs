//! scratch
use kalah::build::cpu::*;
use kalah::index::*;
use kalah::isa::Isa;
use kalah::table::*;
use std::sync::Arc;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let t = Tables::open(std::path::Path::new("/tmp/t1"), kalah::game::Rules::EmptyCapture, 6, n - 1).unwrap();
    let mut t2 = Tables::open(std::path::Path::new("/nonexist"), kalah::game::Rules::EmptyCapture, 6, n).unwrap();
    for l in t.layers() {
        t2.push(l.clone()).unwrap()
    }
    let maps = RowMaps::new(Arc::clone(t2.rows()));
    let mut w = Workspace::default();
    w.reserve(6, n).unwrap();
    let only: Option<usize> = std::env::args().nth(2).map(|s| s.parse().unwrap());
    rayon::scope(|_| {
        for round in 0..3 {
            let mut tot = 0;
            let mut tc = 0.0;
            let mut tp = 0.0;
            for k in 1..=n / 2 {
                if only.is_some_and(|o| o != k) {
                    continue;
                }
                let s = std::time::Instant::now();
                let r = compute_pair(Isa::detect(), &t2, &maps, k, n - k, &mut w, &Pulse::default()).unwrap().unwrap();
                let e = s.elapsed().as_secs_f64();
                let s = std::time::Instant::now();
                let f = Frame { pits: 6, mover: k, other: n - k };
                let _p = PackedFrame::pack(Isa::detect(), f, r.small_moves);
                let _q =
                    if 2 * k != n { Some(PackedFrame::pack(Isa::detect(), f.mirrored(), r.large_moves)) } else { None };
                let ep = s.elapsed().as_secs_f64();
                let p = f.positions() * if 2 * k == n { 1 } else { 2 };
                tot += p;
                tc += e;
                tp += ep;
                if round == 2 {
                    println!(
                        "{k:2} {:10} compute {:.1} M/s pack {:.1} M/s",
                        p,
                        p as f64 / e / 1e6,
                        p as f64 / ep / 1e6
                    );
                }
            }
            println!("total compute {:.1} pack {:.1}", tot as f64 / tc / 1e6, tot as f64 / tp / 1e6);
        }
    });
}
