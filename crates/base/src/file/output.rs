use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::{FileContent, Replacement, remove_leftovers, resolved};

/// The output file of a command. A regular file is replaced as a whole when the result is complete.
/// A pipe or character device (`/dev/null`, a named pipe) cannot be replaced and gets the bytes as
/// they come.
#[derive(Debug)]
pub enum Output {
    /// A regular file.
    Replacement(Replacement),
    /// A pipe or character device.
    Stream(BufWriter<File>),
}

impl Output {
    /// Begins to write `path`, which need not exist and which no other process may be writing.
    /// Removes leftovers of killed processes. Opening a named pipe waits for a reader.
    ///
    /// # Errors
    /// When it cannot be created, or [`require_replaceable`](super::require_replaceable) gives an
    /// error.
    pub fn begin(path: &Path, content: Option<FileContent>) -> io::Result<Output> {
        if is_stream(path) {
            return Ok(Output::Stream(BufWriter::new(OpenOptions::new().write(true).open(path)?)));
        }
        let path = resolved(path);
        remove_leftovers(&path)?;
        Ok(Output::Replacement(Replacement::begin(&path, content)?))
    }

    /// Ends a stream, or moves the file to its place.
    ///
    /// # Errors
    /// When it cannot be written. An old file stays then.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Replacement(replacement) => replacement.finish(),
            Output::Stream(mut stream) => stream.flush(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Replacement(replacement) => replacement.write(bytes),
            Output::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Replacement(replacement) => replacement.flush(),
            Output::Stream(stream) => stream.flush(),
        }
    }
}

/// Returns true if `path` is a pipe or a character device. Block devices hold whole file systems,
/// and are not written.
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
