//! The report of `kalah verify`: for each board passed checks, faults, and layers that were not checked.

use kalah::diagnostic::Diagnostic;
use kalah::game::Rules;
use kalah::printable::commas;
use kalah::table::{TableError, TableKey};
use kalah::text::runs;
use kalah::verify::Fault;
use serde::Serialize;

use crate::cli::{Outcome, line, message, output};

/// Checks of a table.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Check {
    /// All files of the board can be opened, and none is missing.
    Files,
    Checksums,
    Manifest,
    Consistency,
    Cpu,
    Gpu,
    /// Archives and the tables that they restore.
    Archives,
    /// Checksums of bound tables.
    BoundChecksums,
    /// Bound tables against the exact tables of their layers.
    BoundsAgainstExact,
    /// Bound tables against those of lower layers.
    BoundConsistency,
}

impl Check {
    /// All checks except that of the files.
    const ALL: [Check; 9] = [
        Check::Checksums,
        Check::Archives,
        Check::Manifest,
        Check::Consistency,
        Check::Cpu,
        Check::Gpu,
        Check::BoundChecksums,
        Check::BoundsAgainstExact,
        Check::BoundConsistency,
    ];
}

/// One check of one layer.
#[derive(Serialize)]
pub(super) struct Passed {
    pub seeds: usize,
    pub check: Check,
    /// Number of positions, or of blocks for checksums.
    pub checked: u64,
    /// Number of frames that a consistency check visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<usize>,
    pub seconds: f64,
}

/// Fault found by a check.
#[derive(Serialize)]
pub(super) struct Wrong {
    pub seeds: usize,
    pub check: Check,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<u8>,
    /// Seeds of the missing layers below the one of `seeds`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<usize>,
    message: String,
}

/// Check that could not be made.
#[derive(Serialize)]
pub(super) struct Failed {
    /// Layer of the check, if it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<usize>,
    pub check: Check,
    pub message: String,
}

/// Layers of a board that a check left out.
#[derive(Serialize)]
pub(super) struct Unchecked {
    pub check: Check,
    pub seeds: Vec<usize>,
    pub why: &'static str,
}

/// Results for one rule set and board.
#[derive(Default, Serialize)]
pub(super) struct BoardReport {
    rules: Rules,
    pits: usize,
    ok: bool,
    pub passed: Vec<Passed>,
    /// Faults, the first one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<Wrong>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<Failed>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked: Vec<Unchecked>,
}

/// Results for a whole directory.
#[derive(Serialize)]
pub(super) struct AllBoards {
    pub ok: bool,
    pub boards: Vec<BoardReport>,
}

impl BoardReport {
    /// Returns an empty report.
    pub(super) fn new(rules: Rules, pits: usize) -> BoardReport {
        BoardReport { rules, pits, ok: true, ..BoardReport::default() }
    }

    /// Adds the result of a check of the layer with `seeds` seeds, or why it could not be made.
    pub(super) fn add(&mut self, seeds: usize, check: Check, fault: &Fault) {
        if fault.diagnosis().outcome == Outcome::Wrong {
            self.faults.push(Wrong::new(seeds, check, fault));
            self.ok = false;
        } else {
            self.fail(Some(seeds), check, fault.advised());
        }
    }

    /// Adds the reason why a check could not be made.
    pub(super) fn fail(&mut self, seeds: Option<usize>, check: Check, message: String) {
        self.failed.push(Failed { seeds, check, message });
        self.ok = false;
    }

    /// Adds a layer that was left out.
    pub(super) fn leave_out(&mut self, check: Check, seeds: usize, why: &'static str) {
        match self.unchecked.iter_mut().find(|unchecked| (unchecked.check, unchecked.why) == (check, why)) {
            Some(unchecked) => unchecked.seeds.push(seeds),
            None => self.unchecked.push(Unchecked { check, seeds: vec![seeds], why }),
        }
    }

    /// Returns true if a check found a fault.
    pub(super) fn is_wrong(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Returns true if nothing is wrong and all checks could be made.
    pub(super) fn is_ok(&self) -> bool {
        self.ok
    }
}

/// Returns the outcome of a run with these boards.
pub(super) fn outcome(boards: &[BoardReport]) -> Outcome {
    if boards.iter().any(BoardReport::is_wrong) {
        Outcome::Wrong
    } else if boards.iter().all(BoardReport::is_ok) {
        Outcome::Done
    } else {
        Outcome::Failed
    }
}

/// Prints all boards: faults on stdout, failures on stderr, and a line of text for each check.
pub(super) fn text(boards: &[BoardReport]) -> std::io::Result<()> {
    for board in boards {
        for wrong in &board.faults {
            line!("WRONG: {}", wrong.message)?;
        }
        for failed in &board.failed {
            message!("kalah: {}", failed.message);
        }
    }
    for check in Check::ALL {
        let of_check = || boards.iter().flat_map(|board| &board.passed).filter(|passed| passed.check == check);
        let layers = of_check().count();
        if layers == 0 {
            continue;
        }
        let (checked, seconds) = of_check()
            .fold((0, 0.0), |(checked, seconds), passed| (checked + passed.checked, seconds + passed.seconds));
        let frames: usize = of_check().filter_map(|passed| passed.frames).sum();
        let of_boards = match boards.len() {
            1 => String::new(),
            _ => {
                let count =
                    boards.iter().filter(|board| board.passed.iter().any(|passed| passed.check == check)).count();
                format!(" of {}", output::count(count, "board"))
            }
        };
        line!(
            "{}: {} {} in {}{}{of_boards}, no fault{}, {seconds:.1} s",
            check.name(),
            commas(checked),
            check.unit(),
            if frames > 0 { output::count(frames, "frame") + " of " } else { String::new() },
            output::count(layers, "layer"),
            if boards.iter().any(BoardReport::is_wrong) { " in these" } else { "" },
        )?;
    }
    for board in boards {
        let (rules, pits) = (board.rules, output::count(board.pits, "pit"));
        let whose = if boards.len() == 1 { String::new() } else { format!(" of {rules} with {pits}") };
        for Unchecked { check, seeds, why } in &board.unchecked {
            let layers = if seeds.len() == 1 { "layer" } else { "layers" };
            line!("{}: not checked{whose}: the {layers} of {} seeds, {why}", check.name(), runs(seeds))?;
        }
    }
    Ok(())
}

impl Check {
    pub(super) fn name(self) -> &'static str {
        self.words().0
    }

    pub(super) fn unit(self) -> &'static str {
        self.words().1
    }

    /// Its name, and what it counts.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Check::Files => ("files", "tables"),
            Check::Checksums => ("checksums", "blocks"),
            Check::Archives => ("archives", "positions unpacked to the tables that were packed"),
            Check::Manifest => {
                ("manifest", "positions with the digests, sizes and numbers of each score of the manifest")
            }
            Check::Consistency => ("consistency", "positions are the minimax of their children"),
            Check::Cpu => ("against the CPU", "positions computed again, all equal"),
            Check::Gpu => ("against the GPU", "positions computed again, all equal"),
            Check::BoundChecksums => ("checksums of bound tables", "blocks"),
            Check::BoundsAgainstExact => {
                ("bound tables against exact tables", "positions have the bounds of their exact scores")
            }
            Check::BoundConsistency => {
                ("consistency of bound tables", "positions have bounds that agree with those of their children")
            }
        }
    }
}

impl Wrong {
    /// Describes a fault that the check of the layer with `seeds` seeds found. The wrong layer may be below it.
    fn new(seeds: usize, check: Check, fault: &Fault) -> Wrong {
        let message = fault.advised();
        let wrong = Wrong { seeds, check, position: None, stored: None, right: None, missing: Vec::new(), message };
        match fault {
            Fault::Score { key, position, stored, right } => {
                let position = Some(position.to_string());
                Wrong { seeds: key.seeds, position, stored: Some(*stored), right: Some(*right), ..wrong }
            }
            Fault::Bounds { key, position, .. } => {
                Wrong { seeds: key.seeds, position: Some(position.to_string()), ..wrong }
            }
            Fault::Table(TableError::Damaged { path, .. }) => {
                let seeds = TableKey::named(path).map_or(seeds, |key| key.seeds);
                Wrong { seeds, ..wrong }
            }
            Fault::Gap { missing, .. } => Wrong { missing: missing.clone(), ..wrong },
            _ => wrong,
        }
    }
}
