#!/usr/bin/env bash
# Builds tables with Slurm. On a login node:
#
#     export KALAH_TABLES=/shared/tables
#     KALAH_SBATCH="--cpus-per-task=16 --mem=8G --time=1:00:00" cluster/slurm.sh 8 34 --rules standard
#
# submits an array of 8 tasks that build all layers to 34 seeds together (`kalah build --share`). They may start at any
# time and need not all run at once. A task that is killed, or whose time is up, loses only its unfinished pair of
# frames. If all tasks end before the build is complete, the same command continues it. `kalah plan build --seeds 34`
# shows memory and times.
#
#     KALAH_TABLES     the directory of the tables, on a file system that all nodes share
#     KALAH            the program, if it is not on the PATH of the nodes and of this machine
#     KALAH_SBATCH     options for sbatch, separated by spaces
#
# Flags after the number of seeds are passed to `kalah build`. Slurm runs this file as the body of the tasks.
set -euo pipefail

if [[ $# -lt 2 || ! $1 =~ ^[1-9][0-9]*$ || ! $2 =~ ^[0-9]+$ ]]; then
    echo "usage: $0 TASKS SEEDS [flags of kalah build]" >&2
    exit 2
fi
if [[ ${KALAH_TABLES:-} != /* ]]; then
    echo "$0: set KALAH_TABLES to the directory of the tables, from the root on, as all nodes see it" >&2
    exit 2
fi
tasks=$1
seeds=$2
shift 2

if [[ -n ${SLURM_ARRAY_TASK_ID:-} ]]; then
    # Slurm runs a copy of this file elsewhere.
    scripts=${KALAH_SCRIPTS:-$(dirname "${BASH_SOURCE[0]}")}
    # A task runs one process, however many it asks for.
    here=1
    # shellcheck source=cluster/threads.sh
    source "$scripts/threads.sh"
    exec "${KALAH:-kalah}" build --seeds "$seeds" --share ${resources[@]+"${resources[@]}"} "$@"
fi
KALAH_SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export KALAH_SCRIPTS

# Finds a mistyped flag before any job is submitted: the help is printed only if all flags before it are right.
"${KALAH:-kalah}" build --seeds "$seeds" --share "$@" --help >/dev/null

read -ra options <<<"${KALAH_SBATCH:-}"
job=$(sbatch --parsable --export=ALL --requeue --job-name=kalah-build --array="1-$tasks" \
    ${options[@]+"${options[@]}"} "$0" "$tasks" "$seeds" "$@")
echo "layers to $seeds seeds in $KALAH_TABLES: job ${job%%;*}, $tasks tasks"
