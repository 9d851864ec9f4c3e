//! Boards that do not exist: public functions that take a number of pits return an error, or nothing, and never panic.

use std::path::Path;
use std::time::Duration;

use kalah::analyse::graph::{Convention, Explorer, GraphError};
use kalah::analyse::opening::{Limits, OpeningScan};
use kalah::analyse::{BoundsSource, PuzzleMiner};
use kalah::book::{Book, BookError, Books};
use kalah::build::{Backend, BuildError, BuildPlan, Builder, MemoryBuilder, build, lower_frames};
use kalah::cancel::Cancel;
use kalah::certificate::{Checker, ClaimError, ClaimKeys, ClaimSet};
use kalah::evaluation::{Network, PhasedNetwork};
use kalah::game::{Line, MAX_PITS, Position, Row, Rules, StartPosition};
use kalah::index::{
    Frame, MAX_TABLE_PITS, MAX_TABLE_SEEDS, RowIndex, TableRow, game_row, layer_positions, row_count,
    sequence_position, sequences,
};
use kalah::isa::Isa;
use kalah::progress::Pulse;
use kalah::rows::RowMove;
use kalah::solve::{Board, SolveError, Solver, SolverOptions, Sower};
use kalah::table::{AllTables, BoundTables, Directory, ProbeError, TableError, TableKey, Tables};
use kalah::verify::Oracle;

/// Pits a side at the limits of tables (8) and of positions (16), and beyond.
const PITS: [usize; 7] = [0, 1, 8, 9, 17, 255, usize::MAX];

const RULES: Rules = Rules::Standard;

fn is_of_tables(pits: usize) -> bool {
    (1..=MAX_TABLE_PITS).contains(&pits)
}

/// Succeeds if a result is [`TableError::Pits`] exactly for the boards that tables cannot have.
#[track_caller]
fn refused<T>(pits: usize, result: Result<T, TableError>) {
    match result {
        Ok(_) => assert!(is_of_tables(pits), "{pits}"),
        Err(TableError::Pits(found)) => assert!(found == pits && !is_of_tables(pits), "{pits}"),
        Err(error) => panic!("{pits}: {error}"),
    }
}

fn of_table<T>(result: Result<T, BuildError>) -> Result<T, TableError> {
    result.map_err(|error| match error {
        BuildError::Table(error) => error,
        other => panic!("{other}"),
    })
}

#[test]
fn rows_and_ranks() {
    for pits in PITS {
        let (tables, positions) = (is_of_tables(pits), (1..=MAX_PITS).contains(&pits));
        assert_eq!(row_count(pits, 3) > 0, tables, "{pits}");
        assert_eq!(layer_positions(pits, 3) > 0, tables, "{pits}");
        assert_eq!(Frame { pits, mover: 1, other: 1 }.positions() > 0, tables, "{pits}");
        assert_eq!(RowIndex::new(pits, 2).is_some(), tables, "{pits}");
        assert_eq!(game_row(pits, &TableRow::default()).is_some(), tables, "{pits}");
        assert_eq!(Oracle::new(RULES, pits).is_some(), tables, "{pits}");
        assert_eq!(sequences(pits, 3).is_some(), positions, "{pits}");
        assert_eq!(sequence_position(pits, 3, 0).is_some(), positions, "{pits}");
        assert_eq!(Row::new(&vec![1; pits.min(300)]).is_some(), positions, "{pits}");
        assert_eq!(StartPosition { pits, seeds: 1 }.position().is_ok(), positions, "{pits}");
        assert_eq!(Line::parse(pits, "1").is_ok(), pits > 0, "{pits}");
        assert_eq!(Line::new(pits).to_string(), "");
    }
    for seeds in [MAX_TABLE_SEEDS + 1, 255, usize::MAX] {
        assert_eq!((row_count(6, seeds), layer_positions(6, seeds)), (0, 0));
        assert!(RowIndex::new(6, seeds).is_none());
    }
}

#[test]
fn tables_and_networks() {
    let directory = tempfile::tempdir().unwrap();
    let (path, all_tables) = (directory.path(), AllTables::new(directory.path()));
    for pits in PITS {
        refused(pits, Tables::open(path, RULES, pits, 4));
        refused(pits, Tables::open(Directory::from(path).reading_files(), RULES, pits, 4));
        refused(pits, Tables::open(path.join("none"), RULES, pits, 4));
        refused(pits, Tables::empty(path, RULES, pits, 4));
        refused(pits, BoundTables::open_around(path, RULES, pits, 0, 4));
        assert!(all_tables.tables(RULES, pits).is_none() && all_tables.bounds(RULES, pits).is_none());
        let network = PhasedNetwork::shipped(Rules::EmptyCapture, 6).unwrap();
        let weights = network.of(10).weights();
        assert!(Network::new(RULES, pits, &weights).is_err(), "{pits}");
        assert!(PhasedNetwork::shipped(RULES, pits).is_none() && PhasedNetwork::open(path, RULES, pits).is_err());
        assert_eq!(PhasedNetwork::find(path, RULES, pits).unwrap(), None);
    }
}

#[test]
fn builders() {
    for pits in PITS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let last = TableKey { rules: RULES, pits, seeds: 2 };
        refused(pits, of_table(build(path, RULES, pits, 2)));
        refused(pits, of_table(Builder::new(path, last).run(&Pulse::default(), &|_| {})));
        let shared = Builder::new(path, last).shared(Duration::from_secs(2));
        refused(pits, of_table(shared.run(&Pulse::default(), &|_| {})));
        refused(pits, of_table(MemoryBuilder::new(last)));
        BuildPlan::new(path, last, &Backend::Cpu(Isa::detect()), 2);
        assert!(lower_frames(RULES, Frame { pits, mover: 1, other: 1 }).is_empty(), "{pits}");
        assert_eq!(RowMove::all(RULES, pits, &[1; 8]).next().is_some(), is_of_tables(pits), "{pits}");
    }
    let directory = tempfile::tempdir().unwrap();
    for seeds in [MAX_TABLE_SEEDS + 1, 255] {
        let in_memory = MemoryBuilder::new(TableKey { rules: RULES, pits: 6, seeds });
        for built in [build(directory.path(), RULES, 6, seeds).map(drop), in_memory.map(drop)] {
            assert!(matches!(built, Err(BuildError::Table(TableError::Seeds(found))) if found == seeds), "{built:?}");
        }
    }
    assert_eq!(TableError::Pits(9).to_string(), "9 pits a side: tables have 1 to 8");
    assert_eq!(TableError::Seeds(49).to_string(), "49 seeds in play: tables have up to 48");
    assert_eq!(directory.path().read_dir().unwrap().count(), 0, "nothing is written");
}

#[test]
fn searches_books_and_certificates() {
    let position: Position = "6x1".parse().unwrap();
    for pits in PITS {
        let is_board = (1..=MAX_PITS).contains(&pits);
        assert_eq!(Sower::<u64>::new(RULES, pits, 10).is_some(), is_of_tables(pits), "{pits}");
        assert_eq!(Sower::<u128>::new(RULES, pits, 10).is_some(), is_board, "{pits}");
        assert_eq!(Board { mover: 1u64, other: 1 }.position(pits).is_some(), is_of_tables(pits), "{pits}");
        assert_eq!(kalah::solve::BoardKeys::<u64>::new(pits, 4).is_some(), is_of_tables(pits), "{pits}");
        assert_eq!(Checker::new(RULES, pits, None, 0, 4).is_some(), is_board, "{pits}");
        assert_eq!(ClaimKeys::new(pits).sequences(4).is_some(), is_board, "{pits}");
        assert_eq!(ClaimKeys::new(pits).key(&position), None);
        assert!(ClaimSet::new(pits).is_empty());
        let book = Book::new(RULES, pits);
        assert!(book.is_empty() && Book::shipped(RULES, pits).is_none() && Books::default().get(RULES, pits).is_none());
        assert!(matches!(book.recall(&position, None), Err(BookError::Claim(ClaimError::Position(_)))), "{pits}");
        assert!(BoundsSource::new(RULES, pits, None, None).bounds(&position, None).is_err(), "{pits}");
        let (start, convention) = (StartPosition { pits, seeds: 1 }, Convention::default());
        let explorer = Explorer { rules: RULES, start, convention, memory: 1 << 24, tables: None };
        let explored = explorer.run(&Cancel::new(), &mut |_| {});
        assert_eq!(matches!(explored, Err(GraphError::Board(_))), !is_of_tables(pits), "{pits}");
        let scan = OpeningScan { rules: RULES, limits: Limits::default(), wins: false };
        assert_eq!(scan.game(pits, 1, &Cancel::new()).is_ok(), is_board, "{pits}");
    }
}

/// Data of another board or other rules are refused by name.
#[test]
fn data_of_other_boards() {
    let position: Position = "6x1".parse().unwrap();
    let others = [(Rules::Standard, 5), (Rules::EmptyCapture, 6)];
    for (rules, pits) in others {
        let tables = Tables::empty(Path::new("none"), rules, pits, 4).unwrap();
        let book = Book::new(rules, pits);
        let options = SolverOptions::new(RULES, &position).transpositions(1 << 20);
        let given = [(options.clone().tables(Some(&tables)), "tables"), (options.clone().book(Some(&book)), "a book")];
        for (options, what) in given {
            let error = Solver::new(options).map(drop).unwrap_err();
            let SolveError::OtherBoard { found, expected, .. } = &error else { panic!("{error}") };
            assert_eq!((*found, *expected), ((rules, pits), (RULES, 6)));
            let expected = format!("{what} for {rules} with {pits} pits, not for standard with 6 pits");
            assert_eq!(error.to_string(), expected);
        }
        let own = Book::new(RULES, 6);
        assert!(matches!(own.recall(&position, Some(&tables)), Err(BookError::Other { .. })));
        assert!(Checker::new(RULES, 6, Some(&tables), 2, 4).is_none());
    }
    let tables = Tables::empty(Path::new("none"), RULES, 5, 4).unwrap();
    assert!(matches!(PuzzleMiner::new(&tables, position, 1), Err(ProbeError::OtherPits { pits: 6, tables: 5, .. })));
    assert!(Checker::new(RULES, 6, None, 0, Checker::MAX_EFFORT + 1).is_none());
}
