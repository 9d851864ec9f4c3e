//! The layer of `tests/fault_layer`, for programs and for tests that run again in a process of their own.

use std::ffi::{CString, OsString};
use std::path::PathBuf;
use std::process::Command;

use kalah_tests::optional;
use kalah_tests::program::{Ran, Run};

/// Name of the layer in Vulkan.
const LAYER: &str = "VK_LAYER_KALAH_faults";

/// Set in the process of a test that runs again.
const CHILD: &str = "KALAH_FAULT_CHILD";

/// Function of the layer that chooses a fault.
type Choose = extern "C" fn(u32, u64, u64) -> u64;

/// A directory in which Vulkan finds the layer.
pub(crate) struct Layer(tempfile::TempDir);

/// Path of the layer, next to the folder of the tests, where cargo puts examples.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples/libfault_layer.so")
}

impl Layer {
    /// Returns `None`, with a warning, if the layer was not compiled.
    pub(crate) fn new() -> Option<Layer> {
        let library = library();
        if !library.is_file() {
            let reason = "is missing: `cargo build --release --example fault_layer` makes it";
            optional::skip("ADAPTER", format_args!("{} {reason}", library.display()));
            return None;
        }
        let layer = tempfile::tempdir().unwrap();
        let manifest = serde_json::json!({
            "file_format_version": "1.2.0",
            "layer": {
                "name": LAYER, "type": "GLOBAL", "library_path": library, "api_version": "1.3.0",
                "implementation_version": "1", "description": "Faults for tests",
            },
        });
        std::fs::write(layer.path().join("layer.json"), manifest.to_string()).unwrap();
        Some(Layer(layer))
    }

    /// The directory.
    pub(crate) fn path(&self) -> &std::path::Path {
        self.0.path()
    }

    /// Environment variables by which a program uses the layer.
    pub(crate) fn variables(&self) -> [(&'static str, OsString); 2] {
        [("VK_INSTANCE_LAYERS", LAYER.into()), ("VK_LAYER_PATH", self.path().into())]
    }
}

/// Chooses faults of the devices of this process.
#[derive(Clone, Copy)]
pub(crate) struct Faults(Choose);

impl Faults {
    /// Runs the running test in a process under the layer, and returns `None`. In that process, returns the choice of
    /// faults.
    pub(crate) fn of_this_test() -> Option<Faults> {
        if std::env::var_os(CHILD).is_some() {
            let path = CString::new(library().into_os_string().into_encoded_bytes()).unwrap();
            // SAFETY: the loader of Vulkan loads the same library, which stays loaded; the function is of this type.
            return Some(Faults(unsafe {
                let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
                let function = libc::dlsym(library, c"kalah_fault".as_ptr());
                assert!(!function.is_null());
                std::mem::transmute::<*mut libc::c_void, Choose>(function)
            }));
        }
        let layer = Layer::new()?;
        let mut command = Command::new(std::env::current_exe().unwrap());
        let thread = std::thread::current();
        command.args(["--exact", thread.name().unwrap(), "--nocapture", "--include-ignored"]);
        let printed = command.env(CHILD, "1").envs(layer.variables()).run().success().prints("1 passed").all();
        // Warnings of tests that were skipped.
        eprint!("{printed}");
        None
    }

    /// Ends all faults. Returns the number of buffers requested since the last choice.
    pub(crate) fn end(self) -> u64 {
        (self.0)(0, 0, 0)
    }

    /// Refuses buffers by their numbers, from 0 for the next one, like a device or a machine without memory.
    pub(crate) fn refuse(self, numbers: std::ops::Range<u64>) {
        (self.0)(1, numbers.start, numbers.end);
    }

    /// Makes kernels do nothing.
    pub(crate) fn idle(self) {
        (self.0)(2, 0, 0);
    }

    /// Loses the device, as after a driver reset.
    pub(crate) fn lose(self) {
        (self.0)(3, 0, 0);
    }
}
