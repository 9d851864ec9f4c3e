//! The solver with bound tables gives the same values as exact tables, for any intervals.
#![cfg(feature = "cli")]

use std::path::Path;
use std::sync::Arc;

use kalah::build::build;
use kalah::evaluation::{LANES, Network, Phase, PhasedNetwork, Weights};
use kalah::game::{Bounds, Position, Row, Rules};
use kalah::index::{TableRow, table_row};
use kalah::progress::Pulse;
use kalah::solve::{Depth, SolveError, Solver, SolverOptions};
use kalah::table::{BoundMaker, BoundTable, BoundTables, Cuts, Damage, TableError, Tables};
use kalah_tests::program::{self, Ran, Run};

const PITS: usize = 4;

/// The largest layer of the exact tables that all results are compared with.
const SEEDS: usize = 12;

fn exact(directory: &Path, rules: Rules) -> Tables {
    build(directory, rules, PITS, SEEDS).unwrap();
    Tables::open(directory, rules, PITS, SEEDS).unwrap()
}

/// Makes a network of random numbers: its evaluations have no relation to the game.
fn network(random: &mut fastrand::Rng, rules: Rules) -> Network {
    let mut lanes = |most: i16| std::array::from_fn::<i16, LANES, _>(|_| random.i16(-most..=most));
    let inputs = (0..2 * PITS * 16).map(|_| lanes(40)).collect();
    let (bias, outputs) = (lanes(40), lanes(20));
    let floor = std::array::from_fn(|lane| if lane == 0 { i16::MIN } else { 0 });
    Network::new(rules, PITS, &Weights { inputs, bias, floor, outputs, shift: 7 }).unwrap()
}

/// Makes bound tables of the layers from `first` to `last`, each with its own cuts, of `bits` bits a position.
fn bounds(random: &mut fastrand::Rng, tables: &Tables, first: usize, last: usize, bits: u32) -> BoundTables {
    let network = network(random, tables.rules());
    let layers = (first..=last).map(|seeds| {
        let mut cuts: Vec<i16> = (0..(1 << bits) - 1).map(|_| random.i16(-70..70)).collect();
        cuts.sort_unstable();
        let maker = BoundMaker::new(&network, Cuts::new(&cuts).unwrap());
        let place = tempfile::tempdir().unwrap();
        let path = maker.write(tables.layer(seeds).unwrap(), place.path(), &Pulse::default()).unwrap();
        Arc::new(BoundTable::open(path).unwrap())
    });
    BoundTables::new(tables.directory(), layers.collect()).unwrap()
}

fn random_position(random: &mut fastrand::Rng, seeds: u32) -> Position {
    loop {
        let mut places = [0; 2 * PITS];
        (0..seeds).for_each(|_| places[random.usize(..2 * PITS)] += 1);
        let row = |seeds| Row::new(seeds).unwrap();
        let position = Position::new(row(&places[..PITS]), row(&places[PITS..]), 3, 1).unwrap();
        if !position.is_over() {
            return position;
        }
    }
}

fn rows(position: &Position) -> [TableRow; 2] {
    [position.mover(), position.other()].map(|row| table_row(row).unwrap())
}

fn score(tables: &Tables, position: &Position) -> u32 {
    let [mover, other] = rows(position);
    tables.score_rows(&mover, &other).unwrap().into()
}

fn options<'a>(tables: &'a Tables, bounds: &'a BoundTables, exact: usize, position: &Position) -> SolverOptions<'a> {
    let options = SolverOptions::new(tables.rules(), position).transpositions(1 << 20);
    options.tables(Some(tables)).bounds(Some(bounds)).exact_up_to(exact)
}

/// Tests all scores of random positions in random order, each position on its own solver, against exact tables.
fn assert_tests_agree_with_exact_tables(threads: usize, count: usize) {
    let directory = tempfile::tempdir().unwrap();
    for rules in Rules::ALL {
        let mut random = fastrand::Rng::with_seed(11);
        let tables = exact(directory.path(), rules);
        for bits in [1, 2] {
            for (most_exact, last) in [(1, 8), (2, 10), (3, 9), (4, SEEDS)] {
                let bounds = bounds(&mut random, &tables, most_exact + 1, last, bits);
                for _ in 0..count {
                    let seeds = random.u32(2..=SEEDS as u32);
                    let position = random_position(&mut random, seeds);
                    let score = score(&tables, &position);
                    let options = options(&tables, &bounds, most_exact, &position).threads(threads);
                    let wide = random.bool();
                    let solver = if wide { Solver::with_word::<u128>(options) } else { Solver::new(options) }.unwrap();
                    let mut tests: Vec<u32> = (1..=seeds).collect();
                    random.shuffle(&mut tests);
                    for test in tests {
                        let Bounds { lower, upper } = solver.test(&position, test).unwrap();
                        assert!(
                            lower <= score && score <= upper,
                            "{rules} {position} {test}: {score}, {lower} {upper}"
                        );
                        assert!(lower >= test || upper < test, "{rules} {position} {test}: {lower} {upper}");
                    }
                    assert_eq!(solver.value(&position, random.i64(-20..20)).unwrap(), (score, position.value(score)));
                }
            }
        }
    }
}

#[test]
fn tests_with_bound_tables_agree_with_exact_tables() {
    assert_tests_agree_with_exact_tables(1, if cfg!(debug_assertions) { 2 } else { 25 });
}

#[test]
fn tests_of_several_threads_agree_too() {
    assert_tests_agree_with_exact_tables(3, if cfg!(debug_assertions) { 1 } else { 5 });
}

/// Before any test, the bounds of a position are those of its bound table. A depth-limited search that claims a proved
/// value is right.
#[test]
fn an_interval_is_a_bound_and_no_more() {
    let directory = tempfile::tempdir().unwrap();
    for rules in Rules::ALL {
        let mut random = fastrand::Rng::with_seed(5);
        let tables = exact(directory.path(), rules);
        let bounds = bounds(&mut random, &tables, 4, 10, 2);
        let (mut open, mut proved, mut unproved) = (0, 0, 0);
        for _ in 0..if cfg!(debug_assertions) { 20 } else { 400 } {
            let seeds = random.u32(2..=SEEDS as u32);
            let position = random_position(&mut random, seeds);
            let solver = Solver::new(options(&tables, &bounds, 3, &position)).unwrap();
            assert_eq!(
                (solver.table_seeds(), solver.bound_seeds()),
                match seeds {
                    ..4 => (Some(seeds as usize), None),
                    _ => (Some(3), Some(10.min(seeds as usize))),
                }
            );
            let [mover, other] = rows(&position);
            let score = score(&tables, &position);
            let known = solver.known(&position).unwrap();
            let expected = match seeds {
                ..4 => Bounds { lower: score, upper: score },
                4..11 => bounds.bounds(&mover, &other).unwrap().unwrap(),
                _ => Bounds { lower: 0, upper: seeds },
            };
            assert_eq!(known, expected, "{rules} {position}");
            open += u32::from(expected.lower < expected.upper);
            let searched = solver.depth_limited_within(&position, Depth::Turns(2), u64::MAX).unwrap().unwrap();
            if searched.exact {
                assert_eq!(searched.value, position.value(score), "{rules} {position}");
                proved += 1;
            } else {
                unproved += 1;
            }
        }
        assert!(open.min(proved).min(unproved) > 5, "{rules}: {open} {proved} {unproved}");
    }
}

/// Bound tables above a missing layer are of no use.
#[test]
fn bound_tables_above_a_gap_are_not_used() {
    let directory = tempfile::tempdir().unwrap();
    let tables = exact(directory.path(), Rules::Standard);
    let mut random = fastrand::Rng::with_seed(1);
    let bounds = bounds(&mut random, &tables, 6, 9, 2);
    let position = random_position(&mut random, 12);
    let reaches = |exact, all| {
        let options = options(&tables, &bounds, exact, &position).tables_up_to(all);
        let solver = Solver::new(options).unwrap();
        (solver.table_seeds(), solver.bound_seeds())
    };
    assert_eq!(reaches(4, 20), (Some(4), None));
    assert_eq!(reaches(5, 20), (Some(5), Some(9)));
    assert_eq!(reaches(7, 20), (Some(7), Some(9)));
    assert_eq!(reaches(9, 20), (Some(9), None));
    assert_eq!(reaches(20, 20), (Some(12), None));
    assert_eq!(reaches(5, 8), (Some(5), Some(8)));
    assert_eq!(reaches(5, 5), (Some(5), None));
}

#[test]
fn damage_of_a_bound_table_is_reported_with_file_and_byte() {
    let directory = tempfile::tempdir().unwrap();
    let tables = exact(directory.path(), Rules::EmptyCapture);
    let mut random = fastrand::Rng::with_seed(3);
    let whole = bounds(&mut random, &tables, 4, 9, 2);
    let position = random_position(&mut random, 12);
    assert!(Solver::new(options(&tables, &whole, 3, &position)).is_ok());
    let maker = BoundMaker::new(whole.network(), Cuts::new(&[-8, 0, 8]).unwrap());
    let mut layers = whole.layers().to_vec();
    let path = maker.write(tables.layer(8).unwrap(), directory.path(), &Default::default()).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let offset = layers[4].header().entries[5].offset;
    bytes[offset as usize + 40] ^= 2;
    layers[4] = Arc::new(BoundTable::from_bytes(&path, bytes).unwrap());
    let damaged = BoundTables::new(directory.path(), layers).unwrap();
    let solver = Solver::new(options(&tables, &damaged, 3, &position)).unwrap();
    match solver.solve(&position, 0) {
        Err(SolveError::Table(TableError::Damaged {
            path: named, damage: Damage::Part { offset: at, .. }, ..
        })) => {
            assert_eq!((named, at), (path, offset));
        }
        other => panic!("{other:?}"),
    }
    // A search that does not read the damaged layer is not affected.
    assert!(Solver::new(options(&tables, &damaged, 3, &position).tables_up_to(7)).is_ok());
}

#[test]
fn bound_tables_alone_use_the_network_beside_them_too() {
    let directory = tempfile::tempdir().unwrap();
    let tables = exact(directory.path(), Rules::Standard);
    let mut random = fastrand::Rng::with_seed(7);
    let bounds = bounds(&mut random, &tables, 2, 8, 2);
    let position: Position = "4x3".parse().unwrap();
    let solver = |network| {
        let options = SolverOptions::new(Rules::Standard, &position).transpositions(1 << 20).threads(1);
        Solver::new(options.bounds(Some(&bounds)).network(network))
    };
    let nodes = |network| {
        let solver = solver(network).unwrap();
        assert_eq!((solver.table_seeds(), solver.bound_seeds()), (None, Some(8)));
        solver.score(&position, 12).unwrap();
        solver.nodes()
    };
    let alone = nodes(None);
    let first = PhasedNetwork::from(bounds.network().clone());
    assert_eq!(alone, nodes(Some(&first)));
    let later = Phase { least_seeds: 12, network: network(&mut random, Rules::Standard) };
    let beside = PhasedNetwork::new([first.phases(), &[later]].concat()).unwrap();
    let path = directory.path().join(PhasedNetwork::file_name(Rules::Standard, PITS));
    std::fs::write(&path, beside.to_bytes()).unwrap();
    assert_eq!(nodes(None), nodes(Some(&beside)));
    assert_ne!(nodes(None), alone);
    std::fs::write(&path, "no network").unwrap();
    assert!(matches!(solver(None), Err(SolveError::Network(_))));
}

/// Makes a directory with exact tables by `empty-capture` and bound tables of the layers from 5 to 10 seeds.
fn exact_and_bounds() -> (tempfile::TempDir, Tables) {
    let directory = tempfile::tempdir().unwrap();
    let tables = exact(directory.path(), Rules::EmptyCapture);
    let network = network(&mut fastrand::Rng::with_seed(2), Rules::EmptyCapture);
    let maker = BoundMaker::new(&network, Cuts::new(&[-32, 0, 32]).unwrap());
    for seeds in 5..=10 {
        maker.write(tables.layer(seeds).unwrap(), directory.path(), &Default::default()).unwrap();
    }
    (directory, tables)
}

#[test]
fn positions_within_bound_tables_are_searched_within_the_memory() {
    let (directory, _) = exact_and_bounds();
    // The program itself takes 24 MiB.
    for (position, fits) in [("2,0,1,1/1,2,1,2", false), ("1,0,1,0/0,1,0,1", true)] {
        let mut command = program::command();
        command.args(["solve", position, "--json", "--memory", "24MiB", "--exact-up-to", "4", "--tables"]);
        let output = command.arg(directory.path()).run();
        let messages = output.stderr();
        assert!(output.status.success(), "{messages}");
        assert_eq!(messages.contains("not all tables fit"), !fits, "{position}: {messages}");
    }
}

/// Runs `kalah solve 4x3` with the tables in a directory. Returns the JSON document and the notes.
fn solve(directory: &Path, flags: &[&str]) -> (serde_json::Value, String) {
    let mut command = program::command();
    command.args(["solve", "4x3", "--json", "--transpositions", "4MiB", "--threads", "1", "--tables"]).arg(directory);
    let output = command.args(flags).run();
    let messages = output.stderr();
    assert!(output.status.success(), "{messages}");
    (output.json(), messages)
}

#[test]
fn the_command_uses_exact_tables_first_and_bound_tables_above() {
    let (directory, tables) = exact_and_bounds();
    let (whole, _) = solve(directory.path(), &[]);
    assert_eq!((&whole["table_seeds"], whole.get("bound_seeds")), (&SEEDS.into(), None));
    let value = &whole["value"];
    for exact in ["4", "7"] {
        let (answer, _) = solve(directory.path(), &["--exact-up-to", exact]);
        assert_eq!((&answer["value"], &answer["bound_seeds"]), (value, &10.into()));
        assert_eq!(answer["table_seeds"], exact.parse::<usize>().unwrap());
    }
    // Below the bound tables there is a gap.
    let (answer, _) = solve(directory.path(), &["--exact-up-to", "3"]);
    assert_eq!((&answer["value"], answer.get("bound_seeds")), (value, None));
    // Exact tables may be deleted.
    (7..=SEEDS).for_each(|seeds| std::fs::remove_file(tables.key(seeds).path(directory.path())).unwrap());
    let (answer, messages) = solve(directory.path(), &[]);
    assert_eq!((&answer["value"], &answer["table_seeds"], &answer["bound_seeds"]), (value, &6.into(), &10.into()));
    assert!(messages.contains("found tables to 10 seeds"), "{messages}");
}
