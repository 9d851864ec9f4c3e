//! Measures the loops of row evaluation with each instruction set of this machine: `cargo bench
//! --bench kernels`.

use std::sync::Arc;

use divan::{Bencher, black_box, counter::BytesCount};
use kalah::build::cpu::kernels;
use kalah::index::{Frame, RowIndex};
use kalah::isa::Isa;
use kalah::rows::RowMaps;
use kalah::table::{PackedFrame, SELECTED_MARGIN};

/// Seeds of the other row: 8568 rows.
const SEEDS: usize = 13;
const TOTAL: u8 = 26;

fn main() {
    divan::main();
}

fn available() -> impl Iterator<Item = &'static str> {
    Isa::available().map(Isa::name)
}

fn isa(name: &str) -> Isa {
    Isa::available().find(|isa| isa.name() == name).expect("one of the available")
}

fn maps() -> RowMaps {
    RowMaps::new(Arc::new(RowIndex::new(6, 34).unwrap()))
}

fn scores(count: usize) -> Vec<u8> {
    (0..count).map(|place| (place * 7 % 23) as u8).collect()
}

#[divan::bench(args = available())]
fn max_after_pass(bencher: Bencher, name: &str) {
    let (isa, scores) = (isa(name), scores(maps().rows().rows(SEEDS)));
    let mut best = scores.clone();
    bencher
        .counter(BytesCount::new(scores.len()))
        .bench_local(|| kernels::max_after_pass(isa, black_box(&mut best), &scores, TOTAL));
}

#[divan::bench(args = available())]
fn select_after_3_spilled(bencher: Bencher, name: &str) {
    let (isa, maps) = (isa(name), maps());
    let map = maps.spill(SEEDS, 3);
    let frame = Frame { pits: 6, mover: SEEDS + 3, other: 1 };
    let packed = PackedFrame::pack(isa, frame, &scores(frame.positions() as usize));
    let mut out = vec![0; map.ranks().len() + SELECTED_MARGIN];
    bencher.counter(BytesCount::new(map.ranks().len())).bench_local(|| {
        packed.scores().unpack_selected(isa, black_box(3), map.selected(), &mut out).expect("a sound frame");
    });
}

#[divan::bench(args = available())]
fn max_after_capture(bencher: Bencher, name: &str) {
    let (isa, maps) = (isa(name), maps());
    let map = maps.capture(SEEDS, 2, 0);
    let scores = scores(map.places().len() + kernels::CAPTURE_MARGIN);
    let mut best = vec![0; map.places().len()];
    bencher
        .counter(BytesCount::new(best.len()))
        .bench_local(|| kernels::max_after_capture(isa, black_box(&mut best), &scores, &map, TOTAL));
}

#[divan::bench(args = available())]
fn transpose(bencher: Bencher, name: &str) {
    let (isa, rows, columns) = (isa(name), 256, 8568);
    let from = scores(rows * columns);
    let mut to = vec![0; rows * columns];
    bencher
        .counter(BytesCount::new(from.len()))
        .bench_local(|| kernels::transpose(isa, black_box(&from), columns, rows, columns, &mut to, rows));
}
