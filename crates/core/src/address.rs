//! Addresses of directories that are filled on demand.

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Directories that are filled from elsewhere, and their addresses.
static ADDRESSES: RwLock<Vec<(PathBuf, PathBuf)>> = RwLock::new(Vec::new());

/// Notes the address of a directory.
pub(crate) fn note(directory: &Path, address: &Path) {
    let mut addresses = ADDRESSES.write().unwrap_or_else(PoisonError::into_inner);
    addresses.retain(|(other, _)| other != directory);
    addresses.push((directory.to_owned(), address.to_owned()));
}

/// Returns the address of a directory that is filled on demand; `None` for any other directory.
pub fn source_address(directory: &Path) -> Option<PathBuf> {
    let addresses = ADDRESSES.read().unwrap_or_else(PoisonError::into_inner);
    addresses.iter().find(|(filled, _)| filled == directory).map(|(_, address)| address.clone())
}

/// Returns `directory`, or the address that it is filled from: the name to show to users.
pub(crate) fn shown(directory: &Path) -> PathBuf {
    source_address(directory).unwrap_or_else(|| directory.to_owned())
}
