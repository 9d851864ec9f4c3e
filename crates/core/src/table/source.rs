//! Files that are filled on demand: their blocks come from elsewhere when they are first read.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::error::{Damage, TableError};
use super::format::TableHeader;
use crate::address;
use crate::cancel::Stopped;

/// The origin of the files of a directory, which hold only the blocks that were read so far.
///
/// Such a file has its full length, a valid header and directory, and zeros in place of the blocks that it lacks.
/// Its blocks are compared with their checksums by [`super::Table`], which trusts no source.
pub trait BlockSource: Send + Sync {
    /// Address of the directory, for messages.
    fn address(&self) -> &Path;

    /// Checks the header of the file `name` when it is opened.
    ///
    /// # Errors
    /// When it is not the expected table.
    fn check_header(&self, name: &str, header: &TableHeader) -> Result<(), Damage>;

    /// Reads these parts of the file `name`, in this order. `again` is true if bytes read before were damaged, so
    /// that no cache on the way may answer.
    ///
    /// # Errors
    /// When they cannot be read. An error that carries a [`Damage`] means that the origin holds another file, and one
    /// with [`Stopped`] that nobody waits for them any more.
    fn read(&self, name: &str, parts: &[Range<u64>], again: bool) -> io::Result<Vec<Vec<u8>>>;
}

/// Directories and their sources.
static SOURCES: RwLock<Vec<(PathBuf, Arc<dyn BlockSource>)>> = RwLock::new(Vec::new());

/// Fills the files of `directory` from `source` from now on, in this process. A later source of the same directory
/// replaces this one for files that are opened afterwards.
///
/// # Safety
/// The files are mapped. While a table is open, nobody may write to its file or shorten it, except for processes that
/// fill it from the same source. Removing a file, or renaming another over it, is safe.
pub unsafe fn fill_directory(directory: &Path, source: Arc<dyn BlockSource>) {
    address::note(directory, source.address());
    let mut sources = SOURCES.write().unwrap_or_else(PoisonError::into_inner);
    sources.retain(|(other, _)| other != directory);
    sources.push((directory.to_owned(), source));
}

/// Ends [`fill_directory`] of `directory` with `source`, which files that are open still use. Does nothing if another
/// source has replaced it.
pub fn leave_directory(directory: &Path, source: &dyn BlockSource) {
    let mut sources = SOURCES.write().unwrap_or_else(PoisonError::into_inner);
    let is_this = |other: &Arc<dyn BlockSource>| std::ptr::addr_eq(Arc::as_ptr(other), source);
    let left: Vec<_> = sources.extract_if(.., |(filled, other)| filled == directory && is_this(other)).collect();
    // The source may end here, which may take time.
    drop(sources);
    drop(left);
}

fn source(directory: &Path) -> Option<Arc<dyn BlockSource>> {
    let sources = SOURCES.read().unwrap_or_else(PoisonError::into_inner);
    sources.iter().find(|(filled, _)| filled == directory).map(|(_, source)| Arc::clone(source))
}

/// A file that is filled on demand.
pub(super) struct Origin {
    source: Arc<dyn BlockSource>,
    name: String,
    /// The file, for reading and writing.
    pub file: File,
    path: PathBuf,
}

impl Origin {
    /// The origin of the file at `path`; `None` if it is complete.
    ///
    /// # Errors
    /// When the file cannot be opened for writing.
    pub fn of(path: &Path) -> Result<Option<Origin>, TableError> {
        let Some(source) = path.parent().and_then(source) else { return Ok(None) };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = File::options().read(true).write(true).open(path).map_err(TableError::io(path))?;
        Ok(Some(Origin { source, name, file, path: path.to_owned() }))
    }

    /// The file on this machine, which errors name if it is at fault.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Address of the file, which all other errors name.
    pub fn address(&self) -> PathBuf {
        // Not `Path::join`, which would use the separator of this system.
        format!("{}/{}", self.source.address().display(), self.name).into()
    }

    /// Checks the header when the file is opened.
    ///
    /// # Errors
    /// When it is not the expected table.
    pub fn check_header(&self, header: &TableHeader) -> Result<(), TableError> {
        self.source.check_header(&self.name, header).map_err(|damage| TableError::damaged(&self.address(), damage))
    }

    /// Reads parts of the file from its source. See [`BlockSource::read`].
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(&self, parts: &[Range<u64>], again: bool) -> Result<Vec<Vec<u8>>, TableError> {
        let read = self.source.read(&self.name, parts, again);
        let fits = |read: &Vec<Vec<u8>>| {
            read.len() == parts.len()
                && read.iter().zip(parts).all(|(bytes, part)| bytes.len() as u64 == part.end - part.start)
        };
        match read {
            Ok(read) if fits(&read) => Ok(read),
            Ok(_) => Err(TableError::io(&self.address())(io::ErrorKind::UnexpectedEof.into())),
            Err(error) => {
                let inner = error.get_ref();
                if let Some(damage) = inner.and_then(|inner| inner.downcast_ref::<Damage>()) {
                    return Err(TableError::damaged(&self.address(), damage.clone()));
                }
                match inner.and_then(|inner| inner.downcast_ref::<Stopped>()) {
                    Some(&stopped) => Err(stopped.into()),
                    None => Err(TableError::io(&self.address())(error)),
                }
            }
        }
    }
}
