//! `kalah verify`, and every command with hostile files and at the limits of the system. No fault passes unchecked, no
//! command waits forever, and none ends without a message.
#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use kalah::game::Rules;
use kalah::index::Frame;
use kalah::table::{AllTables, Table};
#[cfg(unix)]
use kalah_tests::files::make_pipe;
use kalah_tests::files::{copied, flip};
use kalah_tests::place::Place;
use kalah_tests::program::{self, Ran, Run};
#[cfg(unix)]
use kalah_tests::signals::{heard, interrupt};
use kalah_tests::tables::built;
use serde_json::{Value, json};

use crate::rescored;

/// Maximum time of a command with almost nothing to do, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Tables of 6 pits up to 9 seeds, and of 2 pits by other rules up to 6, built once.
fn tables() -> &'static Path {
    built(&[(Rules::EmptyCapture, 6, 9), (Rules::Standard, 2, 6)])
}

/// A folder with a copy of these tables, which the test may damage.
fn copy() -> Place {
    Place::of(copied(tables()))
}

fn table(directory: &Path, seeds: usize) -> PathBuf {
    directory.join(format!("empty-capture-6-{seeds:02}.kalah"))
}

/// Flips a bit in the middle of a file.
fn damage(path: &Path) {
    flip(path, path.metadata().unwrap().len() as usize / 2, 0x10);
}

fn kalah(place: &Place, line: &str) -> Output {
    place.command(line).env_remove("RUST_BACKTRACE").run_within(PATIENCE, "")
}

/// Seeds of the layers in a list of a report.
fn layers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|entry| entry["seeds"].as_u64().unwrap()).collect()
}

/// The entries of a manifest of the tables, as `info --manifest` prints them.
fn manifest() -> Vec<Value> {
    kalah(&copy(), "info --manifest").success().json_lines()
}

fn write_manifest(place: &Place, entries: &[Value]) {
    place.write("known.jsonl", entries.iter().map(|entry| format!("{entry}\n")).collect::<String>());
}

#[test]
fn a_missing_layer_is_a_fault_and_those_above_are_checked_all_the_same() {
    let place = copy();
    [3, 5].iter().for_each(|&seeds| std::fs::remove_file(table(place.path(), seeds)).unwrap());
    damage(&table(place.path(), 8));
    let ran = kalah(&place, "verify").exits(3);
    let ran = ran.prints("layers 3, 5 are missing").prints("kalah build --seeds 5 --rules");
    ran.prints("empty-capture-6-08.kalah cannot be used");

    let report = kalah(&place, "verify --json --consistency --checksums").exits(3).json();
    assert_eq!((&report["ok"], &report["faults"][0]["missing"]), (&false.into(), &json!([3, 5])));
    assert_eq!(layers(&report["faults"]), [9, 8]);
    let passed = |check: &str| {
        layers(
            &report["passed"].as_array().unwrap().iter().filter(|passed| passed["check"] == check).cloned().collect(),
        )
    };
    assert_eq!(passed("checksums"), [2, 4, 6, 7, 9]);
    // Scores are compared with those of lower layers, so this check ends at the first missing table and reports it.
    assert_eq!(passed("consistency"), [2]);
    assert_eq!(report["unchecked"][0]["seeds"], json!([4, 6, 7, 8, 9]));

    // The checksums of one layer need no other layer. Its scores need all layers below.
    kalah(&place, "verify --seeds 9").success();
    kalah(&place, "verify --seeds 9 --consistency").exits(3).prints("layers 3, 5 are missing");
    // A requested layer that is missing cannot be checked.
    kalah(&place, "verify --seeds 5").fails(1, "layers 3, 5 are missing");
    kalah(&place, "verify --pits 3").fails(1, "there are no tables for empty-capture");
}

#[test]
fn a_manifest_is_compared_with_scores_not_with_headers() {
    let place = copy();
    let entries = manifest();
    write_manifest(&place, &entries);
    let compare = || kalah(&place, "verify --manifest known.jsonl");
    compare().success().prints("manifest: ").prints("numbers of each score");
    // Lines of editors on Windows.
    place.write("known.jsonl", place.text("known.jsonl").replace('\n', "\r\n"));
    compare().success().prints("manifest: ");

    let mut wrong = entries.clone();
    let seven = wrong.iter_mut().find(|entry| entry["rules"] == "empty-capture" && entry["seeds"] == 7).unwrap();
    let scores = seven["scores"].as_array_mut().unwrap();
    assert_ne!(scores[3], scores[4]);
    scores.swap(3, 4);
    write_manifest(&place, &wrong);
    compare().exits(3).prints("7 seeds: the number of positions with each score differs");

    // A flipped bit in a body, under the original header.
    write_manifest(&place, &entries);
    damage(&table(place.path(), 6));
    let ran = compare().exits(3).prints("empty-capture-6-06.kalah cannot be used");
    assert_eq!(ran.stdout().matches("WRONG").count(), 1);
}

#[test]
fn a_manifest_that_compares_nothing_fails() {
    let place = copy();
    let entries = manifest();
    let compare = |entries: &[Value], flags: &str| {
        write_manifest(&place, entries);
        kalah(&place, &format!("verify --manifest known.jsonl{flags}"))
    };
    let of_others: Vec<Value> = entries.iter().filter(|entry| entry["pits"] == 2).cloned().collect();
    for nothing in [&[][..], &of_others] {
        compare(nothing, "").exits(1).prints("nothing was compared");
    }
    let report = compare(&of_others, " --json").exits(1).json();
    assert_eq!((&report["ok"], report["passed"].as_array().unwrap().len()), (&false.into(), 0));
    // The manifest lists one of the two boards.
    compare(&of_others, " --all")
        .success()
        .prints("not checked of empty-capture with 6 pits: the layers of 2 to 9 seeds");

    // A listed table is missing, and an existing one is not listed.
    let some: Vec<Value> = entries.iter().filter(|entry| entry["seeds"] != 4).cloned().collect();
    std::fs::remove_file(table(place.path(), 9)).unwrap();
    compare(&some, "").success().prints("not checked: the layer of 4 seeds, for which the manifest has no entry");

    // Entries that would never be compared.
    for (field, value, message) in [
        ("rules", Value::from("oware"), "line 3: unknown rules 'oware'"),
        ("pits", 9.into(), "line 3: there is no table"),
        ("seeds", 49.into(), "line 3: there is no table"),
    ] {
        let mut unknown = entries.clone();
        unknown[2][field] = value;
        compare(&unknown, "").fails(1, message);
    }
    compare(&[&entries[..], &entries[1..2]].concat(), "").success();
}

#[test]
fn the_damaged_layer_is_blamed_and_not_the_one_above_that_is_computed_from_it() {
    let place = copy();
    damage(&table(place.path(), 6));
    let report = kalah(&place, "verify --seeds 8 --against cpu --json").exits(3).json();
    assert_eq!(report["faults"][0]["seeds"], 6, "{report}");
    assert!(report["faults"][0]["message"].as_str().unwrap().contains("empty-capture-6-06.kalah"), "{report}");
    // All layers are requested. Those above the missing one are left out.
    let ran = kalah(&place, "verify --against cpu").exits(3);
    ran.prints("empty-capture-6-06.kalah cannot be used")
        .prints("against the CPU: not checked: the layers of 7 to 9 seeds")
        .does_not_print("empty-capture-6-07.kalah");
}

#[test]
fn all_boards_are_checked_in_one_run() {
    let place = copy();
    for name in ["notes.txt", "empty-capture-6-10.kalah.partial", "empty-capture-6-1.txt", "a\u{1b}[31m"] {
        place.write(name, "no table");
    }
    write_manifest(&place, &manifest());
    let all = "verify --all --checksums --consistency --manifest known.jsonl";
    kalah(&place, all).success().prints("13 layers of 2 boards");
    let report = kalah(&place, &format!("{all} --json")).success().json();
    let passed = |board: &Value| board["passed"].as_array().unwrap().len();
    assert_eq!(report["boards"].as_array().unwrap().iter().map(passed).collect::<Vec<_>>(), [3 * 8, 3 * 5]);
    assert_eq!(report["ok"], true);

    // A fault of one board does not hide those of others.
    let standard = |seeds| place.at(&format!("standard-2-0{seeds}.kalah"));
    damage(&standard(4));
    damage(&table(place.path(), 9));
    std::fs::remove_file(standard(2)).unwrap();
    let ran = kalah(&place, "verify --all").exits(3).prints("standard-2-04.kalah");
    ran.prints("empty-capture-6-09.kalah")
        .prints("standard with 2 pits and 6 seeds exists, but below it layer 2 is missing");

    kalah(&Place::empty(), "verify --all").fails(1, "nothing was checked");
    kalah(&place, "verify --all --pits 6").exits(2);
    kalah(&place, "verify --all --seeds 6").exits(2);
}

/// Commands that read the layer of 7 seeds on 6 pits, or need it for a build.
const READERS: [&str; 19] = [
    "verify",
    "verify --all",
    "verify --seeds 7",
    "verify --consistency",
    "info",
    "info --manifest",
    "export --seeds 7",
    "probe 1,1,1,1,0,0/1,1,1,0,0,0",
    "solve 6x1",
    "review 6x1 6",
    "move 6x1",
    "play 6x1",
    "tournament --start 6x1 perfect random:1",
    "analyse values --pits 6 --seeds-per-pit 1",
    "analyse graph 6x1",
    "archive pack",
    "bench --seeds 9 --backend cpu",
    "build --seeds 10 --backend cpu",
    "verify --against cpu",
];

/// Damage exits with 3, and a file that cannot be read with 1. No command waits for a named pipe.
#[test]
fn every_command_names_a_table_that_cannot_be_used() {
    type Spoil = fn(&Path, &[u8]);
    let cut: Spoil = |path, bytes| std::fs::write(path, &bytes[..1000]).unwrap();
    let flipped: Spoil = |path, bytes| {
        std::fs::write(path, bytes).unwrap();
        flip(path, 20, 1);
    };
    let other: Spoil = |path, _| std::fs::write(path, std::fs::read(table(tables(), 6)).unwrap()).unwrap();
    let cases: &[(Spoil, i32, &str)] = &[
        (cut, 3, "07.kalah cannot be used"),
        (flipped, 3, "07.kalah cannot be used"),
        (other, 3, "07.kalah cannot be used: it holds empty-capture with 6 pits and 6 seeds, not"),
        #[cfg(unix)]
        (|path, _| std::fs::create_dir(path).unwrap(), 1, "it is a directory"),
        #[cfg(unix)]
        (|path, _| std::os::unix::fs::symlink(path, path).unwrap(), 1, "symbolic links"),
        #[cfg(unix)]
        (|path, _| make_pipe(path), 1, "07.kalah: it is not a regular file"),
    ];
    for (spoil, code, reason) in cases {
        for line in READERS {
            let place = copy();
            let path = table(place.path(), 7);
            let bytes = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            spoil(&path, &bytes);
            kalah(&place, line).exits(*code).prints("empty-capture-6-07.kalah").prints(reason);
        }
    }
}

#[test]
fn a_layer_under_the_name_of_another_is_damage() {
    let place = copy();
    std::fs::copy(table(place.path(), 6), table(place.path(), 7)).unwrap();
    let report = kalah(&place, "verify --json").exits(3).json();
    assert_eq!((&report["faults"][0]["seeds"], &report["faults"][0]["check"]), (&7.into(), &"files".into()));
    assert_eq!(report["passed"].as_array().unwrap().len(), 7, "all others are checked");
    // The tables of the page end below the wrong file, which the listing reports.
    let all_tables = AllTables::new(place.path().to_owned());
    assert_eq!(all_tables.tables(Rules::EmptyCapture, 6).unwrap().max_seeds(), Some(6));
    let listing = all_tables.list().unwrap();
    assert_eq!((listing.tables.len(), listing.damaged.len()), (7 + 5, 1));
    assert!(listing.damaged[0].1.to_string().contains("it holds empty-capture with 6 pits and 6 seeds"));
}

#[test]
fn a_damaged_archive_exits_with_3_and_one_that_cannot_be_read_with_1() {
    let place = copy();
    kalah(&place, "archive pack --seeds 8 --output packed").success();
    damage(&place.at("packed/empty-capture-6-08.kalah.archive"));
    std::fs::remove_file(table(place.path(), 8)).unwrap();
    for (path, code, message) in [
        ("packed/empty-capture-6-08.kalah.archive", 3, "download it or pack the table again"),
        ("packed", 1, "it is a directory"),
        ("packed/none", 1, "packed/none: No such file"),
    ] {
        kalah(&place, &format!("archive unpack {path}")).fails(code, message);
    }
}

#[cfg(unix)]
#[test]
fn a_named_pipe_in_the_place_of_a_file_makes_nothing_wait() {
    let cases = [
        ("pipe", "archive unpack pipe", 1),
        ("pipe", "verify --manifest pipe", 1),
        ("pipe", "solve 4x2 --state pipe", 1),
        ("pipe", "analyse values --pits 2 --seeds-per-pit 2 --state pipe", 1),
        // Files that a build writes, or that other programs left.
        ("empty-capture-6-10.kalah.partial", "build --seeds 10 --backend cpu", 1),
        ("build.lock", "build --seeds 10 --backend cpu", 1),
        ("empty-capture-6-10.03.piece", "build --seeds 10 --backend cpu --share", 1),
        ("builds.jsonl", "build --seeds 10 --backend cpu", 0),
        ("builds.jsonl", "info", 0),
    ];
    for (name, line, code) in cases {
        let place = copy();
        make_pipe(&place.at(name));
        let ran = kalah(&place, line).exits(code);
        if code == 1 {
            ran.prints(name).prints("it is not a regular file");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_truncated_under_a_search_ends_it_with_a_line() {
    let place = copy();
    let mut command = place.command("solve 6x6 --no-book --transpositions 16MiB");
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    // The last table that is opened.
    let maps = format!("/proc/{}/maps", child.id());
    while !std::fs::read_to_string(&maps).unwrap_or_default().contains("empty-capture-6-09.kalah") {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it read the table");
        std::thread::sleep(Duration::from_millis(1));
    }
    for seeds in 2..=9 {
        std::fs::OpenOptions::new().write(true).open(table(place.path(), seeds)).unwrap().set_len(0).unwrap();
    }
    let ran = child.wait_with_output().unwrap().exits(3);
    ran.prints("became shorter while it was in use").prints("`kalah verify`");
}

/// Runs the program through a shell that sets limits first.
#[cfg(unix)]
fn limited(place: &Place, limits: &str, line: &str) -> Output {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -c 0; {limits}; exec {} {line}", program::path().display()));
    command.current_dir(place.path()).env("KALAH_TABLES", place.path());
    command.env_remove("RUST_BACKTRACE").run_within(PATIENCE, "")
}

/// With little memory, a command does its work or reports that there is too little.
///
/// A small allocation may fail, or a thread may not start inside a library. Then the standard library prints the
/// message and ends the program.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_said() {
    use std::os::unix::process::ExitStatusExt;
    let mut failed = 0;
    for mebibytes in [30, 50, 70, 100, 150, 160, 200, 260, 400] {
        for args in [
            "build --seeds 14 --backend cpu --threads 2",
            "verify --threads 2",
            "probe 1,1,1,1,0,0/1,1,1,0,0,0",
            "export --seeds 9 --threads 2",
            "solve 3x4 --threads 2 --memory 16MiB",
            "tournament --start 6x1 minimax2:3 random:1",
            "info",
        ] {
            let place = copy();
            let ran = limited(&place, &format!("ulimit -v {}", mebibytes * 1024), args);
            let said: &[&str] = match (ran.status.code(), ran.status.signal()) {
                (Some(0), _) => continue,
                (Some(1), _) => &["kalah: "],
                (Some(101), _) | (_, Some(libc::SIGABRT)) => {
                    &["memory allocation of", "Resource temporarily unavailable", "Cannot allocate memory"]
                }
                _ => &[],
            };
            failed += 1;
            // The message may share a line with another: two threads may run out of memory at once.
            let stderr = ran.stderr();
            assert!(said.iter().any(|text| stderr.contains(text)), "{args}: {}: {stderr}", ran.status);
        }
    }
    assert!(failed > 0, "choose limits that matter");
}

/// A limit on the size of files simulates a full disk. The error names the file, and the files that are kept.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_an_error_that_explains_how_to_go_on() {
    // Files may have 16 blocks of 512 bytes. The layer of 7 seeds is larger.
    let limit = "ulimit -f 16";
    let eight_is_right = |place: &Place| {
        assert_eq!(std::fs::read(table(place.path(), 8)).unwrap(), std::fs::read(table(tables(), 8)).unwrap());
    };
    let place = Place::empty();
    let ran = limited(&place, limit, "build --seeds 8 --backend cpu").exits(1);
    ran.prints("empty-capture-6-07.kalah.partial: File too large").prints("raise the limit").prints("ulimit -f");
    assert!(table(place.path(), 6).exists());
    kalah(&place, "build --seeds 8 --backend cpu").success().prints("frames kept from an earlier run");
    eight_is_right(&place);

    let place = copy();
    std::fs::remove_file(table(place.path(), 9)).unwrap();
    limited(&place, limit, "build --seeds 9 --share --backend cpu").fails(1, "raise the limit");
    let left = |end: &str| place.names().iter().filter(|name| name.ends_with(end)).count();
    assert_eq!((left(".tmp"), left(".piece")), (0, 0));

    // Nothing is left of an incomplete archive or table.
    limited(&place, "ulimit -f 1", "archive pack --seeds 8").fails(1, "File too large");
    assert_eq!(left(".archive") + left(".archive.partial"), 0);
    kalah(&place, "archive pack --seeds 8").success();
    let unpack = "archive unpack empty-capture-6-08.kalah.archive";
    std::fs::remove_file(table(place.path(), 8)).unwrap();
    limited(&place, limit, unpack).fails(1, "File too large");
    assert_eq!(left(".tmp") + left("-08.kalah"), 0);
    kalah(&place, unpack).success();
    eight_is_right(&place);
}

#[test]
fn layers_below_a_wrong_one_pass_and_those_above_are_not_checked() {
    let place = copy();
    let path = table(place.path(), 6);
    let wrong = rescored(&Table::open(&path).unwrap(), (Frame { pits: 6, mover: 2, other: 4 }, 100), |score| score ^ 1);
    std::fs::write(&path, wrong.bytes()).unwrap();
    let report = kalah(&place, "verify --consistency --json").exits(3).json();
    assert_eq!((&report["faults"][0]["seeds"], report["passed"].as_array().unwrap().len()), (&6.into(), 4));
    let ran = kalah(&copy(), "verify --consistency").success();
    ran.prints("283,921 positions are the minimax").prints("36 frames of 8 layers");
}

#[cfg(unix)]
#[test]
fn an_interrupted_check_exits_with_130_and_names_what_is_left() {
    let place = Place::empty();
    // Rules with relays are checked position by position: one thread takes some ten seconds.
    kalah(&place, "build --seeds 16 --rules s-kalaha").success();
    let mut command = place.command("verify --consistency --rules s-kalaha --threads 1");
    let running = heard(&mut command).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&running);
    running.wait_with_output().unwrap().exits(130).prints("because the run was stopped");
}
