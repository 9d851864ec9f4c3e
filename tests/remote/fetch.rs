//! `kalah fetch`: downloads that survive every interruption.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::server::{Fault, SEEDS, Server, TABLES, copied, kalah, layer, run, shown};

fn fetch(server: &Server, directory: &Path, seeds: &str) -> (i32, Value, String) {
    let (code, answer, message) =
        run(&["fetch", &server.address, "--seeds", seeds, "--output", shown(directory), "--json"]);
    (code, serde_json::from_str(&answer).unwrap_or_default(), message)
}

/// Checks that the directory has exactly the served layers up to `last`.
fn assert_served(directory: &Path, last: usize) {
    for seeds in 2..=last {
        let [found, served] = [directory, TABLES.path()].map(|place| std::fs::read(layer(place, seeds)).unwrap());
        assert!(found == served, "{seeds} seeds");
    }
    let extra = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let extra: Vec<String> = extra.filter(|name| name.contains("download")).collect();
    assert_eq!(extra, [] as [&str; 0]);
}

#[test]
fn layers_are_downloaded_once() {
    let (server, directory) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let (code, report, message) = fetch(&server, directory.path(), &format!("2..{SEEDS}"));
    assert_eq!(code, 0, "{message}");
    assert_eq!(report["layers"].as_array().unwrap().len(), SEEDS - 1);
    assert_served(directory.path(), SEEDS);
    let (code, report, message) = fetch(&server, directory.path(), &format!("2..{SEEDS}"));
    assert_eq!((code, report["received"].as_u64()), (0, Some(0)), "{message}");
}

/// The published manifest has no tables of 2 pits, so nothing but the server vouches for them.
#[test]
fn layers_that_the_manifest_lacks_are_named() {
    let (server, directory) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let (known, unknown) = (directory.path().join("known"), directory.path().join("unknown"));
    for round in 0..2 {
        let of_two = ["fetch", &*server.address, "--rules", "standard", "--pits", "2", "--seeds", "4..6"];
        let (code, answer, message) = run(&[&of_two[..], &["--output", shown(&unknown)]].concat());
        assert_eq!(code, 0, "{message}");
        assert!(answer.contains("the built-in manifest lacks layers 4 to 6"), "{round} {answer}");
        assert!(!answer.contains("match the digests"), "{answer}");
        let (code, answer, message) = run(&["fetch", &server.address, "--seeds", "4..6", "--output", shown(&known)]);
        assert_eq!(code, 0, "{message}");
        assert!(answer.contains("all match the digests of the built-in manifest"), "{round} {answer}");
    }
    let (_, report, _) = fetch(&server, &known, "4");
    assert_eq!(report["layers"][0]["known"], true, "{report}");
}

/// A mistyped address leaves nothing behind.
#[test]
fn what_cannot_be_downloaded_makes_no_directory() {
    let (server, directory) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let new = directory.path().join("new");
    let (code, _, message) = fetch(&server, &new, &format!("{}", SEEDS + 1));
    assert!(code == 1 && message.contains("404"), "{code} {message}");
    assert!(!new.exists());
}

#[test]
fn broken_connections_are_continued() {
    let (server, directory) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let cuts = [40, 0, 90, 40, 99].map(Fault::Cut);
    server.next([&cuts[..3], &[Fault::Status(503)], &cuts[3..]].concat());
    let (code, _, message) = fetch(&server, directory.path(), "2..12");
    assert_eq!(code, 0, "{message}");
    assert_served(directory.path(), 12);
}

#[test]
fn a_stopped_or_killed_download_goes_on_where_it_was() {
    let kills = if cfg!(unix) { &[false, true][..] } else { &[true] };
    for &kills in kills {
        let (server, directory) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
        server.limit_rate(400_000);
        let arguments = ["fetch", &*server.address, "--seeds", "13", "--output", shown(directory.path())];
        let mut command = kalah(&arguments);
        #[cfg(unix)]
        kalah_tests::signals::heard(&mut command);
        let mut child = command.spawn().unwrap();
        let partial = directory.path().join("empty-capture-6-13.download");
        let begin = Instant::now();
        while partial.metadata().map_or(0, |metadata| metadata.len()) < 200_000 {
            assert!(begin.elapsed() < Duration::from_secs(60), "nothing was received");
            std::thread::sleep(Duration::from_millis(5));
        }
        if kills {
            child.kill().unwrap();
        }
        #[cfg(unix)]
        if !kills {
            kalah_tests::signals::interrupt(&child);
        }
        assert_eq!(child.wait().unwrap().code(), (!kills).then_some(130));
        let received = partial.metadata().unwrap().len();
        server.limit_rate(0);
        server.requests();
        let (code, report, message) = fetch(&server, directory.path(), "13");
        assert_eq!(code, 0, "{message}");
        assert_eq!(report["layers"][0]["resumed"].as_u64(), Some(received), "{report}");
        let [found, served] = [directory.path(), TABLES.path()].map(|place| std::fs::read(layer(place, 13)).unwrap());
        assert!(found == served);
    }
}

#[test]
fn a_download_of_a_file_that_changed_begins_anew_after_an_error() {
    let server = Server::of(TABLES.path());
    // A part of another version, and a longer one than the file.
    for bytes in [5000, 5_000_000] {
        let directory = tempfile::tempdir().unwrap();
        let partial = directory.path().join("empty-capture-6-09.download");
        std::fs::write(&partial, [&b"KALAHTB\n"[..], &vec![7; bytes]].concat()).unwrap();
        assert_eq!(fetch(&server, directory.path(), "9").0, 3);
        assert!(!partial.exists());
        let (code, report, message) = fetch(&server, directory.path(), "9");
        assert_eq!((code, report["layers"][0]["resumed"].as_u64()), (0, Some(0)), "{message}");
        assert!(std::fs::read(layer(directory.path(), 9)).unwrap() == std::fs::read(layer(TABLES.path(), 9)).unwrap());
        assert!(!partial.exists());
    }
}

#[test]
fn archives_are_unpacked() {
    let (files, directory) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (from, to) = (shown(TABLES.path()), shown(files.path()));
    let (code, _, message) = run(&["archive", "pack", "--seeds", "12", "--tables", from, "--output", to]);
    assert_eq!(code, 0, "{message}");
    let server = Server::of(files.path());
    server.next([Fault::Status(503), Fault::Cut(30)]);
    let (code, _, message) = fetch(&server, directory.path(), "12");
    assert_eq!(code, 0, "{message}");
    let [found, served] = [directory.path(), TABLES.path()].map(|place| std::fs::read(layer(place, 12)).unwrap());
    assert!(found == served);
    let names = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_str().unwrap().contains("download")));
}

#[test]
fn damaged_and_missing_layers_are_reported() {
    let (server, directory) = (Server::of(TABLES.path()), tempfile::tempdir().unwrap());
    let (code, _, message) = fetch(&server, directory.path(), "12..20");
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("cannot fetch layer 14") && message.contains("the server does not have it"), "{message}");
    let files = copied();
    let mut bytes = std::fs::read(layer(files.path(), 12)).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    std::fs::write(layer(files.path(), 12), bytes).unwrap();
    let server = Server::of(files.path());
    let (code, _, message) = fetch(&server, directory.path(), "12");
    assert_eq!(code, 3, "{message}");
    assert!(!layer(directory.path(), 12).exists());
    // Nothing on this machine is to be deleted.
    assert!(message.contains(&server.address) && !message.contains("delete"), "{message}");
    assert!(message.contains("not on this machine"), "{message}");
}
