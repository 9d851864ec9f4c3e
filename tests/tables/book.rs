//! The book: its bytes, adding and looking up positions, the built-in book, and the commands that use it.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Output;

use kalah::book::{Book, BookError, Books, MakeOptions, check_by_search, check_neighbours, derive, make};
use kalah::build::build;
use kalah::cancel::Cancel;
use kalah::certificate::{Certificate, ClaimError};
use kalah::game::{Bounds, Position, Row, Rules};
use kalah::index::MAX_TABLE_SEEDS;
use kalah::play::{PlayerName, Setting, Source, Worth, play_game};
use kalah::solve::{SearchMemory, Solver, SolverOptions};
use kalah::table::Tables;
use kalah_tests::program::{self, Ran, Run};
use kalah_tests::tables::built;
use proptest::prelude::*;
use serde_json::Value;

const RULES: Rules = Rules::EmptyCapture;

/// Tables of 3 pits to 18 seeds, by two rule sets, built once.
fn tables() -> &'static Path {
    built(&[(RULES, 3, 18), (Rules::Standard, 3, 18)])
}

fn position(literal: &str) -> Position {
    literal.parse().unwrap()
}

/// Score of a position by the tables.
fn score(rules: Rules, position: &Position) -> u32 {
    let tables = Tables::open(tables(), rules, position.pits(), MAX_TABLE_SEEDS).unwrap();
    tables.probe(position).unwrap().score
}

/// Makes a solver without tables and without a book.
fn solver(rules: Rules, start: &Position) -> Solver<'static> {
    Solver::new(SolverOptions::new(rules, start).transpositions(1 << 22)).unwrap()
}

/// Makes a book of the first turns from `start`.
fn made(rules: Rules, start: &Position, turns: u32) -> Book {
    let mut book = Book::new(rules, start.pits());
    make(&solver(rules, start), start, &MakeOptions { turns, ..MakeOptions::default() }, &mut book, &mut |_, _| Ok(()))
        .unwrap();
    book
}

/// Strategy for a position with up to 40 seeds in play, and bounds of its score.
fn entry(pits: usize) -> impl Strategy<Value = (Position, Bounds)> {
    (prop::collection::vec(0u32..4, 2 * pits), any::<u32>(), any::<u32>()).prop_map(move |(seeds, one, other)| {
        let (mover, other_row) = seeds.split_at(pits);
        let row = |seeds: &[u32]| Row::new(seeds).unwrap();
        let position = Position::new(row(mover), row(other_row), 0, 0).unwrap();
        let [one, other] = [one, other].map(|bound| bound % (position.seeds() + 1));
        (position, Bounds { lower: one.min(other), upper: one.max(other) })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Adding many positions at once has the effect of adding them one after the other, and adds all or none.
    #[test]
    fn many_positions_are_added_as_one_by_one(
        (before, entries) in (1usize..4).prop_flat_map(|pits| {
            (prop::collection::vec(entry(pits), 1..30), prop::collection::vec(entry(pits), 0..30))
        }),
    ) {
        let mut one_by_one = Book::new(Rules::Standard, before[0].0.pits());
        before.iter().for_each(|(position, bounds)| _ = one_by_one.add(position, *bounds));
        let unchanged = one_by_one.clone();
        let mut at_once = unchanged.clone();
        let added = at_once.add_all(entries.iter().copied());
        let mut wrong = false;
        for (position, bounds) in &entries {
            wrong |= one_by_one.add(position, *bounds).is_err() && !position.is_over();
        }
        match added {
            Ok(more) => {
                let differs = |(position, bounds): &(Position, Bounds)| unchanged.get(position) != Some(*bounds);
                prop_assert_eq!(more, one_by_one.iter().filter(differs).count());
                prop_assert!(!wrong);
                prop_assert_eq!(at_once, one_by_one);
            }
            Err(_) => {
                prop_assert!(wrong);
                prop_assert_eq!(at_once, unchanged);
            }
        }
    }

    #[test]
    fn what_is_written_is_read(entries in (1usize..8).prop_flat_map(|pits| prop::collection::vec(entry(pits), 1..60))) {
        let mut book = Book::new(Rules::Standard, entries[0].0.pits());
        let mut known: Vec<(Position, Bounds)> = Vec::new();
        for (position, bounds) in entries {
            let before = book.get(&position).unwrap_or(Bounds { lower: 0, upper: position.seeds() });
            let both = Bounds { lower: before.lower.max(bounds.lower), upper: before.upper.min(bounds.upper) };
            let trivial = Bounds { lower: 0, upper: position.seeds() };
            match book.add(&position, bounds) {
                Ok(more) => prop_assert_eq!(more, both != before && !position.is_over()),
                Err(error) => {
                    let contradicts = matches!(error, BookError::Claim(ClaimError::Contradiction { .. }));
                    prop_assert!(contradicts && both.lower > both.upper);
                    continue;
                }
            }
            known.retain(|(other, _)| *other != position);
            if !position.is_over() && both != trivial {
                known.push((position, both));
            }
        }
        prop_assert_eq!(book.len(), known.len());
        for (position, bounds) in &known {
            prop_assert_eq!(book.get(position), Some(*bounds));
        }
        let bytes = book.to_bytes();
        let read = Book::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&read, &book);
        prop_assert_eq!(read.digest(), book.digest());
        prop_assert_eq!(read.to_bytes(), bytes);
        prop_assert!(book.iter().is_sorted_by_key(|(position, _)| position.seeds()));
        prop_assert_eq!(book.iter().count(), book.len());
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_found() {
    let bytes = made(RULES, &position("3x3"), 2).to_bytes();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            assert!(Book::from_bytes(&changed).is_err(), "byte {at}, bit {bit}");
        }
        assert!(Book::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
    assert!(Book::from_bytes(&[&bytes[..], b"x"].concat()).is_err());
}

/// A book made without tables agrees with the tables, whichever positions it leaves out.
#[test]
fn books_agree_with_tables() {
    for (rules, start) in [(RULES, "3x3"), (Rules::Standard, "3x3"), (RULES, "3x2")] {
        let start = position(start);
        for (turns, loss) in [(0, None), (1, None), (3, None), (3, Some(1))] {
            let options = MakeOptions { turns, loss, within: None };
            let mut book = Book::new(rules, 3);
            make(&solver(rules, &start), &start, &options, &mut book, &mut |_, _| Ok(())).unwrap();
            assert_eq!(book.len(), book.exact());
            assert!(book.get(&start).is_some());
            for (position, bounds) in book.iter() {
                assert_eq!(bounds.lower, score(rules, &position), "{position}");
            }
            check_neighbours(&book, None, &mut |_| true).unwrap();
        }
        assert!(made(rules, &start, 3).len() > made(rules, &start, 1).len());
        // The largest loss excludes no move.
        let options = MakeOptions { turns: 3, loss: Some(u32::MAX), within: None };
        let mut book = Book::new(rules, 3);
        make(&solver(rules, &start), &start, &options, &mut book, &mut |_, _| Ok(())).unwrap();
        assert_eq!(book.to_bytes(), made(rules, &start, 3).to_bytes());
    }
}

#[test]
fn a_stopped_book_goes_on_to_the_same_bytes() {
    let start = position("3x3");
    let whole = made(RULES, &start, 3);
    let mut book = Book::new(RULES, 3);
    for steps in [1, 2, 5, 11, usize::MAX] {
        let mut left = steps;
        let ended = make(
            &solver(RULES, &start),
            &start,
            &MakeOptions { turns: 3, ..MakeOptions::default() },
            &mut book,
            &mut |_, step| {
                left -= usize::from(step.searched);
                if left == 0 { Err(kalah::solve::SolveError::Stopped) } else { Ok(()) }
            },
        );
        assert_eq!(ended.is_ok(), steps == usize::MAX);
        book = Book::from_bytes(&book.to_bytes()).unwrap();
    }
    assert_eq!(book, whole);
}

/// With any part of a book, also with wide bounds, a solver finds the scores of the tables. If the position itself is
/// in the book, it does not search.
#[test]
fn solvers_with_a_book_find_the_same_scores() {
    let start = position("3x3");
    let whole = made(RULES, &start, 3);
    let mut random = fastrand::Rng::with_seed(16);
    for _ in 0..20 {
        let mut part = Book::new(RULES, 3);
        for (position, Bounds { lower, upper }) in whole.iter() {
            if random.u32(..4) > 0 {
                continue;
            }
            let bounds = Bounds { lower: lower - random.u32(..3).min(lower), upper: upper + random.u32(..3) };
            part.add(&position, bounds).unwrap();
        }
        let options = SolverOptions::new(RULES, &start).transpositions(1 << 20).book(Some(&part));
        let solver = Solver::new(options).unwrap();
        for (position, bounds) in whole.iter() {
            assert_eq!(solver.score(&position, random.u32(..10)).unwrap(), bounds.lower, "{position}");
        }
    }
    let options = SolverOptions::new(RULES, &start).transpositions(1 << 20).book(Some(&whole));
    let solver = Solver::new(options).unwrap();
    for (position, bounds) in whole.iter() {
        assert_eq!(solver.score(&position, 0).unwrap(), bounds.lower);
    }
    assert_eq!(solver.nodes(), 0);
}

#[test]
fn a_wrong_bound_is_found() {
    let start = position("3x3");
    let whole = made(RULES, &start, 2);
    let solver = solver(RULES, &start);
    for (index, (position, bounds)) in whole.iter().enumerate() {
        assert_eq!(check_by_search(&solver, &position, bounds).unwrap(), None);
        let score = bounds.lower;
        let wrong = if index % 2 == 0 { score + 1 } else { score.wrapping_sub(1) };
        if wrong > position.seeds() {
            continue;
        }
        for wrong in [Bounds { lower: wrong, upper: wrong }, Bounds { lower: wrong, upper: position.seeds() }] {
            let is_true = (wrong.lower..=wrong.upper).contains(&score);
            assert_eq!(check_by_search(&solver, &position, wrong).unwrap().is_none(), is_true, "{position}");
        }
    }
    // The value of the start follows from the positions after its moves.
    let mut book = Book::new(RULES, 3);
    for (position, Bounds { lower, upper }) in whole.iter() {
        let by = u32::from(position == start);
        book.add(&position, Bounds { lower: lower + by, upper: upper + by }).unwrap();
    }
    let error = check_neighbours(&book, None, &mut |_| true).unwrap_err();
    assert!(error.to_string().contains(&start.to_string()), "{error}");
}

#[test]
fn books_are_merged() {
    let start = position("3x3");
    let whole = made(RULES, &start, 2);
    let mut halves = [Book::new(RULES, 3), Book::new(RULES, 3)];
    for (index, (position, bounds)) in whole.iter().enumerate() {
        halves[index % 2].add(&position, bounds).unwrap();
    }
    let [mut one, other] = halves;
    assert_eq!(one.merge(&other).unwrap(), other.len());
    assert_eq!(one, whole);
    assert_eq!(one.merge(&whole).unwrap(), 0);
    let foreign = one.merge(&Book::new(Rules::Standard, 3)).unwrap_err();
    assert!(matches!(foreign, BookError::Other { .. }), "{foreign}");
    let (entry, bounds) = whole.iter().last().unwrap();
    let mut wrong = Book::new(RULES, 3);
    wrong.add(&entry, Bounds { lower: bounds.upper + 1, upper: entry.seeds() }).unwrap();
    assert!(matches!(one.merge(&wrong), Err(BookError::Claim(ClaimError::Contradiction { .. }))));
    assert_eq!(one, whole);
}

/// Values that follow from those of the first turn are derived.
#[test]
fn what_follows_is_derived() {
    let start = position("3x3");
    let whole = made(RULES, &start, 1);
    let mut openings = Book::new(RULES, 3);
    for (position, bounds) in whole.iter().filter(|(position, _)| *position != start) {
        openings.add(&position, bounds).unwrap();
    }
    assert!(derive(&mut openings, &start, 1).unwrap() > 0);
    assert_eq!(openings, whole);
}

/// The built-in books: every entry agrees with those after its moves, and the values of games are the published ones.
#[test]
fn the_books_of_the_program_are_sound() {
    let published = [
        (RULES, "6x4", 10),
        (RULES, "6x5", 12),
        (RULES, "6x6", 2),
        (Rules::Standard, "6x4", 8),
        (Rules::Standard, "6x5", 10),
    ];
    for (rules, start, value) in published {
        let book = Book::shipped(rules, 6).expect("there is one");
        let start = position(start);
        let recalled = book.recall(&start, None).unwrap();
        assert_eq!(recalled.score().map(|score| start.value(score)), Some(value), "{start}");
        assert!(recalled.is_exact());
    }
    for book in [RULES, Rules::Standard].map(|rules| Book::shipped(rules, 6).unwrap()) {
        check_neighbours(book, None, &mut |_| true).unwrap();
        assert_eq!(Book::from_bytes(&book.to_bytes()).unwrap(), *book);
    }
    assert!(Book::shipped(RULES, 5).is_none());
    assert!(Books::none().get(RULES, 6).is_none());
}

/// A sample of the built-in book of Kalah(6,4) is proved again, without a book and with tables of few seeds.
#[test]
fn a_sample_of_the_program_s_books_is_proved_again() {
    for rules in [RULES, Rules::Standard] {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), rules, 6, 16).unwrap();
        let tables = Tables::open(directory.path(), rules, 6, 16).unwrap();
        // Positions with few seeds are proved at once.
        let few: Vec<_> =
            Book::shipped(rules, 6).unwrap().iter().take_while(|(position, _)| position.seeds() <= 38).collect();
        assert!(few.len() > 10);
        let start = few.last().unwrap().0;
        let solver =
            Solver::new(SolverOptions::new(rules, &start).tables(Some(&tables)).transpositions(1 << 24)).unwrap();
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..8 {
            let (position, bounds) = few[random.usize(..few.len())];
            assert_eq!(check_by_search(&solver, &position, bounds).unwrap(), None, "{position}");
        }
    }
}

/// Without tables, the perfect player plays the first turns of Kalah(6,4) from the book and loses no seed.
#[test]
fn the_perfect_player_keeps_the_value_in_the_opening() {
    for (rules, value) in [(RULES, 10), (Rules::Standard, 8)] {
        let setting = Setting {
            book: Book::shipped(rules, 6),
            memory: SearchMemory::shared(None, 1 << 20),
            ..Setting::new(rules)
        };
        let (mut place, mut worth, mut turns) = (position("6x4"), value, 0);
        loop {
            let mut player = PlayerName::Perfect.player(&setting);
            let choice =
                player.choose(&place, &Cancel::new().within(std::time::Duration::from_millis(1)), &mut |_| ()).unwrap();
            if choice.source != Source::Book {
                break;
            }
            assert_eq!(choice.worth, Worth::Exact(worth), "{place}");
            let played = place.play(rules, choice.pit).unwrap();
            (place, worth) = (played.position, if played.again { worth } else { -worth });
            turns += u32::from(!played.again);
        }
        assert!(turns >= 3, "{turns}");
    }
}

/// Runs the program with its tables and books in `directory`.
fn kalah(directory: &Path, arguments: &[&str]) -> Output {
    program::command().env("KALAH_TABLES", directory).args(arguments).run()
}

fn json(directory: &Path, arguments: &[&str]) -> Value {
    kalah(directory, &[arguments, &["--json"]].concat()).success().json()
}

#[test]
fn a_book_beside_the_tables_is_made_used_and_checked() {
    let directory = tempfile::tempdir().unwrap();
    let (directory, file) = (directory.path(), directory.path().join("empty-capture-3.book"));
    let messages = kalah(directory, &["book", "check", "--pits", "3"]).exits(1).stderr();
    assert!(messages.contains("there is no book for empty-capture with 3 pits"), "{messages}");
    let searched = json(directory, &["solve", "3x3", "--no-book"]);
    assert!(searched["nodes"].as_u64().unwrap() > 0 && searched["source"] == "solver");

    let report = json(directory, &["book", "make", "3x3", "--turns", "2"]);
    assert!(file.exists() && report["open"] == 0, "{report}");
    assert_eq!(Book::open(&file).unwrap(), made(RULES, &position("3x3"), 2));
    let again = json(directory, &["book", "make", "3x3", "--turns", "2"]);
    assert_eq!((&again["searched"], &again["positions"]), (&0.into(), &report["positions"]));

    let solved = json(directory, &["solve", "3x3"]);
    assert_eq!((&solved["source"], &solved["nodes"]), (&"book".into(), &0.into()));
    assert_eq!((&solved["value"], &solved["best"]), (&searched["value"], &searched["best"]));
    assert_eq!(solved["line_open"], true);
    assert!(searched["line_open"].is_null());
    let text = kalah(directory, &["solve", "3x3"]).stdout();
    assert!(text.contains(", from the book\n") && text.contains("(the book ends here"), "{text}");
    let value = searched["value"].as_i64().unwrap();
    for (flag, bound, proved) in
        [("--at-least", value, true), ("--at-least", value + 1, false), ("--at-most", value, true)]
    {
        let test = json(directory, &["solve", "3x3", &format!("{flag}={bound}")]);
        assert_eq!((&test["proved"], &test["source"], &test["nodes"]), (&proved.into(), &"book".into(), &0.into()));
    }
    let [from_book, searched] = [&["solve", "3x3", "--openings"][..], &["solve", "3x3", "--openings", "--no-book"]]
        .map(|arguments| json(directory, arguments));
    let values = |answer: &Value| -> Vec<(String, i64)> {
        let openings = answer["openings"].as_array().unwrap().iter();
        openings.map(|row| (row["move"].to_string(), row["value"].as_i64().unwrap())).collect()
    };
    assert_eq!(values(&from_book), values(&searched));
    assert_eq!((&from_book["value"], &from_book["best"]), (&searched["value"], &searched["best"]));
    // The proof of a saved search needs the tables alone.
    let saved = directory.join("search");
    let saved = json(directory, &["solve", "3x3", "--state", saved.to_str().unwrap()]);
    assert!(saved["nodes"].as_u64().unwrap() > 0 && saved["source"] == "solver");

    let moved = json(directory, &["move", "3x3"]);
    assert_eq!((&moved["source"], &moved["value"]), (&"book".into(), &value.into()));
    assert_eq!(json(directory, &["move", "3x3", "--no-book"])["source"], "solver");
    let probed = json(directory, &["probe", "3x3"]);
    assert_eq!(
        (&probed["source"], &probed["value"], &probed["best"]),
        (&"book".into(), &value.into(), &solved["best"])
    );
    assert_eq!(kalah(directory, &["probe", "3x3", "--no-book"]).code(), 1);
    let summary = json(directory, &["book", "show", "--pits", "3"]);
    assert_eq!((&summary["starts"][0]["value"], &summary["positions"]), (&value.into(), &report["positions"]));

    let check = ["book", "check", "--pits", "3"];
    let checked = json(directory, &check);
    assert_eq!(checked["searched"], report["positions"]);
    assert_eq!(json(directory, &[&check[..], &["--sample", "3"]].concat())["searched"], 3);
    let bytes = std::fs::read(&file).unwrap();
    let mut damaged = bytes.clone();
    damaged[100] ^= 1;
    std::fs::write(&file, &damaged).unwrap();
    for arguments in [&check[..], &["solve", "3x3"], &["probe", "3x3"], &["move", "3x3"]] {
        let ran = kalah(directory, arguments);
        assert!(ran.code() == 3 && ran.stderr().contains("empty-capture-3.book"), "{arguments:?}: {}", ran.stderr());
    }
    assert_eq!(kalah(directory, &["solve", "3x3", "--no-book"]).code(), 0);
    std::fs::write(&file, &bytes[..50]).unwrap();
    assert_eq!(kalah(directory, &check).code(), 3);

    // One bound is raised by one.
    let whole = Book::from_bytes(&bytes).unwrap();
    let wrong = directory.join("wrong.book");
    let few: Vec<_> = whole.iter().filter(|(position, bounds)| bounds.upper < position.seeds()).collect();
    for (changed, _) in few.iter().step_by(few.len() / 3) {
        let mut book = Book::new(RULES, 3);
        for (position, Bounds { lower, upper }) in whole.iter() {
            let by = u32::from(position == *changed);
            book.add(&position, Bounds { lower: lower + by, upper: upper + by }).unwrap();
        }
        book.write(&wrong).unwrap();
        let ran = kalah(directory, &["book", "check", wrong.to_str().unwrap()]);
        assert!(ran.code() == 3 && ran.stderr().contains("wrong.book: its bounds"), "{}", ran.stderr());
    }
}

#[test]
fn imported_books_are_merged() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    made(RULES, &position("3x3"), 1).write(Path::new(&path("first.book"))).unwrap();
    let imported = json(directory, &["book", "import", &path("first.book"), "--output", &path("imported.book")]);
    assert!(imported["added"].as_u64().unwrap() > 0, "{imported}");
    let book = Book::open(Path::new(&path("imported.book"))).unwrap();
    assert_eq!(book.rules(), RULES);
    for (position, bounds) in book.iter() {
        assert!((bounds.lower..=bounds.upper).contains(&score(RULES, &position)), "{position}");
    }
    let recalled = book.recall(&position("3x3"), None).unwrap();
    assert!(recalled.is_exact());

    made(RULES, &position("3x2"), 2).write(Path::new(&path("small.book"))).unwrap();
    let import = ["book", "import", &path("imported.book"), &path("small.book"), "--output", &path("both.book")];
    json(directory, &import);
    let both = Book::open(Path::new(&path("both.book"))).unwrap();
    assert!(both.get(&position("3x2")).is_some() && both.get(&position("3x3")).is_some());
    made(Rules::Standard, &position("3x2"), 1).write(Path::new(&path("standard.book"))).unwrap();
    let ran =
        kalah(directory, &["book", "import", &path("both.book"), &path("standard.book"), "--output", &path("x.book")]);
    assert!(ran.code() == 1 && ran.stderr().contains("it is a book for standard with 3 pits"), "{}", ran.stderr());
    let mut wrong = Book::new(RULES, 3);
    wrong.add(&position("3x3"), Bounds { lower: 18, upper: 18 }).unwrap();
    wrong.write(Path::new(&path("wrong.book"))).unwrap();
    let ran =
        kalah(directory, &["book", "import", &path("both.book"), &path("wrong.book"), "--output", &path("x.book")]);
    assert!(ran.code() == 3 && ran.stderr().contains("contradict"), "{}", ran.stderr());
    std::fs::write(path("other"), "{}").unwrap();
    assert_eq!(kalah(directory, &["book", "import", &path("other"), "--output", &path("x.book")]).code(), 3);
}

#[test]
fn the_claims_of_a_certificate_are_imported() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let proof =
        ["prove", "3x3", "--proof", &path("proof"), "--effort", "4", "--no-tables", "--certificate", &path("c")];
    let claims = json(directory, &proof)["certificate"]["claims"].as_u64().unwrap();
    let imported = json(directory, &["book", "import", &path("c"), "--output", &path("imported.book")]);
    assert!(imported["added"].as_u64().unwrap() >= claims && claims > 10, "{imported}");
    let book = Book::open(Path::new(&path("imported.book"))).unwrap();
    assert_eq!(book.rules(), RULES);
    for (position, bounds) in book.iter() {
        assert!((bounds.lower..=bounds.upper).contains(&score(RULES, &position)), "{position}");
    }
    let mut bytes = std::fs::read(path("c")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(path("c"), bytes).unwrap();
    assert_eq!(kalah(directory, &["book", "import", &path("c"), "--output", &path("x.book")]).code(), 3);
}

/// With the claims of the certificate of Kalah(6,6), both sides keep the proved value with tables to only 18 seeds.
#[test]
fn a_certificate_is_enough_for_a_perfect_game_of_kalah_6_6() {
    let (rules, start) = (Rules::Standard, position("6x6"));
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), rules, 6, 18).unwrap();
    let tables = Tables::open(directory.path(), rules, 6, 18).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("certificates/large/standard-6x6.certificate");
    let claims = Certificate::read(&path).unwrap().claims;
    let mut book = Book::new(rules, 6);
    book.add_all(claims.iter().map(|claim| (claim.position, claim.bounds))).unwrap();
    let setting = Setting {
        tables: Some(&tables),
        book: Some(&book),
        memory: SearchMemory::shared(None, 1 << 28),
        ..Setting::new(rules)
    };
    let mut players = [(); 2].map(|()| PlayerName::Perfect.player(&setting));
    let game = play_game(rules, &start, &mut players, None, &Cancel::new()).unwrap();
    assert_eq!(game.value(), 4, "{}", game.line());
}

/// `book show` takes the rules and pits from the file, and refuses others.
#[test]
fn a_file_s_own_rules_are_shown_and_no_others() {
    let directory = tempfile::tempdir().unwrap();
    let book = made(Rules::Standard, &position("3,3,3/3,3,3"), 1);
    let path = directory.path().join("some.book");
    book.write(&path).unwrap();
    let file = path.to_str().unwrap();
    let shown = json(directory.path(), &["book", "show", "--book", file]);
    assert_eq!((shown["rules"].as_str(), shown["pits"].as_u64()), (Some("standard"), Some(3)));
    for other in [["--rules", "empty-capture"], ["--pits", "4"]] {
        let ran = kalah(directory.path(), &[&["book", "show", "--book", file], &other[..]].concat()).exits(2);
        assert!(ran.stderr().contains("cannot be used with"), "{}", ran.stderr());
    }
}

/// The built-in book is used where there are no tables.
#[test]
fn the_program_answers_from_its_book() {
    let directory = tempfile::tempdir().unwrap();
    for (rules, board, value) in [("empty-capture", "6x6", 2), ("standard", "6x4", 8), ("standard", "6x6", 4)] {
        let solved = json(directory.path(), &["solve", board, "--rules", rules]);
        assert_eq!((&solved["value"], &solved["nodes"]), (&value.into(), &0.into()), "{solved}");
        let moved = json(directory.path(), &["move", board, "--rules", rules]);
        assert_eq!((&moved["value"], &moved["source"]), (&value.into(), &"book".into()));
    }
}
