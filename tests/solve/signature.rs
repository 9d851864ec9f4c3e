//! The signature of the search: the number of positions that it visits to solve fixed ones.
//!
//! With one thread, the nodes of a search depend only on the position, the tables and the size of the transposition
//! table. They do not depend on time, memory pages or the processor. So a refactoring must not change these numbers. A
//! commit that changes the search changes them and mentions it.

use std::ops::Range;

use kalah::game::{Position, Rules};
use kalah::solve::{LimitedSearch, Method, Solver, SolverOptions};
use kalah_tests::tables::opened;

/// For each rule set: nodes, and scores read from tables.
type Signatures = [(u64, u64); Rules::ALL.len()];

/// Positions to solve, with the seeds of the tables (0: no tables) and the KiB of the transposition table. The
/// transposition tables are small, so that entries are replaced.
const SOLVED: [(&str, usize, u64, Signatures); 9] = [
    ("3x4", 0, 16, [(5_527, 0), (7_239, 0), (829, 0), (7_027, 0)]),
    ("4x3", 0, 64, [(6_702, 0), (14_838, 0), (563, 0), (166_432, 0)]),
    ("4x3", 8, 16, [(3_519, 571), (6_342, 1_463), (406, 40), (38_477, 16_448)]),
    ("4x4", 12, 64, [(53_252, 21_625), (67_935, 28_453), (510, 103), (871_263, 518_288)]),
    ("5x3", 0, 1024, [(38_374, 0), (100_356, 0), (171_173, 0), (13_994_720, 0)]),
    ("5x3", 10, 64, [(12_438, 2_441), (20_647, 5_059), (59_796, 29_712), (3_607_004, 1_789_818)]),
    ("<6,9,11,2,0,1,5,0,4,3,1,0,2,6,1>", 9, 64, [(1_138, 21), (22_988, 8_014), (650_599, 315_613), (5_821, 504)]),
    ("6x3", 14, 64, [(143_274, 54_509), (357_941, 156_065), (291_757, 139_093), (4_279_921, 2_678_596)]),
    ("1,1,0,1,1,1,0,1,1/1,0,1,1,1,0,1,1,1", 0, 64, [(1_246, 0), (4_141, 0), (3_811_390, 0), (839, 0)]),
];

/// Positions of depth-limited searches. For each rule set: nodes by alpha-beta with one thread.
const LIMITED: [(&str, u32, [u64; 4]); 2] =
    [("4x4", 7, [1_108, 1_109, 1_217, 1_204]), ("6x4", 6, [3_727, 3_786, 2_174, 4_118])];

/// Searches of more nodes are slow.
const MANY: u64 = 1_000_000;

#[test]
fn the_search_visits_the_positions_that_it_always_visited() {
    assert_signatures(0..MANY);
    for (position, depth, nodes) in LIMITED {
        let limited = |rules| LimitedSearch::new(rules, Method::SeqAb, depth).run(&position.parse().unwrap()).nodes;
        assert_eq!(Rules::ALL.map(limited), nodes, "{position}");
    }
}

#[test]
#[ignore = "slow"]
fn long_searches_visit_the_positions_that_they_always_visited() {
    assert_signatures(MANY..u64::MAX);
}

/// Repeats the searches whose number of nodes is in this range.
fn assert_signatures(nodes: Range<u64>) {
    for (text, reach, kib, signatures) in SOLVED {
        let position: Position = text.parse().unwrap();
        for (rules, signature) in
            Rules::ALL.into_iter().zip(signatures).filter(|(_, signature)| nodes.contains(&signature.0))
        {
            let pits = position.pits();
            let tables = (reach > 0).then(|| opened(rules, pits, reach));
            let options = SolverOptions::new(rules, &position).tables(tables.as_ref()).transpositions(kib << 10);
            let solver = Solver::new(options).unwrap();
            let guess = solver.first_guess(&position).unwrap();
            solver.solve(&position, guess).unwrap();
            assert_eq!((solver.nodes(), solver.table_hits()), signature, "{rules} {text} {reach}");
        }
    }
}
