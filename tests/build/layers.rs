//! Every score of a table is the minimax of its children. Builds in memory, and frames that were packed elsewhere, have
//! the bytes of files.

use kalah::build::{BuildError, MemoryBuilder, build};
use kalah::game::Rules;
use kalah::index::{Frame, LayerIndex};
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{FrameMemory, PackedFrame, TableKey, Tables};
use kalah::verify::Oracle;

use kalah_tests::tables::opened;

#[test]
fn every_score_is_the_minimax_of_its_children() {
    for rules in Rules::ALL {
        for (pits, seeds) in [(1, 30), (2, 24), (3, 18), (4, 13), (5, 11), (6, 10), (7, 8), (8, 8)] {
            let directory = tempfile::tempdir().unwrap();
            build(directory.path(), rules, pits, seeds).unwrap();
            let tables = Tables::open(directory.path(), rules, pits, seeds).unwrap();
            let oracle = Oracle::new(rules, pits).unwrap();
            for layer in tables.layers() {
                let index = LayerIndex::new(tables.rows(), layer.key().seeds);
                for rank in 0..index.positions() {
                    let (mover, other) = index.unrank(rank);
                    let right = oracle.minimax(&mover, &other, |mover, other| tables.score_rows(mover, other)).unwrap();
                    let stored = tables.score_rows(&mover, &other).unwrap();
                    assert_eq!(stored, right, "{rules} {pits} pits: {mover:?} {other:?}");
                }
            }
        }
    }
}

#[test]
fn tables_in_memory_have_the_bytes_of_files() {
    for (rules, pits, seeds) in [(Rules::EmptyCapture, 6, 11), (Rules::Standard, 3, 14), (Rules::SKalaha, 4, 9)] {
        let files = opened(rules, pits, seeds);
        let mut builder = MemoryBuilder::new(TableKey { rules, pits, seeds }).unwrap();
        while builder.build_layer(&Pulse::default()).unwrap().is_some() {}
        assert_eq!(builder.tables().max_seeds(), Some(seeds));
        for (built, file) in builder.tables().layers().iter().zip(files.layers()) {
            assert!(built.blocks().is_checked() && built.bytes() == file.bytes(), "{}", file.key());
        }
    }
}

#[test]
fn a_stopped_layer_in_memory_is_built_again() {
    let mut builder = MemoryBuilder::new(TableKey { rules: Rules::Standard, pits: 3, seeds: 3 }).unwrap();
    let stopped = Pulse::default();
    stopped.cancel.cancel();
    assert!(matches!(builder.build_layer(&stopped), Err(BuildError::Stopped(key)) if key.seeds == 2));
    let built = [(); 3].map(|()| builder.build_layer(&Pulse::default()).unwrap().map(|table| table.key().seeds));
    assert_eq!(built, [Some(2), Some(3), None]);
}

#[test]
fn a_copy_is_the_frame_and_lies_in_memory_as_it_will_in_the_file() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut bytes = Vec::new();
    // The second has more than one task, and many patches.
    for frame in [Frame { pits: 3, mover: 2, other: 3 }, Frame { pits: 6, mover: 9, other: 8 }] {
        let scores: Vec<u8> = (0..frame.positions()).map(|_| rng.u8(0..40)).collect();
        let packed = PackedFrame::pack(Isa::detect(), frame, &scores);
        let entry = packed.entry(0);
        assert_eq!(*blake3::hash(packed.section()).as_bytes(), entry.digest);
        let data = &packed.section()[..(entry.patches_at() + entry.patch_bytes) as usize];
        for file_at in [0, 64, 4096 + 4032, 1_000_000 * 64] {
            let memory = FrameMemory { bytes, most: 1000, file_at };
            let (head, rest) = data.split_at(file_at as usize % 1000);
            let copy = PackedFrame::copy_of(frame, &[head, rest], memory).unwrap();
            assert!(copy.section() == packed.section());
            assert_eq!(copy.entry(7), packed.entry(7));
            assert_eq!((copy.section().as_ptr() as u64).wrapping_sub(file_at) % 4096, 0);
            bytes = copy.into_buffer();
        }
        let cut = PackedFrame::copy_of(frame, &[&data[..data.len() - 1]], FrameMemory::default());
        assert!(cut.is_none(), "an incomplete patch");
        bytes = vec![7; 100];
    }
}
