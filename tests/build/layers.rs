//! Every score of a table is the minimax of its children.

use kalah::build::build;
use kalah::game::Rules;
use kalah::index::LayerIndex;
use kalah::table::Tables;
use kalah::verify::Oracle;

#[test]
fn every_score_is_the_minimax_of_its_children() {
    for rules in Rules::ALL {
        for (pits, seeds) in [(1, 30), (2, 24), (3, 18), (4, 13), (5, 11), (6, 10), (7, 8), (8, 8)] {
            let directory = tempfile::tempdir().unwrap();
            build(directory.path(), rules, pits, seeds).unwrap();
            let tables = Tables::open(directory.path(), rules, pits, seeds).unwrap();
            let oracle = Oracle::new(rules, pits).unwrap();
            for layer in tables.layers() {
                let index = LayerIndex::new(tables.rows(), layer.key().seeds);
                for rank in 0..index.positions() {
                    let (mover, other) = index.unrank(rank);
                    let right = oracle.minimax(&mover, &other, |mover, other| tables.score_rows(mover, other)).unwrap();
                    let stored = tables.score_rows(&mover, &other).unwrap();
                    assert_eq!(stored, right, "{rules} {pits} pits: {mover:?} {other:?}");
                }
            }
        }
    }
}
