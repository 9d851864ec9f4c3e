//! System calls that fail, one at a time or from one on, and kills in the middle of them.
//!
//! The files that a command reports as written must be right. The same command, run again, must end as usual and leave
//! no other files.
//!
//! A small library in C (`shim.c`), loaded into the program, makes the calls fail. It needs Linux and a C compiler.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), feature = "cli"))]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use kalah::certificate::{Check, CheckTally, StoredCertificate};
use kalah::game::Rules;
use kalah::progress::Pulse;
use kalah_tests::optional;
use kalah_tests::program::{self, Ran, Run};
use kalah_tests::tables::{built, opened};
use tempfile::TempDir;

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

/// The shim in a directory of its own.
struct Shim(TempDir);

impl Shim {
    /// Compiles the shim. Returns `None`, with a warning, if there is no C compiler that can.
    fn compiled() -> Option<Shim> {
        let shim = Shim(tempfile::tempdir().unwrap());
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/failing_calls/shim.c");
        match Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(shim.path("shim.so")).arg(source).output()
        {
            Ok(output) if output.status.success() => return Some(shim),
            Ok(output) => optional::skip("CC", format_args!("cc compiles no library: {}", output.stderr())),
            Err(error) => optional::skip("CC", format_args!("cc cannot be started: {error}")),
        }
        None
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the program with these variables of the shim, which counts calls for files below `work`. Returns `None` if
    /// the system has no filters for system calls.
    fn run(&self, work: &Path, line: &str, variables: &[(&str, &str)]) -> Option<Output> {
        let mut command = program::with_tables(work, line);
        command.current_dir(work).env("LD_PRELOAD", self.path("shim.so")).env("SHIM_UNDER", work);
        let output = command.envs(variables.iter().copied()).run();
        let can_fail = output.code() != UNAVAILABLE;
        if !can_fail {
            optional::skip("SYSTEM", "there is no seccomp");
        }
        can_fail.then_some(output)
    }

    /// Runs the program where all calls of a kind (`SHIM_CALLS` of the shim) fail.
    fn run_without(&self, work: &Path, line: &str, calls: &str, error: &str) -> Option<Output> {
        let variables = [("SHIM_CALLS", calls), ("SHIM_ERROR", error), ("SHIM_AT", "1"), ("SHIM_MODE", "on")];
        self.run(work, line, &variables)
    }
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

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    extensions.iter().any(|&extension| path.extension() == Some(extension.as_ref()))
}

/// A command that writes files into a directory.
struct Case<'a> {
    shim: &'a Shim,
    /// Directory in which all calls count.
    work: PathBuf,
    line: String,
    /// Contents of the directory before the command.
    before: Files,
    /// Returns true if the files are right, beyond their names. The first argument has the files after the command
    /// reported success, the second those of a run without faults.
    is_right: &'a dyn Fn(&Files, &Files) -> bool,
    /// Extension of files whose names may differ: jobs depend on those that were kept.
    free: &'a str,
}

impl<'a> Case<'a> {
    /// In the line, `{}` stands for the directory.
    fn new(shim: &'a Shim, line: &str, is_right: &'a dyn Fn(&Files, &Files) -> bool) -> Case<'a> {
        let work = shim.path("work");
        let line = line.replace("{}", work.to_str().unwrap());
        Case { shim, work, line, before: Files::new(), is_right, free: "" }
    }

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

    fn names(&self, files: &Files) -> BTreeSet<PathBuf> {
        files.keys().filter(|path| !has_extension(path, &[self.free])).cloned().collect()
    }

    /// Makes calls fail until the time is up.
    fn sweep(&self) {
        self.fresh();
        let count = self.shim.path("count");
        let Some(ran) = self.shim.run(&self.work, &self.line, &[("SHIM_COUNT", count.to_str().unwrap())]) else {
            return;
        };
        ran.success();
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

    /// Makes the call with this number fail, counted from 1, and runs the command once more without a fault.
    fn fails(&self, at: usize, mode: &str, good: &Files) {
        let error = ERRORS[at % ERRORS.len()];
        self.fresh();
        let variables = [("SHIM_AT", &*at.to_string()), ("SHIM_MODE", mode), ("SHIM_ERROR", &error.to_string())];
        let ran = self.shim.run(&self.work, &self.line, &variables).expect("the system has filters");
        let context = format!("{}, call {at}, {mode}, error {error}: {}\n{}", self.line, ran.status, ran.stderr());
        assert!(!ran.stderr().contains("panicked"), "{context}");
        let files = self.files();
        if ran.status.success() {
            assert!((self.is_right)(&files, good), "it reports success, but files are wrong: {context}");
        }
        // Files from before the command are still whole, or replaced by whole ones.
        for (name, bytes) in &self.before {
            let is_whole = files[name] == *bytes || files[name] == good[name];
            assert!(is_whole, "{name:?} is neither the old nor the new one: {context}");
        }
        let again = self.shim.run(&self.work, &self.line, &[]).expect("the system has filters");
        assert!(again.status.success(), "run again: {}: {}\nafter {context}", again.status, again.stderr());
        let files = self.files();
        assert!((self.is_right)(&files, good), "run again: something is missing or wrong after {context}");
        assert_eq!(self.names(&files), self.names(good), "run again: after {context}");
    }
}

/// Some file systems have no shared mappings, or none at all: ENODEV.
#[test]
fn files_that_cannot_be_mapped_are_read() {
    let Some(shim) = Shim::compiled() else { return };
    let run = |calls: &str| {
        let work = shim.path(calls);
        std::fs::create_dir(&work).unwrap();
        let mut printed = Vec::new();
        for line in [
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
            printed.push(shim.run_without(&work, line, calls, "19")?.success().stdout);
        }
        let mut files = Files::new();
        files_below(&work, &work, &mut files);
        // The others have times.
        files.retain(|path, _| has_extension(path, &["kalah", "archive", "bounds", "csv"]));
        assert!(files.len() > 10, "{:?}", files.keys());
        Some((printed.swap_remove(3), files))
    };
    let Some(usual) = run("none") else { return };
    for calls in ["shared", "mapped"] {
        assert!(run(calls).unwrap() == usual, "{calls}");
    }
}

/// The same for the cache of tables at an address.
#[cfg(feature = "remote")]
#[test]
fn a_cache_that_cannot_be_mapped_is_read() {
    let Some(shim) = Shim::compiled() else { return };
    let tables = kalah_tests::files::copied(built(&[(Rules::EmptyCapture, 6, 13), (Rules::Standard, 2, 6)]));
    let manifest = program::with_tables(tables.path(), "info --manifest").run().printed();
    std::fs::write(tables.path().join("manifest.jsonl"), manifest).unwrap();
    let host = kalah_tests::host::Host::new(tables.path(), "/tables");
    let run = |calls: &str| {
        let cache = shim.path(calls);
        std::fs::create_dir(&cache).unwrap();
        let mut printed = Vec::new();
        for line in [
            "probe 1,2,1,0,1,2/0,3,0,1,1,1",
            "probe 1,2,1,0,1,2/0,3,0,1,1,1 --no-map --json",
            "verify --rules standard --pits 2",
            "solve 3,2,3,2,3,2/2,2,2,2,2,2 --value-only --json --transpositions 1MiB --threads 1 --no-book",
        ] {
            let line = format!("{line} --tables {} --cache {}", host.address, cache.display());
            printed.push(shim.run_without(&cache, &line, calls, "19")?.success().stdout);
        }
        // The others print times.
        printed.truncate(2);
        Some(printed)
    };
    let Some(usual) = run("none") else { return };
    for calls in ["shared", "mapped"] {
        assert!(run(calls).unwrap() == usual, "{calls}");
    }
}

/// ENOLCK, as on NFS without its lock service, and EINVAL, as on CIFS.
#[test]
fn who_shares_needs_neither_locks_nor_synchronised_folders() {
    let Some(shim) = Shim::compiled() else { return };
    for (lacks, error) in [("lock", "37"), ("folder", "22")] {
        let work = shim.path(lacks);
        std::fs::create_dir(&work).unwrap();
        for line in [
            "build --rules standard --pits 3 --seeds 6 --backend cpu",
            "prove 3x2 --rules standard --proof proof --transpositions 1MiB",
        ] {
            if lacks == "lock" {
                let Some(ran) = shim.run_without(&work, line, lacks, error) else { return };
                assert!(ran.exits(1).stderr().contains("--share"), "{line}");
            }
            let Some(ran) = shim.run_without(&work, &format!("{line} --share"), lacks, error) else { return };
            assert!(!ran.success().stderr().contains("--share"), "{lacks}: {line}");
        }
        assert!(work.join("standard-3-06.kalah").exists());
    }
}

/// Returns true if `files` has all files of `good` with this extension, unchanged.
fn are_equal(files: &Files, good: &Files, extension: &str) -> bool {
    let mut good = good.iter().filter(|(path, _)| has_extension(path, &[extension])).peekable();
    good.peek().is_some() && good.all(|(path, bytes)| files.get(path) == Some(bytes))
}

#[test]
fn builds_end_right() {
    let Some(shim) = Shim::compiled() else { return };
    let line = "build --seeds 8 --pits 4 --backend cpu --quiet --tables {}";
    Case::new(&shim, line, &|files, good| are_equal(files, good, "kalah")).sweep();
}

#[test]
fn exports_are_replaced_as_a_whole() {
    let Some(shim) = Shim::compiled() else { return };
    let tables = built(&[(Rules::EmptyCapture, 3, 6)]).display();
    let line = format!("export --seeds 6 --pits 3 --format csv --force --output {{}}/scores.csv --tables {tables}");
    let before = Files::from([("scores.csv".into(), b"mover1,old scores".to_vec())]);
    Case { before, ..Case::new(&shim, &line, &|files, good| are_equal(files, good, "csv")) }.sweep();
}

#[test]
fn proofs_end_right() {
    let Some(shim) = Shim::compiled() else { return };
    let (tables, opened) = (built(&[(Rules::Standard, 4, 8)]).display(), opened(Rules::Standard, 4, 8));
    let line = format!(
        "prove 4x3 --rules standard --budget 2000 --effort 5 --threads 1 --proof {{}}/proof \
         --certificate {{}}/4x3.certificate --tables {tables} --transpositions 1MiB"
    );
    // Claims depend on the jobs that were kept.
    let is_right = |files: &Files, good: &Files| {
        let (name, file) = (Path::new("4x3.certificate"), shim.path("4x3.certificate"));
        let read = |files: &Files| {
            std::fs::write(&file, files.get(name)?).unwrap();
            StoredCertificate::open(&file).ok()
        };
        let (Some(good), Some(found)) = (read(good), read(files)) else { return false };
        let check = Check::new(&found, Some(&opened), &Pulse::default()).unwrap();
        let holds = check.statement().is_ok() && check.claims(CheckTally::default(), &Pulse::default(), None).is_ok();
        holds && found.head() == good.head()
    };
    Case { free: "job", ..Case::new(&shim, &line, &is_right) }.sweep();
}

#[test]
fn published_folders_end_right() {
    let Some(shim) = Shim::compiled() else { return };
    let tables = built(&[(Rules::EmptyCapture, 3, 6)]).display();
    let line = format!("publish --threads 1 --output {{}} --tables {tables}");
    Case::new(&shim, &line, &|files, good| files == good).sweep();
}
