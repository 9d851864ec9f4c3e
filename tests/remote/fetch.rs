//! `kalah fetch`: downloads that survive every interruption.

use std::path::Path;
use std::process::Output;

use crate::setup::{SEEDS, here, kalah, layer};
use kalah_tests::files::{assert_same_files, copied, files, flip};
use kalah_tests::host::{Fault, Host};
use kalah_tests::program::{Ran, Run, with_tables, within_a_minute};

/// Runs `kalah fetch` for some layers of a host.
fn fetch(host: &Host, directory: &Path, seeds: &str) -> Output {
    kalah(&format!("fetch {} --seeds {seeds} --json --output", host.address)).arg(directory).run()
}

/// Fails if a directory has other layers of 6 pits than those served, or rests of a download.
#[track_caller]
fn assert_served(directory: &Path, layers: impl IntoIterator<Item = usize>) {
    let layers = layers.into_iter().map(|seeds| layer(here(), seeds).file_name().unwrap().to_str().unwrap().to_owned());
    let served = files(here());
    let expected = layers.map(|name| (name.clone(), served[&name].clone())).collect();
    assert_same_files(&files(directory), &expected, "downloads");
    let mut names = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name());
    assert!(!names.any(|name| name.to_str().unwrap().contains("download")));
}

#[test]
fn layers_are_downloaded_once_even_if_connections_break() {
    let (host, directory) = (Host::new(here(), "/tables"), tempfile::tempdir().unwrap());
    host.next([40, 0, 90].map(Fault::Cut).into_iter().chain([Fault::Status(503), Fault::Cut(40), Fault::Cut(99)]));
    let report = fetch(&host, directory.path(), &format!("2..{SEEDS}")).success().json();
    assert_eq!(report["layers"].as_array().unwrap().len(), SEEDS - 1);
    assert_served(directory.path(), 2..=SEEDS);
    let report = fetch(&host, directory.path(), &format!("2..{SEEDS}")).success().json();
    assert_eq!(report["received"], 0);
}

/// The published manifest has no tables of 2 pits, so nothing but the server vouches for them.
#[test]
fn layers_that_the_manifest_lacks_are_named() {
    let (host, directory) = (Host::new(here(), "/tables"), tempfile::tempdir().unwrap());
    let (known, unknown) = (directory.path().join("known"), directory.path().join("unknown"));
    for _ in 0..2 {
        kalah(&format!("fetch {} --rules standard --pits 2 --seeds 4..6 --output", host.address))
            .arg(&unknown)
            .run()
            .success()
            .prints("the built-in manifest lacks layers 4 to 6")
            .does_not_print("match the digests");
        kalah(&format!("fetch {} --seeds 4..6 --output", host.address))
            .arg(&known)
            .run()
            .success()
            .prints("all match the digests of the built-in manifest");
    }
    assert_eq!(fetch(&host, &known, "4").json()["layers"][0]["known"], true);
}

#[test]
fn a_stopped_or_killed_download_goes_on_where_it_was() {
    let kills = if cfg!(unix) { &[false, true][..] } else { &[true] };
    for &kills in kills {
        let (host, directory) = (Host::new(here(), "/tables"), tempfile::tempdir().unwrap());
        host.conduct().rate = 400_000;
        let mut command = kalah(&format!("fetch {} --seeds 13 --output", host.address));
        #[cfg(unix)]
        kalah_tests::signals::heard(&mut command);
        let mut child = command.arg(directory.path()).spawn().unwrap();
        let partial = directory.path().join("empty-capture-6-13.download");
        within_a_minute("nothing was received", || partial.metadata().ok().filter(|file| file.len() >= 200_000));
        if kills {
            child.kill().unwrap();
        }
        #[cfg(unix)]
        if !kills {
            kalah_tests::signals::interrupt(&child);
        }
        assert_eq!(child.wait().unwrap().code(), (!kills).then_some(130));
        let received = partial.metadata().unwrap().len();
        host.conduct().rate = 0;
        let report = fetch(&host, directory.path(), "13").success().json();
        assert_eq!(report["layers"][0]["resumed"], received, "{report}");
        assert_served(directory.path(), [13]);
    }
}

#[test]
fn a_download_of_a_file_that_changed_begins_anew_after_an_error() {
    let host = Host::new(here(), "/tables");
    // A part of another version, and a longer one than the file.
    for bytes in [5000, 5_000_000] {
        let directory = tempfile::tempdir().unwrap();
        let partial = directory.path().join("empty-capture-6-09.download");
        std::fs::write(&partial, [&b"KALAHTB\n"[..], &vec![7; bytes]].concat()).unwrap();
        fetch(&host, directory.path(), "9").exits(3);
        assert!(!partial.exists());
        let report = fetch(&host, directory.path(), "9").success().json();
        assert_eq!(report["layers"][0]["resumed"], 0, "{report}");
        assert_served(directory.path(), [9]);
    }
}

#[test]
fn archives_are_unpacked() {
    let (files, directory) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    with_tables(here(), "archive pack --seeds 12 --output").arg(files.path()).run().success();
    let host = Host::new(files.path(), "/tables");
    host.next([Fault::Status(503), Fault::Cut(30)]);
    fetch(&host, directory.path(), "12").success();
    assert_served(directory.path(), [12]);
}

#[test]
fn damaged_and_missing_layers_are_reported() {
    let (host, directory) = (Host::new(here(), "/tables"), tempfile::tempdir().unwrap());
    // A mistyped address leaves nothing behind.
    let new = directory.path().join("new");
    fetch(&host, &new, &(SEEDS + 1).to_string()).exits(1).prints("404");
    assert!(!new.exists());
    fetch(&host, directory.path(), "12..20")
        .exits(1)
        .prints("cannot fetch layer 14")
        .prints("the server does not have it");
    let (damaged, directory) = (copied(here()), tempfile::tempdir().unwrap());
    let file = layer(damaged.path(), 12);
    flip(&file, file.metadata().unwrap().len() as usize / 2, 1);
    let host = Host::new(damaged.path(), "/tables");
    let ran = fetch(&host, directory.path(), "12").exits(3).prints("not on this machine").does_not_print("delete");
    // Nothing on this machine is to be deleted.
    assert!(ran.stderr().contains(&host.address), "{}", ran.all());
    assert!(!layer(directory.path(), 12).exists());
}
