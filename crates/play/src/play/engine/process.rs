use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::request::Request;
use super::{EngineCommand, MAX_LINE, running};
use crate::play::fault::EngineFault;

/// Maximum lines of an engine that wait to be read; then the engine waits.
const MAX_WAITING: usize = 64;

/// Time after which an engine is killed if it does not end after `quit`, or after it closed its output.
const END_TIME: Duration = Duration::from_millis(200);

/// Interval between checks that a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// An engine's process. It is ended and reaped when dropped.
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    heard: Receiver<Heard>,
    /// True if it may be asked to quit, rather than killed at once.
    sound: bool,
}

/// Output of an engine.
enum Heard {
    Line(String),
    /// A line that is too long; nothing is read after it.
    LongLine,
    End,
}

impl Process {
    /// Starts the program of a command line. Its stderr is discarded.
    pub fn start(command: &EngineCommand) -> Result<Process, EngineFault> {
        let fault = |error: std::io::Error| EngineFault::Start(error.to_string());
        let mut process = Command::new(command.program());
        process.args(command.arguments()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = running::start(&mut process).map_err(fault)?;
        let (input, output) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
        let (sender, heard) = sync_channel(MAX_WAITING);
        let process = Process { child, input, heard, sound: true };
        // An engine that does not read must not block us.
        #[cfg(unix)]
        rustix::io::ioctl_fionbio(&process.input, true).map_err(|error| fault(error.into()))?;
        // It ends with the output. If a process that left the group keeps the output open, the thread waits for
        // it, but nothing waits for the thread.
        thread::Builder::new().spawn(move || read_lines(output, &sender)).map_err(fault)?;
        Ok(process)
    }

    /// Sends a line.
    pub fn say(&mut self, request: &Request) -> Result<(), EngineFault> {
        let line = format!("{request}\n");
        // A pipe accepts a line of less than 4 KiB entirely or not at all.
        match self.input.write(line.as_bytes()) {
            Ok(written) if written == line.len() => Ok(()),
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(self.ended()),
            _ => Err(self.fault(EngineFault::NotReading)),
        }
    }

    /// The next line, if one comes within `time`.
    pub fn hear(&mut self, time: Duration) -> Result<Option<String>, EngineFault> {
        match self.heard.recv_timeout(time) {
            Ok(Heard::Line(line)) => Ok(Some(line)),
            Ok(Heard::LongLine) => Err(self.fault(EngineFault::LongLine(MAX_LINE))),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Ok(Heard::End) | Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// Marks the process as unusable, and returns the fault.
    pub fn fault(&mut self, fault: EngineFault) -> EngineFault {
        self.sound = false;
        fault
    }

    /// The fault of a process that ended or closed a pipe.
    fn ended(&mut self) -> EngineFault {
        let ended = self.ends_in_time();
        let status = running::end(&mut self.child).filter(|_| ended);
        self.fault(EngineFault::Ended(
            status.map_or_else(|| "it closed its input or output".to_owned(), |status| status.to_string()),
        ))
    }

    /// Returns true if the process ends by itself in time.
    fn ends_in_time(&self) -> bool {
        let until = Instant::now() + END_TIME;
        while !running::has_ended(&self.child) {
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
        if self.sound && self.say(&Request::Quit).is_ok() {
            self.ends_in_time();
        }
        running::end(&mut self.child);
    }
}

/// Forwards the lines of an engine until its output ends or the receiver is gone.
fn read_lines(output: ChildStdout, sender: &SyncSender<Heard>) {
    let (mut reader, mut line) = (BufReader::new(output), Vec::new());
    loop {
        line.clear();
        let heard = match reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Heard::End,
            Ok(_) if line.len() > MAX_LINE && !line.ends_with(b"\n") => Heard::LongLine,
            Ok(_) => Heard::Line(String::from_utf8_lossy(&line).trim().to_owned()),
        };
        let last = !matches!(heard, Heard::Line(_));
        if sender.send(heard).is_err() || last {
            return;
        }
    }
}
