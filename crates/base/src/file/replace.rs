use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use kalah_core::file::{found, require_regular};
use tempfile::{NamedTempFile, TempPath};

use super::{directory_of, sync_directory};

/// Text before the random part of the name of a temporary file. Together they show that the program
/// made the file.
const MADE_BY: &str = ".kalah-";

/// Random letters and digits in the name of a temporary file.
const RANDOM: usize = 12;

/// Suffix of the name of a temporary file.
const SUFFIX: &str = ".tmp";

/// A file that will replace another one.
///
/// It is in the same directory, under the same name with `.kalah-`, a random part and `.tmp` added.
/// So two of them never collide, and no file of a user has such a name. The old file stays unchanged
/// until this one is [finished](Replacement::finish). If dropped earlier, this one is removed.
#[derive(Debug)]
pub struct Replacement {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl Replacement {
    /// Begins a file that will replace `path`, which need not exist.
    ///
    /// # Errors
    /// When it cannot be created, or `path` is something other than a regular file.
    pub fn begin(path: &Path) -> io::Result<Replacement> {
        require_regular(path)?;
        Ok(Replacement { file: BufWriter::new(temporary_beside(path)?), path: path.to_owned() })
    }

    /// Opens the file once more, to read the data written so far.
    ///
    /// # Errors
    /// When it cannot be written or opened.
    pub fn reopen(&mut self) -> io::Result<File> {
        self.file.flush()?;
        self.file.get_ref().reopen()
    }

    /// Moves the file to its place once it is completely on the disk. Readers find either the old
    /// file or all of this one, even after a power failure.
    ///
    /// # Errors
    /// When it cannot be written. The old file stays then.
    pub fn finish(self) -> io::Result<()> {
        let path = self.path.clone();
        self.synced()?.persist(&path)?;
        // The name is stored in the directory. The file is complete without it.
        let _ = sync_directory(directory_of(&path));
        Ok(())
    }

    /// The same as [`Replacement::finish`], but an existing file stays.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn finish_new(self) -> io::Result<()> {
        let path = self.path.clone();
        persist_new(self.synced()?, &path)?;
        let _ = sync_directory(directory_of(&path));
        Ok(())
    }

    /// The complete file on the disk.
    fn synced(self) -> io::Result<TempPath> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        Ok(file.into_temp_path())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Replacement {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Gives the temporary file its name `path`, unless there is such a file. Returns false if there is.
///
/// # Errors
/// When it cannot be renamed.
pub fn persist_new(temporary: TempPath, path: &Path) -> io::Result<bool> {
    match temporary.persist_noclobber(path) {
        Ok(()) => Ok(true),
        Err(_) if path.exists() => Ok(false),
        Err(error) if error.error.kind() == io::ErrorKind::NotFound => Err(error.error),
        // Not every file system can rename without replacing.
        Err(error) => error.path.persist(path).map(|()| true).map_err(|error| error.error),
    }
}

/// Creates a temporary file in the directory of `path`, under its name with `.kalah-`, a random part
/// and `.tmp` added. The caller renames it once it is written; otherwise it is removed when dropped. Its
/// permissions are those of any new file.
///
/// # Errors
/// When it cannot be created.
pub fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let (prefix, directory) = (prefix(path)?, directory_of(path));
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM);
    let create = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
    builder.make_in(directory, create).map_err(|error| in_directory(error, directory))
}

/// Names the directory in the error of a file that cannot be created in it since it does not exist.
pub(super) fn in_directory(error: io::Error, directory: &Path) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => {
            io::Error::new(error.kind(), format!("there is no directory {}", directory.display()))
        }
        _ => error,
    }
}

/// Replaces or creates the file `path` with the output of `write`.
///
/// # Errors
/// When it cannot be written. The old file stays then.
pub fn replace(path: &Path, write: impl FnOnce(&mut Replacement) -> io::Result<()>) -> io::Result<()> {
    let mut replacement = Replacement::begin(path)?;
    write(&mut replacement)?;
    replacement.finish()
}

/// Removes the temporary files that killed processes left when replacing `path`. No other process
/// may be replacing it.
///
/// # Errors
/// When the directory cannot be listed, or a file cannot be removed.
pub fn remove_leftovers(path: &Path) -> io::Result<()> {
    for entry in found(std::fs::read_dir(directory_of(path)))?.into_iter().flatten() {
        let entry = entry?;
        if is_temporary_of(&entry.file_name(), path) {
            super::remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Returns true if `name` is that of a temporary file that this program made to replace `path`.
#[must_use]
pub fn is_temporary_of(name: &OsStr, path: &Path) -> bool {
    let Ok(prefix) = prefix(path) else { return false };
    let random = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
    let random = random.and_then(|name| name.strip_suffix(SUFFIX.as_bytes()));
    random.is_some_and(|random| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric))
}

/// Prefix of the names of temporary files.
fn prefix(path: &Path) -> io::Result<OsString> {
    let name =
        path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a file"))?;
    let mut prefix = name.to_owned();
    prefix.push(MADE_BY);
    Ok(prefix)
}

/// Returns true if `path` is a pipe or a character device, which can be read once.
pub fn is_stream(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let is_stream = |kind: std::fs::FileType| kind.is_fifo() || kind.is_char_device();
        path.metadata().is_ok_and(|metadata| is_stream(metadata.file_type()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}
