use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use clap::Args;
use kalah::game::Rules;
use kalah::serve::{self, Options, Stop, host};

use crate::cli::flags::player_flags::SharedMemory;
use crate::cli::process::signals::{on_signal, received};
use crate::cli::{Context, Outcome, args, directories, examples, failed, failure, line, message, note, remote, usage};

/// Serve a page to play and explore on, and a JSON API, over HTTP
///
/// Use this to play in a browser, or to query tables from other programs. It prints the address of the page once it
/// can be opened. At Ctrl-C, running searches answer with what they have, and the server stops. Anyone who can reach
/// the address can use the server. The default address can be reached only from this machine. See docs/serve.md.
#[derive(Args)]
#[command(after_help = examples(&[
    ("Play in a browser on this machine", "kalah serve"),
    ("Serve behind a proxy with a public name", "kalah serve --address 127.0.0.1:9000 --allow-host kalah.example"),
]))]
pub(crate) struct Serve {
    /// Address or name of this machine, and port, to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    address: String,
    /// Another name or address of the server, such as that of a proxy; may be repeated
    ///
    /// Requests for other hosts are refused, so that no website can use the server through a visitor's browser. The
    /// name localhost and the address of the connection are always allowed.
    #[arg(long = "allow-host", value_name = "HOST", value_parser = host)]
    hosts: Vec<String>,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    book: args::BookFlag,
    /// Limit each search above the tables to this time
    #[arg(long, value_name = "TIME", value_parser = args::time::<1>, default_value = "5s")]
    time: Duration,
    /// Limit each search with streamed progress to this time
    #[arg(long, value_name = "TIME", value_parser = args::time::<1>, default_value = "60s")]
    stream_time: Duration,
    /// Run at most N searches at a time; refuse further ones, which clients can repeat later [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    searches: Option<u16>,
    /// Use N threads for each search
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), default_value_t = 1)]
    threads: u16,
    #[command(flatten)]
    memory: SharedMemory,
}

impl Serve {
    pub(crate) fn run(self) -> failure::Result<Outcome> {
        let listener = TcpListener::bind(&*self.address);
        if listener.as_ref().is_err_and(|error| error.kind() == ErrorKind::InvalidInput) {
            let example = "write an address such as localhost:8080 or [::1]:8080";
            return Err(usage(format_args!("'{}' is not an address; {example}", self.address)));
        }
        let listener = listener.with_context(|| format!("cannot listen on {}", self.address))?;
        let address = listener.local_addr()?;
        let mut options = Options::new(self.tables.directory());
        // A signal ends this at once.
        remote::fetch_for_searches(&options.all_tables, self.tables.fetch_limit())?;
        let stop = Stop::default();
        let stopped = stop.clone();
        on_signal(move || stopped.stop());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // Tables are checked on all cores. An error to start threads belongs here, not in the first request.
        rayon::ThreadPoolBuilder::new().build_global().map_err(failed).context("cannot start the threads")?;
        directories::note_unused(self.tables.directory());
        let books = self.book.find(self.tables.directory(), &Rules::ALL)?;
        options.books = books;
        options.time = self.time;
        options.searches = self.searches.map_or(cores, usize::from);
        options.threads = self.threads.into();
        options.memory = self.memory.of_each();
        options.stream_time = self.stream_time;
        options.hosts = self.hosts;
        // The name that it listens on is allowed; an address is that of the connection.
        let name = self.address.rsplit_once(':').filter(|_| self.address.parse::<SocketAddr>().is_err());
        options.hosts.extend(name.and_then(|(name, _)| host(name).ok()));
        options.log = Box::new(|line| message!("kalah: {line}"));
        line!("http://{address}")?;
        serve::serve(listener, options, &stop).context("the server failed")?;
        note!("stopped after answering all requests");
        Ok(received().map_or(Outcome::Done, Outcome::Interrupted))
    }
}
