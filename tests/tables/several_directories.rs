//! Several directories that are read as one.
#![cfg(feature = "cli")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kalah::build::build;
use kalah::game::{Position, Rules};
use kalah::table::format::{ENTRY_BYTES, HEADER_BYTES, RawHeader, table_digest};
use kalah::table::{AllTables, Directories, Opening, Storage, Table, TableError, TableKey, Tables};
use kalah_tests::program::{self, Ran, Run};
use serde_json::Value;
use tempfile::TempDir;

const RULES: Rules = Rules::EmptyCapture;
const PITS: usize = 4;
const SEEDS: usize = 9;

/// Tables of one directory, for comparison.
static WHOLE: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), RULES, PITS, SEEDS).unwrap();
    directory
});

fn key(seeds: usize) -> TableKey {
    TableKey { rules: RULES, pits: PITS, seeds }
}

/// Two directories; the layers of an even number of seeds are in the second one.
struct Split([TempDir; 2]);

impl Split {
    fn new() -> Split {
        let split = Split([0; 2].map(|_| tempfile::tempdir().unwrap()));
        (2..=SEEDS).for_each(|seeds| split.copy(seeds, usize::from(seeds % 2 == 0)));
        split
    }

    fn copy(&self, seeds: usize, to: usize) {
        std::fs::copy(key(seeds).path(WHOLE.path()), self.path(seeds, to)).unwrap();
    }

    fn path(&self, seeds: usize, at: usize) -> PathBuf {
        key(seeds).path(self.0[at].path())
    }

    fn directories(&self) -> Directories {
        Directories::new(self.0.iter().map(|directory| directory.path().to_owned())).unwrap()
    }

    /// Puts the scores of other rules, with every checksum right, under the name of a layer in the second directory.
    fn forge(&self, seeds: usize) {
        let other = tempfile::tempdir().unwrap();
        let rules = Rules::SingleMove;
        build(other.path(), rules, PITS, seeds).unwrap();
        let mut bytes = std::fs::read(TableKey { rules, ..key(seeds) }.path(other.path())).unwrap();
        let digest = table_digest(key(seeds), &bytes[HEADER_BYTES..][..(seeds - 1) * ENTRY_BYTES]);
        let header = RawHeader::finished(key(seeds), bytes.len() as u64, digest);
        bytes[..HEADER_BYTES].copy_from_slice(bytemuck::bytes_of(&header));
        std::fs::write(self.path(seeds, 1), bytes).unwrap();
        Table::open(self.path(seeds, 1)).unwrap().check().unwrap();
    }

    /// Runs a command with both directories, as flags or as the variable.
    fn run(&self, args: &str, by_variable: bool) -> (i32, String, String) {
        let mut command = program::command();
        command.args(args.split(' '));
        let paths = self.0.iter().map(TempDir::path);
        if by_variable {
            let joined: OsString = std::env::join_paths(paths).unwrap();
            command.env("KALAH_TABLES", joined);
        } else {
            paths.for_each(|path| _ = command.arg("--tables").arg(path));
        }
        command.run().parts()
    }
}

/// Runs a command on one directory. Returns its stdout.
fn alone(directory: &Path, args: &str) -> String {
    program::command().args(args.split(' ')).env("KALAH_TABLES", directory).run().printed()
}

#[test]
fn layers_of_several_directories_are_those_of_one() {
    let split = Split::new();
    let whole = Tables::open(WHOLE.path(), RULES, PITS, SEEDS).unwrap();
    let open = Tables::open(split.directories(), RULES, PITS, SEEDS).unwrap();
    let unmapped = Tables::open(split.directories(), RULES, PITS, Opening::to(SEEDS).storage(Storage::Files)).unwrap();
    let all_tables = AllTables::new(split.directories());
    for text in ["4x1", "<4,3,0,1,0,2,3,0,1,1,1>", "3,0,0,1/1,2,0,2", "0,0,0,1/8,0,0,0"] {
        let position: Position = text.parse().unwrap();
        let expected = whole.probe(&position).unwrap();
        assert_eq!(open.probe(&position).unwrap(), expected);
        assert_eq!(unmapped.probe(&position).unwrap(), expected);
        assert_eq!(all_tables.probe(RULES, &position).unwrap(), Some(expected));
    }
    let listing = all_tables.list().unwrap();
    assert_eq!(listing.tables, AllTables::new(WHOLE.path()).list().unwrap().tables);
    assert!(listing.damaged.is_empty() && listing.gaps.is_empty());
}

#[test]
fn commands_answer_from_several_directories_as_from_one() {
    let split = Split::new();
    for args in [
        "probe 0,1,0,2/1,1,0,3",
        "review 0,1,0,2/1,1,0,3 2 --no-book --json",
        "move 0,1,0,2/1,1,0,3 --no-book",
        "export --pits 4 --seeds 8",
        "export --pits 4 --seeds 9",
        "solve 0,1,0,2/1,1,0,3 --threads 1 --json",
        "export --pits 4 --seeds 4 --output -",
    ] {
        let expected = alone(WHOLE.path(), args);
        for by_variable in [false, true] {
            let (code, stdout, stderr) = split.run(args, by_variable);
            assert_eq!(code, 0, "{args}: {stderr}");
            // The last field of a report is its time.
            let masked = |text: &str| text.rsplit_once(",\"seconds\":").map_or(text, |(before, _)| before).to_owned();
            assert_eq!(masked(&stdout), masked(&expected), "{args}");
        }
    }
    let (code, stdout, stderr) = split.run("verify --pits 4 --consistency --checksums --json", false);
    assert_eq!(code, 0, "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["passed"].as_array().unwrap().len(), 2 * (SEEDS - 1));
}

#[test]
fn the_first_of_equal_copies_is_read_and_different_ones_are_an_error() {
    let split = Split::new();
    split.copy(7, 1);
    let tables = Tables::open(split.directories(), RULES, PITS, SEEDS).unwrap();
    assert_eq!(tables.layer(7).unwrap().path(), split.path(7, 0));
    assert_eq!(AllTables::new(split.directories()).list().unwrap().tables.len(), SEEDS - 1);

    split.forge(7);
    let error = Tables::open(split.directories(), RULES, PITS, SEEDS).unwrap_err();
    assert!(
        matches!(&error, TableError::Copies { path, other } if *path == split.path(7, 0) && *other == split.path(7, 1))
    );
    // Nothing below it depends on it.
    Tables::open(split.directories(), RULES, PITS, 6).unwrap();
    let all_tables = AllTables::new(split.directories());
    assert_eq!(all_tables.tables(RULES, PITS).unwrap().max_seeds(), Some(6));
    assert_eq!(all_tables.list().unwrap().damaged.len(), 1);
    for args in ["probe 0,1,0,2/1,1,0,3", "info", "export --pits 4 --seeds 7"] {
        let (code, _, stderr) = split.run(args, false);
        assert!(code == 3 && stderr.contains("holds another table than"), "{args}: {code} {stderr}");
    }
}

#[test]
fn a_gap_is_missing_in_all_directories() {
    let split = Split::new();
    std::fs::remove_file(split.path(5, 0)).unwrap();
    let tables = Tables::open(split.directories(), RULES, PITS, SEEDS).unwrap();
    assert_eq!((tables.max_seeds(), tables.gaps()), (Some(4), &[5][..]));
    let (code, _, stderr) = split.run("probe 0,1,0,2/1,1,0,3", false);
    assert!(code == 1 && stderr.contains("layer 5 is missing in"), "{stderr}");
    split.0.iter().for_each(|directory| assert!(stderr.contains(directory.path().to_str().unwrap()), "{stderr}"));
    let (code, stdout, _) = split.run("verify --pits 4", false);
    assert!(code == 3 && stdout.contains('5'), "{stdout}");
}

#[test]
fn info_shows_the_directory_of_each_layer() {
    let split = Split::new();
    split.copy(7, 1);
    let (_, stdout, _) = split.run("info --json", true);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let listed = report["tables"].as_array().unwrap().iter();
    let listed: Vec<(u64, &str)> =
        listed.map(|table| (table["seeds"].as_u64().unwrap(), table["directory"].as_str().unwrap())).collect();
    let [first, second] = [0, 1].map(|at: usize| split.0[at].path().to_str().unwrap());
    let expected = [(2, second), (3, first), (4, second), (5, first), (6, second), (7, first), (7, second)];
    assert_eq!(listed[..7], expected);
    let (_, stdout, _) = split.run("info", false);
    assert!(stdout.lines().nth(1).unwrap().ends_with(second), "{stdout}");
    assert!(!alone(WHOLE.path(), "info --json").contains("directory"));
}

#[test]
fn commands_that_write_refuse_several_directories() {
    let split = Split::new();
    for (args, what) in [
        ("build --pits 4 --seeds 9", "writes to one directory"),
        ("bounds --pits 4 --seeds 9", "writes to one directory"),
        ("archive pack --pits 4", "writes to one directory"),
        ("train --pits 4", "writes to one directory"),
        ("solve 4x2 --build", "--build writes to one directory"),
        ("book make 4x1", "name its file by --output"),
    ] {
        let (code, _, stderr) = split.run(args, false);
        assert!(code == 2 && stderr.contains(what), "{args}: {code} {stderr}");
    }
}

#[test]
fn each_named_directory_must_be_there() {
    let split = Split::new();
    let [first, missing] = [split.0[0].path().to_owned(), split.0[1].path().join("typo")];
    let output = program::command().args(["info", "--tables"]).arg(first).arg("--tables").arg(&missing).run().exits(1);
    assert!(output.stderr().contains(missing.to_str().unwrap()));
    let both = Directories::new([split.0[0].path().to_owned(), missing]).unwrap();
    assert!(
        Tables::open(&both, RULES, PITS, SEEDS).is_err()
            && Tables::open(&both, RULES, PITS, Opening::to(SEEDS).if_there()).is_err()
    );
}
