#!/usr/bin/env bash
# Builds tables with Slurm. On a login node:
#
#     export KALAH_TABLES=/shared/tables
#     KALAH_SBATCH="--cpus-per-task=16 --mem=8G --time=1:00:00" cluster/slurm.sh 34
#
# submits one job for the layers up to 20 seeds, which takes seconds, and then one array a layer with one task a pair of
# frames. An array starts when all tasks of the layer before have succeeded. The task that finds all pieces of its layer
# joins them. A task takes as much memory as Slurm allows it (--mem). After a failure, submit the same command again:
# finished layers are not submitted, and finished pieces are kept. `kalah plan build --seeds 34` shows memory and times.
#
#     KALAH_TABLES     the directory of the tables, on a file system that all nodes share
#     KALAH            the program, if it is not on the PATH of the nodes and of this machine
#     KALAH_RULES      the rule set [empty-capture]
#     KALAH_PITS       pits a side [6]
#     KALAH_FIRST      layers up to this many seeds are built by one process [20]
#     KALAH_SBATCH     options for sbatch, separated by spaces
#
# Flags after the number of seeds are passed to `kalah build`. Slurm runs this file as the body of the tasks: task K of
# the array of layer N computes the frames K|N-K and N-K|K, task 0 builds all layers up to N.
set -euo pipefail

if [[ $# -lt 1 || ! $1 =~ ^[0-9]+$ ]]; then
    echo "usage: $0 SEEDS [flags of kalah build]" >&2
    exit 2
fi
if [[ ${KALAH_TABLES:-} != /* ]]; then
    echo "$0: set KALAH_TABLES to the directory of the tables, from the root on, as all nodes see it" >&2
    exit 2
fi
seeds=$1
shift
rules=${KALAH_RULES:-empty-capture}
pits=${KALAH_PITS:-6}

if [[ -n ${SLURM_ARRAY_TASK_ID:-} ]]; then
    if [[ $SLURM_ARRAY_TASK_ID = 0 ]]; then
        work=(--seeds "$seeds")
    else
        work=(--frame "$seeds,$SLURM_ARRAY_TASK_ID")
    fi
    threads=${SLURM_CPUS_PER_TASK:-${SLURM_CPUS_ON_NODE:-1}}
    memory=()
    # The limit of Slurm, in MiB, not the memory of the node.
    if [[ -n ${SLURM_MEM_PER_NODE:-} && " $* " != *" --memory"* ]]; then
        memory=(--memory "${SLURM_MEM_PER_NODE}MiB")
    fi
    exec "${KALAH:-kalah}" build "${work[@]}" --rules "$rules" --pits "$pits" --threads "$threads" "${memory[@]}" "$@"
fi

# Finds a mistyped rule set or flag before any job is submitted.
"${KALAH:-kalah}" build --seeds "$seeds" --rules "$rules" --pits "$pits" --threads 1 --dry-run "$@" >&2

read -ra options <<<"${KALAH_SBATCH:-}"
first=${KALAH_FIRST:-20}
first=$((first < seeds ? first : seeds))
before=

# Submits the tasks $1 of layer $2, to start when those submitted before have succeeded.
submit() {
    local job
    job=$(sbatch --parsable --export=ALL --requeue --kill-on-invalid-dep=yes --job-name="kalah-$2" --array="$1" \
        ${before:+"--dependency=afterok:$before"} "${options[@]}" "$0" "$2" "${flags[@]}")
    before=${job%%;*}
    echo "layer $2: job $before, tasks $1"
}

flags=("$@")
for ((layer = first; layer <= seeds; layer++)); do
    if [[ -e $KALAH_TABLES/$rules-$pits-$(printf %02d "$layer").kalah ]]; then
        echo "layer $layer: finished"
    elif ((layer == first)); then
        submit 0 "$layer"
    else
        submit "1-$((layer / 2))" "$layer"
    fi
done
