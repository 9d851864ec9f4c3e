//! The folder of a site while another one is written into it.
//!
//! No file of a site is ever changed but the page itself: all others have names that come from their contents. So a new site is
//! written beside the old one, and replacing the page, `index.html`, puts it in the place of the old one at once. A list names the
//! files that were written here before the first of them is: only these are ever removed or replaced.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use kalah_tables::file::{self, Document, FileLock, Replacement};
use serde::{Deserialize, Serialize};

use super::site_files::{SiteError, at};

/// The page: whatever it refers to is the site.
pub(super) const PAGE: &str = "index.html";

/// The directory of everything but the page, its worker and the tables.
pub(super) const DIRECTORY: &str = "site";

/// The directory of the tables.
pub(super) const TABLES: &str = "tables";

/// The list of the files, in [`DIRECTORY`].
const LIST: &str = "files.json";

/// The form of the list.
const DOCUMENT: Document = Document { format: "files of a kalah site", version: 1 };

/// A folder that a site is written into. Until it is published, the site that was there stays as it was.
#[derive(Debug)]
pub struct SiteFolder {
    path: PathBuf,
    /// The files of the last site, and those that killed exports left.
    old: BTreeSet<String>,
    /// The files of the new site.
    new: BTreeSet<String>,
    _lock: FileLock,
}

#[derive(Serialize, Deserialize)]
struct List {
    files: BTreeSet<String>,
}

impl SiteFolder {
    /// Opens or makes the folder at `path`, for one process at a time.
    ///
    /// # Errors
    /// When one of `sources`, the tables, is in the folder, it has files and no list of a site, another process writes to it, or it
    /// cannot be made.
    pub(super) fn open(path: &Path, sources: &[PathBuf]) -> Result<SiteFolder, SiteError> {
        match path.canonicalize() {
            Ok(folder) => require_apart(&folder, sources)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
                at(path, fs::create_dir_all(path))?;
            }
            Err(error) => return at(path, Err(error)),
        }
        if read_list(path)?.is_none() && !is_free(path)? {
            return Err(SiteError::NotOurs(path.to_owned()));
        }
        let lock = FileLock::beside(&path.join(DIRECTORY)).map_err(SiteError::Lock)?;
        let directory = path.join(DIRECTORY);
        at(&directory, fs::create_dir_all(&directory))?;
        at(&directory, file::remove_leftovers(&directory.join(LIST)))?;
        // Another process may have written it since.
        let old = read_list(path)?.unwrap_or_default();
        let folder = SiteFolder { path: path.to_owned(), old, new: BTreeSet::new(), _lock: lock };
        folder.write_list()?;
        Ok(folder)
    }

    /// The path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Enters files into the list before they are written.
    ///
    /// # Errors
    /// When one of them exists and was not written by an export, or the list cannot be written.
    pub(super) fn claim(&mut self, names: impl IntoIterator<Item = String>) -> Result<(), SiteError> {
        for name in names {
            let path = self.path.join(&name);
            if !self.old.contains(&name) && path.symlink_metadata().is_ok() {
                return Err(SiteError::Foreign(path));
            }
            self.new.insert(name);
        }
        self.write_list()?;
        for path in self.new.iter().map(|name| self.path.join(name)) {
            if let Some(parent) = path.parent() {
                at(parent, fs::create_dir_all(parent))?;
            }
            at(&path, file::remove_leftovers(&path))?;
        }
        Ok(())
    }

    /// Begins to write a file that was claimed.
    pub(super) fn begin(&self, name: &str) -> Result<Replacement, SiteError> {
        debug_assert!(self.new.contains(name), "{name} is not in the list");
        let path = self.path.join(name);
        at(&path, Replacement::begin_own(&path))
    }

    /// Writes a file that was claimed.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> Result<(), SiteError> {
        let path = self.path.join(name);
        let mut file = self.begin(name)?;
        at(&path, file.write_all(bytes).and_then(|()| file.finish()))
    }

    /// Replaces the page, all of whose files are there; then removes those of the site before.
    pub(super) fn publish(mut self, page: &str) -> Result<(), SiteError> {
        self.claim([PAGE.to_owned()])?;
        self.put(PAGE, page.as_bytes())?;
        for name in self.old.difference(&self.new) {
            let path = self.path.join(name);
            at(&path, file::remove_leftovers(&path))?;
            // A directory of that name is somebody else's.
            if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
                at(&path, fs::remove_file(&path))?;
            }
            if let Some(parent) = path.parent().filter(|&parent| parent != self.path) {
                // Fails where other files are left.
                let _ = fs::remove_dir(parent);
            }
        }
        self.old.clear();
        self.write_list()
    }

    fn write_list(&self) -> Result<(), SiteError> {
        let path = self.path.join(DIRECTORY).join(LIST);
        let files = self.old.union(&self.new).cloned().collect();
        at(&path, DOCUMENT.write(&path, &List { files }))
    }
}

/// The files in the list of a folder; `None` if it has no list.
fn read_list(folder: &Path) -> Result<Option<BTreeSet<String>>, SiteError> {
    let path = folder.join(DIRECTORY).join(LIST);
    let bytes = match file::read(&path) {
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
            return Ok(None);
        }
        bytes => at(&path, bytes)?,
    };
    let list: List = DOCUMENT.parse(&bytes).map_err(|_| SiteError::NotOurs(folder.to_owned()))?;
    // Nothing outside the folder is ever removed.
    let is_inside = |name: &String| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if list.files.iter().all(is_inside) { Ok(Some(list.files)) } else { Err(SiteError::NotOurs(folder.to_owned())) }
}

/// Returns true if the folder has nothing but what an export begins with.
fn is_free(folder: &Path) -> Result<bool, SiteError> {
    for entry in at(folder, fs::read_dir(folder))? {
        let (name, path) = at(folder, entry.map(|entry| (entry.file_name(), entry.path())))?;
        let is_begun = match name.to_str() {
            Some("site.lock") => true,
            Some(DIRECTORY) => fs::read_dir(&path).is_ok_and(|mut entries| {
                entries.all(|entry| {
                    let name = entry.map(|entry| entry.file_name()).unwrap_or_default();
                    name.to_string_lossy().strip_prefix(LIST).is_some_and(|rest| rest.ends_with(".tmp"))
                })
            }),
            _ => false,
        };
        if !is_begun {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Checks that none of `sources` is in the folder, nor in a directory that it links to and writes into.
fn require_apart(folder: &Path, sources: &[PathBuf]) -> Result<(), SiteError> {
    let written = [folder.to_owned(), folder.join(TABLES), folder.join(DIRECTORY)];
    let written: Vec<PathBuf> = written.iter().filter_map(|path| path.canonicalize().ok()).collect();
    for source in sources {
        let real = at(source, source.canonicalize())?;
        if written.iter().any(|path| real.starts_with(path)) {
            return Err(SiteError::Inside { tables: source.clone(), folder: folder.to_owned() });
        }
    }
    Ok(())
}
