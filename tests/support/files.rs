//! Files in a directory of tables, to compare builds.

use std::collections::BTreeMap;
use std::path::Path;

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
