//! Command lines of engines, and their processes. Each process has a group of its own. So Ctrl-C in a terminal does
//! not reach it, and the processes that it starts are killed with it.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::MAX_LINE;
use crate::play::LastLines;

/// Maximum lines of an engine that wait to be read; then the engine waits.
const MAX_WAITING: usize = 64;

/// Time after which an engine is killed if it does not end after `quit`, or after it closed its output.
const END_TIME: Duration = Duration::from_millis(200);

/// Bytes of an engine's standard error that are kept, the last ones.
const KEPT_ERRORS: usize = 4096;

/// Interval between checks that a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The command line of an external engine: a program and its arguments, split at spaces. Quotes and backslashes
/// keep words together as in a POSIX shell. No shell runs, so nothing is expanded.
///
/// ```
/// # use kalah_play::play::engine::EngineCommand;
/// let command: EngineCommand = "python3 'my engine.py' --depth 3".parse().unwrap();
/// assert_eq!(command.program, "python3");
/// assert_eq!(command.arguments, ["my engine.py", "--depth", "3"]);
/// assert_eq!(command.to_string(), "python3 'my engine.py' --depth 3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EngineCommand {
    text: String,
    /// The program: a path, or a name that is searched for in PATH.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl FromStr for EngineCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineCommand, String> {
        let mut words = shlex::split(text).unwrap_or_default().into_iter();
        let program = words.next().filter(|program| !program.is_empty() && !text.contains('\0'));
        let program = program.ok_or_else(|| {
            format!("'{text}' is not a command line: give a program and its arguments, and close every quote")
        })?;
        Ok(EngineCommand { text: text.trim().to_owned(), program, arguments: words.collect() })
    }
}

impl fmt::Display for EngineCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An engine's process. It is ended and reaped when dropped.
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    heard: Receiver<Result<String, String>>,
    errors: Errors,
    /// True if it may be asked to quit, rather than killed at once.
    sound: bool,
}

/// Standard error of an engine.
struct Errors {
    /// Its last bytes.
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Disconnected when all processes have closed it.
    closed: Receiver<()>,
}

impl Errors {
    /// Keeps the last bytes of `stderr`, on a thread that ends with it.
    fn of(mut stderr: ChildStderr) -> io::Result<Errors> {
        let (kept, (open, closed)) = (Arc::<Mutex<VecDeque<u8>>>::default(), sync_channel(0));
        let bytes = Arc::clone(&kept);
        thread::Builder::new().spawn(move || {
            let mut read = [0; 1024];
            while let Ok(count @ 1..) = stderr.read(&mut read) {
                let mut kept = bytes.lock();
                kept.extend(&read[..count]);
                let excess = kept.len().saturating_sub(KEPT_ERRORS);
                kept.drain(..excess);
            }
            drop(open);
        })?;
        Ok(Errors { kept, closed })
    }

    /// The last lines. A process that left the group may keep the pipe open, so the wait for its end is short.
    fn last_lines(&self) -> LastLines {
        let _ = self.closed.recv_timeout(END_TIME);
        LastLines::of(&String::from_utf8_lossy(self.kept.lock().make_contiguous()))
    }
}

impl Process {
    /// Starts the program of a command line.
    pub(super) fn start(command: &EngineCommand) -> Result<Process, String> {
        let fault = |error: io::Error| format!("cannot be started: {error}");
        let mut process = Command::new(&command.program);
        process.args(&command.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawn(&mut process).map_err(fault)?;
        let (input, output) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
        let errors = Errors::of(child.stderr.take().expect("it is piped")).map_err(fault)?;
        let (sender, heard) = sync_channel(MAX_WAITING);
        let process = Process { child, input, heard, errors, sound: true };
        // An engine that does not read must not block us.
        #[cfg(unix)]
        rustix::io::ioctl_fionbio(&process.input, true).map_err(|error| fault(error.into()))?;
        // It ends with the output. If a process that left the group keeps the output open, the thread waits for
        // it, but nothing waits for the thread.
        thread::Builder::new().spawn(move || read_lines(output, &sender)).map_err(fault)?;
        Ok(process)
    }

    /// Sends a line.
    pub(super) fn say(&mut self, line: fmt::Arguments<'_>) -> Result<(), String> {
        let line = format!("{line}\n");
        // A pipe accepts a line of less than 4 KiB entirely or not at all.
        match self.input.write(line.as_bytes()) {
            Ok(written) if written == line.len() => Ok(()),
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(self.ended()),
            _ => Err("does not read its input".to_owned()),
        }
    }

    /// The next line, if one comes within `time`.
    pub(super) fn hear(&mut self, time: Duration) -> Result<Option<String>, String> {
        match self.heard.recv_timeout(time) {
            Ok(heard) => heard.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// Kills the process, which has a fault. Returns the last lines of its standard error.
    pub(super) fn kill(mut self) -> LastLines {
        self.sound = false;
        end(&mut self.child);
        self.errors.last_lines()
    }

    /// The fault of a process that ended or closed a pipe.
    fn ended(&mut self) -> String {
        let ended = self.ends_in_time();
        let status = end(&mut self.child).filter(|_| ended);
        let status = status.map_or_else(|| "it closed its input or output".to_owned(), |status| status.to_string());
        format!("ended before the game was over ({status})")
    }

    /// Returns true if the process ends by itself in time.
    fn ends_in_time(&self) -> bool {
        let until = Instant::now() + END_TIME;
        while !has_ended(&self.child) {
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(LOOK_EVERY);
        }
        true
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.sound && self.say(format_args!("quit")).is_ok() {
            self.ends_in_time();
        }
        end(&mut self.child);
    }
}

/// Forwards the lines of an engine until its output ends, a line is too long, or the receiver is gone.
fn read_lines(output: ChildStdout, sender: &SyncSender<Result<String, String>>) {
    let (mut reader, mut line) = (BufReader::new(output), Vec::new());
    while reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let is_long = line.len() > MAX_LINE && !line.ends_with(b"\n");
        let heard = (!is_long).then(|| String::from_utf8_lossy(&line).trim().to_owned());
        if sender.send(heard.ok_or_else(|| format!("sent a line of more than {MAX_LINE} bytes"))).is_err() || is_long {
            return;
        }
        line.clear();
    }
}

/// The process ids of engines that were started and not yet reaped, which are also those of their groups; `None` if
/// no more may be started.
static RUNNING: Mutex<Option<Vec<u32>>> = Mutex::new(Some(Vec::new()));

/// Kills and reaps all external engines of this process, and prevents further starts. For a program that is
/// about to exit without dropping its players.
pub fn kill_engines() {
    let groups = RUNNING.lock().take().unwrap_or_default();
    groups.iter().for_each(|&group| kill(group));
    // Last, so that a slow one does not delay the others.
    groups.into_iter().for_each(reap);
}

/// Starts a process in a group of its own.
fn spawn(command: &mut Command) -> io::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    // Locked meanwhile, so that no engine starts unseen while all are killed.
    let mut running = RUNNING.lock();
    let groups = running.as_mut().ok_or_else(|| io::Error::other("the program is ending"))?;
    let child = command.spawn()?;
    groups.push(child.id());
    Ok(child)
}

/// Kills the group of a process that was started here, and reaps the process. Returns its status.
fn end(child: &mut Child) -> Option<ExitStatus> {
    // Once, and before it is reaped: afterwards another process may have its id.
    if let Some(groups) = &mut *RUNNING.lock()
        && let Some(place) = groups.iter().position(|&group| group == child.id())
    {
        kill(groups.swap_remove(place));
        // For systems without groups.
        let _ = child.kill();
    }
    // It is dead or dying, whatever signals it ignores.
    child.wait().ok()
}

#[cfg(unix)]
fn kill(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // It may have ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Waits for the end of a process that was killed.
#[cfg(unix)]
fn reap(process: u32) {
    use rustix::process::{Pid, WaitOptions, waitpid};
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    // Its player may have reaped it already.
    let _ = process.map(|process| waitpid(Some(process), WaitOptions::empty()));
}

#[cfg(not(unix))]
fn kill(_group: u32) {}

#[cfg(not(unix))]
fn reap(_process: u32) {}

/// Returns true if a process has ended; it is not reaped.
#[cfg(unix)]
fn has_ended(child: &Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(child)), options).is_ok_and(|status| status.is_some())
}

/// Always false: this system cannot check a process without reaping it.
#[cfg(not(unix))]
fn has_ended(_child: &Child) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_no_program_is_refused() {
        for text in ["", "  ", "'open", "\"open", "''", "a\0b"] {
            assert!(text.parse::<EngineCommand>().is_err(), "{text}");
        }
    }
}
