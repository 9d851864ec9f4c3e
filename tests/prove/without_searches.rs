//! Certificates of effort 0: a check searches nothing.

use kalah::game::Rules;
use kalah::prove::Wanted;

use crate::certificates::check;
use crate::prove::Board;
#[cfg(feature = "cli")]
use kalah_tests::program::{self, Ran, Run};

#[test]
fn without_one_of_its_claims_a_certificate_proves_nothing_or_still_needs_no_search() {
    for rules in Rules::ALL {
        let board = Board::new(rules, "4x2", 4);
        let certificate = board.without_searches(Wanted::Find).certificate();
        let (mut wrong, mut right) = (0, 0);
        for left_out in certificate.claims.iter() {
            let mut changed = certificate.clone();
            changed.claims.remove(&left_out.position).unwrap();
            match check(&changed, board.tables.as_ref()) {
                Ok(tally) => {
                    assert_eq!((tally.nodes, tally.searched, tally.one_ply_and_search), (0, 0, 0), "{left_out:?}");
                    right += 1;
                }
                Err(error) => {
                    assert!(error.is_wrong() && !error.to_string().contains("search"), "{error}");
                    wrong += 1;
                }
            }
        }
        // Each claim was made since another one needs it.
        assert!(wrong > 9 * right, "{rules}: {wrong} refused, {right} accepted");
    }
}

#[cfg(feature = "cli")]
#[test]
fn the_program_reports_that_nothing_was_searched() {
    let board = Board::new(Rules::Standard, "4x2", 4);
    let file = board.directory().join("4x2.certificate");
    board.without_searches(Wanted::Find).certificate().write(&file).unwrap();
    for (flag, expected) in [("--quiet", "\n  0 nodes of searches, "), ("--json", r#""nodes":0"#)] {
        let mut command = program::command();
        command.arg("check").arg(&file).arg("--tables").arg(board.directory()).arg(flag);
        command.run().success().prints(expected);
    }
}
