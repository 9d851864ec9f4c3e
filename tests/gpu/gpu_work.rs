//! The predicted work of a layer is the work of builds.
#![cfg(feature = "gpu")]

use std::sync::Arc;

use kalah::build::gpu::{BoardWork, GpuComputer};
use kalah::build::{Backend, Builder, Computer, DeviceComputer};
use kalah::game::Rules;
use kalah::index::Frame;
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{TableKey, Tables};

use crate::adapter;

#[test]
fn the_frames_of_the_last_layer_do_not_stay() {
    let (pits, seeds) = (4, 12);
    let work = BoardWork::new(Rules::Standard, pits, seeds + 1).unwrap();
    let binding = u64::MAX;
    // Least budget with which all lower frames stay on the device.
    let all_stay = |budget: &u64| work.lowest_resident(seeds, seeds, *budget, binding) == 2;
    let least = work.least_memory(seeds, 1, binding);
    let budget =
        (0..1000).map(|step| least + step * 16384).find(all_stay).expect("a budget with which all frames stay");
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
        let work = BoardWork::new(rules, pits, seeds).unwrap();
        for seeds in 2..=seeds {
            let table = tables.require(seeds).unwrap();
            let frames: Vec<Frame> = table.key().frames().collect();
            let mut computer = GpuComputer::new(Arc::clone(&device), &tables, seeds).unwrap();
            computer.compute(&tables, &frames, &Pulse::default(), &|_| Ok(())).unwrap();
            let (found, layer) = (computer.traffic(), work.layer(seeds, u64::MAX, device.max_binding()));
            // Frames without exceptions have no patches to write.
            let entries = &table.header().entries;
            let without: Vec<u64> =
                entries.iter().filter(|entry| entry.patch_bytes == 0).map(|entry| entry.groups).collect();
            let dispatches = layer.dispatches.len() - without.len();
            let workgroups = layer.dispatches.iter().map(|dispatch| dispatch.threads.div_ceil(256)).sum::<u64>()
                - without.iter().map(|groups| groups.div_ceil(256)).sum::<u64>();
            // A build may divide dispatches so that each is short. A part may then end in the middle of a workgroup.
            let divided = found.dispatches.checked_sub(dispatches as u64).expect("at least that many dispatches");
            assert!(found.workgroups >= workgroups, "{key}, {seeds} seeds");
            assert!(found.workgroups <= workgroups + divided, "{key}, {seeds} seeds: {found:?}, not {workgroups}");
            // The layer's own frames are copied to the host. They do not stay on the device, since no layer above is
            // built. The size of patches is an assumption.
            let own: u64 = entries
                .iter()
                .map(|entry| (entry.patches_at(), entry.patch_bytes.next_multiple_of(4)))
                .map(|(head, patches)| head + patches)
                .sum();
            let (brought, assumed) = (found.copied - own, layer.copied);
            assert!(brought <= assumed, "{key}, {seeds} seeds: {brought} bytes, not {assumed}");
            assert!(assumed <= brought * 21 / 20 + 4096 * layer.copies, "{key}, {seeds} seeds: {brought}, {assumed}");
        }
    }
}

/// If not all frames fit, those stay that are read again soonest. The traffic then is at most that of the model.
#[test]
fn with_little_memory_no_more_is_loaded_than_the_model_predicts() {
    let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds: 14 };
    let binding = u64::from(u32::MAX) / 2;
    let work = BoardWork::new(key.rules, key.pits, key.seeds).unwrap();
    let least = work.least_memory(key.seeds, 1, binding);
    let read = |budget| work.layer(key.seeds, budget, binding).read;
    let brought = |budget| work.uploads(key.seeds, budget, binding).bytes;
    let is_little = |budget: &u64| brought(*budget) > 0 && 3 * brought(*budget) < read(*budget);
    let some =
        (0..1000).map(|step| least + step * 16384).find(is_little).expect("a budget with which some frames stay");
    assert!(brought(least) > 2 * brought(some));
    let directory = tempfile::tempdir().unwrap();
    let built = Builder::new(directory.path(), key).backend(Backend::Cpu(Isa::detect()));
    built.run(&Pulse::default(), &|_| {}).unwrap();
    let tables = Tables::open(directory.path(), key.rules, key.pits, key.seeds).unwrap();
    for budget in [least, some] {
        let Some(device) = adapter::open(adapter::limits(Some(budget), None)) else { return };
        let mut computer = GpuComputer::new(Arc::clone(&device), &tables, key.seeds).unwrap();
        let mut uploaded = 0;
        for seeds in 2..=key.seeds {
            let frames: Vec<Frame> = tables.key(seeds).frames().collect();
            let before = computer.traffic().uploaded;
            computer.compute(&tables, &frames, &Pulse::default(), &|_| Ok(())).unwrap();
            uploaded = computer.traffic().uploaded - before;
            assert!(device.used() <= budget);
        }
        // The model counts more memory for moves and maps than they take, so more frames stay.
        let (read, brought) = (read(budget), brought(budget));
        println!("{budget} bytes: {read} bytes read, {brought} to be brought, {uploaded} brought");
        assert!(uploaded <= brought, "{uploaded} bytes brought, not {brought}; {read} are read");
        assert!(uploaded > 0 || budget > least, "everything stayed, choose a larger layer");
    }
}
