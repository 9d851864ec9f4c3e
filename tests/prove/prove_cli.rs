//! `kalah prove`: the behaviour that people and scripts rely on, and processes that are killed or work together.
#![cfg(all(unix, feature = "cli"))]

use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use kalah::certificate::Certificate;
use kalah::game::{Bounds, Rules};
use serde_json::Value;

use crate::certificates::check;
use kalah_tests::cluster::{script, stub_sbatch};
use kalah_tests::files::copied;
use kalah_tests::leases::kill_a_holder;
use kalah_tests::place::Place;
use kalah_tests::program::{Ran, Run};
use kalah_tests::tables::{built, opened};

/// Seeds of the largest table.
const SEEDS: usize = 8;

/// Arguments of most proofs here. Jobs are small, so that there are many.
const SMALL: &str = "4x4 --budget 2000 --effort 6 --certificate 4x4.certificate";

/// Tables and a proof of a small game.
struct Files(Place);

impl Files {
    fn new() -> Files {
        Files(Place::of(copied(built(&[(Rules::Standard, 4, SEEDS)]))))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Command that continues the proof, or begins it.
    fn prove(&self, args: &str) -> Command {
        let line = format!("prove --proof proof --rules standard --threads 1 --transpositions 1MiB {args}");
        self.0.command(line.trim_end())
    }

    fn run(&self, args: &str) -> Output {
        self.prove(args).run()
    }

    /// Runs the proof to its end, and returns the answer.
    fn answer(&self, args: &str) -> Value {
        self.run(&format!("--json {args}")).success().json()
    }

    /// Checks the certificate in a file.
    fn check(&self, name: &str) -> Certificate {
        let certificate = Certificate::read(self.0.at(name)).unwrap();
        check(&certificate, Some(&opened(Rules::Standard, 4, SEEDS))).unwrap();
        certificate
    }

    /// File of one of the jobs.
    fn job(&self) -> std::path::PathBuf {
        std::fs::read_dir(self.path().join("proof/jobs")).unwrap().next().unwrap().unwrap().path()
    }
}

/// Number of jobs of a proof, and of jobs that were split.
fn jobs(answer: &Value) -> u64 {
    answer["jobs"].as_u64().unwrap() + answer["split"].as_u64().unwrap()
}

/// Half of the memory is left for claims that are checked without searches, so fewer tables fit.
#[test]
fn the_memory_of_a_proof_includes_its_claims() {
    for (effort, seeds) in [(6, SEEDS), (0, 0)] {
        let answer = Files::new().answer(&format!("4x2 --effort {effort} --memory 40MiB"));
        assert_eq!(answer["certificate"]["table_seeds"], seeds, "{effort}");
    }
}

#[test]
fn a_proof_of_processes_that_are_killed_again_and_again_is_complete() {
    let files = Files::new();
    let mut random = fastrand::Rng::with_seed(4);
    let mut killed = 0;
    for _ in 0..60 {
        let mut process = files.prove(SMALL).spawn().unwrap();
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
    let other = Files::new();
    let (found, whole) = (files.answer(SMALL), other.answer(SMALL));
    assert_eq!((&found["known"], &found["value"]), (&"exact".into(), &whole["value"]));
    assert_eq!(files.check("4x4.certificate").head, other.check("4x4.certificate").head);
}

#[test]
fn processes_share_a_proof_also_when_one_is_killed() {
    let files = Files::new();
    let args = format!("{SMALL} --share --patience 2 --json");
    let mut processes: Vec<Child> = (0..3).map(|_| files.prove(&args).spawn().unwrap()).collect();
    // The other processes have to take over its job.
    kill_a_holder(&mut processes, &files.0.at("proof/jobs"), |_| true);
    let outputs = processes.into_iter().map(|process| process.wait_with_output().unwrap());
    let answers: Vec<Value> = outputs.map(|output| output.success().json()).collect();
    assert!(answers.iter().all(|answer| answer["ran"].as_u64() > Some(0)), "the work was not shared: {answers:?}");
    let certificate = &answers[0]["certificate"];
    assert_eq!(certificate["digest"], answers[1]["certificate"]["digest"]);
    assert_eq!(files.check("4x4.certificate").claims.len() as u64, certificate["claims"]);
    let alone = Files::new().answer(SMALL);
    assert_eq!((&alone["known"], &alone["value"]), (&"exact".into(), &answers[0]["value"]));
}

#[test]
fn what_is_wrong_is_said_with_what_is_proved() {
    let files = Files::new();
    let solve = "solve 4x2 --value-only --rules standard --json --transpositions 1MiB";
    let value = files.0.run(solve).success().json()["value"].as_i64().unwrap();
    let ran = files.run(&format!("4x2 --json --at-least {}", value + 2)).exits(3).prints("WRONG: ");
    let found = ran.json();
    assert_eq!((&found["proved"], &found["upper"]), (&false.into(), &value.into()));
    assert!(found.get("certificate").is_none());
    // The directory belongs to a different proof.
    files.run("4x2 --at-most 0").fails(1, "--proof");
    // No game ends with an odd value.
    files.0.run("prove 4x2 --value 1 --rules standard --proof odd").fails(2, "cannot be");
}

#[test]
fn a_directory_goes_on_by_itself_and_names_its_contents() {
    let files = Files::new();
    files.run("--status").fails(1, "no proof");
    files.run("").exits(2);
    let first = files.answer("4x2 --openings --budget 3000 --effort 5");
    assert!(first["openings"].as_array().unwrap().len() > 3);
    let again = files.answer("");
    for field in ["openings", "certificate"] {
        assert_eq!(again[field], first[field]);
    }
    assert_eq!(again["ran"], 0);
    // The check writes the same of them.
    let certificate = first["certificate"]["file"].as_str().unwrap();
    let checked = files.0.run(&format!("check {certificate} --json")).success().json();
    assert_eq!(checked["openings"], first["openings"]);
    assert!(first["openings"].to_string().contains("\"3-"));
    let status = files.answer("--status");
    assert_eq!((&status["openings"], &status["proved"]), (&first["openings"], &true.into()));
    assert_eq!(status["jobs"].as_array().unwrap().len() as u64, jobs(&first));
    // The contents of another job count as damage.
    let job = files.job();
    std::fs::write(&job, b"{}\n").unwrap();
    for args in ["--status", ""] {
        files.run(args).fails(3, job.file_name().unwrap().to_str().unwrap()).prints("delete");
    }
    std::fs::remove_file(&job).unwrap();
    assert_eq!(files.answer("")["openings"], first["openings"]);
}

#[test]
fn one_process_works_alone_unless_all_share() {
    let files = Files::new();
    let mut process = files.prove("4x5 --effort 4").spawn().unwrap();
    while !files.0.at("proof/jobs.lock").exists() {
        assert!(process.try_wait().unwrap().is_none(), "it ended before another one began");
    }
    let ran = files.run("4x5");
    process.kill().unwrap();
    process.wait().unwrap();
    ran.fails(1, "--share");
}

#[test]
fn the_scripts_prove_together() {
    let of_small = |files: &Files, name: &str, args: &str| {
        let mut command = script(name);
        command.args(args.split(' ')).args(SMALL.split(' ').skip(1)).current_dir(files.path());
        command.args(["--rules", "standard", "--transpositions", "1MiB", "--patience", "2", "--json"]);
        command.env("KALAH_THREADS", "1").env("KALAH_TABLES", files.path());
        command.env("KALAH_PROOF", files.0.at("proof"));
        command
    };
    let files = Files::new();
    let processes = ["0", "1"].map(|rank| {
        let mut process = of_small(&files, "prove-mpi.sh", "4x4");
        process.env("PMI_RANK", rank).env("PMI_SIZE", "2").env("MPI_LOCALNRANKS", "2").spawn().unwrap()
    });
    let answers = processes.map(|process| process.wait_with_output().unwrap().success().json());
    assert_eq!(answers[0]["certificate"], answers[1]["certificate"]);
    let first = files.check("4x4.certificate");

    let files = Files::new();
    let mut submit = of_small(&files, "prove-slurm.sh", "3 4x4");
    stub_sbatch(&mut submit, files.path());
    submit.env("KALAH_SBATCH", "--mem=1G").run().success().prints("job 30, 3 tasks");
    assert_eq!(files.check("4x4.certificate").head, first.head);

    for (name, args) in [("prove-mpi.sh", &[][..]), ("prove-slurm.sh", &["4x4"]), ("prove-slurm.sh", &["2"])] {
        script(name).args(args).run().exits(2).prints("usage");
    }
}

#[test]
fn flags_that_contradict_the_proof_are_refused_without_a_position_too() {
    let files = Files::new();
    let value = files.answer("4x2")["value"].clone();
    for other in ["--value 1", "--at-least 1", "--at-most 1", "--openings"] {
        files.run(other).fails(1, "");
    }
    assert_eq!(files.answer("")["value"], value);
    // Other rules are not taken for those of the proof, even if they are the default.
    for (rules, code) in [("--rules empty-capture", 2), ("--rules standard", 0), ("", 0)] {
        files.0.run(format!("prove --proof proof {rules}").trim_end()).exits(code);
    }
}

#[test]
fn half_written_jobs_and_old_leases_are_removed() {
    let files = Files::new();
    let first = files.answer("4x2");
    let lease = files.job().with_extension("lease");
    std::fs::write(&lease, "process 12 on a-machine, 0: 0000000003\n").unwrap();
    // Files that a killed process leaves.
    let half = files.0.at("proof/jobs/4.4.4.4_4.4.4.4-13.job.kalah-0123456789ab.tmp");
    std::fs::write(&half, "half").unwrap();
    assert_eq!(files.answer("")["certificate"], first["certificate"]);
    assert!(!half.exists() && !lease.exists());
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
    shell.env("KALAH_TABLES", directory.path()).current_dir(directory.path());
    let proved = shell.run().success().json();
    assert!(proved["certificate"]["claims"].as_u64().unwrap() > 400_000, "{proved}");
}

#[test]
fn a_full_disk_loses_no_finished_job() {
    let files = Files::new();
    // A limit on the size of files simulates a full disk: the claims of the larger jobs do not fit.
    let args = "4x4 --budget 20000 --effort 0";
    let command = files.prove(args);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 16; exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    limited.env("KALAH_TABLES", files.path()).current_dir(files.path());
    limited.run().fails(1, ".job: File too large");
    let kept = files.answer("--status")["jobs"].as_array().unwrap().len() as u64;
    assert!(kept > 0, "choose a limit that lets some jobs pass");
    let whole = files.answer(args);
    assert_eq!(whole["ran"], jobs(&whole) - kept);
    files.check("proof/standard-4.4.4.4_4.4.4.4.certificate");
}

#[test]
fn a_finished_game_has_a_value_and_no_openings() {
    let files = Files::new();
    let found = files.answer("<4,5,2,0,0,0,0,0,1,2,3> --openings --certificate over.certificate");
    // Five seeds in the store against two, plus the six that are left.
    assert_eq!(found["value"], -3);
    assert_eq!(files.check("over.certificate").head.statement.bounds.value(), Some(-3));
}

#[test]
fn a_certificate_is_made_again_with_another_effort_without_the_search() {
    let files = Files::new();
    let first = files.answer(SMALL);
    let of_six = files.check("4x4.certificate");
    // The position and rules are those of the certificate.
    let [(more, _), (fewer, nodes)] = [3, 9].map(|effort| {
        let made = format!("--effort {effort} --proof proof-{effort} --certificate {effort}.certificate");
        let command = format!("prove --from 4x4.certificate {made} --transpositions 1MiB --json");
        let found = files.0.run(&command).success().json();
        assert_eq!((&found["known"], &found["value"]), (&"exact".into(), &first["value"]));
        let Certificate { head, claims } = files.check(&format!("{effort}.certificate"));
        assert_eq!((&head.statement, &head.tables), (&of_six.head.statement, &of_six.head.tables));
        assert_eq!(head.effort, effort);
        (claims.len(), found["nodes"].as_u64().unwrap())
    });
    // With less effort, the program has to find moves that the certificate does not name.
    assert!(nodes * 10 < first["nodes"].as_u64().unwrap(), "{nodes}");
    assert!(more > of_six.claims.len() && of_six.claims.len() > fewer, "{more} {fewer}");
}

#[test]
fn a_false_certificate_does_not_lead_to_another_one() {
    let files = Files::new();
    files.answer("4x4 --effort 6 --certificate true.certificate");
    // This certificate claims that the first player wins two seeds more.
    let mut lie = Certificate::read(files.0.at("true.certificate")).unwrap();
    let (start, bounds) = (lie.head.statement.position, &mut lie.head.statement.bounds);
    (bounds.lower, bounds.upper) = (bounds.lower + 2, bounds.upper + 2);
    let known = lie.claims.remove(&start).expect("the start has a claim");
    lie.claims.add(&start, Bounds { lower: known.lower + 1, upper: known.upper + 1 }).unwrap();
    lie.write(files.0.at("false.certificate")).unwrap();
    std::fs::remove_dir_all(files.0.at("proof")).unwrap();
    files.run("--from false.certificate --effort 4").exits(3).prints("--from");
    let mut left = std::fs::read_dir(files.0.at("proof")).unwrap().map(|entry| entry.unwrap().path());
    assert!(left.all(|path| path.extension().is_none_or(|extension| extension != "certificate")));
}

#[test]
fn a_certificate_of_another_board_is_refused() {
    let files = Files::new();
    files.answer("4x2 --certificate 4x2.certificate");
    for (position, rules) in [("3x2", "standard"), ("4x2", "s-kalaha")] {
        let line = format!("prove {position} --rules {rules} --from 4x2.certificate --proof other");
        files.0.run(&line).fails(1, "a book");
    }
}
