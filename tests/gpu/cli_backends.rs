//! Command line of the backends: choice, refusal, comparison and measurement.

use std::path::Path;
use std::process::Output;

use kalah::build::Device;
use kalah::game::Rules;
use serde_json::Value;

use crate::adapter;
use kalah_tests::files::files;
use kalah_tests::optional;
use kalah_tests::program::{Ran, Run, with_tables};

/// Manifest of the repository.
const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tables/manifest.jsonl");

/// Runs the program with the words of a line and a last one, which may have spaces.
fn kalah(tables: &Path, line: &str, last: &str) -> Output {
    with_tables(tables, line).arg(last).run()
}

/// Entries of `kalah gpu`, which must have succeeded.
#[track_caller]
fn adapters(listed: Output) -> Vec<Value> {
    listed.success().json()["adapters"].as_array().unwrap().clone()
}

/// Returns true if `auto` may choose this one.
fn is_hardware(adapter: &Value) -> bool {
    adapter["tier"] == "full" || adapter["tier"] == "untimed"
}

/// Fails unless something passed this check, and nothing failed.
#[track_caller]
fn assert_passed(verified: &Output, check: &str, layers: usize) {
    let report = verified.json();
    let passed = report["passed"].as_array().unwrap();
    assert_eq!(passed.iter().filter(|passed| passed["check"] == check).count(), passed.len());
    assert_eq!((verified.code(), passed.len()), (0, layers), "{report}");
}

#[test]
fn a_plan_is_for_the_backend_that_the_flags_name() {
    let directory = tempfile::tempdir().unwrap();
    let plan = |seeds: &str, flags: &str, last| {
        kalah(directory.path(), &format!("plan build --seeds {seeds} --backend {flags}"), last)
    };
    plan("9", "cpu", "--threads=1").success().does_not_print("of GPU memory");
    adapter::each(|adapter| {
        plan("9", "gpu --adapter", adapter.name()).success().prints("of GPU memory");
        let little = plan("9", "gpu --gpu-memory 100KiB --adapter", adapter.name()).fails(1, "are allowed");
        little.prints("--gpu-memory");
        // A plan that the limits of the adapter forbid is an error, as the build would be.
        let large = plan("48", "gpu --adapter", adapter.name());
        match adapter.shared().require_layer(6, 48) {
            Ok(()) => large.success(),
            Err(error) => large.fails(1, &error.to_string()),
        };
    });
}

#[test]
fn the_cpu_builds_the_tables_of_the_manifest_for_every_rule_set() {
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path();
    let boards = [("6", 9), ("7", 8), ("8", 7)];
    for (rules, (pits, seeds)) in Rules::ALL.into_iter().flat_map(|rules| boards.map(|board| (rules.name(), board))) {
        let board = format!("--rules {rules} --pits {pits}");
        let built = kalah(tables, &format!("build {board} --seeds {seeds} --backend cpu"), "--json").success().json();
        assert_eq!(built["built"].as_array().unwrap().len(), seeds - 1);
        let checked = kalah(tables, &format!("verify {board} --json --manifest"), MANIFEST);
        assert_passed(&checked, "manifest", seeds - 1);
    }

    // A table that differs from its entry, and a table without an entry.
    let known = std::fs::read_to_string(MANIFEST).unwrap();
    let other = directory.path().join("other.jsonl");
    let mut seven: Value =
        serde_json::from_str(known.lines().find(|line| line.contains(r#""seeds":7,"#)).unwrap()).unwrap();
    seven["digest"] = seven["digest"].as_str().unwrap().replace(['0', '1'], "x").into();
    let verify = |seeds: usize, manifest: &str| {
        std::fs::write(&other, manifest).unwrap();
        kalah(tables, &format!("verify --seeds {seeds} --manifest"), other.to_str().unwrap())
    };
    verify(7, &seven.to_string()).exits(3).prints("digest");
    verify(8, &seven.to_string()).exits(1).prints("has no entry");
}

#[test]
fn adapters_are_chosen_by_their_numbers_and_others_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refused = kalah(directory.path(), "build --seeds 5 --backend gpu --adapter", "no such adapter");
    let refused = refused.fails(1, "no adapter is named no such adapter").stderr();
    let number = kalah(directory.path(), "build --seeds 5 --backend gpu --adapter", "256");
    number.fails(1, "no adapter has the number 256");
    for (number, adapter) in (1..).zip(adapters(kalah(directory.path(), "gpu", "--json"))) {
        assert_eq!(adapter["number"], number);
        assert!(refused.contains(adapter["name"].as_str().unwrap()), "{refused}");
        assert!(["full", "untimed", "software", "unfit"].contains(&adapter["tier"].as_str().unwrap()));
        if adapter["self_test"] == "passed" {
            let tables = tempfile::tempdir().unwrap();
            let built = kalah(tables.path(), "build --seeds 4 --pits 2 --backend gpu --adapter", &number.to_string());
            built.success().prints(&format!("number {number} of `kalah gpu`"));
        }
    }
}

#[test]
fn auto_never_takes_a_software_adapter() {
    let directory = tempfile::tempdir().unwrap();
    let real = adapters(kalah(directory.path(), "gpu", "--json")).iter().any(is_hardware);
    let built = kalah(directory.path(), "build --seeds", "5").success();
    assert_eq!(built.stderr().contains("on the CPU"), !real, "{}", built.stderr());
    if !real {
        let refused = kalah(directory.path(), "build --seeds 6 --backend", "gpu").fails(1, "use the CPU");
        // Parts that a card may lack are named, also where a software adapter is listed.
        refused.prints("libvulkan.so.1");
        with_tables(directory.path(), "gpu").run().prints("libvulkan.so.1");
    }
}

#[test]
fn a_benchmark_measures_and_compares() {
    let directory = tempfile::tempdir().unwrap();
    kalah(directory.path(), "build --seeds 8 --backend", "cpu").success();
    let names = || std::fs::read_dir(directory.path()).unwrap().count();
    let before = names();
    let measured = kalah(directory.path(), "bench --seeds 8 --backend cpu", "--json").success().json();
    assert_eq!((&measured["positions"], &measured["same_as_table"]), (&73_008.into(), &true.into()));
    assert!(measured["positions_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(names(), before, "the layer built for the measurement is still there");
}

#[test]
fn the_named_adapter_builds_verifies_and_is_measured() {
    let Some(gpu) = adapter::shared() else { return };
    let (name, directory) = (&*gpu.report().name, tempfile::tempdir().unwrap());
    let on_gpu = |line: &str| kalah(directory.path(), &format!("{line} --adapter"), name);
    let built = on_gpu("build --seeds 8 --gpu-memory 1GiB --json --backend gpu").success().json();
    assert_eq!(built["built"][6]["backend"], name);
    assert_passed(&kalah(directory.path(), "verify --json --manifest", MANIFEST), "manifest", 7);
    assert_passed(&on_gpu("verify --json --against gpu"), "gpu", 7);
    let measured = on_gpu("bench --seeds 8 --json --backend gpu").success().json();
    assert_eq!(measured["same_as_table"], true);
    assert!(measured["gpu"]["traffic"]["downloaded"].as_u64().unwrap() > 0);
    assert!(!gpu.report().timestamps || measured["kernel_seconds"].as_f64().unwrap() > 0.0);
    // With too little memory the program refuses before it writes anything.
    let before = files(directory.path());
    for share in ["", " --share"] {
        let refused = on_gpu(&format!("build --seeds 12 --gpu-memory 100KiB{share} --backend gpu")).exits(1);
        refused.prints("--gpu-memory").prints("use the CPU").does_not_print("same command");
        assert!(files(directory.path()) == before);
    }
    // The list of adapters has the results of their self-tests.
    let listed = adapters(kalah(directory.path(), "gpu", "--json"));
    assert_eq!(listed.iter().find(|one| one["name"] == name).unwrap()["self_test"], "passed");
    with_tables(directory.path(), "gpu").run().success().prints("self-test        passed");
}

/// `RADV_FORCE_FAMILY` makes Mesa's driver for AMD's GPUs list a GPU that the machine does not have. Creating a device
/// on it fails.
#[test]
fn hardware_that_is_not_there_is_not_used() {
    if adapter::shared().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let kalah = |line: &str| with_tables(directory.path(), line).env("RADV_FORCE_FAMILY", "navi21").run();
    let listed = adapters(kalah("gpu --json"));
    let is_pretended = |one: &&Value| one["name"].as_str().unwrap().to_lowercase().contains("navi21");
    let Some(pretended) = listed.iter().find(is_pretended) else {
        return optional::skip("SYSTEM", "Mesa's driver for AMD's GPUs is not installed");
    };
    assert_eq!(pretended["tier"], "full");
    assert_ne!(pretended["self_test"], "passed");
    // The CPU is chosen only if no other adapter could be used.
    if !listed.iter().any(|one| one["self_test"] == "passed" && is_hardware(one)) {
        kalah("build --seeds 5").success().prints("on the CPU: the GPU cannot be used");
    }
    for backend in ["auto", "gpu"] {
        kalah(&format!("build --seeds 6 --backend {backend} --adapter navi21")).fails(1, "cannot be used");
    }
}

/// Where there is no display, the library of Mesa's layer that orders devices prints errors.
#[test]
fn looking_for_a_gpu_prints_nothing_where_there_is_no_display() {
    if adapter::shared().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for (line, value) in [("gpu", None), ("build --seeds 6 --json", None), ("gpu", Some("")), ("gpu", Some("run"))] {
        let mut command = with_tables(directory.path(), line);
        command.env_remove("XDG_RUNTIME_DIR").envs(value.map(|value| ("XDG_RUNTIME_DIR", value)));
        command.run().success().does_not_print("XDG_RUNTIME_DIR");
    }
}
