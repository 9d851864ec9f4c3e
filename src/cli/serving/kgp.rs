use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use clap::Args;
use kalah::kgp::{self, End, Introduction, KgpEvent, Thinking};
use kalah::table::Shelf;

use crate::cli::flags::{args, directories, remote};
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::outcome::Outcome;
use crate::cli::process::signals::{cancelled_by_signal, interrupted};

/// First and longest pause before connecting again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// Maximum time of a server to answer a connection.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Length of a session after which the next pause is the shortest one again.
const GOOD: Duration = Duration::from_secs(30);

/// Play on a server of the Kalah Game Protocol
///
/// Use this to take part in a tournament of the protocol. The rules are `standard`. Play is perfect where the tables
/// reach; above them it is the best move found in time. A lost connection is opened again. See docs/kgp.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Play on a server under a name", "kalah kgp --host kalah.example --name Ayo"),
    ("Play one session on this machine", "kalah kgp --once"),
]))]
pub struct Kgp {
    /// Name or address of the server
    #[arg(long, env = "KGP_HOST", default_value = "localhost")]
    host: String,
    /// Port of the server
    #[arg(long, env = "KGP_PORT", default_value_t = 2671)]
    port: u16,
    /// Name to show on the server
    #[arg(long, default_value = "kalah")]
    name: String,
    /// Authors to show on the server, separated by commas
    #[arg(long, default_value = "")]
    author: String,
    /// Token by which the server recognises the player
    #[arg(long, env = "KGP_TOKEN", default_value = "", hide_env_values = true)]
    token: String,
    /// Time for a move if the server sends no clock; servers usually allow 5s
    #[arg(long, value_name = "TIME", value_parser = args::time::<1>, default_value = "4s")]
    time: Duration,
    /// Think about N positions at a time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    searches: Option<u16>,
    /// Limit the transposition table of each search to this size, such as 1GiB
    #[arg(long, value_name = "SIZE", value_parser = args::memory, default_value = "256MiB")]
    memory: u64,
    /// End after the first session instead of connecting again
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    tables: args::Directories,
    #[command(flatten)]
    book: args::BookFlag,
}

impl Kgp {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let mut introduction = Introduction::default();
        introduction.name = self.name.clone();
        introduction.authors = self.author.clone();
        introduction.description = "Endgame tables, and a solver above them".to_owned();
        introduction.token = self.token.clone();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let searches = self.searches.map_or(cores, usize::from);
        directories::note_unused(&self.tables.paths, &[kgp::RULES]);
        let books = self.book.find_all(&self.tables.paths);
        let mut thinking = Thinking::default();
        thinking.books = Some(&books);
        (thinking.time, thinking.searches, thinking.memory) = (self.time, searches, self.memory);
        let shelf = Shelf::new(&self.tables.paths);
        remote::fetch_for_searches(&shelf)?;
        let cancel = cancelled_by_signal();
        let mut pause = PAUSES[0];
        loop {
            let begin = Instant::now();
            let why = match self.connect() {
                Ok(stream) => match kgp::play(stream, &introduction, &thinking, &shelf, &cancel, &report)? {
                    End::Stopped => return Ok(interrupted()),
                    End::Goodbye if self.once => return Ok(Outcome::Done),
                    End::Goodbye => "the server said goodbye".to_owned(),
                    End::Lost => "the connection was lost".to_owned(),
                },
                Err(error) => format!("cannot connect to {}:{}: {error}", self.host, self.port),
            };
            if self.once {
                output::message(format_args!("kalah: {why}"));
                return Ok(Outcome::Failed);
            }
            if begin.elapsed() >= GOOD {
                pause = PAUSES[0];
            }
            output::note(format_args!("{why}; connecting again in {} s", pause.as_secs()));
            let until = Instant::now() + pause;
            while Instant::now() < until {
                if cancel.is_cancelled() {
                    return Ok(interrupted());
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            pause = PAUSES[1].min(pause * 2);
        }
    }

    /// Connects to the first address of the server that answers.
    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::ErrorKind::NotFound.into();
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_TIME) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Prints an event of the session.
fn report(event: KgpEvent) {
    match event {
        KgpEvent::Greeted { .. } | KgpEvent::Moved { .. } => output::note(event),
        _ => output::message(event),
    }
}
