//! The scripts in `cluster/`, without a scheduler, and with a launcher if one is installed.
#![cfg(all(unix, feature = "cli"))]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::processes::{assert_complete, path, whole};
use kalah_tests::leases::kill_a_holder;
use kalah_tests::optional;
use kalah_tests::program::{Ran, Run};

/// Command that runs a script in `cluster/`.
fn script(name: &str, directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster").join(name));
    command.args(args).env("KALAH_TABLES", directory).env("PATH", path(None));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Arguments of shared builds that take about a second.
const SHARED: [&str; 7] = ["16", "--rules", "s-kalaha", "--backend", "cpu", "--patience=2", "--json"];

#[test]
fn processes_share_a_build_also_when_one_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let mut processes: Vec<Child> = (0..4)
        .map(|rank| {
            let mut process = script("mpi.sh", directory.path(), &SHARED);
            process.env("PMI_RANK", rank.to_string()).env("PMI_SIZE", "4").env("KALAH_THREADS", "1");
            process.spawn().unwrap()
        })
        .collect();
    // A process can be killed in time only from 13 seeds on: smaller layers are too quick.
    kill_a_holder(&mut processes, directory.path(), |name| {
        [13, 14, 15, 16].iter().any(|layer| name.starts_with(&format!("s-kalaha-6-{layer}.")))
    });
    let shares = processes.into_iter().map(|process| {
        let ran = process.wait_with_output().unwrap().success();
        ran.json()["pairs"].as_u64().unwrap()
    });
    assert!(shares.filter(|&pairs| pairs > 0).count() >= 2, "the work was not shared");
    assert_complete(directory.path(), &whole(&["--rules", "s-kalaha", "--seeds", "16"]), "shared");
}

#[test]
fn an_mpi_launcher_runs_the_build() {
    let Ok(version) = Command::new("mpirun").arg("--version").output() else {
        optional::skip("SYSTEM", "there is no mpirun");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mpi = script("mpi.sh", directory.path(), &[]);
    let mut run = Command::new("mpirun");
    if version.stdout().contains("Open MPI") {
        run.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    run.args(["-np", "3"]).arg(mpi.get_program()).args(["11", "--pits", "4", "--backend", "cpu", "--json"]);
    run.env("PATH", path(None)).env("KALAH_TABLES", directory.path());
    let ran = run.run().success();
    let reports: Vec<Value> = ran.stdout().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(reports.len(), 3, "{}", ran.stdout());
    // No process died, so each layer was joined once.
    let sum = |field: &str| reports.iter().map(|report| report[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("joined"), 10);
    assert_eq!(sum("positions"), (2..=11).map(|seeds| kalah::index::layer_positions(4, seeds)).sum::<u64>());
    assert_complete(directory.path(), &whole(&["--pits", "4", "--seeds", "11"]), "mpirun");
}

#[test]
fn scripts_say_what_they_need() {
    for (name, tasks) in [("mpi.sh", &[][..]), ("slurm.sh", &["3"])] {
        for (tables, args) in [("/tmp", &[][..]), ("/tmp", &["many"]), ("tables", &["8"]), ("", &["8"])] {
            let args = [tasks, args].concat();
            let ran = script(name, Path::new(tables), &args).env_remove("SLURM_ARRAY_TASK_ID").run().exits(2);
            let needs = if tables == "/tmp" { "usage: " } else { "set KALAH_TABLES" };
            assert!(ran.stderr().contains(needs), "{}", ran.stderr());
        }
    }
}

/// Stub of `sbatch`: records its arguments and runs the tasks of the array immediately. Fails if a task fails.
const SBATCH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
echo "$@" >>"$STUB_LOG"
while [[ $1 = --* ]]; do
    [[ $1 != --array=* ]] || array=${1#*=}
    shift
done
for ((task = ${array%-*}; task <= ${array#*-}; task++)); do
    SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 "$@" >/dev/null &
    tasks+=($!)
done
for task in "${tasks[@]}"; do wait "$task"; done
echo "30;cluster"
"#;

/// Command that submits `args` with a stub of `sbatch`, and the stub's log.
fn submit(directory: &Path, bin: &Path, args: &[&str]) -> (Command, PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    let (sbatch, log) = (bin.join("sbatch"), bin.join("log"));
    std::fs::write(&sbatch, SBATCH).unwrap();
    std::fs::set_permissions(&sbatch, PermissionsExt::from_mode(0o755)).unwrap();
    let mut submit = script("slurm.sh", directory, args);
    submit.env("PATH", path(Some(bin))).env("STUB_LOG", &log).env_remove("SLURM_ARRAY_TASK_ID");
    (submit, log)
}

#[test]
fn tasks_of_a_slurm_array_share_a_build() {
    let (directory, bin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let args = ["3", "9", "--pits", "3", "--backend", "cpu"];
    let (mut submit, log) = submit(directory.path(), bin.path(), &args);
    let printed = submit.env("KALAH_SBATCH", "--mem=1G --time=5").run().success().stdout();
    assert!(printed.contains("job 30, 3 tasks"), "{printed}");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.lines().count() == 1 && log.contains("--array=1-3 ") && log.contains("--mem=1G --time=5 "), "{log}");
    assert_complete(directory.path(), &whole(&["--pits", "3", "--seeds", "9"]), "submitted");
}

#[test]
fn nothing_is_submitted_with_a_mistyped_rule_set_or_flag() {
    let (directory, bin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for flag in ["--rules=standart", "--patince=3", "--backend=gpux"] {
        let (mut submit, log) = submit(directory.path(), bin.path(), &["2", "30", flag]);
        let ran = submit.run().exits(2);
        assert!(!log.exists() && ran.stdout().is_empty(), "{flag}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// A task uses the memory that Slurm allows it, and reports before it begins if that is not enough.
#[test]
fn a_slurm_task_keeps_to_its_memory() {
    let directory = tempfile::tempdir().unwrap();
    let task = |memory: &str, flags: &[&str]| {
        let mut task = script("slurm.sh", directory.path(), &[&["1", "12"], flags].concat());
        task.env("SLURM_ARRAY_TASK_ID", "1").env("SLURM_CPUS_PER_TASK", "1").env("SLURM_MEM_PER_NODE", memory);
        task.run()
    };
    let ran = task("1", &["--backend", "cpu"]);
    assert!(ran.code() == 1 && ran.stderr().contains("are allowed; allow more with --memory"), "{}", ran.stderr());
    task("1", &["--backend", "cpu", "--memory=1GiB"]).success();
    task("1024", &["--backend", "cpu"]).success();
}

/// Flags for threads and memory are those of the user, of Slurm, or of the machine, and none is given twice. Commands
/// that a machine may lack are not needed.
#[test]
fn scripts_give_each_process_its_share_once() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let bin = tempfile::tempdir().unwrap();
    // Only these commands, as on a machine without nproc.
    for name in ["awk", "bash", "dirname", "env", "getconf"] {
        let paths = std::env::var_os("PATH").unwrap();
        let found = std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.exists());
        symlink(found.expect("the command is installed"), bin.path().join(name)).unwrap();
    }
    let stub = bin.path().join("kalah");
    std::fs::write(&stub, "#!/usr/bin/env bash\necho \"$*\"\n").unwrap();
    std::fs::set_permissions(&stub, PermissionsExt::from_mode(0o755)).unwrap();
    let run = |name: &str, args: &[&str], variables: &[(&str, &str)]| {
        let args = [if name == "mpi.sh" { &["8"][..] } else { &["6x2"] }, args].concat();
        let args = if name == "prove-slurm.sh" { [&["4"][..], &args].concat() } else { args };
        let mut run = script(name, Path::new("/tables"), &args);
        run.env_clear().envs([("KALAH_TABLES", "/tables"), ("KALAH_PROOF", "/proof"), ("SLURM_ARRAY_TASK_ID", "1")]);
        run.env("PATH", bin.path()).envs(variables.iter().copied());
        run.run().success().stdout().trim().to_owned()
    };
    let cores = std::thread::available_parallelism().unwrap();
    for name in ["mpi.sh", "prove-mpi.sh", "prove-slurm.sh"] {
        let own = format!("--threads {cores}");
        for (args, variables, expected) in [
            (&[][..], &[][..], &*own),
            (&["--threads", "3"], &[], "--threads 3"),
            (&["--threads=3", "--memory=5GiB"], &[("SLURM_MEM_PER_NODE", "7")], "--threads=3 --memory=5GiB"),
            (&[], &[("KALAH_THREADS", "2"), ("KALAH_MEMORY", "1GiB")], "--threads 2 --memory 1GiB"),
            (&[], &[("SLURM_CPUS_PER_TASK", "4"), ("SLURM_MEM_PER_CPU", "300")], "--threads 4 --memory 1200MiB"),
            (&[], &[("SLURM_CPUS_PER_TASK", "4"), ("SLURM_MEM_PER_NODE", "0")], "--threads 4"),
            (&[], &[("SLURM_CPUS_PER_TASK", "4"), ("SLURM_MEM_PER_NODE", "900")], "--threads 4 --memory 900MiB"),
        ] {
            let ran = run(name, args, variables);
            assert!(ran.ends_with(&format!(" --share {expected}")), "{name} {args:?} {variables:?}: {ran}");
        }
    }
    // Four processes of srun on this machine.
    let srun = [("SLURM_PROCID", "0"), ("SLURM_TASKS_PER_NODE", "4(x2)"), ("SLURM_MEM_PER_NODE", "900")];
    let ran = run("mpi.sh", &[], &[&srun[..], &[("SLURM_CPUS_PER_TASK", "2")]].concat());
    assert!(ran.ends_with(" --share --threads 2 --memory 225MiB"), "{ran}");
}

/// In old versions of Bash, an empty array is an unset variable.
#[test]
fn scripts_expand_no_empty_array() {
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|_| text.contains("threads.sh")) {
            let all = line.matches("[@]}\"").count();
            assert_eq!(line.matches("[@]+\"${").count(), all, "{}: {line}", path.display());
        }
    }
}
