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

/// Defines `Command` by the names and types of its commands.
macro_rules! commands {
    ($($(#[cfg($feature:meta)])? $(#[command($group:ident)])? $name:ident($command:ty),)*) => {
        /// The commands, in the order of help.
        #[derive(Subcommand)]
        pub(super) enum Command {
            $($(#[cfg($feature)])? $(#[command($group)])? $name($command),)*
        }

        impl Command {
            /// Runs the command.
            pub(super) fn run(self) -> failure::Result<Outcome> {
                match self {
                    $($(#[cfg($feature)])? Command::$name(command) => command.run(),)*
                }
            }
        }
    };
}

commands! {
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
