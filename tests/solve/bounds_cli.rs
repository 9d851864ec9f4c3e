//! `kalah bounds`, and bound tables in `kalah verify` and `kalah info`.
#![cfg(feature = "cli")]

use std::path::Path;

use kalah::evaluation::{LANES, Network, Weights};
use kalah::game::Rules;
use kalah::table::{BoundTable, TableKey};
use kalah_tests::program::{self, Ran, Run};
use serde_json::Value;

const KEY: TableKey = TableKey { rules: Rules::Standard, pits: 3, seeds: 9 };

/// Runs a command in a directory of tables of [`KEY`]'s board. Returns exit code, stdout and stderr.
fn kalah(directory: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = program::command();
    command.args(args).arg("--tables").arg(directory);
    if args[0] != "info" && !args.contains(&"--all") {
        command.args(["--rules", "standard", "--pits", "3"]);
    }
    command.run().parts()
}

#[track_caller]
fn json(directory: &Path, args: &[&str]) -> Value {
    let (code, stdout, stderr) = kalah(directory, args);
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// Makes a directory with tables to 9 seeds and a network.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    kalah::build::build(directory.path(), KEY.rules, KEY.pits, KEY.seeds).unwrap();
    std::fs::write(directory.path().join("standard-3.network"), network(KEY.rules, 1).to_bytes()).unwrap();
    directory
}

fn network(rules: Rules, seed: u64) -> Network {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut lanes = |most: i16| std::array::from_fn::<i16, LANES, _>(|_| random.i16(-most..=most));
    let inputs = (0..2 * KEY.pits * 16).map(|_| lanes(60)).collect();
    let (bias, outputs) = (lanes(200), lanes(50));
    Network::new(rules, KEY.pits, &Weights { inputs, bias, floor: [0; LANES], outputs, shift: 9 }).unwrap()
}

/// A note once named missing layers, of which there were none.
#[test]
fn tables_that_a_flag_leaves_out_are_not_missing() {
    let directory = directory();
    let flags = ["solve", "3x3", "--no-book", "--tables-up-to", "9", "--exact-up-to", "4"];
    let output = program::command().args(flags).args(["--rules", "standard", "--tables"]).arg(directory.path()).run();
    let messages = output.stderr();
    assert!(output.status.success() && !messages.contains("missing") && !messages.contains("--build"), "{messages}");
}

#[test]
fn bound_tables_are_made_kept_listed_and_checked() {
    let directory = directory();
    let directory = directory.path();
    let made = json(directory, &["bounds", "--seeds", "4..9", "--json"]);
    let layers = made["layers"].as_array().unwrap();
    assert_eq!(layers.iter().map(|layer| layer["seeds"].as_u64().unwrap()).collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9]);
    assert_eq!(made["cuts"], serde_json::json!([-4.0, 0.0, 4.0]));
    for layer in layers {
        let codes: u64 = layer["codes"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!((layer["kept"].as_bool(), layer["positions"].as_u64()), (Some(false), Some(codes)));
    }
    // Existing bound tables are kept; those with other cuts, and damaged ones, are replaced.
    let kept = |made: Value| -> Vec<bool> {
        made["layers"].as_array().unwrap().iter().map(|layer| layer["kept"].as_bool().unwrap()).collect()
    };
    assert_eq!(kept(json(directory, &["bounds", "--seeds", "4..9", "--json"])), [true; 6]);
    assert_eq!(kept(json(directory, &["bounds", "--seeds", "5", "--bits=1", "--json"])), [false]);
    let whole = std::fs::read(KEY.bounds_path(directory)).unwrap();
    std::fs::write(KEY.bounds_path(directory), "my notes").unwrap();
    let (code, _, messages) = kalah(directory, &["bounds", "--seeds", "4..9"]);
    assert!(code == 3 && messages.contains("move it away"), "{messages}");
    assert_eq!(std::fs::read(KEY.bounds_path(directory)).unwrap(), b"my notes");
    std::fs::write(KEY.bounds_path(directory), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(kept(json(directory, &["bounds", "--seeds", "4..9", "--json"])), [true, false, true, true, true, false]);

    let listed = json(directory, &["info", "--json"]);
    assert_eq!(listed["bounds"].as_array().unwrap().len(), 6);
    assert_eq!(listed["bounds"][5]["digest"], made["layers"][5]["digest"]);
    assert!(kalah(directory, &["info"]).1.contains("bound tables"));

    let passed = |report: Value| -> Vec<(String, u64)> {
        let passed = report["passed"].as_array().unwrap().iter();
        let check = |passed: &Value| (passed["check"].as_str().unwrap().to_owned(), passed["seeds"].as_u64().unwrap());
        passed.map(check).filter(|(check, _)| check.contains("bound")).collect()
    };
    let expected = |check: &str| (4..=9).map(|seeds| (check.to_owned(), seeds)).collect::<Vec<_>>();
    assert_eq!(passed(json(directory, &["verify", "--json"])), expected("bound-checksums"));
    let checked = passed(json(directory, &["verify", "--json", "--consistency"]));
    assert_eq!(checked, expected("bounds-against-exact"));
    // Bound tables without the exact tables.
    (4..=9).for_each(|seeds| std::fs::remove_file(TableKey { seeds, ..KEY }.path(directory)).unwrap());
    assert_eq!(passed(json(directory, &["verify", "--json", "--consistency"])), expected("bound-consistency"));
    let one = json(directory, &["verify", "--json", "--consistency", "--sample", "20", "--seeds", "9"]);
    assert_eq!(passed(one), [("bound-consistency".to_owned(), 9)]);
    assert_eq!(kept(json(directory, &["bounds", "--seeds", "4..9", "--json"])), [true; 6]);
    assert_eq!(json(directory, &["verify", "--json", "--all"]).as_object().unwrap()["ok"], true);

    // Damage, then a gap.
    let path = TableKey { seeds: 7, ..KEY }.bounds_path(directory);
    let mut bytes = std::fs::read(&path).unwrap();
    let last = BoundTable::open(&path).unwrap().blocks().sections()[0].offset as usize;
    bytes[last] ^= 1;
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let (code, stdout, _) = kalah(directory, &["verify"]);
    assert!(
        code == 3 && stdout.contains("standard-3-07.bounds") && stdout.contains("kalah bounds --seeds 7"),
        "{stdout}"
    );
    std::fs::remove_file(&path).unwrap();
    let (code, stdout, _) = kalah(directory, &["verify"]);
    assert!(code == 3 && stdout.contains("layer 7 is missing"), "{stdout}");
    // Its exact table is missing.
    let (code, _, stderr) = kalah(directory, &["bounds", "--seeds", "7"]);
    assert!(code == 1 && stderr.contains("kalah build --seeds 7"), "{stderr}");
}

#[test]
fn wrong_requests_are_refused() {
    let directory = directory();
    let directory = directory.path();
    for (args, code, expected) in [
        (&["bounds", "--seeds", "9..4"][..], 2, "write a number or a range"),
        (&["bounds", "--seeds", "9", "--bits", "3"], 2, "3"),
        (&["bounds", "--seeds", "9", "--network", "no such file"], 1, "no such file"),
        (&["bounds", "--seeds", "10"], 1, "kalah build --seeds 10"),
    ] {
        let (own, _, stderr) = kalah(directory, args);
        assert!(own == code && stderr.contains(expected), "{args:?}: {own} {stderr}");
    }
    // A network for other rules, and a damaged one.
    let other = directory.join("other");
    std::fs::write(&other, network(Rules::EmptyCapture, 1).to_bytes()).unwrap();
    let with = ["bounds", "--seeds", "9", "--network", other.to_str().unwrap()];
    let (code, _, stderr) = kalah(directory, &with);
    assert!(code == 1 && stderr.contains("of empty-capture with 3 pits"), "{stderr}");
    let mut bytes = network(KEY.rules, 1).to_bytes();
    bytes[300] ^= 1;
    std::fs::write(&other, bytes).unwrap();
    let (code, _, stderr) = kalah(directory, &with);
    assert!(code == 3 && stderr.contains("other"), "{stderr}");
}

/// A damaged bound table is replaced, never kept.
#[test]
fn damaged_bound_tables_are_made_again_from_their_exact_tables() {
    let directory = directory();
    let directory = directory.path();
    assert_eq!(kalah(directory, &["bounds", "--seeds", "6..9"]).0, 0);
    let exact = TableKey { seeds: 7, ..KEY }.path(directory);
    let path = TableKey { seeds: 7, ..KEY }.bounds_path(directory);
    let sound = std::fs::read(&path).unwrap();
    let damage = || {
        let mut bytes = sound.clone();
        let block = BoundTable::open(&path).unwrap().blocks().sections()[2].offset as usize;
        bytes[block] ^= 1;
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, bytes).unwrap();
    };
    damage();
    let remake = ["bounds", "--seeds", "6..9"];
    let (code, _, messages) = kalah(directory, &remake);
    assert_eq!(code, 0, "{messages}");
    assert!(std::fs::read(&path).unwrap() == sound);
    // Without the exact table, only the bound table is left.
    damage();
    std::fs::remove_file(exact).unwrap();
    let (code, _, messages) = kalah(directory, &["bounds", "--seeds", "6..9"]);
    assert!(code == 3 && messages.contains("standard-3-07.bounds"), "{messages}");
    assert!(std::fs::read(&path).unwrap() != sound);
}

/// Answer of `kalah solve` for 12 seeds, as JSON, and its notes.
#[track_caller]
fn solve(directory: &Path) -> (Value, String) {
    let mut command = program::command();
    command.args(["solve", "3x2", "--rules", "standard", "--json", "--memory", "256MiB", "--tables"]).arg(directory);
    let output = command.run();
    let messages = output.stderr();
    assert!(output.status.success(), "{messages}");
    (output.json(), messages)
}

#[test]
fn bound_tables_that_are_not_needed_stop_no_search() {
    let directory = directory();
    let directory = directory.path();
    let value = solve(directory).0["value"].clone();
    assert_eq!(kalah(directory, &["bounds", "--seeds", "4..9"]).0, 0);
    // Among the exact layers, one bound table is damaged and one has another network.
    let bounds = |seeds| TableKey { seeds, ..KEY }.bounds_path(directory);
    std::fs::File::options().write(true).open(bounds(8)).unwrap().set_len(3000).unwrap();
    let other = directory.join("other");
    std::fs::write(&other, network(KEY.rules, 2).to_bytes()).unwrap();
    let remake = |seeds| kalah(directory, &["bounds", "--seeds", seeds, "--network", other.to_str().unwrap()]).0;
    assert_eq!(remake("7"), 0);
    let (found, messages) = solve(directory);
    assert!(found["value"] == value, "{messages}");
    // They are used as far as they share one network, and up to a gap.
    assert_eq!(kalah(directory, &["bounds", "--seeds", "8"]).0, 0);
    for seeds in 6..=9 {
        std::fs::remove_file(TableKey { seeds, ..KEY }.path(directory)).unwrap();
    }
    let (found, messages) = solve(directory);
    assert_eq!((&found["value"], &found["bound_seeds"]), (&value, &6.into()), "{messages}");
    std::fs::remove_file(bounds(7)).unwrap();
    let (found, messages) = solve(directory);
    assert_eq!((&found["value"], &found["bound_seeds"]), (&value, &6.into()), "{messages}");
}

#[test]
fn new_bound_tables_have_the_network_of_those_that_are_there() {
    let directory = directory();
    let directory = directory.path();
    let network_of = |seeds| {
        let key = TableKey { seeds, ..KEY };
        BoundTable::find(directory, key).unwrap().unwrap().network().clone()
    };
    let (first, second) = (network(KEY.rules, 1), network(KEY.rules, 2));
    assert_eq!(kalah(directory, &["bounds", "--seeds", "7..8"]).0, 0);
    std::fs::write(directory.join("standard-3.network"), second.to_bytes()).unwrap();
    assert_eq!(kalah(directory, &["bounds", "--seeds", "9"]).0, 0);
    assert_eq!(kalah(directory, &["bounds", "--seeds", "6"]).0, 0);
    assert!((6..=9).all(|seeds| network_of(seeds) == first));
    // With its name given, the network is used.
    let named = directory.join("standard-3.network");
    assert_eq!(kalah(directory, &["bounds", "--seeds", "9", "--network", named.to_str().unwrap()]).0, 0);
    assert!(network_of(9) == second && network_of(8) == first);
}

#[test]
fn bound_tables_may_take_the_place_of_exact_ones_below_others() {
    let directory = directory();
    let directory = directory.path();
    assert_eq!(kalah(directory, &["bounds", "--seeds", "5..8"]).0, 0);
    std::fs::remove_file(TableKey { seeds: 6, ..KEY }.path(directory)).unwrap();
    let (code, stdout, _) = kalah(directory, &["verify"]);
    assert!(code == 0, "{stdout}");
    let report: Value = serde_json::from_str(&kalah(directory, &["verify", "--consistency", "--json"]).1).unwrap();
    assert!(report.get("faults").is_none(), "{report}");
    let check = |seeds: u64| -> Vec<&str> {
        let passed = report["passed"].as_array().unwrap().iter().filter(|passed| passed["seeds"] == seeds);
        passed.map(|passed| passed["check"].as_str().unwrap()).filter(|check| check.contains("bound")).collect()
    };
    // Layer 6 is checked against those below. The others are checked against their exact tables, also above it.
    for (seeds, expected) in [
        (5, "bounds-against-exact"),
        (6, "bound-consistency"),
        (7, "bounds-against-exact"),
        (8, "bounds-against-exact"),
    ] {
        assert_eq!(check(seeds), [expected], "{seeds}");
    }
}
