//! The work of a layer is counted as builds do it.
#![cfg(feature = "gpu")]

mod adapter;

use std::sync::Arc;

use kalah::build::gpu::{BoardWork, GpuComputer};
use kalah::build::{Backend, Builder, Computer, Output};
use kalah::game::Rules;
use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{PackedFrame, TableKey, Tables};

struct Nowhere;

impl Output for Nowhere {
    fn pair(&self, _frame: Frame) {}

    fn buffer(&self) -> Vec<u8> {
        Vec::new()
    }

    fn take(&self, _packed: PackedFrame) -> bool {
        true
    }
}

#[test]
fn the_frames_of_the_last_layer_do_not_stay() {
    let (pits, seeds) = (4, 12);
    let work = BoardWork::new(Rules::Standard, pits, seeds + 1);
    let binding = u64::MAX;
    // The least budget with which all lower frames stay.
    let all_stay = |budget: &u64| work.lowest_resident(seeds, seeds, *budget, binding) == 2;
    let least = work.least_memory(seeds, 1, binding);
    let budget = (0..1000).map(|step| least + step * 16384).find(all_stay).expect("they stay at last");
    assert!(work.lowest_resident(seeds, seeds + 1, budget, binding) > 2, "its own frames stay for the next layer");
    assert_eq!(work.lowest_resident(seeds, seeds, 1, binding), seeds, "nothing stays");
    assert_eq!(work.lowest_resident(seeds, seeds + 1, 1, binding), seeds + 1, "nothing stays");
}

#[test]
fn dispatches_and_copies_are_those_of_builds() {
    let Some(device) = adapter::shared() else { return };
    for (rules, pits, seeds) in [(Rules::EmptyCapture, 6, 10), (Rules::Standard, 3, 12), (Rules::SKalaha, 4, 7)] {
        let key = TableKey { rules, pits, seeds };
        let directory = tempfile::tempdir().unwrap();
        let built = Builder::new(directory.path(), key).backend(Backend::Cpu(Isa::detect()));
        built.run(&Pulse::default(), &|_| {}).unwrap();
        let tables = Tables::open(directory.path(), rules, pits, seeds).unwrap();
        let work = BoardWork::new(rules, pits, seeds);
        for seeds in 2..=seeds {
            let table = tables.require(seeds).unwrap();
            let frames: Vec<Frame> = table.key().frames().collect();
            let mut computer = GpuComputer::new(Arc::clone(&device), &tables, seeds).unwrap();
            assert!(computer.compute(&tables, &frames, &Pulse::default(), &Nowhere).unwrap());
            let (found, layer) = (computer.traffic(), work.layer(seeds, u64::MAX, device.max_binding()));
            // Frames without exceptions have no patches to write.
            let entries = &table.header().entries;
            let without: Vec<u64> =
                entries.iter().filter(|entry| entry.patch_bytes == 0).map(|entry| entry.groups).collect();
            let dispatches = layer.dispatches.len() - without.len();
            let workgroups = layer.dispatches.iter().map(|dispatch| dispatch.threads.div_ceil(256)).sum::<u64>()
                - without.iter().map(|groups| groups.div_ceil(256)).sum::<u64>();
            // A build may divide dispatches so that none takes long; then parts may end in the middle of a workgroup.
            let divided = found.dispatches.checked_sub(dispatches as u64).expect("at least so many dispatches");
            assert!(found.workgroups >= workgroups, "{key}, {seeds} seeds");
            assert!(found.workgroups <= workgroups + divided, "{key}, {seeds} seeds: {found:?}, not {workgroups}");
            // Of what is copied, the layer's own frames go to the machine; they do not stay, since no layer above is
            // built. The size of patches is an assumption.
            let own: u64 = entries
                .iter()
                .map(|entry| (entry.patches_at(), entry.patch_bytes.next_multiple_of(4)))
                .map(|(head, patches)| head + patches)
                .sum();
            let (brought, assumed) = (found.copied - own, layer.brought.values().sum::<u64>());
            assert!(brought <= assumed, "{key}, {seeds} seeds: {brought} bytes, not {assumed}");
            assert!(assumed <= brought * 21 / 20 + 4096 * layer.copies, "{key}, {seeds} seeds: {brought}, {assumed}");
        }
    }
}
