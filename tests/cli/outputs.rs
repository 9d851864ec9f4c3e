//! Output files of commands. No command replaces an input, and one that cannot write its file reports this before it
//! works.
#![cfg(feature = "cli")]

use std::process::Stdio;

use crate::writers::{CONTINUED, OUTPUTS, filled, place};
use kalah_tests::program::Ran;

/// Names of 255 bytes are those of most file systems; unfinished files have longer ones.
#[test]
fn a_file_with_a_long_name_is_written_or_refused_at_once() {
    // This one removes its state at the end.
    for writer in OUTPUTS.into_iter().chain(CONTINUED).filter(|writer| !writer.starts_with("check")) {
        for length in [200, 250, 256] {
            let (place, name) = (place(), "n".repeat(length));
            let ran = place.run(&filled(writer, &name));
            let messages = ran.stderr();
            let is_written = place.at(&name).exists();
            assert_eq!(is_written, ran.status.success(), "{writer}, {length}: {messages}");
            assert!(is_written || messages.contains("too long"), "{writer}, {length}: {messages}");
            assert!(is_written || length > 200, "{writer}, {length}: {messages}");
            assert!(place.names().iter().all(|name| !name.ends_with(".tmp")), "{writer}, {length}");
        }
    }
}

#[test]
fn errors_of_files_name_what_was_given() {
    let place = place();
    let export = "export --rules standard --pits 3 --seeds 6";
    let ran = place.run(&format!("{export} --output nodir/x.csv"));
    ran.fails(1, "cannot write nodir/x.csv: there is no directory nodir").does_not_print(".tmp");
    for writer in OUTPUTS.into_iter().chain(CONTINUED) {
        let ran = place.run(&filled(writer, "no/such/out"));
        ran.exits(1).prints("no/such").does_not_print(".lock").does_not_print(".tmp");
    }
}

#[test]
fn a_file_of_several_games_is_not_replaced_by_the_continuation_of_one() {
    let place = place();
    let games = "[Rules \"standard\"]\n[Start \"3x2\"]\n\n1\n\n[Rules \"standard\"]\n[Start \"3x2\"]\n\n2\n";
    place.write("my.games", games);
    for args in [
        "play --from my.games --game 1 --south greedy --north greedy --save ./my.games",
        "tournament greedy --rules standard --from my.games --save my.games",
    ] {
        place.run(args).exits(1).prints("my.games");
        assert_eq!(place.text("my.games"), games, "{args}");
    }
}

/// Other devices and pipes are no files.
#[cfg(target_os = "linux")]
#[test]
fn exports_and_games_go_to_standard_output() {
    let place = place();
    let export = "export --rules standard --pits 3 --seeds 6";
    let whole = place.run(export).printed();
    assert!(whole.lines().count() > 50);
    for device in ["/dev/stdout", "/proc/self/fd/1", "-"] {
        assert_eq!(place.run(&format!("{export} --output {device}")).printed(), whole, "{device}");
    }
    let greedy = "tournament greedy --start 2x1 --rules standard --save /dev/stdout --json";
    assert!(place.run(greedy).printed().starts_with("[Rules "));
    place.run(&format!("{export} --output /dev/full")).fails(1, "not a regular file");
}

/// Failing to print is an error, except when the reader has closed the pipe.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_an_error() {
    for line in [
        "--version",
        "--help",
        "help",
        "help build",
        "build --help",
        "completions bash",
        "rules",
        "gpu --help",
        "man m",
        "export --rules standard --pits 3 --seeds 6 --format npy",
    ] {
        let place = place();
        let run = |stdout: Stdio| place.command(line).stdout(stdout).spawn().unwrap().wait_with_output().unwrap();
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        run(full.into()).exits(1).prints("No space left on device");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = run(writer.into()).success();
        assert_eq!(ran.stderr(), "", "{line}");
    }
}
