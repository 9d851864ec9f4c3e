//! The certificates of the repository. CI checks each in full with `kalah check`; these tests check the first
//! claims.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kalah::certificate::{Check, CheckTally, StoredCertificate};
use kalah::progress::Pulse;
use kalah::table::Tables;

/// Number of claims after which a check is stopped.
const FIRST: u64 = 500;

/// Files of certificates in a folder of the repository.
fn certificates(folder: &str) -> impl Iterator<Item = PathBuf> {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "certificate"))
}

/// Certificates that rest on tables too large for a test are only read. Their digests must be those in the README, and
/// their tables those of the manifest.
#[test]
fn the_large_certificates_rest_on_the_known_tables() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let (readme, manifest) = (text("certificates/README.md"), text("tables/manifest.jsonl"));
    let hex = |digest: &[u8; 32]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut values = Vec::new();
    for path in certificates("certificates/large") {
        let file = StoredCertificate::open(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(readme.contains(&format!("| `large/{name}` | {} |", hex(&file.digest()))), "{name}");
        let head = file.head();
        let (rules, position) = (head.statement.rules, &head.statement.position);
        for (digest, seeds) in head.tables.iter().zip(2..) {
            let place = format!("\"rules\":\"{rules}\",\"pits\":{},\"seeds\":{seeds},", position.pits());
            let line = manifest.lines().find(|line| line.contains(&place)).unwrap();
            assert!(line.contains(&hex(digest)), "{name}: {seeds} seeds");
        }
        values.push(format!("{rules} {position} {:+}", head.statement.bounds.value().unwrap()));
    }
    values.sort();
    let start = "<6,0,0,6,6,6,6,6,6,6,6,6,6,6,6>";
    assert_eq!(values, [format!("empty-capture {start} +2"), format!("standard {start} +4")]);
}

#[test]
fn the_certificates_of_the_repository_hold() {
    let directory = tempfile::tempdir().unwrap();
    let mut found: Vec<String> = Vec::new();
    for path in certificates("certificates") {
        let file = StoredCertificate::open(&path).unwrap();
        let head = file.head();
        let (rules, position) = (head.statement.rules, &head.statement.position);
        let (pits, seeds) = (position.pits(), head.table_seeds());
        kalah::build::build(directory.path(), rules, pits, seeds).unwrap();
        let tables = Tables::open(directory.path(), rules, pits, seeds).unwrap();
        let pulse = Pulse::default();
        let check = Check::new(&file, Some(&tables), &pulse).unwrap();
        check.statement().unwrap();
        let (first, is_over) = (Pulse::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while first.positions.load(Ordering::Relaxed) < FIRST && !is_over.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                first.cancel.cancel();
            });
            let checked = check.claims(CheckTally::default(), &first, None);
            is_over.store(true, Ordering::Relaxed);
            checked.unwrap();
        });
        assert!(first.positions.load(Ordering::Relaxed) >= FIRST.min(file.claims()));
        let value = head.statement.bounds.value().unwrap();
        found.push(format!("{rules} {position} {value:+}"));
    }
    found.sort();
    // Irving et al. 2000 and Rawlings 2015.
    let published = [
        "empty-capture <6,0,0,4,4,4,4,4,4,4,4,4,4,4,4> +10",
        "empty-capture <6,0,0,5,5,5,5,5,5,5,5,5,5,5,5> +12",
        "standard <6,0,0,4,4,4,4,4,4,4,4,4,4,4,4> +8",
        "standard <6,0,0,5,5,5,5,5,5,5,5,5,5,5,5> +10",
    ];
    assert_eq!(found, published);
}
