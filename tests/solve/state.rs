//! Files that a run keeps for the next one: checkpoints and values. They are written completely, by one
//! process at a time, and used only if they have no fault.
#![cfg(feature = "cli")]

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use kalah::analyse::{GameValue, GameValues};
use kalah::file::{LockError, StateError};
use kalah::game::{Bounds, Line, Position, Rules};
use kalah::solve::{Checkpoint, SolveError, SolveEvent, Solver, SolverOptions};
use serde_json::json;

use kalah_tests::place::Place;
use kalah_tests::program::{Ran, Run, within_a_minute};

fn solver(rules: Rules, position: &Position) -> Solver<'static> {
    Solver::new(SolverOptions::new(rules, position).transpositions(1 << 20)).unwrap()
}

/// A process that is killed when dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The first line of a file, and the rest.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1)
}

#[test]
fn who_reads_while_two_threads_save_finds_whole_files() {
    let place = Place::empty();
    let checkpoint = Checkpoint::open(place.at("search")).unwrap();
    let position = "4x2".parse().unwrap();
    let solver = solver(Rules::EmptyCapture, &position);
    solver.solve(&position, 0).unwrap();
    let save = || checkpoint.save(&solver, &position).unwrap();
    save();
    let whole = place.read("search");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers = [0, 1].map(|_| scope.spawn(|| (0..40).for_each(|_| save())));
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert_eq!(place.read("search"), whole);
            }
        });
        let saved = writers.map(|writer| writer.join());
        done.store(true, Ordering::Relaxed);
        assert!(saved.iter().all(Result::is_ok));
    });
    drop(checkpoint);
    assert_eq!(place.names(), ["search"]);
}

#[test]
fn a_file_is_open_in_one_place_at_a_time() {
    let place = Place::empty();
    let path = place.at("kept");
    let holder = format!("process {}", std::process::id());
    let is_held = |error: StateError| {
        let StateError::Lock(LockError::Held { path: held, holder: by }) = error else { return false };
        held == path && by.starts_with(&holder)
    };
    for round in 0..2 {
        let checkpoint = Checkpoint::open(&path).unwrap();
        assert!(Checkpoint::open(&path).is_err_and(is_held));
        // Each kind of file reports the lock.
        assert!(GameValues::open(Rules::Standard, Some(&path)).is_err_and(is_held));
        // The file can have any name.
        #[cfg(unix)]
        if round == 1 {
            std::fs::write(&path, "").unwrap();
            std::os::unix::fs::symlink(&path, place.at("link")).unwrap();
            assert!(Checkpoint::open(place.at("link")).is_err_and(is_held));
        }
        assert!(place.at("kept.lock").exists());
        drop(checkpoint);
        assert!(!place.at("kept.lock").exists(), "round {round}");
    }
}

#[test]
fn a_lock_is_never_held_twice_however_often_it_changes_hands() {
    let place = Place::empty();
    let (holders, taken) = (Mutex::new(()), AtomicU32::new(0));
    let take = || {
        while taken.load(Ordering::Relaxed) < 400 {
            match Checkpoint::open(place.at("kept")) {
                Ok(_checkpoint) => {
                    let _alone = holders.try_lock().expect("there is one holder");
                    taken.fetch_add(1, Ordering::Relaxed);
                }
                Err(StateError::Lock(LockError::Held { .. })) => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(take))));
}

#[test]
fn a_second_process_is_refused_with_the_holder_of_the_file_and_a_killed_one_holds_none() {
    let place = Place::empty();
    for (state, long, short) in [
        ("kept-proofs", "solve 6x6", "solve 6x6 --at-least=-72"),
        ("values", "analyse values --pits 6 --seeds-per-pit 6", "analyse values --pits 1..2 --seeds-per-pit 1..3"),
    ] {
        let [long, short] = [long, short].map(|line| format!("{line} --no-tables --memory 16MiB --state {state}"));
        let mut first = Killed(place.command(&long).spawn().unwrap());
        let lock = place.at(&format!("{state}.lock"));
        // The process writes its name into the lock once it holds it.
        within_a_minute("there has been no lock", || {
            assert_eq!(first.0.try_wait().unwrap(), None);
            std::fs::read(&lock).is_ok_and(|text| text.ends_with(b")\n")).then_some(())
        });
        let holder = format!("is in use by process {} (", first.0.id());
        for _ in 0..3 {
            place.run(&short).fails(1, &holder).prints(state);
        }
        drop(first);
        assert!(!place.run(&short).printed().is_empty(), "{state}");
        assert!(!lock.exists(), "{state}");
    }
}

#[test]
fn values_of_runs_at_the_same_time_are_all_kept() {
    let place = Place::empty();
    std::thread::scope(|scope| {
        for pits in 1..=4 {
            let line = format!("analyse values --no-tables --pits {pits} --seeds-per-pit 1..3 --state values");
            let place = &place;
            // A process that is refused, tries again.
            scope.spawn(move || {
                loop {
                    let ran = place.run(&line);
                    if ran.code() == 0 {
                        break;
                    }
                    ran.fails(1, "is in use by");
                }
            });
        }
    });
    // A line for each, and one that identifies the work.
    assert_eq!(place.text("values").lines().count(), 13);
}

#[test]
fn what_killed_processes_left_is_removed_and_nothing_else() {
    let place = Place::empty();
    let left = ["search.kalah-0123456789ab.tmp", "search.kalah-ffffffffffff.tmp"];
    let mut others = vec![
        "a.search.kalah-0123456789ab.tmp",
        "search.backup.tmp",
        "search.kalah-01234567-9ab.tmp",
        "search.kalah-0123456789ab",
        "search.kalah-0123456789ab.tmp.b",
        "search.note.tmp",
        "search.tmp",
    ];
    left.iter().chain(&others).for_each(|name| place.write(name, "x"));
    drop(Checkpoint::open(place.at("search")).unwrap());
    assert_eq!(place.names(), others);
    place.write(left[0], "x");
    drop(GameValues::open(Rules::Standard, Some(&place.at("search"))).unwrap());
    others.insert(1, "search");
    assert_eq!(place.names(), others);

    place.run("build --backend cpu --pits 2 --seeds 4").success();
    let archive = place.at("empty-capture-2-04.kalah.archive.kalah-0123456789ab.tmp");
    std::fs::write(&archive, "x").unwrap();
    place.run("archive pack --pits 2").success();
    assert!(!archive.exists());
}

#[test]
fn what_is_killed_at_any_time_ends_with_the_same_answer() {
    let values = "analyse values --no-tables --memory 16MiB --pits 2..4 --seeds-per-pit 2..4 --json";
    let search = "solve 4x5 --no-tables --threads 2 --memory 16MiB --json";
    for (line, state, millis) in [(search, "--state kept --save-every 0.00001", 37), (values, "--state kept", 17)] {
        let place = Place::empty();
        let saving = format!("{line} {state}");
        let answer = |line: &str| {
            let mut answer = place.run(line).success().json();
            if line.starts_with("solve") {
                return json!([answer["value"], answer["best"]]);
            }
            for value in answer["values"].as_array_mut().unwrap() {
                value.as_object_mut().unwrap().retain(|field, _| ["pits", "seeds", "value"].contains(&&**field));
            }
            answer["values"].take()
        };
        let right = answer(line);
        for round in 0..12 {
            let _killed = Killed(place.command(&saving).spawn().unwrap());
            std::thread::sleep(Duration::from_millis(10 + millis * round));
        }
        assert_eq!(answer(&saving), right);
        assert_eq!(place.names(), ["kept"]);
    }
}

#[test]
fn a_table_of_another_search_is_refused_even_with_the_right_line() {
    let place = Place::empty();
    let path = place.at("search");
    let checkpoint = Checkpoint::open(&path).unwrap();
    let saved = |rules, position: &Position| {
        let solver = solver(rules, position);
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
            match checkpoint.load(&mut solver(rules, &position), &position) {
                Ok(loaded) => assert!(of == number && loaded > Some(0), "{of} for {number}"),
                Err(StateError::Damaged { what, .. }) => assert!(of != number && what.contains("another search")),
                Err(error) => panic!("{of} for {number}: {error}"),
            }
        }
    }
}

#[test]
fn results_of_tests_are_saved_even_when_the_transposition_table_has_lost_them() {
    let place = Place::empty();
    let checkpoint = Checkpoint::open(place.at("search")).unwrap();
    let (rules, position): (_, Position) = (Rules::EmptyCapture, "4x3".parse().unwrap());
    let small = || Solver::new(SolverOptions::new(rules, &position).transpositions(1 << 10)).unwrap();
    let tested = Mutex::new(std::collections::BTreeSet::new());
    let solver = small().with_events(|_, event| {
        if let SolveEvent::Proved { position, .. } = event {
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
fn a_file_of_something_else_is_refused_before_tables_are_built() {
    let place = Place::empty();
    place.run("solve 4x2 --no-tables --state search").success();
    let other = |work: &str| place.run(&format!("solve {work} --build --tables tables --state search"));
    other("3x3 --rules empty-capture").fails(1, "belongs to");
    other("4x2 --rules standard").fails(1, "belongs to");
    place.write("search", "no checkpoint");
    other("4x2 --rules empty-capture").fails(3, "cannot be used");
    assert!(!place.at("tables").exists());

    for (line, format) in [
        ("solve 4x2 --no-tables --state", "kalah solve checkpoint"),
        ("analyse values --no-tables --state", "kalah game values"),
    ] {
        place.write("newer", format!("{}\n", json!({ "format": format, "version": 2 })));
        place.run(&format!("{line} newer")).fails(1, "its format has version 2, this program reads version");
    }
}

#[test]
fn proofs_that_exclude_each_other_are_an_error() {
    let position: Position = "4x2".parse().unwrap();
    let contradicts = |result: Result<(), SolveError>| {
        assert!(matches!(result, Err(SolveError::Contradiction(of)) if *of == position), "4x2");
    };
    // Kalah(4,2) is worth 11 of 16 seeds.
    let new = || solver(Rules::EmptyCapture, &position);
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

    let place = Place::empty();
    let mut values = GameValues::open(Rules::EmptyCapture, Some(&place.at("values"))).unwrap();
    let wrong = GameValue { pits: 3, seeds: 3, at_least: 10, at_most: 18, nodes: 7, seconds: 0.5 };
    values.put(wrong).unwrap();
    drop(values);
    place.run("analyse values --pits 3 --seeds-per-pit 3 --state values").fails(3, "contradict each other");
}

#[test]
fn values_that_cannot_be_are_refused_even_with_a_checksum() {
    let place = Place::empty();
    let right = GameValue { pits: 2, seeds: 3, at_least: -2, at_most: 4, nodes: 9, seconds: 1.5 };
    let open = || GameValues::open(Rules::Standard, Some(&place.at("values")));
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
        std::fs::remove_file(place.at("values")).ok();
        open().unwrap().put(wrong).unwrap();
        let found = open().map(|values| values.get(wrong.start()).copied());
        assert!(if is_right { found.unwrap() == Some(right) } else { found.is_err() }, "{wrong:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf_8_are_names() {
    use std::os::unix::ffi::OsStrExt;
    let name = |bytes| std::ffi::OsStr::from_bytes(bytes).to_owned();
    let place = Place::empty();
    place.command("build --backend cpu --pits 2 --seeds 4 --tables").arg(name(b"d\xff")).run().success();
    let values = "analyse values --no-tables --pits 2 --seeds-per-pit 2 --state";
    for (line, file) in [("solve 2x3 --no-tables --state", b"d\xff/search\xfe"), (values, b"d\xff/values\xfe")] {
        place.command(line).arg(name(file)).run().success();
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
    let place = Place::empty();
    let path = place.at("search");
    let position: Position = "6x5".parse().unwrap();
    Checkpoint::open(&path).unwrap().save(&solver(Rules::EmptyCapture, &position), &position).unwrap();
    let (mebibyte, saved) = (1 << 20, 128 << 20);
    let bytes = std::fs::read(&path).unwrap();
    let line = split(&bytes).0;
    std::fs::write(&path, [line, &full_table(line, saved as usize / 8)].concat()).unwrap();
    // With the memory it was saved with, and with less, so that entries are replaced.
    for memory in [saved, saved / 4] {
        let line = format!("solve 6x5 --no-tables --threads 1 --memory {memory} --state search");
        let mut search = Killed(place.command(&line).spawn().unwrap());
        let err = BufReader::new(search.0.stderr.take().unwrap());
        let resumed = err.lines().map(Result::unwrap).find(|line| line.starts_with("resumed: "));
        assert_eq!(resumed.as_deref(), Some("resumed: 16,777,216 transpositions"));
        let (peak, most) = (peak(search.0.id()), memory + memory / 4 + 48 * mebibyte);
        assert!(peak < most, "{peak} bytes to load a table into {memory}");
    }
}
