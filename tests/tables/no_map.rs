//! `kalah probe --no-map`: the same answers, and no file of a table is mapped.
#![cfg(feature = "cli")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use kalah::build::build;
use kalah::game::Rules;
use kalah_tests::program::{self, Ran};

/// Positions within the tables, above them, in the book, of another board, and none.
const POSITIONS: &str = "0,1,0,2/1,1,0,3\n4x1\n4x2\n6x4\n5x1\n<4,3,0,0,0,0,0,3,0,1,1>\nx\n";

fn probe(directory: &Path, flags: &[&str]) -> Command {
    let mut command = program::command();
    command.args(["probe", "-"]).args(flags).env("KALAH_TABLES", directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn answer(directory: &Path, flags: &[&str]) -> Output {
    let mut child = probe(directory, flags).spawn().unwrap();
    child.stdin.take().unwrap().write_all(POSITIONS.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn answers_are_the_same_without_mappings() {
    let directory = tempfile::tempdir().unwrap();
    for rules in ["empty-capture", "standard"] {
        build(directory.path(), rules.parse().unwrap(), 4, 9).unwrap();
        for flags in [&["--rules", rules][..], &["--rules", rules, "--json"]] {
            let mapped = answer(directory.path(), flags);
            assert!(mapped.stdout.split(|&byte| byte == b'\n').count() > 3);
            assert_eq!(answer(directory.path(), &[flags, &["--no-map"]].concat()), mapped, "{flags:?}");
        }
    }
    let missing = directory.path().join("no-tables");
    std::fs::create_dir(&missing).unwrap();
    assert_eq!(answer(&missing, &["--no-map"]), answer(&missing, &[]));
}

#[test]
fn damage_is_found_without_mappings() {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), Rules::EmptyCapture, 4, 9).unwrap();
    let path = directory.path().join("empty-capture-4-08.kalah");
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[1024..end].iter_mut().for_each(|byte| *byte ^= 1);
    std::fs::write(&path, bytes).unwrap();
    for flags in [&[][..], &["--no-map"]] {
        let output = answer(directory.path(), flags).exits(3);
        assert!(output.stderr().contains("empty-capture-4-08.kalah"));
    }
}

/// The list of a process's mappings names mapped files.
#[cfg(target_os = "linux")]
#[test]
fn no_table_is_mapped() {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), Rules::EmptyCapture, 4, 9).unwrap();
    for (flags, is_mapped) in [(&[][..], true), (&["--no-map"], false)] {
        let mut child = probe(directory.path(), flags).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "0,1,0,2/1,1,0,3").unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap();
        drop(input);
        assert!(child.wait().unwrap().success() && line.starts_with("<4,"), "{line}");
        let files = maps.lines().filter(|mapping| mapping.ends_with(".kalah")).count();
        assert_eq!(files > 0, is_mapped, "{maps}");
    }
}
