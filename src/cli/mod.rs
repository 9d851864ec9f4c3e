//! The command line: one file a command, and what they share.

mod args;
mod bench;
mod board_view;
mod boards;
mod build;
mod build_pairs;
mod chart;
mod choose;
mod complexity;
mod gpu;
mod graph;
mod info;
mod kgp;
mod line;
mod opening;
mod opening_scan;
mod output;
mod pack;
mod plan;
mod play;
mod play_wish;
mod player_flags;
mod positions;
mod probe;
mod progress;
mod report;
mod search;
mod search_progress;
mod serve;
mod solve;
mod solve_tables;
mod solver_flags;
mod stats;
mod thinking;
mod tournament;
mod tournament_report;
mod values;
mod verify;
mod verify_report;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use kalah::analyse::GameValuesError;
use kalah::analyse::opening::{ScanError, StateError};
use kalah::solve::{CheckpointError, SolveError};
use kalah::table::{ProbeError, TableError};
use kalah::verify::Fault;

/// Exact endgame tablebases for the sowing game Kalah: build, verify, probe.
#[derive(Parser)]
#[command(version, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(build::Build),
    Plan(plan::Plan),
    Bench(bench::Bench),
    Gpu(gpu::Gpu),
    Verify(verify::Verify),
    Probe(probe::Probe),
    Solve(solve::Solve),
    Line(line::Line),
    Search(search::Search),
    Values(values::Values),
    Play(play::Play),
    #[command(name = "move")]
    Choose(choose::Choose),
    Tournament(tournament::Tournament),
    Opening(opening::Opening),
    OpeningScan(opening_scan::OpeningScan),
    Serve(serve::Serve),
    Kgp(kgp::Kgp),
    Stats(stats::Stats),
    Graph(graph::Graph),
    Complexity(complexity::Complexity),
    Info(info::Info),
    Pack(pack::Pack),
    Unpack(pack::Unpack),
}

/// How a command ended.
enum Outcome {
    Done,
    /// Something could not be answered; told where it happened.
    Failed,
    /// Some input could not be read; told where it happened.
    Usage,
    /// A check found a wrong score or damage; told where it happened.
    Wrong,
}

impl Cli {
    /// Runs the command: 0 done, 1 failed, 2 usage, 3 a check found a wrong score or damage.
    pub fn run(self) -> ExitCode {
        let outcome = match self.command {
            Command::Build(build) => build.run(),
            Command::Plan(plan) => plan.run(),
            Command::Bench(bench) => bench.run(),
            Command::Gpu(gpu) => gpu.run(),
            Command::Verify(verify) => verify.run(),
            Command::Probe(probe) => probe.run(),
            Command::Solve(solve) => solve.run(),
            Command::Line(line) => line.run(),
            Command::Search(search) => search.run(),
            Command::Values(values) => values.run(),
            Command::Play(play) => play.run(),
            Command::Choose(choose) => choose.run(),
            Command::Tournament(tournament) => tournament.run(),
            Command::Opening(opening) => opening.run(),
            Command::OpeningScan(scan) => scan.run(),
            Command::Serve(serve) => serve.run(),
            Command::Kgp(kgp) => kgp.run(),
            Command::Stats(stats) => stats.run(),
            Command::Graph(graph) => graph.run(),
            Command::Complexity(complexity) => complexity.run(),
            Command::Info(info) => info.run(),
            Command::Pack(pack) => pack.run(),
            Command::Unpack(unpack) => unpack.run(),
        };
        match outcome {
            Ok(Outcome::Done) => ExitCode::SUCCESS,
            Ok(Outcome::Failed) => ExitCode::from(1),
            Ok(Outcome::Usage) => ExitCode::from(2),
            Ok(Outcome::Wrong) => ExitCode::from(3),
            // Who reads our output has had enough of it.
            Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
            Err(error) => {
                output::tell(format_args!("kalah: {}", message(&error)));
                ExitCode::from(if is_damage(&error) { 3 } else { 1 })
            }
        }
    }
}

/// An error and its causes, those left out that it tells itself.
fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.contains(&cause) {
            message += ": ";
            message += &cause;
        }
    }
    message
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn is_damage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        // What could not be saved because of it hands it on as an error of the file.
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if inner.and_then(|inner| inner.downcast_ref::<TableError>()).is_some_and(TableError::is_damage) {
            return true;
        }
        let table = match (cause.downcast_ref(), cause.downcast_ref()) {
            (Some(ProbeError::Table(error)), _) => Some(error),
            (_, error) => error,
        };
        table.is_some_and(TableError::is_damage)
            || matches!(cause.downcast_ref(), Some(ScanError::Wrong { .. }))
            || cause.downcast_ref().is_some_and(Fault::is_wrong)
            || matches!(cause.downcast_ref(), Some(StateError::Damaged { .. }))
            || matches!(cause.downcast_ref(), Some(GameValuesError::Damaged { .. }))
            || matches!(cause.downcast_ref(), Some(CheckpointError::Damaged { .. }))
            || matches!(cause.downcast_ref(), Some(SolveError::Contradiction { .. }))
    })
}
