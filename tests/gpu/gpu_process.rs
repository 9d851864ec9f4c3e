//! The program on a device that is lost or hangs. It ends with a message and exit code 1 and keeps the finished frames,
//! and the same command resumes.
//!
//! `tests/fault_layer`, a layer between the program and its driver, makes the faults.

use std::path::Path;
use std::time::Duration;

use kalah::game::Rules;
use kalah_tests::files::files;
use kalah_tests::program::{Ran, Run, with_tables};

use crate::adapter;
use crate::builds::{assert_right, key, right};
use crate::faults::Layer;

#[test]
fn a_device_that_fails_ends_a_build_and_the_same_command_goes_on() {
    let Some(gpu) = adapter::shared() else { return };
    let Some(layer) = Layer::new() else { return };
    let key = key(Rules::Standard, 3, 7);
    let build = |tables: &Path, backend: &[&str], fault: &[(&str, &str)]| {
        let mut command = with_tables(tables, "build --rules standard --pits 3 --seeds 7 --json --backend");
        command.args(backend).envs(layer.variables()).envs(fault.iter().copied());
        // If the driver hangs, the program must end nevertheless.
        command.run_within(Duration::from_secs(300), "")
    };
    let on_gpu = ["gpu", "--adapter", &gpu.report().name];

    // A run without a fault counts the submissions.
    let (whole, count) = (tempfile::tempdir().unwrap(), layer.path().join("count"));
    build(whole.path(), &on_gpu, &[("KALAH_FAULT_COUNT", count.to_str().unwrap())]).success();
    assert_right(whole.path(), key, "no fault");
    let submissions: u64 = std::fs::read_to_string(&count).expect("the layer is in use").parse().unwrap();
    assert!(submissions > 20, "{submissions} submissions");

    let right = files(right(key));
    for (fault, message) in [("reject", "the GPU was lost"), ("lose", "the GPU was lost"), ("hang", "hangs")] {
        // Faults in the self-test, and when most layers are finished.
        for after in [0, submissions - 6] {
            let what = format!("{fault} after {after} of {submissions} submissions");
            let tables = tempfile::tempdir().unwrap();
            let faults = [("KALAH_FAULT", fault), ("KALAH_FAULT_AFTER", &after.to_string())];
            build(tables.path(), &on_gpu, &faults).fails(1, message).does_not_print("panicked");
            let mut kept = files(tables.path());
            kept.retain(|name, _| !name.ends_with(".partial"));
            assert!(kept.iter().all(|(name, bytes)| *bytes == right[name]), "{what}");
            assert_eq!(kept.is_empty(), after == 0, "{what}: {:?}", kept.keys());
            // The same command when the device works again, or on the CPU.
            let again = if fault == "lose" { &on_gpu[..] } else { &["cpu"] };
            let report = build(tables.path(), again, &[]).success().json();
            assert_eq!(report["kept"], kept.len(), "{what}: {report}");
            assert_right(tables.path(), key, &what);
        }
    }
}
