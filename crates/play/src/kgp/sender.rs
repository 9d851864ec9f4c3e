use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kalah_core::cancel::Cancel;
use kalah_core::game::Pit;
use parking_lot::Mutex;

use super::requests::MoveRequest;
use super::{Argument, Command};

/// Time within which the server must read a line.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// Sends lines to the server, from any thread.
pub(super) struct Sender<'s> {
    stream: Mutex<TcpStream>,
    /// The next id: clients use odd ones.
    id: AtomicU64,
    /// Ends the session, even while the server does not read.
    cancel: &'s Cancel,
}

impl<'s> Sender<'s> {
    /// A sender for a stream whose writes time out from time to time.
    pub fn new(stream: TcpStream, cancel: &'s Cancel) -> Sender<'s> {
        Sender { stream: Mutex::new(stream), id: AtomicU64::new(1), cancel }
    }

    pub fn say(&self, reference: Option<u64>, name: &str, arguments: Vec<Argument>) -> io::Result<()> {
        let mut stream = self.stream.lock();
        self.say_to(&mut stream, reference, name, arguments)
    }

    fn say_to(
        &self,
        stream: &mut TcpStream,
        reference: Option<u64>,
        name: &str,
        arguments: Vec<Argument>,
    ) -> io::Result<()> {
        let id = Some(self.id.fetch_add(2, Ordering::Relaxed));
        let mut command = Command { id, reference, name: name.to_owned(), arguments };
        command.shorten();
        self.write(stream, format!("{command}\r\n").as_bytes())
    }

    /// Writes all of `bytes`, unless the server does not read them in time.
    fn write(&self, stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
        let begin = Instant::now();
        loop {
            match stream.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if is_pause(&error) => {}
                Err(error) => return Err(error),
            }
            if bytes.is_empty() {
                return Ok(());
            }
            if self.cancel.is_cancelled() || begin.elapsed() >= WRITE_TIME {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }

    /// Sends a line about a request, unless the server no longer wants it.
    pub fn send(&self, request: &MoveRequest, name: &str, arguments: Vec<Argument>) -> io::Result<()> {
        let mut stream = self.stream.lock();
        if request.cancel.is_cancelled() {
            return Ok(());
        }
        self.say_to(&mut stream, Some(request.id), name, arguments)
    }

    pub fn say_move(&self, request: &MoveRequest, pit: Pit) -> io::Result<()> {
        self.send(request, "move", vec![word(pit)])
    }
}

/// Returns true if an error of the stream only means that it was not ready in time.
pub(super) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

pub(super) fn word(text: impl std::fmt::Display) -> Argument {
    Argument::Word(text.to_string())
}
