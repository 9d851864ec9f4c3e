//! The scripts in `cluster/`, without a scheduler, and with a launcher if one is installed.
#![cfg(all(unix, feature = "cli"))]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command};

use kalah::index::layer_positions;
use serde_json::Value;

use crate::cluster::whole;
use crate::pieces::assert_complete;
use kalah_tests::cluster::{self, executable, stub_sbatch};
use kalah_tests::leases::kill_a_holder;
use kalah_tests::optional;
use kalah_tests::program::{Ran, Run, search_path};

/// Command that runs a script in `cluster/` for the tables in `directory`.
fn script(name: &str, directory: &Path, args: &str) -> Command {
    let mut command = cluster::script(name);
    command.args(args.split_whitespace()).env("KALAH_TABLES", directory);
    command
}

#[test]
fn processes_share_a_build_also_when_one_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    // Such a build takes about a second.
    let shared = "16 --rules s-kalaha --backend cpu --patience=2 --json";
    let start = |rank: i32| {
        let mut process = script("mpi.sh", directory.path(), shared);
        process.env("PMI_RANK", rank.to_string()).env("PMI_SIZE", "4").env("KALAH_THREADS", "1").spawn().unwrap()
    };
    let mut processes: Vec<Child> = (0..4).map(start).collect();
    // A process can be killed in time only from 13 seeds on: smaller layers are too quick.
    kill_a_holder(&mut processes, directory.path(), |name| {
        (13..=16).any(|layer| name.starts_with(&format!("s-kalaha-6-{layer}.")))
    });
    let outputs = processes.into_iter().map(|process| process.wait_with_output().unwrap().success());
    let shares = outputs.filter(|output| output.json()["pairs"].as_u64() > Some(0)).count();
    assert!(shares >= 2, "the work was not shared");
    assert_complete(directory.path(), &whole("--rules s-kalaha --seeds 16"), "shared");
}

#[test]
fn an_mpi_launcher_runs_the_build() {
    let Ok(version) = Command::new("mpirun").arg("--version").output() else {
        optional::skip("SYSTEM", "there is no mpirun");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mpi = script("mpi.sh", directory.path(), "");
    let mut run = Command::new("mpirun");
    if version.stdout().contains("Open MPI") {
        run.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    run.args(["-np", "3"]).arg(mpi.get_program()).args(["11", "--pits", "4", "--backend", "cpu", "--json"]);
    run.env("PATH", search_path()).env("KALAH_TABLES", directory.path());
    let ran = run.run().success();
    let reports: Vec<Value> = ran.stdout().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(reports.len(), 3, "{}", ran.stdout());
    // No process died, so each layer was joined once.
    let sum = |field: &str| reports.iter().map(|report| report[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("joined"), 10);
    assert_eq!(sum("positions"), (2..=11).map(|seeds| layer_positions(4, seeds)).sum::<u64>());
    assert_complete(directory.path(), &whole("--pits 4 --seeds 11"), "mpirun");
}

#[test]
fn scripts_say_what_they_need() {
    for (name, tasks) in [("mpi.sh", ""), ("slurm.sh", "3")] {
        for (tables, args, needs) in [
            ("/tmp", "", "usage: "),
            ("/tmp", "many", "usage: "),
            ("tables", "8", "set KALAH_TABLES"),
            ("", "8", "set KALAH_TABLES"),
        ] {
            script(name, Path::new(tables), &format!("{tasks} {args}")).run().exits(2).prints(needs);
        }
    }
}

#[test]
fn tasks_of_a_slurm_array_share_a_build() {
    let (directory, bin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut submit = script("slurm.sh", directory.path(), "3 9 --pits 3 --backend cpu");
    let log = stub_sbatch(&mut submit, bin.path());
    submit.env("KALAH_SBATCH", "--mem=1G --time=5").run().success().prints("job 30, 3 tasks");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.lines().count() == 1 && log.contains("--array=1-3 ") && log.contains("--mem=1G --time=5 "), "{log}");
    assert_complete(directory.path(), &whole("--pits 3 --seeds 9"), "submitted");
}

#[test]
fn nothing_is_submitted_with_a_mistyped_rule_set_or_flag() {
    let (directory, bin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for flag in ["--rules=standart", "--patince=3", "--backend=gpux"] {
        let mut submit = script("slurm.sh", directory.path(), &format!("2 30 {flag}"));
        let log = stub_sbatch(&mut submit, bin.path());
        submit.run().fails(2, "");
        assert!(!log.exists(), "{flag}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// A task uses the memory that Slurm allows it, and reports before it begins if that is not enough.
#[test]
fn a_slurm_task_keeps_to_its_memory() {
    let directory = tempfile::tempdir().unwrap();
    let task = |memory: &str, flags: &str| {
        let mut task = script("slurm.sh", directory.path(), &format!("1 12 --backend cpu {flags}"));
        task.env("SLURM_ARRAY_TASK_ID", "1").env("SLURM_CPUS_PER_TASK", "1").env("SLURM_MEM_PER_NODE", memory).run()
    };
    task("1", "").exits(1).prints("are allowed; allow more with --memory");
    task("1", "--memory=1GiB").success();
    task("1024", "").success();
}

/// Flags for threads and memory are those of the user, of Slurm, or of the machine, and none is given twice. Commands
/// that a machine may lack are not needed.
#[test]
fn scripts_give_each_process_its_share_once() {
    let bin = tempfile::tempdir().unwrap();
    // Only these commands, as on a machine without nproc.
    for name in ["awk", "bash", "dirname", "env", "getconf"] {
        let paths = std::env::var_os("PATH").unwrap();
        let found = std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.exists());
        symlink(found.expect("the command is installed"), bin.path().join(name)).unwrap();
    }
    executable(&bin.path().join("kalah"), "#!/usr/bin/env bash\necho \"$*\"\n");
    let run = |name: &str, args: &str, variables: &str| {
        let first = [("mpi.sh", "8"), ("prove-mpi.sh", "6x2"), ("prove-slurm.sh", "4 6x2")];
        let first = first.iter().find(|(other, _)| *other == name).unwrap().1;
        let mut run = script(name, Path::new("/tables"), &format!("{first} {args}"));
        run.env_clear().envs([("KALAH_TABLES", "/tables"), ("KALAH_PROOF", "/proof"), ("SLURM_ARRAY_TASK_ID", "1")]);
        run.envs(variables.split_whitespace().map(|variable| variable.split_once('=').unwrap()));
        run.env("PATH", bin.path()).run().success().stdout().trim().to_owned()
    };
    let cores = std::thread::available_parallelism().unwrap();
    for name in ["mpi.sh", "prove-mpi.sh", "prove-slurm.sh"] {
        let own = format!("--threads {cores}");
        for (args, variables, expected) in [
            ("", "", &*own),
            ("--threads 3", "", "--threads 3"),
            ("--threads=3 --memory=5GiB", "SLURM_MEM_PER_NODE=7", "--threads=3 --memory=5GiB"),
            ("", "KALAH_THREADS=2 KALAH_MEMORY=1GiB", "--threads 2 --memory 1GiB"),
            ("", "SLURM_CPUS_PER_TASK=4 SLURM_MEM_PER_CPU=300", "--threads 4 --memory 1200MiB"),
            ("", "SLURM_CPUS_PER_TASK=4 SLURM_MEM_PER_NODE=0", "--threads 4"),
            ("", "SLURM_CPUS_PER_TASK=4 SLURM_MEM_PER_NODE=900", "--threads 4 --memory 900MiB"),
        ] {
            let ran = run(name, args, variables);
            assert!(ran.ends_with(&format!(" --share {expected}")), "{name} {args:?} {variables:?}: {ran}");
        }
    }
    // Four processes of srun on this machine.
    let srun = "SLURM_PROCID=0 SLURM_TASKS_PER_NODE=4(x2) SLURM_MEM_PER_NODE=900 SLURM_CPUS_PER_TASK=2";
    let ran = run("mpi.sh", "", srun);
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
