//! `kalah publish`: a folder of tables or archives for a host of data.
#![cfg(feature = "cli")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kalah::build::build;
use kalah::game::Rules;
use kalah_tests::files::flip;
use kalah_tests::place::Place;
use kalah_tests::program::Ran;
use serde_json::Value;

/// Tables of two boards in the directory `a`.
fn tables() -> Place {
    let place = Place::empty();
    build(place.at("a"), Rules::EmptyCapture, 4, 8).unwrap();
    build(place.at("a"), Rules::Standard, 3, 6).unwrap();
    place
}

/// All files of a folder with their bytes, through links.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())).collect()
}

/// Checks that the lists of checksums name all other files, and that the index agrees with the files.
#[track_caller]
fn assert_sound(folder: &Path) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let index: Value = serde_json::from_str(&read("index.json")).unwrap();
    let mut all: BTreeSet<String> = contents(folder).into_keys().collect();
    assert!(all.remove("SHA256SUMS"));
    let listed = read("SHA256SUMS");
    assert_eq!(listed.lines().map(|line| line.split_once("  ").unwrap().1.to_owned()).collect::<BTreeSet<_>>(), all);
    let mut program = std::process::Command::new("sha256sum");
    if let Ok(status) = program.args(["--check", "--quiet", "SHA256SUMS"]).current_dir(folder).status() {
        assert!(status.success());
    }
    for file in index["files"].as_array().unwrap() {
        let name = file["name"].as_str().unwrap();
        assert_eq!(file["bytes"], folder.join(name).metadata().unwrap().len());
        assert!(listed.contains(&format!("{}  {name}", file["sha256"].as_str().unwrap())));
    }
    assert_eq!(read("manifest.jsonl").lines().count(), index["files"].as_array().unwrap().len());
    assert!(read("README.md").starts_with("---\n") && read("README.md").contains("| empty-capture | 4 | 2 to 8 |"));
}

/// The same command again gives the same folder, also after a run that was killed and left unfinished files.
#[test]
fn a_published_folder_has_all_tables_and_sums_that_agree() {
    let place = tables();
    let publish = || place.run("publish --output out --tables a").success();
    publish().prints("12 files of tables");
    let folder = place.at("out");
    assert_sound(&folder);
    let whole = contents(&folder);
    assert_eq!(whole.len(), 12 + 6);
    place.run("verify --all --manifest out/manifest.jsonl --tables out").success();
    publish();
    assert_eq!(contents(&folder), whole);
    for name in ["README.md", "SHA256SUMS", "empty-capture-4-07.kalah"] {
        std::fs::rename(folder.join(name), folder.join(format!("{name}.kalah-0123456789ab.tmp"))).unwrap();
    }
    publish();
    assert_eq!(contents(&folder), whole);
    assert_eq!(place.names(), ["a", "out"]);
}

#[test]
fn archives_are_published_with_the_manifest_of_their_tables() {
    let place = tables();
    place.run("publish --output out --archives --tables a").fails(1, "kalah archive pack");
    place.run("archive pack --pits 4 --tables a").success();
    place.run("archive pack --pits 3 --rules standard --tables a").success();
    place.run("publish --output out --archives --tables a").success();
    assert_sound(&place.at("out"));
    std::fs::create_dir(place.at("again")).unwrap();
    place.run("archive unpack out/empty-capture-4-07.kalah.archive --tables again").success();
    place.run("verify --pits 4 --seeds 7 --manifest out/manifest.jsonl --tables again").success();
}

#[test]
fn damaged_and_missing_tables_are_refused() {
    let place = tables();
    place.run("publish --output a --tables a").fails(1, "is the directory of the tables");
    let [layer, away, damaged] =
        ["a/empty-capture-4-05.kalah", "away", "a/empty-capture-4-07.kalah"].map(|name| place.at(name));
    std::fs::rename(&layer, &away).unwrap();
    place.run("publish --output new --tables a").fails(1, "layer 5 is missing");
    std::fs::rename(&away, &layer).unwrap();
    flip(&damaged, damaged.metadata().unwrap().len() as usize - 100, 1);
    place.run("publish --output new --tables a").fails(3, "empty-capture-4-07.kalah");
    assert!(!place.at("new/SHA256SUMS").exists());
}

/// Tables may be links: to the only copy in the published folder, or to a store with other names. The folder may have
/// links to the tables. Published files are never links.
#[cfg(unix)]
#[test]
fn links_are_followed_and_none_is_published() {
    use std::os::unix::fs::symlink;
    let place = Place::empty();
    let (tables, folder) = (place.at("t"), place.at("deep/pub"));
    build(&tables, Rules::EmptyCapture, 4, 6).unwrap();
    let publish = || {
        place.run("publish --tables t --output deep/pub").success();
        place.run("verify --all --manifest deep/pub/manifest.jsonl --tables deep/pub").success();
        assert!(folder.read_dir().unwrap().all(|file| !file.unwrap().path().is_symlink()));
        contents(&folder)
    };
    let whole = publish();
    std::fs::create_dir(place.at("store")).unwrap();
    let published = format!("{}/deep/pub/", place.path().display());
    for target in [&published, "../deep/pub/", "../store/object-"] {
        for name in contents(&tables).into_keys().filter(|name| name.ends_with(".kalah")) {
            let link = tables.join(&name);
            let table = std::fs::read(&link).unwrap();
            std::fs::remove_file(&link).unwrap();
            symlink(format!("{target}{name}"), &link).unwrap();
            if !link.exists() {
                // The target of the link is made through it.
                std::fs::write(&link, table).unwrap();
            }
        }
        assert_eq!(publish(), whole, "{target}");
    }
    let link = folder.join("empty-capture-4-05.kalah");
    std::fs::remove_file(&link).unwrap();
    symlink(tables.join("empty-capture-4-05.kalah"), &link).unwrap();
    assert_eq!(publish(), whole);
}
