//! `kalah publish`: a folder of tables or archives for a host of data.
#![cfg(feature = "cli")]

use std::collections::BTreeSet;
use std::path::Path;

use kalah::build::build;
use kalah::game::Rules;
use kalah_tests::program::{self, Ran, Run};
use serde_json::Value;

/// Runs the program with the words of a line. Returns its exit code and output.
fn run(directory: &Path, line: &str) -> (i32, String) {
    let output = program::command().args(line.split(' ')).current_dir(directory).run();
    let text = output.stdout() + &output.stderr();
    (output.code(), text)
}

#[track_caller]
fn done(directory: &Path, line: &str) -> String {
    let (code, text) = run(directory, line);
    assert_eq!(code, 0, "{line}: {text}");
    text
}

fn names(folder: &Path) -> BTreeSet<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Tables of two boards in the directory `a`.
fn tables() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path().join("a"), Rules::EmptyCapture, 4, 8).unwrap();
    build(directory.path().join("a"), Rules::Standard, 3, 6).unwrap();
    directory
}

/// Checks that the lists of checksums name all other files, and that the index agrees with the files.
#[track_caller]
fn assert_sound(folder: &Path) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let index: Value = serde_json::from_str(&read("index.json")).unwrap();
    let mut all = names(folder);
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
        assert!(read("SHA256SUMS").contains(&format!("{}  {name}", file["sha256"].as_str().unwrap())));
    }
    assert_eq!(read("manifest.jsonl").lines().count(), index["files"].as_array().unwrap().len());
    assert!(read("README.md").starts_with("---\n") && read("README.md").contains("| empty-capture | 4 | 2 to 8 |"));
}

#[test]
fn a_published_folder_has_all_tables_and_sums_that_agree() {
    let directory = tables();
    let directory = directory.path();
    let text = done(directory, "publish --output out --tables a");
    assert!(text.contains("12 files of tables"), "{text}");
    let folder = directory.join("out");
    assert_sound(&folder);
    assert_eq!(names(&folder).len(), 12 + 6);
    done(&folder, "verify --all --manifest manifest.jsonl --tables .");
    // The same command again gives the same folder.
    let before = std::fs::read(folder.join("index.json")).unwrap();
    done(directory, "publish --output out --tables a");
    assert_eq!(std::fs::read(folder.join("index.json")).unwrap(), before);
    assert_eq!(names(directory), ["a", "out"].map(str::to_owned).into());
}

#[test]
fn archives_are_published_with_the_manifest_of_their_tables() {
    let directory = tables();
    let directory = directory.path();
    let (code, text) = run(directory, "publish --output out --archives --tables a");
    assert!(code == 1 && text.contains("kalah archive pack"), "{text}");
    done(directory, "archive pack --pits 4 --tables a");
    done(directory, "archive pack --pits 3 --rules standard --tables a");
    done(directory, "publish --output out --archives --tables a");
    let folder = directory.join("out");
    assert_sound(&folder);
    std::fs::create_dir(directory.join("again")).unwrap();
    done(&folder, "archive unpack empty-capture-4-07.kalah.archive --tables ../again");
    done(&folder, "verify --pits 4 --seeds 7 --manifest manifest.jsonl --tables ../again");
}

#[test]
fn a_folder_with_other_files_and_damaged_tables_are_refused() {
    let directory = tables();
    let directory = directory.path();
    std::fs::create_dir(directory.join("out")).unwrap();
    std::fs::write(directory.join("out/notes.txt"), "mine").unwrap();
    for (line, code, why) in [
        ("publish --output out --tables a", 1, "notes.txt is not a file of a published folder"),
        ("publish --output a --tables a", 1, "is the directory of the tables"),
    ] {
        let (ended, text) = run(directory, line);
        assert!(ended == code && text.contains(why), "{line}: {ended} {text}");
    }
    let [layer, away] = ["a/empty-capture-4-05.kalah", "away"].map(|name| directory.join(name));
    std::fs::rename(&layer, &away).unwrap();
    let (code, text) = run(directory, "publish --output new --tables a");
    assert!(code == 1 && text.contains("layer 5 is missing"), "{code} {text}");
    std::fs::rename(&away, &layer).unwrap();
    let path = directory.join("a/empty-capture-4-07.kalah");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 100;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (code, text) = run(directory, "publish --output new --tables a");
    assert!(code == 3 && text.contains("empty-capture-4-07.kalah"), "{code} {text}");
    assert!(!directory.join("new/SHA256SUMS").exists());
}

/// All files of a folder with their bytes, through links.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    names(folder).into_iter().map(|name| (name.clone(), std::fs::read(folder.join(name)).unwrap())).collect()
}

/// The folder has the only copy of each table, and the directory of the tables only links to it.
#[cfg(unix)]
#[test]
fn tables_that_are_links_to_the_folder_stay() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    build(directory.join("t"), Rules::EmptyCapture, 4, 6).unwrap();
    done(directory, "publish --tables t --output pub");
    let whole = contents(&directory.join("pub"));
    for absolute in [false, true] {
        for name in names(&directory.join("t")).into_iter().filter(|name| name.ends_with(".kalah")) {
            let link = directory.join("t").join(&name);
            std::fs::remove_file(&link).unwrap();
            let place = if absolute { directory.join("pub") } else { "../pub".into() };
            std::os::unix::fs::symlink(place.join(&name), &link).unwrap();
        }
        done(directory, "publish --tables t --output pub");
        assert_eq!(contents(&directory.join("pub")), whole);
        assert!(names(&directory.join("pub")).iter().all(|name| !directory.join("pub").join(name).is_symlink()));
    }
}

/// A directory of relative links to a store, under other names there.
#[cfg(unix)]
#[test]
fn links_to_a_store_are_followed() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    build(directory.join("t"), Rules::EmptyCapture, 4, 6).unwrap();
    std::fs::create_dir(directory.join("store")).unwrap();
    for (number, name) in names(&directory.join("t")).into_iter().filter(|name| name.ends_with(".kalah")).enumerate() {
        let (table, object) = (directory.join("t").join(name), format!("object{number}"));
        std::fs::rename(&table, directory.join("store").join(&object)).unwrap();
        std::os::unix::fs::symlink(format!("../store/{object}"), &table).unwrap();
    }
    done(directory, "publish --tables t --output deep/pub");
    let folder = directory.join("deep/pub");
    assert!(names(&folder).iter().all(|name| !folder.join(name).is_symlink()));
    done(&folder, "verify --all --manifest manifest.jsonl --tables .");
    // The other way round: the folder has links to the tables.
    let link = folder.join("empty-capture-4-05.kalah");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(directory.join("t/empty-capture-4-05.kalah"), &link).unwrap();
    done(directory, "publish --tables t --output deep/pub");
    assert!(!link.is_symlink());
    done(&folder, "verify --all --manifest manifest.jsonl --tables .");
}

/// A killed run leaves unfinished files.
#[test]
fn a_run_that_was_killed_while_it_wrote_continues() {
    let directory = tables();
    let directory = directory.path();
    done(directory, "publish --output out --tables a");
    let folder = directory.join("out");
    let whole = contents(&folder);
    for name in ["README.md", "SHA256SUMS", "empty-capture-4-07.kalah"] {
        std::fs::rename(folder.join(name), folder.join(format!("{name}.kalah-0123456789ab.tmp"))).unwrap();
    }
    done(directory, "publish --output out --tables a");
    assert_eq!(contents(&folder), whole);
    // Beside files of others nothing is touched.
    std::fs::write(folder.join("README.md.kalah-0123456789ab.tmp"), "").unwrap();
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    let (code, text) = run(directory, "publish --output out --tables a");
    assert!(code == 1 && text.contains("notes.txt"), "{text}");
    assert_eq!(names(&folder).len(), whole.len() + 2);
}

#[test]
fn other_tables_in_the_folder_are_not_replaced() {
    let directory = tables();
    let directory = directory.path();
    let other = std::fs::read(directory.join("a/standard-3-06.kalah")).unwrap();
    std::fs::create_dir(directory.join("out")).unwrap();
    let place = directory.join("out/standard-3-05.kalah");
    for (bytes, why) in [(&other[..], "not standard with 3 pits and 5 seeds"), (b"a text", "it is not a")] {
        std::fs::write(&place, bytes).unwrap();
        let (code, text) = run(directory, "publish --output out --tables a");
        assert!(code == 1 && text.contains(why) && text.contains("is not replaced"), "{code} {text}");
        assert_eq!(std::fs::read(&place).unwrap(), bytes);
        assert_eq!(names(&directory.join("out")).len(), 1);
    }
    // A damaged one is.
    let mut bytes = std::fs::read(directory.join("a/standard-3-05.kalah")).unwrap();
    bytes.truncate(5000);
    std::fs::write(&place, bytes).unwrap();
    done(directory, "publish --output out --tables a");
}
