//! Files that a run keeps for the next one: checkpoints and values. They are written completely, by one
//! process at a time, and used only if they have no fault.
#![cfg(feature = "cli")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kalah::analyse::{GameValue, GameValues};
use kalah::file::{LockError, StateError};
use kalah::game::{Bounds, Line, Position, Rules};
use kalah::solve::{Checkpoint, SolveError, Solver, SolverOptions};
use kalah::table::Tables;
use serde_json::{Value, json};

fn solver<'a>(rules: Rules, position: &Position, tables: Option<&'a Tables>) -> Solver<'a> {
    let options = SolverOptions::new(rules, position).tables(tables).transpositions(1 << 20);
    Solver::new(options).unwrap()
}

fn kalah(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kalah"));
    // The test directory has no tables.
    command
        .env("KALAH_TABLES", concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = kalah(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// A process that is killed when dropped, at the latest.
struct Killed(Child);

impl Killed {
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.kill();
    }
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no {what} within a minute");
}

fn files(directory: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = std::fs::read_dir(directory).unwrap().map(name).collect();
    names.sort();
    names
}

/// The first line of a file, and the rest.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1)
}

#[test]
fn who_reads_while_two_threads_save_finds_whole_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("search");
    let checkpoint = Checkpoint::open(&path).unwrap();
    let position = "4x2".parse().unwrap();
    let solver = solver(Rules::EmptyCapture, &position, None);
    solver.solve(&position, 0).unwrap();
    let save = || checkpoint.save(&solver, &position).unwrap();
    save();
    let whole = std::fs::read(&path).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers = [0, 1].map(|_| scope.spawn(|| (0..40).for_each(|_| save())));
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert_eq!(std::fs::read(&path).unwrap(), whole);
            }
        });
        let saved = writers.map(|writer| writer.join());
        done.store(true, Ordering::Relaxed);
        assert!(saved.iter().all(Result::is_ok));
    });
    drop(checkpoint);
    assert_eq!(files(directory.path()), ["search"]);
}

#[test]
fn a_file_is_open_in_one_place_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kept");
    let holder = format!("process {}", std::process::id());
    let is_held = |error: &LockError| {
        let LockError::Held { path: held, holder: by } = error else { return false };
        *held == path && by.starts_with(&holder)
    };
    for round in 0..2 {
        let checkpoint = Checkpoint::open(&path).unwrap();
        assert!(matches!(Checkpoint::open(&path), Err(StateError::Lock(error)) if is_held(&error)));
        // Each kind of file reports the lock.
        assert!(
            matches!(GameValues::open(Rules::Standard, Some(&path)), Err(StateError::Lock(error)) if is_held(&error))
        );
        // The file can have any name.
        #[cfg(unix)]
        if round == 1 {
            std::fs::write(&path, "").unwrap();
            let link = directory.path().join("link");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            assert!(matches!(Checkpoint::open(&link), Err(StateError::Lock(error)) if is_held(&error)));
        }
        assert!(files(directory.path()).contains(&"kept.lock".to_owned()));
        drop(checkpoint);
        assert!(!files(directory.path()).contains(&"kept.lock".to_owned()), "round {round}");
    }
}

#[test]
fn a_lock_is_never_held_twice_however_often_it_changes_hands() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kept");
    let (holders, taken) = (Mutex::new(()), std::sync::atomic::AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while taken.load(Ordering::Relaxed) < 400 {
                    match Checkpoint::open(&path) {
                        Ok(_checkpoint) => {
                            let _alone = holders.try_lock().expect("there is one holder");
                            taken.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(StateError::Lock(LockError::Held { .. })) => std::thread::yield_now(),
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
}

#[test]
fn a_second_process_is_refused_with_the_holder_of_the_file_and_a_killed_one_holds_none() {
    let directory = tempfile::tempdir().unwrap();
    for command in ["solve", "values"] {
        let path = directory.path().join(command);
        let file = path.to_str().unwrap();
        let (long, short) = match command {
            "solve" => (
                vec!["6x6", "--no-tables", "--memory", "16MiB", "--state", file],
                vec!["6x6", "--no-tables", "--memory", "16MiB", "--state", file, "--at-least=-72"],
            ),
            _ => (
                vec!["--no-tables", "--memory", "16MiB", "--pits", "6", "--seeds-per-pit", "6", "--state", file],
                vec!["--no-tables", "--memory", "16MiB", "--pits", "1..2", "--seeds-per-pit", "1..3", "--state", file],
            ),
        };
        let command_words: &[&str] = if command == "solve" { &["solve"] } else { &["analyse", command] };
        let [long, short] = [long, short].map(|arguments| [command_words, &arguments[..]].concat());
        let mut first = Killed(kalah(&long).spawn().unwrap());
        let lock = directory.path().join(format!("{command}.lock"));
        // The process writes its name into the lock once it holds it.
        wait_for("lock", || std::fs::read(&lock).is_ok_and(|text| text.ends_with(b")\n")));
        for _ in 0..3 {
            let (code, out, err) = run(&short);
            let holder = format!("is in use by process {} (", first.0.id());
            assert!(code == 1 && out.is_empty() && err.contains(&holder) && err.contains(command), "{code} {out}{err}");
        }
        first.kill();
        let (code, out, err) = run(&short);
        assert!(code == 0 && !out.is_empty(), "{command}: {code} {out}{err}");
        assert!(!lock.exists(), "{command}");
    }
}

#[test]
fn values_of_runs_at_the_same_time_are_all_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("values");
    let run = |pits: &'static str| {
        let path = path.clone();
        std::thread::spawn(move || {
            let flags = [
                "analyse",
                "values",
                "--no-tables",
                "--pits",
                pits,
                "--seeds-per-pit",
                "1..3",
                "--state",
                path.to_str().unwrap(),
            ];
            // The second process is refused, and tries again.
            loop {
                let output = kalah(&flags).output().unwrap();
                match output.status.code() {
                    Some(0) => return,
                    Some(1) => assert!(String::from_utf8_lossy(&output.stderr).contains("is in use by"), "{output:?}"),
                    _ => panic!("{output:?}"),
                }
            }
        })
    };
    for run in ["1", "2", "3", "4"].map(run) {
        run.join().unwrap();
    }
    // A line for each, and one that identifies the work.
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 13);
}

#[test]
fn what_killed_processes_left_is_removed_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let left = ["search.kalah-0123456789ab.tmp", "search.kalah-ffffffffffff.tmp"];
    let others = [
        "a.search.kalah-0123456789ab.tmp",
        "search.backup.tmp",
        "search.kalah-0123456789ab.tmp.b",
        "search.kalah-01234567-9ab.tmp",
        "search.kalah-0123456789ab",
        "search.note.tmp",
        "search.tmp",
    ];
    left.iter().chain(&others).for_each(|name| std::fs::write(at(name), "x").unwrap());
    drop(Checkpoint::open(at("search")).unwrap());
    let mut expected = others.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(files(directory.path()), expected);
    std::fs::write(at(left[0]), "x").unwrap();
    drop(GameValues::open(Rules::Standard, Some(&at("search"))).unwrap());
    expected.push("search".to_owned());
    expected.sort();
    assert_eq!(files(directory.path()), expected);
}

#[test]
fn an_archive_under_way_that_was_left_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path().to_str().unwrap();
    assert_eq!(run(&["build", "--backend", "cpu", "--pits", "2", "--seeds", "4", "--tables", tables]).0, 0);
    let left = directory.path().join("empty-capture-2-04.kalah.archive.kalah-0123456789ab.tmp");
    std::fs::write(&left, "x").unwrap();
    let (code, _, err) = run(&["archive", "pack", "--pits", "2", "--tables", tables]);
    assert!(code == 0 && !left.exists(), "{code} {err}");
}

#[test]
fn a_search_killed_at_any_time_ends_with_the_same_answer() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("search");
    let flags = ["solve", "4x5", "--no-tables", "--threads", "2", "--memory", "16MiB", "--json"];
    let saving = ["--state", path.to_str().unwrap(), "--save-every", "0.00001"];
    let answer = |arguments: &[&str]| {
        let (code, out, err) = run(arguments);
        assert_eq!(code, 0, "{out}{err}");
        let answer: Value = serde_json::from_str(&out).unwrap();
        ["value", "best"].map(|name| answer[name].clone())
    };
    let right = answer(&flags);
    for round in 0..12 {
        let mut search = Killed(kalah(&[&flags[..], &saving].concat()).spawn().unwrap());
        std::thread::sleep(Duration::from_millis(10 + 37 * round));
        search.kill();
    }
    assert_eq!(answer(&[&flags[..], &saving].concat()), right);
    let names = files(directory.path());
    assert_eq!(names, ["search"]);
}

#[test]
fn values_killed_at_any_time_end_with_the_same_values() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("values");
    let flags = [
        "analyse",
        "values",
        "--no-tables",
        "--memory",
        "16MiB",
        "--pits",
        "2..4",
        "--seeds-per-pit",
        "2..4",
        "--json",
    ];
    let saving = [&flags[..], &["--state", path.to_str().unwrap()]].concat();
    let values = |arguments: &[&str]| {
        let (code, out, err) = run(arguments);
        assert_eq!(code, 0, "{out}{err}");
        let report: Value = serde_json::from_str(&out).unwrap();
        let fields = |value: &Value| ["pits", "seeds", "value"].map(|name| value[name].as_i64().unwrap());
        report["values"].as_array().unwrap().iter().map(fields).collect::<Vec<_>>()
    };
    let right = values(&flags);
    for round in 0..12 {
        let mut search = Killed(kalah(&saving).spawn().unwrap());
        std::thread::sleep(Duration::from_millis(10 + 17 * round));
        search.kill();
    }
    assert_eq!(values(&saving), right);
    assert_eq!(files(directory.path()), ["values"]);
}

#[test]
fn an_edited_bound_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("search");
    let flags = ["solve", "4x2", "--no-tables", "--state", path.to_str().unwrap()];
    let (code, out, _) = run(&flags);
    assert!(code == 0 && out.contains("value  +6"), "{out}");
    let saved = std::fs::read(&path).unwrap();
    let (line, table) = split(&saved);
    let edited = String::from_utf8(line.to_vec()).unwrap().replace("empty-capture", "standard");
    std::fs::write(&path, [edited.as_bytes(), table].concat()).unwrap();
    for more in [&["--value-only"][..], &["--at-least", "2"], &[]] {
        let (code, out, err) = run(&[&flags[..], more].concat());
        assert!(code == 3 && out.is_empty() && err.contains("its checksum is wrong"), "{code} {out}{err}");
    }
}

#[test]
fn a_table_of_another_search_is_refused_even_with_the_right_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("search");
    let checkpoint = Checkpoint::open(&path).unwrap();
    let saved = |rules, position: &Position| {
        let solver = solver(rules, position, None);
        solver.solve(position, 0).unwrap();
        checkpoint.save(&solver, position).unwrap();
        std::fs::read(&path).unwrap()
    };
    // All of the same board, so that the tables differ in nothing but their bounds.
    let (start, other) = ("4x2".parse().unwrap(), "<4,0,0,2,2,2,3,2,2,2,1>".parse().unwrap());
    let works = [(Rules::EmptyCapture, start), (Rules::Standard, start), (Rules::Standard, other)];
    for (number, (rules, position)) in works.into_iter().enumerate() {
        let own = saved(rules, &position);
        for (of, (rules_of, position_of)) in works.iter().enumerate() {
            let theirs = saved(*rules_of, position_of);
            std::fs::write(&path, [split(&own).0, split(&theirs).1].concat()).unwrap();
            match checkpoint.load(&mut solver(rules, &position, None), &position) {
                Ok(loaded) => assert!(of == number && loaded > Some(0), "{of} for {number}"),
                Err(StateError::Damaged { what, .. }) => assert!(of != number && what.contains("another search")),
                Err(error) => panic!("{of} for {number}: {error}"),
            }
        }
    }
}

#[test]
fn results_of_tests_are_saved_even_when_the_transposition_table_has_lost_them() {
    let directory = tempfile::tempdir().unwrap();
    let checkpoint = Checkpoint::open(directory.path().join("search")).unwrap();
    let (rules, position): (_, Position) = (Rules::EmptyCapture, "4x3".parse().unwrap());
    let small = || Solver::new(SolverOptions::new(rules, &position).transpositions(1 << 10)).unwrap();
    let tested = Mutex::new(std::collections::BTreeSet::new());
    let solver = small().with_events(|_, event| {
        if let kalah::solve::SolveEvent::Proved { position, .. } = event {
            tested.lock().unwrap().insert(position.to_string());
        }
    });
    let value = solver.value(&position, 0).unwrap().0;
    solver.best_moves(&position, value).unwrap();
    // Searches of other positions fill the table.
    for pit in position.moves() {
        solver.value(&position.play(rules, pit).unwrap().position, 0).unwrap();
    }
    checkpoint.save(&solver, &position).unwrap();
    let mut resumed = small();
    checkpoint.load(&mut resumed, &position).unwrap();
    let tested = tested.lock().unwrap();
    assert!(tested.len() > 3, "{tested:?}");
    for position in tested.iter().map(|text| text.parse().unwrap()) {
        assert_eq!(resumed.known(&position).unwrap(), solver.known(&position).unwrap(), "{position}");
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused_before_tables_are_built() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("search");
    let (code, _, err) = run(&["solve", "4x2", "--no-tables", "--state", path.to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    let tables = directory.path().join("tables");
    let other = |position, rules| {
        let flags = ["--build", "--tables", tables.to_str().unwrap(), "--state", path.to_str().unwrap()];
        run(&[&["solve", position, "--rules", rules][..], &flags].concat())
    };
    for (position, rules) in [("3x3", "empty-capture"), ("4x2", "standard")] {
        let (code, out, err) = other(position, rules);
        assert!(code == 1 && out.is_empty() && err.contains("belongs to"), "{code} {out}{err}");
    }
    std::fs::write(&path, "no checkpoint").unwrap();
    let (code, out, err) = other("4x2", "empty-capture");
    assert!(code == 3 && out.is_empty() && err.contains("cannot be used"), "{code} {out}{err}");
    assert!(!tables.exists());
}

#[test]
fn files_of_another_version_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("search");
    for (command, format) in [
        (&["solve", "4x2", "--no-tables"][..], "kalah solve checkpoint"),
        (&["analyse", "values", "--no-tables"], "kalah game values"),
    ] {
        std::fs::write(&path, format!("{}\n", json!({ "format": format, "version": 2 }))).unwrap();
        let (code, _, err) = run(&[command, &["--state", path.to_str().unwrap()]].concat());
        assert!(code == 1 && err.contains("its format has version 2, this program reads version"), "{err}");
    }
}

#[test]
fn proofs_that_exclude_each_other_are_an_error() {
    let position: Position = "4x2".parse().unwrap();
    let contradicts = |result: Result<(), SolveError>| {
        assert!(matches!(result, Err(SolveError::Contradiction(of)) if *of == position), "4x2");
    };
    // Kalah(4,2) is worth 11 of 16 seeds.
    let new = || solver(Rules::EmptyCapture, &position, None);
    for (first, second) in [((11, 11), (12, 16)), ((11, 16), (0, 10)), ((0, 3), (4, 16))] {
        let [first, second] = [first, second].map(|(lower, upper)| Bounds { lower, upper });
        let solver = new();
        solver.add_proof(&position, first).unwrap();
        contradicts(solver.add_proof(&position, second));
        // No bound of the second proof was kept.
        assert_eq!(solver.known(&position).unwrap(), first);
    }
    // A line for a score that no move keeps, or that is already proved wrong.
    let solver = new();
    solver.solve(&position, 0).unwrap();
    let is_refused = |line: Result<Line, SolveError>| matches!(line, Err(SolveError::Contradiction(_)));
    assert!([12, 16, 17, u32::MAX].into_iter().all(|score| is_refused(new().line(&position, score))));
    assert!([0, 10, 12, 16, u32::MAX].into_iter().all(|score| is_refused(solver.line(&position, score))));
    // A search that proves the opposite of a saved bound.
    contradicts(solver.add_proof(&position, Bounds { lower: 12, upper: 16 }));

    let directory = tempfile::tempdir().unwrap();
    let tables_at = tempfile::tempdir().unwrap();
    let state = directory.path().join("values");
    let flags = [
        "analyse",
        "values",
        "--pits",
        "3",
        "--seeds-per-pit",
        "3",
        "--tables",
        tables_at.path().to_str().unwrap(),
        "--state",
    ];
    let mut values = GameValues::open(Rules::EmptyCapture, Some(&state)).unwrap();
    let (at_least, at_most) = (10, 18);
    values.put(GameValue { pits: 3, seeds: 3, at_least, at_most, nodes: 7, seconds: 0.5 }).unwrap();
    drop(values);
    let (code, out, err) = run(&[&flags[..], &[state.to_str().unwrap()]].concat());
    assert!(code == 3 && out.is_empty() && err.contains("contradict each other"), "{code} {out}{err}");
}

#[test]
fn values_that_cannot_be_are_refused_even_with_a_checksum() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("values");
    let right = GameValue { pits: 2, seeds: 3, at_least: -2, at_most: 4, nodes: 9, seconds: 1.5 };
    let open = || GameValues::open(Rules::Standard, Some(&path));
    for (wrong, is_right) in [
        (right, true),
        (GameValue { at_least: 6, ..right }, false),
        (GameValue { at_most: 5, ..right }, false),
        (GameValue { at_most: 14, ..right }, false),
        (GameValue { at_least: i64::MIN, ..right }, false),
        (GameValue { pits: 0, ..right }, false),
        (GameValue { pits: 17, ..right }, false),
        (GameValue { seeds: u32::MAX, ..right }, false),
        (GameValue { seconds: -1.0, ..right }, false),
    ] {
        std::fs::remove_file(&path).ok();
        open().unwrap().put(wrong).unwrap();
        let found = open().map(|values| values.get(wrong.start()).copied());
        assert!(if is_right { found.unwrap() == Some(right) } else { found.is_err() }, "{wrong:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.to_str().unwrap();
    for command in
        [&["solve", "2x2", "--no-tables", "--state", pipe][..], &["analyse", "values", "--no-tables", "--state", pipe]]
    {
        let (code, out, err) = run(command);
        assert!(code == 1 && out.is_empty() && err.contains("not a regular file"), "{code} {out}{err}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf_8_are_names() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(std::ffi::OsStr::from_bytes(b"d\xff"));
    let build = ["build", "--backend", "cpu", "--pits", "2", "--seeds", "4", "--tables"];
    assert!(kalah(&build).arg(&path).status().unwrap().success());
    for file in ["search", "values"] {
        let path = path.join(std::ffi::OsStr::from_bytes(&[file.as_bytes(), b"\xfe"].concat()));
        let command = match file {
            "search" => kalah(&["solve", "2x3", "--no-tables", "--state"]).arg(path).status(),
            _ => kalah(&["analyse", "values", "--no-tables", "--pits", "2", "--seeds-per-pit", "2", "--state"])
                .arg(path)
                .status(),
        };
        assert!(command.unwrap().success(), "{file}");
    }
}

/// Peak memory of a process in bytes, according to `/proc`.
#[cfg(target_os = "linux")]
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

/// Makes a saved transposition table of 6x5 (`empty-capture`) with this many entries, all in use, with the bounds 0 and
/// 60.
#[cfg(target_os = "linux")]
fn full_table(line: &[u8], entries: usize) -> Vec<u8> {
    use std::io::Write;
    // 72 choose 12 keys, 8 entries a bucket.
    let (key_bits, bucket_bits) = (44, (entries / 8).ilog2());
    let mut random = fastrand::Rng::with_seed(5);
    let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
    packed.write_all(line).unwrap();
    packed.write_all(&[8, key_bits, bucket_bits as u8]).unwrap();
    for _ in 0..entries {
        let rest = random.u64(..1 << (u32::from(key_bits) - bucket_bits));
        packed.write_all(&(rest << 20 | 60 << 13 | 5).to_le_bytes()).unwrap();
    }
    packed.finish().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_search_is_taken_up_in_the_memory_that_it_had() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("search");
    let position: Position = "6x5".parse().unwrap();
    Checkpoint::open(&path).unwrap().save(&solver(Rules::EmptyCapture, &position, None), &position).unwrap();
    let megabytes = 1 << 20;
    let (saved, entries) = (128 * megabytes, 128 * megabytes as usize / 8);
    let bytes = std::fs::read(&path).unwrap();
    let line = split(&bytes).0;
    std::fs::write(&path, [line, &full_table(line, entries)].concat()).unwrap();
    // With the memory it was saved with, and with less, so that entries are replaced.
    for memory in [saved, saved / 4] {
        let bytes = memory.to_string();
        let flags = ["solve", "6x5", "--no-tables", "--threads", "1", "--memory", &bytes, "--state"];
        let mut search = Killed(kalah(&flags).arg(&path).spawn().unwrap());
        let err = BufReader::new(search.0.stderr.take().unwrap());
        let resumed = err.lines().map(Result::unwrap).find(|line| line.starts_with("resumed: "));
        assert_eq!(resumed.as_deref(), Some("resumed: 16,777,216 transpositions"));
        let (peak, most) = (peak(search.0.id()), memory + memory / 4 + 48 * megabytes);
        println!("{} MiB of {memory} bytes", peak >> 20);
        assert!(peak < most, "{peak} bytes to load a table into {memory}");
    }
}
