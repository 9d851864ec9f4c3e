//! Certificates: what the checker accepts is true, what is true it accepts.

use std::collections::HashMap;

use kalah::build::build;
use kalah::certificate::{Bound, Checker, ClaimSet, Keys};
use kalah::game::{Bounds, Position, Rules};
use kalah::table::Tables;

/// The exact scores of positions, by brute force.
struct Scores {
    rules: Rules,
    found: HashMap<Position, u32>,
}

impl Scores {
    fn of(rules: Rules) -> Scores {
        Scores { rules, found: HashMap::new() }
    }

    fn score(&mut self, position: &Position) -> u32 {
        let position = position.without_stores();
        if position.is_over() {
            return position.mover().total();
        }
        if let Some(&score) = self.found.get(&position) {
            return score;
        }
        let moves: Vec<_> = position.moves().collect();
        let by_move = moves.into_iter().map(|pit| {
            let played = position.play(self.rules, pit).expect("a legal move");
            let score = self.score(&played.position);
            played.mover_score(&position, score)
        });
        let best = by_move.max().expect("there is a move");
        self.found.insert(position, best);
        best
    }
}

/// Every position of a board that is not over, or some of them.
fn positions(pits: usize, seeds: usize, step: usize) -> Vec<Position> {
    let keys = Keys::new(pits);
    let count = keys.sequences(seeds).expect("few seeds");
    let key = |rank| (seeds as u128) << 120 | rank;
    let all = (0..count).step_by(step).map(|rank| keys.position(key(rank)).expect("a rank below the number"));
    all.filter(|position| !position.is_over()).collect()
}

#[test]
fn searches_accept_what_is_true_and_nothing_else() {
    for rules in Rules::ALL {
        let mut scores = Scores::of(rules);
        for (pits, seeds, step) in [(1, 9, 1), (2, 8, 1), (3, 7, 7), (7, 5, 97)] {
            let mut checker = Checker::new(rules, pits, None, 0, 14);
            for position in positions(pits, seeds, step) {
                let score = scores.score(&position);
                for asked in [score.saturating_sub(1), score, score + 1] {
                    let research = checker.reaches(&position, asked).expect("there are no tables");
                    assert_eq!(research.reached, Some(score >= asked), "{rules} {position} {asked}");
                    assert!((research.bounds.lower..=research.bounds.upper).contains(&score));
                }
                assert!(checker.searches(&position, Bound::AtLeast(score)).expect("there are no tables"));
                assert!(checker.searches(&position, Bound::AtMost(score)).expect("there are no tables"));
            }
        }
    }
}

#[test]
fn one_ply_accepts_what_follows_and_nothing_else() {
    for rules in Rules::ALL {
        let mut scores = Scores::of(rules);
        for (pits, seeds) in [(2, 7), (3, 5)] {
            let mut claims = ClaimSet::new(pits);
            for seeds in 2..=seeds {
                for position in positions(pits, seeds, 1) {
                    let score = scores.score(&position);
                    claims.add(&position, Bounds { lower: score, upper: score }).expect("a claim of this board");
                }
            }
            let mut checker = Checker::new(rules, pits, None, 0, 0);
            let known = |position: &Position| claims.get(position);
            for claim in claims.iter() {
                let score = claim.bounds.lower;
                let mut follows = |bound| checker.follows(&claim.position, bound, &known).expect("there are no tables");
                assert!(follows(Bound::AtLeast(score)) && follows(Bound::AtMost(score)), "{rules} {}", claim.position);
                assert!(!follows(Bound::AtLeast(score + 1)), "{rules} {}", claim.position);
                assert!(score == 0 || !follows(Bound::AtMost(score - 1)), "{rules} {}", claim.position);
            }
        }
    }
}

#[test]
fn searches_visit_no_more_nodes_than_allowed_and_always_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    for rules in Rules::ALL {
        build(directory.path(), rules, 3, 6).expect("tables are built");
        let tables = Tables::open(directory.path(), rules, 3, 6).expect("tables are there");
        let mut scores = Scores::of(rules);
        let positions = positions(3, 9, 41);
        for (seeds, effort) in [(0, 4), (4, 3), (6, 0), (6, 12)] {
            let checker = || Checker::new(rules, 3, Some(&tables), seeds, effort);
            let mut reused = checker();
            let mut decided = 0;
            for position in &positions {
                let score = scores.score(position);
                for asked in [score, score + 1] {
                    let research = reused.reaches(position, asked).expect("the tables are sound");
                    assert_eq!(checker().reaches(position, asked).expect("the tables are sound"), research);
                    assert!(research.nodes <= 1 << effort);
                    assert!(research.reached.is_none_or(|reached| reached == (score >= asked)), "{rules} {position}");
                    decided += usize::from(research.reached.is_some());
                }
            }
            // Each of these efforts is too small for some of the searches, and enough for others.
            assert!(
                decided > 0 && (effort == 12 || decided < 2 * positions.len()),
                "{rules} {seeds} {effort} {decided}"
            );
        }
    }
}
