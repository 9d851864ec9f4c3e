//! The process: its end, exit codes (docs/commands.md lists them), and limits of the system: files that cannot grow,
//! freed memory, faults of devices.
//!
//! | module | contents |
//! |---|---|
//! | `signals` | signals that ask the program to end |

pub(super) mod signals;

use std::process::ExitCode;

pub(crate) use kalah::diagnostic::Outcome;

/// Exit code of a check that found a wrong value or damage.
pub(crate) const EXIT_DAMAGE: u8 = 3;

/// Added to the number of a signal that ended the program, as in shells.
const EXIT_SIGNAL: i32 = 128;

fn code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Done => 0,
        Outcome::Stopped | Outcome::Failed => 1,
        Outcome::Usage => 2,
        Outcome::Wrong => EXIT_DAMAGE,
        Outcome::Interrupted(signal) => u8::try_from(EXIT_SIGNAL + signal).unwrap_or(u8::MAX),
    }
}

/// Returns the exit code for `main`. After a GPU has hung this ends the process at once, since destructors of a
/// working driver may crash.
pub(crate) fn leave(outcome: Outcome) -> ExitCode {
    #[cfg(all(unix, feature = "gpu"))]
    if kalah::gpu::has_hung() {
        // A failure cannot be reported any more.
        let _ = std::io::Write::flush(&mut std::io::stdout());
        // SAFETY: it ends the process without running any more of its code.
        unsafe { libc::_exit(code(outcome).into()) }
    }
    ExitCode::from(code(outcome))
}

/// Makes writes to files that cannot grow return an error. By default the signal SIGXFSZ ends the program.
pub(crate) fn expect_full_files() {
    #[cfg(unix)]
    // SAFETY: no handler is installed: the signal is ignored.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Suppresses messages of panics that become GPU errors.
#[cfg(feature = "gpu")]
pub(crate) fn hush_caught_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !kalah::gpu::catches_panics() {
            usual(panic);
        }
    }));
}

/// Makes all threads share one pool of the allocator if the memory of this process is limited. By default glibc
/// reserves 64 MiB of address space for each thread.
pub(crate) fn spare_address_space() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if kalah::system::AvailableMemory::of_process().is_some() {
        // SAFETY: the call only sets a parameter of the allocator.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}

/// Makes the allocator return freed pieces of more than 256 KiB to the system at once, for work with a stated memory
/// limit. By default glibc keeps freed pieces of up to 32 MiB, and the holes between them grow.
pub(crate) fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call only sets a parameter of the allocator.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 256 << 10);
    }
}

/// Mapped table files that become shorter: a handler of SIGBUS.
#[cfg(unix)]
pub(super) mod bus_error {
    use std::ffi::{c_int, c_void};
    use std::io::IsTerminal;
    use std::sync::OnceLock;

    use super::EXIT_DAMAGE;

    /// The message. It is made before the signal, whose handler can allocate nothing.
    static MESSAGE: OnceLock<String> = OnceLock::new();

    /// Makes all tables opened later mapped. If the file of an open table becomes shorter or unreadable, the program
    /// prints a line and exits with [`EXIT_DAMAGE`].
    pub(crate) fn map_tables() {
        MESSAGE.get_or_init(|| {
            // A new line after the progress line.
            let start = if std::io::stderr().is_terminal() { "\n" } else { "" };
            format!(
                "{start}kalah: a table became shorter while it was in use, or the disk failed; find it with \
                 `kalah verify`, and restore it\n"
            )
        });
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
        // SAFETY: the structure is plain data, for which zeros are valid; the handler has the signature that SA_SIGINFO
        // requires, and calls only what a signal handler may call.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
        }
        // SAFETY: no command writes to finished tables; they are only replaced. Blocks are compared with their
        // checksums. If another program truncates a file, the handler ends the program.
        unsafe { kalah::table::map_files() };
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        // SAFETY: the system passes a valid `info` to a handler with SA_SIGINFO.
        if unsafe { (*info).si_code } == libc::BUS_ADRERR {
            let message = MESSAGE.get().map_or("", String::as_str);
            // SAFETY: the bytes are those of a string; the second call ends the process without running any more of its
            // code.
            unsafe {
                libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
                libc::_exit(EXIT_DAMAGE.into());
            }
        }
        // SAFETY: the default action ends the process.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

#[cfg(not(unix))]
pub(super) mod bus_error {
    /// Makes all tables opened later mapped.
    pub(crate) fn map_tables() {
        // SAFETY: no command writes to finished tables, and this system does not shorten mapped files.
        unsafe { kalah::table::map_files() };
    }
}
