use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use kalah_core::file::require_regular;

use super::directory_of;

/// Random letters and digits in the name of a file under way.
const RANDOM: usize = 6;

/// What the name of a file under way ends with.
const SUFFIX: &str = ".tmp";

/// A file under way that is to take the place of another one.
///
/// It lies in the same directory, under the same name with a random part and `.tmp` added, so two of them never meet. Until
/// it is [finished](Replacement::finish) the old file stays as it is; dropped before, it is removed.
#[derive(Debug)]
pub struct Replacement {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl Replacement {
    /// Begins a file that is to take the place of `path`, or be the first there.
    ///
    /// # Errors
    /// When it cannot be made, or what is at `path` is no regular file.
    pub fn begin(path: &Path) -> io::Result<Replacement> {
        require_regular(path)?;
        Ok(Replacement { file: BufWriter::new(temporary_beside(path)?), path: path.to_owned() })
    }

    /// Puts the file in its place, once all of it is on the disk. Whoever reads there finds the old file or all of this one,
    /// also after the machine has stopped.
    ///
    /// # Errors
    /// When it cannot be written; the old file stays then.
    pub fn finish(self) -> io::Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        // The name is the directory's. Not all file systems can do that, and the file is whole without.
        #[cfg(unix)]
        let _ = File::open(directory_of(&self.path)).and_then(|directory| directory.sync_all());
        Ok(())
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

/// A new file beside `path`, with its name, a random part and `.tmp`, to be given that name once it is written; removed when
/// dropped. Its permissions are those of any new file.
///
/// # Errors
/// When it cannot be made.
pub fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let prefix = prefix(path)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory_of(path))
}

/// Replaces the file `path` by what `write` writes, or makes it.
///
/// # Errors
/// When it cannot be written; the old file stays then.
pub fn replace(path: &Path, write: impl FnOnce(&mut Replacement) -> io::Result<()>) -> io::Result<()> {
    let mut replacement = Replacement::begin(path)?;
    write(&mut replacement)?;
    replacement.finish()
}

/// Removes what killed processes left of files that were to replace `path`. No other process must be about to replace it.
///
/// # Errors
/// When the directory cannot be listed, or one of them not be removed.
pub fn remove_leftovers(path: &Path) -> io::Result<()> {
    let prefix = prefix(path)?;
    let is_leftover = |name: &[u8]| {
        let random = name.strip_prefix(prefix.as_encoded_bytes()).and_then(|name| name.strip_suffix(SUFFIX.as_bytes()));
        random.is_some_and(|random| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric))
    };
    let entries = match std::fs::read_dir(directory_of(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if is_leftover(entry.file_name().as_encoded_bytes()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// What the names of files under way begin with.
fn prefix(path: &Path) -> io::Result<OsString> {
    let name =
        path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a file"))?;
    let mut prefix = name.to_owned();
    prefix.push(".");
    Ok(prefix)
}
