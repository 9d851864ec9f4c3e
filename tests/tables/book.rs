//! The book: its bytes, adding and looking up positions, the built-in book, and the commands that use it.
#![cfg(feature = "cli")]

use std::path::Path;
use std::time::Duration;

use kalah::book::{Book, BookError, Books, MakeOptions, check_by_search, check_neighbours, derive, make};
use kalah::build::build;
use kalah::cancel::Cancel;
use kalah::certificate::{Certificate, ClaimError};
use kalah::game::{Bounds, Position, Row, Rules};
use kalah::play::{PlayerName, Setting, Source, Worth, play_game};
use kalah::solve::{SearchMemory, SolveError, Solver, SolverOptions};
use kalah::table::Tables;
use kalah_tests::files::flip;
use kalah_tests::place::Place;
use kalah_tests::program::Ran;
use kalah_tests::tables::opened;
use proptest::prelude::*;
use serde_json::Value;

const RULES: Rules = Rules::EmptyCapture;

fn position(literal: &str) -> Position {
    literal.parse().unwrap()
}

/// Score of a position by the tables.
fn score(rules: Rules, position: &Position) -> u32 {
    opened(rules, 3, 18).score(position).unwrap()
}

/// Makes a solver without tables and without a book.
fn solver(rules: Rules, start: &Position) -> Solver<'static> {
    Solver::new(SolverOptions::new(rules, start).transpositions(1 << 22)).unwrap()
}

/// Makes a book of the first turns from `start`, also after moves that lose up to `loss` seeds.
fn made_with(rules: Rules, start: &str, turns: u32, loss: Option<u32>) -> Book {
    let (start, options) = (position(start), MakeOptions { turns, loss, within: None });
    let mut book = Book::new(rules, start.pits());
    make(&solver(rules, &start), &start, &options, &mut book, &mut |_, _| Ok(())).unwrap();
    book
}

/// Makes a book of the first turns from `start`.
fn made(rules: Rules, start: &str, turns: u32) -> Book {
    made_with(rules, start, turns, MakeOptions::default().loss)
}

/// The same book with other bounds of some positions.
fn rebound(book: &Book, change: impl FnMut((Position, Bounds)) -> Option<(Position, Bounds)>) -> Book {
    let mut changed = Book::new(book.rules(), book.pits());
    changed.add_all(book.iter().filter_map(change)).unwrap();
    changed
}

/// The same book with a bound of one position that is too high by one.
fn raised(book: &Book, wrong: &Position) -> Book {
    rebound(book, |(position, Bounds { lower, upper })| {
        let by = u32::from(position == *wrong);
        Some((position, Bounds { lower: lower + by, upper: upper + by }))
    })
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
    let bytes = made(RULES, "3x3", 2).to_bytes();
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
        for (turns, loss) in [(0, None), (1, None), (3, None), (3, Some(1))] {
            let book = made_with(rules, start, turns, loss);
            assert_eq!(book.len(), book.exact());
            assert!(book.get(&position(start)).is_some());
            for (position, bounds) in book.iter() {
                assert_eq!(bounds.lower, score(rules, &position), "{position}");
            }
            check_neighbours(&book, None, &mut |_| true).unwrap();
        }
        let whole = made(rules, start, 3);
        assert!(whole.len() > made(rules, start, 1).len());
        // The largest loss excludes no move.
        assert_eq!(made_with(rules, start, 3, Some(u32::MAX)).to_bytes(), whole.to_bytes());
    }
}

#[test]
fn a_stopped_book_goes_on_to_the_same_bytes() {
    let (start, options) = (position("3x3"), MakeOptions { turns: 3, ..MakeOptions::default() });
    let mut book = Book::new(RULES, 3);
    for steps in [1, 2, 5, 11, usize::MAX] {
        let mut left = steps;
        let ended = make(&solver(RULES, &start), &start, &options, &mut book, &mut |_, step| {
            left -= usize::from(step.searched);
            if left == 0 { Err(SolveError::Stopped) } else { Ok(()) }
        });
        assert_eq!(ended.is_ok(), steps == usize::MAX);
        book = Book::from_bytes(&book.to_bytes()).unwrap();
    }
    assert_eq!(book, made(RULES, "3x3", 3));
}

/// With any part of a book, also with wide bounds, a solver finds the scores of the tables. If the position itself is
/// in the book, it does not search.
#[test]
fn solvers_with_a_book_find_the_same_scores() {
    let (start, whole) = (position("3x3"), made(RULES, "3x3", 3));
    let options = || SolverOptions::new(RULES, &start).transpositions(1 << 20);
    let mut random = fastrand::Rng::with_seed(16);
    for _ in 0..20 {
        let part = rebound(&whole, |(position, Bounds { lower, upper })| {
            let bounds = Bounds { lower: lower - random.u32(..3).min(lower), upper: upper + random.u32(..3) };
            (random.u32(..4) == 0).then_some((position, bounds))
        });
        let solver = Solver::new(options().book(Some(&part))).unwrap();
        for (position, bounds) in whole.iter() {
            assert_eq!(solver.score(&position, random.u32(..10)).unwrap(), bounds.lower, "{position}");
        }
    }
    let solver = Solver::new(options().book(Some(&whole))).unwrap();
    for (position, bounds) in whole.iter() {
        assert_eq!(solver.score(&position, 0).unwrap(), bounds.lower);
    }
    assert_eq!(solver.nodes(), 0);
}

#[test]
fn a_wrong_bound_is_found() {
    let (start, whole) = (position("3x3"), made(RULES, "3x3", 2));
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
    let error = check_neighbours(&raised(&whole, &start), None, &mut |_| true).unwrap_err();
    assert!(error.to_string().contains(&start.to_string()), "{error}");
}

/// Values that follow from those of the first turn are derived.
#[test]
fn what_follows_is_derived() {
    let (start, whole) = (position("3x3"), made(RULES, "3x3", 1));
    let mut openings = rebound(&whole, |entry| (entry.0 != start).then_some(entry));
    assert!(derive(&mut openings, &start, 1).unwrap() > 0);
    assert_eq!(openings, whole);
}

#[test]
fn the_entries_of_built_in_books_agree_with_those_after_their_moves() {
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
        let options = SolverOptions::new(rules, &start).tables(Some(&tables));
        let solver = Solver::new(options.transpositions(1 << 24)).unwrap();
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
            let soon = Cancel::new().within(Duration::from_millis(1));
            let choice = player.choose(&place, &soon, &mut |_| ()).unwrap();
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

fn json(place: &Place, line: &str) -> Value {
    place.run(&format!("{line} --json")).success().json()
}

#[test]
fn a_book_beside_the_tables_is_made_used_and_checked() {
    let place = Place::empty();
    place.run("book check --pits 3").fails(1, "there is no book for empty-capture with 3 pits");
    let searched = json(&place, "solve 3x3 --no-book");
    assert!(searched["nodes"].as_u64().unwrap() > 0 && searched["source"] == "solver");
    let value = searched["value"].as_i64().unwrap();

    let report = json(&place, "book make 3x3 --turns 2");
    assert_eq!(report["open"], 0, "{report}");
    assert_eq!(Book::open(place.at("empty-capture-3.book")).unwrap(), made(RULES, "3x3", 2));
    let again = json(&place, "book make 3x3 --turns 2");
    assert_eq!((&again["searched"], &again["positions"]), (&0.into(), &report["positions"]));

    let solved = json(&place, "solve 3x3");
    assert_eq!((&solved["value"], &solved["best"]), (&searched["value"], &searched["best"]));
    assert_eq!((&solved["line_open"], &searched["line_open"]), (&true.into(), &Value::Null));
    place.run("solve 3x3").success().prints(", from the book\n").prints("(the book ends here");
    let proved = [("--at-least", value, true), ("--at-least", value + 1, false), ("--at-most", value, true)];
    let tests = proved.map(|(flag, bound, proved)| {
        let test = json(&place, &format!("solve 3x3 {flag}={bound}"));
        assert_eq!(test["proved"], proved, "{flag} {bound}");
        test
    });
    for answer in tests.iter().chain([&solved]) {
        assert_eq!((&answer["source"], &answer["nodes"]), (&"book".into(), &0.into()), "{answer}");
    }
    let openings = ["solve 3x3 --openings", "solve 3x3 --openings --no-book"].map(|line| {
        let answer = json(&place, line);
        let values = answer["openings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["move"].clone(), row["value"].as_i64().unwrap()));
        (values.collect::<Vec<_>>(), answer["value"].clone(), answer["best"].clone())
    });
    assert_eq!(openings[0], openings[1]);
    // The proof of a saved search needs the tables alone.
    let saved = json(&place, "solve 3x3 --state search");
    assert!(saved["nodes"].as_u64().unwrap() > 0 && saved["source"] == "solver");

    for answer in ["move 3x3", "probe 3x3"].map(|line| json(&place, line)) {
        assert_eq!((&answer["source"], &answer["value"]), (&"book".into(), &value.into()), "{answer}");
    }
    assert_eq!(json(&place, "probe 3x3")["best"], solved["best"]);
    assert_eq!(json(&place, "move 3x3 --no-book")["source"], "solver");
    place.run("probe 3x3 --no-book").exits(1);
    let summary = json(&place, "book show --pits 3");
    assert_eq!((&summary["starts"][0]["value"], &summary["positions"]), (&value.into(), &report["positions"]));
    assert_eq!(json(&place, "book check --pits 3")["searched"], report["positions"]);
    assert_eq!(json(&place, "book check --pits 3 --sample 3")["searched"], 3);
}

#[test]
fn a_damaged_or_wrong_book_is_found() {
    let (place, whole) = (Place::empty(), made(RULES, "3x3", 2));
    let mut damaged = whole.to_bytes();
    damaged[100] ^= 1;
    for bytes in [&damaged[..], &whole.to_bytes()[..50], b"no book"] {
        place.write("empty-capture-3.book", bytes);
        for line in ["book check --pits 3", "solve 3x3", "probe 3x3", "move 3x3", "engine"] {
            place.run(line).fails(3, "empty-capture-3.book");
        }
    }
    place.run("solve 3x3 --no-book").success();
    place.run("solve 3x2 --rules standard").success();

    let few: Vec<_> = whole.iter().filter(|(position, bounds)| bounds.upper < position.seeds()).collect();
    for (changed, _) in few.iter().step_by(few.len() / 3) {
        raised(&whole, changed).write(place.at("wrong.book")).unwrap();
        place.run("book check wrong.book").fails(3, "wrong.book: its bounds");
    }
}

/// Fails if a book has a bound that contradicts the tables.
fn assert_right(book: &Book) {
    assert_eq!(book.rules(), RULES);
    for (position, bounds) in book.iter() {
        assert!((bounds.lower..=bounds.upper).contains(&score(RULES, &position)), "{position}");
    }
}

/// Claims of a book, or of a certificate, are imported into another book.
#[test]
fn imported_books_are_merged() {
    let place = Place::empty();
    let import = |files: &str| {
        let imported = json(&place, &format!("book import {files} --output x.book"));
        let book = Book::open(place.at("x.book")).unwrap();
        std::fs::remove_file(place.at("x.book")).unwrap();
        assert_right(&book);
        (imported["added"].as_u64().unwrap(), book)
    };
    let whole = made(RULES, "3x3", 2);
    let half = |remainder| {
        let mut numbers = 0..;
        rebound(&whole, |entry| (numbers.next()? % 2 == remainder).then_some(entry))
    };
    for (name, book) in [
        ("even", half(0)),
        ("odd", half(1)),
        ("small", made(RULES, "3x2", 2)),
        ("standard", made(Rules::Standard, "3x2", 1)),
    ] {
        book.write(place.at(name)).unwrap();
    }
    assert_eq!(import("even odd odd"), (whole.len() as u64, whole.clone()));
    assert!(whole.recall(&position("3x3"), None).unwrap().is_exact());
    let (_, both) = import("even odd small");
    assert!(both.get(&position("3x2")).is_some() && both.get(&position("3x3")).is_some());

    let proved = json(&place, "prove 3x3 --proof proof --effort 4 --no-tables --certificate certificate");
    let claims = proved["certificate"]["claims"].as_u64().unwrap();
    assert!(import("certificate").0 >= claims && claims > 10, "{claims}");

    let mut wrong = Book::new(RULES, 3);
    wrong.add(&position("3x3"), Bounds { lower: 18, upper: 18 }).unwrap();
    wrong.write(place.at("wrong")).unwrap();
    place.write("other", "{}");
    flip(&place.at("certificate"), place.read("certificate").len() - 1, 1);
    for (files, code, message) in [
        ("odd standard", 1, "it is a book for standard with 3 pits"),
        ("even odd wrong", 3, "contradict"),
        ("other", 3, "other: it is not a book"),
        ("certificate", 3, "certificate"),
    ] {
        place.run(&format!("book import {files} --output x.book")).fails(code, message);
        assert!(!place.at("x.book").exists());
    }
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
    let place = Place::empty();
    made(Rules::Standard, "3,3,3/3,3,3", 1).write(place.at("some.book")).unwrap();
    let shown = json(&place, "book show --book some.book");
    assert_eq!((shown["rules"].as_str(), shown["pits"].as_u64()), (Some("standard"), Some(3)));
    for other in ["--rules empty-capture", "--pits 4"] {
        place.run(&format!("book show --book some.book {other}")).fails(2, "cannot be used with");
    }
}

/// The built-in book is used where there are no tables. The values of games are the published ones.
#[test]
fn the_program_answers_from_its_book() {
    let place = Place::empty();
    for (rules, values) in
        [("empty-capture", [("6x4", 10), ("6x5", 12), ("6x6", 2)]), ("standard", [("6x4", 8), ("6x5", 10), ("6x6", 4)])]
    {
        for (board, value) in values {
            let [solved, moved] =
                ["solve", "move"].map(|command| json(&place, &format!("{command} {board} --rules {rules}")));
            assert_eq!((&solved["value"], &solved["nodes"]), (&value.into(), &0.into()), "{solved}");
            assert_eq!((&moved["value"], &moved["source"]), (&value.into(), &"book".into()), "{moved}");
        }
    }
}
