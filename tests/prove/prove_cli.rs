//! `kalah prove`: the behaviour that people and scripts rely on, and processes that are killed or work together.
#![cfg(all(unix, feature = "cli"))]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use kalah::certificate::{Certificate, Checker};
use kalah::game::{Bounds, Rules};
use kalah::table::Tables;
use serde_json::Value;

use kalah_tests::leases::kill_a_holder;
use kalah_tests::program::{self, Ran, Run};

/// Seeds of the largest table.
const SEEDS: usize = 8;

/// Tables and a proof of a small game.
struct Files {
    directory: tempfile::TempDir,
}

impl Files {
    fn new() -> Files {
        let directory = tempfile::tempdir().unwrap();
        kalah::build::build(directory.path(), Rules::Standard, 4, SEEDS).unwrap();
        Files { directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn prove(&self, args: &[&str]) -> Command {
        let mut command = program::command();
        command.arg("prove").args(args).args(["--proof", "proof", "--rules", "standard", "--threads", "1"]);
        command.args(["--transpositions", "1MiB"]).env("KALAH_TABLES", self.path()).current_dir(self.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.prove(args).run()
    }

    /// Runs the proof to its end, and returns the answer.
    fn answer(&self, args: &[&str]) -> Value {
        answer(self.run(&[args, &["--json"]].concat()))
    }

    /// Checks the certificate in a file.
    fn check(&self, name: &str) -> Certificate {
        let certificate = Certificate::read(self.path().join(name)).unwrap();
        let Certificate { head, claims } = &certificate;
        let tables = Tables::open(self.path(), Rules::Standard, 4, SEEDS).unwrap();
        let mut checker = Checker::new(Rules::Standard, 4, Some(&tables), head.table_seeds(), head.effort).unwrap();
        for claim in claims.iter() {
            for bound in claim.parts() {
                let known = |position: &_| claims.get(position);
                let follows = bound.is_implied_by(checker.one_ply(&claim.position, &known).unwrap());
                assert!(follows || checker.searches(&claim.position, bound).unwrap(), "{claim:?}: {bound}");
            }
        }
        for goal in head.statement.goals().unwrap() {
            assert!(goal.reason(&mut checker, &|position| claims.get(position)).unwrap().is_some(), "{goal:?}");
        }
        certificate
    }
}

#[track_caller]
fn answer(output: Output) -> Value {
    let error = output.stderr();
    assert!(output.status.success(), "{}: {error}", output.status);
    output.json()
}

/// Arguments of every proof here. Jobs are small, so that there are many.
const SMALL: [&str; 7] = ["4x4", "--budget", "2000", "--effort", "6", "--certificate", "4x4.certificate"];

/// Half of the memory is left for claims that are checked without searches, so fewer tables fit.
#[test]
fn the_memory_of_a_proof_includes_its_claims() {
    let table_seeds = |effort: &str| {
        let args = ["4x2", "--effort", effort, "--memory", "40MiB"];
        Files::new().answer(&args)["certificate"]["table_seeds"].clone()
    };
    assert_eq!((table_seeds("6"), table_seeds("0")), (SEEDS.into(), 0.into()));
}

#[test]
fn a_proof_of_processes_that_are_killed_again_and_again_is_complete() {
    let files = Files::new();
    let mut random = fastrand::Rng::with_seed(4);
    let mut killed = 0;
    for _ in 0..60 {
        let mut process = files.prove(&SMALL).spawn().unwrap();
        let wait = Instant::now() + Duration::from_millis(random.u64(1..80));
        while Instant::now() < wait && process.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        if process.try_wait().unwrap().is_some() {
            break;
        }
        process.kill().unwrap();
        process.wait().unwrap();
        killed += 1;
    }
    assert!(killed > 0, "no process was killed");
    let found = files.answer(&SMALL);
    let other = Files::new();
    let whole = other.answer(&SMALL);
    assert_eq!(found["known"], "exact");
    assert_eq!(found["value"], whole["value"]);
    let certificates = [files.check("4x4.certificate"), other.check("4x4.certificate")];
    assert_eq!(certificates[0].head, certificates[1].head);
}

#[test]
fn processes_share_a_proof_also_when_one_is_killed() {
    let files = Files::new();
    let args = [&SMALL[..], &["--share", "--patience", "2", "--json"]].concat();
    let mut processes: Vec<Child> = (0..3).map(|_| files.prove(&args).spawn().unwrap()).collect();
    // The other processes have to take over its job.
    kill_a_holder(&mut processes, &files.path().join("proof/jobs"), |_| true);
    let answers: Vec<Value> =
        processes.into_iter().map(|process| answer(process.wait_with_output().unwrap())).collect();
    let ran: Vec<u64> = answers.iter().map(|answer| answer["ran"].as_u64().unwrap()).collect();
    assert!(ran.iter().all(|&ran| ran > 0), "{ran:?}: the work was not shared");
    assert_eq!(answers[0]["certificate"]["digest"], answers[1]["certificate"]["digest"]);
    let file = files.check("4x4.certificate");
    assert_eq!(Some(file.claims.len() as u64), answers[0]["certificate"]["claims"].as_u64());
    let alone = Files::new();
    let alone = alone.answer(&SMALL);
    assert_eq!((&alone["known"], &alone["value"]), (&"exact".into(), &answers[0]["value"]));
}

#[test]
fn what_is_wrong_is_said_with_what_is_proved() {
    let files = Files::new();
    let value = answer(
        program::command()
            .args(["solve", "4x2", "--value-only", "--rules", "standard", "--json", "--transpositions", "1MiB"])
            .env("KALAH_TABLES", files.path())
            .output()
            .unwrap(),
    )["value"]
        .as_i64()
        .unwrap();
    let at_least = (value + 2).to_string();
    let ran = files.run(&["4x2", "--at-least", &at_least, "--json"]).exits(3);
    let found: Value = ran.json();
    assert_eq!((found["proved"].as_bool(), found["upper"].as_i64()), (Some(false), Some(value)));
    assert!(ran.stderr().contains("WRONG: "), "{}", ran.stderr());
    assert!(found.get("certificate").is_none());
    // The directory belongs to a different proof.
    let ran = files.run(&["4x2", "--at-most", "0"]).exits(1);
    assert!(ran.stderr().contains("--proof"), "{}", ran.stderr());
    // No game ends with an odd value.
    files.run(&["4x2", "--value", "1", "--proof", "odd"]).exits(2);
}

#[test]
fn a_directory_goes_on_by_itself_and_names_its_contents() {
    let files = Files::new();
    let ran = files.run(&["--status"]).exits(1);
    assert!(ran.stderr().contains("no proof"), "{}", ran.stderr());
    files.run(&[]).exits(2);
    let first = files.answer(&["4x2", "--openings", "--budget", "3000", "--effort", "5"]);
    assert!(first["openings"].as_array().unwrap().len() > 3);
    let again = files.answer(&[]);
    assert_eq!((&again["openings"], again["ran"].as_u64()), (&first["openings"], Some(0)));
    assert_eq!(again["certificate"], first["certificate"]);
    let status = files.answer(&["--status"]);
    assert_eq!((&status["openings"], status["proved"].as_bool()), (&first["openings"], Some(true)));
    let jobs = first["jobs"].as_u64().unwrap() + first["split"].as_u64().unwrap();
    assert_eq!(status["jobs"].as_array().unwrap().len() as u64, jobs);
    // The contents of another job count as damage.
    let job = std::fs::read_dir(files.path().join("proof/jobs")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&job, b"{}\n").unwrap();
    for args in [&["--status"][..], &[]] {
        let ran = files.run(args).exits(3);
        let error = ran.stderr();
        assert!(error.contains(job.file_name().unwrap().to_str().unwrap()) && error.contains("delete"), "{error}");
    }
    std::fs::remove_file(&job).unwrap();
    assert_eq!(files.answer(&[])["openings"], first["openings"]);
}

#[test]
fn one_process_works_alone_unless_all_share() {
    let files = Files::new();
    let mut process = files.prove(&["4x5", "--effort", "4"]).spawn().unwrap();
    while !files.path().join("proof/jobs.lock").exists() {
        assert!(process.try_wait().unwrap().is_none(), "it ended before another one began");
    }
    let ran = files.run(&["4x5"]);
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(ran.code(), 1);
    assert!(ran.stderr().contains("--share"), "{}", ran.stderr());
}

/// Command that runs a script in `cluster/` on the proof of [`SMALL`].
fn script(files: &Files, name: &str, args: &[&str]) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster").join(name));
    let program = program::path();
    command.args(args).args(["--rules", "standard", "--transpositions", "1MiB", "--patience", "2", "--json"]);
    command.args(&SMALL[1..]).current_dir(files.path()).env("KALAH", program).env("KALAH_THREADS", "1");
    command.env("KALAH_TABLES", files.path()).env("KALAH_PROOF", files.path().join("proof"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Stub of `sbatch`: runs the tasks of the array at once, in the background.
const SBATCH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
while [[ $1 = --* ]]; do
    case $1 in --array=*) array=${1#*=} ;; esac
    shift
done
for ((task = ${array%-*}; task <= ${array#*-}; task++)); do
    SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 SLURM_MEM_PER_NODE=400 "$@" >"task$task.json" &
    tasks+=($!)
done
for task in "${tasks[@]}"; do wait "$task"; done
echo "31;cluster"
"#;

#[test]
fn the_scripts_prove_together() {
    use std::os::unix::fs::PermissionsExt;
    let files = Files::new();
    let start = |rank: &str| {
        let mut process = script(&files, "prove-mpi.sh", &["4x4"]);
        process.env("PMI_RANK", rank).env("PMI_SIZE", "2").env("MPI_LOCALNRANKS", "2").spawn().unwrap()
    };
    let processes = [start("0"), start("1")];
    let answers = processes.map(|process| answer(process.wait_with_output().unwrap()));
    assert_eq!(answers[0]["certificate"], answers[1]["certificate"]);
    let first = files.check("4x4.certificate");

    let files = Files::new();
    let sbatch = files.path().join("sbatch");
    std::fs::write(&sbatch, SBATCH).unwrap();
    std::fs::set_permissions(&sbatch, PermissionsExt::from_mode(0o755)).unwrap();
    let paths = std::env::var_os("PATH").unwrap();
    let paths = std::env::join_paths([files.path().to_owned()].into_iter().chain(std::env::split_paths(&paths)));
    let mut submit = script(&files, "prove-slurm.sh", &["3", "4x4"]);
    let ran = submit.env("PATH", paths.unwrap()).env("KALAH_SBATCH", "--mem=1G").run().success();
    assert!(ran.stdout().contains("job 31, 3 tasks"));
    let second = files.check("4x4.certificate");
    assert_eq!(first.head, second.head);

    for (name, args) in [("prove-mpi.sh", &[][..]), ("prove-slurm.sh", &["4x4"]), ("prove-slurm.sh", &["2"])] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster").join(name);
        let ran = Command::new(path).args(args).run().exits(2);
        assert!(ran.stderr().contains("usage"), "{name}: {}", ran.stderr());
    }
}

#[test]
fn flags_that_contradict_the_proof_are_refused_without_a_position_too() {
    let files = Files::new();
    let value = files.answer(&["4x2"])["value"].as_i64().unwrap();
    for other in [["--value", "1"], ["--at-least", "1"], ["--at-most", "1"]] {
        let refused = files.run(&other).exits(1);
        assert!(refused.stdout.is_empty(), "{other:?}");
    }
    assert_eq!(files.run(&["--openings"]).status.code(), Some(1));
    assert_eq!(files.answer(&[])["value"].as_i64(), Some(value));
    // Other rules are not taken for those of the proof, even if they are the default.
    for (rules, code) in [(Some("empty-capture"), 2), (Some("standard"), 0), (None, 0)] {
        let mut command = program::command();
        command.args(["prove", "--proof", "proof"]).env("KALAH_TABLES", files.path()).current_dir(files.path());
        command.args(rules.into_iter().flat_map(|rules| ["--rules", rules]));
        command.run().exits(code);
    }
}

#[test]
fn half_written_jobs_and_old_leases_are_removed() {
    let files = Files::new();
    let first = files.answer(&["4x2"]);
    let jobs = files.path().join("proof/jobs");
    let job = std::fs::read_dir(&jobs).unwrap().next().unwrap().unwrap().path();
    std::fs::write(job.with_extension("lease"), "process 12 on a-machine, 0: 0000000003\n").unwrap();
    // Files that a killed process leaves.
    let half = jobs.join("4.4.4.4_4.4.4.4-13.job.kalah-0123456789ab.tmp");
    std::fs::write(&half, "half").unwrap();
    assert_eq!(files.answer(&[])["certificate"], first["certificate"]);
    assert!(!half.exists() && !job.with_extension("lease").exists());
}

/// Its 477,000 claims take most of the memory.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "slow"]
fn a_proof_without_searches_keeps_to_its_memory() {
    let directory = tempfile::tempdir().unwrap();
    let prove = "prove 5x4 --effort 0 --memory 64MiB --threads 1 --proof proof --json";
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit -d 65536 && exec {} {prove}", env!("CARGO_BIN_EXE_kalah")));
    let proved = answer(shell.env("KALAH_TABLES", directory.path()).current_dir(directory.path()).run());
    assert!(proved["certificate"]["claims"].as_u64().unwrap() > 400_000, "{proved}");
}

#[test]
fn a_full_disk_loses_no_finished_job() {
    let files = Files::new();
    // A limit on the size of files simulates a full disk: the claims of the larger jobs do not fit.
    let args = ["4x4", "--budget", "20000", "--effort", "0"];
    let command = files.prove(&args);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 16; exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    limited.env("KALAH_TABLES", files.path()).current_dir(files.path());
    let ran = limited.run().exits(1);
    assert!(ran.stderr().contains(".job: File too large"), "{}", ran.stderr());
    let kept = files.answer(&["--status"])["jobs"].as_array().unwrap().len() as u64;
    assert!(kept > 0, "choose a limit that lets some jobs pass");
    let whole = files.answer(&args);
    let jobs = whole["jobs"].as_u64().unwrap() + whole["split"].as_u64().unwrap();
    assert_eq!(whole["ran"].as_u64(), Some(jobs - kept));
    files.check("proof/standard-4.4.4.4_4.4.4.4.certificate");
}

#[test]
fn a_finished_game_has_a_value_and_no_openings() {
    let files = Files::new();
    let found = files.answer(&["<4,5,2,0,0,0,0,0,1,2,3>", "--openings", "--certificate", "over.certificate"]);
    // Five seeds in the store against two, plus the six that are left.
    assert_eq!(found["value"], -3);
    assert_eq!(files.check("over.certificate").head.statement.bounds.value(), Some(-3));
}

#[test]
fn a_certificate_is_made_again_with_another_effort_without_the_search() {
    let files = Files::new();
    let first = files.answer(&[&SMALL[..5], &["--certificate", "6.certificate"]].concat());
    let of_six = files.check("6.certificate");
    let (mut claims, mut nodes) = (Vec::new(), Vec::new());
    for effort in ["3", "9"] {
        let (proof, name) = (format!("proof-{effort}"), format!("{effort}.certificate"));
        let mut command = program::command();
        // The position and rules are those of the certificate.
        command.args([
            "prove",
            "--from",
            "6.certificate",
            "--effort",
            effort,
            "--proof",
            &proof,
            "--certificate",
            &name,
        ]);
        command.args(["--transpositions", "1MiB", "--json"]).env("KALAH_TABLES", files.path());
        let found = answer(command.current_dir(files.path()).run());
        assert_eq!((&found["known"], &found["value"]), (&"exact".into(), &first["value"]));
        let made = files.check(&name);
        assert_eq!(made.head.statement, of_six.head.statement);
        assert_eq!((made.head.effort.to_string(), &made.head.tables), (effort.to_owned(), &of_six.head.tables));
        claims.push(made.claims.len());
        nodes.push(found["nodes"].as_u64().unwrap());
    }
    // With less effort, the program has to find moves that the certificate does not name.
    assert!(nodes[1] * 10 < first["nodes"].as_u64().unwrap(), "{nodes:?}");
    assert!(claims[0] > of_six.claims.len() && of_six.claims.len() > claims[1], "{claims:?}");
}

#[test]
fn a_false_certificate_does_not_lead_to_another_one() {
    let files = Files::new();
    files.answer(&["4x4", "--effort", "6", "--certificate", "true.certificate"]);
    // This certificate claims that the first player wins two seeds more.
    let mut lie = Certificate::read(files.path().join("true.certificate")).unwrap();
    let (start, bounds) = (lie.head.statement.position, &mut lie.head.statement.bounds);
    (bounds.lower, bounds.upper) = (bounds.lower + 2, bounds.upper + 2);
    let known = lie.claims.remove(&start).expect("the start has a claim");
    let raised = Bounds { lower: known.lower + 1, upper: known.upper + 1 };
    lie.claims.add(&start, raised).unwrap();
    lie.write(files.path().join("false.certificate")).unwrap();
    std::fs::remove_dir_all(files.path().join("proof")).unwrap();
    let ran = files.run(&["--from", "false.certificate", "--effort", "4"]).exits(3);
    assert!(ran.stderr().contains("--from"), "{}", ran.stderr());
    assert!(
        !std::fs::read_dir(files.path().join("proof"))
            .unwrap()
            .any(|entry| { entry.unwrap().path().extension().is_some_and(|extension| extension == "certificate") })
    );
}

#[test]
fn a_certificate_of_another_board_is_refused() {
    let files = Files::new();
    files.answer(&["4x2", "--certificate", "4x2.certificate"]);
    for (position, rules) in [("3x2", "standard"), ("4x2", "s-kalaha")] {
        let mut command = program::command();
        command.args(["prove", position, "--rules", rules, "--from", "4x2.certificate", "--proof", "other"]);
        let ran = command.env("KALAH_TABLES", files.path()).current_dir(files.path()).run().exits(1);
        assert!(ran.stderr().contains("a book"), "{}", ran.stderr());
    }
    files.run(&["--from", "absent.certificate"]).exits(1);
}
