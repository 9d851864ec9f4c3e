//! Certificates of effort 0: a check searches nothing.

use kalah::certificate::{Certificate, Check, CheckError, CheckTally, ClaimSet};
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::prove::Wanted;

use crate::certificates::stored;
use crate::prove::{Board, Case, never};
#[cfg(feature = "cli")]
use kalah_tests::program::{self, Ran, Run};

fn check(board: &Board, certificate: &Certificate) -> Result<CheckTally, CheckError> {
    let certificate = stored(certificate);
    let check = Check::new(&certificate, board.tables.as_ref(), &Pulse::default())?;
    check.statement()?;
    check.claims(CheckTally::default(), &Pulse::default(), None)
}

#[test]
fn without_one_of_its_claims_a_certificate_proves_nothing_or_still_needs_no_search() {
    for rules in Rules::ALL {
        let board = Board::new(rules, "4x2", 4);
        let case = Case { effort: 0, budget: u64::MAX, ..board.case(Wanted::Find) };
        let directory = tempfile::tempdir().unwrap();
        let certificate = case.run(directory.path(), &never).unwrap().1.unwrap();
        assert!(check(&board, &certificate).is_ok());
        let (mut wrong, mut right) = (0, 0);
        for left_out in certificate.claims.iter() {
            let mut claims = ClaimSet::new(4);
            certificate.claims.iter().filter(|claim| claim.position != left_out.position).for_each(|claim| {
                claims.add(&claim.position, claim.bounds).unwrap();
            });
            match check(&board, &Certificate { head: certificate.head.clone(), claims }) {
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
    let case = Case { effort: 0, ..board.case(Wanted::Find) };
    let directory = tempfile::tempdir().unwrap();
    let file = board.directory().join("4x2.certificate");
    case.run(directory.path(), &never).unwrap().1.unwrap().write(&file).unwrap();
    let run = |flags: &[&str]| {
        let mut command = program::command();
        command.arg("check").arg(&file).arg("--tables").arg(board.directory()).args(flags);
        command.run().exits(0).stdout()
    };
    let text = run(&[]);
    assert!(text.contains("\n  0 nodes of searches, "), "{text}");
    assert!(run(&["--json"]).contains(r#""nodes":0"#));
}
