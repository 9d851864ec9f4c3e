//! `kalah verify`, and every command with hostile files and at the limits of the system. No fault passes unchecked, no
//! command waits forever, and none ends without a message.
#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::Duration;

use kalah::game::Rules;
use kalah::isa::Isa;
use kalah::table::{PackedFrame, Table, TableKey, TableWriter};
use serde_json::Value;

use kalah_tests::program::{self, Ran, Run};
#[cfg(unix)]
use kalah_tests::signals::{heard, interrupt};

/// Maximum time of a command with almost nothing to do, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Tables of 6 pits up to 9 seeds, and of 2 pits by other rules up to 6, built once.
static TABLES: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    kalah(directory.path(), &["build", "--seeds", "9"]).exits(0);
    kalah(directory.path(), &["build", "--seeds", "6", "--pits", "2", "--rules", "standard"]).exits(0);
    directory
});

/// Makes a copy of the tables that the test may damage.
fn copied() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(TABLES.path()).unwrap().map(Result::unwrap) {
        if file.path().extension().is_some_and(|extension| extension == "kalah") {
            std::fs::copy(file.path(), directory.path().join(file.file_name())).unwrap();
        }
    }
    directory
}

fn table(directory: &Path, seeds: usize) -> PathBuf {
    directory.join(format!("empty-capture-6-{seeds:02}.kalah"))
}

/// Flips a bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(path, bytes).unwrap();
}

fn kalah(tables: &Path, args: &[&str]) -> Output {
    program::command().env("KALAH_TABLES", tables).env_remove("RUST_BACKTRACE").args(args).run_within(PATIENCE, "")
}

/// The entries of a manifest of the tables, as `info --manifest` prints them.
fn manifest() -> Vec<Value> {
    let printed = kalah(TABLES.path(), &["info", "--manifest"]).exits(0).stdout();
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Writes a manifest.
fn write_manifest(directory: &Path, entries: &[Value]) -> String {
    let path = directory.join("known.jsonl");
    std::fs::write(&path, entries.iter().map(|entry| format!("{entry}\n")).collect::<String>()).unwrap();
    path.into_os_string().into_string().unwrap()
}

#[test]
fn a_missing_layer_is_a_fault_and_those_above_are_checked_all_the_same() {
    let directory = copied();
    std::fs::remove_file(table(directory.path(), 3)).unwrap();
    std::fs::remove_file(table(directory.path(), 5)).unwrap();
    flip(&table(directory.path(), 8));
    let ran = kalah(directory.path(), &["verify"]).exits(3);
    let ran = ran.prints("layers 3, 5 are missing").prints("kalah build --seeds 5 --rules");
    ran.prints("empty-capture-6-08.kalah cannot be used");

    let report = kalah(directory.path(), &["verify", "--json", "--consistency", "--checksums"]).exits(3).json();
    assert_eq!((&report["ok"], &report["faults"][0]["missing"]), (&false.into(), &serde_json::json!([3, 5])));
    let faults = report["faults"].as_array().unwrap();
    assert_eq!(faults.iter().map(|fault| fault["seeds"].as_u64().unwrap()).collect::<Vec<_>>(), [9, 8]);
    let passed = |check: &str| {
        let passed = report["passed"].as_array().unwrap().iter().filter(|passed| passed["check"] == check);
        passed.map(|passed| passed["seeds"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(passed("checksums"), [2, 4, 6, 7, 9]);
    // Scores are compared with those of lower layers, so this check ends at the first missing table and reports it.
    assert_eq!(passed("consistency"), [2]);
    assert_eq!(report["unchecked"][0]["seeds"], serde_json::json!([4, 6, 7, 8, 9]));

    // The checksums of one layer need no other layer. Its scores need all layers below.
    kalah(directory.path(), &["verify", "--seeds", "9"]).exits(0);
    kalah(directory.path(), &["verify", "--seeds", "9", "--consistency"]).exits(3).prints("layers 3, 5 are missing");
    // A requested layer that is missing cannot be checked.
    kalah(directory.path(), &["verify", "--seeds", "5"]).exits(1).prints("layers 3, 5 are missing");
    kalah(directory.path(), &["verify", "--pits", "3"]).exits(1).prints("there are no tables for empty-capture");
}

#[test]
fn a_layer_under_the_name_of_another_is_damage() {
    let directory = copied();
    std::fs::copy(table(directory.path(), 6), table(directory.path(), 7)).unwrap();
    for args in [&["verify"][..], &["verify", "--all"], &["verify", "--seeds", "7"], &["verify", "--consistency"]] {
        let ran = kalah(directory.path(), args).exits(3);
        ran.prints("empty-capture-6-07.kalah cannot be used: it holds").prints("6 seeds");
        kalah(directory.path(), &[args, &["--json"]].concat()).exits(3).json();
    }
    let report = kalah(directory.path(), &["verify", "--json"]).exits(3).json();
    assert_eq!((&report["faults"][0]["seeds"], &report["faults"][0]["check"]), (&7.into(), &"files".into()));
    assert_eq!(report["passed"].as_array().unwrap().len(), 7, "all others are checked");
}

#[test]
fn a_manifest_is_compared_with_scores_not_with_headers() {
    let directory = copied();
    let entries = manifest();
    let path = write_manifest(directory.path(), &entries);
    let compare = || kalah(directory.path(), &["verify", "--manifest", &path]);
    compare().exits(0).prints("manifest: ").prints("numbers of each score");
    // Lines of editors on Windows.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace('\n', "\r\n")).unwrap();
    compare().exits(0).prints("manifest: ");

    // The manifest has a wrong count of positions with a score.
    let mut other = entries.clone();
    let seven = other.iter_mut().find(|entry| entry["rules"] == "empty-capture" && entry["seeds"] == 7).unwrap();
    let (first, second) = (seven["scores"][3].clone(), seven["scores"][4].clone());
    assert_ne!(first, second);
    (seven["scores"][3], seven["scores"][4]) = (second, first);
    write_manifest(directory.path(), &other);
    compare().exits(3).prints("7 seeds: the number of positions with each score differs");

    // A flipped bit in a body, under the original header.
    write_manifest(directory.path(), &entries);
    flip(&table(directory.path(), 6));
    let ran = compare().exits(3).prints("empty-capture-6-06.kalah cannot be used");
    assert_eq!(ran.stdout().matches("WRONG").count(), 1);
}

#[test]
fn a_manifest_that_compares_nothing_fails() {
    let directory = copied();
    let entries = manifest();
    let path = directory.path().join("known.jsonl").into_os_string().into_string().unwrap();
    let compare = |more: &[&str]| kalah(directory.path(), &[&["verify", "--manifest", &path], more].concat());

    write_manifest(directory.path(), &[]);
    compare(&[]).exits(1).prints("nothing was compared");
    let of_others: Vec<Value> = entries.iter().filter(|entry| entry["pits"] == 2).cloned().collect();
    write_manifest(directory.path(), &of_others);
    compare(&[]).exits(1).prints("nothing was compared");
    let report = compare(&["--json"]).exits(1).json();
    assert_eq!((&report["ok"], report["passed"].as_array().unwrap().len()), (&false.into(), 0));
    // The manifest lists one of the two boards.
    compare(&["--all"]).exits(0).prints("not checked of empty-capture with 6 pits: the layers of 2 to 9 seeds");

    // A listed table is missing, and an existing one is not listed.
    let some: Vec<Value> = entries.iter().filter(|entry| entry["seeds"] != 4).cloned().collect();
    write_manifest(directory.path(), &some);
    std::fs::remove_file(table(directory.path(), 9)).unwrap();
    compare(&[]).exits(0).prints("not checked: the layer of 4 seeds, for which the manifest has no entry");

    // Entries that would never be compared.
    let unknown = [
        ("rules", Value::from("oware"), "line 3: unknown rules 'oware'"),
        ("pits", 9.into(), "line 3: there is no table"),
        ("seeds", 49.into(), "line 3: there is no table"),
    ];
    for (field, value, message) in unknown {
        let mut unknown = entries.clone();
        unknown[2][field] = value;
        write_manifest(directory.path(), &unknown);
        compare(&[]).exits(1).prints(message);
    }
    let mut twice = entries.clone();
    twice.push(entries[1].clone());
    write_manifest(directory.path(), &twice);
    compare(&[]).exits(0);
}

#[test]
fn the_damaged_layer_is_blamed_and_not_the_one_above_that_is_computed_from_it() {
    let directory = copied();
    flip(&table(directory.path(), 6));
    let report = kalah(directory.path(), &["verify", "--seeds", "8", "--against", "cpu", "--json"]).exits(3).json();
    assert_eq!(report["faults"][0]["seeds"], 6, "{report}");
    assert!(report["faults"][0]["message"].as_str().unwrap().contains("empty-capture-6-06.kalah"), "{report}");
    // All layers are requested. Those above the missing one are left out.
    let ran = kalah(directory.path(), &["verify", "--against", "cpu"])
        .exits(3)
        .prints("empty-capture-6-06.kalah cannot be used");
    ran.prints("against the CPU: not checked: the layers of 7 to 9 seeds").does_not_print("empty-capture-6-07.kalah");
}

#[test]
fn all_boards_are_checked_in_one_run() {
    let directory = copied();
    for name in ["notes.txt", "empty-capture-6-10.kalah.partial", "empty-capture-6-1.txt", "a\u{1b}[31m"] {
        std::fs::write(directory.path().join(name), "no table").unwrap();
    }
    let path = write_manifest(directory.path(), &manifest());
    let all = ["verify", "--all", "--checksums", "--consistency", "--manifest", &path];
    kalah(directory.path(), &all).exits(0).prints("13 layers of 2 boards");
    let report = kalah(directory.path(), &[&all[..], &["--json"]].concat()).exits(0).json();
    let boards = report["boards"].as_array().unwrap();
    let passed = |board: &Value| board["passed"].as_array().unwrap().len();
    assert_eq!((boards.len(), passed(&boards[0]), passed(&boards[1])), (2, 3 * 8, 3 * 5));
    assert_eq!(report["ok"], true);

    // A fault of one board does not hide those of others.
    let standard = |seeds| directory.path().join(format!("standard-2-0{seeds}.kalah"));
    flip(&standard(4));
    flip(&table(directory.path(), 9));
    std::fs::remove_file(standard(2)).unwrap();
    let ran = kalah(directory.path(), &["verify", "--all"]).exits(3).prints("standard-2-04.kalah");
    ran.prints("empty-capture-6-09.kalah")
        .prints("standard with 2 pits and 6 seeds exists, but below it layer 2 is missing");

    let empty = tempfile::tempdir().unwrap();
    kalah(empty.path(), &["verify", "--all"]).exits(1).prints("nothing was checked");
    kalah(&empty.path().join("none"), &["verify", "--all"]).exits(1).prints("there is no directory");
    kalah(directory.path(), &["verify", "--all", "--pits", "6"]).exits(2);
    kalah(directory.path(), &["verify", "--all", "--seeds", "6"]).exits(2);
}

/// Commands that read the layer of 7 seeds on 6 pits, or need it for a build.
const READERS: [&[&str]; 15] = [
    &["verify"],
    &["verify", "--all"],
    &["verify", "--seeds", "7"],
    &["info"],
    &["export", "--seeds", "7"],
    &["probe", "1,1,1,1,0,0/1,1,1,0,0,0"],
    &["solve", "6x1"],
    &["review", "6x1", "6"],
    &["move", "6x1"],
    &["play", "6x1"],
    &["tournament", "--start", "6x1", "perfect", "random:1"],
    &["analyse", "values", "--pits", "6", "--seeds-per-pit", "1"],
    &["archive", "pack"],
    &["bench", "--seeds", "9", "--backend", "cpu"],
    &["build", "--seeds", "10", "--backend", "cpu"],
];

#[test]
fn a_damaged_table_exits_with_3_and_one_that_cannot_be_read_with_1() {
    type Spoil = fn(&Path);
    let damages: [Spoil; 3] = [
        |path| std::fs::write(path, &std::fs::read(path).unwrap()[..1000]).unwrap(),
        |path| {
            let mut bytes = std::fs::read(path).unwrap();
            bytes[20] ^= 1;
            std::fs::write(path, bytes).unwrap();
        },
        |path| {
            std::fs::copy(path.with_file_name("empty-capture-6-06.kalah"), path).unwrap();
        },
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        for args in READERS {
            // `info` shows the contents of a file, whatever its name.
            if number == 2 && args[0] == "info" {
                continue;
            }
            let directory = copied();
            damage(&table(directory.path(), 7));
            kalah(directory.path(), args).exits(3).prints("empty-capture-6-07.kalah cannot be used");
        }
    }
    #[cfg(unix)]
    {
        let unreadable: [(Spoil, &str); 2] = [
            (|path| std::fs::create_dir(path).unwrap(), "it is a directory"),
            (|path| std::os::unix::fs::symlink(path, path).unwrap(), "symbolic links"),
        ];
        for (make, reason) in unreadable {
            for args in READERS {
                let directory = copied();
                std::fs::remove_file(table(directory.path(), 7)).unwrap();
                make(&table(directory.path(), 7));
                kalah(directory.path(), args).exits(1).prints("empty-capture-6-07.kalah").prints(reason);
            }
        }
    }
}

#[test]
fn a_damaged_archive_exits_with_3_and_a_damaged_piece_is_reported_and_computed_again() {
    let directory = copied();
    let packed = directory.path().join("packed");
    kalah(directory.path(), &["archive", "pack", "--seeds", "8", "--output", packed.to_str().unwrap()]).exits(0);
    let archive = packed.join("empty-capture-6-08.kalah.archive");
    flip(&archive);
    std::fs::remove_file(table(directory.path(), 8)).unwrap();
    kalah(directory.path(), &["archive", "unpack", archive.to_str().unwrap()])
        .exits(3)
        .prints("download it or pack the table again");
    kalah(directory.path(), &["archive", "unpack", packed.to_str().unwrap()]).exits(1).prints("it is a directory");
    kalah(directory.path(), &["archive", "unpack", packed.join("none").to_str().unwrap()]).exits(1);
}

#[cfg(unix)]
fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_named_pipe_in_the_place_of_a_file_makes_nothing_wait() {
    for args in READERS {
        let directory = copied();
        std::fs::remove_file(table(directory.path(), 7)).unwrap();
        make_pipe(&table(directory.path(), 7));
        kalah(directory.path(), args).exits(1).prints("empty-capture-6-07.kalah: it is not a regular file");
    }
    let directory = copied();
    let pipe = directory.path().join("pipe");
    make_pipe(&pipe);
    let pipe = pipe.to_str().unwrap();
    for args in [
        &["archive", "unpack", pipe][..],
        &["verify", "--manifest", pipe],
        &["solve", "4x2", "--state", pipe],
        &["analyse", "values", "--pits", "2", "--seeds-per-pit", "2", "--state", pipe],
    ] {
        kalah(directory.path(), args).exits(1).prints("it is not a regular file");
    }
    // Files that a build writes, or that other programs left.
    for (name, more) in [
        ("empty-capture-6-10.kalah.partial", &[][..]),
        ("build.lock", &[]),
        ("empty-capture-6-10.03.piece", &["--share"]),
    ] {
        let directory = copied();
        make_pipe(&directory.path().join(name));
        let ran = kalah(directory.path(), &[&["build", "--seeds", "10", "--backend", "cpu"], more].concat()).exits(1);
        ran.prints(name).prints("it is not a regular file");
    }
    for (name, args) in
        [("builds.jsonl", &["build", "--seeds", "10", "--backend", "cpu"][..]), ("builds.jsonl", &["info"])]
    {
        let directory = copied();
        make_pipe(&directory.path().join(name));
        kalah(directory.path(), args).exits(0);
    }
    // Positions may come from a pipe.
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(format!("echo 6x1 > {pipe} & exec {} probe < {pipe}", program()));
    command.env("KALAH_TABLES", copied().path()).run().exits(1).prints("12 seeds in play");
}

fn program() -> String {
    program::path().into_os_string().into_string().unwrap()
}

/// Waits until a process has mapped a file.
#[cfg(target_os = "linux")]
fn wait_for_map(child: &mut std::process::Child, path: &Path) {
    let name = path.file_name().unwrap().to_str().unwrap();
    loop {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap_or_default();
        if maps.contains(name) {
            return;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before it read {name}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_truncated_under_a_search_ends_it_with_a_line() {
    let directory = copied();
    let mut command = std::process::Command::new(program());
    command.args(["solve", "6x6", "--no-book", "--transpositions", "16MiB"]).env("KALAH_TABLES", directory.path());
    let mut child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    // The last table that is opened.
    wait_for_map(&mut child, &table(directory.path(), 9));
    for seeds in 2..=9 {
        std::fs::OpenOptions::new().write(true).open(table(directory.path(), seeds)).unwrap().set_len(0).unwrap();
    }
    let ran = child.wait_with_output().unwrap().exits(3);
    ran.prints("became shorter while it was in use").prints("`kalah verify`");
}

/// Runs the program through a shell that sets limits first.
#[cfg(unix)]
fn limited(limits: &str, tables: &Path, args: &str) -> Output {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -c 0; {limits}; exec {} {args}", program()));
    command.env("KALAH_TABLES", tables).env_remove("RUST_BACKTRACE").run_within(PATIENCE, "")
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
            let directory = copied();
            let ran = limited(&format!("ulimit -v {}", mebibytes * 1024), directory.path(), args);
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
    let directory = tempfile::tempdir().unwrap();
    let ran = limited(limit, directory.path(), "build --seeds 8 --backend cpu").exits(1);
    ran.prints("empty-capture-6-07.kalah.partial: File too large").prints("raise the limit").prints("ulimit -f");
    assert!(table(directory.path(), 6).exists());
    let ran = kalah(directory.path(), &["build", "--seeds", "8", "--backend", "cpu"]).exits(0);
    ran.prints("frames kept from an earlier run");
    assert_eq!(std::fs::read(table(directory.path(), 8)).unwrap(), std::fs::read(table(TABLES.path(), 8)).unwrap());

    let directory = copied();
    std::fs::remove_file(table(directory.path(), 9)).unwrap();
    let ran = limited(limit, directory.path(), "build --seeds 9 --share --backend cpu").exits(1);
    ran.prints("raise the limit");
    let left = |end: &str| {
        let files = std::fs::read_dir(directory.path()).unwrap();
        files.filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().ends_with(end)).count()
    };
    assert_eq!((left(".tmp"), left(".piece")), (0, 0));

    // Nothing is left of an incomplete archive or table.
    let ran = limited("ulimit -f 1", directory.path(), "archive pack --seeds 8").exits(1);
    ran.prints("File too large");
    assert_eq!(left(".archive") + left(".archive.partial"), 0);
    kalah(directory.path(), &["archive", "pack", "--seeds", "8"]).exits(0);
    let archive = directory.path().join("empty-capture-6-08.kalah.archive");
    std::fs::remove_file(table(directory.path(), 8)).unwrap();
    let ran = limited(limit, directory.path(), &format!("archive unpack {}", archive.display())).exits(1);
    ran.prints("File too large");
    assert_eq!(left(".tmp") + left("-08.kalah"), 0);
    kalah(directory.path(), &["archive", "unpack", archive.to_str().unwrap()]).exits(0);
    assert_eq!(std::fs::read(table(directory.path(), 8)).unwrap(), std::fs::read(table(TABLES.path(), 8)).unwrap());
}

/// Replaces a layer of 6 pits by one with a wrong score and correct checksums.
fn write_wrong(directory: &Path, seeds: usize) {
    let key = TableKey { rules: Rules::EmptyCapture, pits: 6, seeds };
    let table = Table::open_key(directory, key).unwrap();
    std::fs::remove_file(key.path(directory)).unwrap();
    let mut writer = TableWriter::open(directory, key).unwrap();
    for frame in key.frames() {
        let score = |index| {
            let (mover, other) = frame.ranks(index);
            table.score(frame.mover, mover, other).unwrap()
        };
        let mut scores: Vec<u8> = (0..frame.positions()).map(score).collect();
        if frame.mover == 2 {
            scores[100] ^= 1;
        }
        writer.write(&PackedFrame::pack(Isa::detect(), frame, &scores)).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn layers_below_a_wrong_one_pass_and_those_above_are_not_checked() {
    let directory = copied();
    let path = directory.path();
    let flags = ["verify", "--consistency", "--json"];
    write_wrong(path, 6);
    let report = kalah(path, &flags).exits(3).json();
    assert_eq!((&report["faults"][0]["seeds"], report["passed"].as_array().unwrap().len()), (&6.into(), 4));
    std::fs::copy(table(TABLES.path(), 6), table(path, 6)).unwrap();
    let ran = kalah(path, &flags[..2]).exits(0);
    ran.prints("283,921 positions are the minimax").prints("36 frames of 8 layers");
}

#[cfg(unix)]
#[test]
fn an_interrupted_check_exits_with_130_and_names_what_is_left() {
    let directory = tempfile::tempdir().unwrap();
    // Rules with relays are checked position by position: one thread takes some ten seconds.
    kalah(directory.path(), &["build", "--seeds", "16", "--rules", "s-kalaha"]).exits(0);
    let mut command = program::command();
    command.args(["verify", "--consistency", "--rules", "s-kalaha", "--threads", "1"]);
    command.env("KALAH_TABLES", directory.path());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let running = heard(&mut command).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&running);
    running.wait_with_output().unwrap().exits(130).prints("because the run was stopped");
}
