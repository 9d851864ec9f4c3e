#!/usr/bin/env bash
# Builds tables with the processes of an MPI launcher, on one machine or many:
#
#     export KALAH_TABLES=/shared/tables
#     mpirun -np 8 cluster/mpi.sh 30                     # all layers to 30 seeds
#     srun -n 8 cluster/mpi.sh 30 --rules standard       # any flags of `kalah build` may follow
#
# The processes share only the directory, so this needs no MPI library and works with any launcher, or without one:
# start it by hand on as many machines as you like, at any time. Each process takes the largest pair of frames that
# no other has a lease on. If a process is killed, the others take over its pair after half a minute (--patience).
#
# A launcher may end all processes when one is killed. Open MPI 4 does, unless started with --enable-recovery. Only
# unfinished pairs are lost: the same command continues the build.
#
#     KALAH_TABLES     the directory of the tables, on a file system that all machines share
#     KALAH            the program, if it is not on the PATH
#     KALAH_THREADS    threads of each process; by default the CPUs that Slurm gives a task, the cores that the process
#                      is bound to, or the machine's cores divided by the number of its processes, if the launcher
#                      reports that (Open MPI, Hydra, srun)
#     KALAH_MEMORY     memory of each process; by default as much as Slurm allows, or the available memory divided by
#                      the number of processes
set -euo pipefail

if [[ $# -lt 1 || ! $1 =~ ^[0-9]+$ ]]; then
    echo "usage: mpirun -np PROCESSES $0 SEEDS [flags of kalah build]" >&2
    exit 2
fi
if [[ ${KALAH_TABLES:-} != /* ]]; then
    echo "$0: set KALAH_TABLES to the directory of the tables, from the root on, as all machines see it" >&2
    exit 2
fi
seeds=$1
shift

# shellcheck source=cluster/threads.sh
source "$(dirname "${BASH_SOURCE[0]}")/threads.sh"

exec "${KALAH:-kalah}" build --seeds "$seeds" --share ${resources[@]+"${resources[@]}"} "$@"
