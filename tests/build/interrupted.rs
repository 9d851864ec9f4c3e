//! Ctrl-C while archives are written: no incomplete file is left, and the same command resumes.
#![cfg(all(feature = "cli", target_os = "linux"))]

use std::path::Path;
use std::process::{Child, Output};
use std::time::Duration;

use kalah::build::build;
use kalah::cancel::Cancel;
use kalah::file::beside;
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::{Table, TableKey, archive};

use kalah_tests::program::{Ran, with_tables};
use kalah_tests::signals::{catches_interrupts, heard, interrupt};

const RULES: Rules = Rules::EmptyCapture;

/// A layer that takes some time to pack.
const LARGE: TableKey = TableKey { rules: RULES, pits: 6, seeds: 17 };

/// Command that runs the program on one thread, with its tables in `directory`.
fn start(directory: &Path, line: &str) -> Child {
    heard(&mut with_tables(directory, &format!("{line} --threads 1"))).spawn().unwrap()
}

fn finish(directory: &Path, line: &str) {
    start(directory, line).wait_with_output().unwrap().success();
}

/// Starts the program, and sends the signal of Ctrl-C as soon as `written` has a file with the name `awaited`. The
/// program may end before, on a busy machine.
fn interrupted(directory: &Path, line: &str, written: &Path, awaited: impl Fn(&str) -> bool) -> Output {
    let mut child = start(directory, line);
    while !(catches_interrupts(&child) && names(written).iter().any(|name| awaited(name))) {
        if child.try_wait().unwrap().is_some() {
            return child.wait_with_output().unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    interrupt(&child);
    child.wait_with_output().unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Checks that no temporary file is left and that each archive is that of its table.
#[track_caller]
fn assert_whole(directory: &Path, tables: &Path) {
    for name in names(directory) {
        assert!(!name.ends_with(".tmp"), "{name}");
        if let Some(table) = name.strip_suffix(".archive") {
            let table = Table::open(tables.join(table)).unwrap();
            assert!(archive::is_compressed(&table, directory.join(&name), &Cancel::new()).unwrap(), "{name}");
        }
    }
}

#[test]
fn packing_and_unpacking_go_on_after_a_stop() {
    let [tables, packed, unpacked] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let (tables, packed, unpacked) = (tables.path(), packed.path(), unpacked.path());
    let is_temporary = |name: &str| name.ends_with(".tmp") && name.contains(&LARGE.file_name());
    build(tables, RULES, 6, LARGE.seeds).unwrap();
    let pack = &format!("archive pack --output {}", packed.display());
    // A damaged archive of the same name stays until the new one is complete.
    let path = archive::archive_path(packed, LARGE);
    archive::compress(&Table::open(LARGE.path(tables)).unwrap(), &path, &Pulse::default()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let cut = &whole[..whole.len() / 2];
    std::fs::write(&path, cut).unwrap();
    let output = interrupted(tables, pack, packed, is_temporary).exits(130);
    output.prints("stopped while packing").prints("run the same command again to continue");
    assert!(std::fs::read(&path).unwrap() == cut);
    std::fs::remove_file(&path).unwrap();
    assert_whole(packed, tables);
    assert_eq!(names(packed).iter().filter(|name| name.ends_with(".archive")).count(), LARGE.seeds - 2);
    // The other archives are kept.
    let time = |name: &str| packed.join(name).metadata().unwrap().modified().unwrap();
    let other = beside(Path::new(&TableKey { seeds: 16, ..LARGE }.file_name()), ".archive");
    let before = time(other.to_str().unwrap());
    finish(tables, pack);
    assert_eq!(time(other.to_str().unwrap()), before);
    assert_whole(packed, tables);
    assert!(std::fs::read(&path).unwrap() == whole);

    let unpack = &format!("archive unpack {}", path.display());
    let output = interrupted(unpacked, unpack, unpacked, is_temporary).exits(130);
    output.prints("stopped while unpacking").prints("run the same command again to continue");
    assert_eq!(names(unpacked), ["build.lock"]);
    finish(unpacked, unpack);
    assert!(std::fs::read(LARGE.path(unpacked)).unwrap() == std::fs::read(LARGE.path(tables)).unwrap());
}
