//! The solver against a plain search, against published values, against itself with other options, and on the command
//! line.
#![cfg(feature = "cli")]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use kalah::build::build;
use kalah::cancel::Cancel;
use kalah::file::StateError;
use kalah::game::{Line, Position, Row, Rules, StartPosition};
use kalah::solve::{Checkpoint, Depth, Opening, SolveError, SolveEvent, Solver, SolverOptions};
use kalah::table::Tables;
use serde_json::Value;

use kalah_tests::program::{self, Ran, Run};
use kalah_tests::reference;
use kalah_tests::tables::built;

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

/// Scores of positions, by the pits of a side and the seeds in each pit of both. By a quick hash, the exhaustive search
/// is some times as fast.
type Scores = foldhash::HashMap<(usize, [u8; 32]), u32>;

/// Score by exhaustive search with the rules alone.
fn exhaustive(rules: Rules, position: &Position, known: &mut Scores) -> u32 {
    if position.is_over() {
        return position.mover().total();
    }
    let mut seeds = [0; 32];
    let both = position.mover().seeds().iter().chain(position.other().seeds());
    seeds.iter_mut().zip(both).for_each(|(place, &seeds)| *place = seeds.try_into().unwrap());
    let key = (position.mover().pits(), seeds);
    if let Some(&score) = known.get(&key) {
        return score;
    }
    let bare = Position::new(*position.mover(), *position.other(), 0, 0).unwrap();
    let collected = |pit| {
        let played = bare.play(rules, pit).unwrap();
        let score = exhaustive(rules, &played.position, known);
        if played.again { played.position.mover_store() + score } else { bare.seeds() - score }
    };
    let score = bare.moves().map(collected).max().unwrap();
    known.insert(key, score);
    score
}

fn random_position(random: &mut fastrand::Rng, pits: usize, seeds: u32) -> Position {
    let mut places = vec![0; 2 * pits];
    for _ in 0..seeds {
        places[random.usize(..2 * pits)] += 1;
    }
    let row = |seeds| Row::new(seeds).unwrap();
    Position::new(row(&places[..pits]), row(&places[pits..]), random.u32(..9), random.u32(..9)).unwrap()
}

/// Tests random positions of these boards, each given by its pits a side and the most seeds in play.
fn assert_tests_agree_with_an_exhaustive_search(boards: &[(usize, u32)], memories: [u64; 2], count: usize) {
    for rules in Rules::ALL {
        let mut random = fastrand::Rng::with_seed(7);
        let mut known = Scores::default();
        for index in 0..count {
            let (pits, most) = boards[random.usize(..boards.len())];
            let seeds = random.u32(1..=most);
            let position = random_position(&mut random, pits, seeds);
            if position.is_over() {
                continue;
            }
            let score = exhaustive(rules, &position, &mut known);
            // A single test on a fresh solver, then the others in any order.
            let memory = memories[index % 2];
            let solver = Solver::new(options(rules, &position, None).transpositions(memory)).unwrap();
            let mut tests: Vec<u32> = (1..=seeds).collect();
            random.shuffle(&mut tests);
            for test in tests {
                let bounds = solver.test(&position, test).unwrap();
                assert!(
                    bounds.lower <= score && score <= bounds.upper,
                    "{rules} {position} {test}: {score}, {bounds:?}"
                );
                assert!(bounds.lower >= test || bounds.upper < test, "{rules} {position} {test}: {bounds:?}");
            }
            let value = position.value(score);
            assert!(solver.at_least(&position, value).unwrap() && !solver.at_least(&position, value + 1).unwrap());
            assert_eq!(solver.value(&position, random.i64(-30..30)).unwrap(), (score, value));
        }
    }
}

#[test]
fn zero_window_tests_agree_with_an_exhaustive_search() {
    let boards = [(1, 20), (2, 16), (3, 14), (4, 12), (5, 11), (6, 10)];
    assert_tests_agree_with_an_exhaustive_search(&boards, [1 << 16, 64], scaled(3000));
}

#[test]
fn searches_above_tables_of_8_pits_agree_with_an_exhaustive_search() {
    assert_searches_above_tables_agree_with_an_exhaustive_search(8, 9, scaled(10));
}

#[test]
#[ignore = "slow"]
fn more_searches_above_tables_of_7_and_8_pits_agree_with_an_exhaustive_search() {
    for pits in [7, 8] {
        assert_searches_above_tables_agree_with_an_exhaustive_search(pits, 10, scaled(15));
    }
}

/// Searches positions of `seeds` seeds with tables to 6 seeds.
fn assert_searches_above_tables_agree_with_an_exhaustive_search(pits: usize, seeds: u32, count: usize) {
    for rules in Rules::ALL {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), rules, pits, 6).unwrap();
        let tables = Tables::open(directory.path(), rules, pits, 6).unwrap();
        let (mut random, mut known, mut hits) = (fastrand::Rng::with_seed(8), Scores::default(), 0);
        for _ in 0..count {
            let position = random_position(&mut random, pits, seeds);
            if position.is_over() {
                continue;
            }
            let score = exhaustive(rules, &position, &mut known);
            let narrow = Solver::with_word::<u64>(options(rules, &position, Some(&tables))).unwrap();
            let wide = Solver::with_word::<u128>(options(rules, &position, Some(&tables))).unwrap();
            assert_eq!(narrow.value(&position, 0).unwrap().0, score, "{rules} {position}");
            assert_eq!(wide.value(&position, 0).unwrap().0, score, "{rules} {position}");
            hits += narrow.table_hits();
        }
        assert!(hits > 0, "{rules} {pits} pits");
    }
}

#[test]
fn tests_of_wide_boards_agree_with_an_exhaustive_search() {
    let boards = [(9, 8), (10, 8), (11, 7), (12, 7), (13, 6), (14, 6), (15, 6), (16, 6)];
    assert_tests_agree_with_an_exhaustive_search(&boards, [1 << 16, 1 << 20], scaled(400));
}

#[test]
fn tests_of_many_seeds_agree_with_an_exhaustive_search() {
    // Such games are long: without memory the search repeats itself without end.
    assert_tests_agree_with_an_exhaustive_search(&[(1, 255)], [1 << 20, 1 << 22], scaled(60));
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
                let guess = guesser.unwrap().first_guess(&position).unwrap();
                let solver = solver.unwrap();
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
        for _ in 0..scaled(200) {
            let seeds = random.u32(5..=11);
            let position = random_position(&mut random, 6, seeds);
            let solver = Solver::new(options(rules, &position, Some(&tables))).unwrap();
            let solution = solver.solve(&position, 0).unwrap();
            let score = exhaustive(rules, &position, &mut known);
            assert_eq!((solution.score, solution.value), (score, position.value(score)), "{rules} {position}");
            let mut value_after = |pit| {
                let played = position.play(rules, pit).unwrap();
                let value = played.position.value(exhaustive(rules, &played.position, &mut known));
                if played.again { value } else { -value }
            };
            let best: Vec<_> = position.moves().filter(|&pit| value_after(pit) == solution.value).collect();
            assert_eq!(solution.best().collect::<Vec<_>>(), best, "{rules} {position}");
            assert_line(rules, &position, &solution.line, solution.value, |position| {
                position.value(exhaustive(rules, position, &mut known))
            });
            for opening in Opening::all(rules, &position) {
                let value = opening.position.value(exhaustive(rules, &opening.position, &mut known));
                let value = if opening.again { value } else { -value };
                assert_eq!(solver.opening_value(&opening, 0).unwrap(), value, "{rules} {position} {opening}");
            }
        }
    }
}

/// Checks that `line` is legal to the end of the game and that every position after a turn is worth `value` to the
/// first player. `worth` gives values for the player to move.
fn assert_line(rules: Rules, start: &Position, line: &Line, value: i64, mut worth: impl FnMut(&Position) -> i64) {
    let mut sign = 1;
    let mut so_far = Line::new(start.pits());
    for turn in line.turns() {
        so_far.push(turn.clone());
        sign = -sign;
        let position = so_far.replay(rules, start).unwrap();
        assert_eq!(sign * worth(&position), value, "{rules} {start} after {so_far}");
    }
    let end = line.replay(rules, start).unwrap();
    assert_eq!(end.final_value().map(|end| sign * end), Some(value), "{rules} {start}: {line}");
}

#[test]
fn values_are_the_same_with_other_tables_threads_and_memory() {
    let positions = if cfg!(debug_assertions) {
        vec![start(6, 2)]
    } else {
        vec![start(6, 3), "<6,3,9,2,4,0,1,7,1,5,0,3,1,0,6>".parse().unwrap()]
    };
    for position in positions {
        let mut values = Vec::new();
        for up_to in [0, 10, 16] {
            let tables = (up_to > 0).then(|| Tables::open(directory(), Rules::EmptyCapture, 6, up_to).unwrap());
            for (threads, memory) in [(1, 32 << 20), (2, 32 << 20), (4, 1 << 20), (1, 64)] {
                // Without tables and memory the search repeats itself without end.
                if up_to == 0 && memory < 1 << 20 {
                    continue;
                }
                let options = options(Rules::EmptyCapture, &position, tables.as_ref());
                let solver = Solver::new(options.threads(threads).transpositions(memory)).unwrap();
                let solution = solver.solve(&position, 0).unwrap();
                values.push((solution.value, solution.best().collect::<Vec<_>>()));
            }
        }
        assert!(values.windows(2).all(|two| two[0] == two[1]), "{position}: {values:?}");
    }
}

#[test]
fn one_thread_is_reproducible_node_for_node() {
    let position = start(6, if cfg!(debug_assertions) { 2 } else { 3 });
    let tables = Tables::open(directory(), Rules::EmptyCapture, 6, 10).unwrap();
    let run = || {
        let solver = Solver::new(options(Rules::EmptyCapture, &position, Some(&tables))).unwrap();
        let solution = solver.solve(&position, 0).unwrap();
        (solution, solver.nodes(), solver.table_hits())
    };
    let first = run();
    assert!(first.1 > 100);
    assert_eq!(run(), first);
}

fn sign(value: i64) -> &'static str {
    ["L", "D", "W"][(value.signum() + 1) as usize]
}

#[test]
fn irving_2000_game_values() {
    let mut solved = 0;
    for line in reference::lines(include_str!("../reference/irving-2000-game-values.csv")) {
        let (pits, seeds): (usize, u32) = (line[0].parse().unwrap(), line[1].parse().unwrap());
        let position = start(pits, seeds);
        // `tests/large_boards` solves the larger ones.
        if pits as u32 * seeds > if cfg!(debug_assertions) { 8 } else { 18 } {
            continue;
        }
        let tables = (pits == 6).then(|| Tables::open(directory(), Rules::EmptyCapture, 6, 16).unwrap());
        let solver =
            Solver::new(options(Rules::EmptyCapture, &position, tables.as_ref()).transpositions(64 << 20).threads(2))
                .unwrap();
        let solution = solver.solve(&position, 0).unwrap();
        assert_eq!(sign(solution.value), line[2], "{position}");
        assert!(line[3].is_empty() || line[3] == solution.value.to_string(), "{position}");
        let worth = |position: &Position| solver.value(position, 0).unwrap().1;
        assert_line(Rules::EmptyCapture, &position, &solution.line, solution.value, worth);
        solved += 1;
    }
    assert!(solved >= 15, "{solved}");
}

#[test]
#[ignore = "slow"]
fn values_are_the_same_with_tables_to_24_seeds() {
    let large = tempfile::tempdir().unwrap();
    let directory = large.path();
    build(directory, Rules::EmptyCapture, 6, 24).unwrap();
    for position in [start(6, 4), "<6,2,1,6,0,5,5,1,6,2,5,0,3,6,5>".parse().unwrap()] {
        let mut values = Vec::new();
        for (up_to, threads, memory) in [(24, 1, 64 << 20), (24, 2, 64), (20, 2, 64 << 20), (16, 3, 64 << 20)] {
            let tables = Tables::open(directory, Rules::EmptyCapture, 6, up_to).unwrap();
            let options = options(Rules::EmptyCapture, &position, Some(&tables));
            let solver = Solver::new(options.threads(threads).transpositions(memory)).unwrap();
            values.push(solver.value(&position, 0).unwrap().1);
        }
        assert_eq!(values, [values[0]; 4], "{position}");
    }
}

#[test]
fn a_stopped_search_goes_on_from_its_checkpoint() {
    let tables = Tables::open(directory(), Rules::EmptyCapture, 6, 10).unwrap();
    assert_goes_on_from_its_checkpoint(start(6, if cfg!(debug_assertions) { 2 } else { 3 }), Some(&tables));
}

#[test]
fn a_stopped_search_of_a_wide_board_goes_on_from_its_checkpoint() {
    assert_goes_on_from_its_checkpoint(start(10, 1), None);
}

fn assert_goes_on_from_its_checkpoint(position: Position, tables: Option<&Tables>) {
    let directory = tempfile::tempdir().unwrap();
    let checkpoint = Checkpoint::open(directory.path().join("search")).unwrap();
    let rules = Rules::EmptyCapture;
    let whole = Solver::new(options(rules, &position, tables)).unwrap();
    let expected = whole.solve(&position, 0).unwrap();
    // The search stops after every second test. Each run proves at least one more.
    let (mut runs, mut nodes) = (0, 0);
    let solution = loop {
        runs += 1;
        let begun = AtomicU64::new(0);
        let options = options(rules, &position, tables);
        let cancel = Cancel::new();
        // The checkpoint can be loaded into transposition tables of other sizes.
        let memory = [4 << 20, 1 << 20, 16 << 20][runs % 3];
        let mut solver =
            Solver::new(options.transpositions(memory).cancel(cancel.clone())).unwrap().with_events(|_, event| {
                if matches!(event, SolveEvent::Begin { .. }) && begun.fetch_add(1, Ordering::Relaxed) == 2 {
                    cancel.cancel();
                }
            });
        let loaded = checkpoint.load(&mut solver, &position).unwrap();
        assert_eq!(loaded.is_some(), runs > 1);
        let result = solver.solve(&position, 0);
        nodes += solver.nodes();
        match result {
            Ok(solution) => break solution,
            Err(SolveError::Stopped) => {
                checkpoint.save(&solver, &position).unwrap();
            }
            Err(error) => panic!("{error}"),
        }
        assert!(runs < 1000);
    };
    assert_eq!(solution, expected);
    assert!(runs > 2, "{runs}");
    // Proved tests are not searched again: the nodes of the parts add up to about those of the whole.
    assert!(nodes < 2 * whole.nodes() + 100_000, "{nodes} nodes in {runs} runs, {} in one", whole.nodes());
}

#[test]
fn checkpoints_of_something_else_or_damaged_are_refused() {
    assert_others_and_damaged_ones_are_refused(start(3, 2), start(3, 3));
    let wide = |text: &str| text.parse().unwrap();
    assert_others_and_damaged_ones_are_refused(
        wide("9,0,0,0,0,0,0,1,1/1,0,0,0,2,0,0,1,0"),
        wide("9,0,0,0,0,0,0,1,2/1,0,0,0,2,0,0,1,0"),
    );
}

fn assert_others_and_damaged_ones_are_refused(position: Position, other: Position) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("search");
    let checkpoint = Checkpoint::open(&path).unwrap();
    let solver = Solver::new(options(Rules::Standard, &position, None)).unwrap();
    solver.solve(&position, 0).unwrap();
    checkpoint.save(&solver, &position).unwrap();
    let load = |rules, position: &Position| {
        checkpoint.load(&mut Solver::new(options(rules, position, None)).unwrap(), position)
    };
    let sound = load(Rules::Standard, &position).unwrap().unwrap();
    assert!(sound > 0);
    assert!(matches!(load(Rules::Standard, &other), Err(StateError::Other { .. })));
    assert!(matches!(load(Rules::EmptyCapture, &position), Err(StateError::Other { .. })));
    // A checkpoint can be checked without a solver.
    checkpoint.check(Rules::Standard, &position).unwrap();
    assert!(matches!(checkpoint.check(Rules::Standard, &other), Err(StateError::Other { .. })));
    assert!(matches!(checkpoint.check(Rules::EmptyCapture, &position), Err(StateError::Other { .. })));
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(1 + whole.len() / 197) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x41;
        std::fs::write(&path, damaged).unwrap();
        // A changed bit in the header of the zstd frame may not change its meaning. Any other change is rejected.
        if let Ok(taken_up) = load(Rules::Standard, &position) {
            assert_eq!(taken_up, Some(sound), "byte {at}");
        }
        std::fs::write(&path, &whole[..at]).unwrap();
        let cut = load(Rules::Standard, &position);
        match at {
            // It is empty until the search is first saved.
            0 => assert!(matches!(cut, Ok(None))),
            _ => assert!(matches!(cut, Err(StateError::Damaged { .. } | StateError::Foreign { .. })), "cut at {at}"),
        }
    }
    std::fs::write(&path, &whole).unwrap();
    if position.pits() <= 8 {
        let mut wide = Solver::with_word::<u128>(options(Rules::Standard, &position, None)).unwrap();
        assert!(matches!(checkpoint.load(&mut wide, &position), Err(StateError::Damaged { .. })));
    }
    std::fs::write(&path, "{}").unwrap();
    assert!(matches!(load(Rules::Standard, &position), Err(StateError::Foreign { .. })));
}

#[test]
fn boards_too_large_are_refused() {
    for position in ["1x128", "6x22", "16x6"] {
        let position: Position = position.parse().unwrap();
        let refused = Solver::new(options(Rules::Standard, &position, None)).err();
        assert!(matches!(refused, Some(SolveError::Board { .. })), "{position}");
    }
    for position in ["9x1", "1x64", "6x11", "8x6"] {
        let position: Position = position.parse().unwrap();
        let refused = Solver::with_word::<u64>(options(Rules::Standard, &position, None)).err();
        assert!(matches!(refused, Some(SolveError::Board { .. })), "{position}");
        assert!(Solver::new(options(Rules::Standard, &position, None)).is_ok(), "{position}");
    }
    // A solver is for boards of one size.
    let (position, others) = (start(10, 1), [start(9, 1), start(6, 1), start(10, 2)]);
    let solver = Solver::new(options(Rules::Standard, &position, None)).unwrap();
    for other in others {
        assert!(matches!(solver.known(&other), Err(SolveError::Board { .. })), "{other}");
        assert!(matches!(solver.test(&other, 1), Err(SolveError::Board { .. })), "{other}");
        assert!(matches!(solver.first_guess(&other), Err(SolveError::Board { .. })), "{other}");
    }
    // The solver has no tables.
    let position = "8,0,0,0,0,0,0,1/1,0,0,0,1,0,0,0".parse().unwrap();
    let solver = Solver::new(options(Rules::Standard, &position, None)).unwrap();
    let score = exhaustive(Rules::Standard, &position, &mut Scores::default());
    assert_eq!(solver.value(&position, 0).unwrap().0, score);
}

/// Checks the value and the line of `position` on the command line. Follows the line and proves every position on it.
fn assert_solved_by_command(position: &str, value: i64) {
    let (code, out, err) = kalah(&["solve", "--json", position, "--memory", "64MiB"]);
    assert!(code == 0 && err.contains("pits a side: searching without"), "{code} {err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["value"], value, "{position}");
    let line = answer["line"].as_str().unwrap();
    let (code, out, err) = kalah(&["review", "--json", position, line, "--memory", "64MiB"]);
    assert_eq!(code, 0, "{out}{err}");
    let followed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(followed["line"], line);
    assert!(followed["turns"].as_array().unwrap().iter().all(|turn| turn["seeds_lost"] == 0), "{followed}");
    assert_eq!(followed["turns"][0]["worth"]["value"], value);
}

#[test]
fn wide_boards_are_solved_and_their_lines_followed() {
    assert_solved_by_command("9x1", 0);
    assert_solved_by_command("10x1", 2);
    // Commas separate two-digit moves of one turn.
    let (code, out, err) = kalah(&["solve", "10x1", "--threads", "1"]);
    assert!(code == 0 && err.contains("there are no tables for 10 pits a side: searching without"), "{err}");
    assert!(out.contains("line   10,9 10,9 8 8 7 7"), "{out}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes when not optimised")]
fn large_wide_boards_are_solved() {
    assert_solved_by_command("12x1", 2);
    assert_solved_by_command("9x2", 0);
}

fn kalah(arguments: &[&str]) -> (i32, String, String) {
    program::command().env("KALAH_TABLES", directory()).args(arguments).run().parts()
}

#[test]
fn solve_answers_in_json() {
    let (code, out, err) = kalah(&["solve", "6x2", "--json", "--tables-up-to", "10"]);
    assert_eq!(code, 0, "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&answer["position"], &answer["rules"]),
        (&"<6,0,0,2,2,2,2,2,2,2,2,2,2,2,2>".into(), &"empty-capture".into())
    );
    assert_eq!((&answer["value"], &answer["table_seeds"]), (&10.into(), &10.into()));
    assert!(answer["nodes"].as_u64().unwrap() > 0 && answer["seconds"].as_f64().unwrap() > 0.0);
    let position = start(6, 2);
    let line = Line::parse(6, answer["line"].as_str().unwrap()).unwrap();
    let end = line.replay(Rules::EmptyCapture, &position).unwrap();
    let sign = if line.turns().len().is_multiple_of(2) { 1 } else { -1 };
    assert_eq!(sign * end.final_value().unwrap(), 10);
    let best: Vec<u64> = answer["best"].as_array().unwrap().iter().map(|best| best.as_u64().unwrap()).collect();

    let (code, out, err) = kalah(&["solve", "6x2", "--json", "--openings", "--tables-up-to", "10", "--threads", "2"]);
    assert_eq!(code, 0, "{err}");
    let openings: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&openings["value"], &openings["best"]), (&10.into(), &answer["best"]));
    let openings = openings["openings"].as_array().unwrap();
    // Move 5 with two seeds ends in the store. The openings that begin with it have a second move.
    let names: Vec<&str> = openings.iter().map(|opening| opening["move"].as_str().unwrap()).collect();
    assert_eq!(names, ["1", "2", "3", "4", "5-1", "5-2", "5-3", "5-4", "5-6", "6"]);
    for opening in openings {
        let first = u64::from(opening["move"].as_str().unwrap().as_bytes()[0] - b'0');
        assert!(opening["value"].as_i64().unwrap() <= 10 && opening["nodes"].is_u64());
        assert!(best.contains(&first) || opening["value"].as_i64().unwrap() < 10, "{opening}");
    }
}

#[test]
fn single_tests_and_stores() {
    let test = |arguments: &[&str]| {
        let arguments: Vec<&str> = [&["solve", "--json", "--no-tables"], arguments].concat();
        let (code, out, err) = kalah(&arguments);
        assert_eq!(code, 0, "{err}");
        let answer: Value = serde_json::from_str(&out).unwrap();
        answer["proved"].as_bool().unwrap()
    };
    // Kalah(4,2) is worth 6. The stores here add 3 - 7.
    let position = "<4,3,7,2,2,2,2,2,2,2,2>";
    assert!(test(&[position, "--at-least", "2"]) && !test(&[position, "--at-least", "3"]));
    assert!(test(&[position, "--at-least", "1"]) && !test(&[position, "--at-most", "1"]));
    assert!(test(&[position, "--at-most", "2"]) && test(&[position, "--at-most", "99"]));
    assert!(test(&[position, "--at-least", "-99"]) && !test(&[position, "--at-least", "99"]));
    // The numbers may be of any size.
    let (least, most) = (&i64::MIN.to_string(), &i64::MAX.to_string());
    for position in ["2x2", position, "<2,1073741823,1073741820,1,0,1,2>", "<2,0,2147483641,1,0,1,2>", "<1,5,7,0,3>"] {
        for (flag, value, holds) in [
            ("--at-least", least, true),
            ("--at-least", most, false),
            ("--at-most", least, false),
            ("--at-most", most, true),
        ] {
            assert_eq!(test(&[position, flag, value]), holds, "{position} {flag} {value}");
        }
    }
    for guess in [least, most] {
        for how in [&["--value-only"][..], &["--openings"], &[]] {
            let asked = [&["solve", "--json", "--no-tables", position, "--first-guess", guess], how].concat();
            let (code, out, err) = kalah(&asked);
            assert_eq!(code, 0, "{err}");
            assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["value"], 2, "{guess} {how:?}");
        }
    }
    let (code, _, err) = kalah(&["solve", "<6,4294967295,4294967295,4,4,4,4,4,4,4,4,4,4,4,4>"]);
    assert!(code == 2 && err.contains("seeds are more than"), "{code} {err}");
    // The largest stores that a position can have.
    let (code, out, err) = kalah(&["solve", "--no-tables", "--json", "<2,2147483637,0,1,4,1,4>"]);
    assert!(code == 0 && out.contains("\"value\":2147483635"), "{out}{err}");
}

#[test]
fn solve_reports_what_is_wrong_and_what_is_missing() {
    let (code, _, err) = kalah(&["solve", "6y4"]);
    assert!(code == 2 && err.contains("is not a position"), "{code} {err}");
    let (code, _, err) = kalah(&["solve", "6x22"]);
    assert!(code == 2 && err.contains("6 pits a side with 264 seeds in play cannot be searched"), "{code} {err}");
    assert_eq!(kalah(&["solve", "6x1", "--openings", "--at-least", "3"]).0, 2);
    let empty = tempfile::tempdir().unwrap();
    let tables = empty.path().to_str().unwrap();
    let (code, out, err) = kalah(&["solve", "4x2", "--tables", tables]);
    assert!(code == 0 && err.contains("no tables for empty-capture with 4 pits"), "{code} {err}");
    assert!(out.contains("value  +6"), "{out}");
    let (code, _, err) = kalah(&["solve", "4x2", "--tables", tables, "--build", "--tables-up-to", "8"]);
    assert!(code == 0 && err.contains("7 layers to build"), "{code} {err}");
    assert!(empty.path().join("empty-capture-4-08.kalah").exists());
    let (code, _, err) = kalah(&["solve", "4x2", "--tables", tables, "--build"]);
    assert!(code == 0 && err.contains("8 layers to build"), "{code} {err}");
    // A finished game needs neither tables nor search.
    let (code, out, _) = kalah(&["solve", "<2,3,9,0,0,4,0>"]);
    assert!(code == 0 && out.contains("value  -10"), "{code} {out}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_command_saves_and_goes_on() {
    use std::process::Stdio;

    use kalah_tests::signals::{heard, interrupt};

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("search");
    let arguments = ["solve", "5x4", "--no-tables", "--memory", "32MiB", "--threads", "1", "--json", "--value-only"];
    let command = || {
        let mut command = program::command();
        command
            .args(arguments)
            .args(["--save-every", "0.001", "--state"])
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let child = heard(&mut command()).spawn().unwrap();
    while !file.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    // A fast machine may finish before the signal. Then there is an answer.
    if output.code() != 0 {
        assert_eq!(output.status.code(), Some(130));
        assert!(output.stderr().contains("stopped and saved"));
    }
    let output = command().run();
    let err = output.stderr();
    assert!(output.status.success() && err.contains("resumed: "), "{err}");
    let answer: Value = output.json();
    assert_eq!(answer["value"], 12);
}
