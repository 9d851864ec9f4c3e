#!/usr/bin/env bash
# Proves the value of a position with the processes of an MPI launcher, on one machine or many:
#
#     export KALAH_TABLES=/shared/tables KALAH_PROOF=/shared/proof
#     mpirun -np 8 cluster/prove-mpi.sh 6x5                             # finds the value and proves it
#     srun -n 8 cluster/prove-mpi.sh 6x5 --openings --rules standard    # any flags of `kalah prove` may follow
#
# The processes share only the directories, so this needs no MPI library and works with any launcher, or without one:
# start it by hand on as many machines as you like, at any time. Each process takes the next job that no other has
# a lease on. If a process is killed, the others take over its job after half a minute (--patience).
#
# A launcher may end all processes when one is killed. Open MPI 4 does, unless started with --enable-recovery. Only
# unfinished jobs are lost: the same command continues the proof.
#
#     KALAH_PROOF      the directory of the proof, on a file system that all machines share
#     KALAH_TABLES     the directory of the tables
#     KALAH            the program, if it is not on the PATH
#     KALAH_THREADS    threads of each process; by default the CPUs that Slurm gives a task, the cores that the process
#                      is bound to, or the machine's cores divided by the number of its processes, if the launcher
#                      reports that (Open MPI, Hydra, srun)
#     KALAH_MEMORY     memory of each process; by default as much as Slurm allows, or the available memory divided by
#                      the number of processes
set -euo pipefail

if [[ $# -lt 1 || $1 = -* ]]; then
    echo "usage: mpirun -np PROCESSES $0 POSITION [flags of kalah prove]" >&2
    exit 2
fi
for name in KALAH_PROOF KALAH_TABLES; do
    if [[ ${!name:-} != /* ]]; then
        echo "$0: set $name to a directory, from the root on, as all machines see it" >&2
        exit 2
    fi
done

position=$1
shift

# shellcheck source=cluster/threads.sh
source "$(dirname "${BASH_SOURCE[0]}")/threads.sh"

exec "${KALAH:-kalah}" prove "$position" --proof "$KALAH_PROOF" --share ${resources[@]+"${resources[@]}"} "$@"
