//! Files in a directory of tables, to compare builds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Contents of the files of tables, finished or not, by name.
pub fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name().to_string_lossy().contains(".kalah"))
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect()
}

/// Fails if two directories do not have the same files.
pub fn assert_same_files(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>, what: &str) {
    assert!(a.keys().eq(b.keys()), "{what}: {:?} and {:?}", a.keys(), b.keys());
    for (name, bytes) in a {
        assert!(*bytes == b[name], "{what}: {name} differs");
    }
}

/// Copies the finished tables of a directory to a new one, which a test may damage.
pub fn copied(directory: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for (name, bytes) in files(directory).iter().filter(|(name, _)| name.ends_with(".kalah")) {
        std::fs::write(copy.path().join(name), bytes).unwrap();
    }
    copy
}

/// Flips these bits of one byte of a file. Returns the bytes of the file.
pub fn flip(path: &Path, at: usize, bits: u8) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= bits;
    std::fs::write(path, &bytes).unwrap();
    bytes
}

/// Makes a named pipe.
#[cfg(unix)]
pub fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Rust files in a directory and the folders below it.
pub fn sources(directory: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}
