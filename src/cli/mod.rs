//! The command line: a folder for each group of `kalah --help`, in it a file or folder for each command.
//!
//! | module | contents |
//! |---|---|
//! | `commands` | all commands |
//! | `tables` | commands that build and check tables |
//! | `solving` | commands that look up and solve positions |
//! | `playing` | commands that play |
//! | `serving` | commands that serve other programs |
//! | `analysis` | commands that analyse whole boards |
//! | `program` | commands about the program itself |
//! | `flags` | flags and arguments shared by several commands |
//! | `output` | everything that commands print |
//! | `failure` | the error of a command: its message and its exit code |
//! | `process` | exit codes, signals, limits of the system |
//! | `help` | groups of commands and flags, examples, rule sets |

mod analysis;
mod commands;
mod failure;
mod flags;
mod help;
mod output;
mod playing {
    pub(super) mod choose;
    pub(super) mod play;
    pub(super) mod puzzles;
    pub(super) mod tournament;
}
mod process;
mod program;
mod serving {
    pub(super) mod engine;
    #[cfg(feature = "serve")]
    pub(super) mod export_site;
    #[cfg(feature = "serve")]
    pub(super) mod serve;
}
mod solving {
    pub(super) mod book;
    pub(super) mod check;
    pub(super) mod probe;
    pub(super) mod prove;
    pub(super) mod review;
    pub(super) mod search;
    pub(super) mod solve;
}
mod tables {
    pub(super) mod archive;
    pub(super) mod bench;
    pub(super) mod bounds;
    pub(super) mod build;
    pub(super) mod export;
    #[cfg(feature = "remote")]
    pub(super) mod fetch;
    #[cfg(feature = "gpu")]
    pub(super) mod gpu;
    pub(super) mod info;
    pub(super) mod plan;
    pub(super) mod publish;
    pub(super) mod train;
    pub(super) mod verify;
}

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser};

use self::commands::{Command, HEADINGS};
// Commands import these names from here.
use self::failure::{Context, Failure, Stoppable, bail, ensure, failed, usage};
use self::flags::args::{Boards, Range};
use self::flags::games::{GameOutput, GivenGame};
use self::flags::player_flags::PlayerFlags;
use self::flags::solver_flags::SolverFlags;
use self::flags::tables_flag::Given;
use self::flags::{args, directories, games, positions, remote, solve_tables};
use self::help::examples;
use self::output::Grid;
use self::output::formatted::{line, message, note};
use self::output::progress::{self, Progress};
use self::process::signals::{cancel_on_signal, cancelled_by_signal, stopped_by_signal};
use self::process::{Outcome, bus_error, leave, return_freed_memory, signals};

/// Solve and play the sowing game Kalah, with exact endgame tables
#[derive(Parser)]
#[command(name = "kalah", version, long_version = program::long_version(), max_term_width = 120)]
struct Cli {
    /// Print only answers and errors: no progress, no notes
    #[arg(long, global = true, display_order = 1000)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

/// Returns the command line with its complete help.
fn command() -> clap::Command {
    help::completed(remote::with_flags(Cli::command()), &HEADINGS)
}

/// Prepares for system limits and for files that shrink, then runs the command line.
pub(crate) fn main() -> ExitCode {
    process::spare_address_space();
    process::expect_full_files();
    #[cfg(feature = "gpu")]
    process::hush_caught_panics();
    signals::listen();
    bus_error::map_tables();
    run()
}

/// Reads the command line and runs the command. Its [`Outcome`] determines the exit code.
fn run() -> ExitCode {
    hush_device_selection();
    forget_empty_variables();
    let mut command = command();
    let matches = match command.try_get_matches_from_mut(std::env::args_os()) {
        Ok(matches) => matches,
        Err(error) => return print_answer(&error),
    };
    let given = Given::new(&matches);
    if let Err(error) = remote::open(&given) {
        return leave(output::failure(&error));
    }
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return print_answer(&error),
    };
    if cli.quiet {
        output::be_quiet();
    }
    let has_rules = given.matches.try_contains_id("rules").is_ok();
    if has_rules && given.matches.value_source("rules") == Some(ValueSource::DefaultValue) {
        output::name_rules();
    }
    if let Err(error) = directories::check(&given) {
        return leave(output::failure(&error));
    }
    cli.run()
}

/// Prints clap's answer in place of a command: help, the version, or a usage error. Returns its exit code, or 1 if it
/// cannot be printed.
fn print_answer(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| io::stdout().flush());
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1));
    match printed {
        // An error message that cannot be printed keeps its exit code.
        Err(failed) if !error.use_stderr() && failed.kind() != io::ErrorKind::BrokenPipe => {
            leave(cannot_print(&failed))
        }
        _ => code,
    }
}

/// Reports a failed write to standard output.
fn cannot_print(error: &io::Error) -> Outcome {
    message!("kalah: cannot write to standard output: {error}");
    Outcome::Failed
}

/// Disables Mesa's layer that orders Vulkan devices. Without a display it prints `XDG_RUNTIME_DIR is invalid or not
/// set in the environment`, and devices are chosen by name here anyway.
fn hush_device_selection() {
    // Mesa ignores a path that is not absolute, such as an empty one.
    let is_set = std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|directory| Path::new(&directory).is_absolute());
    if cfg!(target_os = "linux") && !is_set {
        // SAFETY: the program has started no thread yet that could read the environment.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// Removes the program's environment variables that are empty, so that they mean the default.
fn forget_empty_variables() {
    for name in program::ENVIRONMENT {
        if std::env::var_os(name).is_some_and(|value| value.is_empty()) {
            // SAFETY: the program has started no thread yet that could read the environment.
            unsafe { std::env::remove_var(name) };
        }
    }
}

impl Cli {
    /// Runs the command.
    fn run(self) -> ExitCode {
        let outcome = self.command.run();
        let outcome = outcome.unwrap_or_else(|error| output::failure(&error)).after(signals::received());
        // A failed write of the last buffered output must not go unnoticed.
        let flushed = io::stdout().flush().err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        match flushed.filter(|_| outcome == Outcome::Done) {
            Some(error) => leave(cannot_print(&error)),
            None => leave(outcome),
        }
    }
}
