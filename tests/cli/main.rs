//! The command line as a whole.

mod advice;
mod cli;
mod cli_help;
#[cfg(feature = "cli")]
mod commands;
mod exit_codes;
mod mistyped_directory;
mod outputs;
mod overwriting;
mod printable;
#[cfg(feature = "cli")]
mod writers;
