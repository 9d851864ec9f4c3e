//! Signals to programs that tests start. A job in the background of a script ignores Ctrl-C, and so do its children,
//! unless they restore the default.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

/// Signals that ask a program to end.
const ENDING: [libc::c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// Makes the process of a command react to signals as if its parent ignored none.
pub fn heard(command: &mut Command) -> &mut Command {
    let restore = || {
        for signal in ENDING {
            // SAFETY: the default action has no handler.
            if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec, `restore` only calls `signal`, which is allowed there.
    unsafe { command.pre_exec(restore) }
}

/// Sends a signal to a process, which was made by a command that is [`heard`], unless it has ended.
#[track_caller]
pub fn send(child: &Child, signal: Signal) {
    let sent = kill_process(Pid::from_child(child), signal);
    assert!(matches!(sent, Ok(()) | Err(rustix::io::Errno::SRCH)), "{sent:?}");
}

/// Sends the signal of Ctrl-C.
#[track_caller]
pub fn interrupt(child: &Child) {
    send(child, Signal::INT);
}

/// Returns true if the program handles the signal of Ctrl-C. Just after its start it does not yet.
#[cfg(target_os = "linux")]
pub fn catches_interrupts(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
    u64::from_str_radix(caught.trim(), 16).unwrap() >> (libc::SIGINT - 1) & 1 == 1
}
