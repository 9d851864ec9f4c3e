# shellcheck shell=bash
# Sourced by the scripts for MPI launchers. Sets
#     here       processes on this machine; empty if the launcher does not report it (Open MPI, Hydra and srun do)
#     threads    threads of each process: KALAH_THREADS, or its share of the cores

# srun gives a list such as 4(x2),3.
here=${OMPI_COMM_WORLD_LOCAL_SIZE:-${MPI_LOCALNRANKS:-}}
if [[ -z $here && -n ${SLURM_PROCID:-} ]]; then
    here=${SLURM_TASKS_PER_NODE:-}
    here=${here%%[!0-9]*}
fi
cores=$(getconf _NPROCESSORS_ONLN)
bound=$(nproc)
# A process that is bound to some of the cores already has its share.
threads=$((bound < cores ? bound : cores / ${here:-1}))
threads=${KALAH_THREADS:-$((threads > 0 ? threads : 1))}
