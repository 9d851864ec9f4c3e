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
tasks=$1
shift

if [[ -n ${SLURM_ARRAY_TASK_ID:-} ]]; then
    threads=${SLURM_CPUS_PER_TASK:-${SLURM_CPUS_ON_NODE:-1}}
    # The limit of Slurm, in MiB, not the memory of the node.
    memory=${SLURM_MEM_PER_NODE:+--memory ${SLURM_MEM_PER_NODE}MiB}
    # shellcheck disable=SC2086
    exec "${KALAH:-kalah}" prove "$1" --proof "$KALAH_PROOF" --share --threads "$threads" $memory "${@:2}"
fi

read -ra options <<<"${KALAH_SBATCH:-}"
job=$(sbatch --parsable --export=ALL --requeue --job-name=kalah-prove --array="1-$tasks" \
    "${options[@]}" "$0" "$tasks" "$@")
echo "proof of $1 in $KALAH_PROOF: job ${job%%;*}, $tasks tasks"
