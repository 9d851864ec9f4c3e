//! Directories of tables that others have changed: damaged archives, files of newer versions, links without a
//! target.
#![cfg(feature = "cli")]

use std::path::Path;

use kalah::build::build;
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::archive::{self, archive_path};
use kalah::table::{Table, TableKey, Tables};
use kalah_tests::files::flip;
use kalah_tests::place::Place;
use kalah_tests::program::Ran;
use serde_json::json;

use crate::archive::renamed;

const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 4, seeds: 9 };

fn key(seeds: usize) -> TableKey {
    TableKey { seeds, ..KEY }
}

/// Builds tables of 4 pits to 9 seeds.
fn tables(rules: Rules) -> Place {
    let place = Place::empty();
    build(place.path(), rules, KEY.pits, KEY.seeds).unwrap();
    place
}

/// Writes the archive of a layer by another rule set under the header of [`KEY`], with every checksum right.
fn forge(path: &Path) {
    let (other, key) = (tables(Rules::Standard), TableKey { rules: Rules::Standard, ..KEY });
    let forged = archive_path(other.path(), key);
    archive::compress(&Table::open(key.path(other.path())).unwrap(), &forged, &Pulse::default()).unwrap();
    let [bytes, right] = [&*forged, path].map(|path| std::fs::read(path).unwrap());
    std::fs::write(path, renamed(&bytes, &right)).unwrap();
}

#[test]
fn a_damaged_archive_is_found_by_verify() {
    let place = tables(KEY.rules);
    for seeds in 7..=KEY.seeds {
        place.run(&format!("archive pack --pits 4 --seeds {seeds}")).success();
    }
    (7..=KEY.seeds).for_each(|seeds| std::fs::remove_file(key(seeds).path(place.path())).unwrap());
    let report = place.run("verify --pits 4 --json").success().json();
    let archives = report["passed"].as_array().unwrap().iter().filter(|passed| passed["check"] == "archives");
    assert_eq!(archives.map(|passed| passed["seeds"].as_u64().unwrap()).collect::<Vec<_>>(), [7, 8, 9]);
    place.run("verify --all").success().prints("archives: ");
    place.run("verify --pits 4 --seeds 8").success().prints("in 1 layer");
    // Other checks need tables.
    let ran = place.run("verify --pits 4 --consistency").success();
    ran.prints("not checked: the layers of 7 to 9 seeds");

    // For archives alone there is no other check.
    let (path, alone) = (archive_path(place.path(), key(8)), Place::empty());
    std::fs::copy(&path, archive_path(alone.path(), key(8))).unwrap();
    alone.run("verify --pits 4").success();
    alone.run("verify --pits 4 --consistency").exits(1).prints("nothing was checked");

    let whole = std::fs::read(&path).unwrap();
    // A byte of the header, of a chunk, of the list of checksums, and of the seek table, where it is the length of a
    // content.
    for at in [30, whole.len() / 2, whole.len() - 120, whole.len() - 60] {
        flip(&path, at, 1);
        for command in ["verify --pits 4", "verify --pits 4 --seeds 8", "verify --all"] {
            place.run(command).exits(3).prints("empty-capture-4-08.kalah.archive");
        }
        std::fs::write(&path, &whole).unwrap();
    }
    std::fs::rename(&path, archive_path(place.path(), key(9))).unwrap();
    place.run("verify --pits 4").exits(3).prints("it holds empty-capture with 4 pits and 8 seeds");
}

#[test]
fn an_archive_that_restores_another_table_is_neither_sound_nor_kept() {
    let place = tables(KEY.rules);
    let (path, table) = (archive_path(place.path(), KEY), std::fs::read(KEY.path(place.path())).unwrap());
    let pack = || place.run("archive pack --pits 4 --seeds 9").success();
    pack();
    let right = std::fs::read(&path).unwrap();
    forge(&path);
    let ran = place.run("verify --pits 4").exits(3);
    ran.prints("WRONG: ").prints("another table than the one it was made from");
    assert!(std::fs::read(KEY.path(place.path())).unwrap() == table);
    pack().prints("packed");
    assert!(std::fs::read(&path).unwrap() == right, "packing replaces the archive");
    pack().prints("kept");
}

#[test]
fn who_built_a_table_is_listed() {
    let place = tables(KEY.rules);
    let info = place.run("info --json").success().json();
    let table = &info["builds"][0];
    assert_eq!(table["version"], env!("CARGO_PKG_VERSION"));
    let finished = table["finished"].as_str().unwrap();
    assert!(finished.len() == 20 && finished.starts_with("20") && finished.ends_with('Z'), "{finished}");
    place.run("info").success().prints(&finished[..10]).prints(env!("CARGO_PKG_VERSION"));
}

/// A command that finds a file of a newer version names the version. It neither changes the file nor advises to delete
/// it. Returns its exit code.
#[track_caller]
fn keeps_a_newer_file(place: &Place, file: &Path, line: &str) -> i32 {
    let bytes = std::fs::read(file).unwrap();
    let ran = place.run(line).prints("its format has version").does_not_print("delete");
    assert!(std::fs::read(file).unwrap() == bytes, "{line}");
    ran.code()
}

#[test]
fn a_file_of_a_newer_version_is_never_replaced_or_deleted() {
    let place = tables(KEY.rules);
    place.run("archive pack --pits 4 --seeds 9").success();
    let (table, archive) = (KEY.path(place.path()), archive_path(place.path(), KEY));
    let unpack = format!("archive unpack {}", archive.display());
    flip(&archive, 8, 0x40);
    for line in ["verify --pits 4", "archive pack --pits 4", &unpack] {
        assert_ne!(keeps_a_newer_file(&place, &archive, line), 0, "{line}");
        assert!(table.exists(), "{line}");
    }
    std::fs::remove_file(&archive).unwrap();
    place.run("archive pack --pits 4 --seeds 9").success();
    flip(&table, 8, 0x40);
    let export = "export --pits 4 --seeds 9";
    for line in ["verify --pits 4", "build --pits 4 --seeds 10", "archive pack --pits 4", "info", &unpack, export] {
        assert_ne!(keeps_a_newer_file(&place, &table, line), 0, "{line}");
    }

    let other = Place::empty();
    other.run("book make 3x1 --turns 1").success();
    let book = other.at("empty-capture-3.book");
    flip(&book, 8, 0x40);
    assert_eq!(keeps_a_newer_file(&other, &book, "solve 3x1"), 1);
    std::fs::remove_file(book).unwrap();
    std::fs::create_dir(other.at("proof")).unwrap();
    let network = [&b"KALAHNN\n"[..], &9u32.to_le_bytes(), &[0; 500]].concat();
    for (name, bytes, line, code) in [
        ("n.network", &network[..], "bounds --seeds 3 --network n.network", 3),
        ("search", b"{\"format\":\"kalah solve checkpoint\",\"version\":7}\n", "solve 3x2 --state search", 1),
        ("proof/proof.json", b"{\"format\":\"kalah proof\",\"version\":7}\n", "prove 3x2 --proof proof", 1),
    ] {
        other.write(name, bytes);
        assert_eq!(keeps_a_newer_file(&other, &other.at(name), line), code, "{line}");
    }
}

#[test]
fn what_is_no_directory_is_named() {
    let place = Place::empty();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", place.at("tables")).unwrap();
        for flags in ["", " --share"] {
            let ran = place.run(&format!("build --pits 4 --seeds 5 --tables tables{flags}")).exits(1);
            ran.prints("tables: it is a link to nowhere");
        }
    }
    place.write("file", "");
    place.run("build --pits 4 --seeds 5 --tables file").fails(1, "ot a directory");
}

#[test]
fn a_gap_in_the_layers_is_named_and_shortens_no_work() {
    let place = tables(KEY.rules);
    std::fs::remove_file(key(5).path(place.path())).unwrap();
    for command in ["archive pack --pits 4", "train --pits 4"] {
        place.run(command).fails(1, "layer 5 is missing");
    }
    assert!(!place.names().iter().any(|name| name.ends_with(".archive") || name.ends_with(".network")));
    // Commands that use only existing tables go on, and print a warning.
    for command in ["info", "probe 4x1", "move 4x1 --player perfect"] {
        let ran = place.run(command);
        assert!(ran.stderr().contains("layer 5 is missing"), "{command}: {ran:?}");
    }
    assert_eq!(place.run("info --json").success().json()["gaps"][0]["missing"], json!([5]));
    // The requested layer exists.
    place.run("archive pack --pits 4 --seeds 4").success();
    let open = |directory: &Path, seeds| Tables::open(directory, KEY.rules, KEY.pits, seeds);
    let tables = open(place.path(), KEY.seeds).unwrap();
    assert_eq!((tables.max_seeds(), tables.gaps()), (Some(4), &[5][..]));
    assert!(tables.require_all().unwrap_err().to_string().starts_with("layer 5 is missing"));
    let asked = open(place.path(), 4).unwrap();
    assert!(asked.gaps().is_empty() && asked.require_all().is_ok());
    assert_eq!(open(Path::new("no such directory"), KEY.seeds).unwrap().max_seeds(), None);
    // A table that is listed but cannot be found is an error: the file system may have lost it for a moment.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", key(5).path(place.path())).unwrap();
        let error = open(place.path(), KEY.seeds).unwrap_err();
        assert!(error.to_string().contains("layer 5 is missing"), "{error}");
    }
}

#[test]
fn bound_tables_in_a_directory_of_their_own_are_checked() {
    let (place, bounds) = (tables(KEY.rules), Place::empty());
    place.run("train --pits 4 --samples 2000 --epochs 1 --solved 0 --estimated 0").success();
    assert!(place.at("empty-capture-4.network").exists());
    place.run(&format!("bounds --pits 4 --seeds 5..9 --output {}", bounds.path().display())).success();
    let ran = bounds.run("verify --pits 4").success();
    ran.prints("checksums of bound tables: ").prints("in 5 layers");
    bounds.run("verify --all").success();
    std::fs::remove_file(key(7).bounds_path(bounds.path())).unwrap();
    bounds.run("verify --pits 4").exits(3).prints("layer 7 is missing");
}

#[test]
fn what_cannot_be_done_leaves_no_directory_behind() {
    let place = Place::empty();
    place.run("build --seeds 12 --memory 1MiB --tables none").fails(1, "--memory");
    place.run("bounds --seeds 3..5 --tables none --output output").exits(1);
    assert_eq!(place.names(), [""; 0]);
    let ran = place.run("verify --rules standard").exits(1);
    ran.prints("there are no tables for standard with 6 pits").does_not_print("--seeds 2 ");
}
