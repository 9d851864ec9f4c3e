//! The process: its end, signals, and limits of the system.
//!
//! | module | contents |
//! |---|---|
//! | `outcome` | outcomes of commands, and exit codes |
//! | `signals` | signals that ask the program to end |
//! | `limits` | full disks, freed memory, faults of devices |
//! | `bus_error` | mapped table files that become shorter |

#[cfg(unix)]
pub(super) mod bus_error;
pub(super) mod limits;
pub(super) mod outcome;
pub(super) mod signals;

#[cfg(not(unix))]
pub(super) mod bus_error {
    /// Makes all tables opened later mapped.
    pub(crate) fn map_tables() {
        // SAFETY: no command writes to finished tables, and this system does not shorten mapped files.
        unsafe { kalah::table::map_files() };
    }
}
