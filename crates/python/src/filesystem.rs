//! Tables in a file system of fsspec (<https://filesystem-spec.readthedocs.io>): object stores with credentials,
//! data repositories, archives, memory.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kalah::remote::{Address, FetchedBytes, RemoteError, Store, Traffic};
use pyo3::exceptions::{PyFileNotFoundError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

/// A directory in a file system of fsspec. It is called with the interpreter's lock, which file systems release while
/// they wait.
pub(crate) struct Filesystem {
    filesystem: Py<PyAny>,
    directory: String,
    /// Address of the directory, for messages.
    address: PathBuf,
    /// Address and options of the file system, which may have secrets.
    identity: String,
    /// Bytes of files, as far as the file system stated them.
    sizes: Mutex<HashMap<String, u64>>,
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Filesystem {
    /// The files in `directory`.
    pub(crate) fn new(filesystem: &Bound<'_, PyAny>, directory: &str) -> PyResult<Filesystem> {
        for method in ["cat_file", "info", "ls", "unstrip_protocol"] {
            if !filesystem.hasattr(method)? {
                let class = filesystem.get_type();
                return Err(PyTypeError::new_err(format!("filesystem must be one of fsspec, not {class}")));
            }
        }
        let directory = directory.trim_end_matches('/').to_owned();
        let address: String = filesystem.call_method1("unstrip_protocol", (&directory,))?.extract()?;
        // Two archives, or two servers, can have the same paths. A file system with options that are no JSON has none.
        let options = filesystem.call_method0("to_json").and_then(|json| json.extract::<String>()).unwrap_or_default();
        Ok(Filesystem {
            filesystem: filesystem.clone().unbind(),
            directory,
            address: Address::without_secrets(&address).into(),
            identity: format!("{address} {options}"),
            sizes: Mutex::default(),
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        })
    }

    fn sizes(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn list(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let detail = PyDict::new(py);
        detail.set_item("detail", true)?;
        let entries = match self.filesystem.bind(py).call_method("ls", (&self.directory,), Some(&detail)) {
            Err(error) if error.is_instance_of::<PyFileNotFoundError>(py) => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries.try_iter()? {
            let entry = entry?;
            let path: String = entry.get_item("name")?.extract()?;
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            // The list may lack sizes, as that of a web server does.
            if let Ok(size) = entry.get_item("size").and_then(|size| size.extract()) {
                self.sizes().insert(name.clone(), size);
            }
            names.push(name);
        }
        Ok(names)
    }

    /// Bytes of the file at `path`.
    fn size(&self, py: Python<'_>, name: &str, path: &str, fresh: bool) -> PyResult<u64> {
        let stated = self.sizes().get(name).copied().filter(|_| !fresh);
        if let Some(size) = stated {
            return Ok(size);
        }
        let size = self.filesystem.bind(py).call_method1("info", (path,))?.get_item("size")?.extract()?;
        self.sizes().insert(name.to_owned(), size);
        Ok(size)
    }

    fn read(&self, py: Python<'_>, name: &str, range: Range<u64>, fresh: bool) -> PyResult<FetchedBytes> {
        let path = format!("{}/{name}", self.directory);
        let total = self.size(py, name, &path, fresh)?;
        let (start, end) = (range.start.min(total), range.end.min(total));
        let part = PyDict::new(py);
        part.set_item("start", start)?;
        part.set_item("end", end)?;
        let read = self.filesystem.bind(py).call_method(intern!(py, "cat_file"), (&path,), Some(&part))?;
        let bytes = read.extract::<PyBackedBytes>()?.to_vec();
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(FetchedBytes { bytes, total, tag: None })
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
        Python::attach(|py| self.list(py)).map(Some).map_err(failed)
    }

    fn range(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError> {
        let fetched = Python::attach(|py| self.read(py, name, range.clone(), fresh)).map_err(failed)?;
        let expected = range.start.min(fetched.total)..range.end.min(fetched.total);
        if fetched.bytes.len() as u64 != expected.end - expected.start {
            let found = format!("{} bytes", fetched.bytes.len());
            return Err(RemoteError::Range { found, expected: format!("bytes {}-{}", expected.start, expected.end) });
        }
        Ok(fetched)
    }

    fn traffic(&self) -> Traffic {
        Traffic { requests: self.requests.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }
}

fn failed(error: PyErr) -> RemoteError {
    let is_absent = Python::attach(|py| error.is_instance_of::<PyFileNotFoundError>(py));
    if is_absent { RemoteError::NotFound(Box::new(error)) } else { RemoteError::Store(Box::new(error)) }
}
