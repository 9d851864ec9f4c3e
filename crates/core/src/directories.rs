//! Directories whose files are read as those of one directory.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::address::{shown, source_address};

/// One or more directories, in order of preference: a file is read from the first that has it.
///
/// A path converts into one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directories(Arc<[PathBuf]>);

impl Directories {
    /// The given directories, without repetitions; `None` without any.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Option<Directories> {
        let mut different: Vec<PathBuf> = Vec::new();
        for path in paths {
            if !different.contains(&path) {
                different.push(path);
            }
        }
        (!different.is_empty()).then(|| Directories(different.into()))
    }

    /// The directories, first choice first; at least one.
    pub fn paths(&self) -> &[PathBuf] {
        &self.0
    }

    /// The directory, if there is only one.
    pub fn single(&self) -> Option<&Path> {
        match &*self.0 {
            [path] => Some(path),
            _ => None,
        }
    }

    /// The directories as users name them: by the address, if files are filled from there on demand.
    pub fn names(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().map(|path| shown(path))
    }

    /// Returns true if the files of a directory are filled from elsewhere on demand.
    pub fn are_remote(&self) -> bool {
        self.0.iter().any(|path| source_address(path).is_some())
    }

    /// Path of the file `name` in the first directory that has it, or else in the first of all.
    pub fn file(&self, name: &str) -> PathBuf {
        let paths = self.0.iter().map(|directory| directory.join(name));
        let found = if self.0.len() > 1 { paths.clone().find(|path| path.exists()) } else { None };
        found.unwrap_or_else(|| self.0[0].join(name))
    }

    /// Returns true if a directory has the file `name`.
    pub fn contain(&self, name: &str) -> bool {
        self.0.iter().any(|directory| directory.join(name).exists())
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Directories {
    fn from(path: &P) -> Directories {
        path.as_ref().to_owned().into()
    }
}

impl From<PathBuf> for Directories {
    fn from(path: PathBuf) -> Directories {
        Directories(Arc::new([path]))
    }
}

impl From<&Directories> for Directories {
    fn from(directories: &Directories) -> Directories {
        directories.clone()
    }
}

/// The paths, or the addresses that they are filled from, separated by `, `.
impl fmt::Display for Directories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.names().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, name.display())?;
        }
        Ok(())
    }
}
