//! The running engines. Each has a process group of its own. So Ctrl-C in a terminal does not reach it, and the
//! processes that it starts are killed with it.

use std::io;
use std::process::{Child, Command};

use parking_lot::Mutex;

/// Engines that were started and not yet reaped.
struct Running {
    /// False if no more may be started.
    open: bool,
    /// Their process ids, which are also those of their groups.
    groups: Vec<u32>,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { open: true, groups: Vec::new() });

/// Kills and reaps all external engines of this process, and prevents further starts. For a program that is
/// about to exit without dropping its players.
pub fn kill_engines() {
    let mut running = RUNNING.lock();
    running.open = false;
    running.groups.iter().for_each(|&group| kill(group));
    // Last, so that a slow one does not delay the others.
    running.groups.drain(..).for_each(reap);
}

/// Starts a process in a group of its own.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    // Locked meanwhile, so that no engine starts unseen while all are killed.
    let mut running = RUNNING.lock();
    if !running.open {
        return Err(io::Error::other("the program is ending"));
    }
    let child = command.spawn()?;
    running.groups.push(child.id());
    Ok(child)
}

/// Kills the group of a process that was started here, and reaps the process. Returns its status.
pub(super) fn end(child: &mut Child) -> Option<std::process::ExitStatus> {
    let mut running = RUNNING.lock();
    // Once, and before it is reaped: afterwards another process may have its id.
    if let Some(place) = running.groups.iter().position(|&group| group == child.id()) {
        kill(running.groups.swap_remove(place));
        // For systems without groups.
        let _ = child.kill();
    }
    drop(running);
    // It is dead or dying, whatever signals it ignores.
    child.wait().ok()
}

#[cfg(unix)]
fn kill(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // It may have ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Waits for the end of a process that was killed.
#[cfg(unix)]
fn reap(process: u32) {
    use rustix::process::{Pid, WaitOptions, waitpid};
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    // Its player may have reaped it already.
    let _ = process.map(|process| waitpid(Some(process), WaitOptions::empty()));
}

#[cfg(not(unix))]
fn kill(_group: u32) {}

#[cfg(not(unix))]
fn reap(_process: u32) {}

/// Returns true if a process has ended; it is not reaped.
#[cfg(unix)]
pub(super) fn has_ended(child: &Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(child)), options).is_ok_and(|status| status.is_some())
}

/// Always false: this system cannot check a process without reaping it.
#[cfg(not(unix))]
pub(super) fn has_ended(_child: &Child) -> bool {
    false
}
