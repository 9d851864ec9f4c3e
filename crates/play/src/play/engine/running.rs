//! The engines that run. Each is in a process group of its own: Ctrl-C in a terminal does not reach it, and what it starts
//! itself is killed with it.

use std::io;
use std::process::{Child, Command};

use parking_lot::Mutex;

/// Engines that were started and not reaped.
struct Running {
    /// False when no more may be started.
    open: bool,
    /// Their process ids, which are those of their groups.
    groups: Vec<u32>,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { open: true, groups: Vec::new() });

/// Kills and reaps all external engines of this process, and lets none start any more: for a program that is about to exit
/// without dropping its players.
pub fn kill_engines() {
    let mut running = RUNNING.lock();
    running.open = false;
    running.groups.iter().for_each(|&group| kill(group));
    // Last, so that one that takes a moment to die holds up no other.
    running.groups.drain(..).for_each(reap);
}

/// Starts a process in a group of its own.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    // Held meanwhile, so that no engine starts unseen while all are killed.
    let mut running = RUNNING.lock();
    if !running.open {
        return Err(io::Error::other("the program is ending"));
    }
    let child = command.spawn()?;
    running.groups.push(child.id());
    Ok(child)
}

/// Kills the group of a process that was started here, and reaps the process; its status.
pub(super) fn end(child: &mut Child) -> Option<std::process::ExitStatus> {
    let mut running = RUNNING.lock();
    // Once, before it is reaped: after that its number may be another process's.
    if let Some(place) = running.groups.iter().position(|&group| group == child.id()) {
        kill(running.groups.swap_remove(place));
        // Where there are no groups.
        let _ = child.kill();
    }
    drop(running);
    // It is dead or dying, whatever it ignores.
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
    // Its player may have been quicker.
    let _ = process.map(|process| waitpid(Some(process), WaitOptions::empty()));
}

#[cfg(not(unix))]
fn kill(_group: u32) {}

#[cfg(not(unix))]
fn reap(_process: u32) {}

/// Whether a process has ended; it is not reaped.
#[cfg(unix)]
pub(super) fn has_ended(child: &Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(child)), options).is_ok_and(|status| status.is_some())
}

/// Whether a process has ended: unknown here without reaping it.
#[cfg(not(unix))]
pub(super) fn has_ended(_child: &Child) -> bool {
    false
}
