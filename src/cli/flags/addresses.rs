//! Addresses in place of directories of tables.

use std::path::PathBuf;

use parking_lot::Mutex;

/// Addresses that were opened, and the directories that stand for them.
static OPENED: Mutex<Vec<(PathBuf, PathBuf)>> = Mutex::new(Vec::new());

/// Notes the directory that stands for an address.
pub fn opened(address: &str, directory: PathBuf) {
    OPENED.lock().push((address.into(), directory));
}

/// Returns the directory that stands for an address that was opened, and any other path as it is.
pub fn directory(path: PathBuf) -> PathBuf {
    let opened = OPENED.lock();
    let found = opened.iter().find(|(address, _)| *address == path).map(|(_, directory)| directory.clone());
    found.unwrap_or(path)
}

/// Returns true if the text is an address, not a path.
pub fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    })
}
