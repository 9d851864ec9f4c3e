#!/usr/bin/env bash
# Proves the value of a position with Slurm. On a login node:
#
#     export KALAH_TABLES=/shared/tables KALAH_PROOF=/shared/proof
#     KALAH_SBATCH="--cpus-per-task=16 --mem=32G --time=8:00:00" cluster/prove-slurm.sh 20 6x6 --openings
#
# submits an array of 20 tasks that work on the proof together (`kalah prove --share`). They may start at any time and
# need not all run at once. A task that is killed, or whose time is up, loses only its unfinished job. If all tasks end
# before the proof is complete, the same command continues it. `kalah prove --proof "$KALAH_PROOF" --status` shows the
# progress.
#
#     KALAH_PROOF      the directory of the proof, on a file system that all nodes share
#     KALAH_TABLES     the directory of the tables
#     KALAH            the program, if it is not on the PATH of the nodes
#     KALAH_SBATCH     options for sbatch, separated by spaces
#     KALAH_THREADS    threads of each task [the CPUs that Slurm gives it]
#     KALAH_MEMORY     memory of each task [what Slurm allows it, by --mem or --mem-per-cpu]
#
# Flags after the position are passed to `kalah prove`. Slurm runs this file as the body of the tasks.
set -euo pipefail

if [[ $# -lt 2 || ! $1 =~ ^[1-9][0-9]*$ || $2 = -* ]]; then
    echo "usage: $0 TASKS POSITION [flags of kalah prove]" >&2
    exit 2
fi
for name in KALAH_PROOF KALAH_TABLES; do
    if [[ ${!name:-} != /* ]]; then
        echo "$0: set $name to a directory, from the root on, as all nodes see it" >&2
        exit 2
    fi
done
tasks=$1 position=$2
shift 2

if [[ -n ${SLURM_ARRAY_TASK_ID:-} ]]; then
    # Slurm runs a copy of this file elsewhere.
    scripts=${KALAH_SCRIPTS:-$(dirname "${BASH_SOURCE[0]}")}
    # A task runs one process, however many it asks for.
    here=1
    # shellcheck source=cluster/threads.sh
    source "$scripts/threads.sh"
    exec "${KALAH:-kalah}" prove "$position" --proof "$KALAH_PROOF" --share ${resources[@]+"${resources[@]}"} "$@"
fi
KALAH_SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export KALAH_SCRIPTS

read -ra options <<<"${KALAH_SBATCH:-}"
job=$(sbatch --parsable --export=ALL --requeue --job-name=kalah-prove --array="1-$tasks" \
    ${options[@]+"${options[@]}"} "$0" "$tasks" "$position" "$@")
echo "proof of $position in $KALAH_PROOF: job ${job%%;*}, $tasks tasks"
