//! Output files of commands. No command replaces an input, and one that cannot write its file reports this before it
//! works.
#![cfg(feature = "cli")]

use std::process::Stdio;

use crate::writers::{CONTINUED, OUTPUTS, done, kalah, tables, words};
use kalah_tests::program::{self, Ran};

/// Names of 255 bytes are those of most file systems; unfinished files have longer ones.
#[test]
fn a_file_with_a_long_name_is_written_or_refused_at_once() {
    // This one removes its state at the end.
    for writer in OUTPUTS.into_iter().chain(CONTINUED).filter(|writer| !writer.starts_with("check")) {
        for length in [200, 250, 256] {
            let (directory, name) = (tempfile::tempdir().unwrap(), "n".repeat(length));
            let ran = kalah(directory.path(), &words(writer, &name));
            let messages = ran.stderr();
            let is_written = directory.path().join(&name).exists();
            assert_eq!(is_written, ran.status.success(), "{writer}, {length}: {messages}");
            assert!(is_written || messages.contains("too long"), "{writer}, {length}: {messages}");
            assert!(is_written || length > 200, "{writer}, {length}: {messages}");
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
    for writer in OUTPUTS.into_iter().chain(CONTINUED) {
        let ran = kalah(directory.path(), &words(writer, "no/such/out"));
        let messages = ran.stderr();
        assert!(ran.code() == 1 && messages.contains("no/such"), "{writer}: {messages}");
        assert!(!messages.contains(".lock") && !messages.contains(".tmp"), "{writer}: {messages}");
    }
}

#[test]
fn a_file_of_several_games_is_not_replaced_by_the_continuation_of_one() {
    let directory = tempfile::tempdir().unwrap();
    let games = "[Rules \"standard\"]\n[Start \"3x2\"]\n\n1\n\n[Rules \"standard\"]\n[Start \"3x2\"]\n\n2\n";
    let file = directory.path().join("my.games");
    std::fs::write(&file, games).unwrap();
    for args in [
        "play --from my.games --game 1 --south greedy --north greedy --save ./my.games",
        "tournament greedy --rules standard --from my.games --save my.games",
    ] {
        let ran = kalah(directory.path(), &args.split(' ').collect::<Vec<_>>()).exits(1);
        assert!(ran.stderr().contains("my.games"), "{args}: {}", ran.stderr());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), games, "{args}");
    }
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
