//! A missing directory of tables is an error of every command if it was named. If it is the default, the command prints
//! a note.
#![cfg(all(feature = "cli", feature = "serve", unix))]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::commands::{all, directory_with_tables, program, run, takes};
use crate::exit_codes::case;
use kalah_tests::files::flip;
use kalah_tests::place::Place;
use kalah_tests::program::{Ran, Run};

/// Arguments of a command that uses tables and makes none, without the tables.
fn arguments(command: &str) -> &'static str {
    match command {
        "book check" | "book show" | "engine" => "",
        "book import" | "check" => "FILE",
        "book make" => "2x2 --turns 0",
        "export-site" => "site --module MODULE",
        "prove" => "2x2 --proof proof",
        "serve" => "--address 127.0.0.1:0",
        // As with damaged tables.
        _ => case(command)[2]
            .strip_suffix("--tables BAD")
            .unwrap_or_else(|| panic!("add arguments of `kalah {command}`")),
    }
}

#[test]
fn a_directory_that_is_named_must_be_there() {
    let place = Place::empty();
    place.write("FILE", "");
    let mut tried = 0;
    for command in all().into_iter().filter(|command| takes(command, "--tables")) {
        if ["build", "archive unpack"].contains(&command.as_str()) || command.starts_with("plan ") {
            continue;
        }
        tried += 1;
        // A file is no directory of tables either.
        for (name, by_variable) in [("typo", false), ("typo", true), ("FILE", false)] {
            let mut program = program(command.split(' ').chain(arguments(&command).split_whitespace()));
            program.current_dir(place.path());
            let output = match by_variable {
                true => program.env("KALAH_TABLES", name).run(),
                false => program.args(["--tables", name]).run(),
            };
            let by = if by_variable { "KALAH_TABLES" } else { "--tables" };
            let expected = format!("kalah: there is no directory {name} (named by {by})\n");
            assert_eq!(output.fails(1, &expected).stderr(), expected, "{command}");
            assert_eq!(place.names(), ["FILE"], "{command} makes something");
        }
    }
    assert!(tried > 20, "{tried}");
}

#[test]
fn commands_that_make_tables_make_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let run = |line: &str| drop(run(directory.path(), line).success());
    run("plan build --seeds 4 --tables new");
    assert!(!directory.path().join("new").exists());
    run("build --seeds 4 --tables new");
    run("solve 2x2 --build --tables newer");
    run("archive pack --seeds 4 --tables new --output .");
    run("archive unpack empty-capture-6-04.kalah.archive --tables newest");
    assert_eq!(["new", "newer", "newest"].map(|name| directory.path().join(name).is_dir()), [true; 3]);
    // With `--no-tables`, the directory may be missing.
    run("solve 2x2 --no-tables --tables typo");
}

/// Returns the first messages of a command, before it answers or waits.
fn first_words(directory: &Path, args: &str) -> String {
    let mut program = program(args.split_whitespace());
    program.current_dir(directory).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    messages.read_line(&mut line).unwrap();
    let _ = child.kill();
    child.wait().unwrap();
    line
}

/// Without a message, users would not notice that these commands search where they had tables.
#[test]
fn tables_that_are_left_out_are_named() {
    for args in ["serve --address 127.0.0.1:0", "engine"] {
        let directory = directory_with_tables(6);
        let table = directory.path().join("tables/empty-capture-6-04.kalah");
        flip(&table, 20, 1);
        for quiet in ["", " --quiet"] {
            let messages = first_words(directory.path(), &format!("{args}{quiet}"));
            assert!(messages.contains("empty-capture-6-04.kalah"), "{args}: {messages}");
            assert!(messages.contains("it and larger tables of its board are not used"), "{args}: {messages}");
        }
        std::fs::remove_file(&table).unwrap();
        let messages = first_words(directory.path(), args);
        let expected = "empty-capture with 6 pits in tables: layer 4 is missing, so larger tables are not used";
        assert!(messages.contains(expected), "{args}: {messages}");
    }
    // A damaged bound table is left out like a table.
    let directory = directory_with_tables(4);
    std::fs::write(directory.path().join("tables/empty-capture-6-05.bounds"), "KALAHBD").unwrap();
    let messages = first_words(directory.path(), "engine");
    assert!(messages.contains("empty-capture-6-05.bounds"), "{messages}");
}

/// Without a note, users would not notice that these commands play worse.
#[test]
fn commands_that_go_on_without_tables_say_so() {
    let without = tempfile::tempdir().unwrap();
    let with = directory_with_tables(4);
    for args in
        ["solve 2x2", "move 2x2", "play 2x2 --south greedy --north greedy", "analyse values --pits 2 --seeds-per-pit 2"]
    {
        let messages = first_words(without.path(), args);
        assert!(messages.contains("no tables for empty-capture"), "{args}: {messages}");
        let messages = first_words(with.path(), &format!("{args} --rules standard"));
        assert!(messages.contains("no tables for standard"), "{args}: {messages}");
    }
}
