//! Output files of commands. No command replaces an input, and one that cannot write its file reports this before it
//! works.
#![cfg(feature = "cli")]

use std::process::Stdio;

use kalah::file::FileContent;

use crate::writers::{WRITERS, done, files, kalah, tables, words};
use kalah_tests::program::{self, Ran};

/// A name of `length` characters.
fn long_name(length: usize) -> String {
    "n".repeat(length)
}

#[test]
fn a_file_with_a_long_name_is_written_or_refused_at_once() {
    let path_of = |wanted| files().iter().find(|(content, _)| *content == wanted).unwrap().1.to_str().unwrap();
    // These two remove their states at the end.
    let is_kept = |writer: &str| !writer.starts_with("check") && !writer.starts_with("verify");
    let is_long = |writer: &&(&str, _)| writer.0.ends_with(" OUT") && is_kept(writer.0);
    for (writer, _) in WRITERS.iter().filter(is_long) {
        for length in [200, 244, 245, 249, 250, 255, 256] {
            let (directory, name) = (tempfile::tempdir().unwrap(), long_name(length));
            let args = writer.split(' ').map(|word| match word {
                "OUT" => &name,
                "BOOK" => path_of(FileContent::Book),
                "CERTIFICATE" => path_of(FileContent::Certificate),
                word => word,
            });
            let ran = kalah(directory.path(), &args.collect::<Vec<_>>());
            let messages = ran.stderr();
            let is_written = directory.path().join(&name).exists();
            assert_eq!(is_written, ran.status.success(), "{writer}, {length}: {messages}");
            assert!(is_written || messages.contains("too long"), "{writer}, {length}: {messages}");
            assert!(is_written || length > 244, "{writer}, {length}: {messages}");
            let left = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
            assert!(left.into_iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{writer}, {length}");
        }
    }
}

#[test]
fn errors_of_files_name_what_was_given() {
    let directory = tempfile::tempdir().unwrap();
    let export = ["export", "--rules", "standard", "--pits", "3", "--seeds", "6", "--output"];
    let ran = kalah(directory.path(), &[&export[..], &["nodir/x.csv"]].concat());
    assert_eq!((ran.status.code(), ran.stderr().contains(".tmp")), (Some(1), false), "{}", ran.stderr());
    assert!(ran.stderr().contains("cannot write nodir/x.csv: there is no directory nodir"), "{}", ran.stderr());
    for (writer, _) in WRITERS.iter().filter(|(writer, _)| writer.contains("OUT")) {
        let args: Vec<&str> =
            words(writer).into_iter().map(|word| if word == "out" { "no/such/out" } else { word }).collect();
        let ran = kalah(directory.path(), &args);
        let messages = ran.stderr();
        assert!(ran.code() == 1 && messages.contains("no/such"), "{writer}: {messages}");
        assert!(!messages.contains(".lock") && !messages.contains(".tmp"), "{writer}: {messages}");
    }
}

#[test]
fn inputs_are_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let games = "[Rules \"standard\"]\n[Start \"3x2\"]\n\n1\n\n[Rules \"standard\"]\n[Start \"3x2\"]\n\n2\n";
    let file = directory.path().join("my.games");
    std::fs::write(&file, games).unwrap();
    std::fs::hard_link(&file, directory.path().join("same.games")).unwrap();
    for (args, code) in [
        ("play --from my.games --game 1 --south greedy --north greedy --save ./my.games", 1),
        ("play --from my.games --game 2 --south greedy --north greedy --save same.games", 1),
        ("tournament greedy --rules standard --from my.games --save same.games", 1),
    ] {
        let ran = kalah(directory.path(), &args.split(' ').collect::<Vec<_>>()).exits(code);
        assert!(ran.stderr().contains("it is also an input"), "{args}: {}", ran.stderr());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), games, "{args}");
    }
    let certificate = &files().iter().find(|(content, _)| *content == FileContent::Certificate).unwrap().1;
    std::fs::copy(certificate, directory.path().join("a.certificate")).unwrap();
    let args = "prove --from a.certificate --proof new --certificate a.certificate --rests-on 0";
    let ran = kalah(directory.path(), &args.split(' ').collect::<Vec<_>>());
    assert!(!ran.status.success() && ran.stderr().contains("it is also an input"), "{args}: {}", ran.stderr());
}

/// Other devices and pipes are no files.
#[cfg(target_os = "linux")]
#[test]
fn exports_and_games_go_to_standard_output() {
    let directory = tempfile::tempdir().unwrap();
    let export = ["export", "--rules", "standard", "--pits", "3", "--seeds", "6"];
    let whole = done(directory.path(), &export);
    assert!(whole.lines().count() > 50);
    for device in ["/dev/stdout", "/proc/self/fd/1", "-"] {
        assert_eq!(done(directory.path(), &[&export[..], &["--output", device]].concat()), whole, "{device}");
    }
    let greedy = ["tournament", "greedy", "--start", "2x1", "--rules", "standard", "--save", "/dev/stdout", "--json"];
    assert!(done(directory.path(), &greedy).starts_with("[Rules "));
    let refused = kalah(directory.path(), &[&export[..], &["--output", "/dev/full"]].concat()).exits(1);
    assert!(refused.stderr().contains("not a regular file"), "{}", refused.stderr());
}

/// Failing to print is an error, except when the reader has closed the pipe.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_an_error() {
    let commands = [
        "--version",
        "--help",
        "help",
        "help build",
        "build --help",
        "completions bash",
        "rules",
        "gpu --help",
        "man m",
    ];
    let export = "export --rules standard --pits 3 --seeds 6 --format npy";
    for args in commands.into_iter().chain([export]) {
        let directory = tempfile::tempdir().unwrap();
        let run = |stdout: Stdio| {
            let mut command = program::command();
            command.current_dir(directory.path()).env("KALAH_TABLES", tables()).args(args.split(' '));
            command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap()
        };
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = run(full.into()).exits(1);
        assert!(ran.stderr().contains("No space left on device"), "{args}: {}", ran.stderr());
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = run(writer.into());
        assert_eq!((ran.status.code(), ran.stderr().is_empty()), (Some(0), true), "{args}: {}", ran.stderr());
    }
}
