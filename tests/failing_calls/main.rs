//! System calls that fail, one at a time or from one on, and kills in the middle of them.
//!
//! The files that a command reports as written must be right. The same command, run again, must end as usual and leave
//! no other files.
//!
//! A small library in C (`shim.c`), loaded into the program, makes the calls fail. It needs Linux and a C compiler.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), feature = "cli"))]

#[cfg(feature = "remote")]
#[allow(dead_code)]
#[path = "../remote/server.rs"]
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use kalah::certificate::{Check, CheckTally, StoredCertificate};
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah::table::Tables;
use kalah_tests::optional;
use kalah_tests::program::{self, Ran, Run};

/// Exit code of the program if the system has no filters for system calls.
const UNAVAILABLE: i32 = 77;

/// Errors with which calls fail: EIO, ENOSPC, ENOENT.
const ERRORS: [i32; 3] = [5, 28, 2];

/// Ways to fail: this call; this call and all later ones; a kill of the process at this call.
const MODES: [&str; 3] = ["once", "on", "kill"];

/// Number of faults that are tried in any case, if there are that many.
const LEAST: usize = 60;

/// Seconds for which each test tries faults. It ends sooner once it has tried all.
fn seconds() -> u64 {
    std::env::var("KALAH_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

/// Compiles the shim. Returns `None`, with a warning, if there is no C compiler that can.
fn shim(directory: &Path) -> Option<PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/failing_calls/shim.c");
    let shim = directory.join("shim.so");
    match Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(source).output() {
        Ok(output) if output.status.success() => return Some(shim),
        Ok(output) => {
            optional::skip("CC", format_args!("cc compiles no library: {}", output.stderr()));
        }
        Err(error) => optional::skip("CC", format_args!("cc cannot be started: {error}")),
    }
    None
}

/// Contents of the files in a directory, by path.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files_below(directory: &Path, top: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, top, files);
        } else {
            files.insert(path.strip_prefix(top).unwrap().to_owned(), std::fs::read(&path).unwrap());
        }
    }
}

/// A command that writes files into a directory.
struct Case<'a> {
    shim: PathBuf,
    /// Directory in which all calls count.
    work: PathBuf,
    args: Vec<String>,
    /// Contents of the directory before the command.
    before: Files,
    /// Returns true if the files are right, beyond their names. The first argument has the files after the command
    /// reported success, the second those of a run without faults.
    is_right: &'a dyn Fn(&Files, &Files) -> bool,
    /// Returns true if the name of a file may differ: jobs depend on those that were kept.
    is_free: fn(&Path) -> bool,
}

impl Case<'_> {
    fn fresh(&self) {
        let _ = std::fs::remove_dir_all(&self.work);
        std::fs::create_dir_all(&self.work).unwrap();
        for (name, bytes) in &self.before {
            std::fs::write(self.work.join(name), bytes).unwrap();
        }
    }

    fn files(&self) -> Files {
        let mut files = Files::new();
        files_below(&self.work, &self.work, &mut files);
        files
    }

    /// Runs the command. The call number `at` fails, counted from 1.
    fn run(&self, at: usize, mode: &str, error: i32, count: Option<&Path>) -> Output {
        let mut command = program::command();
        command.args(&self.args).env("LD_PRELOAD", &self.shim).env("SHIM_UNDER", &self.work);
        command.env("SHIM_AT", at.to_string()).env("SHIM_MODE", mode).env("SHIM_ERROR", error.to_string());
        command.env("SHIM_COUNT", count.unwrap_or(Path::new("")));
        command.run()
    }

    fn names(&self, files: &Files) -> BTreeSet<PathBuf> {
        files.keys().filter(|path| !(self.is_free)(path)).cloned().collect()
    }

    /// Makes calls fail until the time is up.
    fn sweep(&self) {
        self.fresh();
        let count = self.shim.with_extension("count");
        let ran = self.run(0, "", 0, Some(&count));
        if ran.status.code() == Some(UNAVAILABLE) {
            return optional::skip("SYSTEM", "there is no seccomp");
        }
        assert!(ran.status.success(), "{}", ran.stderr());
        let calls: usize = std::fs::read_to_string(&count).unwrap().trim().parse().unwrap();
        let good = self.files();
        assert!(calls > 1 && (self.is_right)(&good, &good), "{calls} calls");
        let mut faults: Vec<_> = (1..=calls).flat_map(|at| MODES.map(|mode| (at, mode))).collect();
        // The same faults in every run, from all parts of the command.
        fastrand::Rng::with_seed(8).shuffle(&mut faults);
        let end = Instant::now() + Duration::from_secs(seconds());
        for (tried, (at, mode)) in faults.into_iter().enumerate() {
            if tried >= LEAST && Instant::now() > end {
                break;
            }
            self.fails(at, mode, &good);
        }
    }

    /// Makes a call fail, and runs the command once more without a fault.
    fn fails(&self, at: usize, mode: &str, good: &Files) {
        let error = ERRORS[at % ERRORS.len()];
        self.fresh();
        let ran = self.run(at, mode, error, None);
        let context = || {
            let stderr = ran.stderr();
            format!("{:?}, call {at}, {mode}, error {error}: {}\n{stderr}", self.args, ran.status)
        };
        assert!(!ran.stderr().contains("panicked"), "{}", context());
        if ran.status.success() {
            assert!((self.is_right)(&self.files(), good), "it reports success, but files are wrong: {}", context());
        }
        // Files from before the command are still whole, or replaced by whole ones.
        for (name, bytes) in &self.before {
            let found = &self.files()[name];
            assert!(
                found == bytes || *found == good[name],
                "{name:?} is neither the old nor the new one: {}",
                context()
            );
        }
        let again = self.run(0, "", 0, None);
        let stderr = again.stderr();
        assert!(again.status.success(), "run again: {}: {stderr}\nafter {}", again.status, context());
        let files = self.files();
        assert!((self.is_right)(&files, good), "run again: something is missing or wrong after {}", context());
        assert_eq!(self.names(&files), self.names(good), "run again: after {}", context());
    }
}

/// Runs the program where all calls of a kind (`SHIM_CALLS` of the shim) fail for the files below `work`. Returns
/// `None` if the system has no filters for system calls.
fn lacking(shim: &Path, work: &Path, (calls, error): (&str, i32), args: &[&str]) -> Option<Output> {
    let mut command = program::command();
    command.args(args).current_dir(work).env("KALAH_TABLES", work).env("LD_PRELOAD", shim).env("SHIM_UNDER", work);
    command.env("SHIM_CALLS", calls).env("SHIM_ERROR", error.to_string()).env("SHIM_AT", "1").env("SHIM_MODE", "on");
    let output = command.run();
    let can_fail = output.status.code() != Some(UNAVAILABLE);
    if !can_fail {
        optional::skip("SYSTEM", "there is no seccomp");
    }
    can_fail.then_some(output)
}

/// Some file systems have no shared mappings, or none at all: ENODEV.
#[test]
fn files_that_cannot_be_mapped_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let Some(shim) = shim(directory.path()) else { return };
    let run = |work: &Path, calls: &str| {
        std::fs::create_dir(work).unwrap();
        let mut printed = Vec::new();
        for args in [
            "build --rules standard --pits 4 --seeds 9 --backend cpu --quiet",
            "verify --rules standard --pits 4",
            "verify --rules standard --pits 4 --consistency",
            "probe 1,0,2,1/0,1,0,1 --rules standard",
            "train --rules standard --pits 4 --samples 100 --solved 0 --estimated 0 --epochs 1 --output a.network",
            "bounds --rules standard --pits 4 --seeds 9 --network a.network",
            "export --rules standard --pits 4 --seeds 4 --format csv --output a.csv",
            "archive pack --rules standard --pits 4 --seeds 9",
            "solve 4x3 --rules standard --value-only --json --transpositions 1MiB --no-book",
            "prove 4x2 --rules standard --proof proof --certificate a.certificate --transpositions 1MiB",
            "check a.certificate",
        ] {
            let ran = lacking(&shim, work, (calls, 19), &args.split(' ').collect::<Vec<_>>())?;
            assert!(ran.status.success(), "{calls}: {args}: {}", ran.stderr());
            printed.push(ran.stdout);
        }
        let mut files = Files::new();
        files_below(work, work, &mut files);
        // The others have times.
        let is_fixed = |path: &Path| {
            ["kalah", "archive", "bounds", "csv"].iter().any(|&end| path.extension() == Some(end.as_ref()))
        };
        files.retain(|path, _| is_fixed(path));
        assert!(files.len() > 10, "{:?}", files.keys());
        Some((printed.swap_remove(3), files))
    };
    let Some(usual) = run(&directory.path().join("usual"), "none") else { return };
    for calls in ["shared", "mapped"] {
        assert!(run(&directory.path().join(calls), calls).unwrap() == usual, "{calls}");
    }
}

/// The same for the cache of tables at an address.
#[cfg(feature = "remote")]
#[test]
fn a_cache_that_cannot_be_mapped_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let Some(shim) = shim(directory.path()) else { return };
    let files = server::listed();
    let server = server::Server::of(files.path());
    let run = |calls: &str| {
        let cache = directory.path().join(calls);
        std::fs::create_dir(&cache).unwrap();
        let mut printed = Vec::new();
        for args in [
            "probe 1,2,1,0,1,2/0,3,0,1,1,1",
            "probe 1,2,1,0,1,2/0,3,0,1,1,1 --no-map --json",
            "verify --rules standard --pits 2",
            "solve 3,2,3,2,3,2/2,2,2,2,2,2 --value-only --json --transpositions 1MiB --threads 1 --no-book",
        ] {
            let args = format!("{args} --tables {} --cache {}", server.address, cache.display());
            let ran = lacking(&shim, &cache, (calls, 19), &args.split(' ').collect::<Vec<_>>())?;
            assert!(ran.status.success(), "{calls}: {args}: {}", String::from_utf8_lossy(&ran.stderr));
            printed.push(ran.stdout);
        }
        // Its time.
        Some(printed.drain(..2).collect::<Vec<_>>())
    };
    let Some(usual) = run("none") else { return };
    for calls in ["shared", "mapped"] {
        assert!(run(calls).unwrap() == usual, "{calls}");
    }
}

/// ENOLCK, as on NFS without its lock service, and EINVAL, as on CIFS.
#[test]
fn who_shares_needs_neither_locks_nor_synchronised_folders() {
    let directory = tempfile::tempdir().unwrap();
    let Some(shim) = shim(directory.path()) else { return };
    let build = ["build", "--rules", "standard", "--pits", "3", "--seeds", "6", "--backend", "cpu"];
    let prove = ["prove", "3x2", "--rules", "standard", "--proof", "proof", "--transpositions", "1MiB"];
    for lacks in [("lock", 37), ("folder", 22)] {
        let work = directory.path().join(lacks.0);
        std::fs::create_dir(&work).unwrap();
        for args in [&build[..], &prove] {
            if lacks.0 == "lock" {
                let Some(ran) = lacking(&shim, &work, lacks, args) else { return };
                let stderr = ran.stderr();
                assert!(ran.code() == 1 && stderr.contains("--share"), "{args:?}: {stderr}");
            }
            let Some(ran) = lacking(&shim, &work, lacks, &[args, &["--share"]].concat()) else { return };
            let stderr = ran.stderr();
            assert!(ran.status.success() && !stderr.contains("--share"), "{lacks:?} {args:?}: {stderr}");
        }
        assert!(work.join("standard-3-06.kalah").exists());
    }
}

/// Returns true if `files` has all files of `good` with this extension, unchanged.
fn are_equal(files: &Files, good: &Files, extension: &str) -> bool {
    let mut good = good.iter().filter(|(path, _)| path.extension().is_some_and(|found| found == extension)).peekable();
    good.peek().is_some() && good.all(|(path, bytes)| files.get(path) == Some(bytes))
}

fn strings(args: &[&str], paths: &[(&str, &Path)]) -> Vec<String> {
    let paths = paths.iter().flat_map(|(flag, path)| [(*flag).to_owned(), path.to_str().unwrap().to_owned()]);
    args.iter().map(|&arg| arg.to_owned()).chain(paths).collect()
}

#[test]
fn builds_end_right() {
    let directory = tempfile::tempdir().unwrap();
    let Some(shim) = shim(directory.path()) else { return };
    let work = directory.path().join("work");
    let args = ["build", "--seeds", "8", "--pits", "4", "--backend", "cpu", "--quiet"];
    let args = strings(&args, &[("--tables", &work)]);
    let is_right = |files: &Files, good: &Files| are_equal(files, good, "kalah");
    Case { shim, work, args, before: Files::new(), is_right: &is_right, is_free: |_| false }.sweep();
}

#[test]
fn exports_are_replaced_as_a_whole() {
    let directory = tempfile::tempdir().unwrap();
    let Some(shim) = shim(directory.path()) else { return };
    let (work, tables) = (directory.path().join("work"), directory.path().join("tables"));
    kalah::build::build(&tables, Rules::EmptyCapture, 3, 6).unwrap();
    let output = work.join("scores.csv");
    let args = ["export", "--seeds", "6", "--pits", "3", "--format", "csv", "--force"];
    let args = strings(&args, &[("--output", &output), ("--tables", &tables)]);
    let before = Files::from([("scores.csv".into(), b"mover1,old scores".to_vec())]);
    let is_right = |files: &Files, good: &Files| are_equal(files, good, "csv");
    Case { shim, work, args, before, is_right: &is_right, is_free: |_| false }.sweep();
}

#[test]
fn proofs_end_right() {
    let directory = tempfile::tempdir().unwrap();
    let Some(shim) = shim(directory.path()) else { return };
    let (work, tables) = (directory.path().join("work"), directory.path().join("tables"));
    kalah::build::build(&tables, Rules::Standard, 4, 8).unwrap();
    let opened = Tables::open(&tables, Rules::Standard, 4, 8).unwrap();
    let (proof, certificate) = (work.join("proof"), work.join("4x3.certificate"));
    let args = ["prove", "4x3", "--rules", "standard", "--budget", "2000", "--effort", "5", "--threads", "1"];
    let paths = [("--proof", &*proof), ("--certificate", &*certificate), ("--tables", &*tables)];
    let args = [strings(&args, &paths), strings(&["--transpositions", "1MiB"], &[])].concat();
    // Claims depend on the jobs that were kept.
    let is_right = |files: &Files, good: &Files| {
        let name = Path::new("4x3.certificate");
        let file = directory.path().join(name);
        let read = |files: &Files| {
            std::fs::write(&file, files.get(name)?).unwrap();
            StoredCertificate::open(&file).ok()
        };
        let (Some(good), Some(found)) = (read(good), read(files)) else { return false };
        let check = Check::new(&found, Some(&opened), &Pulse::default()).unwrap();
        let holds = check.statement().is_ok() && check.claims(CheckTally::default(), &Pulse::default(), None).is_ok();
        holds && found.head() == good.head()
    };
    let is_free = |path: &Path| path.extension().is_some_and(|end| end == "job");
    Case { shim, work, args, before: Files::new(), is_right: &is_right, is_free }.sweep();
}

#[test]
fn published_folders_end_right() {
    let directory = tempfile::tempdir().unwrap();
    let Some(shim) = shim(directory.path()) else { return };
    let (work, tables) = (directory.path().join("work"), directory.path().join("tables"));
    kalah::build::build(&tables, Rules::EmptyCapture, 3, 6).unwrap();
    let args = strings(&["publish", "--threads", "1"], &[("--output", &work), ("--tables", &tables)]);
    let is_right = |files: &Files, good: &Files| files == good;
    Case { shim, work, args, before: Files::new(), is_right: &is_right, is_free: |_| false }.sweep();
}
