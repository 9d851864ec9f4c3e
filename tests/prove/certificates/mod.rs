//! Writing, reading and checking certificates in tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kalah::certificate::{Certificate, CertificateError, Check, CheckError, CheckTally, ClaimKeys, StoredCertificate};
use kalah::game::Position;
use kalah::progress::Pulse;
use kalah::table::Tables;
use kalah_tests::program::Run;

/// Writes a certificate to a file, and opens that. The file is removed at once.
pub(crate) fn stored(certificate: &Certificate) -> StoredCertificate {
    // Files in memory are written at once.
    let memory = Some("/dev/shm".into()).filter(|path: &PathBuf| path.is_dir());
    let directory = tempfile::tempdir_in(memory.unwrap_or_else(std::env::temp_dir)).expect("a directory");
    let path = directory.path().join("a.certificate");
    certificate.write(&path).expect("a valid certificate");
    StoredCertificate::open(&path).expect("it was just written")
}

/// Checks a certificate in full, as `kalah check` does.
pub(crate) fn check(certificate: &Certificate, tables: Option<&Tables>) -> Result<CheckTally, CheckError> {
    check_file(&stored(certificate), tables)
}

pub(crate) fn check_file(file: &StoredCertificate, tables: Option<&Tables>) -> Result<CheckTally, CheckError> {
    let check = Check::new(file, tables, &Pulse::default())?;
    check.statement()?;
    check.claims(CheckTally::default(), &Pulse::default(), None)
}

/// Runs the reader in Python.
pub(crate) fn read_in_python(file: &Path, flags: &[&str]) -> Output {
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/certificate_reader.py")).args(flags).arg(file).run()
}

/// Digests of the tables that a certificate rests on.
pub(crate) fn digests(tables: &Tables) -> Vec<[u8; 32]> {
    tables.layers().iter().map(|table| table.header().digest).collect()
}

/// Reads the bytes of a certificate.
pub(crate) fn read(bytes: &[u8]) -> Result<Certificate, CertificateError> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("a writable file");
    Certificate::read(file.path())
}

/// All positions of a board in which the game is not over, or every `step`-th of them.
pub(crate) fn positions(pits: usize, seeds: usize, step: usize) -> Vec<Position> {
    let keys = ClaimKeys::new(pits);
    let count = keys.sequences(seeds).expect("few seeds");
    let key = |rank| (seeds as u128) << 120 | rank;
    let all = (0..count).step_by(step).map(|rank| keys.position(key(rank)).expect("a rank below the number"));
    all.filter(|position| !position.is_over()).collect()
}
