//! The program on a device that is lost or hangs. It ends with a message and exit code 1 and keeps the finished frames,
//! and the same command resumes.
//!
//! `tests/fault_layer`, a layer between the program and its driver, makes the faults.
#![cfg(all(feature = "cli", feature = "gpu", target_os = "linux"))]

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::adapter;
use crate::faults::Layer;
use kalah_tests::files::{assert_same_files, files};
use kalah_tests::program::{self, Run};

/// The program under the layer.
struct Program {
    layer: Layer,
    adapter: String,
}

impl Program {
    /// Uses the first adapter. Returns `None` if there is no adapter or the layer was not compiled.
    fn new() -> Option<Program> {
        let gpu = adapter::shared()?;
        let layer = Layer::new()?;
        Some(Program { layer, adapter: gpu.report().name.clone() })
    }

    /// Builds tables in a directory. Returns exit code, stdout and stderr.
    fn build(&self, tables: &Path, backend: &[&str], fault: &[(&str, &str)]) -> (i32, String, String) {
        let mut command = program::command();
        command.args(["build", "--rules", "standard", "--pits", "3", "--seeds", "7", "--json"]).args(backend);
        command.env("KALAH_TABLES", tables);
        command.envs(self.layer.variables()).envs(fault.iter().copied());
        // If the driver hangs, the program must end nevertheless.
        let output = command.run_within(Duration::from_secs(300), "");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        (output.status.code().unwrap_or_else(|| panic!("{fault:?}: it did not end: {stderr}")), stdout, stderr)
    }
}

#[test]
fn a_device_that_fails_ends_a_build_and_the_same_command_goes_on() {
    let Some(program) = Program::new() else { return };
    let on_gpu = ["--backend", "gpu", "--adapter", &program.adapter];
    let right = tempfile::tempdir().unwrap();
    assert_eq!(program.build(right.path(), &["--backend", "cpu"], &[]).0, 0);
    let right = files(right.path());

    // A run without a fault counts the submissions.
    let whole = tempfile::tempdir().unwrap();
    let count = program.layer.path().join("count");
    let (code, _, stderr) = program.build(whole.path(), &on_gpu, &[("KALAH_FAULT_COUNT", count.to_str().unwrap())]);
    assert_eq!(code, 0, "{stderr}");
    assert_same_files(&right, &files(whole.path()), "no fault");
    let submissions: u64 = std::fs::read_to_string(&count).expect("the layer is in use").parse().unwrap();
    assert!(submissions > 20, "{submissions} submissions");

    for (fault, message) in [("reject", "the GPU was lost"), ("lose", "the GPU was lost"), ("hang", "hangs")] {
        // Faults in the self-test, and when most layers are finished.
        for after in [0, submissions - 6] {
            let what = format!("{fault} after {after} of {submissions} submissions");
            let tables = tempfile::tempdir().unwrap();
            let faults = [("KALAH_FAULT", fault), ("KALAH_FAULT_AFTER", &after.to_string())];
            let (code, stdout, stderr) = program.build(tables.path(), &on_gpu, &faults);
            assert_eq!((code, &*stdout), (1, ""), "{what}: {stderr}");
            assert!(stderr.contains(message) && !stderr.contains("panicked"), "{what}: {stderr}");
            let kept = files(tables.path());
            let finished = kept.iter().filter(|(name, _)| !name.ends_with(".partial"));
            for (name, bytes) in finished.clone() {
                assert!(*bytes == right[name], "{what}: {name}");
            }
            let finished = finished.count();
            assert_eq!(finished > 0, after > 0, "{what}: {:?}", kept.keys());
            // The same command when the device works again, or on the CPU.
            let again = if fault == "lose" { &on_gpu[..] } else { &["--backend", "cpu"] };
            let (code, stdout, stderr) = program.build(tables.path(), again, &[]);
            assert_eq!(code, 0, "{what}: {stderr}");
            let report: Value = serde_json::from_str(&stdout).unwrap();
            assert_eq!(report["kept"], finished, "{what}: {report}");
            assert_same_files(&right, &files(tables.path()), &what);
        }
    }
}
