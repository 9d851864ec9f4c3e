//! Tables at an address, a cache for them, and the program that reads them.

use std::path::{Path, PathBuf};
use std::process::Command;

use kalah::game::Rules;
use kalah::remote::{Address, Cache, RemoteError, RemoteOptions, RemoteTables};
use kalah::table::{Directory, Tables};
use tempfile::TempDir;

use kalah_tests::files::copied;
use kalah_tests::host::{Host, Request};
use kalah_tests::program::{self, Ran, Run, with_tables};
use kalah_tests::tables::built;

/// Largest layer of the tables that are served.
pub(crate) const SEEDS: usize = 13;

/// A position of the largest layer.
pub(crate) const LARGE: &str = "1,2,1,0,1,2/0,3,0,1,1,1";

/// A position of a layer below it.
pub(crate) const WITHIN: &str = "1,2,0,0,1,2/0,3,0,2,1,1";

/// A position above the tables.
pub(crate) const ABOVE: &str = "2,2,1,1,1,2/1,3,1,1,1,1";

/// Tables of 6 pits by empty capture, and small ones of 2 pits, built once.
pub(crate) fn here() -> &'static Path {
    built(&[(Rules::EmptyCapture, 6, SEEDS), (Rules::Standard, 2, 6)])
}

/// Returns a copy of these tables with a list of them.
pub(crate) fn listed() -> TempDir {
    let directory = copied(here());
    let list = with_tables(here(), "info --manifest").run().printed();
    std::fs::write(directory.path().join("manifest.jsonl"), list).unwrap();
    directory
}

/// The file of a layer of 6 pits by empty capture.
pub(crate) fn layer(directory: &Path, seeds: usize) -> PathBuf {
    directory.join(format!("empty-capture-6-{seeds:02}.kalah"))
}

/// The tables of 6 pits.
pub(crate) fn tables(directory: impl Into<Directory>) -> Tables {
    Tables::open(directory, Rules::EmptyCapture, 6, SEEDS).unwrap()
}

/// Command that runs the program with the words of a line.
pub(crate) fn kalah(line: &str) -> Command {
    let mut command = program::command();
    command.args(line.split(' '));
    command
}

/// Tables at an address, with a cache that is empty at first.
pub(crate) struct Remote {
    pub host: Host,
    pub cache: TempDir,
}

impl Remote {
    /// The tables of [`here`].
    pub(crate) fn new() -> Remote {
        Remote::of(here())
    }

    /// The tables of a directory.
    pub(crate) fn of(directory: &Path) -> Remote {
        Remote { host: Host::new(directory, "/tables"), cache: tempfile::tempdir().unwrap() }
    }

    /// Command that runs the program with the words of a line, and with these tables.
    pub(crate) fn kalah(&self, line: &str) -> Command {
        let mut command = kalah(line);
        command.args(["--tables", &self.host.address, "--cache"]).arg(self.cache.path());
        command
    }

    /// Opens the tables.
    pub(crate) fn open(&self) -> RemoteTables {
        self.open_with(|options| options).unwrap()
    }

    /// Opens the tables with these options.
    pub(crate) fn open_with(
        &self,
        options: impl Fn(RemoteOptions) -> RemoteOptions,
    ) -> Result<RemoteTables, RemoteError> {
        let cache = Cache::new(self.cache.path(), Cache::DEFAULT_LIMIT);
        RemoteTables::open(&Address::parse(&self.host.address)?, options(RemoteOptions::new(cache)))
    }

    /// Returns the requests since the last call for bytes after the header of a table.
    pub(crate) fn block_requests(&self) -> Vec<Request> {
        let is_header = |request: &Request| request.range.is_some_and(|(start, end)| start == 0 && end < Some(9000));
        let is_table = |request: &Request| request.name.ends_with(".kalah") && !is_header(request);
        self.host.requests().into_iter().filter(is_table).collect()
    }
}

/// Bytes on disk of all files in the folders of a cache; on other systems, holes included.
pub(crate) fn on_disk(cache: &Path) -> u64 {
    #[cfg(unix)]
    let bytes = |file: &std::fs::Metadata| std::os::unix::fs::MetadataExt::blocks(file) * 512;
    #[cfg(not(unix))]
    let bytes = std::fs::Metadata::len;
    let list = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = list(cache).flat_map(|folder| list(&folder).collect::<Vec<_>>());
    files.map(|file| bytes(&file.metadata().unwrap())).sum()
}
