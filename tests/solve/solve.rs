//! The solver against a plain search, against itself with other options, and on the command line.
#![cfg(feature = "cli")]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use kalah::cancel::Cancel;
use kalah::file::StateError;
use kalah::game::{Bounds, Position, Rules, StartPosition};
use kalah::solve::{Checkpoint, Depth, Opening, SolveError, SolveEvent, Solver, SolverOptions};
use kalah::table::Tables;
use serde_json::json;

use kalah_tests::exhaustive::{Scores, exhaustive};
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::random::random_position;
use kalah_tests::tables::{built, opened};

/// Fewer cases without optimization, where everything is about thirty times slower.
const fn scaled(optimised: usize) -> usize {
    if cfg!(debug_assertions) { optimised / 30 } else { optimised }
}

/// Tables of 6 pits by all rule sets, built once: up to 10 seeds, by the default rules up to 16.
fn directory() -> &'static Path {
    let seeds = if cfg!(debug_assertions) { 10 } else { 16 };
    built(&Rules::ALL.map(|rules| (rules, 6, if rules.is_default() { seeds } else { 10 })))
}

fn options<'a>(rules: Rules, position: &Position, tables: Option<&'a Tables>) -> SolverOptions<'a> {
    SolverOptions::new(rules, position).tables(tables).transpositions(4 << 20)
}

fn start(pits: usize, seeds: u32) -> Position {
    StartPosition { pits, seeds }.position().unwrap()
}

/// Random positions of these boards, each given by its pits a side and the most seeds in play, that are not over.
fn positions(boards: &[(usize, u32)], seed: u64, count: usize) -> impl Iterator<Item = Position> {
    let mut random = fastrand::Rng::with_seed(seed);
    let any = (0..count).map(move |_| {
        let (pits, most) = boards[random.usize(..boards.len())];
        let seeds = random.u32(1..=most);
        random_position(&mut random, pits, seeds)
    });
    any.filter(|position| !position.is_over())
}

#[test]
fn zero_window_tests_agree_with_an_exhaustive_search() {
    for (boards, memories, count) in [
        (&[(1, 20), (2, 16), (3, 14), (4, 12), (5, 11), (6, 10), (8, 7)][..], [1 << 16, 64], scaled(3000)),
        (&[(9, 8), (10, 8), (11, 7), (12, 7), (13, 6), (14, 6), (15, 6), (16, 6)], [1 << 16, 1 << 20], scaled(400)),
        // Games of many seeds are long: without memory the search repeats itself without end.
        (&[(1, 255)], [1 << 20, 1 << 22], scaled(60)),
    ] {
        for rules in Rules::ALL {
            let (mut random, mut known) = (fastrand::Rng::with_seed(7), Scores::default());
            for (position, memory) in positions(boards, 7, count).zip(memories.into_iter().cycle()) {
                let score = exhaustive(rules, &position, &mut known);
                let solver = Solver::new(options(rules, &position, None).transpositions(memory)).unwrap();
                assert_scored(&solver, &position, score, &mut random);
                let value = position.value(score);
                assert!(solver.at_least(&position, value).unwrap() && !solver.at_least(&position, value + 1).unwrap());
            }
        }
    }
}

/// Tests a position with a fresh solver, in any order, and searches its value.
pub(super) fn assert_scored(solver: &Solver, position: &Position, score: u32, random: &mut fastrand::Rng) {
    let mut tests: Vec<u32> = (1..=position.seeds()).collect();
    random.shuffle(&mut tests);
    for test in tests {
        let Bounds { lower, upper } = solver.test(position, test).unwrap();
        let (is_true, is_decided) = (lower <= score && score <= upper, lower >= test || upper < test);
        assert!(is_true && is_decided, "{} {position} {test}: {score}, {lower} {upper}", solver.rules());
    }
    assert_eq!(solver.value(position, random.i64(-30..30)).unwrap(), (score, position.value(score)));
}

#[test]
fn searches_above_tables_of_7_and_8_pits_agree_with_an_exhaustive_search() {
    for (rules, pits) in Rules::ALL.into_iter().flat_map(|rules| [7, 8].map(|pits| (rules, pits))) {
        let tables = opened(rules, pits, 6);
        let (mut random, mut known, mut hits) = (fastrand::Rng::with_seed(8), Scores::default(), 0);
        for _ in 0..scaled(10).max(1) {
            let position = random_position(&mut random, pits, 9);
            if position.is_over() {
                continue;
            }
            let score = exhaustive(rules, &position, &mut known);
            let narrow = Solver::with_word::<u64>(options(rules, &position, Some(&tables))).unwrap();
            let wide = Solver::with_word::<u128>(options(rules, &position, Some(&tables))).unwrap();
            let found = [&narrow, &wide].map(|solver| solver.value(&position, 0).unwrap().0);
            assert_eq!(found, [score; 2], "{rules} {position}");
            hits += narrow.table_hits();
        }
        assert!(hits > 0, "{rules} {pits} pits");
    }
}

/// All words give the same results for a position. They search the same nodes as long as no transposition is replaced.
#[test]
fn words_find_the_same_with_the_same_search() {
    for rules in Rules::ALL {
        let (mut random, mut within) = (fastrand::Rng::with_seed(9), 0);
        let tables = Tables::open(directory(), rules, 6, 10).unwrap();
        for index in 0..scaled(300) {
            let pits = random.usize(1..=8);
            let seeds = random.u32(2..=[60, 40, 20, 16, 14, 13, 12, 11][pits - 1]);
            let position = random_position(&mut random, pits, seeds);
            let tables = Some(&tables).filter(|_| pits == 6 && index % 2 == 0);
            let options = || options(rules, &position, tables).transpositions(16 << 20);
            // The first guess is that of a solver of its own, so that its entries take no places.
            let mut solved = |[guesser, solver]: [Result<Solver, SolveError>; 2]| {
                let (guess, solver) = (guesser.unwrap().first_guess(&position).unwrap(), solver.unwrap());
                let solution = solver.solve(&position, guess).unwrap();
                // So few that no entry was replaced. A bucket has fewer of the larger words.
                let same = (solver.nodes() < 1_000).then(|| (solver.nodes(), solver.table_hits()));
                let searched = match solver.depth_limited_within(&position, Depth::Turns(3), 1 << 20) {
                    Err(SolveError::OverBudget) => None,
                    searched => Some(searched.unwrap()),
                };
                within += usize::from(searched.is_some());
                (guess, searched, solution, same)
            };
            let narrow = solved([(); 2].map(|()| Solver::with_word::<u64>(options())));
            assert_eq!(narrow, solved([(); 2].map(|()| Solver::with_word::<u128>(options()))), "{rules} {position}");
            assert_eq!(narrow, solved([(); 2].map(|()| Solver::new(options()))), "{rules} {position}");
        }
        assert!(within > 0, "{rules}: no depth-limited search has ended");
    }
}

#[test]
fn best_moves_are_all_that_keep_the_value_and_lines_are_worth_it() {
    for rules in Rules::ALL {
        let mut random = fastrand::Rng::with_seed(8);
        let tables = Tables::open(directory(), rules, 6, 6).unwrap();
        let mut known = Scores::default();
        let mut worth = |position: &Position| position.value(exhaustive(rules, position, &mut known));
        for _ in 0..scaled(200) {
            let seeds = random.u32(5..=11);
            let position = random_position(&mut random, 6, seeds);
            let solver = Solver::new(options(rules, &position, Some(&tables))).unwrap();
            let solution = solver.solve(&position, 0).unwrap();
            let value = worth(&position);
            assert_eq!((solution.value, position.value(solution.score)), (value, value), "{rules} {position}");
            let mut keeps = |pit| {
                let played = position.play(rules, pit).unwrap();
                played.mover_value(worth(&played.position)) == value
            };
            let best: Vec<_> = position.moves().filter(|&pit| keeps(pit)).collect();
            assert_eq!(solution.best().collect::<Vec<_>>(), best, "{rules} {position}");
            // Every position after a turn of the line, which goes to the end of the game, is worth the value.
            let places = solution.line.follow(rules, &position).unwrap();
            assert!(places.last().unwrap().position.is_over(), "{rules} {position}: {}", solution.line);
            for place in places {
                assert_eq!(place.turned(worth(&place.position)), value, "{rules} {position} after {place:?}");
            }
            for opening in Opening::all(rules, &position) {
                let after = worth(&opening.position);
                let expected = if opening.again { after } else { -after };
                assert_eq!(solver.opening_value(&opening, 0).unwrap(), expected, "{rules} {position} {opening}");
            }
        }
    }
}

#[test]
fn values_are_the_same_with_other_tables_threads_and_memory() {
    let positions = if cfg!(debug_assertions) { &["6x2"][..] } else { &["6x3", "<6,3,9,2,4,0,1,7,1,5,0,3,1,0,6>"] };
    for position in positions {
        let (position, mut first) = (position.parse().unwrap(), None);
        let with = [(1, 32 << 20), (2, 32 << 20), (4, 1 << 20), (1, 64)];
        let cases = [0, 10, 16].into_iter().flat_map(|up_to| with.map(|with| (up_to, with)));
        // Without tables and memory the search repeats itself without end.
        for (up_to, (threads, memory)) in cases.filter(|&(up_to, (_, memory))| up_to > 0 || memory > 64) {
            let tables = (up_to > 0).then(|| Tables::open(directory(), Rules::EmptyCapture, 6, up_to).unwrap());
            let options = options(Rules::EmptyCapture, &position, tables.as_ref());
            let solver = Solver::new(options.threads(threads).transpositions(memory)).unwrap();
            let solution = solver.solve(&position, 0).unwrap();
            let found = (solution.value, solution.best().collect::<Vec<_>>());
            assert_eq!(*first.get_or_insert(found.clone()), found, "{position}: {up_to} {threads} {memory}");
        }
    }
}

#[test]
fn a_stopped_search_goes_on_from_its_checkpoint() {
    let small = Tables::open(directory(), Rules::EmptyCapture, 6, 10).unwrap();
    let narrow = start(6, if cfg!(debug_assertions) { 2 } else { 3 });
    for (position, tables) in [(narrow, Some(&small)), (start(10, 1), None)] {
        let directory = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::open(directory.path().join("search")).unwrap();
        let options = || options(Rules::EmptyCapture, &position, tables);
        let whole = Solver::new(options()).unwrap();
        let expected = whole.solve(&position, 0).unwrap();
        // The search stops after every second test. Each run proves at least one more.
        let (mut runs, mut nodes) = (0, 0);
        let solution = loop {
            runs += 1;
            let (begun, cancel) = (AtomicU64::new(0), Cancel::new());
            // The checkpoint can be loaded into transposition tables of other sizes.
            let memory = [4 << 20, 1 << 20, 16 << 20][runs % 3];
            let solver = Solver::new(options().transpositions(memory).cancel(cancel.clone())).unwrap();
            let mut solver = solver.with_events(|_, event| {
                if matches!(event, SolveEvent::Begin { .. }) && begun.fetch_add(1, Ordering::Relaxed) == 2 {
                    cancel.cancel();
                }
            });
            assert_eq!(checkpoint.load(&mut solver, &position).unwrap().is_some(), runs > 1);
            let result = solver.solve(&position, 0);
            nodes += solver.nodes();
            match result {
                Ok(solution) => break solution,
                Err(SolveError::Stopped) => checkpoint.save(&solver, &position).unwrap(),
                Err(error) => panic!("{error}"),
            };
            assert!(runs < 1000);
        };
        assert_eq!(solution, expected);
        assert!(runs > 2, "{runs}");
        // Proved tests are not searched again: the nodes of the parts add up to about those of the whole.
        assert!(nodes < 2 * whole.nodes() + 100_000, "{nodes} nodes in {runs} runs, {} in one", whole.nodes());
    }
}

#[test]
fn checkpoints_of_something_else_or_damaged_are_refused() {
    for (position, other) in
        [("3x2", "3x3"), ("9,0,0,0,0,0,0,1,1/1,0,0,0,2,0,0,1,0", "9,0,0,0,0,0,0,1,2/1,0,0,0,2,0,0,1,0")]
    {
        let [position, other]: [Position; 2] = [position, other].map(|text| text.parse().unwrap());
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("search");
        let checkpoint = Checkpoint::open(&path).unwrap();
        let solver = |rules, position| Solver::new(options(rules, position, None)).unwrap();
        let load = |rules, position| checkpoint.load(&mut solver(rules, position), position);
        let saved = solver(Rules::Standard, &position);
        saved.solve(&position, 0).unwrap();
        checkpoint.save(&saved, &position).unwrap();
        let sound = load(Rules::Standard, &position).unwrap().unwrap();
        assert!(sound > 0);
        // A checkpoint can be checked without a solver.
        checkpoint.check(Rules::Standard, &position).unwrap();
        for (rules, position) in [(Rules::Standard, &other), (Rules::EmptyCapture, &position)] {
            assert!(matches!(load(rules, position), Err(StateError::Other { .. })));
            assert!(matches!(checkpoint.check(rules, position), Err(StateError::Other { .. })));
        }
        let whole = std::fs::read(&path).unwrap();
        let load = || load(Rules::Standard, &position);
        for at in (0..whole.len()).step_by(1 + whole.len() / 197) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x41;
            std::fs::write(&path, damaged).unwrap();
            // A changed bit in the header of the zstd frame may not change its meaning. Any other change is rejected.
            if let Ok(taken_up) = load() {
                assert_eq!(taken_up, Some(sound), "byte {at}");
            }
            std::fs::write(&path, &whole[..at]).unwrap();
            match load() {
                // It is empty until the search is first saved.
                Ok(None) => assert_eq!(at, 0),
                Err(StateError::Damaged { .. } | StateError::Foreign { .. }) => assert!(at > 0),
                other => panic!("cut at {at}: {other:?}"),
            }
        }
        std::fs::write(&path, &whole).unwrap();
        if position.pits() <= 8 {
            let mut wide = Solver::with_word::<u128>(options(Rules::Standard, &position, None)).unwrap();
            assert!(matches!(checkpoint.load(&mut wide, &position), Err(StateError::Damaged { .. })));
        }
        std::fs::write(&path, "{}").unwrap();
        assert!(matches!(load(), Err(StateError::Foreign { .. })));
    }
}

#[test]
fn boards_too_large_are_refused() {
    let board = |text: &str| text.parse::<Position>().unwrap();
    let new = |position: &Position| Solver::new(options(Rules::Standard, position, None));
    for position in ["1x128", "6x22", "16x6"].map(board) {
        assert!(matches!(new(&position), Err(SolveError::Board { .. })), "{position}");
    }
    for position in ["9x1", "1x64", "6x11", "8x6"].map(board) {
        let refused = Solver::with_word::<u64>(options(Rules::Standard, &position, None)).err();
        assert!(matches!(refused, Some(SolveError::Board { .. })), "{position}");
        assert!(new(&position).is_ok(), "{position}");
    }
    // A solver is for boards of one size.
    let solver = new(&start(10, 1)).unwrap();
    for other in [start(9, 1), start(6, 1), start(10, 2)] {
        assert!(matches!(solver.known(&other), Err(SolveError::Board { .. })), "{other}");
        assert!(matches!(solver.test(&other, 1), Err(SolveError::Board { .. })), "{other}");
        assert!(matches!(solver.first_guess(&other), Err(SolveError::Board { .. })), "{other}");
    }
}

fn kalah(line: &str) -> std::process::Output {
    with_tables(directory(), line).run()
}

/// Checks the value and the line of `position` on the command line. Follows the line and proves every position on it.
fn assert_solved_by_command(position: &str, value: i64) {
    let solved = kalah(&format!("solve --json {position} --memory 64MiB")).success().json();
    let line = solved["line"].as_str().unwrap();
    let followed = kalah(&format!("review --json {position} {line} --memory 64MiB")).success().json();
    assert_eq!((&solved["value"], &followed["line"]), (&value.into(), &line.into()), "{position}");
    let turns = followed["turns"].as_array().unwrap();
    assert_eq!(turns.len(), line.split(' ').count(), "{position}");
    for turn in turns {
        let value = if turn["player"] == "south" { value } else { -value };
        let found = [&turn["worth"]["value"], &turn["best_worth"]["value"], &turn["seeds_lost"]];
        assert_eq!(found, [&json!(value), &json!(value), &json!(0)], "{position}: {turn}");
    }
}

#[test]
fn boards_are_solved_and_their_lines_followed() {
    assert_solved_by_command("6x2", 10);
    assert_solved_by_command("9x1", 0);
    assert_solved_by_command("10x1", 2);
    // These take minutes without optimization.
    if !cfg!(debug_assertions) {
        assert_solved_by_command("12x1", 2);
        assert_solved_by_command("9x2", 0);
    }
    // Commas separate two-digit moves of one turn.
    let printed = kalah("solve 10x1 --threads 1").success().prints("line   10,9 10,9 8 8 7 7");
    printed.prints("there are no tables for 10 pits a side: searching without");
}

#[test]
fn solve_answers_in_json() {
    let answer = kalah("solve 6x2 --json --tables-up-to 10").success().json();
    for (field, expected) in [
        ("position", json!("<6,0,0,2,2,2,2,2,2,2,2,2,2,2,2>")),
        ("rules", json!("empty-capture")),
        ("value", json!(10)),
        ("table_seeds", json!(10)),
    ] {
        assert_eq!(answer[field], expected, "{field}");
    }
    assert!(answer["nodes"].as_u64().unwrap() > 0 && answer["seconds"].as_f64().unwrap() > 0.0);

    let report = kalah("solve 6x2 --json --openings --tables-up-to 10 --threads 2").success().json();
    assert_eq!((&report["value"], &report["best"]), (&10.into(), &answer["best"]));
    let openings = report["openings"].as_array().unwrap();
    // Move 5 with two seeds ends in the store. The openings that begin with it have a second move.
    let names: Vec<&str> = openings.iter().map(|opening| opening["move"].as_str().unwrap()).collect();
    assert_eq!(names, ["1", "2", "3", "4", "5-1", "5-2", "5-3", "5-4", "5-6", "6"]);
    for (opening, name) in openings.iter().zip(names) {
        let value = opening["value"].as_i64().unwrap();
        assert!(value <= 10 && opening["nodes"].is_u64());
        let is_best = answer["best"].as_array().unwrap().contains(&json!(name[..1].parse::<u64>().unwrap()));
        assert!(is_best || value < 10, "{opening}");
    }
}

#[test]
fn single_tests_and_stores() {
    let asked = |line: String| kalah(&format!("solve --json --no-tables {line}")).success().json();
    let (least, most) = (i64::MIN, i64::MAX);
    // Kalah(4,2) is worth 6. The stores here add 3 - 7.
    let position = "<4,3,7,2,2,2,2,2,2,2,2>";
    for (flag, value, holds) in
        [("--at-least", 2, true), ("--at-least", 3, false), ("--at-most", 1, false), ("--at-most", 2, true)]
    {
        assert_eq!(asked(format!("{position} {flag} {value}"))["proved"], holds, "{flag} {value}");
    }
    // The numbers may be of any size.
    for position in ["2x2", position, "<2,1073741823,1073741820,1,0,1,2>", "<2,0,2147483641,1,0,1,2>", "<1,5,7,0,3>"] {
        for (flag, value) in [("--at-least", least), ("--at-least", most), ("--at-most", least), ("--at-most", most)] {
            let holds = (flag == "--at-least") == (value == least);
            assert_eq!(asked(format!("{position} {flag} {value}"))["proved"], holds, "{position} {flag} {value}");
        }
    }
    for guess in [least, most] {
        for how in [" --value-only", " --openings", ""] {
            assert_eq!(asked(format!("{position} --first-guess {guess}{how}"))["value"], 2, "{guess}{how}");
        }
    }
    let too_many = kalah("solve <6,4294967295,4294967295,4,4,4,4,4,4,4,4,4,4,4,4>");
    too_many.fails(2, "seeds are more than");
    // The largest stores that a position can have.
    assert_eq!(asked("<2,2147483637,0,1,4,1,4>".to_owned())["value"], 2_147_483_635);
}

#[test]
fn solve_reports_what_is_wrong_and_what_is_missing() {
    kalah("solve 6y4").fails(2, "is not a position");
    kalah("solve 6x22").fails(2, "6 pits a side with 264 seeds in play cannot be searched");
    kalah("solve 6x1 --openings --at-least 3").exits(2);
    let empty = tempfile::tempdir().unwrap();
    let solve = |flags: &str| with_tables(empty.path(), &format!("solve 4x2{flags}")).run().success();
    solve("").prints("no tables for empty-capture with 4 pits").prints("value  +6");
    solve(" --build --tables-up-to 8").prints("7 layers to build");
    assert!(empty.path().join("empty-capture-4-08.kalah").exists());
    solve(" --build").prints("8 layers to build");
    // A finished game needs neither tables nor search.
    kalah("solve <2,3,9,0,0,4,0>").success().prints("value  -10");
}

#[cfg(unix)]
#[test]
fn an_interrupted_command_saves_and_goes_on() {
    use kalah_tests::signals::{heard, interrupt};

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("search");
    let line = "solve 5x4 --no-tables --memory 32MiB --threads 1 --json --value-only --save-every 0.001 --state";
    let mut command = with_tables(directory.path(), line);
    let child = heard(command.arg(&file)).spawn().unwrap();
    while !file.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    interrupt(&child);
    let stopped = child.wait_with_output().unwrap();
    // A fast machine may finish before the signal. Then there is an answer.
    if stopped.code() != 0 {
        stopped.exits(130).prints("stopped and saved");
    }
    assert_eq!(command.run().success().prints("resumed: ").json()["value"], 12);
}
