//! The command line as a whole.

mod advice;
mod cli;
mod cli_help;
#[cfg(feature = "cli")]
mod commands;
mod exit_codes;
mod mistyped_directory;
#[path = "../optional/mod.rs"]
mod optional;
mod outputs;
#[cfg(unix)]
#[path = "../signals/mod.rs"]
mod signals;
