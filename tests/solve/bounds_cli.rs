//! `kalah bounds`, and bound tables in `kalah verify`, `kalah info` and `kalah solve`.
#![cfg(feature = "cli")]

use std::path::PathBuf;
use std::process::Output;

use kalah::game::Rules;
use kalah::table::{BoundTable, TableKey};
use kalah_tests::files::{copied, flip};
use kalah_tests::place::Place;
use kalah_tests::program::Ran;
use kalah_tests::random::random_network;
use kalah_tests::tables::built;
use serde_json::Value;

const RULES: Rules = Rules::Standard;

/// A directory with tables of 3 pits a side to 9 seeds, and a network.
struct Bounds(Place);

impl Bounds {
    fn new() -> Bounds {
        let place = Bounds(Place::of(copied(built(&[(RULES, 3, 9)]))));
        place.write("standard-3.network", RULES, 1);
        place
    }

    /// Writes a network into a file.
    fn write(&self, name: &str, rules: Rules, seed: u64) {
        self.0.write(name, random_network(rules, 3, seed).to_bytes());
    }

    /// Runs `kalah bounds` with these layers and flags.
    fn bounds(&self, flags: &str) -> Output {
        self.0.run(&format!("bounds --rules standard --pits 3 --seeds {flags}"))
    }

    /// Makes bound tables. Returns true for each that was kept.
    #[track_caller]
    fn kept(&self, flags: &str) -> Vec<bool> {
        let made = self.bounds(&format!("{flags} --json")).success().json();
        made["layers"].as_array().unwrap().iter().map(|layer| layer["kept"].as_bool().unwrap()).collect()
    }

    fn verify(&self, flags: &str) -> Output {
        self.0.run(&format!("verify --rules standard --pits 3{flags}"))
    }

    /// Checks of bound tables, and their layers, that pass.
    #[track_caller]
    fn passed(&self, flags: &str) -> Vec<(String, u64)> {
        let report = self.verify(&format!(" --json{flags}")).success().json();
        assert!(report.get("faults").is_none(), "{report}");
        let passed = report["passed"].as_array().unwrap().iter();
        let check = |passed: &Value| (passed["check"].as_str().unwrap().to_owned(), passed["seeds"].as_u64().unwrap());
        passed.map(check).filter(|(check, _)| check.contains("bound")).collect()
    }

    fn exact(&self, seeds: usize) -> PathBuf {
        TableKey { rules: RULES, pits: 3, seeds }.path(self.0.path())
    }

    fn bound(&self, seeds: usize) -> PathBuf {
        TableKey { rules: RULES, pits: 3, seeds }.bounds_path(self.0.path())
    }

    /// Damages a frame of a bound table, in a new file.
    fn damage(&self, seeds: usize) {
        let path = self.bound(seeds);
        let block = BoundTable::open(&path).unwrap().blocks().sections()[2].offset;
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, bytes).unwrap();
        flip(&path, block as usize, 1);
    }

    /// Value and reach of bound tables of `kalah solve` for 12 seeds.
    #[track_caller]
    fn solved(&self) -> (Value, Value) {
        let answer = self.0.run("solve 3x2 --rules standard --json --memory 256MiB").success().json();
        (answer["value"].clone(), answer["bound_seeds"].clone())
    }
}

#[test]
fn tables_that_a_flag_leaves_out_are_not_missing() {
    let solved = Bounds::new().0.run("solve 3x3 --no-book --tables-up-to 9 --exact-up-to 4 --rules standard").success();
    solved.does_not_print("missing").does_not_print("--build");
}

#[test]
fn bound_tables_are_made_kept_listed_and_checked() {
    let place = Bounds::new();
    let made = place.bounds("4..9 --json").success().json();
    let layers = made["layers"].as_array().unwrap();
    assert!(layers.iter().map(|layer| layer["seeds"].as_u64().unwrap()).eq(4..=9));
    assert_eq!(made["cuts"], serde_json::json!([-4.0, 0.0, 4.0]));
    for layer in layers {
        let codes: u64 = layer["codes"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!((layer["kept"].as_bool(), layer["positions"].as_u64()), (Some(false), Some(codes)));
    }
    // Existing bound tables are kept; those with other cuts, and damaged ones, are replaced.
    assert_eq!(place.kept("4..9"), [true; 6]);
    assert_eq!(place.kept("5 --bits=1"), [false]);
    let whole = std::fs::read(place.bound(9)).unwrap();
    std::fs::write(place.bound(9), "my notes").unwrap();
    place.bounds("4..9").fails(3, "move it away");
    assert_eq!(std::fs::read(place.bound(9)).unwrap(), b"my notes");
    std::fs::write(place.bound(9), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(place.kept("4..9"), [true, false, true, true, true, false]);

    let listed = place.0.run("info --json").success().json();
    assert_eq!(listed["bounds"].as_array().unwrap().len(), 6);
    assert_eq!(listed["bounds"][5]["digest"], made["layers"][5]["digest"]);
    place.0.run("info").success().prints("bound tables");

    let expected = |check: &str| (4..=9).map(|seeds| (check.to_owned(), seeds)).collect::<Vec<_>>();
    assert_eq!(place.passed(""), expected("bound-checksums"));
    assert_eq!(place.passed(" --consistency"), expected("bounds-against-exact"));
    // Without its exact table, layer 6 is checked against those below.
    std::fs::remove_file(place.exact(6)).unwrap();
    place.verify("").success();
    let mut checks = expected("bounds-against-exact");
    checks[2].0 = "bound-consistency".to_owned();
    assert_eq!(place.passed(" --consistency"), checks);
    (4..=9).for_each(|seeds| drop(std::fs::remove_file(place.exact(seeds))));
    assert_eq!(place.passed(" --consistency"), expected("bound-consistency"));
    assert_eq!(place.passed(" --consistency --sample 20 --seeds 9"), [("bound-consistency".to_owned(), 9)]);
    assert_eq!(place.kept("4..9"), [true; 6]);
    assert_eq!(place.0.run("verify --json --all").success().json()["ok"], true);

    place.damage(7);
    place.verify("").exits(3).prints("standard-3-07.bounds").prints("kalah bounds --seeds 7");
    std::fs::remove_file(place.bound(7)).unwrap();
    place.verify("").exits(3).prints("layer 7 is missing");
    place.bounds("7").fails(1, "kalah build --seeds 7");
}

#[test]
fn wrong_requests_are_refused() {
    let place = Bounds::new();
    place.write("other", Rules::EmptyCapture, 1);
    place.write("flipped", RULES, 1);
    flip(&place.0.at("flipped"), 300, 1);
    for (flags, code, expected) in [
        ("9..4", 2, "write a number or a range"),
        ("9 --bits 3", 2, "3"),
        ("9 --network nowhere", 1, "nowhere"),
        ("10", 1, "kalah build --seeds 10"),
        ("9 --network other", 1, "of empty-capture with 3 pits"),
        ("9 --network flipped", 3, "flipped"),
    ] {
        place.bounds(flags).fails(code, expected);
    }
}

#[test]
fn damaged_bound_tables_are_made_again_from_their_exact_tables() {
    let place = Bounds::new();
    place.bounds("6..9").success();
    let sound = std::fs::read(place.bound(7)).unwrap();
    place.damage(7);
    place.bounds("6..9").success();
    assert!(std::fs::read(place.bound(7)).unwrap() == sound);
    // Without the exact table, only the bound table is left.
    place.damage(7);
    std::fs::remove_file(place.exact(7)).unwrap();
    place.bounds("6..9").fails(3, "standard-3-07.bounds");
    assert!(std::fs::read(place.bound(7)).unwrap() != sound);
}

#[test]
fn bound_tables_that_are_not_needed_stop_no_search() {
    let place = Bounds::new();
    let (value, _) = place.solved();
    place.bounds("4..9").success();
    // Among the exact layers, one bound table is damaged and one has another network.
    std::fs::File::options().write(true).open(place.bound(8)).unwrap().set_len(3000).unwrap();
    place.write("other", RULES, 2);
    place.bounds("7 --network other").success();
    assert_eq!(place.solved().0, value);
    // They are used as far as they share one network, and up to a gap.
    place.bounds("8").success();
    (6..=9).for_each(|seeds| std::fs::remove_file(place.exact(seeds)).unwrap());
    assert_eq!(place.solved(), (value.clone(), 6.into()));
    std::fs::remove_file(place.bound(7)).unwrap();
    assert_eq!(place.solved(), (value, 6.into()));
}

#[test]
fn new_bound_tables_have_the_network_of_those_that_are_there() {
    let place = Bounds::new();
    let network_of = |seeds| BoundTable::open(place.bound(seeds)).unwrap().network().clone();
    let [first, second] = [1, 2].map(|seed| random_network(RULES, 3, seed));
    place.bounds("7..8").success();
    place.write("standard-3.network", RULES, 2);
    place.bounds("9").success();
    place.bounds("6").success();
    assert!((6..=9).all(|seeds| network_of(seeds) == first));
    // With its name given, the network is used.
    place.bounds("9 --network standard-3.network").success();
    assert!(network_of(9) == second && network_of(8) == first);
}
