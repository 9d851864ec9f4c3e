//! The `kalah` command: parse, dispatch, exit code.

mod cli;
mod limits;

use std::process::ExitCode;

fn main() -> ExitCode {
    limits::respect_limits();
    kalah::table::report_bus_errors();
    cli::run()
}
