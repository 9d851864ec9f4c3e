//! Certificates without searches as strategies: neither side ever gets less than the certificate states.

use kalah::cancel::Cancel;
use kalah::certificate::{Certificate, ClaimSet, Strategy, StrategyError};
use kalah::game::{Bounds, Position, Rules, ValueBounds};
use kalah::play::{ByCertificate, Player, PlayerName, Setting, play_game};
use kalah::prove::Wanted;
use kalah::solve::SearchMemory;
use kalah::table::Tables;

use crate::prove::{Board, Case, never};
#[cfg(feature = "cli")]
use kalah_tests::program::{self, Ran, Run};

/// Games against random players, from each position and as each side.
const RANDOM_GAMES: u64 = 60;

fn certificate(case: &Case) -> Certificate {
    let directory = tempfile::tempdir().unwrap();
    case.run(directory.path(), &never).unwrap().1.unwrap()
}

fn without_searches<'a>(board: &'a Board, wanted: Wanted) -> Case<'a> {
    Case { effort: 0, budget: u64::MAX, ..board.case(wanted) }
}

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

fn neither_side_gets_less(boards: &[(&'static str, usize)]) {
    for rules in Rules::ALL {
        for &(position, seeds) in boards {
            let board = Board::new(rules, position, seeds);
            let certificate = certificate(&without_searches(&board, Wanted::Find));
            let stated = certificate.head.statement.bounds;
            assert!(stated.value().is_some(), "{stated:?}");
            let start = position.parse().unwrap();
            assert_never_less(&certificate, board.tables.as_ref(), &start, stated);
        }
    }
}

#[test]
fn no_opening_and_no_single_bound_is_lost() {
    for rules in [Rules::Standard, Rules::SKalaha] {
        let board = Board::new(rules, "4x3", 6);
        let openings = certificate(&without_searches(&board, Wanted::Openings));
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
            let one_bound = certificate(&without_searches(&board, wanted));
            let statement = &one_bound.head.statement;
            assert_never_less(&one_bound, board.tables.as_ref(), &statement.position, statement.bounds);
        }
    }
}

#[test]
fn what_is_no_strategy_is_refused() {
    let board = Board::new(Rules::Standard, "4x3", 6);
    let (tables, start) = (board.tables.as_ref(), "4x3".parse::<Position>().unwrap());
    let searched = certificate(&Case { effort: 3, ..without_searches(&board, Wanted::Find) });
    assert!(matches!(Strategy::new(&searched, tables), Err(StrategyError::Effort(3))));
    let certificate = certificate(&without_searches(&board, Wanted::Find));
    assert!(matches!(Strategy::new(&certificate, None), Err(StrategyError::Tables(_))));
    let others = Board::new(Rules::SKalaha, "4x3", 6);
    assert!(matches!(Strategy::new(&certificate, others.tables.as_ref()), Err(StrategyError::Tables(_))));
    let strategy = Strategy::new(&certificate, tables).unwrap();
    assert!(matches!(strategy.choose(&"3x3".parse().unwrap()), Err(StrategyError::Board(_))));
    assert_eq!(strategy.choose(&"0,0,0,0/1,2,0,0".parse().unwrap()).unwrap(), None);
    // A false claim about the start.
    let Bounds { lower, upper } = certificate.claims.get(&start).unwrap();
    for bounds in [Bounds { lower: lower + 1, upper: upper + 1 }, Bounds { lower: lower - 1, upper: upper - 1 }] {
        let mut claims = ClaimSet::new(4);
        certificate.claims.iter().filter(|claim| claim.position != start).for_each(|claim| {
            claims.add(&claim.position, claim.bounds).unwrap();
        });
        claims.add(&start, bounds).unwrap();
        let wrong = Certificate { head: certificate.head.clone(), claims };
        assert!(matches!(Strategy::new(&wrong, tables).unwrap().choose(&start), Err(StrategyError::Wrong(_))));
    }
}

#[cfg(feature = "cli")]
#[test]
fn the_program_plays_by_a_certificate() {
    let board = Board::new(Rules::Standard, "4x3", 6);
    let files = board.directory();
    let proof = certificate(&without_searches(&board, Wanted::Find));
    let value = proof.head.statement.bounds.lower;
    proof.write(files.join("proof.certificate")).unwrap();
    certificate(&board.case(Wanted::Find)).write(files.join("searched.certificate")).unwrap();
    kalah::build::build(files, Rules::EmptyCapture, 4, 6).unwrap();
    let run = |args: &[&str], code: i32| {
        let mut command = program::command();
        let tables = ["--tables", ".", "--threads", "1"];
        let output = command.current_dir(files).args(args).args(tables).run().exits(code);
        String::from_utf8(if code == 0 { output.stdout } else { output.stderr }).unwrap()
    };
    // Both sides play it, so the value is exact.
    let own = run(&["play", "--from", "proof.certificate", "--south", "certificate", "--save", "own.games"], 0);
    assert!(own.contains("South, certificate, sows") && own.contains("North, certificate, sows"), "{own}");
    let (south, north) = ((12 + value / 2), (12 - value / 2));
    assert!(own.contains(&format!("{} to {}", south.max(north), south.min(north))), "{own}");
    let saved = std::fs::read_to_string(files.join("own.games")).unwrap();
    assert!(saved.contains("certificate") && saved.contains("standard"), "{saved}");
    for command in [&["move", "4x3"][..], &["play"]] {
        let refused = run(&[command, &["--from", "proof.certificate", "--rules", "empty-capture"]].concat(), 2);
        assert!(refused.contains("the certificate is under standard: leave out --rules empty-capture"), "{refused}");
    }
    let asked = run(&["move", "4x3", "--from", "proof.certificate", "--rules", "standard"], 0);
    assert!(asked.contains("by the certificate"), "{asked}");
    let json = run(&["move", "4x3", "--from", "proof.certificate", "--json"], 0);
    assert!(json.contains(r#""source":"certificate""#) && json.contains(r#""rules":"standard""#), "{json}");

    let searched = run(&["play", "--from", "searched.certificate"], 1);
    assert!(searched.contains("not a strategy") && searched.contains("--effort 0"), "{searched}");
    let other = run(&["move", "6x4", "--from", "proof.certificate"], 2);
    assert!(other.contains("not a position of its board"), "{other}");
    let none = run(&["play", "4x3", "--north", "certificate"], 2);
    assert!(none.contains("needs --from CERTIFICATE"), "{none}");
    let over = run(&["play", "--from", "proof.certificate", "--save", "proof.certificate"], 1);
    assert!(over.contains("proof.certificate is not"), "{over}");
    std::fs::remove_file(files.join("standard-4-06.kalah")).unwrap();
    let missing = run(&["play", "--from", "proof.certificate"], 1);
    assert!(missing.contains("kalah build"), "{missing}");
}
