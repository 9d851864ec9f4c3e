# shellcheck shell=bash
# Sourced by the other scripts, with the flags of the user as arguments. Sets
#     resources    the flags --threads and --memory, unless the user gives them
#
# KALAH_THREADS and KALAH_MEMORY come first, then what Slurm allows, then a share of the machine. `here`, the number of
# processes on this machine, is 1 if the launcher does not report it (Open MPI, Hydra and srun do).
#
# This works with Bash 3.2, which macOS has: there an empty array is an unset variable.

# Returns true if the flag $1 is among the other arguments.
is_given() {
    local flag=$1 word
    shift
    for word in "$@"; do
        case $word in "$flag" | "$flag"=*) return 0 ;; esac
    done
    return 1
}

# srun gives a list such as 4(x2),3.
here=${here:-${OMPI_COMM_WORLD_LOCAL_SIZE:-${MPI_LOCALNRANKS:-}}}
if [[ -z $here && -n ${SLURM_PROCID:-} ]]; then
    here=${SLURM_TASKS_PER_NODE:-}
    here=${here%%[!0-9]*}
fi
here=${here:-1}
resources=()

threads=${KALAH_THREADS:-${SLURM_CPUS_PER_TASK:-}}
if [[ -z $threads ]]; then
    cores=$(getconf _NPROCESSORS_ONLN)
    # macOS has no nproc.
    bound=$(nproc 2>/dev/null || echo "$cores")
    # A process that is bound to some of the cores already has its share.
    threads=$((bound < cores ? bound : ${SLURM_CPUS_ON_NODE:-$cores} / here))
fi
is_given --threads "$@" || resources+=(--threads "$((threads > 0 ? threads : 1))")

# Slurm's limits are in MiB; 0 stands for all memory of the node.
memory=${KALAH_MEMORY:-}
if [[ -z $memory && ${SLURM_MEM_PER_CPU:-0} -gt 0 ]]; then
    memory=$((SLURM_MEM_PER_CPU * ${SLURM_CPUS_PER_TASK:-1}))MiB
elif [[ -z $memory && ${SLURM_MEM_PER_NODE:-0} -gt 0 ]]; then
    memory=$((SLURM_MEM_PER_NODE / here))MiB
elif [[ -z $memory && $here -gt 1 ]]; then
    # The page cache with the tables is shared; each process has memory of its own.
    available=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null || true)
    memory=${available:+$((${available:-0} / here))KiB}
fi
if [[ -n $memory ]] && ! is_given --memory "$@"; then
    resources+=(--memory "$memory")
fi
