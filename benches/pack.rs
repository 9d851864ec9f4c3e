//! Measures packing a frame into groups and unpacking its runs: `cargo bench --bench pack`.

use divan::{Bencher, black_box, counter::ItemsCount};
use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::table::{PackedFrame, RUN_MARGIN};

/// 5.3 million positions.
const FRAME: Frame = Frame { pits: 6, mover: 9, other: 9 };

fn main() {
    divan::main();
}

/// Scores distributed like those of real frames.
fn scores() -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(1);
    let spread = |random: &mut fastrand::Rng| (0..4).map(|_| random.u8(0..4)).sum::<u8>();
    (0..FRAME.positions()).map(|index| (index % FRAME.mover_rows() as u64 / 400) as u8 + spread(&mut random)).collect()
}

#[divan::bench]
fn pack(bencher: Bencher) {
    let scores = scores();
    bencher
        .counter(ItemsCount::new(scores.len()))
        .bench_local(|| PackedFrame::pack(Isa::detect(), FRAME, black_box(&scores)));
}

#[divan::bench]
fn unpack(bencher: Bencher) {
    let packed = PackedFrame::pack(Isa::detect(), FRAME, &scores());
    let (frame, run) = (packed.scores(), FRAME.mover_rows());
    let mut buffer = vec![0; run + 2 * RUN_MARGIN];
    bencher.counter(ItemsCount::new(FRAME.positions())).bench_local(|| {
        for other in 0..FRAME.mirrored().mover_rows() as u32 {
            frame.unpack_run(Isa::detect(), 0, other, run, black_box(&mut buffer), RUN_MARGIN).expect("sound lines");
        }
    });
}
