//! The process: how it ends, what stops it, and the limits of the system.
//!
//! | module | what it holds |
//! |---|---|
//! | `outcome` | how commands end, and exit codes |
//! | `signals` | signals that ask the program to end |
//! | `limits` | full disks, memory that is freed, faults of devices |
//! | `bus_error` | files of mapped tables that become shorter |

#[cfg(unix)]
pub mod bus_error;
pub mod limits;
pub mod outcome;
pub mod signals;

#[cfg(not(unix))]
pub mod bus_error {
    /// Has tables mapped from now on.
    pub fn map_tables() {
        // SAFETY: no command writes to finished tables, and this system does not shorten mapped files.
        unsafe { kalah::table::map_files(None) };
    }

    /// Nothing to do here: there is no such signal.
    #[cfg(feature = "serve")]
    pub fn outlive() {}
}
