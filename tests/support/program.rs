//! The program in a process of its own, and its output as text.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Time after which a run is killed: more than any takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(1800);

/// File of the program. Cargo compiles it for every test program, into the folder above the tests' own.
///
/// # Panics
/// If it is not there.
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("a path of this test");
    let folder = test.parent().and_then(Path::parent).expect("a folder of builds");
    let path = folder.join(format!("kalah{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is missing: `cargo build` makes it", path.display());
    path
}

/// Command that runs the program without tables and other settings from the environment.
pub fn command() -> Command {
    without_settings(path())
}

/// Command that runs the program with the words of a line, and with its tables in a directory.
pub fn with_tables(directory: &Path, line: &str) -> Command {
    let mut command = command();
    command.env("KALAH_TABLES", directory).args(line.split(' '));
    command
}

/// Command that runs any program without settings of kalah, and without proxies, from the environment.
pub fn without_settings(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_uppercase();
        if text.starts_with("KALAH_") || text.ends_with("_PROXY") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Search path with the folder of the program in front.
pub fn search_path() -> std::ffi::OsString {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let folders = path().parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&paths));
    std::env::join_paths(folders).expect("folders without separators")
}

/// Runs of a command to its end.
pub trait Run {
    /// Runs the command to its end.
    fn run(&mut self) -> Output {
        self.run_with("")
    }

    /// Runs the command with this input.
    fn run_with(&mut self, input: impl AsRef<[u8]>) -> Output {
        self.run_within(PATIENCE, input)
    }

    /// Runs the command with this input. It is killed when the time is over.
    fn run_within(&mut self, time: Duration, input: impl AsRef<[u8]>) -> Output;
}

impl Run for Command {
    fn run_within(&mut self, time: Duration, input: impl AsRef<[u8]>) -> Output {
        self.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The harness shows this if the test fails.
        eprintln!("$ {self:?}");
        let mut child = self.spawn().unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let (id, mut stdin, input) = (child.id(), child.stdin.take().expect("a pipe"), input.as_ref());
        let (done, is_done) = channel::<()>();
        std::thread::scope(|scope| {
            // A program need not read its input to the end.
            scope.spawn(move || _ = stdin.write_all(input));
            scope.spawn(move || {
                if is_done.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                    kill(id);
                }
            });
            let output = child.wait_with_output().expect("its output");
            drop(done);
            output
        })
    }
}

/// Asks again and again until there is an answer.
///
/// # Panics
/// After a minute, with these words.
#[track_caller]
pub fn within_a_minute<T>(otherwise: &str, mut answer: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(answer) = answer() {
            return answer;
        }
        assert!(Instant::now() < end, "{otherwise} for a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills a process. Elsewhere than on Unix, it goes on.
fn kill(id: u32) {
    #[cfg(unix)]
    let _ = rustix::process::Pid::from_raw(id as i32)
        .map(|id| rustix::process::kill_process(id, rustix::process::Signal::KILL));
    #[cfg(not(unix))]
    let _ = id;
}

/// The end of a run, and its output.
pub trait Ran: Sized {
    /// The exit code; -1 after a signal.
    fn code(&self) -> i32;

    /// Standard output.
    fn stdout(&self) -> String;

    /// Messages.
    fn stderr(&self) -> String;

    /// Returns the run, which must have this exit code.
    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "{}", self.all());
        self
    }

    /// Returns the run, which must have succeeded.
    #[track_caller]
    fn success(self) -> Self {
        self.exits(0)
    }

    /// Standard output of a run that must have succeeded.
    #[track_caller]
    fn printed(&self) -> String {
        assert_eq!(self.code(), 0, "{}", self.all());
        self.stdout()
    }

    /// Returns the run, which must have printed this.
    #[track_caller]
    fn prints(self, text: &str) -> Self {
        let all = self.all();
        assert!(all.contains(text), "no '{text}' in\n{all}");
        self
    }

    /// Returns the run, which must not have printed this.
    #[track_caller]
    fn does_not_print(self, text: &str) -> Self {
        let all = self.all();
        assert!(!all.contains(text), "'{text}' in\n{all}");
        self
    }

    /// Returns the run, which must have failed with this exit code and message, and printed no answer.
    #[track_caller]
    fn fails(self, code: i32, message: &str) -> Self {
        let said = self.stdout().is_empty() && self.stderr().contains(message);
        assert!(said && self.code() == code, "no '{message}' with {code}, but {}:\n{}", self.code(), self.all());
        self
    }

    /// Standard output and messages.
    fn all(&self) -> String {
        self.stdout() + &self.stderr()
    }

    /// Exit code, standard output, and messages.
    fn parts(&self) -> (i32, String, String) {
        (self.code(), self.stdout(), self.stderr())
    }

    /// Standard output, which must be one JSON document.
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout()).unwrap_or_else(|error| panic!("{error}: {}", self.all()))
    }

    /// Standard output, with a JSON document on each line.
    #[track_caller]
    fn json_lines(&self) -> Vec<Value> {
        let text = self.stdout();
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    }
}

impl Ran for Output {
    fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    #[track_caller]
    fn stdout(&self) -> String {
        String::from_utf8(self.stdout.clone()).expect("the output is text")
    }

    #[track_caller]
    fn stderr(&self) -> String {
        String::from_utf8(self.stderr.clone()).expect("messages are text")
    }
}
