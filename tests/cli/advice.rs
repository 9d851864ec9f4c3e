//! Advice in error messages works. The tests drive the program into each failure and run the commands that it suggests.
#![cfg(all(feature = "cli", unix))]

use std::path::Path;

use crate::commands::{directory_with_tables, follow, run, suggested};
use kalah_tests::program::Ran;

/// Runs a command that fails because something is missing or damaged. Follows its advice, and runs it again,
/// successfully.
#[track_caller]
fn mended(directory: &Path, line: &str) {
    let failed = run(directory, line);
    assert_ne!(failed.code(), 0, "{line}: {}", failed.all());
    let commands = suggested(&failed.all());
    let first = commands.first().unwrap_or_else(|| panic!("kalah {line} suggests nothing: {}", failed.all()));
    follow(directory, first).success();
    run(directory, line).success();
}

#[test]
fn what_is_missing_is_there_after_the_advice() {
    for line in ["probe 6x1", "export --seeds 8", "bench --seeds 8 --backend cpu", "archive pack --seeds 8"] {
        mended(directory_with_tables(6).path(), line);
    }
    let empty = tempfile::tempdir().unwrap();
    mended(empty.path(), "probe 2x2 --no-book");
}

#[test]
fn what_is_damaged_is_sound_after_the_advice() {
    let directory = directory_with_tables(6);
    let tables = directory.path().join("tables");
    let table = tables.join("empty-capture-6-06.kalah");
    let whole = std::fs::read(&table).unwrap();
    let middle = whole.len() / 2;
    let flipped = |at: usize| [&whole[..at], &[whole[at] ^ 0x10], &whole[at + 1..]].concat();
    let build = format!("build --seeds 6 --rules empty-capture --pits 6 --tables {}", tables.display());
    for (damaged, command) in [
        (flipped(100), "export --seeds 6"),
        (flipped(middle), "verify"),
        (whole[..middle].to_vec(), "verify"),
        (whole[..middle].to_vec(), "info"),
        (whole[..middle].to_vec(), "export --seeds 6"),
    ] {
        let line = format!("{command} --tables {}", tables.display());
        std::fs::write(&table, damaged).unwrap();
        let refused = run(directory.path(), &line).exits(3).prints("empty-capture-6-06.kalah");
        refused.prints(&format!("delete it and run `kalah {build}`"));
        std::fs::remove_file(&table).unwrap();
        follow(directory.path(), &format!("kalah {build}")).success();
        assert!(std::fs::read(&table).unwrap() == whole, "{line}");
        run(directory.path(), &line).success();
    }
}

/// Commands that read a file, with the content that they take.
const READERS: [(&str, &str); 9] = [
    ("book check FILE --sample 0", "book"),
    ("book show --book FILE", "book"),
    ("book import FILE --output FILE.new", "book or certificate"),
    ("bounds --seeds 4 --network FILE --output .", "network"),
    ("check FILE", "certificate"),
    ("check proof/empty-capture-2_2.certificate --state FILE", "state"),
    ("solve 3x1 --no-book --state FILE", "state"),
    ("archive unpack FILE --tables new", "archive"),
    ("analyse values --pits 2 --seeds-per-pit 1..2 --state FILE", "state"),
];

/// Makes a directory with tables, and files of other kinds, each under its kind.
fn directory_with_files() -> (tempfile::TempDir, Vec<(&'static str, &'static str)>) {
    let directory = directory_with_tables(6);
    for line in ["book make 3x1 --turns 1 --output x.book", "prove 1x2 --proof proof"] {
        run(directory.path(), line).success();
    }
    let network =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/core/src/evaluation/networks/empty-capture-6.network");
    std::fs::copy(network, directory.path().join("x.network")).unwrap();
    std::fs::write(directory.path().join("notes.txt"), "my notes\n".repeat(9000)).unwrap();
    let files = vec![
        ("text", "notes.txt"),
        ("table", "tables/empty-capture-6-06.kalah"),
        ("certificate", "proof/empty-capture-2_2.certificate"),
        ("book", "x.book"),
        ("network", "x.network"),
    ];
    (directory, files)
}

/// Only a file that is certainly of this program and damaged is to be deleted.
#[test]
fn files_of_another_kind_are_not_to_be_deleted() {
    let (directory, files) = directory_with_files();
    for (reader, takes) in READERS {
        for (kind, file) in files.iter().filter(|(kind, _)| !takes.contains(kind)) {
            let path = directory.path().join(file);
            let before = std::fs::read(&path).unwrap();
            let line = reader.replace("FILE", file);
            let failed = run(directory.path(), &line);
            let printed = failed.stderr();
            assert!(!failed.status.success() && printed.contains(file), "{line}, {kind}: {printed}");
            assert!(!printed.contains("delete"), "{line}, {kind}: {printed}");
            assert!(std::fs::read(&path).unwrap() == before, "{line}, {kind}");
        }
        // The advice is to choose another file.
        for (_, file) in files.iter().filter(|(kind, _)| takes.contains(kind)) {
            run(directory.path(), &reader.replace("FILE", file)).success();
        }
    }
}

#[test]
fn a_file_of_another_kind_under_a_name_of_the_program_is_moved_away() {
    for (place, line) in [
        ("tables/empty-capture-6-06.kalah", "export --seeds 6"),
        ("tables/empty-capture-6.book", "book check --sample 0"),
        ("tables/empty-capture-6.network", "bounds --seeds 4"),
    ] {
        let (directory, files) = directory_with_files();
        let path = directory.path().join(place);
        for (kind, file) in files.iter().filter(|(kind, _)| !place.ends_with(kind) && *kind != "table") {
            std::fs::copy(directory.path().join(file), &path).unwrap();
            let failed = run(directory.path(), line).prints("move it away").does_not_print("delete");
            assert_ne!(failed.code(), 0, "{line}, {kind}");
            std::fs::rename(&path, directory.path().join("away")).unwrap();
            for command in suggested(&failed.stderr()).iter().take(1) {
                follow(directory.path(), command).success();
            }
            run(directory.path(), line).success();
            // New bound tables have the network of those that exist.
            let _ = std::fs::remove_file(directory.path().join("tables/empty-capture-6-04.bounds"));
        }
    }
}

#[test]
fn files_for_another_board_or_command_are_used_there() {
    let (directory, _) = directory_with_files();
    let refused = run(directory.path(), "bounds --pits 5 --seeds 4 --network x.network --output .");
    refused.prints("--rules and --pits").does_not_print("delete");
    run(directory.path(), "bounds --rules empty-capture --pits 6 --seeds 4 --network x.network --output .").success();
}

#[test]
fn messages_name_standard_input_and_text_that_is_no_position() {
    let directory = tempfile::tempdir().unwrap();
    for (line, expected, not) in [
        ("review -", "standard input", "cannot read -"),
        ("solve <6,1,2>", "is not a position", "no file of that name"),
    ] {
        run(directory.path(), line).prints(expected).does_not_print(not);
    }
}

/// Boards of one pit and positions with one seed are named in the singular, in answers and in errors. Each of these
/// commands prints such a number.
#[test]
fn one_pit_and_one_seed_are_named_in_the_singular() {
    let directory = tempfile::tempdir().unwrap();
    let lines = [
        "build --seeds 3 --threads 1 --pits 1 --backend cpu",
        "probe 1/0",
        "solve 1x2",
        "solve 1x3 --threads 1 --no-book",
        "review 1x2",
        "export --seeds 9 --pits 1",
        "verify --pits 1 --rules standard",
        "train --pits 1 --rules standard --output one.network",
        "train --pits 1 --output one.network",
        "bounds --pits 1 --seeds 3 --output bounds",
        "analyse opening-scan --pits 1 --seeds-per-pit 2",
        "book make 1x2 --turns 1 --output one.book",
        "book show --book one.book",
        "prove 1x2 --proof proof",
        "check proof/empty-capture-2_2.certificate",
    ];
    let mut named = String::new();
    for line in lines {
        let all = run(directory.path(), line).all();
        let plural = ["pits", "seeds", "threads", "layers", "files", "turns", "moves", "games", "claims", "jobs"];
        for (at, _) in all.match_indices("1 ") {
            let alone = !all[..at].ends_with(|sign: char| sign.is_alphanumeric() || ",.-+".contains(sign));
            let thing = all[at + 2..].split(|sign: char| !sign.is_alphabetic()).next().unwrap_or_default();
            assert!(!alone || !plural.contains(&thing), "kalah {line}: {all}");
        }
        named += &all;
    }
    for thing in ["1 pit ", "1 seed ", "1 thread ("] {
        assert!(named.contains(thing), "{thing}: {named}");
    }
}
