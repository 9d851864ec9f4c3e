//! The solver with bound tables gives the same values as exact tables, for any intervals.
#![cfg(feature = "cli")]

use std::sync::Arc;

use kalah::evaluation::{Phase, PhasedNetwork};
use kalah::game::{Bounds, Position, Rules};
use kalah::index::table_row;
use kalah::progress::Pulse;
use kalah::solve::{Depth, SolveError, Solver, SolverOptions};
use kalah::table::{BoundMaker, BoundTable, BoundTables, Cuts, Tables};
use kalah_tests::files::copied;
use kalah_tests::program::{Ran, Run, with_tables};
use kalah_tests::random::{random_network, random_position};
use kalah_tests::tables::{built, opened};

use super::solve::assert_scored;

const PITS: usize = 4;

/// The largest layer of the exact tables that all results are compared with.
const SEEDS: usize = 12;

fn exact(rules: Rules) -> Tables {
    opened(rules, PITS, SEEDS)
}

/// Makes bound tables of the layers from `first` to `last`, each with its own cuts, of `bits` bits a position.
fn bounds(random: &mut fastrand::Rng, tables: &Tables, first: usize, last: usize, bits: u32) -> BoundTables {
    let network = random_network(tables.rules(), PITS, random.u64(..));
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

/// A position with this many seeds whose game goes on.
fn open_position(random: &mut fastrand::Rng, seeds: u32) -> Position {
    let mut any = std::iter::repeat_with(|| random_position(random, PITS, seeds));
    any.find(|position| !position.is_over()).unwrap()
}

fn options<'a>(tables: &'a Tables, bounds: &'a BoundTables, exact: usize, position: &Position) -> SolverOptions<'a> {
    let options = SolverOptions::new(tables.rules(), position).transpositions(1 << 20);
    options.tables(Some(tables)).bounds(Some(bounds)).exact_up_to(exact)
}

/// Tests all scores of random positions in random order, each position on its own solver.
#[test]
fn tests_with_bound_tables_agree_with_exact_tables() {
    let cases = if cfg!(debug_assertions) { [(1, 2), (3, 1)] } else { [(1, 25), (3, 5)] };
    for (rules, (threads, count)) in Rules::ALL.into_iter().flat_map(|rules| cases.map(|case| (rules, case))) {
        let (mut random, tables) = (fastrand::Rng::with_seed(11), exact(rules));
        let reaches = [(1, 8), (2, 10), (3, 9), (4, SEEDS)];
        for (bits, (most_exact, last)) in [1, 2].into_iter().flat_map(|bits| reaches.map(|reach| (bits, reach))) {
            let bounds = bounds(&mut random, &tables, most_exact + 1, last, bits);
            for _ in 0..count {
                let seeds = random.u32(2..=SEEDS as u32);
                let position = open_position(&mut random, seeds);
                let score = tables.probe(&position).unwrap().score;
                let options = options(&tables, &bounds, most_exact, &position).threads(threads);
                let wide = random.bool();
                let solver = if wide { Solver::with_word::<u128>(options) } else { Solver::new(options) }.unwrap();
                assert_scored(&solver, &position, score, &mut random);
            }
        }
    }
}

/// Before any test, the bounds of a position are those of its bound table. A depth-limited search that claims a proved
/// value is right.
#[test]
fn an_interval_is_a_bound_and_no_more() {
    for rules in Rules::ALL {
        let (mut random, tables) = (fastrand::Rng::with_seed(5), exact(rules));
        let bounds = bounds(&mut random, &tables, 4, 10, 2);
        let (mut open, mut proved, mut unproved) = (0, 0, 0);
        for _ in 0..if cfg!(debug_assertions) { 20 } else { 400 } {
            let seeds = random.u32(2..=SEEDS as u32);
            let position = open_position(&mut random, seeds);
            let solver = Solver::new(options(&tables, &bounds, 3, &position)).unwrap();
            let reach = match seeds {
                ..4 => (Some(seeds as usize), None),
                _ => (Some(3), Some(10.min(seeds as usize))),
            };
            assert_eq!((solver.table_seeds(), solver.bound_seeds()), reach);
            let [mover, other] = [position.mover(), position.other()].map(|row| table_row(row).unwrap());
            let score = tables.probe(&position).unwrap().score;
            let expected = match seeds {
                ..4 => Bounds { lower: score, upper: score },
                4..11 => bounds.bounds(&mover, &other).unwrap().unwrap(),
                _ => Bounds { lower: 0, upper: seeds },
            };
            assert_eq!(solver.known(&position).unwrap(), expected, "{rules} {position}");
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

#[test]
fn bound_tables_above_a_gap_are_not_used() {
    let (mut random, tables) = (fastrand::Rng::with_seed(1), exact(Rules::Standard));
    let bounds = bounds(&mut random, &tables, 6, 9, 2);
    let position = open_position(&mut random, 12);
    for (exact, all, reaches) in [
        (4, 20, (Some(4), None)),
        (5, 20, (Some(5), Some(9))),
        (7, 20, (Some(7), Some(9))),
        (9, 20, (Some(9), None)),
        (20, 20, (Some(12), None)),
        (5, 8, (Some(5), Some(8))),
        (5, 5, (Some(5), None)),
    ] {
        let solver = Solver::new(options(&tables, &bounds, exact, &position).tables_up_to(all)).unwrap();
        assert_eq!((solver.table_seeds(), solver.bound_seeds()), reaches, "{exact} {all}");
    }
}

#[test]
fn bound_tables_alone_use_the_network_beside_them_too() {
    let directory = copied(built(&[(Rules::Standard, PITS, SEEDS)]));
    let tables = Tables::open(directory.path(), Rules::Standard, PITS, SEEDS).unwrap();
    let bounds = bounds(&mut fastrand::Rng::with_seed(7), &tables, 2, 8, 2);
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
    let later = Phase { least_seeds: 12, network: random_network(Rules::Standard, PITS, 8) };
    let beside = PhasedNetwork::new([first.phases(), &[later]].concat()).unwrap();
    let path = directory.path().join(PhasedNetwork::file_name(Rules::Standard, PITS));
    std::fs::write(&path, beside.to_bytes()).unwrap();
    assert_eq!(nodes(None), nodes(Some(&beside)));
    assert_ne!(nodes(None), alone);
    std::fs::write(&path, "no network").unwrap();
    assert!(matches!(solver(None), Err(SolveError::Network(_))));
}

#[test]
fn the_command_uses_exact_tables_first_and_bound_tables_above_within_its_memory() {
    let directory = copied(built(&[(Rules::EmptyCapture, PITS, SEEDS)]));
    let tables = Tables::open(directory.path(), Rules::EmptyCapture, PITS, SEEDS).unwrap();
    let network = random_network(Rules::EmptyCapture, PITS, 2);
    let maker = BoundMaker::new(&network, Cuts::new(&[-32, 0, 32]).unwrap());
    for seeds in 5..=10 {
        maker.write(tables.layer(seeds).unwrap(), directory.path(), &Pulse::default()).unwrap();
    }
    let solve = |line: &str| with_tables(directory.path(), &format!("solve --json {line}")).run().success();
    // The program itself takes 24 MiB.
    solve("2,0,1,1/1,2,1,2 --memory 24MiB --exact-up-to 4").prints("not all tables fit");
    solve("1,0,1,0/0,1,0,1 --memory 24MiB --exact-up-to 4").does_not_print("not all tables fit");

    let solve = |flags: &str| solve(&format!("4x3 --transpositions 4MiB --threads 1{flags}"));
    let whole = solve("").json();
    assert_eq!((&whole["table_seeds"], whole.get("bound_seeds")), (&SEEDS.into(), None));
    for exact in [4, 7] {
        let answer = solve(&format!(" --exact-up-to {exact}")).json();
        let found = ["value", "best", "table_seeds", "bound_seeds"].map(|field| answer[field].clone());
        assert_eq!(found, [whole["value"].clone(), whole["best"].clone(), exact.into(), 10.into()]);
    }
}
