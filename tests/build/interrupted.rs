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

use kalah_tests::place::Place;
use kalah_tests::program::Ran;
use kalah_tests::signals::{catches_interrupts, heard, interrupt};

const RULES: Rules = Rules::EmptyCapture;

/// A layer that takes some time to pack.
const LARGE: TableKey = TableKey { rules: RULES, pits: 6, seeds: 17 };

/// Starts the program on one thread, with its tables in `place`.
fn start(place: &Place, line: &str) -> Child {
    heard(&mut place.command(&format!("{line} --threads 1"))).spawn().unwrap()
}

fn finish(place: &Place, line: &str) {
    start(place, line).wait_with_output().unwrap().success();
}

/// Starts the program, and sends the signal of Ctrl-C as soon as `written` has a file with the name `awaited`. The
/// program may end before, on a busy machine.
fn interrupted(place: &Place, line: &str, written: &Place, awaited: impl Fn(&str) -> bool) -> Output {
    let mut child = start(place, line);
    while !(catches_interrupts(&child) && written.names().iter().any(|name| awaited(name))) {
        if child.try_wait().unwrap().is_some() {
            return child.wait_with_output().unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    interrupt(&child);
    child.wait_with_output().unwrap()
}

/// Checks that no temporary file is left and that each archive is that of its table.
#[track_caller]
fn assert_whole(packed: &Place, tables: &Place) {
    for name in packed.names() {
        assert!(!name.ends_with(".tmp"), "{name}");
        if let Some(table) = name.strip_suffix(".archive") {
            let table = Table::open(tables.at(table)).unwrap();
            assert!(archive::is_compressed(&table, packed.at(&name), &Cancel::new()).unwrap(), "{name}");
        }
    }
}

#[test]
fn packing_and_unpacking_go_on_after_a_stop() {
    let [tables, packed, unpacked] = &std::array::from_fn(|_| Place::empty());
    let is_temporary = |name: &str| name.ends_with(".tmp") && name.contains(&LARGE.file_name());
    build(tables.path(), RULES, 6, LARGE.seeds).unwrap();
    let pack = &format!("archive pack --output {}", packed.path().display());
    // A damaged archive of the same name stays until the new one is complete.
    let path = archive::archive_path(packed.path(), LARGE);
    archive::compress(&Table::open(LARGE.path(tables.path())).unwrap(), &path, &Pulse::default()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let cut = &whole[..whole.len() / 2];
    std::fs::write(&path, cut).unwrap();
    let output = interrupted(tables, pack, packed, is_temporary).exits(130);
    output.prints("stopped while packing").prints("run the same command again to continue");
    assert!(std::fs::read(&path).unwrap() == cut);
    std::fs::remove_file(&path).unwrap();
    assert_whole(packed, tables);
    assert_eq!(packed.names().iter().filter(|name| name.ends_with(".archive")).count(), LARGE.seeds - 2);
    // The other archives are kept.
    let time = |name: &str| packed.at(name).metadata().unwrap().modified().unwrap();
    let other = beside(Path::new(&TableKey { seeds: 16, ..LARGE }.file_name()), ".archive");
    let before = time(other.to_str().unwrap());
    finish(tables, pack);
    assert_eq!(time(other.to_str().unwrap()), before);
    assert_whole(packed, tables);
    assert!(std::fs::read(&path).unwrap() == whole);

    let unpack = &format!("archive unpack {}", path.display());
    let output = interrupted(unpacked, unpack, unpacked, is_temporary).exits(130);
    output.prints("stopped while unpacking").prints("run the same command again to continue");
    assert_eq!(unpacked.names(), ["build.lock"]);
    finish(unpacked, unpack);
    assert!(unpacked.read(&LARGE.file_name()) == tables.read(&LARGE.file_name()));
}
