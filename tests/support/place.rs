//! A folder in which the program runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::program::{Run, with_tables};

/// A folder that ends with the test.
pub struct Place {
    folder: TempDir,
    tables: PathBuf,
}

impl Place {
    /// An empty folder, in which commands look for tables, too.
    pub fn empty() -> Place {
        Place::of(tempfile::tempdir().unwrap())
    }

    /// A folder with tables.
    pub fn of(folder: TempDir) -> Place {
        let tables = folder.path().to_owned();
        Place { folder, tables }
    }

    /// An empty folder. Commands find tables elsewhere.
    pub fn beside(tables: &Path) -> Place {
        Place { folder: tempfile::tempdir().unwrap(), tables: tables.to_owned() }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Path of a file.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Command that runs the program with the words of a line.
    pub fn command(&self, line: &str) -> Command {
        let mut command = with_tables(&self.tables, line);
        command.current_dir(self.path());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, line: &str) -> Output {
        self.command(line).run()
    }

    /// Contents of a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Contents of a text file.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.at(name), contents).unwrap();
    }

    /// Names of all files, in order.
    pub fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<_> = std::fs::read_dir(self.path()).unwrap().map(name).collect();
        names.sort();
        names
    }
}
