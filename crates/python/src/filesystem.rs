//! Tables in a file system of fsspec (<https://filesystem-spec.readthedocs.io>): object stores with credentials,
//! data repositories, archives, memory. `python/kalah/_filesystem.py` calls the file system.

use std::ops::Range;
use std::path::{Path, PathBuf};

use kalah::remote::{Address, FetchedBytes, RemoteError, Store};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// A directory in a file system, a `_filesystem.Directory`. It is called with the interpreter's lock, which file
/// systems release while they wait.
pub(crate) struct Filesystem {
    directory: Py<PyAny>,
    /// Address of the directory, for messages.
    address: PathBuf,
    /// Address and options of the file system, which may have secrets.
    identity: String,
}

impl Filesystem {
    /// The files of `directory`.
    pub(crate) fn new(directory: &Bound<'_, PyAny>) -> PyResult<Filesystem> {
        let address: String = directory.getattr("address")?.extract()?;
        Ok(Filesystem {
            directory: directory.clone().unbind(),
            address: Address::without_secrets(&address).into(),
            identity: directory.getattr("identity")?.extract()?,
        })
    }

    fn read(&self, py: Python<'_>, name: &str, range: &Range<u64>, fresh: bool) -> PyResult<FetchedBytes> {
        let arguments = (name, range.start, range.end, fresh);
        let read = self.directory.bind(py).call_method1(intern!(py, "read"), arguments)?;
        let (bytes, total): (PyBackedBytes, u64) = read.extract()?;
        Ok(FetchedBytes { bytes: bytes.to_vec(), total })
    }
}

impl Store for Filesystem {
    fn address(&self) -> &Path {
        &self.address
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn names(&self) -> Result<Option<Vec<String>>, RemoteError> {
        Python::attach(|py| self.directory.bind(py).call_method0("names")?.extract()).map(Some).map_err(failed)
    }

    fn range(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        let fetched = Python::attach(|py| self.read(py, name, &range, fresh)).map_err(failed)?;
        let expected = range.start.min(fetched.total)..range.end.min(fetched.total);
        if fetched.bytes.len() as u64 != expected.end - expected.start {
            let (found, Range { start, end }) = (fetched.bytes.len(), expected);
            return Err(RemoteError::Broken(format!("{found} bytes came where bytes {start} to {end} were requested")));
        }
        Ok(fetched)
    }
}

fn failed(error: PyErr) -> RemoteError {
    let is_absent = Python::attach(|py| error.is_instance_of::<PyFileNotFoundError>(py));
    if is_absent { RemoteError::NotFound(Box::new(error)) } else { RemoteError::Store(Box::new(error)) }
}
