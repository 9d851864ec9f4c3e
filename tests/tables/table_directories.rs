//! Directories of tables that others have changed: damaged archives and books, files of newer versions, links without a
//! target.
#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};

use kalah::build::{Builder, build};
use kalah::game::Rules;
use kalah::header::Kind;
use kalah::progress::Pulse;
use kalah::table::archive::{self, ArchiveEntry, archive_path};
use kalah::table::format::{LayerHeader, prefix};
use kalah::table::{Directory, Table, TableError, TableKey, Tables};
use kalah_tests::program::{self, Ran, Run};
use serde_json::Value;

const KEY: TableKey = TableKey { rules: Rules::EmptyCapture, pits: 4, seeds: 9 };

/// Runs a command in a directory of tables. Returns its exit code, stdout and stderr.
fn kalah(directory: &Path, args: &str) -> (i32, String, String) {
    let mut command = program::command();
    command.env("KALAH_TABLES", directory).args(args.split(' '));
    command.run().parts()
}

/// Runs a command that ends with this code. Returns its stdout and stderr.
#[track_caller]
fn ends(directory: &Path, args: &str, code: i32) -> String {
    let (ended, stdout, stderr) = kalah(directory, args);
    assert_eq!(ended, code, "{args}: {stdout}{stderr}");
    stdout + &stderr
}

#[track_caller]
fn json(directory: &Path, args: &str) -> Value {
    let (code, stdout, stderr) = kalah(directory, args);
    assert_eq!(code, 0, "{args}: {stderr}");
    serde_json::from_str(&stdout).unwrap()
}

fn key(seeds: usize) -> TableKey {
    TableKey { seeds, ..KEY }
}

/// Builds tables of 4 pits to 9 seeds.
fn tables(rules: Rules) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    Builder::new(directory.path(), TableKey { rules, ..KEY }).run(&Pulse::default(), &|_| {}).unwrap();
    directory
}

/// Makes a directory with tables to 6 seeds, and archives of the layers of 7 to 9 seeds.
fn packed() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), KEY.rules, KEY.pits, KEY.seeds).unwrap();
    for key in (7..=KEY.seeds).map(key) {
        let table = Table::open(key.path(directory.path())).unwrap();
        archive::compress(&table, archive_path(directory.path(), key), &Pulse::default()).unwrap();
        std::fs::remove_file(key.path(directory.path())).unwrap();
    }
    directory
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// Writes the archive of a layer by another rule set under the header of [`KEY`], with every checksum right.
fn forge(path: &Path, header_of: &[u8]) {
    let other = tables(Rules::Standard);
    let forged = archive_path(other.path(), TableKey { rules: Rules::Standard, ..KEY });
    let table = Table::open(TableKey { rules: Rules::Standard, ..KEY }.path(other.path())).unwrap();
    archive::compress(&table, &forged, &Pulse::default()).unwrap();
    let bytes = std::fs::read(forged).unwrap();
    let header = |bytes: &[u8]| LayerHeader::<ArchiveEntry>::read_as(Kind::Archive, bytes, bytes.len() as u64).unwrap();
    let (own, right) = (header(&bytes), header(header_of));
    let first = prefix(Kind::Archive, right.key, right.form, right.source, &[], &own.entries);
    std::fs::write(path, [&first, &bytes[first.len()..]].concat()).unwrap();
}

#[test]
fn a_damaged_archive_is_found_by_verify() {
    let directory = packed();
    let directory = directory.path();
    let report = json(directory, "verify --pits 4 --json");
    let passed = report["passed"].as_array().unwrap();
    let archives: Vec<&Value> = passed.iter().filter(|passed| passed["check"] == "archives").collect();
    assert_eq!(archives.iter().map(|passed| passed["seeds"].as_u64().unwrap()).collect::<Vec<_>>(), [7, 8, 9]);
    assert!(ends(directory, "verify --all", 0).contains("archives: "));
    assert!(ends(directory, "verify --pits 4 --seeds 8", 0).contains("in 1 layer"));
    // Other checks need tables.
    assert!(ends(directory, "verify --pits 4 --consistency", 0).contains("not checked: the layers of 7 to 9 seeds"));

    // For archives alone there is no other check.
    let alone = tempfile::tempdir().unwrap();
    std::fs::copy(archive_path(directory, key(8)), archive_path(alone.path(), key(8))).unwrap();
    ends(alone.path(), "verify --pits 4", 0);
    assert!(ends(alone.path(), "verify --pits 4 --consistency", 1).contains("nothing was checked"));

    let (path, whole) = (archive_path(directory, key(8)), std::fs::read(archive_path(directory, key(8))).unwrap());
    // A byte of the header, of a chunk, of the list of checksums, and of the seek table, where it is the length of a
    // content.
    for at in [30, whole.len() / 2, whole.len() - 120, whole.len() - 60] {
        flip(&path, at);
        for command in ["verify --pits 4", "verify --pits 4 --seeds 8", "verify --all"] {
            let printed = ends(directory, command, 3);
            assert!(printed.contains("empty-capture-4-08.kalah.archive"), "byte {at}, {command}: {printed}");
        }
        std::fs::write(&path, &whole).unwrap();
    }
    std::fs::rename(&path, archive_path(directory, key(9))).unwrap();
    assert!(ends(directory, "verify --pits 4", 3).contains("it holds empty-capture with 4 pits and 8 seeds"));
}

#[test]
fn an_archive_that_restores_another_table_is_neither_sound_nor_kept() {
    let directory = tables(KEY.rules);
    let directory = directory.path();
    let (path, table) = (archive_path(directory, KEY), std::fs::read(KEY.path(directory)).unwrap());
    ends(directory, "archive pack --pits 4 --seeds 9", 0);
    let right = std::fs::read(&path).unwrap();
    forge(&path, &right);
    let printed = ends(directory, "verify --pits 4", 3);
    assert!(
        printed.contains("WRONG: ") && printed.contains("another table than the one it was made from"),
        "{printed}"
    );
    assert!(std::fs::read(KEY.path(directory)).unwrap() == table);
    // Packing replaces the archive.
    assert!(ends(directory, "archive pack --pits 4 --seeds 9", 0).contains("packed"));
    assert!(std::fs::read(&path).unwrap() == right);
    assert!(ends(directory, "archive pack --pits 4 --seeds 9", 0).contains("kept"));
}

#[test]
fn a_damaged_book_stops_the_commands_that_read_it() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("standard-7.book"), "no book").unwrap();
    for command in ["solve 7x1 --rules standard", "move 7x1 --rules standard", "engine"] {
        assert!(ends(directory, command, 3).contains("standard-7.book"), "{command}");
    }
    ends(directory, "solve 3x2 --rules empty-capture", 0);
    ends(directory, "solve 7x1 --rules standard --no-book", 0);
}

#[test]
fn who_built_a_table_is_listed() {
    let directory = tables(KEY.rules);
    let info = json(directory.path(), "info --json");
    let table = &info["builds"][0];
    assert_eq!(table["version"], env!("CARGO_PKG_VERSION"));
    let finished = table["finished"].as_str().unwrap();
    assert!(finished.len() == 20 && finished.starts_with("20") && finished.ends_with('Z'), "{finished}");
    let printed = ends(directory.path(), "info", 0);
    assert!(printed.contains(&finished[..10]) && printed.contains(env!("CARGO_PKG_VERSION")), "{printed}");
}

/// Raises the version of a format, which is four bytes of a file.
fn raise(path: &Path, at: usize) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] += 6;
    std::fs::write(path, &bytes).unwrap();
    bytes
}

#[track_caller]
fn reports_a_newer_version(printed: &str) {
    assert!(printed.contains("its format has version") && !printed.contains("delete"), "{printed}");
}

#[test]
fn a_file_of_a_newer_version_is_never_replaced_or_deleted() {
    let directory = tables(KEY.rules);
    let directory = directory.path();
    ends(directory, "archive pack --pits 4 --seeds 9", 0);
    let archive = archive_path(directory, KEY);
    let newer = raise(&archive, 8);
    let unpack = format!("archive unpack {}", archive.display());
    for command in ["verify --pits 4", "archive pack --pits 4", &unpack] {
        let (code, stdout, stderr) = kalah(directory, command);
        assert!(code != 0, "{command}");
        reports_a_newer_version(&(stdout + &stderr));
        assert!(std::fs::read(&archive).unwrap() == newer && KEY.path(directory).exists(), "{command}");
    }
    std::fs::remove_file(&archive).unwrap();
    ends(directory, "archive pack --pits 4 --seeds 9", 0);

    let newer = raise(&KEY.path(directory), 8);
    for command in [
        "verify --pits 4",
        "build --pits 4 --seeds 10",
        "archive pack --pits 4",
        "info",
        &unpack,
        "export --pits 4 --seeds 9",
    ] {
        let (code, stdout, stderr) = kalah(directory, command);
        assert!(code != 0, "{command}: {stderr}");
        reports_a_newer_version(&(stdout + &stderr));
        assert!(std::fs::read(KEY.path(directory)).unwrap() == newer, "{command}");
    }
}

#[test]
fn other_files_of_a_newer_version_are_not_to_be_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { directory.path().join(name) };
    ends(directory.path(), "book make 3x1 --turns 1", 0);
    raise(&path("empty-capture-3.book"), 8);
    reports_a_newer_version(&ends(directory.path(), "solve 3x1", 1));
    std::fs::remove_file(path("empty-capture-3.book")).unwrap();

    let network = [&b"KALAHNN\n"[..], &9u32.to_le_bytes(), &[0; 500]].concat();
    std::fs::write(path("n.network"), network).unwrap();
    let printed = ends(directory.path(), &format!("bounds --seeds 3 --network {}", path("n.network").display()), 3);
    reports_a_newer_version(&printed);

    let checkpoint = path("search");
    std::fs::write(&checkpoint, "{\"format\":\"kalah solve checkpoint\",\"version\":7}\n").unwrap();
    reports_a_newer_version(&ends(directory.path(), &format!("solve 3x2 --state {}", checkpoint.display()), 1));
    let proof = path("proof");
    std::fs::create_dir(&proof).unwrap();
    std::fs::write(proof.join("proof.json"), "{\"format\":\"kalah proof\",\"version\":7}\n").unwrap();
    reports_a_newer_version(&ends(directory.path(), &format!("prove 3x2 --proof {}", proof.display()), 1));
}

#[test]
fn what_is_no_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    {
        let link = directory.path().join("tables");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        for flags in ["", " --share"] {
            let printed = ends(&link, &format!("build --pits 4 --seeds 5{flags}"), 1);
            assert!(printed.contains("tables: it is a link to nowhere"), "{flags}: {printed}");
        }
    }
    std::fs::write(directory.path().join("file"), "").unwrap();
    assert!(ends(&directory.path().join("file"), "build --pits 4 --seeds 5", 1).contains("ot a directory"));
}

#[test]
fn a_gap_in_the_layers_is_named_and_shortens_no_work() {
    let directory = tables(KEY.rules);
    let directory = directory.path();
    std::fs::remove_file(key(5).path(directory)).unwrap();
    for command in ["archive pack --pits 4", "train --pits 4"] {
        let printed = ends(directory, command, 1);
        assert!(printed.contains("layer 5 is missing"), "{command}: {printed}");
    }
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.filter(|name| name.ends_with(".archive") || name.ends_with(".network")).count() == 0);
    // Commands that use only existing tables go on, and print a warning.
    for command in ["info", "probe 4x1", "move 4x1 --player perfect"] {
        let ran = kalah(directory, command);
        assert!(ran.2.contains("layer 5 is missing"), "{command}: {ran:?}");
    }
    assert_eq!(json(directory, "info --json")["gaps"][0]["missing"], serde_json::json!([5]));
    // The requested layer exists.
    ends(directory, "archive pack --pits 4 --seeds 4", 0);
    let tables = Tables::open(directory, KEY.rules, KEY.pits, KEY.seeds).unwrap();
    assert_eq!((tables.max_seeds(), tables.gaps()), (Some(4), &[5][..]));
    assert!(tables.require_all().unwrap_err().to_string().starts_with("layer 5 is missing"));
    let asked = Tables::open(directory, KEY.rules, KEY.pits, 4).unwrap();
    assert!(asked.gaps().is_empty() && asked.require_all().is_ok());
    // A table that is listed but cannot be found is an error: the file system may have lost it for a moment.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", key(5).path(directory)).unwrap();
        let error = Tables::open(directory, KEY.rules, KEY.pits, KEY.seeds).unwrap_err();
        assert!(error.to_string().contains("layer 5 is missing"), "{error}");
    }
}

#[test]
fn a_directory_that_is_not_there_has_no_tables() {
    let tables = Tables::open("no such directory", KEY.rules, KEY.pits, KEY.seeds).unwrap();
    assert_eq!(tables.max_seeds(), None);
}

#[test]
fn bound_tables_in_a_directory_of_their_own_are_checked() {
    let (directory, bounds) = (tables(KEY.rules), tempfile::tempdir().unwrap());
    let network = directory.path().join("empty-capture-4.network");
    ends(directory.path(), "train --pits 4 --samples 2000 --epochs 1 --solved 0 --estimated 0", 0);
    assert!(network.exists());
    let output = bounds.path().display();
    ends(directory.path(), &format!("bounds --pits 4 --seeds 5..9 --output {output}"), 0);
    let printed = ends(bounds.path(), "verify --pits 4", 0);
    assert!(printed.contains("checksums of bound tables: ") && printed.contains("in 5 layers"), "{printed}");
    ends(bounds.path(), "verify --all", 0);
    std::fs::remove_file(key(7).bounds_path(bounds.path())).unwrap();
    assert!(ends(bounds.path(), "verify --pits 4", 3).contains("layer 7 is missing"));
}

#[test]
fn what_cannot_be_done_leaves_no_directory_behind() {
    let directory = tempfile::tempdir().unwrap();
    let none = directory.path().join("none");
    let printed = ends(&none, "build --seeds 12 --memory 1MiB", 1);
    assert!(printed.contains("--memory"), "{printed}");
    let printed = ends(&none, "bounds --seeds 3..5", 1);
    assert!(printed.contains("there is no directory"), "{printed}");
    let output = directory.path().join("output");
    ends(&none, &format!("bounds --seeds 3..5 --output {}", output.display()), 1);
    assert!(!none.exists() && !output.exists());
    let printed = ends(directory.path(), "verify --rules standard", 1);
    assert!(printed.contains("there are no tables for standard with 6 pits"), "{printed}");
    assert!(!printed.contains("--seeds 2 "), "{printed}");
}

#[test]
fn boards_that_no_table_has_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let (path, rules) = (directory.path(), Rules::EmptyCapture);
    for pits in [0, 9, 16, usize::MAX] {
        let errors = [
            Tables::open(path, rules, pits, 4).err(),
            Tables::open(Directory::from(path).reading_files(), rules, pits, 4).err(),
            Tables::open(path.join("none"), rules, pits, 4).err(),
        ];
        for error in errors {
            assert!(matches!(error, Some(TableError::Pits(found)) if found == pits), "{pits}: {error:?}");
        }
    }
    assert_eq!(TableError::Pits(9).to_string(), "9 pits a side: tables have 1 to 8");
}

#[test]
fn scores_are_counted_alike_by_one_thread_and_by_all() {
    let directory = tables(Rules::Standard);
    // Any text is a path.
    let tables = Tables::open(directory.path().to_str().unwrap(), Rules::Standard, KEY.pits, KEY.seeds).unwrap();
    for table in tables.layers() {
        let mut counts = vec![0; table.key().seeds + 1];
        for frame in table.key().frames() {
            let scores = table.frame(frame.mover).unwrap();
            for (mover, other) in (0..frame.positions()).map(|index| frame.ranks(index)) {
                counts[usize::from(scores.score(mover, other).unwrap())] += 1;
            }
        }
        assert_eq!(kalah::table::score_counts(table).unwrap(), counts, "{}", table.key());
    }
}
