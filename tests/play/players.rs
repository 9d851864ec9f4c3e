//! Players: the perfect player against the tables, searches against a slow one, and the algorithms of Pekař et al. 2020
//! move by move.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kalah::book::Book;
use kalah::cancel::Cancel;
use kalah::evaluation::PhasedNetwork;
use kalah::game::{Bounds, Pit, Position, Row, Rules};
use kalah::play::{Choice, PlayError, PlayerName, Setting, Source, Worth, play_game};
use kalah::progress::Pulse;
use kalah::solve::SearchMemory;
use kalah::table::{AllTables, BoundMaker, BoundTable, BoundTables, Cuts, Tables};
use kalah_tests::files::copied;
use kalah_tests::random::random_network;
use kalah_tests::tables::built;
use proptest::prelude::*;

/// Tables of 6 pits by all rule sets, built once.
fn directory() -> &'static Path {
    built(&Rules::ALL.map(|rules| (rules, 6, SEEDS)))
}

const SEEDS: usize = 10;

fn tables(rules: Rules) -> Tables {
    Tables::open(directory(), rules, 6, SEEDS).unwrap()
}

/// Makes bound tables of the layers from 5 seeds up.
fn bounds(rules: Rules) -> BoundTables {
    let network = PhasedNetwork::find(directory(), rules, 6).unwrap().unwrap();
    let maker = BoundMaker::new(network.first(), Cuts::TWO_BITS);
    let (tables, place) = (tables(rules), tempfile::tempdir().unwrap());
    let make = |seeds| maker.write(tables.layer(seeds).unwrap(), place.path(), &Pulse::default()).unwrap();
    let layers = (5..=SEEDS).map(|seeds| Arc::new(BoundTable::open(make(seeds)).unwrap())).collect();
    BoundTables::new(directory(), layers).unwrap()
}

fn name(text: &str) -> PlayerName {
    text.parse().unwrap()
}

fn start(text: &str) -> Position {
    text.parse().unwrap()
}

/// A setting with little memory for searches.
fn small(rules: Rules) -> Setting<'static> {
    Setting { memory: SearchMemory::shared(None, 1 << 20), ..Setting::new(rules) }
}

fn choose_within(player: &str, setting: &Setting, position: &Position, cancel: &Cancel) -> Result<Choice, PlayError> {
    name(player).player(setting).choose(position, cancel, &mut |_| ())
}

fn choose(player: &str, setting: &Setting, position: &Position) -> Choice {
    choose_within(player, setting, position, &Cancel::new()).unwrap()
}

fn position(pits: usize, seeds: u32) -> impl Strategy<Value = Position> {
    (prop::collection::vec(0..2 * pits, 2..=seeds as usize), 0u32..9, 0u32..9)
        .prop_map(move |(places, own, other)| {
            let mut rows = vec![0; 2 * pits];
            places.into_iter().for_each(|place| rows[place] += 1);
            let row = |seeds| Row::new(seeds).unwrap();
            Position::new(row(&rows[..pits]), row(&rows[pits..]), own, other).unwrap()
        })
        .prop_filter("the game goes on", |position| !position.is_over())
}

fn rules() -> impl Strategy<Value = Rules> {
    prop::sample::select(&Rules::ALL[..])
}

/// Value and first best move by a minimax search on the difference of the stores, to `depth` moves.
fn slow_minimax(rules: Rules, position: &Position, depth: u32) -> (i64, Option<Pit>) {
    if let Some(value) = position.final_value() {
        return (value, None);
    }
    if depth == 0 {
        return (i64::from(position.mover_store()) - i64::from(position.other_store()), None);
    }
    let weighed = position.moves().map(|pit| {
        let played = position.play(rules, pit).unwrap();
        let (value, _) = slow_minimax(rules, &played.position, depth - 1);
        (played.mover_value(value), Some(pit))
    });
    first_best(weighed)
}

/// The first of those with the most value.
fn first_best<T>(weighed: impl Iterator<Item = (i64, T)>) -> (i64, T) {
    weighed.reduce(|best, next| if next.0 > best.0 { next } else { best }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_perfect_player_never_gets_less_than_the_value(
        rules in rules(),
        start in position(6, SEEDS as u32),
        seed: u16,
    ) {
        let tables = tables(rules);
        let value = tables.probe(&start).unwrap().value;
        let setting = Setting { tables: Some(&tables), ..Setting::new(rules) };
        let stop = Arc::default();
        let seats = |first: &str, second: &str| {
            let mut players = [name(first).player(&setting), name(second).player(&setting)];
            play_game(rules, &start, &mut players, None, &stop).unwrap()
        };
        prop_assert_eq!(seats("perfect", "perfect").value(), value);
        for other in ["greedy", "heuristic", &format!("random:{seed}")] {
            prop_assert!(seats("perfect", other).value() >= value, "first, against {}", other);
            prop_assert!(seats(other, "perfect").value() <= value, "second, against {}", other);
        }
    }

    #[test]
    fn the_perfect_player_gives_the_value_with_any_tables(rules in rules(), start in position(6, SEEDS as u32)) {
        let (large, bounds) = (tables(rules), bounds(rules));
        let probe = large.probe(&start).unwrap();
        let few = Tables::open(directory(), rules, 6, 4).unwrap();
        for (tables, bounds) in [(Some(&large), None), (Some(&few), None), (None, None), (Some(&few), Some(&bounds))] {
            let choice = choose("perfect", &Setting { tables, bounds, ..small(rules) }, &start);
            match choice.source {
                Source::OnlyMove => prop_assert_eq!(start.moves().count(), 1),
                _ => prop_assert_eq!(choice.worth, Worth::Exact(probe.value)),
            }
            prop_assert!(probe.best().any(|pit| pit == choice.pit), "{} {}: {:?}", rules, start, choice);
        }
    }

    #[test]
    fn a_perfect_player_out_of_time_has_a_legal_move_and_claims_no_more_than_is_true(
        rules in rules(),
        start in position(6, SEEDS as u32),
        micros in 0u64..3000,
    ) {
        let tables = tables(rules);
        let probe = tables.probe(&start).unwrap();
        let cancel = Cancel::new().within(Duration::from_micros(micros));
        let choice = choose_within("perfect", &small(rules), &start, &cancel).unwrap();
        let score = tables.move_scores(&start).unwrap().iter().find(|&&(pit, _)| pit == choice.pit).unwrap().1;
        match choice.worth {
            Worth::Exact(value) => {
                prop_assert_eq!(value, probe.value);
                prop_assert_eq!(start.value(score), value);
            }
            Worth::Bounds { lower, upper } => {
                prop_assert!(lower <= start.value(score) && probe.value <= upper && lower < upper);
            }
            Worth::Evaluation(_) | Worth::Unknown => {}
        }
    }

    #[test]
    fn minimax_and_alpha_beta_are_a_slow_minimax(rules in rules(), start in position(4, 20), depth in 1u32..5) {
        let right = slow_minimax(rules, &start, depth);
        for kind in ["minimax", "alphabeta"] {
            let mut player = name(&format!("{kind}:{depth}")).player(&Setting::new(rules));
            for cancel in [Cancel::new(), Cancel::new().within(Duration::from_secs(3600))] {
                let choice = player.choose(&start, &cancel, &mut |_| ()).unwrap();
                prop_assert_eq!((choice.worth, Some(choice.pit)), (Worth::Evaluation(right.0), right.1));
                prop_assert_eq!(choice.source, Source::Depth(depth));
            }
        }
    }

    #[test]
    fn every_player_answers_every_position_with_a_legal_move(rules in rules(), start in position(5, 60)) {
        for player in ["minimax:3", "alphabeta:4", "heuristic", "minimax2:2", "minimax3:2", "greedy", "random"] {
            let choice = choose(player, &Setting::new(rules), &start);
            prop_assert!(start.play(rules, choice.pit).is_ok(), "{}: {:?}", player, choice);
        }
    }

    #[test]
    fn the_greedy_player_stores_most(rules in rules(), start in position(6, 30)) {
        let gain = |pit| {
            let played = start.play(rules, pit).unwrap();
            let own = if played.again { played.position } else { played.position.turned() };
            let swept = if own.is_over() { own.mover().total() } else { 0 };
            i64::from(own.mover_store() + swept - start.mover_store())
        };
        let choice = choose("greedy", &Setting::new(rules), &start);
        let most = start.moves().map(gain).max().unwrap();
        prop_assert_eq!(gain(choice.pit), most);
        prop_assert_eq!(choice.worth, Worth::Evaluation(most));
    }

    /// Without pruning, written from the paper: they count turns, and use formula (4) for the player at the root.
    /// Algorithm 3 does not search safe moves.
    #[test]
    fn minimax2_and_minimax3_are_algorithms_2_and_3(start in position(6, 40), depth in 1u32..4) {
        let root = Slow::root(&start);
        for (player, modified) in [("minimax2", false), ("minimax3", true)] {
            let expected = match root.safe().filter(|_| modified) {
                Some((number, _)) => (Worth::Unknown, 7 - number),
                None => {
                    let value = |number| Some((root.after(number)?.value(depth, modified), number));
                    let (value, number) = first_best((1..=6).filter_map(value));
                    (Worth::Evaluation(value), 7 - number)
                }
            };
            let choice = choose(&format!("{player}:{depth}"), &Setting::new(Rules::Standard), &start);
            prop_assert_eq!((choice.worth, choice.pit.number()), expected);
        }
    }
}

/// A position of Algorithms 2 and 3, with the board from the view of the player at the root. Pits are numbered from the
/// store, as in the paper.
#[derive(Clone)]
struct Slow {
    root: Position,
    position: Position,
    own: bool,
    turns: u32,
    repeated: i64,
}

impl Slow {
    fn root(start: &Position) -> Slow {
        Slow { root: *start, position: *start, own: true, turns: 0, repeated: 0 }
    }

    fn after(&self, number: usize) -> Option<Slow> {
        let played = self.position.play(Rules::Standard, Pit::from_number(7 - number).unwrap()).ok()?;
        let again = i64::from(played.again && self.own);
        let turns = self.turns + u32::from(!played.again);
        let own = if played.again { self.own } else { !self.own };
        Some(Slow { root: self.root, position: played.position, own, turns, repeated: self.repeated + again })
    }

    /// Returns the move that Algorithm 3 makes without a search, and true if it captures.
    fn safe(&self) -> Option<(usize, bool)> {
        let seeds = |number: usize| self.position.mover().seeds()[6 - number] as usize;
        let opposite = |number: usize| self.position.other().seeds()[number - 1];
        if let Some(number) = (1..=6).find(|&number| seeds(number) == number || seeds(number) == number + 13) {
            return Some((number, false));
        }
        // The last target found is kept, with the first pit found for it.
        let mut found = None;
        for target in (2..=6).filter(|&target| seeds(target) == 0 && opposite(target) > 0) {
            if let Some(from) = (target + 1..=6).find(|&from| from - target == seeds(from)) {
                found = Some((from, true));
            }
        }
        found
    }

    fn value(&self, depth: u32, modified: bool) -> i64 {
        if self.turns == depth || self.position.is_over() {
            return self.evaluation();
        }
        match self.safe().filter(|_| modified) {
            Some((number, false)) => return self.after(number).unwrap().value(depth, modified),
            Some((number, true)) => return self.after(number).unwrap().evaluation(),
            None => {}
        }
        let values = (1..=6).filter_map(|number| Some(self.after(number)?.value(depth, modified)));
        if self.own { values.max().unwrap() } else { values.min().unwrap() }
    }

    fn evaluation(&self) -> i64 {
        let end = if self.own { self.position } else { self.position.turned() };
        let left = |row: &Row| if end.is_over() { i64::from(row.total()) } else { 0 };
        let own = i64::from(end.mover_store()) + left(end.mover()) - i64::from(self.root.mover_store());
        let other = i64::from(end.other_store()) + left(end.other()) - i64::from(self.root.other_store());
        10 * (own - other) + self.repeated + 5 * i64::from(end.mover().seeds()[5] == 0)
    }
}

#[test]
fn algorithm_1_takes_its_four_functions_in_order() {
    for (position, pit, function) in [
        // Two pits reach the store. The nearer one goes first.
        ("0,0,4,0,2,0/1,1,1,1,1,1", 5, "LastSeedToKalaha"),
        ("0,0,4,0,2,1/1,1,1,1,1,1", 6, "LastSeedToKalaha"),
        // Pits that reach the store after a whole lap count too.
        ("0,0,0,0,0,14/1,1,1,1,1,1", 6, "LastSeedToKalaha"),
        ("1,0,0,0,0,3/0,1,1,1,5,1", 1, "LastSeedToTarget"),
        ("0,0,5,0,0,3/0,0,1,0,2,2", 3, "OpponentSeedToStash"),
        ("0,0,5,0,0,3/0,0,0,0,2,2", 6, "FirstNonEmptyPit"),
        // The largest capture, and the first of equals.
        ("1,0,0,1,0,3/0,1,9,9,3,1", 1, "LastSeedToTarget"),
        ("1,0,0,1,0,3/0,3,9,9,3,1", 4, "LastSeedToTarget"),
        // Sowing around into the starting pit captures the opposite seeds, including the one that falls there on the
        // way.
        ("0,13,0,1,0,3/0,3,9,9,3,1", 2, "LastSeedToTarget"),
        ("0,13,0,1,0,3/0,4,9,9,3,1", 4, "LastSeedToTarget"),
        // Sowing around into an empty pit farther from the store.
        ("0,0,0,0,9,0/1,1,1,1,1,4", 5, "LastSeedToTarget"),
        // The opposite pit is empty: no capture by these rules.
        ("1,0,0,0,0,3/1,1,1,1,0,1", 6, "FirstNonEmptyPit"),
        // The pit under the largest threat is saved.
        ("7,0,5,0,0,3/0,0,1,0,1,0", 1, "OpponentSeedToStash"),
        ("4,0,5,0,0,3/0,0,1,0,1,0", 3, "OpponentSeedToStash"),
        ("5,0,5,0,0,3/0,0,1,0,1,0", 1, "OpponentSeedToStash"),
        // The opponent can sow around to an empty pit of ours, but has no seeds to capture there.
        ("0,0,5,0,0,3/0,0,13,0,2,2", 6, "FirstNonEmptyPit"),
        ("0,0,5,4,0,3/0,0,13,0,2,2", 4, "OpponentSeedToStash"),
    ] {
        let choice = choose("heuristic", &Setting::new(Rules::Standard), &start(position));
        assert_eq!((choice.pit.number(), choice.source.name()), (pit, function), "{position}");
    }
}

#[test]
fn names_are_read_as_they_are_written_and_others_are_refused() {
    for player in PlayerName::KNOWN {
        let player = player.replace(":D", ":3").replace(":SEED", ":9");
        assert_eq!(name(&player).to_string(), player);
        assert_eq!(name(&player).player(&Setting::new(Rules::Standard)).name(), player);
    }
    assert_eq!(name("random"), PlayerName::Random(0));
    for bad in ["", "best", "perfect:1", "minimax", "minimax:", "minimax:0", "minimax:100", "minimax2:x", "random:x"] {
        let error = bad.parse::<PlayerName>().unwrap_err().to_string();
        assert!(PlayerName::KNOWN.iter().all(|known| error.contains(known)), "{error}");
    }
}

#[test]
fn finished_games_have_no_moves_and_stopped_players_still_have_one() {
    let (over, start) = (start("0,0,0,0,0,0/1,0,0,0,0,0"), start("6x6"));
    let stopped = Cancel::new();
    stopped.cancel();
    for player in PlayerName::KNOWN.map(|known| known.replace(":D", ":40").replace(":SEED", ":9")) {
        let choose = |position, cancel: &Cancel| choose_within(&player, &small(Rules::Standard), position, cancel);
        assert!(matches!(choose(&over, &Cancel::new()), Err(PlayError::GameOver)), "{player}");
        for stopped in [stopped.clone(), stopped.within(Duration::from_secs(3600))] {
            let choice = choose(&start, &stopped).unwrap();
            assert!(start.play(Rules::Standard, choice.pit).is_ok(), "{player}");
        }
    }
    let mut players = [(); 2].map(|()| PlayerName::Greedy.player(&Setting::new(Rules::Standard)));
    assert!(matches!(play_game(Rules::Standard, &start, &mut players, None, &stopped), Err(PlayError::Stopped)));
}

#[test]
fn a_player_above_the_tables_reports_its_moves_as_they_improve() {
    let start = start("6x6");
    for player in ["perfect", "alphabeta:99", "minimax2:99", "minimax3:99"] {
        let mut choices = Vec::new();
        let cancel = Cancel::new().within(Duration::from_millis(300));
        let mut searching = name(player).player(&small(Rules::Standard));
        let choice = searching.choose(&start, &cancel, &mut |choice| choices.push(*choice)).unwrap();
        assert!(!choices.is_empty() || choice.worth == Worth::Unknown, "{player}");
        assert!(choices.iter().all(|choice| start.play(Rules::Standard, choice.pit).is_ok()), "{player}");
    }
}

#[test]
fn a_choice_in_slices_is_as_good_as_one_in_one_go_and_ends_with_its_time() {
    let (rules, slice) = (Rules::EmptyCapture, Duration::from_millis(5));
    let setting = Setting { memory: SearchMemory::shared(None, 1 << 24), ..Setting::new(rules) };
    let sliced = |position: &Position, cancel: &Cancel| {
        let mut player = name("perfect").player(&setting);
        let choices = std::iter::repeat_with(|| player.choose_for(slice, position, cancel).unwrap());
        choices.enumerate().find_map(|(slices, choice)| Some((slices, choice?))).unwrap()
    };
    let (slices, choice) = sliced(&start("6x3"), &Cancel::new());
    let whole = choose("perfect", &setting, &start("6x3"));
    assert!(slices > 0 && (choice.worth, choice.source) == (whole.worth, whole.source), "{choice:?}");
    // 320 seeds are too many for a solver.
    for board in ["6x8", "16x10"].map(start) {
        let (_, choice) = sliced(&board, &Cancel::new().within(Duration::from_millis(700)));
        assert!(board.play(rules, choice.pit).is_ok(), "{board}");
    }
}

/// Without tables, no search finds the value of Kalah(6,5). The proof that it is at least -30 is quick.
#[test]
fn the_perfect_player_first_keeps_what_the_book_proves() {
    let (rules, start) = (Rules::Standard, start("6x5"));
    let mut book = Book::new(rules, 6);
    book.add(&start, Bounds { lower: 15, upper: 60 }).unwrap();
    let keeps = |choice: &Choice| matches!(choice.worth, Worth::Bounds { lower, .. } if lower >= -30);
    let cancel = Cancel::new().within(Duration::from_secs(120));
    let mut player = name("perfect").player(&Setting { book: Some(&book), ..small(rules) });
    let stop = |choice: &Choice| {
        if keeps(choice) {
            cancel.cancel();
        }
    };
    let choice = player.choose(&start, &cancel, &mut |choice| stop(choice)).unwrap();
    assert!(keeps(&choice), "{choice:?}");
}

/// A damaged bound table ends the player with an error, which shows that the player reads it.
#[test]
fn the_perfect_player_reads_bound_tables_above_the_exact_ones() {
    let rules = Rules::Standard;
    let few = Tables::open(directory(), rules, 6, 4).unwrap();
    let damaged = |table: &Arc<BoundTable>| {
        let mut bytes = table.blocks().bytes().to_vec();
        let data = table.blocks().sections().iter().map(|section| section.offset as usize).min().unwrap();
        bytes[data..].iter_mut().for_each(|byte| *byte ^= 1);
        Arc::new(BoundTable::from_bytes(table.path(), bytes).unwrap())
    };
    let layers = bounds(rules).layers().iter().map(damaged).collect();
    let bounds = BoundTables::new(directory(), layers).unwrap();
    let start = start("<6,0,0,1,0,3,2,1,1,0,1,0,4,0,2>");
    let setting = Setting { tables: Some(&few), ..small(rules) };
    choose("perfect", &setting, &start);
    let setting = Setting { bounds: Some(&bounds), ..setting };
    let error = choose_within("perfect", &setting, &start, &Cancel::new()).unwrap_err();
    assert!(error.to_string().contains(".bounds"), "{error}");
}

#[test]
fn a_shelf_has_the_sound_bound_tables_above_the_exact_ones() {
    let (rules, pits) = (Rules::Standard, 3);
    let directory = copied(built(&[(rules, pits, 9)]));
    let tables = Tables::open(directory.path(), rules, pits, 9).unwrap();
    let all_tables = || AllTables::new(directory.path().to_owned());
    let last = || all_tables().bounds(rules, pits).map(|bounds| *bounds.seeds().end());
    let network = random_network(rules, pits, 1);
    let maker = BoundMaker::new(&network, Cuts::TWO_BITS);
    for seeds in 6..=9 {
        maker.write(tables.layer(seeds).unwrap(), directory.path(), &Pulse::default()).unwrap();
    }
    // Bound tables are of no use where there are exact tables.
    assert_eq!(last(), None);
    (7..=9).for_each(|seeds| std::fs::remove_file(tables.key(seeds).path(directory.path())).unwrap());
    assert_eq!(last(), Some(9));
    std::fs::write(tables.key(9).bounds_path(directory.path()), "damaged").unwrap();
    assert_eq!(last(), None);
    assert_eq!(all_tables().tables(rules, pits).and_then(Tables::max_seeds), Some(6));
}
