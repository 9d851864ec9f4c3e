//! The folder of a site, in which a new site is written beside the old one.
//!
//! No file of a site is ever changed except the page itself: the names of all others come from their contents. So a
//! new site is written beside the old one, and replacing the page, `index.html`, switches to the new site at once. A
//! list names the files that were written here, before the first of them is written. Only these are ever removed or
//! replaced.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering;

use kalah_base::diagnostic::{Commands, Diagnosis, Diagnostic, Outcome};
use kalah_base::file::{self, Document, FileLock, LockError, Replacement};
use kalah_base::progress::Pulse;
use kalah_core::cancel::Stopped;
use kalah_core::table::TableError;
use serde::{Deserialize, Serialize};

/// The page. The site consists of all files that it refers to.
pub(super) const PAGE: &str = "index.html";

/// Directory of all files except the page, its worker and the tables.
pub(super) const DIRECTORY: &str = "site";

/// Directory of the tables.
pub(super) const TABLES: &str = "tables";

/// List of the files, in [`DIRECTORY`].
const LIST: &str = "files.json";

/// Format of the list.
const DOCUMENT: Document = Document { format: "kalah site files", version: 2 };

/// Errors of writing a site.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        source: io::Error,
    },
    /// The folder contains other files.
    #[error("{} is not empty, and was not written by this command", .0.display())]
    NotOurs(PathBuf),
    /// A foreign file in the folder is in the way.
    #[error("{} was not written by this command", .0.display())]
    Foreign(PathBuf),
    /// The tables are in the folder.
    #[error("{} is inside the folder to be written, {}", tables.display(), folder.display())]
    Inside {
        /// Directory of the tables, or a table.
        tables: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// Another process writes to the folder.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// The engine's file is something else.
    #[error("{} is not a WebAssembly module", .0.display())]
    NoModule(PathBuf),
    /// A table is damaged.
    #[error("{0}")]
    Table(#[from] TableError),
    /// The disk has not enough space for the tables.
    #[error("{}: the tables need {needed} bytes, but only {free} are free on this disk", path.display())]
    Disk {
        /// The folder.
        path: PathBuf,
        /// The bytes of the tables.
        needed: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// The work was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl Diagnostic for SiteError {
    fn diagnosis(&self, commands: &dyn Commands) -> Diagnosis {
        match self {
            SiteError::NotOurs(_) => Outcome::Failed.help("choose another folder, or empty this one"),
            SiteError::Disk { .. } => Outcome::Failed.help("free disk space, or choose a smaller --size"),
            SiteError::Foreign(_) => Outcome::Failed.help("move it, or choose another folder"),
            SiteError::Inside { .. } => Outcome::Failed.help("choose other tables with --tables, or another folder"),
            SiteError::NoModule(_) => Outcome::Failed.help("give the engine, kalah_wasm.wasm, with --module"),
            SiteError::File { path, .. } if path.ends_with("kalah_first.wasm") => {
                Outcome::Failed.help("put it beside the engine; the npm package has both")
            }
            SiteError::File { source, .. } => source.diagnosis(commands),
            SiteError::Lock(error) => error.diagnosis(commands),
            SiteError::Table(error) => error.diagnosis(commands),
            SiteError::Stopped(error) => error.diagnosis(commands),
        }
    }
}

/// Folder that a site is written into. The old site stays unchanged until the new one is published.
#[derive(Debug)]
pub struct SiteFolder {
    path: PathBuf,
    /// Files of the last site, and those of killed exports.
    old: BTreeSet<String>,
    /// Files of the new site.
    new: BTreeSet<String>,
    _lock: FileLock,
}

#[derive(Serialize, Deserialize)]
struct List {
    files: BTreeSet<String>,
}

impl SiteFolder {
    /// Opens or creates the folder at `path`, for one process at a time.
    ///
    /// # Errors
    /// If one of `sources`, the tables, is in the folder, the folder has files but no list of a site, another process
    /// writes to it, or it cannot be created.
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
        // Another process may have written it meanwhile.
        let old = read_list(path)?.unwrap_or_default();
        let folder = SiteFolder { path: path.to_owned(), old, new: BTreeSet::new(), _lock: lock };
        folder.write_list()?;
        Ok(folder)
    }

    /// Returns the path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Enters files into the list before they are written.
    ///
    /// # Errors
    /// If one of them exists and was not written by an export, or the list cannot be written.
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

    /// Begins to write a file that is in the list.
    pub(super) fn begin(&self, name: &str) -> Result<Replacement, SiteError> {
        debug_assert!(self.new.contains(name), "{name} is not in the list");
        let path = self.path.join(name);
        at(&path, Replacement::begin_own(&path))
    }

    /// Writes a file that is in the list.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> Result<(), SiteError> {
        let path = self.path.join(name);
        let mut file = self.begin(name)?;
        at(&path, file.write_all(bytes).and_then(|()| file.finish()))
    }

    /// Replaces the page, whose other files are complete, and then removes the files of the old site.
    pub(super) fn publish(mut self, page: &str) -> Result<(), SiteError> {
        self.claim([PAGE.to_owned()])?;
        self.put(PAGE, page.as_bytes())?;
        for name in self.old.difference(&self.new) {
            let path = self.path.join(name);
            at(&path, file::remove_leftovers(&path))?;
            // A directory of that name is foreign.
            if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
                at(&path, fs::remove_file(&path))?;
            }
            if let Some(parent) = path.parent().filter(|&parent| parent != self.path) {
                // Fails if other files are left.
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

/// Reads the list of a folder; `None` if it has no list.
fn read_list(folder: &Path) -> Result<Option<BTreeSet<String>>, SiteError> {
    let path = folder.join(DIRECTORY).join(LIST);
    let bytes = match file::read(&path) {
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
            return Ok(None);
        }
        bytes => at(&path, bytes)?,
    };
    let list: List = DOCUMENT.parse(&bytes).map_err(|_| SiteError::NotOurs(folder.to_owned()))?;
    // No file outside the folder is ever removed.
    let is_inside = |name: &String| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if list.files.iter().all(is_inside) { Ok(Some(list.files)) } else { Err(SiteError::NotOurs(folder.to_owned())) }
}

/// Returns true if the folder has only the files that an export begins with.
fn is_free(folder: &Path) -> Result<bool, SiteError> {
    for entry in at(folder, fs::read_dir(folder))? {
        let (name, path) = at(folder, entry.map(|entry| (entry.file_name(), entry.path())))?;
        let is_begun = match name.to_str() {
            Some("site.lock") => true,
            Some(DIRECTORY) => fs::read_dir(&path).is_ok_and(|mut entries| {
                entries
                    .all(|entry| entry.is_ok_and(|entry| file::is_temporary_of(&entry.file_name(), &path.join(LIST))))
            }),
            _ => false,
        };
        if !is_begun {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns an error if one of `sources` is in the folder, or in a directory that it links to and writes into.
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

/// Adds copied bytes of tables to `pulse`.
///
/// # Errors
/// If it was stopped.
pub(super) fn advance(pulse: &Pulse, done: u64) -> Result<(), Stopped> {
    pulse.positions.store(done, Ordering::Relaxed);
    pulse.check()
}

pub(super) fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, SiteError> {
    result.map_err(|source| SiteError::File { path: path.to_owned(), source })
}
