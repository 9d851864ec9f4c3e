//! The program in control groups of Linux that have less memory or fewer processors than the machine. The groups are
//! real ones below that of the test. Making them takes the rights of root; without them the tests are skipped.
#![cfg(all(feature = "cli", target_os = "linux"))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kalah_tests::optional;
use kalah_tests::program::{self, Ran, Run};

const MIB: u64 = 1 << 20;

/// A group with a limit and, inside it, a group without one. Both are removed at the end.
struct Groups {
    outer: PathBuf,
    version_1: bool,
}

impl Groups {
    /// Makes groups of a controller, `memory` or `cpu`. Returns `None`, after a warning, if they cannot be made.
    fn new(controller: &str, name: &str) -> Option<Groups> {
        let skip = |reason: &_| {
            optional::skip("SYSTEM", format_args!("no control group of {controller} can be made: {reason}"));
        };
        Groups::try_new(controller, name).inspect_err(skip).ok()
    }

    fn try_new(controller: &str, name: &str) -> Result<Groups, Box<dyn std::error::Error>> {
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let find = |wanted: &dyn Fn(&str) -> bool| {
            own.lines().map(|line| line.splitn(3, ':').collect::<Vec<_>>()).find(|fields| wanted(fields[1]))
        };
        let version_1 = find(&|controllers| controllers.split(',').any(|one| one == controller));
        let fields = version_1.clone().or_else(|| find(&str::is_empty)).ok_or("this process is in none")?;
        let root = Path::new("/sys/fs/cgroup").join(if version_1.is_some() { controller } else { "" });
        let own = root.join(fields[2].trim_start_matches('/'));
        if version_1.is_none() {
            fs::write(own.join("cgroup.subtree_control"), format!("+{controller}"))?;
        }
        let outer = own.join(format!("kalah-test-{name}-{}", std::process::id()));
        fs::create_dir_all(outer.join("inner"))?;
        Ok(Groups { outer, version_1: version_1.is_some() })
    }

    /// Sets the limit of the outer group.
    fn limit(&self, name_1: &str, name_2: &str, value: &str) {
        let name = if self.version_1 { name_1 } else { name_2 };
        fs::write(self.outer.join(name), value).unwrap();
    }

    fn limit_memory(&self, bytes: u64) {
        self.limit("memory.limit_in_bytes", "memory.max", &bytes.to_string());
    }

    /// Command that runs a program in the inner group.
    fn command(&self, program: &Path) -> Command {
        let mut command = program::without_settings("sh");
        command.args(["-c", r#"echo $$ > "$0" && exec "$@""#]);
        command.arg(self.outer.join("inner/cgroup.procs")).arg(program);
        command
    }

    /// Runs `kalah` in the inner group.
    fn kalah(&self, line: &str) -> Output {
        self.command(&program::path()).args(line.split(' ')).run()
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        // The kernel takes a moment to notice that the last process has ended.
        for _ in 0..100 {
            let _ = fs::remove_dir(self.outer.join("inner"));
            if fs::remove_dir(&self.outer).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn memory_is_that_of_the_tightest_group() {
    let Some(groups) = Groups::new("memory", "plan") else { return };
    for limit in [512 * MIB, 256 * MIB] {
        groups.limit_memory(limit);
        let memory = groups.kalah("plan search 6x6 --json").success().json()["memory"].as_u64().unwrap();
        // The program's own memory is subtracted, and so is the part that a search leaves to other programs.
        assert!((limit / 4 * 3..limit).contains(&memory), "{memory} bytes of {limit}");
    }
}

#[test]
fn a_build_that_does_not_fit_its_group_is_refused() {
    let Some(groups) = Groups::new("memory", "build") else { return };
    groups.limit_memory(32 * MIB);
    let directory = tempfile::tempdir().unwrap();
    let tables = directory.path().join("tables");
    let build =
        |board: &str| groups.kalah(&format!("build --backend cpu {board} --json --tables {}", tables.display()));
    let outer = groups.outer.file_name().unwrap().to_str().unwrap();
    let refused = build("--pits 6 --seeds 20").fails(1, "is limited to 32.00 MiB");
    refused.prints(outer).prints("raise the memory limit of this group of processes");
    // Layers that fit are built.
    assert_eq!(build("--pits 3 --seeds 8").success().json()["built"].as_array().map(Vec::len), Some(7));
}

/// Such searches once ended by a signal, without a word.
#[test]
fn a_search_that_does_not_fit_its_group_is_refused() {
    let Some(groups) = Groups::new("memory", "search") else { return };
    groups.limit_memory(300 * MIB);
    let solve = "solve 2x2 --no-book --no-tables";
    let refused = groups.kalah(&format!("{solve} --memory 4GiB")).exits(1);
    refused.prints("this search takes").prints("is limited to 300.00 MiB").prints("--memory");
    // By default, a search takes what the group leaves.
    groups.kalah(solve).success();
}

#[test]
fn threads_are_those_of_the_quota_of_the_tightest_group() {
    let Some(groups) = Groups::new("cpu", "threads") else { return };
    let threads = || groups.kalah("search 3x2 --depth 3 --json").success().json()["threads"].as_u64().unwrap();
    let cores = threads();
    if cores == 1 {
        optional::skip("SYSTEM", "there is only one processor");
        return;
    }
    groups.limit("cpu.cfs_quota_us", "cpu.max", "100000");
    assert_eq!(threads(), 1, "of {cores}");
}

/// Environment variable that marks the process inside the group: it runs the next test there.
#[cfg(feature = "gpu")]
const STARVED: &str = "KALAH_TEST_STARVED";

/// A software adapter compiles a shader at its first run. With a tenth of a processor that takes many seconds.
#[cfg(feature = "gpu")]
#[test]
fn a_software_adapter_with_little_processor_time_does_not_hang() {
    use std::time::Duration;

    use kalah::build::gpu::stages::{Encode, Stage};
    use kalah::gpu::{Adapter, Gpu, GpuOptions, Tier};

    if std::env::var_os(STARVED).is_some() {
        let adapters = Adapter::all().into_iter().filter(|adapter| adapter.report.tier == Tier::Software);
        // SwiftShader compiles a shader when it is made, not when it runs.
        for adapter in adapters.filter(|adapter| adapter.report.name.contains("llvmpipe")) {
            // One stage is enough: the largest.
            let mut options = GpuOptions::default();
            options.patience = Duration::from_secs(4);
            let gpu = Gpu::open(&adapter, options).unwrap();
            let params = Encode { threads: 1, rows: 4, words: 1, positions: 4, ..Encode::default() };
            let mut buffers = [4, 4, 64, 4].map(|words| vec![0; words]);
            gpu.run_kernel(Stage::Encode.kernel(), &params, 1, &mut buffers).unwrap();
        }
        return;
    }
    let Some(groups) = Groups::new("cpu", "starved") else { return };
    groups.limit("cpu.cfs_quota_us", "cpu.max", "10000");
    let mut command = groups.command(&std::env::current_exe().unwrap());
    let name = "control_groups::a_software_adapter_with_little_processor_time_does_not_hang";
    command.args(["--exact", name, "--nocapture"]).env(STARVED, "1").env("MESA_SHADER_CACHE_DISABLE", "true");
    command.run().success().prints("1 passed");
}
