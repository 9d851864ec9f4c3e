#!/usr/bin/env bash
# Builds, checks and measures everything on a GPU in one run, and prints one table at the end.
#
#     benches/gpu.sh              under ten minutes: 34 seeds, and more if time, disk and memory suffice
#     benches/gpu.sh --long       half an hour: up to 40 seeds
#     benches/gpu.sh --sitting R  seven minutes: from the card to files, and from nothing to the answer by rules R
#     benches/gpu.sh --bundle F   pack all files into F (.tar.gz), for a machine that cannot compile or download
#
# Steps:
#  1. Small layers of all rule sets, compared with the manifest.
#  2. The rate by layer, with the device's clock around every stage.
#  3. All layers to 34 from nothing, compared with the manifest.
#  4. The layers above, one by one, as long as time, disk and device memory suffice.
#  5. All of them compared with the reference oracle, for which time is reserved.
#  6. With --long: rates of the layers from 36 on.
#
# With --sitting, with tables in memory (/dev/shm): 34 seeds written to nowhere, to memory and to the disk; a layer of
# s-kalaha; the plan of all 48 seeds; tables to 38 seeds and all openings of Kalah(6,6), by one command on all
# threads; Kalah(6,5) on 1, 4 and 16 threads; checks of these tables and of the certificate.
#
# Every command has a time limit. A step that fails or is skipped is a row of the table, and the others
# continue. The exit code is 1 if a step failed. The tables are removed at the end. The output and every
# JSON document stay in the results directory.
#
#     --program FILE     the program (target/release/kalah, or that of the bundle)
#     --adapter NAME     a part of the adapter's name; a software adapter must be named
#     --gpu-memory SIZE  maximum device memory (default: all)
#     --directory DIR    directory for tables: 21 GB for 34 seeds, 36 for 36, 63 for 38, 107 for 40 (TMPDIR, or /tmp)
#     --disk DIR         directory on the disk, with --sitting (TMPDIR, or /tmp)
#     --results DIR      directory for results (gpu-results)
#     --vulkan DIR       use the Vulkan loader (libvulkan.so.1) in this directory
#     --seeds N          the last layer of the main build (34)
#     --most N           the last layer of all (40; that of --seeds if this is given)
#     --limit SECONDS    time limit of the whole run (570; 1770 with --long; 420 with --sitting)
#
# On the machine with the card, after `tar xzf F`: `kalah-gpu/gpu.sh`. It needs the driver, bash, awk and coreutils.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ -x "$here/kalah" ]; then
    program=$here/kalah manifest=$here/manifest.jsonl vulkan=$here
else
    program=$here/../target/release/kalah manifest=$here/../tables/manifest.jsonl vulkan=""
fi
adapter=() memory=() disk=${TMPDIR:-/tmp} parent="" results=gpu-results
last="" most="" limit="" long="" bundle="" sitting=""
usage() {
    sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//'
    exit "$1"
}
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage 0 ;;
    --long) long=1 && shift && continue ;;
    --program | --adapter | --gpu-memory | --directory | --disk | --results | --vulkan) ;;
    --seeds | --most | --limit | --bundle | --sitting) ;;
    *) echo "gpu.sh: unknown argument $1" >&2 && usage 2 >&2 ;;
    esac
    [ $# -gt 1 ] || { echo "gpu.sh: $1 needs a value" >&2 && exit 2; }
    case $1 in
    --program) program=$2 ;;
    --adapter) adapter=(--adapter "$2") ;;
    --gpu-memory) memory=(--gpu-memory "$2") ;;
    --directory) parent=$2 ;;
    --disk) disk=$2 ;;
    --sitting) sitting=$2 ;;
    --results) results=$2 ;;
    --vulkan) vulkan=$2 ;;
    --seeds) last=$2 ;;
    --most) most=$2 ;;
    --limit) limit=$2 ;;
    --bundle) bundle=$2 ;;
    esac
    shift 2
done
if [ -n "$sitting" ]; then parent=${parent:-/dev/shm} limit=${limit:-420} most=${most:-${last:-38}}; fi
if [ -n "$long" ]; then limit=${limit:-1770}; fi
parent=${parent:-$disk} limit=${limit:-570}
most=${most:-${last:-40}}
last=${last:-34}
[ -x "$program" ] || { echo "gpu.sh: no program at $program; build it with: cargo build --release" >&2 && exit 1; }

if [ -n "$bundle" ]; then
    packed=$(mktemp -d)
    trap 'rm -rf "$packed"' EXIT
    mkdir "$packed/kalah-gpu"
    cp "$0" "$packed/kalah-gpu/gpu.sh"
    cp "$manifest" "$packed/kalah-gpu/manifest.jsonl"
    cp "$program" "$packed/kalah-gpu/kalah"
    strip "$packed/kalah-gpu/kalah" 2>/dev/null || true
    loader=$(ldconfig -p | sed -n 's/.*libvulkan\.so\.1 .*=> //p' | head -n 1)
    [ -n "$loader" ] || { echo 'gpu.sh: no libvulkan.so.1 here to pack; install the Vulkan loader' >&2 && exit 1; }
    cp -L "$loader" "$packed/kalah-gpu/libvulkan.so.1"
    tar -C "$packed" -czf "$bundle" kalah-gpu
    echo "$bundle: $(du -h "$bundle" | cut -f 1)"
    exit
fi

if [ -n "$vulkan" ] && [ -e "$vulkan/libvulkan.so.1" ] && ! ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1 '; then
    export LD_LIBRARY_PATH=$vulkan${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
mkdir -p "$results"
results=$(cd "$results" && pwd)
directory=$(mktemp -d "$parent/kalah-gpu.XXXXXX")
trap 'rm -rf "$directory"' EXIT
# Containers often lack the file by which the loader finds NVIDIA's driver, or have it elsewhere.
drivers() { export VK_DRIVER_FILES=$1 VK_ICD_FILENAMES=$1; }
if [ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] \
    && ! ls /usr/share/vulkan/icd.d/*nvidia*.json /etc/vulkan/icd.d/*nvidia*.json >/dev/null 2>&1; then
    if [ -e /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ]; then
        drivers /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
    else
        for library in libGLX_nvidia.so.0 libEGL_nvidia.so.0; do
            if ldconfig -p 2>/dev/null | grep -q "$library"; then
                icd='{"file_format_version":"1.0.0","ICD":{"library_path":"%s","api_version":"1.3.0"}}\n'
                # shellcheck disable=SC2059
                printf "$icd" "$library" \
                    >"$directory/nvidia_icd.json"
                drivers "$directory/nvidia_icd.json"
                break
            fi
        done
    fi
fi
exec > >(tee "$results/log.txt") 2>&1
table=$results/table.txt
: >"$table"
documents=0
failures=0
start=$SECONDS
# Seconds for the comparison with the oracle, and for the steps after it.
reserve=$((limit / 8))

left() { echo $((limit - SECONDS + start > 1 ? limit - SECONDS + start : 1)); }
# The seconds left, without those for the comparison with the oracle.
spare() { echo $(($(left) - reserve > 1 ? $(left) - reserve : 1)); }
# Runs the program for at most $1 seconds; then interrupts it as Ctrl-C does, and kills it if that does not help.
kalah() {
    local seconds=$1
    shift
    timeout --signal=INT --kill-after=15 "$seconds" "$program" "$@"
}
# Prints the number with this name in the JSON document on standard input.
field() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" | head -n 1; }
step() { printf '\n== %4d s  %s\n' $((SECONDS - start)) "$*"; }
row() { printf '%-30s %15s %9s %9s %9s  %s\n' "$@" >>"$table"; }
# A row for a failed step, with the exit code; one for a skipped step, with the reason.
failed() {
    failures=$((failures + 1))
    row "$1" - - - - \
        "$([ "$2" = 124 ] || [ "$2" = 137 ] && echo 'stopped: it took too long' || echo "failed ($2), see the log")"
}
left_out() { row "$1" - - - - "left out: $2"; }
per_second() {
    awk -v positions="$1" -v seconds="$2" \
        'BEGIN { if (seconds > 0) printf "%.1f", positions / seconds / 1e6; else print "-" }'
}
seconds() { awk -v seconds="$1" 'BEGIN { if (seconds == "") print "-"; else printf "%.3f", seconds }'; }
# Positions of the layer of $1 seeds: each row has at least one seed.
positions() {
    awk -v n="$1" 'function c(n, k,  i, all) { all = 1; for (i = 1; i <= k; i++) all *= (n - k + i) / i; return all }
        BEGIN { printf "%.0f", c(n + 11, 11) - 2 * c(n + 5, 5) }'
}
# Bytes of a layer, slightly overestimated.
bytes() { awk -v positions="$(positions "$1")" 'BEGIN { printf "%.0f", 0.53 * positions + 1e6 }'; }
# Free bytes on the disk of the tables.
free_bytes() { df --output=avail -B1 "$directory" | tail -n 1; }
keep() {
    documents=$((documents + 1))
    printf '%s\n' "$2" >"$results/$(printf %02d $documents)-$1.json"
}

# Builds the layers from $2 to $3 seeds of rules $1 in directory $4, which has the lower layers, within $5
# seconds. Adds a row with the time of the whole command, writing and flushing included.
build() {
    local what="build $1 $2..$3" began=$EPOCHREALTIME json status=0 positions
    json=$(kalah "$5" build --backend gpu "${adapter[@]}" "${memory[@]}" \
        --rules "$1" --seeds "$3" --tables "$4" --json) || status=$?
    took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
    [ $status = 0 ] || { failed "$what" $status && return 1; }
    keep "build-$1-$3" "$json"
    # The last number of this name is the sum.
    positions=$(sed 's/.*"positions"://; s/,.*//' <<<"$json")
    row "$what" "$positions" "$(seconds "$took")" - "$(per_second "$positions" "$took")" "$6"
}

# Measures the layer of $2 seeds in the directory $1 within $3 seconds; $4 are its build seconds, if measured. More
# arguments are flags.
bench() {
    local what="bench layer $2${5:+ ${*:5}}" json positions wall kernels unwritten rate=- status=0
    # It is computed three times and written twice, which takes disk space for another copy.
    awk -v took="${4:-8}" -v left="$3" 'BEGIN { exit !(4 * took + 5 < left) }' \
        || { left_out "$what" 'not enough time' && return; }
    [ "$(free_bytes)" -gt "$(bytes "$2")" ] || { left_out "$what" 'not enough disk' && return; }
    json=$(kalah "$3" bench --backend gpu "${adapter[@]}" "${memory[@]}" --seeds "$2" --tables "$1" "${@:5}" --json) \
        || status=$?
    [ $status = 0 ] || { failed "$what" $status && return; }
    keep "bench-$2" "$json"
    positions=$(field positions <<<"$json")
    wall=$(field seconds <<<"${json#*\"positions\":}")
    kernels=$(field kernel_seconds <<<"$json")
    [ -z "$kernels" ] || rate=$(per_second "$positions" "$kernels")
    row "$what" "$positions" "$(seconds "$wall")" "$(seconds "$kernels")" "$rate" ''
    unwritten=$(field unwritten_seconds <<<"$json")
    row '  written to nowhere' "$positions" "$(seconds "$unwritten")" - "$(per_second "$positions" "$unwritten")" \
        "waited for frames to be taken: $(field waited_seconds <<<"$json") s"
    # Time of each stage.
    sed 's/.*"stages":\[\[*//; s/\]\].*//; s/\],\[/\n/g; s/"//g' <<<"$json" \
        | awk -F, 'NF == 2 { printf "    %-18s %9.3f ms\n", $1, 1000 * $2 }'
}

# Checks tables within $2 seconds, with these flags.
verify() {
    local what=$1 limit=$2 remark=$3 began=$EPOCHREALTIME status=0
    shift 3
    kalah "$limit" verify "$@" || status=$?
    [ $status = 0 ] || { failed "$what" $status && return 1; }
    row "$what" - "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')" - - "$remark"
}

kalah 60 gpu || true
kalah 60 gpu --json >"$results/00-adapters.json" || true
{ nvidia-smi || true; uname -a; grep -m 1 'model name' /proc/cpuinfo; nproc; free -g; df -h "$parent"; } \
    2>/dev/null || true
row work positions seconds kernels 'million/s' remarks

# Runs the program with these flags within $2 seconds; $1 names the row.
timed() {
    local what=$1 limit=$2 began=$EPOCHREALTIME status=0
    shift 2
    kalah "$limit" "$@" || status=$?
    [ $status = 0 ] || { failed "$what" $status && return 1; }
    row "$what" - "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')" - - ''
}
# At most $1 seconds, at least one, and no more than are left.
at_most() { if [ "$1" -lt "$(left)" ]; then echo $(($1 > 1 ? $1 : 1)); else left; fi; }

if [ -n "$sitting" ]; then
    board=(--rules "$sitting" --tables "$directory")
    step "from the card to files: $last seeds"
    build "$sitting" 2 "$last" "$directory" "$(left)" 'from nothing, in memory' || true
    bench "$directory" "$last" "$(left)" 2 --rules "$sitting"
    bench "$directory" "$last" "$(left)" 2 --rules "$sitting" --to "$disk"
    step "relays, and all 48 seeds"
    some=$((last < 30 ? last : 30))
    rm -f "$directory"/*.kalah
    build s-kalaha 2 $((some - 1)) "$directory" "$(at_most $((limit / 6)))" 'from nothing, in memory' \
        && bench "$directory" $some "$(at_most $((limit / 6)))" 2 --rules s-kalaha
    timed "plan of 48 seeds" "$(at_most 10)" plan build --seeds 48 --backend gpu "${adapter[@]}" "${board[@]}" || true
    step "from nothing to the answer: $most seeds"
    rm -f "$directory"/*.kalah
    # A third of the time is for the steps below.
    timed "build, all openings of 6x6" "$(at_most $(($(left) - limit / 3)))" solve 6x6 --openings --no-book --json \
        --build --tables-up-to "$most" --backend gpu "${adapter[@]}" "${memory[@]}" "${board[@]}" || true
    for threads in 1 4 16; do
        timed "6x5, $threads threads" "$(at_most 20)" solve 6x5 --value-only --no-book --tables-up-to 26 \
            "${board[@]}" --threads $threads --json || true
    done
    step "checks"
    timed "verify $last, GPU" "$(at_most 30)" verify --against gpu "${adapter[@]}" --seeds "$last" "${board[@]}" || true
    timed "verify $some, minimax" "$(at_most 40)" verify --consistency --seeds $some "${board[@]}" || true
    certificate=$here/../certificates/large/$sitting-6x6.certificate
    if [ -e "$certificate" ]; then
        timed "check 6x6" "$(at_most 60)" check "$certificate" --tables "$directory" || true
    else
        left_out "check 6x6" "no $certificate"
    fi
    printf '\n'
    cat "$table"
    printf 'whole run: %d s; failed steps: %d; results in %s\n' $((SECONDS - start)) $failures "$results"
    exit $((failures > 0))
fi

small=$((last < 18 ? last : 18))
for rules in empty-capture standard s-kalaha; do
    step "correctness: $rules"
    seeds=$small
    [ "$rules" != s-kalaha ] || seeds=$((small < 14 ? small : 14))
    mkdir -p "$directory/small"
    build "$rules" 2 "$seeds" "$directory/small" "$(spare)" '' || continue
    verify "verify $rules, manifest" "$(spare)" 'digests' \
        --rules "$rules" --manifest "$manifest" --checksums --tables "$directory/small" || true
    again=$((seeds < 14 ? seeds : 14))
    verify "verify $rules $again, CPU" "$(spare)" 'bit for bit' \
        --rules "$rules" --seeds "$again" --against cpu --tables "$directory/small" || true
done
rm -rf "$directory/small"

main=$directory/main
mkdir "$main"
built=1
if [ -z "$long" ]; then
    step "rate by layer"
    first=$((last > 12 ? last - 8 : 4))
    if build empty-capture 2 $((first + 2)) "$main" "$(spare)" 'for the rates'; then
        for seeds in $(seq "$first" 2 $((first + 2))); do
            bench "$main" "$seeds" "$(spare)"
        done
    fi
    rm -rf "$main"
    mkdir "$main"
fi

step "$last seeds from nothing"
build empty-capture 2 "$last" "$main" "$(spare)" 'from nothing' || true
while [ -e "$(printf '%s/empty-capture-6-%02d.kalah' "$main" $((built + 1)))" ]; do built=$((built + 1)); done
if [ $built -gt 1 ]; then
    [ -n "$long" ] || for seeds in $(seq $((last > 12 ? last - 4 : last)) 2 "$built"); do
        bench "$main" "$seeds" "$(spare)" "$took"
    done
    step "comparison with the manifest"
    verify "verify 2..$built, manifest" "$(spare)" 'checksums, digests' \
        --checksums --manifest "$manifest" --tables "$main" || true
fi

# A layer has about a third more positions than the one before.
[ $built != "$last" ] || while [ $built -lt "$most" ]; do
    next=$((built + 1))
    # The first of these layers is estimated with the rate of the main build, the others with that of the one before.
    if [ $built = "$last" ]; then
        of=$(for seeds in $(seq 2 "$built"); do positions "$seeds" && echo; done \
            | awk '{ all += $1 } END { printf "%.0f", all }')
    else
        of=$(positions $built)
    fi
    expected=$(awk -v took="$took" -v of="$of" -v next_one="$(positions $next)" \
        'BEGIN { printf "%.0f", 1.2 * took * next_one / of + 3 }')
    [ "$expected" -lt "$(spare)" ] || { left_out "build $next" "not enough time: it needs about $expected s" && break; }
    [ "$(free_bytes)" -gt "$(bytes $next)" ] \
        || { left_out "build $next" "not enough disk: it needs $(($(bytes $next) / 1000000)) MB" && break; }
    step "$next seeds"
    build empty-capture $next $next "$main" "$(spare)" '' || break
    built=$next
done

if [ $built -gt 1 ]; then
    step "comparison with the oracle"
    samples=$([ -n "$long" ] && echo 300000 || echo 100000)
    verify "verify 2..$built, oracle" "$(left)" "$samples positions a layer" \
        --consistency --sample "$samples" --tables "$main" || true
    if [ -n "$long" ]; then
        step "rate by layer"
        for seeds in $(seq $((last + 2)) 2 "$built"); do
            bench "$main" "$seeds" "$(left)" "$took"
        done
    fi
    kalah 60 info --tables "$main" || true
fi
printf '\n'
cat "$table"
printf 'built: %d seeds; whole run: %d s; failed steps: %d; results in %s\n' \
    $built $((SECONDS - start)) $failures "$results"
exit $((failures > 0))
