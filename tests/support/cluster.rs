//! The scripts in `cluster/`, and a stub of the scheduler that they submit to.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{search_path, without_settings};

/// Stub of `sbatch`: records its arguments and runs the tasks of the array at once, in the background. Fails if a task
/// fails.
const SBATCH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
echo "$@" >>"$0.log"
while [[ $1 = --* ]]; do
    case $1 in --array=*) array=${1#*=} ;; esac
    shift
done
for ((task = ${array%-*}; task <= ${array#*-}; task++)); do
    SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 SLURM_MEM_PER_NODE=400 "$@" >/dev/null &
    tasks+=($!)
done
for task in "${tasks[@]}"; do wait "$task"; done
echo "30;cluster"
"#;

/// Command that runs a script in `cluster/`.
pub fn script(name: &str) -> Command {
    let mut command = without_settings(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cluster").join(name));
    command.env("PATH", search_path()).env_remove("SLURM_ARRAY_TASK_ID");
    command
}

/// Writes a program.
pub fn executable(path: &Path, text: &str) {
    std::fs::write(path, text).expect("the file is written");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("it is ours");
}

/// Writes a stub of `sbatch` into a folder, and lets a script find it. Returns the path of the log, with a line of
/// arguments for each call.
pub fn stub_sbatch(command: &mut Command, folder: &Path) -> PathBuf {
    executable(&folder.join("sbatch"), SBATCH);
    let paths = search_path();
    let paths = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&paths));
    command.env("PATH", std::env::join_paths(paths).expect("folders without separators"));
    folder.join("sbatch.log")
}
