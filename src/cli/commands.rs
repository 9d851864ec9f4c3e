//! All commands.

use clap::Subcommand;

use crate::cli::{Outcome, failure};
use crate::cli::{analysis, playing, program, serving, solving, tables};

/// The headings of help, each with the last command below it.
pub(super) const HEADINGS: [(&str, &str); 6] = [
    ("Build and check tables", "bench"),
    ("Look up and solve", "book"),
    ("Play", "puzzles"),
    ("Serve", "engine"),
    ("Analyse boards", "analyse"),
    ("About this program", "man"),
];

/// The commands, in the order of help.
#[derive(Subcommand)]
pub(super) enum Command {
    Build(tables::build::Build),
    #[command(subcommand)]
    Plan(tables::plan::Plan),
    Train(tables::train::Train),
    Bounds(tables::bounds::Bounds),
    Verify(tables::verify::Verify),
    Info(tables::info::Info),
    Export(tables::export::Export),
    #[command(subcommand)]
    Archive(tables::archive::Archive),
    #[cfg(feature = "remote")]
    Fetch(tables::fetch::Fetch),
    Publish(tables::publish::Publish),
    #[cfg(feature = "gpu")]
    Gpu(tables::gpu::GpuCommand),
    Bench(tables::bench::Bench),
    Probe(solving::probe::Probe),
    Solve(solving::solve::Solve),
    Prove(solving::prove::Prove),
    Review(solving::review::Review),
    Search(solving::search::SearchCommand),
    Check(solving::check::Check),
    #[command(subcommand)]
    Book(solving::book::Book),
    Play(playing::play::Play),
    Move(playing::choose::Choose),
    Tournament(playing::tournament::Tournament),
    Puzzles(playing::puzzles::Puzzles),
    #[cfg(feature = "serve")]
    Serve(serving::serve::Serve),
    #[cfg(feature = "serve")]
    ExportSite(serving::export_site::ExportSite),
    Engine(serving::engine::Engine),
    #[command(subcommand)]
    Analyse(analysis::Analyse),
    Rules(program::Explain),
    Completions(program::Completions),
    Man(program::Manual),
}

impl Command {
    /// Runs the command. `program` makes the whole command line.
    pub(super) fn run(self, program: fn() -> clap::Command) -> failure::Result<Outcome> {
        match self {
            Command::Build(command) => command.run(),
            Command::Plan(command) => command.run(),
            Command::Train(command) => command.run(),
            Command::Bounds(command) => command.run(),
            Command::Verify(command) => command.run(),
            Command::Info(command) => command.run(),
            Command::Export(command) => command.run(),
            Command::Archive(command) => command.run(),
            #[cfg(feature = "remote")]
            Command::Fetch(command) => command.run(),
            Command::Publish(command) => command.run(),
            Command::Bench(command) => command.run(),
            #[cfg(feature = "gpu")]
            Command::Gpu(command) => command.run(),
            Command::Probe(command) => command.run(),
            Command::Solve(command) => command.run(),
            Command::Prove(command) => command.run(),
            Command::Review(command) => command.run(),
            Command::Search(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Book(command) => command.run(),
            Command::Play(command) => command.run(),
            Command::Move(command) => command.run(),
            Command::Tournament(command) => command.run(),
            Command::Puzzles(command) => command.run(),
            #[cfg(feature = "serve")]
            Command::Serve(command) => command.run(),
            #[cfg(feature = "serve")]
            Command::ExportSite(command) => command.run(),
            Command::Engine(command) => command.run(),
            Command::Analyse(command) => command.run(),
            Command::Rules(command) => command.run(),
            Command::Completions(command) => command.run(program()),
            Command::Man(command) => command.run(program()),
        }
    }
}
