//! Processes of engines. Each has a group of its own. So Ctrl-C in a terminal does not reach it, and the processes that
//! it starts are killed with it.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Maximum bytes of a line of an engine.
const MAX_LINE: u64 = 4096;

/// Maximum lines of an engine that wait to be read; then the engine waits.
const MAX_WAITING: usize = 64;

/// Time after which an engine is killed if it does not end after `quit`, or after it closed its output.
const END_TIME: Duration = Duration::from_millis(200);

/// Interval between checks that a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Splits the command line of an engine into a program and its arguments. Quotes and backslashes keep words together as
/// in a POSIX shell. No shell runs, so nothing is expanded.
pub(in crate::play) fn words(command: &str) -> Result<Vec<String>, String> {
    let words = shlex::split(command).filter(|words| words.first().is_some_and(|program| !program.is_empty()));
    words.ok_or_else(|| {
        format!("'{command}' is not a command line: give a program and its arguments, and close every quote")
    })
}

/// An engine's process, with its standard error on ours. It is ended and reaped when dropped.
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    heard: Receiver<Result<String, String>>,
}

impl Process {
    /// Starts the program of a command line.
    pub(super) fn start(command: &str) -> Result<Process, String> {
        let fault = |error: io::Error| format!("cannot be started: {error}");
        let words = words(command)?;
        let mut program = Command::new(&words[0]);
        program.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = spawn(&mut program).map_err(fault)?;
        let (input, output) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
        let (sender, heard) = sync_channel(MAX_WAITING);
        let process = Process { child, input, heard };
        // It ends with the output. If a process that left the group keeps the output open, the thread waits for
        // it, but nothing waits for the thread.
        thread::Builder::new().spawn(move || read_lines(output, &sender)).map_err(fault)?;
        Ok(process)
    }

    /// Sends a line.
    pub(super) fn say(&mut self, line: fmt::Arguments<'_>) -> Result<(), String> {
        self.input.write_all(format!("{line}\n").as_bytes()).map_err(|_| self.ended())
    }

    /// The next line, if one comes within `time`.
    pub(super) fn hear(&mut self, time: Duration) -> Result<Option<String>, String> {
        match self.heard.recv_timeout(time) {
            Ok(heard) => heard.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// The fault of a process that ended or closed a pipe.
    fn ended(&mut self) -> String {
        let closed = || "it closed its input or output".to_owned();
        format!("ended before the game was over ({})", self.wait().map_or_else(closed, |status| status.to_string()))
    }

    /// The status of the process, if it ends by itself in time.
    fn wait(&mut self) -> Option<ExitStatus> {
        let until = Instant::now() + END_TIME;
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < until => thread::sleep(LOOK_EVERY),
                waited => return waited.ok().flatten(),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.input.write_all(b"quit\n").is_ok() {
            self.wait();
        }
        let mut running = RUNNING.lock();
        running.retain(|&group| group != self.child.id());
        kill(self.child.id());
        drop(running);
        // For systems without groups.
        let _ = self.child.kill();
        // It is dead or dying, whatever signals it ignores.
        let _ = self.child.wait();
    }
}

/// Forwards the lines of an engine until its output ends or the receiver is gone.
fn read_lines(output: ChildStdout, sender: &SyncSender<Result<String, String>>) {
    let (mut reader, mut line) = (BufReader::new(output), Vec::new());
    while reader.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let is_long = line.len() as u64 > MAX_LINE && !line.ends_with(b"\n");
        let heard = (!is_long).then(|| String::from_utf8_lossy(&line).trim().to_owned());
        if sender.send(heard.ok_or_else(|| format!("sent a line of more than {MAX_LINE} bytes"))).is_err() {
            return;
        }
        line.clear();
    }
}

/// The process ids of running engines, which are also those of their groups.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Kills all external engines of this process, and lets no other start. For a program that exits without dropping
/// its players.
pub fn kill_engines() {
    let running = RUNNING.lock();
    running.iter().for_each(|&group| kill(group));
    // It stays locked, so that nobody starts one before the exit.
    std::mem::forget(running);
}

/// Starts a process in a group of its own.
fn spawn(command: &mut Command) -> io::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    // Locked meanwhile, so that no engine starts unseen while all are killed.
    let mut running = RUNNING.lock();
    let child = command.spawn()?;
    running.push(child.id());
    Ok(child)
}

#[cfg(unix)]
fn kill(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // It may have ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_group: u32) {}
