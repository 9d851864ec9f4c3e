//! Command line of the backends: choice, refusal, comparison and measurement.
#![cfg(all(feature = "cli", feature = "gpu"))]

use std::path::Path;

use kalah::build::Device;
use kalah::game::Rules;
use serde_json::Value;

use crate::adapter;
use kalah_tests::files::files;
use kalah_tests::optional;
use kalah_tests::program::{self, Ran, Run};

/// Runs the program. Returns its exit code, stdout and stderr.
fn kalah(tables: &Path, args: &[&str]) -> (i32, String, String) {
    program::command().env("KALAH_TABLES", tables).args(args).run().parts()
}

fn json(tables: &Path, args: &[&str]) -> Value {
    let (code, stdout, stderr) = kalah(tables, args);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// A plan for a GPU once ignored the flags that name it, and printed the memory of the CPU builder.
#[test]
fn a_plan_is_for_the_backend_that_the_flags_name() {
    let directory = tempfile::tempdir().unwrap();
    let plan =
        |seeds: &str, flags: &[&str]| kalah(directory.path(), &[&["plan", "build", "--seeds", seeds], flags].concat());
    let (code, stdout, _) = plan("9", &["--backend", "cpu"]);
    assert!(code == 0 && !stdout.contains("of GPU memory"), "{stdout}");
    let (code, _, stderr) = plan("9", &["--backend", "gpu", "--adapter", "no such adapter"]);
    assert!(code == 1 && stderr.contains("no adapter is named no such adapter"), "{stderr}");
    adapter::each(|adapter| {
        let gpu = ["--backend", "gpu", "--adapter", adapter.name()];
        let (code, stdout, stderr) = plan("9", &gpu);
        assert!(code == 0 && stdout.contains("of GPU memory"), "{stdout}{stderr}");
        let (code, _, stderr) = plan("9", &[&gpu[..], &["--gpu-memory", "100KiB"]].concat());
        assert!(code == 1 && stderr.contains("are allowed") && stderr.contains("--gpu-memory"), "{stderr}");
        // A plan that the limits of the adapter forbid is an error, as the build would be.
        let (code, stdout, stderr) = plan("48", &gpu);
        match adapter.shared().require_layer(6, 48) {
            Ok(()) => assert!(code == 0, "{stdout}{stderr}"),
            Err(error) => assert!(code == 1 && stderr.contains(&error.to_string()), "{stderr}"),
        }
    });
}

/// Manifest of the repository.
const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tables/manifest.jsonl");

#[test]
fn the_cpu_builds_the_tables_of_the_manifest_for_every_rule_set() {
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path();
    let boards = [("6", 9), ("7", 8), ("8", 7)];
    for (rules, (pits, seeds)) in Rules::ALL.into_iter().flat_map(|rules| boards.map(|board| (rules.name(), board))) {
        let (board, most) = (["--rules", rules, "--pits", pits], seeds.to_string());
        let flags = ["--seeds", &most, "--backend", "cpu", "--json"];
        let built = json(tables, &[&["build"][..], &board, &flags].concat());
        assert_eq!(built["built"].as_array().unwrap().len(), seeds - 1);
        let checked = json(tables, &[&["verify", "--manifest", MANIFEST, "--json"][..], &board].concat());
        assert_eq!(checked["passed"].as_array().unwrap().len(), seeds - 1, "{rules} {pits}");
        assert!(checked["passed"].as_array().unwrap().iter().all(|passed| passed["check"] == "manifest"));
    }

    // `info --manifest` prints the entries of the manifest.
    let (code, printed, _) = kalah(tables, &["info", "--manifest"]);
    let layers: usize = boards.iter().map(|(_, seeds)| seeds - 1).sum();
    assert_eq!((code, printed.lines().count()), (0, layers * Rules::ALL.len()));
    let known = std::fs::read_to_string(MANIFEST).unwrap();
    assert!(printed.lines().all(|line| known.lines().any(|known| known == line)));

    // A table that differs from its entry, a table without an entry, and an empty manifest.
    let other = directory.path().join("other.jsonl");
    let seven = known.lines().find(|line| line.contains(r#""seeds":7,"#)).unwrap();
    let digest = serde_json::from_str::<Value>(seven).unwrap()["digest"].as_str().unwrap().to_owned();
    std::fs::write(&other, seven.replace(&digest, &digest.replace(&digest[..1], "x"))).unwrap();
    let other = other.to_str().unwrap();
    let (code, stdout, _) = kalah(tables, &["verify", "--manifest", other, "--seeds", "7"]);
    assert_eq!(code, 3);
    assert!(stdout.contains("digest"), "{stdout}");
    let (code, _, stderr) = kalah(tables, &["verify", "--manifest", other, "--seeds", "8"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("has no entry"), "{stderr}");
    std::fs::write(other, "nothing").unwrap();
    let (code, _, stderr) = kalah(tables, &["verify", "--manifest", other]);
    assert_eq!(code, 1);
    assert!(stderr.contains("cannot read the manifest"), "{stderr}");
}

#[test]
fn an_adapter_that_is_not_there_is_refused_with_those_that_are() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["build", "--seeds", "5", "--backend", "gpu", "--adapter", "no such adapter"];
    let (code, _, stderr) = kalah(directory.path(), &args);
    assert_eq!(code, 1);
    assert!(stderr.contains("no adapter is named no such adapter"), "{stderr}");
    let adapters = json(directory.path(), &["gpu", "--json"]);
    for adapter in adapters["adapters"].as_array().unwrap() {
        assert!(stderr.contains(adapter["name"].as_str().unwrap()), "{stderr}");
        assert!(["full", "untimed", "software", "unfit"].contains(&adapter["tier"].as_str().unwrap()));
    }
}

#[test]
fn auto_never_takes_a_software_adapter() {
    let directory = tempfile::tempdir().unwrap();
    let adapters = json(directory.path(), &["gpu", "--json"]);
    let real = adapters["adapters"].as_array().unwrap().iter().any(|adapter| {
        let tier = adapter["tier"].as_str().unwrap();
        tier == "full" || tier == "untimed"
    });
    let (code, _, stderr) = kalah(directory.path(), &["build", "--seeds", "5"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stderr.contains("on the CPU"), !real, "{stderr}");
    if !real {
        let (code, _, stderr) = kalah(directory.path(), &["build", "--seeds", "6", "--backend", "gpu"]);
        assert_eq!(code, 1);
        assert!(stderr.contains("use the CPU"), "{stderr}");
        // Parts that a card may lack are named, also where a software adapter is listed.
        let (_, stdout, _) = kalah(directory.path(), &["gpu"]);
        assert!([stderr, stdout].iter().all(|text| text.contains("libvulkan.so.1")), "{adapters}");
    }
}

#[test]
fn a_benchmark_measures_and_compares() {
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path();
    json(tables, &["build", "--seeds", "8", "--backend", "cpu", "--json"]);
    let names = |tables: &Path| std::fs::read_dir(tables).unwrap().count();
    let before = names(tables);
    let measured = json(tables, &["bench", "--seeds", "8", "--backend", "cpu", "--json"]);
    assert_eq!((&measured["positions"], &measured["same_as_table"]), (&73_008.into(), &true.into()));
    assert!(measured["positions_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(names(tables), before, "the layer built for the measurement is still there");
    // The layers below must exist.
    let (code, _, stderr) = kalah(tables, &["bench", "--seeds", "10", "--backend", "cpu"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("kalah build --seeds 9"), "{stderr}");
}

#[test]
fn the_named_adapter_builds_verifies_and_is_measured() {
    let Some(gpu) = adapter::shared() else { return };
    let name = gpu.report().name.clone();
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path();
    let on_gpu = ["--backend", "gpu", "--adapter", &name, "--json"];
    let with = |args: &[&'static str]| json(tables, &[args, &on_gpu].concat());
    let built = with(&["build", "--seeds", "8", "--gpu-memory", "1GiB"]);
    assert_eq!(built["built"][6]["backend"], name.as_str());
    json(tables, &["verify", "--manifest", MANIFEST, "--json"]);
    let checked = json(tables, &["verify", "--against", "gpu", "--adapter", &name, "--json"]);
    assert!(checked["passed"].as_array().unwrap().iter().all(|passed| passed["check"] == "gpu"));
    let measured = with(&["bench", "--seeds", "8"]);
    assert_eq!(measured["same_as_table"], true);
    assert!(measured["gpu"]["traffic"]["downloaded"].as_u64().unwrap() > 0);
    if gpu.report().timestamps {
        assert!(measured["kernel_seconds"].as_f64().unwrap() > 0.0);
    }
    // With too little memory the program refuses before it writes anything.
    let before = files(tables);
    for share in [&[][..], &["--share"]] {
        let args = ["build", "--seeds", "12", "--backend", "gpu", "--adapter", &name, "--gpu-memory", "100KiB"];
        let (code, _, stderr) = kalah(tables, &[&args[..], share].concat());
        assert_eq!((code, files(tables) == before), (1, true));
        assert!(stderr.contains("--gpu-memory") && stderr.contains("use the CPU"), "{stderr}");
        assert!(!stderr.contains("same command"), "{stderr}");
    }
}

#[test]
fn the_list_of_adapters_has_the_results_of_their_self_tests() {
    let Some(gpu) = adapter::shared() else { return };
    let directory = tempfile::tempdir().unwrap();
    let listed = json(directory.path(), &["gpu", "--json"]);
    let own = listed["adapters"].as_array().unwrap().iter().find(|one| one["name"] == gpu.report().name.as_str());
    assert_eq!(own.unwrap()["self_test"], "passed");
    let (code, stdout, _) = kalah(directory.path(), &["gpu"]);
    assert!(code == 0 && stdout.contains("self-test        passed"), "{stdout}");
}

/// A copy of Mesa's software driver is a second card of the same name.
#[test]
#[cfg(target_os = "linux")]
fn cards_of_one_name_are_told_apart_by_their_numbers() {
    let drivers = std::fs::read_dir("/usr/share/vulkan/icd.d").into_iter().flatten().flatten().map(|file| file.path());
    let is_mesas =
        |path: &std::path::PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains("lvp"));
    let Some(driver) = drivers.into_iter().find(is_mesas) else {
        return optional::skip("SYSTEM", "Mesa's software driver is not installed");
    };
    let directory = tempfile::tempdir().unwrap();
    let manifest: Value = serde_json::from_slice(&std::fs::read(&driver).unwrap()).unwrap();
    let library = Path::new(manifest["ICD"]["library_path"].as_str().unwrap()).to_owned();
    let copy = directory.path().join("libcopy.so");
    std::fs::copy(&library, &copy).unwrap();
    let mut other = manifest.clone();
    other["ICD"]["library_path"] = copy.to_str().unwrap().into();
    let other_driver = directory.path().join("copy.json");
    std::fs::write(&other_driver, other.to_string()).unwrap();
    let kalah = |args: &[&str]| {
        let mut command = program::command();
        command.env("VK_DRIVER_FILES", format!("{}:{}", driver.display(), other_driver.display()));
        command.env("VK_ICD_FILENAMES", format!("{}:{}", driver.display(), other_driver.display()));
        command.env_remove("VK_ADD_DRIVER_FILES").env("KALAH_TABLES", directory.path());
        command.args(args).run().parts()
    };
    let (_, stdout, stderr) = kalah(&["gpu", "--json"]);
    let listed: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stderr}"));
    let listed = listed["adapters"].as_array().unwrap();
    if listed.len() != 2 {
        return optional::skip("SYSTEM", format_args!("two copies of a driver are {} adapters", listed.len()));
    }
    assert_eq!(listed[0]["name"], listed[1]["name"]);
    assert_eq!((&listed[0]["number"], &listed[1]["number"]), (&1.into(), &2.into()));
    let build = |seeds: &str, adapter: &str| {
        let (code, _, stderr) =
            kalah(&["build", "--seeds", seeds, "--pits", "2", "--backend", "gpu", "--adapter", adapter]);
        (code, stderr)
    };
    let (code, stderr) = build("4", "llvmpipe");
    assert!(code == 0 && stderr.contains("number 1 of `kalah gpu`"), "{stderr}");
    let (code, stderr) = build("5", "2");
    assert!(code == 0 && stderr.contains("number 2 of `kalah gpu`"), "{stderr}");
    // A part of a version.
    let (code, stderr) = build("6", "256");
    assert!(code == 1 && stderr.contains("no adapter has the number 256"), "{stderr}");
}

/// `RADV_FORCE_FAMILY` makes Mesa's driver for AMD's GPUs list a GPU that the machine does not have. Creating a device
/// on it fails.
#[test]
fn hardware_that_is_not_there_is_not_used() {
    if adapter::shared().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let kalah = |args: &[&str]| {
        let mut command = program::command();
        command.env("RADV_FORCE_FAMILY", "navi21").env("KALAH_TABLES", directory.path());
        command.args(args).run().parts()
    };
    let (code, stdout, stderr) = kalah(&["gpu", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    let listed: Value = serde_json::from_str(&stdout).unwrap();
    let pretended = |one: &&Value| one["name"].as_str().unwrap().to_lowercase().contains("navi21");
    let Some(pretended) = listed["adapters"].as_array().unwrap().iter().find(pretended) else {
        optional::skip("SYSTEM", "Mesa's driver for AMD's GPUs is not installed");
        return;
    };
    assert_eq!(pretended["tier"], "full");
    assert_ne!(pretended["self_test"], "passed");
    // The CPU is chosen only if no other adapter could be used.
    let real = listed["adapters"]
        .as_array()
        .unwrap()
        .iter()
        .any(|one| one["self_test"] == "passed" && (one["tier"] == "full" || one["tier"] == "untimed"));
    if !real {
        let (code, _, stderr) = kalah(&["build", "--seeds", "5"]);
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.contains("on the CPU: the GPU cannot be used"), "{stderr}");
    }
    for backend in ["auto", "gpu"] {
        let (code, _, stderr) = kalah(&["build", "--seeds", "6", "--backend", backend, "--adapter", "navi21"]);
        assert_eq!(code, 1, "{stderr}");
        assert!(stderr.contains("cannot be used"), "{stderr}");
    }
}

/// Where there is no display, the library of Mesa's layer that orders devices prints errors.
#[test]
fn looking_for_a_gpu_prints_nothing_where_there_is_no_display() {
    if adapter::shared().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path().to_str().unwrap();
    let build = ["build", "--seeds", "6", "--json", "--tables", tables];
    for (args, value) in [(&["gpu"][..], None), (&build, None), (&["gpu"], Some("")), (&["gpu"], Some("run"))] {
        let mut command = program::command();
        command.args(args).env_remove("XDG_RUNTIME_DIR").envs(value.map(|value| ("XDG_RUNTIME_DIR", value)));
        let output = command.run();
        let stderr = output.stderr();
        assert!(output.status.success(), "{args:?}: {stderr}");
        assert!(!stderr.contains("XDG_RUNTIME_DIR"), "{args:?}, {value:?}: {stderr}");
    }
}
