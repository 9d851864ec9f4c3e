#!/usr/bin/env bash
# Builds, checks and measures everything on a GPU in one run, and prints one table at the end.
#
#     benches/gpu.sh [path of the program]
#
# In this order: small layers of all rule sets, compared with the manifest; the rate by layer; all layers up to
# KALAH_GPU_SEEDS from scratch, verified; then further layers as long as time, memory and disk allow. Everything is
# removed afterwards.
#
#     KALAH_GPU_SEEDS     the last layer of the main build (34)
#     KALAH_GPU_SECONDS   stop going higher after this many seconds (480)
#     KALAH_GPU_DIR       where the tables go: needs 20 GB for 34 seeds (a temporary directory)
#     KALAH_ADAPTER       a part of the adapter's name; a software adapter must be named
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
kalah=${1:-$here/target/release/kalah}
manifest=$here/tables/manifest.jsonl
last=${KALAH_GPU_SEEDS:-34}
limit=${KALAH_GPU_SECONDS:-480}
directory=$(mktemp -d "${KALAH_GPU_DIR:-${TMPDIR:-/tmp}}/kalah-gpu.XXXXXX")
trap 'rm -rf "$directory"' EXIT
table=$directory/table
start=$SECONDS

# Prints the number with this name in the JSON document on standard input.
field() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" | head -n 1; }
step() { printf '\n== %4d s  %s\n' $((SECONDS - start)) "$*" >&2; }
row() { printf '%-34s %15s %10s %10s %9s  %s\n' "$@" >>"$table"; }
per_second() { awk -v positions="$1" -v seconds="$2" 'BEGIN { if (seconds > 0) printf "%.1f", positions / seconds / 1e6; else print "-" }'; }
seconds() { awk -v seconds="$1" 'BEGIN { if (seconds == "") print "-"; else printf "%.3f", seconds }'; }

# Builds the layers from $3 to $4 seeds of rules $1 in directory $2 and adds a row; the time is that of the whole
# command, with writing and flushing.
build() {
    local began=$EPOCHREALTIME json
    json=$("$kalah" build --backend gpu --rules "$1" --seeds "$4" --tables "$2" --json) || return 1
    local took positions
    took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
    # The last number of this name is the sum.
    positions=$(sed 's/.*"positions"://; s/,.*//' <<<"$json")
    row "build $1 $3..$4" "$positions" "$(seconds "$took")" - "$(per_second "$positions" "$took")" "$5"
}

# Measures one layer of the directory $1.
bench() {
    local json positions took kernels share bandwidth
    json=$("$kalah" bench --backend gpu --seeds "$2" --tables "$1" --json)
    positions=$(field positions <<<"$json")
    took=$(field seconds <<<"${json#*\"positions\":}")
    kernels=$(field kernel_seconds <<<"$json")
    share=$(field share_of_bandwidth <<<"$json")
    bandwidth=$(field copy_bandwidth <<<"$json")
    local rate=-
    [ -z "$kernels" ] || rate=$(per_second "$positions" "$kernels")
    row "bench layer $2" "$positions" "$(seconds "$took")" "$(seconds "$kernels")" "$rate" \
        "$(awk -v s="${share:-0}" -v b="$bandwidth" 'BEGIN { printf "kernels use %.0f %% of %.1f GB/s", 100 * s, b / 1e9 }')"
    "$kalah" bench --backend gpu --seeds "$2" --tables "$1" >&2
}

"$kalah" gpu >&2
row work positions seconds kernels 'million/s' remarks

small=$((last < 18 ? last : 18))
for rules in empty-capture standard s-kalaha; do
    step "correctness: $rules"
    seeds=$small
    [ "$rules" != s-kalaha ] || seeds=$((small < 14 ? small : 14))
    mkdir -p "$directory/small"
    build "$rules" "$directory/small" 2 "$seeds" 'same as the manifest'
    "$kalah" verify --rules "$rules" --manifest "$manifest" --checksums --tables "$directory/small" >&2
    "$kalah" verify --rules "$rules" --seeds $((seeds < 14 ? seeds : 14)) --against cpu --tables "$directory/small" >&2
done
rm -rf "$directory/small"

step "rate by layer"
mkdir "$directory/rate"
first=$((last > 12 ? last - 8 : 4))
build empty-capture "$directory/rate" 2 $((first + 2)) 'for the rates'
for seeds in $(seq "$first" 2 $((first + 2))); do
    bench "$directory/rate" "$seeds"
done
rm -rf "$directory/rate"

step "$last seeds from nothing"
mkdir "$directory/main"
build empty-capture "$directory/main" 2 "$last" 'from nothing'
began=$SECONDS
"$kalah" verify --checksums --manifest "$manifest" --tables "$directory/main" >&2
"$kalah" verify --consistency --sample 100000 --tables "$directory/main" >&2
row "verify 2..$last" - $((SECONDS - began)) - - 'checksums, manifest, 100,000 positions a layer'
for seeds in $(seq $((first + 4)) 2 "$last"); do
    bench "$directory/main" "$seeds"
done

step "above $last seeds"
seeds=$last
while [ $((SECONDS - start)) -lt "$limit" ] && [ "$seeds" -lt 40 ]; do
    seeds=$((seeds + 1))
    # A layer that does not fit is refused with a reason, and ends this.
    build empty-capture "$directory/main" "$seeds" "$seeds" 'above' || { row "build $seeds" - - - - refused; break; }
done
"$kalah" info --tables "$directory/main" >&2

printf '\n'
cat "$table"
printf 'whole run: %d s\n' $((SECONDS - start))
