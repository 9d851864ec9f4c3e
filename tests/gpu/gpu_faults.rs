//! A fault of a device ends in an error or has no effect. Finished frames are kept, and the same build resumes.
//!
//! `tests/fault_layer`, a layer between the program and its driver, makes the faults.
#![cfg(feature = "gpu")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kalah::build::gpu::{GpuComputer, self_test};
use kalah::build::{Backend, BuildError, Builder, measure};
use kalah::game::Rules;
use kalah::gpu::{Gpu, GpuError, GpuOptions};
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::table::{TableKey, Tables};

use crate::adapter::{self, gpu_error};
#[cfg(target_os = "linux")]
use crate::faults::Faults;
use kalah_tests::files::{assert_same_files, files};

/// Boards that are quick to build: with captures, and with relays.
const KEYS: [TableKey; 2] =
    [TableKey { rules: Rules::Standard, pits: 3, seeds: 6 }, TableKey { rules: Rules::SKalaha, pits: 3, seeds: 5 }];

fn build(directory: &Path, key: TableKey, backend: Backend) -> Result<(), BuildError> {
    Builder::new(directory, key).backend(backend).run(&Pulse::default(), &|_| {}).map(drop)
}

fn build_on(directory: &Path, key: TableKey, gpu: &Arc<Gpu>) -> Result<(), BuildError> {
    build(directory, key, Backend::Gpu(gpu.clone()))
}

/// Files as the CPU builder writes them.
fn right_files(key: TableKey) -> BTreeMap<String, Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), key, Backend::Cpu(Isa::detect())).unwrap();
    files(directory.path())
}

/// Checks that the finished part of the files of a build that ended early is right. Then resumes the build.
fn assert_goes_on(directory: &Path, key: TableKey, backend: Backend, right: &BTreeMap<String, Vec<u8>>, what: &str) {
    for (name, bytes) in files(directory) {
        assert!(name.ends_with(".partial") || bytes == right[&name], "{what}: {name}");
    }
    build(directory, key, backend).unwrap();
    assert_same_files(right, &files(directory), what);
}

/// Number of frames in the files of a directory.
fn finished(directory: &Path, key: TableKey) -> usize {
    let frames = |seeds| {
        let writer = kalah::table::TableWriter::open(directory, TableKey { seeds, ..key }).unwrap();
        writer.written()
    };
    let whole = (2..=key.seeds).filter(|&seeds| TableKey { seeds, ..key }.path(directory).exists());
    let whole: Vec<usize> = whole.collect();
    let next = whole.last().map_or(2, |last| last + 1);
    whole.iter().map(|seeds| seeds - 1).sum::<usize>() + if next <= key.seeds { frames(next) } else { 0 }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow"]
fn each_buffer_that_is_refused_ends_in_an_error_or_is_made_do_without() {
    let test = "gpu_faults::each_buffer_that_is_refused_ends_in_an_error_or_is_made_do_without";
    let Some(faults) = Faults::of(test) else { return };
    let Some(gpu) = adapter::open(GpuOptions::default()) else { return };
    for key in KEYS {
        let right = right_files(key);
        // The first build compiles the shaders and passes the self-test.
        for _ in 0..2 {
            let directory = tempfile::tempdir().unwrap();
            faults.end();
            build_on(directory.path(), key, &gpu).unwrap();
        }
        let buffers = faults.end();
        assert!(buffers > 40, "{key}: {buffers} buffers");
        let (mut without, mut ended, mut kept) = (0, 0, 0);
        for refused in 0..buffers {
            // The device refuses only this buffer, or this one and all after it.
            for refused in [refused..refused + 1, refused..u64::MAX] {
                let what = format!("{key}, buffers {refused:?} of {buffers}");
                let directory = tempfile::tempdir().unwrap();
                faults.refuse(refused);
                match build_on(directory.path(), key, &gpu) {
                    Ok(()) => {
                        without += 1;
                        assert_same_files(&right, &files(directory.path()), &what);
                    }
                    Err(error) if matches!(gpu_error(&error), Some(GpuError::OutOfMemory { .. })) => {
                        ended += 1;
                        assert!(error.to_string().contains("not enough GPU memory"), "{error}");
                        kept += usize::from(finished(directory.path(), key) > 0);
                    }
                    Err(other) => panic!("{what}: {other}"),
                }
                faults.end();
                assert_goes_on(directory.path(), key, Backend::Gpu(gpu.clone()), &right, &what);
            }
        }
        assert_eq!(gpu.used(), 0, "all memory was given back");
        assert!(without > 20 && ended > 20 && kept > 10, "{key}: {without} went on, {ended} ended, {kept} kept frames");
        println!("{key}: {buffers} buffers; {without} builds went on, {ended} ended, {kept} of them kept frames");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_hangs_is_given_up_and_finished_frames_are_kept() {
    let test = "gpu_faults::a_device_that_hangs_is_given_up_and_finished_frames_are_kept";
    let Some(faults) = Faults::of(test) else { return };
    let key = KEYS[0];
    let right = right_files(key);
    let mut kept = 0;
    for submissions in [0, 1, 5, 15, 25] {
        let Some(gpu) = adapter::open(GpuOptions::default()) else { return };
        self_test(&gpu, key.rules).unwrap();
        faults.hang_after(submissions);
        let directory = tempfile::tempdir().unwrap();
        match build_on(directory.path(), key, &gpu).unwrap_err() {
            error if matches!(gpu_error(&error), Some(GpuError::Hung(_))) => {
                assert!(error.to_string().contains("hangs"), "{error}");
            }
            other => panic!("after {submissions} submissions: {other}"),
        }
        kept += finished(directory.path(), key);
        faults.end();
        let what = format!("it hung after {submissions} submissions");
        // The same command resumes, on a newly opened device or on the CPU.
        let again = match adapter::open(GpuOptions::default()) {
            Some(another) if submissions % 2 == 1 => Backend::Gpu(another),
            _ => Backend::Cpu(Isa::detect()),
        };
        assert_goes_on(directory.path(), key, again, &right, &what);
    }
    assert!(kept > 0, "no frame was finished before a hang");
}

/// Kernels that would take too long are run in parts, down to a row. This includes the kernels for relays.
#[test]
fn on_a_slow_device_more_and_smaller_submissions_make_the_same_files() {
    let mut submissions = Vec::new();
    for slow in [false, true] {
        let mut options = GpuOptions::default();
        if slow {
            // No submission is as short.
            options.submission = Duration::from_nanos(1);
        }
        let Some(gpu) = adapter::open(options) else { return };
        for key in [TableKey { seeds: 8, ..KEYS[0] }, TableKey { seeds: 7, ..KEYS[1] }] {
            self_test(&gpu, key.rules).unwrap();
        }
        for key in [TableKey { seeds: 8, ..KEYS[0] }, TableKey { seeds: 7, ..KEYS[1] }] {
            let before = gpu.submissions();
            let directory = tempfile::tempdir().unwrap();
            build_on(directory.path(), key, &gpu).unwrap();
            submissions.push(gpu.submissions() - before);
            assert_same_files(&right_files(key), &files(directory.path()), &format!("{key}, slow: {slow}"));
        }
    }
    let [quick, quick_relays, slow, slow_relays] = submissions[..] else { unreachable!() };
    assert!(slow > 3 * quick && slow_relays > 3 * quick_relays, "{submissions:?} submissions");
}

#[test]
fn impatience_ends_a_build_but_makes_nothing_wrong() {
    let key = KEYS[0];
    let right = right_files(key);
    for microseconds in [0, 100, 1000] {
        let mut options = GpuOptions::default();
        options.patience = Duration::from_micros(microseconds);
        let Some(gpu) = adapter::open(options) else { return };
        let directory = tempfile::tempdir().unwrap();
        let what = format!("a patience of {microseconds} us");
        match build_on(directory.path(), key, &gpu) {
            Ok(()) => {}
            Err(error) if matches!(gpu_error(&error), Some(GpuError::Hung(_))) => {}
            Err(other) => panic!("{what}: {other}"),
        }
        assert_goes_on(directory.path(), key, Backend::Cpu(Isa::detect()), &right, &what);
    }
}

/// Mesa's drivers can be made to list hardware that the machine does not have.
#[cfg(target_os = "linux")]
#[test]
fn a_device_that_does_nothing_is_not_trusted() {
    let Some(faults) = Faults::of("gpu_faults::a_device_that_does_nothing_is_not_trusted") else { return };
    for key in KEYS {
        let Some(gpu) = adapter::open(GpuOptions::default()) else { return };
        faults.idle();
        let is_refused = |error: &(dyn std::error::Error + 'static)| {
            let message = error.to_string();
            matches!(gpu_error(error), Some(GpuError::WrongScores { .. }))
                && message.contains("self-test")
                && message.contains(key.rules.name())
        };
        let directory = tempfile::tempdir().unwrap();
        let error = build_on(directory.path(), key, &gpu).unwrap_err();
        assert!(is_refused(&error), "{error}");
        assert_eq!(finished(directory.path(), key), 0);
        // Builds, checks and measurements do not trust it.
        build(directory.path(), key, Backend::Cpu(Isa::detect())).unwrap();
        let tables = Tables::open(directory.path(), key.rules, key.pits, key.seeds).unwrap();
        let error = GpuComputer::new(Arc::clone(&gpu), &tables, key.seeds).map(drop).unwrap_err();
        assert!(is_refused(&error), "{error}");
        let backend = Backend::Gpu(gpu.clone());
        let measured = measure(&backend, &tables, key.seeds, directory.path(), &Pulse::default());
        assert!(is_refused(&measured.unwrap_err()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_tested_once_with_each_rule_set() {
    let Some(faults) = Faults::of("gpu_faults::a_device_is_tested_once_with_each_rule_set") else { return };
    let Some(gpu) = adapter::open(GpuOptions::default()) else { return };
    for rules in Rules::ALL {
        self_test(&gpu, rules).unwrap();
    }
    // A device that passed the self-test stays trusted.
    faults.idle();
    for rules in Rules::ALL {
        self_test(&gpu, rules).unwrap();
    }
    assert_eq!(gpu.used(), 0, "all memory was given back");
}

/// No upload uses a method that loses the device when memory runs out.
#[test]
fn no_source_writes_through_the_queue() {
    fn visit(directory: &Path, seen: &mut usize) {
        for entry in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                visit(&entry, seen);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                *seen += 1;
                let text = std::fs::read_to_string(&entry).unwrap();
                for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                    assert!(!line.contains(".write_buffer"), "{}: {line}", entry.display());
                }
            }
        }
    }
    let mut seen = 0;
    for directory in ["crates/gpu/src/device", "crates/gpu/src/builder"] {
        visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join(directory), &mut seen);
    }
    assert!(seen > 20);
}
