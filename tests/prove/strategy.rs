//! Certificates without searches as strategies: neither side ever gets less than the certificate states.

use kalah::cancel::Cancel;
use kalah::certificate::{Certificate, Strategy, StrategyError};
use kalah::game::{Bounds, Position, Rules, ValueBounds};
use kalah::play::{ByCertificate, Player, PlayerName, Setting, play_game};
use kalah::prove::Wanted;
use kalah::solve::SearchMemory;
use kalah::table::Tables;

use crate::prove::Board;
#[cfg(feature = "cli")]
use kalah_tests::program::{self, Ran, Run};

/// Games against random players, from each position and as each side.
const RANDOM_GAMES: u64 = 60;

/// Plays from `start` as each side, against random players, the greedy one and the perfect one. The value for the
/// mover of `start` must be within `stated`.
fn assert_never_less(strategy: &Certificate, tables: Option<&Tables>, start: &Position, stated: ValueBounds) {
    let rules = strategy.head.statement.rules;
    let opponents = (0..RANDOM_GAMES).map(PlayerName::Random).chain([PlayerName::Greedy, PlayerName::Perfect]);
    for opponent in opponents {
        for first in [true, false] {
            let setting = Setting { tables, memory: SearchMemory::shared(None, 1 << 22), ..Setting::new(rules) };
            let certificate = ByCertificate::new(Strategy::new(strategy, tables).unwrap());
            let (one, two): (Box<dyn Player>, Box<dyn Player>) = (Box::new(certificate), opponent.player(&setting));
            let mut players = if first { [one, two] } else { [two, one] };
            let game = play_game(rules, start, &mut players, None, &Cancel::new()).unwrap();
            let value = game.value();
            let holds = if first { value >= stated.lower } else { value <= stated.upper };
            let side = if first { "first" } else { "second" };
            assert!(holds, "{rules} {start}: {value} as the {side} player, against {opponent}: {}", game.line());
        }
    }
}

#[test]
fn neither_side_gets_less_than_a_certificate_states() {
    neither_side_gets_less(&[("4x3", 6), ("3x3", 0)]);
}

#[test]
#[ignore = "slow"]
fn neither_side_gets_less_than_a_certificate_of_a_larger_board_states() {
    neither_side_gets_less(&[("4x4", 10), ("5x3", 9)]);
}

fn neither_side_gets_less(boards: &[(&str, usize)]) {
    for rules in Rules::ALL {
        for &(start, seeds) in boards {
            let board = Board::new(rules, start, seeds);
            let certificate = board.without_searches(Wanted::Find).certificate();
            let stated = certificate.head.statement.bounds;
            assert!(stated.value().is_some(), "{stated:?}");
            assert_never_less(&certificate, board.tables.as_ref(), &board.start, stated);
        }
    }
}

#[test]
fn no_opening_and_no_single_bound_is_lost() {
    for rules in [Rules::Standard, Rules::SKalaha] {
        let board = Board::new(rules, "4x3", 6);
        let openings = board.without_searches(Wanted::Openings).certificate();
        let statement = &openings.head.statement;
        for opening in &statement.openings {
            let (mut position, mut first) = (statement.position, true);
            for &pit in &opening.moves {
                let played = position.play(rules, pit).unwrap();
                (position, first) = (played.position, first == played.again);
            }
            let ValueBounds { lower, upper } = opening.bounds;
            let stated = if first { opening.bounds } else { ValueBounds { lower: -upper, upper: -lower } };
            if !position.is_over() {
                assert_never_less(&openings, board.tables.as_ref(), &position, stated);
            }
        }
        let value = openings.head.statement.bounds.lower;
        for wanted in [Wanted::AtLeast(value), Wanted::AtMost(value)] {
            let one_bound = board.without_searches(wanted).certificate();
            let statement = &one_bound.head.statement;
            assert_never_less(&one_bound, board.tables.as_ref(), &statement.position, statement.bounds);
        }
    }
}

#[test]
fn what_is_no_strategy_is_refused() {
    let board = Board::new(Rules::Standard, "4x3", 6);
    let (tables, start) = (board.tables.as_ref(), board.start);
    let certificate = board.without_searches(Wanted::Find).certificate();
    let others = Board::new(Rules::SKalaha, "4x3", 6);
    assert!(matches!(Strategy::new(&certificate, others.tables.as_ref()), Err(StrategyError::Tables(_))));
    let strategy = Strategy::new(&certificate, tables).unwrap();
    assert_eq!(strategy.choose(&"0,0,0,0/1,2,0,0".parse().unwrap()).unwrap(), None);
    // A false claim about the start.
    let Bounds { lower, upper } = certificate.claims.get(&start).unwrap();
    for bounds in [Bounds { lower: lower + 1, upper: upper + 1 }, Bounds { lower: lower - 1, upper: upper - 1 }] {
        let mut wrong = certificate.clone();
        wrong.claims.remove(&start);
        wrong.claims.add(&start, bounds).unwrap();
        assert!(matches!(Strategy::new(&wrong, tables).unwrap().choose(&start), Err(StrategyError::Wrong(_))));
    }
}

#[cfg(feature = "cli")]
#[test]
fn the_program_plays_by_a_certificate() {
    let board = Board::new(Rules::Standard, "4x3", 6);
    let files = board.directory();
    let proof = board.without_searches(Wanted::Find).certificate();
    let value = proof.head.statement.bounds.lower;
    proof.write(files.join("proof.certificate")).unwrap();
    board.case(Wanted::Find).certificate().write(files.join("searched.certificate")).unwrap();
    kalah::build::build(files, Rules::EmptyCapture, 4, 6).unwrap();
    let run = |line: &str, code: i32| {
        let tables = ["--tables", ".", "--threads", "1"];
        program::command().current_dir(files).args(line.split(' ')).args(tables).run().exits(code)
    };
    // Both sides play it, so the value is exact.
    let own = run("play --from proof.certificate --south certificate --save own.games", 0);
    let (south, north) = (12 + value / 2, 12 - value / 2);
    let result = format!("{} to {}", south.max(north), south.min(north));
    own.prints("South, certificate, sows").prints("North, certificate, sows").prints(&result);
    let saved = std::fs::read_to_string(files.join("own.games")).unwrap();
    assert!(saved.contains("certificate") && saved.contains("standard"), "{saved}");
    run("move 4x3 --from proof.certificate --rules standard", 0).prints("by the certificate");
    let json = run("move 4x3 --from proof.certificate --json", 0).json();
    assert_eq!((&json["source"], &json["rules"]), (&"certificate".into(), &"standard".into()));
    let other_rules = "the certificate is under standard: leave out --rules empty-capture";
    for (line, code, message) in [
        ("move 4x3 --from proof.certificate --rules empty-capture", 2, other_rules),
        ("play --from proof.certificate --rules empty-capture", 2, other_rules),
        ("play --from searched.certificate", 1, "not a strategy"),
        ("play --from searched.certificate", 1, "--effort 0"),
        ("move 6x4 --from proof.certificate", 2, "not a position of its board"),
        ("play 4x3 --north certificate", 2, "needs --from CERTIFICATE"),
        ("play --from proof.certificate --save proof.certificate", 1, "proof.certificate is not"),
    ] {
        let refused = run(line, code).stderr();
        assert!(refused.contains(message), "{line}: {refused}");
    }
    std::fs::remove_file(files.join("standard-4-06.kalah")).unwrap();
    run("play --from proof.certificate", 1).prints("kalah build");
}
