//! Published game values and perfect games: an independent check of our rules and tables.

use kalah::game::{Line, Rules, StartPosition};
use kalah::index::{MAX_TABLE_SEEDS, layer_positions};

use kalah_tests::reference;
use kalah_tests::tables::opened;

use crate::at_most;

fn start(line: &[&str]) -> StartPosition {
    crate::start(line[0].parse().unwrap(), line[1].parse().unwrap())
}

/// Final difference of the stores for the first player after `line` from the start. Returns `None` if the line is
/// illegal or does not end the game.
fn outcome(rules: Rules, start: StartPosition, line: &Line) -> Option<i64> {
    let end = line.replay(rules, &start.position().unwrap()).ok()?;
    let value = end.value(end.mover().total());
    end.is_over().then_some(if line.turns().len().is_multiple_of(2) { value } else { -value })
}

/// Value of a start position by tables built for it. Their line of best play must be worth it.
fn proved_value(rules: Rules, start: StartPosition) -> i64 {
    let seeds = 2 * start.pits * start.seeds as usize;
    let tables = opened(rules, start.pits, seeds);
    let probe = tables.probe(&start.position().unwrap()).unwrap();
    assert_eq!(outcome(rules, start, &probe.line), Some(probe.value), "{rules} {start}: {}", probe.line);
    assert!(probe.best().any(|pit| pit == probe.line.turns()[0][0]), "{rules} {start}: {}", probe.line);
    probe.value
}

/// Returns true if tables of at most `positions` positions cover the whole game of a board.
fn is_cheap(start: StartPosition, positions: u64) -> bool {
    let seeds = 2 * start.pits * start.seeds as usize;
    let layers = (2..=seeds).map(|seeds| layer_positions(start.pits, seeds));
    seeds <= MAX_TABLE_SEEDS && layers.sum::<u64>() <= at_most(positions)
}

#[test]
fn values_and_outcomes_by_tables_are_the_published_ones() {
    for (rules, published, positions) in [
        (Rules::EmptyCapture, include_str!("../reference/irving-2000-game-values.csv"), 100_000_000),
        (Rules::SKalaha, include_str!("../reference/kvitberg-2026-values.csv"), 6_000_000),
    ] {
        for line in reference::lines(published).filter(|line| is_cheap(start(line), positions)) {
            let value = proved_value(rules, start(&line));
            assert_eq!(["L", "D", "W"][(value.signum() + 1) as usize], line[2], "{rules} {}", start(&line));
            // Of small boards, and of all by Kvitberg, the sign alone is published.
            if rules == Rules::EmptyCapture && !line[3].is_empty() {
                assert_eq!(value.to_string(), line[3], "{}", start(&line));
            }
        }
    }
}

#[test]
fn irving_2000_perfect_games() {
    let values: Vec<_> = reference::lines(include_str!("../reference/irving-2000-game-values.csv")).collect();
    let mut misprints = Vec::new();
    for game in reference::lines(include_str!("../reference/irving-2000-perfect-games.csv")) {
        let start = start(&game);
        // The paper counts pits from 0 and puts a dash between turns.
        let from_one = |digit: char| digit.to_digit(10).and_then(|pit| char::from_digit(pit + 1, 10)).unwrap_or(' ');
        let line = Line::parse(start.pits, &game[2].chars().map(from_one).collect::<String>()).unwrap();
        let value = values.iter().find(|value| value[..2] == game[..2]).unwrap()[3];
        match outcome(Rules::EmptyCapture, start, &line) {
            Some(outcome) => assert_eq!(outcome.to_string(), value, "{start}: {line}"),
            None => misprints.push(start.to_string()),
        }
    }
    assert_eq!(misprints, ["4x6"]);
}
