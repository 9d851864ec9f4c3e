//! A fault of a device ends in an error or has no effect. Finished frames are kept, and the same build resumes.
//!
//! `tests/fault_layer`, a layer between the program and its driver, makes the faults.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use kalah::build::gpu::{GpuComputer, self_test};
use kalah::build::measure;
use kalah::game::Rules;
use kalah::gpu::{GpuError, GpuOptions};
use kalah::progress::Pulse;
use kalah::table::{TableKey, TableWriter};

use crate::adapter::{self, gpu_error};
use crate::builds::{assert_goes_on, assert_right, build, build_pairs, cpu, key, on, pairs_to, tables};
use crate::faults::Faults;
use kalah_tests::files::files;

/// Boards that are quick to build: with captures, and with relays.
const KEYS: [TableKey; 2] = [key(Rules::Standard, 3, 6), key(Rules::SKalaha, 3, 5)];

/// Number of finished layers in a directory.
fn finished(directory: &Path) -> usize {
    files(directory).keys().filter(|name| !name.ends_with(".partial")).count()
}

#[test]
#[ignore = "slow"]
fn each_buffer_that_is_refused_ends_in_an_error_or_is_made_do_without() {
    let Some(faults) = Faults::of_this_test() else { return };
    let Some(gpu) = adapter::open(GpuOptions::default()) else { return };
    for key in KEYS {
        // The first build compiles the shaders and passes the self-test.
        for _ in 0..2 {
            faults.end();
            build(tempfile::tempdir().unwrap().path(), key, on(&gpu)).unwrap();
        }
        let buffers = faults.end();
        assert!(buffers > 40, "{key}: {buffers} buffers");
        let (mut without, mut ended, mut kept) = (0, 0, 0);
        // The device refuses only one buffer, or this one and all after it.
        for refused in (0..buffers).flat_map(|refused| [refused..refused + 1, refused..u64::MAX]) {
            let what = format!("buffers {refused:?} of {buffers}");
            let directory = tempfile::tempdir().unwrap();
            faults.refuse(refused);
            let built = build(directory.path(), key, on(&gpu));
            faults.end();
            match built {
                Ok(()) => {
                    without += 1;
                    assert_right(directory.path(), key, &what);
                }
                Err(error) if matches!(gpu_error(&error), Some(GpuError::OutOfMemory { .. })) => {
                    ended += 1;
                    assert!(error.to_string().contains("not enough GPU memory"), "{error}");
                    kept += usize::from(finished(directory.path()) > 0);
                }
                Err(other) => panic!("{key}, {what}: {other}"),
            }
            assert_goes_on(directory.path(), key, on(&gpu), &what);
        }
        assert_eq!(gpu.used(), 0, "all memory was given back");
        assert!(without > 20 && ended > 20 && kept > 10, "{key}: {without} went on, {ended} ended, {kept} kept layers");
    }
}

/// The layer makes the fault, whatever the adapter.
#[test]
fn what_a_lost_device_had_finished_is_kept_and_another_or_the_cpu_goes_on() {
    let Some(faults) = Faults::of_this_test() else { return };
    let key = key(Rules::Standard, 4, 9);
    let pairs = pairs_to(key.seeds);
    // The device is lost at pairs from the first to the last. Lower frames are on the device or, since the first
    // run left some, in files.
    for (kept, lost_at) in [(1, 1), (1, 2), (1, pairs / 2), (1, pairs), (6, 1), (6, 3), (8, 2)] {
        let Some(device) = adapter::open(GpuOptions::default()) else { return };
        let directory = tempfile::tempdir().unwrap();
        if kept > 1 {
            build(directory.path(), TableKey { seeds: kept, ..key }, cpu()).unwrap();
        }
        let lost = build_pairs(directory.path(), key, on(&device), &|number, _| {
            if number == lost_at {
                faults.lose();
            }
        });
        faults.end();
        let (error, what) = (lost.unwrap_err(), format!("lost at pair {lost_at} after {kept} seeds"));
        let is_lost = matches!(gpu_error(&error), Some(GpuError::Lost(_))) && error.to_string().contains("lost");
        assert!(is_lost, "{what}: {error}");
        // The layers below that of the pair are complete, except that the last frames of the one directly below may
        // have been on the way.
        let below = (kept..key.seeds).rfind(|&seeds| pairs_to(seeds) - pairs_to(kept) < lost_at).unwrap();
        let least = if below > kept { below - 2 } else { below - 1 };
        let tables = finished(directory.path());
        assert!((least..below).contains(&tables), "{what}: {tables} tables");
        // The same command resumes, on a newly opened device or on the CPU.
        let another = if lost_at % 2 == 1 { adapter::open(GpuOptions::default()) } else { None };
        let again = another.map_or_else(cpu, |gpu| on(&gpu));
        assert_goes_on(directory.path(), key, again, &what);
    }
}

/// Mesa's drivers can be made to list hardware that the machine does not have.
#[test]
fn a_device_that_does_nothing_is_not_trusted() {
    let Some(faults) = Faults::of_this_test() else { return };
    for key in KEYS {
        let Some(gpu) = adapter::open(GpuOptions::default()) else { return };
        faults.idle();
        let (directory, tables) = (tempfile::tempdir().unwrap(), tables(key));
        // Builds, checks and measurements do not trust it.
        let computer = GpuComputer::new(Arc::clone(&gpu), &tables, key.seeds);
        let errors: [Box<dyn Error>; 3] = [
            build(directory.path(), key, on(&gpu)).unwrap_err().into(),
            computer.map(drop).unwrap_err().into(),
            measure(&on(&gpu), &tables, key.seeds, directory.path(), &Pulse::default()).unwrap_err().into(),
        ];
        for error in errors {
            let message = error.to_string();
            let is_refused = matches!(gpu_error(&*error), Some(GpuError::WrongScores { .. }));
            assert!(is_refused && message.contains("self-test") && message.contains(key.rules.name()), "{message}");
        }
        let written = TableWriter::open(directory.path(), TableKey { seeds: 2, ..key }).unwrap().written();
        assert_eq!((finished(directory.path()), written), (0, 0), "{:?}", files(directory.path()).keys());
    }
}

#[test]
fn a_device_is_tested_once_with_each_rule_set() {
    let Some(faults) = Faults::of_this_test() else { return };
    let Some(gpu) = adapter::open(GpuOptions::default()) else { return };
    let test = || Rules::ALL.into_iter().for_each(|rules| self_test(&gpu, rules).unwrap());
    test();
    // A device that passed the self-test stays trusted.
    faults.idle();
    test();
    assert_eq!(gpu.used(), 0, "all memory was given back");
}
