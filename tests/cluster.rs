//! One build by several processes: byte for byte that of one, whatever is killed.
#![cfg(unix)]

mod files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use files::{assert_same_files, files};
use serde_json::Value;

type Files = BTreeMap<String, Vec<u8>>;

/// The program with its tables in `directory`, on one thread of the CPU.
fn kalah(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("kalah"));
    command.args(args).args(["--backend", "cpu", "--threads", "1"]).env("KALAH_TABLES", directory);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn success(output: Output) -> Output {
    assert!(output.status.success(), "{}: {}", output.status, stderr(&output));
    output
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The files of a build by one process.
fn whole(flags: &[&str]) -> Files {
    let directory = tempfile::tempdir().unwrap();
    success(kalah(directory.path(), &[&["build"], flags].concat()).output().unwrap());
    files(directory.path())
}

/// Starts the computing of a pair of frames.
fn frame(directory: &Path, frame: &str, flags: &[&str]) -> Child {
    kalah(directory, &[&["build", "--frame", frame], flags].concat()).spawn().unwrap()
}

/// Fails unless the directory holds these tables and nothing that is left of pieces.
#[track_caller]
fn assert_complete(directory: &Path, whole: &Files, what: &str) {
    assert_same_files(whole, &files(directory), what);
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(![".piece", ".tmp", ".claim"].iter().any(|end| name.ends_with(end)), "{what}: {name}");
    }
}

#[test]
fn all_pairs_of_each_layer_at_once_make_the_files_of_one_build() {
    for (flags, seeds) in [(&["--pits", "3"][..], 9), (&["--pits", "4", "--rules", "standard"], 9)] {
        let directory = tempfile::tempdir().unwrap();
        for layer in 2..=seeds {
            let processes: Vec<Child> =
                (1..=layer / 2).map(|small| frame(directory.path(), &format!("{layer},{small}"), flags)).collect();
            for process in processes {
                success(process.wait_with_output().unwrap());
            }
        }
        assert_complete(directory.path(), &whole(&[flags, &["--seeds", &seeds.to_string()]].concat()), "frames");
    }
}

#[test]
fn two_processes_with_the_same_pair_do_no_harm() {
    let flags = ["--pits", "4"];
    let directory = tempfile::tempdir().unwrap();
    success(kalah(directory.path(), &["build", "--pits", "4", "--seeds", "10"]).output().unwrap());
    // Of each pair both names, all at once.
    let processes: Vec<Child> = (1..=10).map(|mover| frame(directory.path(), &format!("11,{mover}"), &flags)).collect();
    for process in processes {
        success(process.wait_with_output().unwrap());
    }
    let complete = whole(&["--pits", "4", "--seeds", "11"]);
    assert_complete(directory.path(), &complete, "both names");

    // What is there is told, and kept.
    let ran = success(frame(directory.path(), "11,4", &["--pits", "4", "--json"]).wait_with_output().unwrap());
    let report: Value = serde_json::from_str(&stdout(&ran)).unwrap();
    assert_eq!((&report["computed"], &report["finished"]), (&false.into(), &true.into()));
    assert_eq!((&report["frame"], &report["positions"]), (&serde_json::json!([4, 7]), &0.into()));
    for (computed, name) in [(true, "12,8"), (false, "12,4")] {
        let ran = success(frame(directory.path(), name, &["--pits", "4", "--json"]).wait_with_output().unwrap());
        let report: Value = serde_json::from_str(&stdout(&ran)).unwrap();
        assert_eq!((&report["computed"], &report["finished"]), (&computed.into(), &false.into()));
        assert_eq!(report["positions"], if computed { 35 * 165 * 2 } else { 0 });
    }
    assert!(directory.path().join("empty-capture-4-12.04.piece").exists());
}

/// The names of temporary files of a pair.
fn temporary(directory: &Path, piece: &str) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(piece) && name.ends_with(".tmp")).collect()
}

#[test]
fn a_killed_process_loses_its_pair_alone() {
    // Relays are slow, so there is time to kill.
    let flags = ["--rules", "s-kalaha"];
    let directory = tempfile::tempdir().unwrap();
    success(kalah(directory.path(), &["build", "--rules", "s-kalaha", "--seeds", "12"]).output().unwrap());
    for attempt in 1.. {
        assert!(attempt < 20, "the process was never killed in time");
        let mut process = frame(directory.path(), "13,6", &flags);
        while temporary(directory.path(), "s-kalaha-6-13.06.piece.").is_empty() && process.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        process.kill().unwrap();
        if !process.wait().unwrap().success() {
            break;
        }
        std::fs::remove_file(directory.path().join("s-kalaha-6-13.06.piece")).unwrap();
    }
    assert!(!directory.path().join("s-kalaha-6-13.06.piece").exists());
    assert_eq!(temporary(directory.path(), "s-kalaha-6-13.06.piece.").len(), 1);

    let others: Vec<Child> = (1..=5).map(|small| frame(directory.path(), &format!("13,{small}"), &flags)).collect();
    for other in others {
        let ran = success(other.wait_with_output().unwrap());
        assert!(stdout(&ran).contains("not finished yet"), "{}", stdout(&ran));
    }
    let ran = success(frame(directory.path(), "13,6", &flags).wait_with_output().unwrap());
    assert!(stdout(&ran).contains("the layer is finished"), "{}", stdout(&ran));
    assert_complete(directory.path(), &whole(&["--rules", "s-kalaha", "--seeds", "13"]), "killed");
}

#[test]
fn a_damaged_piece_is_told_of_and_computed_again() {
    let directory = tempfile::tempdir().unwrap();
    success(kalah(directory.path(), &["build", "--pits", "3", "--seeds", "8"]).output().unwrap());
    let compute = |name: &str| success(frame(directory.path(), name, &["--pits", "3"]).wait_with_output().unwrap());
    compute("9,2");
    let path = directory.path().join("empty-capture-3-09.02.piece");
    let sound = std::fs::read(&path).unwrap();
    let mut bytes = sound.clone();
    bytes[sound.len() / 2] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let ran = compute("9,2");
    assert!(stderr(&ran).contains("empty-capture-3-09.02.piece cannot be used"), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("computed again"), "{}", stderr(&ran));
    assert!(std::fs::read(&path).unwrap() == sound);
}

#[test]
fn a_missing_layer_below_is_told_with_the_command_that_makes_it() {
    let directory = tempfile::tempdir().unwrap();
    success(kalah(directory.path(), &["build", "--pits", "3", "--seeds", "4"]).output().unwrap());
    let ran = frame(directory.path(), "7,2", &["--pits", "3"]).wait_with_output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert!(stderr(&ran).contains("no table of 5 seeds"), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("kalah build --seeds 5 --pits 3 --tables"), "{}", stderr(&ran));
    assert!(!directory.path().join("empty-capture-3-07.02.piece").exists());
}

#[test]
fn bad_frames_are_usage_errors() {
    let directory = tempfile::tempdir().unwrap();
    for frame in ["20", "20,", ",3", "20,0", "20,20", "1,1", "49,3", "x,3", "20,x", "20,-3", "20,3,4", ""] {
        let ran = kalah(directory.path(), &["build", &format!("--frame={frame}")]).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{frame}");
    }
    for flags in [&["--seeds", "8"][..], &["--only"], &["--share"], &["--patience", "1"]] {
        let ran = kalah(directory.path(), &[&["build", "--frame", "8,3"], flags].concat()).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{flags:?}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// A PATH on which `kalah` is the program under test, after `directory`.
fn path(directory: Option<&Path>) -> std::ffi::OsString {
    let program = assert_cmd::cargo::cargo_bin("kalah").parent().unwrap().to_owned();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let all = directory.map(PathBuf::from).into_iter().chain([program]).chain(std::env::split_paths(&paths));
    std::env::join_paths(all).unwrap()
}

#[test]
fn the_commands_of_a_plan_run_layer_by_layer_make_the_build() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("a shared 'directory'");
    let tables = directory.to_str().unwrap();
    let flags = ["--pits", "3", "--seeds", "9", "--tables", tables];
    let plan = |more: &[&str]| {
        let ran = success(kalah(&directory, &[&["plan"], &flags[..], more].concat()).output().unwrap());
        assert!(!directory.exists() || !files(&directory).is_empty(), "a plan makes nothing");
        stdout(&ran)
    };
    let report: Value = serde_json::from_str(&plan(&["--json"])).unwrap();
    assert_eq!(
        (&report["layers"], &report["positions"]),
        (&8.into(), &kalah::index::cumulative_positions(3, 9).into())
    );
    let pairs = report["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 20);
    let sum = |field: &str| pairs.iter().map(|pair| pair[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("positions"), report["positions"].as_u64().unwrap());
    for pair in pairs {
        let needs: Vec<u64> = pair["needs"].as_array().unwrap().iter().map(|seeds| seeds.as_u64().unwrap()).collect();
        assert_eq!(needs, (2..pair["seeds"].as_u64().unwrap()).collect::<Vec<_>>());
    }
    let text = plan(&[]);
    assert_eq!(text.lines().count(), 1 + 20 + 2, "{text}");
    assert!(text.lines().any(|line| line.contains("4|5") && line.contains("layers 2..8")), "{text}");

    let commands = plan(&["--commands"]);
    assert_eq!(commands.lines().filter(|line| !line.starts_with('#')).count(), 20);
    let mut layers = 0;
    for layer in commands.split("# layer ").skip(1) {
        let processes: Vec<Child> = layer
            .lines()
            .skip(1)
            .map(|command| {
                let mut shell = Command::new("sh");
                shell.args(["-c", command]).env("PATH", path(None)).env_remove("KALAH_TABLES");
                shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for process in processes {
            success(process.wait_with_output().unwrap());
        }
        layers += 1;
    }
    assert_eq!(layers, 8);
    assert_complete(&directory, &whole(&["--pits", "3", "--seeds", "9"]), "commands");
    assert_eq!(plan(&["--commands"]), "");
    assert!(plan(&[]).contains("nothing is missing"));
}

/// A process of a script in `cluster/`.
fn script(name: &str, directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster").join(name));
    command.args(args).env("KALAH_TABLES", directory).env("PATH", path(None));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The arguments of shared builds that take a second or so.
const SHARED: [&str; 6] = ["--rules", "s-kalaha", "--backend", "cpu", "--patience", "2"];

#[test]
fn processes_share_a_build_also_when_one_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let mut processes: Vec<Child> = (0..4)
        .map(|rank| {
            let mut process = script("mpi.sh", directory.path(), &[&["13"], &SHARED[..]].concat());
            process.env("PMI_RANK", rank.to_string()).env("PMI_SIZE", "4").env("KALAH_THREADS", "1");
            process.spawn().unwrap()
        })
        .collect();
    // Killed while it holds a claim, so that the others have to take it over.
    let victim = processes.remove(0);
    let holds = format!("process {} on", victim.id());
    let mut victim = victim;
    let claimed = || {
        let entries = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
        entries
            .filter(|path| {
                path.to_string_lossy().ends_with(".claim") && path.to_string_lossy().contains("s-kalaha-6-1")
            })
            .find(|path| std::fs::read_to_string(path).is_ok_and(|text| text.starts_with(&holds)))
    };
    let claim = loop {
        if let Some(claim) = claimed() {
            break Some(claim);
        }
        if victim.try_wait().unwrap().is_some() {
            break None;
        }
    };
    victim.kill().unwrap();
    assert!(!victim.wait().unwrap().success(), "killed too late");
    assert!(claim.is_some());
    let mut pairs = 0;
    for process in processes {
        pairs += usize::from(!stdout(&success(process.wait_with_output().unwrap())).contains(" 0 pairs of frames"));
    }
    assert!(pairs >= 2, "the work was not shared");
    assert_complete(directory.path(), &whole(&["--rules", "s-kalaha", "--seeds", "13"]), "shared");
}

#[test]
fn an_mpi_launcher_runs_the_build() {
    let Ok(version) = Command::new("mpirun").arg("--version").output() else {
        eprintln!("skipped: no mpirun on this machine");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mpi = script("mpi.sh", directory.path(), &[]);
    let mut run = Command::new("mpirun");
    if stdout(&version).contains("Open MPI") {
        run.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    run.args(["-np", "3"]).arg(mpi.get_program()).args(["11", "--pits", "4", "--backend", "cpu", "--json"]);
    run.env("PATH", path(None)).env("KALAH_TABLES", directory.path());
    let ran = success(run.output().unwrap());
    let reports: Vec<Value> = stdout(&ran).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(reports.len(), 3, "{}", stdout(&ran));
    // Nobody died, so nothing was joined twice.
    let sum = |field: &str| reports.iter().map(|report| report[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("joined"), 10);
    assert_eq!(sum("positions"), kalah::index::cumulative_positions(4, 11));
    assert_complete(directory.path(), &whole(&["--pits", "4", "--seeds", "11"]), "mpirun");
}

#[test]
fn scripts_say_what_they_need() {
    for name in ["mpi.sh", "slurm.sh"] {
        for (tables, args) in [("/tmp", &[][..]), ("/tmp", &["many"]), ("tables", &["8"]), ("", &["8"])] {
            let ran = script(name, Path::new(tables), args).env_remove("SLURM_ARRAY_TASK_ID").output().unwrap();
            assert_eq!(ran.status.code(), Some(2), "{name} {tables} {args:?}");
            let needs = if tables == "/tmp" { "usage: " } else { "set KALAH_TABLES" };
            assert!(stderr(&ran).contains(needs), "{}", stderr(&ran));
        }
    }
}

#[test]
fn tasks_of_a_slurm_array_make_a_layer() {
    let directory = tempfile::tempdir().unwrap();
    let task = |layer: &str, index: usize| {
        let mut task = script("slurm.sh", directory.path(), &[layer, "--backend", "cpu"]);
        task.env("KALAH_PITS", "3").env("SLURM_ARRAY_TASK_ID", index.to_string()).env("SLURM_CPUS_PER_TASK", "1");
        task.spawn().unwrap()
    };
    success(task("7", 0).wait_with_output().unwrap());
    for layer in [8, 9] {
        let tasks: Vec<Child> = (1..=layer / 2).map(|index| task(&layer.to_string(), index)).collect();
        for task in tasks {
            success(task.wait_with_output().unwrap());
        }
    }
    assert_complete(directory.path(), &whole(&["--pits", "3", "--seeds", "9"]), "tasks");
    // Without the layer below a task fails, and Slurm starts nothing that depends on it.
    assert_eq!(task("11", 2).wait_with_output().unwrap().status.code(), Some(1));
}

/// A stub of `sbatch`: notes its arguments, runs the tasks of the array at once, and fails when one of them does.
const SBATCH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
echo "$@" >>"$STUB_LOG"
array= dependency=
while [[ $1 = --* ]]; do
    case $1 in
        --array=*) array=${1#*=} ;;
        --dependency=afterok:*) dependency=${1##*:} ;;
    esac
    shift
done
jobs=$(wc -l <"$STUB_LOG")
# Jobs end before the next is submitted; what is depended on must be the one before.
[[ -z $dependency || $dependency = $((jobs - 1)) ]]
for ((task = ${array%-*}; task <= ${array#*-}; task++)); do
    SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 "$@" >/dev/null &
    tasks+=($!)
done
for task in "${tasks[@]}"; do wait "$task"; done
echo "$jobs;cluster"
"#;

#[test]
fn the_slurm_script_submits_a_layer_after_the_other() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, bin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (sbatch, log) = (bin.path().join("sbatch"), bin.path().join("log"));
    std::fs::write(&sbatch, SBATCH).unwrap();
    std::fs::set_permissions(&sbatch, PermissionsExt::from_mode(0o755)).unwrap();
    let submit = |seeds: &str| {
        let _ = std::fs::remove_file(&log);
        let mut submit = script("slurm.sh", directory.path(), &[seeds, "--backend", "cpu"]);
        submit.env("PATH", path(Some(bin.path()))).env("STUB_LOG", &log).env_remove("SLURM_ARRAY_TASK_ID");
        submit.env("KALAH_PITS", "3").env("KALAH_FIRST", "6").env("KALAH_SBATCH", "--mem=1G --time=5");
        let told = stdout(&success(submit.output().unwrap()));
        (told, std::fs::read_to_string(&log).unwrap_or_default())
    };
    let (told, log) = submit("9");
    assert_eq!(told.lines().count(), 4, "{told}");
    let jobs: Vec<&str> = log.lines().collect();
    assert_eq!(jobs.len(), 4);
    for ((job, array), after) in jobs.iter().zip(["0", "1-3", "1-4", "1-4"]).zip([None, Some(1), Some(2), Some(3)]) {
        assert!(job.contains(&format!("--array={array} ")), "{job}");
        assert!(job.contains("--mem=1G --time=5 "), "{job}");
        let after = after.map(|job| format!("--dependency=afterok:{job} "));
        assert_eq!(after.is_some(), job.contains("--dependency"), "{job}");
        assert!(after.is_none_or(|after| job.contains(&after)), "{job}");
    }
    assert_complete(directory.path(), &whole(&["--pits", "3", "--seeds", "9"]), "submitted");

    // Finished layers are not submitted again.
    let (told, log) = submit("10");
    assert_eq!(log.lines().count(), 1, "{told}");
    assert!(log.contains("--array=1-5 ") && !log.contains("--dependency"), "{log}");
    assert_complete(directory.path(), &whole(&["--pits", "3", "--seeds", "10"]), "submitted again");
}

#[test]
fn an_ordinary_build_and_processes_that_share_one_meet_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let mut processes: Vec<Child> = (0..2)
        .map(|_| {
            kalah(directory.path(), &[&["build", "--seeds", "13", "--share"], &SHARED[..2]].concat()).spawn().unwrap()
        })
        .collect();
    processes.push(kalah(directory.path(), &[&["build", "--seeds", "13"], &SHARED[..2]].concat()).spawn().unwrap());
    for process in processes {
        success(process.wait_with_output().unwrap());
    }
    assert!(start.elapsed() < Duration::from_secs(25), "nobody waits for the dead");
    // Pieces that came too late are left to whoever comes next.
    success(kalah(directory.path(), &[&["build", "--seeds", "13"], &SHARED[..2]].concat()).output().unwrap());
    assert_complete(directory.path(), &whole(&["--rules", "s-kalaha", "--seeds", "13"]), "met");
}
