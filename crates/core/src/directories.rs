//! Directories whose files are read as those of one directory.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::file::Source;

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

    /// Opens the file `name`.
    ///
    /// # Errors
    /// When it does not exist or cannot be used. An error may carry a [`Damage`](crate::table::Damage).
    fn open(&self, name: &str) -> io::Result<Box<dyn Source>>;
}

/// A directory.
#[derive(Clone, Debug)]
pub enum Place {
    /// A directory of this machine.
    Here(PathBuf),
    /// A directory elsewhere.
    Elsewhere(Arc<dyn Elsewhere>),
}

impl Place {
    /// The directory as users name it: its path or address.
    pub fn name(&self) -> &Path {
        match self {
            Place::Here(path) => path,
            Place::Elsewhere(directory) => directory.address(),
        }
    }

    /// Names of its files.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn names(&self) -> io::Result<Vec<String>> {
        match self {
            Place::Here(path) => {
                let name = |entry: io::Result<std::fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
                std::fs::read_dir(path)?.map(name).collect()
            }
            Place::Elsewhere(directory) => directory.names(),
        }
    }

    /// Path or address of the file `name`.
    pub fn file(&self, name: &str) -> PathBuf {
        match self {
            Place::Here(path) => path.join(name),
            // Not `Path::join`, which would use the separator of this system.
            Place::Elsewhere(directory) => format!("{}/{name}", directory.address().display()).into(),
        }
    }

    /// Returns true if it has the file `name`.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Place::Here(path) => path.join(name).exists(),
            Place::Elsewhere(directory) => directory.has(name),
        }
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Place {
        Place::Here(path)
    }
}

/// Two directories elsewhere are equal if they have the same address.
impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        let is_here = |place: &Place| matches!(place, Place::Here(_));
        is_here(self) == is_here(other) && self.name() == other.name()
    }
}

impl Eq for Place {}

/// One or more directories, in order of preference: a file is read from the first that has it.
///
/// A path converts into one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directories(Arc<[Place]>);

impl Directories {
    /// The given directories, without repetitions; `None` without any.
    pub fn new(places: impl IntoIterator<Item = impl Into<Place>>) -> Option<Directories> {
        let mut different: Vec<Place> = Vec::new();
        for place in places.into_iter().map(Into::into) {
            if !different.contains(&place) {
                different.push(place);
            }
        }
        (!different.is_empty()).then(|| Directories(different.into()))
    }

    /// The directories, first choice first; at least one.
    pub fn places(&self) -> &[Place] {
        &self.0
    }

    /// The directories of this machine.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|place| match place {
            Place::Here(path) => Some(&**path),
            Place::Elsewhere(_) => None,
        })
    }

    /// The path or address of the directory, if there is only one.
    pub fn single(&self) -> Option<&Path> {
        match &*self.0 {
            [place] => Some(place.name()),
            _ => None,
        }
    }

    /// The first address among them.
    pub fn address(&self) -> Option<&Path> {
        self.0.iter().find_map(|place| match place {
            Place::Here(_) => None,
            Place::Elsewhere(directory) => Some(directory.address()),
        })
    }

    /// Returns true if one of them is elsewhere.
    pub fn are_remote(&self) -> bool {
        self.address().is_some()
    }

    /// The first directory that has the file `name`, or else the first of all.
    pub fn place(&self, name: &str) -> &Place {
        let found = if self.0.len() > 1 { self.0.iter().find(|place| place.has(name)) } else { None };
        found.unwrap_or(&self.0[0])
    }

    /// Path or address of the file `name` in the first directory that has it, or else in the first of all.
    pub fn file(&self, name: &str) -> PathBuf {
        self.place(name).file(name)
    }

    /// Returns true if a directory has the file `name`.
    pub(crate) fn contain(&self, name: &str) -> bool {
        self.0.iter().any(|place| place.has(name))
    }
}

impl From<Place> for Directories {
    fn from(place: Place) -> Directories {
        Directories(Arc::new([place]))
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Directories {
    fn from(path: &P) -> Directories {
        path.as_ref().to_owned().into()
    }
}

impl From<PathBuf> for Directories {
    fn from(path: PathBuf) -> Directories {
        Place::Here(path).into()
    }
}

impl From<String> for Directories {
    fn from(path: String) -> Directories {
        PathBuf::from(path).into()
    }
}

impl From<&Directories> for Directories {
    fn from(directories: &Directories) -> Directories {
        directories.clone()
    }
}

/// The paths and addresses, separated by `, `.
impl fmt::Display for Directories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, place) in self.0.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, place.name().display())?;
        }
        Ok(())
    }
}
