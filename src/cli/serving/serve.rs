use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use kalah::game::Rules;
use kalah::serve::{self, Host, Options, SharedOrigin, Stop};

use crate::cli::flags::player_flags::seconds;
use crate::cli::flags::{args, directories};
use crate::cli::help::examples;
use crate::cli::output;
use crate::cli::process::bus_error;
use crate::cli::process::outcome::Outcome;
use crate::cli::process::signals::{interrupted, on_signal};

/// Serve a page to play and explore on, and a JSON API, over HTTP
///
/// Prints the address of the page once it can be opened. Ctrl-C ends it: searches under way answer with what they have.
/// Anyone who can reach the address can use the server; the default address can be reached from this machine only.
#[derive(Args)]
#[command(after_help = examples(&[
    ("A page to play on, for this machine alone", "kalah serve --address 127.0.0.1:8080"),
]))]
pub struct Serve {
    /// Address or name of this machine, and port, to listen at; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", value_parser = place, default_value = "127.0.0.1:8080")]
    address: ListenAddress,
    /// Another name or address that the server is reached by, such as that of a proxy; may be given several times
    ///
    /// Requests to other hosts are refused, so that no website can use the server through a visitor's browser. It is always
    /// reached as localhost, and by the address that a client connects to.
    #[arg(long = "allow-host", value_name = "HOST")]
    hosts: Vec<Host>,
    /// A website whose pages may use the API from a browser, such as https://kalah.example, or * for all of them; may be
    /// given several times
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    origins: Vec<SharedOrigin>,
    #[command(flatten)]
    tables: args::Directory,
    #[command(flatten)]
    book: args::BookFlag,
    /// Seconds that a search above the tables may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "5")]
    time: Duration,
    /// Seconds that a search may take whose progress is streamed
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    stream_time: Duration,
    /// At most so many searches at a time; further requests are refused for the moment [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    searches: Option<u16>,
    /// Threads of one search
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), default_value_t = 1)]
    threads: u16,
    /// The most memory of one search's transposition table, such as 1GiB
    #[arg(long, value_name = "SIZE", value_parser = args::bytes, default_value = "256MiB")]
    memory: u64,
}

/// Where to listen.
#[derive(Clone)]
struct ListenAddress {
    /// As it was written, with the port.
    text: String,
    /// The name, if it is not an address.
    name: Option<Host>,
}

/// Reads an address or a name, and a port.
fn place(text: &str) -> Result<ListenAddress, String> {
    if text.parse::<SocketAddr>().is_ok() {
        return Ok(ListenAddress { text: text.to_owned(), name: None });
    }
    let named = text.rsplit_once(':').filter(|(name, port)| !name.contains([':', '[']) && port.parse::<u16>().is_ok());
    let name = named.and_then(|(name, _)| name.parse().ok());
    let form = "write an address or a name, and a port, such as 127.0.0.1:8080, [::1]:8080 or localhost:8080";
    name.map(|name| ListenAddress { text: text.to_owned(), name: Some(name) }).ok_or_else(|| form.to_owned())
}

impl Serve {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let listener = TcpListener::bind(&*self.address.text)
            .with_context(|| format!("cannot listen at {}; choose another one with --address", self.address.text))?;
        let address = listener.local_addr()?;
        let stop = Stop::default();
        let stopped = stop.clone();
        on_signal(move || stopped.stop());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // Tables are checked on all cores. Threads that are not to be had are an error now, not when somebody asks.
        rayon::ThreadPoolBuilder::new().build_global().context("cannot start the threads")?;
        // A table that becomes shorter ends the answers from it, not the server.
        bus_error::outlive();
        directories::note_without_tables(&self.tables.path, &Rules::ALL);
        let books = self.book.find_all(&self.tables.path);
        let mut options = Options::new(self.tables.path);
        options.books = books;
        options.time = self.time;
        options.searches = self.searches.map_or(cores, usize::from);
        options.threads = args::threads_that_fit(self.threads);
        options.memory = self.memory;
        options.stream_time = self.stream_time;
        options.hosts = self.hosts;
        options.hosts.extend(self.address.name);
        options.origins = self.origins;
        options.log = Box::new(|line| output::tell(format_args!("kalah: {line}")));
        if !address.ip().is_loopback() && options.hosts.is_empty() {
            output::note("requests by another name than this address are refused; --allow-host NAME allows one");
        }
        output::line(format_args!("http://{address}"))?;
        serve::serve(listener, options, &stop).context("the server failed")?;
        output::note("stopped; all requests are answered");
        Ok(interrupted())
    }
}
