//! A directory of tables: of this machine, or at an address.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::source::{LocalFile, Source};

/// A directory of tables on another machine.
pub trait Elsewhere: fmt::Debug + Send + Sync {
    /// Its address, which names it in messages.
    fn address(&self) -> &Path;

    /// Names of its files.
    ///
    /// # Errors
    /// When they cannot be listed.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Returns true if it has the file `name`.
    fn has(&self, name: &str) -> bool;

    /// Opens the file `name`. Its local file may be mapped if `maps` is true.
    ///
    /// # Errors
    /// When it does not exist or cannot be used.
    fn open(&self, name: &str, maps: bool) -> io::Result<Box<dyn Source>>;
}

/// A directory of tables, and the way to read them. A path converts into one.
#[derive(Clone, Debug)]
pub struct Directory {
    place: Place,
    /// False if their tables are read by lookups in the files, true if all bytes are mapped, in a program that called
    /// [`crate::source::map_files`], or else copied into memory.
    pub(crate) keeps_whole: bool,
}

#[derive(Clone, Debug)]
enum Place {
    /// A directory of this machine.
    Here(PathBuf),
    /// A directory elsewhere.
    Elsewhere(Arc<dyn Elsewhere>),
}

impl Directory {
    /// Makes the tables of this directory be read by lookups in their files: a block is compared with its checksum when
    /// it is first needed. A lookup takes some ten times as long as in memory. Work on whole frames makes a copy in
    /// memory.
    #[must_use]
    pub fn reading_files(self) -> Directory {
        Directory { keeps_whole: false, ..self }
    }

    /// The directory as users name it: its path or address.
    pub fn name(&self) -> &Path {
        match &self.place {
            Place::Here(path) => path,
            Place::Elsewhere(directory) => directory.address(),
        }
    }

    /// Its path, if it is on this machine.
    pub fn path(&self) -> Option<&Path> {
        if self.is_remote() { None } else { Some(self.name()) }
    }

    /// Returns true if it is elsewhere.
    pub fn is_remote(&self) -> bool {
        matches!(self.place, Place::Elsewhere(_))
    }

    /// Names of its files.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn names(&self) -> io::Result<Vec<String>> {
        match &self.place {
            Place::Here(path) => {
                let name = |entry: io::Result<std::fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
                std::fs::read_dir(path)?.map(name).collect()
            }
            Place::Elsewhere(directory) => directory.names(),
        }
    }

    /// Path or address of the file `name`.
    pub fn file(&self, name: &str) -> PathBuf {
        match &self.place {
            Place::Here(path) => path.join(name),
            // Not `Path::join`, which would use the separator of this system.
            Place::Elsewhere(directory) => format!("{}/{name}", directory.address().display()).into(),
        }
    }

    /// Returns true if it has the file `name`.
    pub fn has(&self, name: &str) -> bool {
        match &self.place {
            Place::Here(path) => path.join(name).exists(),
            Place::Elsewhere(directory) => directory.has(name),
        }
    }

    /// Opens the file `name`, to be read at offsets.
    pub(crate) fn open(&self, name: &str) -> io::Result<Box<dyn Source>> {
        match &self.place {
            Place::Here(path) => {
                let file = LocalFile::open(&path.join(name))?;
                Ok(Box::new(if self.keeps_whole { file.mapped() } else { file }))
            }
            Place::Elsewhere(directory) => directory.open(name, self.keeps_whole),
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Directory {
    fn from(path: &P) -> Directory {
        path.as_ref().to_owned().into()
    }
}

impl From<PathBuf> for Directory {
    fn from(path: PathBuf) -> Directory {
        Directory { place: Place::Here(path), keeps_whole: true }
    }
}

impl From<Arc<dyn Elsewhere>> for Directory {
    fn from(directory: Arc<dyn Elsewhere>) -> Directory {
        Directory { place: Place::Elsewhere(directory), keeps_whole: true }
    }
}

impl From<&Directory> for Directory {
    fn from(directory: &Directory) -> Directory {
        directory.clone()
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().display().fmt(f)
    }
}
