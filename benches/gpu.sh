#!/usr/bin/env bash
# Builds, checks and measures everything on a GPU in one run, and prints one table at the end.
#
#     benches/gpu.sh              under ten minutes: 34 seeds
#     benches/gpu.sh --long       half an hour: 40 seeds
#     benches/gpu.sh --bundle F   pack what a machine needs on which nothing compiles or downloads, into F (.tar.gz)
#
# The first run, in this order: small layers of all rule sets, compared with the manifest; the rate by layer with the
# device's clock around every stage; all layers to 34 from nothing, verified. The second: the small layers; all layers
# to 40 from nothing, verified. A layer that does not fit ends a build with a reason; a build that takes too long is
# stopped. The tables are removed afterwards. What is printed, and every JSON document, stays in the directory of results.
#
#     --program FILE     the program (target/release/kalah, or that of the bundle)
#     --adapter NAME     a part of the adapter's name; a software adapter must be named
#     --gpu-memory SIZE  device memory that may be taken (what there is)
#     --directory DIR    where the tables go: 20 GB for 34 seeds, 110 GB for 40 (TMPDIR, or /tmp)
#     --results DIR      where the results go (gpu-results)
#     --vulkan DIR       use the Vulkan loader (libvulkan.so.1) in this directory
#     --seeds N          the last layer of the main build (34; 40 with --long)
#     --limit SECONDS    for all of it (570; 1770 with --long)
#
# On the machine with the card, after `tar xzf F`: `kalah-gpu/gpu.sh`. It needs the driver, bash, awk and coreutils.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ -x "$here/kalah" ]; then
    program=$here/kalah manifest=$here/manifest.jsonl vulkan=$here
else
    program=$here/../target/release/kalah manifest=$here/../tables/manifest.jsonl vulkan=""
fi
adapter=() memory=() parent=${TMPDIR:-/tmp} results=gpu-results last="" limit="" long="" bundle=""
usage() {
    sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//'
    exit "$1"
}
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage 0 ;;
    --long) long=1 && shift && continue ;;
    --program | --adapter | --gpu-memory | --directory | --results | --vulkan | --seeds | --limit | --bundle) ;;
    *) echo "gpu.sh: unknown argument $1" >&2 && usage 2 >&2 ;;
    esac
    [ $# -gt 1 ] || { echo "gpu.sh: $1 needs a value" >&2 && exit 2; }
    case $1 in
    --program) program=$2 ;;
    --adapter) adapter=(--adapter "$2") ;;
    --gpu-memory) memory=(--gpu-memory "$2") ;;
    --directory) parent=$2 ;;
    --results) results=$2 ;;
    --vulkan) vulkan=$2 ;;
    --seeds) last=$2 ;;
    --limit) limit=$2 ;;
    --bundle) bundle=$2 ;;
    esac
    shift 2
done
last=${last:-$([ -n "$long" ] && echo 40 || echo 34)}
limit=${limit:-$([ -n "$long" ] && echo 1770 || echo 570)}
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
# Containers often have NVIDIA's driver without the file by which the loader finds it.
if [ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] && ! ls /usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json >/dev/null 2>&1; then
    for library in libGLX_nvidia.so.0 libEGL_nvidia.so.0; do
        if ldconfig -p 2>/dev/null | grep -q "$library"; then
            printf '{"file_format_version":"1.0.0","ICD":{"library_path":"%s","api_version":"1.3.0"}}\n' "$library" \
                >"$directory/nvidia_icd.json"
            export VK_DRIVER_FILES=$directory/nvidia_icd.json VK_ICD_FILENAMES=$directory/nvidia_icd.json
            break
        fi
    done
fi
exec > >(tee "$results/log.txt") 2>&1
kalah() { "$program" "$@"; }
table=$results/table.txt
: >"$table"
documents=0
start=$SECONDS

left() { echo $((limit - SECONDS + start > 1 ? limit - SECONDS + start : 1)); }
# Prints the number with this name in the JSON document on standard input.
field() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" | head -n 1; }
step() { printf '\n== %4d s  %s\n' $((SECONDS - start)) "$*"; }
row() { printf '%-34s %15s %10s %10s %9s  %s\n' "$@" >>"$table"; }
per_second() { awk -v positions="$1" -v seconds="$2" 'BEGIN { if (seconds > 0) printf "%.1f", positions / seconds / 1e6; else print "-" }'; }
seconds() { awk -v seconds="$1" 'BEGIN { if (seconds == "") print "-"; else printf "%.3f", seconds }'; }
keep() {
    documents=$((documents + 1))
    printf '%s\n' "$2" >"$results/$(printf %02d $documents)-$1.json"
}

# Builds the layers up to $3 seeds of rules $1 in directory $2 and adds a row; the time is that of the whole command, with
# writing and flushing. After the time that is left it is stopped, as by Ctrl-C.
build() {
    local began=$EPOCHREALTIME json status=0
    json=$(timeout --signal=INT "$(left)" "$program" build --backend gpu "${adapter[@]}" "${memory[@]}" --rules "$1" \
        --seeds "$3" --tables "$2" --json) || status=$?
    local took positions
    took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
    if [ $status != 0 ]; then
        row "build $1 2..$3" - "$(seconds "$took")" - - "$([ $status = 124 ] && echo 'stopped: no time left' || echo "failed ($status), see the log")"
        return $status
    fi
    keep "build-$1-$3" "$json"
    # The last number of this name is the sum.
    positions=$(sed 's/.*"positions"://; s/,.*//' <<<"$json")
    row "build $1 2..$3" "$positions" "$(seconds "$took")" - "$(per_second "$positions" "$took")" "$4"
}

# Measures one layer of the directory $1.
bench() {
    [ "$(left)" -gt 30 ] || { row "bench layer $2" - - - - 'left out: no time' && return; }
    local json positions took kernels share bandwidth rate=-
    json=$(kalah bench --backend gpu "${adapter[@]}" "${memory[@]}" --seeds "$2" --tables "$1" --json)
    keep "bench-$2" "$json"
    positions=$(field positions <<<"$json")
    took=$(field seconds <<<"${json#*\"positions\":}")
    kernels=$(field kernel_seconds <<<"$json")
    share=$(field share_of_bandwidth <<<"$json")
    bandwidth=$(field copy_bandwidth <<<"$json")
    [ -z "$kernels" ] || rate=$(per_second "$positions" "$kernels")
    row "bench layer $2" "$positions" "$(seconds "$took")" "$(seconds "$kernels")" "$rate" \
        "$(awk -v s="${share:-0}" -v b="$bandwidth" 'BEGIN { printf "kernels use %.0f %% of %.1f GB/s", 100 * s, b / 1e9 }')"
    # How long each stage took.
    sed 's/.*"stages":\[\[*//; s/\]\].*//; s/\],\[/\n/g; s/"//g' <<<"$json" | awk -F, 'NF == 2 { printf "    %-18s %9.3f ms\n", $1, 1000 * $2 }'
}

# Compares the tables of a directory with the manifest, and with the reference oracle.
verify() {
    local began=$SECONDS
    kalah verify --checksums --manifest "$manifest" --tables "$1"
    row "verify, manifest" - $((SECONDS - began)) - - 'checksums, digests'
    began=$SECONDS
    local status=0
    timeout --signal=INT "$(left)" "$program" verify --consistency --sample "$2" --tables "$1" || status=$?
    row "verify, oracle" - $((SECONDS - began)) - - "$([ $status = 0 ] && echo "$2 positions a layer" || echo "ended with $status")"
    [ $status = 0 ] || [ $status = 124 ]
}

finish() {
    printf '\n'
    cat "$table"
    printf 'whole run: %d s; results in %s\n' $((SECONDS - start)) "$results"
    exit "$1"
}

kalah gpu
kalah gpu --json >"$results/00-adapters.json"
{ nvidia-smi || true; uname -a; grep -m 1 'model name' /proc/cpuinfo; nproc; free -g; df -h "$parent"; } 2>/dev/null || true
row work positions seconds kernels 'million/s' remarks

small=$((last < 18 ? last : 18))
for rules in empty-capture standard s-kalaha; do
    step "correctness: $rules"
    seeds=$small
    [ "$rules" != s-kalaha ] || seeds=$((small < 14 ? small : 14))
    mkdir -p "$directory/small"
    build "$rules" "$directory/small" "$seeds" 'same as the manifest'
    kalah verify --rules "$rules" --manifest "$manifest" --checksums --tables "$directory/small"
    kalah verify --rules "$rules" --seeds $((seeds < 14 ? seeds : 14)) --against cpu --tables "$directory/small"
done
rm -rf "$directory/small"

mkdir "$directory/main"
if [ -z "$long" ]; then
    step "rate by layer"
    first=$((last > 12 ? last - 8 : 4))
    build empty-capture "$directory/main" $((first + 2)) 'for the rates' || finish 1
    for seeds in $(seq "$first" 2 $((first + 2))); do
        bench "$directory/main" "$seeds"
    done
    rm -rf "$directory/main"
    mkdir "$directory/main"
fi

step "$last seeds from nothing"
build empty-capture "$directory/main" "$last" 'from nothing' || {
    # What is there is verified all the same.
    verify "$directory/main" 10000 || true
    finish 1
}
if [ -z "$long" ]; then
    for seeds in $(seq $((first + 4)) 2 "$last"); do
        bench "$directory/main" "$seeds"
    done
fi
step "verification"
verify "$directory/main" 100000
kalah info --tables "$directory/main"
finish 0
