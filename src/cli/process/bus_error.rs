//! Mapped table files that become shorter: a handler of SIGBUS.

use std::ffi::{c_int, c_void};
use std::io::IsTerminal;
use std::sync::OnceLock;

use super::outcome::EXIT_DAMAGE;

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
    // SAFETY: no command writes to finished tables; they are only replaced. Blocks are compared with their checksums.
    // If another program truncates a file, the handler ends the program.
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
