//! Ctrl-C while archives are written: no incomplete file is left, and the same command resumes.
#![cfg(all(feature = "cli", target_os = "linux"))]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use kalah::build::{Builder, build};
use kalah::cancel::Cancel;
use kalah::file::beside;
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::{Table, TableKey, archive};

use crate::files::{assert_same_files, files};
use crate::signals::{catches_interrupts, heard, interrupt};

const RULES: Rules = Rules::EmptyCapture;

/// A layer that takes some time to pack.
const LARGE: TableKey = TableKey { rules: RULES, pits: 6, seeds: 17 };

/// Command that runs the program on one thread, with its tables in `directory`.
fn start(directory: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kalah"));
    command.args(args).args(["--threads", "1"]).env("KALAH_TABLES", directory);
    heard(command.stdout(Stdio::piped()).stderr(Stdio::piped())).spawn().unwrap()
}

fn finish(directory: &Path, args: &[&str]) {
    let output = start(directory, args).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Starts the program, and sends the signal of Ctrl-C as soon as `written` has a file with the name `awaited`. The
/// program may end before, on a busy machine.
fn interrupted(directory: &Path, args: &[&str], written: &Path, awaited: impl Fn(&str) -> bool) -> Output {
    let mut child = start(directory, args);
    // Files of earlier runs may be there before the work begins. A signal that comes so early ends the program without
    // a message, as it ends one that has no handler.
    let is_building = |child: &Child| args[0] != "build" || has_open(child, "build.lock");
    while !(catches_interrupts(&child) && is_building(&child) && names(written).iter().any(|name| awaited(name))) {
        if child.try_wait().unwrap().is_some() {
            return child.wait_with_output().unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    interrupt(&child);
    child.wait_with_output().unwrap()
}

/// Returns true if the program has a file of this name open.
fn has_open(child: &Child, name: &str) -> bool {
    let open = std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten();
    open.flatten().any(|entry| std::fs::read_link(entry.path()).is_ok_and(|path| path.ends_with(name)))
}

fn names(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[track_caller]
fn assert_stopped(output: &Output, expected: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains(expected) && error.contains("run the same command again to continue"), "{error}");
}

/// Checks that no temporary file is left and that each archive is that of its table.
#[track_caller]
fn assert_whole(directory: &Path, tables: &Path) {
    for name in names(directory) {
        assert!(!name.ends_with(".tmp"), "{name}");
        if let Some(table) = name.strip_suffix(".zst") {
            let table = Table::open(tables.join(table)).unwrap();
            assert!(archive::is_compressed(&table, directory.join(&name), &Cancel::new()).unwrap(), "{name}");
        }
    }
}

fn is_temporary(name: &str) -> bool {
    name.ends_with(".tmp") && name.contains(&LARGE.file_name())
}

#[test]
fn packing_and_unpacking_go_on_after_a_stop() {
    let [tables, packed, unpacked] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let (tables, packed, unpacked) = (tables.path(), packed.path(), unpacked.path());
    build(tables, RULES, 6, LARGE.seeds).unwrap();
    let pack = ["archive", "pack", "--output", packed.to_str().unwrap()];
    // An existing archive of the same name stays until the new one is complete.
    let path = archive::archive_path(packed, LARGE);
    std::fs::write(&path, "an older file").unwrap();
    let output = interrupted(tables, &pack, packed, is_temporary);
    assert_stopped(&output, "stopped while packing");
    assert_eq!(std::fs::read(&path).unwrap(), b"an older file");
    std::fs::remove_file(&path).unwrap();
    assert_whole(packed, tables);
    assert_eq!(names(packed).iter().filter(|name| name.ends_with(".zst")).count(), LARGE.seeds - 2);
    // The other archives are kept.
    let time = |name: &str| packed.join(name).metadata().unwrap().modified().unwrap();
    let other = beside(Path::new(&TableKey { seeds: 16, ..LARGE }.file_name()), ".zst");
    let before = time(other.to_str().unwrap());
    finish(tables, &pack);
    assert_eq!(time(other.to_str().unwrap()), before);
    assert_whole(packed, tables);
    let right = unpacked.join("right.zst");
    archive::compress(&Table::open(LARGE.path(tables)).unwrap(), &right, &Pulse::default()).unwrap();
    assert!(std::fs::read(&right).unwrap() == std::fs::read(&path).unwrap());

    let unpack = ["archive", "unpack", path.to_str().unwrap()];
    let partial = beside(Path::new(&LARGE.file_name()), ".unpacking");
    let output = interrupted(unpacked, &unpack, unpacked, |name| Path::new(name) == partial);
    assert_stopped(&output, "stopped while unpacking");
    assert!(!LARGE.path(unpacked).exists());
    finish(unpacked, &unpack);
    assert!(std::fs::read(LARGE.path(unpacked)).unwrap() == std::fs::read(LARGE.path(tables)).unwrap());
}

#[test]
fn a_build_into_archives_goes_on_after_a_stop() {
    const FIRST: usize = 14;
    let last = TableKey { seeds: 16, ..LARGE };
    let [tables, right, stopped] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let (tables, right, stopped) = (tables.path(), right.path(), stopped.path());
    build(tables, RULES, 6, LARGE.seeds).unwrap();
    Builder::new(right, last).archives(FIRST, 1 << 30).run(&Pulse::default(), &|_| {}).unwrap();
    let [seeds, first] = [last.seeds, FIRST].map(|seeds| seeds.to_string());
    let args = ["build", "--seeds", &seeds, "--packed", &first];
    for seeds in FIRST..=last.seeds {
        let archive = TableKey { seeds, ..last }.file_name() + ".zst";
        // First while a layer is computed and packed, then when its archive already has its final name.
        for awaited in [archive.clone() + ".partial", archive.clone()] {
            if seeds == last.seeds && stopped.join(&archive).exists() {
                // The stop before came too late.
                continue;
            }
            let output = interrupted(stopped, &args, stopped, |name| name == awaited || name == archive);
            if output.status.success() {
                assert_eq!(seeds, last.seeds, "{awaited}");
            } else {
                assert_stopped(&output, "stopped while building");
            }
            assert_whole(stopped, tables);
        }
    }
    finish(stopped, &args);
    assert_same_files(&files(right), &files(stopped), "after every stop");
    assert!(names(stopped).iter().all(|name| !name.ends_with(".partial")));
}

#[test]
fn a_table_that_a_build_packs_stays_after_a_stop() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    build(directory, RULES, 6, LARGE.seeds).unwrap();
    let seeds = LARGE.seeds.to_string();
    let args = ["build", "--seeds", &seeds, "--packed", &seeds];
    let table = std::fs::read(LARGE.path(directory)).unwrap();
    assert_stopped(&interrupted(directory, &args, directory, is_temporary), "stopped while building");
    assert!(std::fs::read(LARGE.path(directory)).unwrap() == table);
    assert_whole(directory, directory);
    assert!(!archive::archive_path(directory, LARGE).exists());
    let kept = Table::from_bytes(Path::new("the table"), table).unwrap();
    finish(directory, &args);
    assert!(!LARGE.path(directory).exists());
    assert!(archive::is_compressed(&kept, archive::archive_path(directory, LARGE), &Cancel::new()).unwrap());
}
