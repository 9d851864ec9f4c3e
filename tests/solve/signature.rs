//! The signature of the search: the number of positions that it visits to solve fixed ones.
//!
//! With one thread, the nodes of a search depend only on the position, the tables and the size of the transposition
//! table. They do not depend on time, memory pages or the processor. So a refactoring must not change these numbers. A
//! commit that changes the search changes them and mentions it.

use std::ops::Range;
use std::path::Path;

use kalah::build::build;
use kalah::game::{Position, Rules};
use kalah::solve::{LimitedSearch, Method, Solver, SolverOptions};
use kalah::table::Tables;

/// Positions to solve, with the seeds of the tables (0: no tables) and the KiB of the transposition table. The
/// transposition tables are small, so that entries are replaced.
const SOLVED: [(&str, usize, u64); 9] = [
    ("3x4", 0, 16),
    ("4x3", 0, 64),
    ("4x3", 8, 16),
    ("4x4", 12, 64),
    ("5x3", 0, 1024),
    ("5x3", 10, 64),
    ("<6,9,11,2,0,1,5,0,4,3,1,0,2,6,1>", 9, 64),
    ("6x3", 14, 64),
    ("1,1,0,1,1,1,0,1,1/1,0,1,1,1,0,1,1,1", 0, 64),
];

/// Positions of depth-limited searches.
const LIMITED: [(&str, u32); 2] = [("4x4", 7), ("6x4", 6)];

/// For each rule set and position: nodes, and scores read from tables.
type Solved = [(u64, u64); SOLVED.len()];

/// For each rule set and position: nodes by alpha-beta with one thread.
type Limited = [u64; LIMITED.len()];

const SIGNATURES: [(&str, Solved, Limited); 4] = [
    (
        "empty-capture",
        [
            (5_527, 0),
            (6_702, 0),
            (3_519, 571),
            (53_252, 21_625),
            (38_374, 0),
            (12_438, 2_441),
            (1_138, 21),
            (143_274, 54_509),
            (1_246, 0),
        ],
        [1_108, 3_727],
    ),
    (
        "standard",
        [
            (7_239, 0),
            (14_838, 0),
            (6_342, 1_463),
            (67_935, 28_453),
            (100_356, 0),
            (20_647, 5_059),
            (22_988, 8_014),
            (357_941, 156_065),
            (4_141, 0),
        ],
        [1_109, 3_786],
    ),
    (
        "s-kalaha",
        [
            (829, 0),
            (563, 0),
            (406, 40),
            (510, 103),
            (171_173, 0),
            (59_796, 29_712),
            (650_599, 315_613),
            (291_757, 139_093),
            (3_811_390, 0),
        ],
        [1_217, 2_174],
    ),
    (
        "single-move",
        [
            (7_027, 0),
            (166_432, 0),
            (38_477, 16_448),
            (871_263, 518_288),
            (13_994_720, 0),
            (3_607_004, 1_789_818),
            (5_821, 504),
            (4_279_921, 2_678_596),
            (839, 0),
        ],
        [1_204, 4_118],
    ),
];

/// Searches of more nodes are slow.
const MANY: u64 = 1_000_000;

#[test]
fn the_search_visits_the_positions_that_it_always_visited() {
    assert_signatures(0..MANY);
    let found = Rules::ALL.map(|rules| LIMITED.map(|(position, depth)| limited(rules, position, depth)));
    assert_eq!(found, SIGNATURES.map(|(_, _, limited)| limited));
}

#[test]
#[ignore = "slow"]
fn long_searches_visit_the_positions_that_they_always_visited() {
    assert_signatures(MANY..u64::MAX);
}

/// Repeats the searches whose number of nodes is in this range.
fn assert_signatures(nodes: Range<u64>) {
    let directory = tempfile::tempdir().unwrap();
    for ((name, signature, _), rules) in SIGNATURES.into_iter().zip(Rules::ALL) {
        let found = std::array::from_fn(|at| {
            let (position, reach, kib) = SOLVED[at];
            let is_asked = nodes.contains(&signature[at].0);
            if is_asked { solve(directory.path(), rules, position, reach, kib << 10) } else { signature[at] }
        });
        assert_eq!((rules.name(), found), (name, signature));
    }
}

fn solve(directory: &Path, rules: Rules, position: &str, reach: usize, memory: u64) -> (u64, u64) {
    let position: Position = position.parse().unwrap();
    let pits = position.pits();
    let tables = (reach > 0).then(|| {
        build(directory, rules, pits, reach).unwrap();
        Tables::open(directory, rules, pits, reach).unwrap()
    });
    let options = SolverOptions::new(rules, &position).tables(tables.as_ref()).transpositions(memory);
    let solver = Solver::new(options).unwrap();
    let guess = solver.first_guess(&position).unwrap();
    solver.solve(&position, guess).unwrap();
    (solver.nodes(), solver.table_hits())
}

fn limited(rules: Rules, position: &str, depth: u32) -> u64 {
    LimitedSearch::new(rules, Method::SeqAb, depth).run(&position.parse().unwrap()).nodes
}
