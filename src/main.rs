//! The `kalah` command: parse, dispatch, exit code.

mod cli;
mod limits;

use std::process::ExitCode;

fn main() -> ExitCode {
    limits::respect_limits();
    kalah::table::report_bus_errors(cli::EXIT_DAMAGE.into(), |error| {
        format!("kalah: {error}; put it back, or delete it: `kalah build` makes it again\n")
    });
    cli::run()
}
