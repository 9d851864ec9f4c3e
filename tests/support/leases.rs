//! Processes that share work by leases. One of them is killed while it holds one.

use std::path::Path;
use std::process::Child;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// Kills one of the processes while it holds a lease in `directory` whose name `is_long`. Removes it from the list, so
/// that the others have to do its work.
///
/// The process is stopped first, and killed only if it still holds the lease. Otherwise it might finish its work
/// between the check and the kill.
#[track_caller]
pub fn kill_a_holder(processes: &mut Vec<Child>, directory: &Path, is_long: impl Fn(&str) -> bool) {
    loop {
        let held = |id: u32| holds(directory, id, &is_long);
        let holder = processes.iter().position(|process| held(process.id()));
        if let Some(index) = holder.filter(|&index| is_stopped(processes[index].id())) {
            if held(processes[index].id()) {
                let mut killed = processes.remove(index);
                killed.kill().unwrap();
                assert!(!killed.wait().unwrap().success(), "killed too late");
                return;
            }
            kill_process(pid(processes[index].id()), Signal::CONT).unwrap();
        }
        let all_ended = processes.iter_mut().all(|process| process.try_wait().unwrap().is_some());
        assert!(!all_ended, "all ended before one of them could be killed");
    }
}

/// Returns true if a process holds such a lease.
fn holds(directory: &Path, id: u32, is_long: impl Fn(&str) -> bool) -> bool {
    let Ok(entries) = std::fs::read_dir(directory) else { return false };
    let holder = format!("process {id} on");
    entries.flatten().any(|entry| {
        let name = entry.file_name().into_string().unwrap();
        name.ends_with(".lease")
            && is_long(&name)
            && std::fs::read_to_string(entry.path()).is_ok_and(|text| text.starts_with(&holder))
    })
}

/// Stops a process. Returns true if it was still running.
fn is_stopped(id: u32) -> bool {
    kill_process(pid(id), Signal::STOP).unwrap();
    let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid(id)), options).unwrap().is_some_and(|status| status.stopped())
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(id.try_into().unwrap()).unwrap()
}
