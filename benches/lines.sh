#!/usr/bin/env bash
# Follows the ten published lines of best play of Kalah(6,6) backwards from their ends, as long as each
# position is proved in time, and prints one table. Exits with code 3 if a proved position does not have
# the published value.
#
#     benches/lines.sh [seconds for a position (60)] [openings, such as "1-2 6" (all)]
#
#     KALAH             the program (target/release/kalah)
#     KALAH_TABLES      directory of the tables (tables)
#     KALAH_LINES_ARGS  more arguments, such as "--memory 2GiB --threads 2"
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
kalah=${KALAH:-$here/target/release/kalah}
within=${1:-60}
only=${2:-}
more=${KALAH_LINES_ARGS:-}
wrong=0
table=$(mktemp)
trap 'rm -f "$table"' EXIT

# Prints the last number of this name in the JSON document on standard input, or a dash.
last() {
    local found
    found=$(grep -o "\"$1\":[-0-9.]*" | tail -n 1) || true
    printf '%s\n' "${found##*:}" | sed 's/^$/-/'
}

row() { printf '%-7s %5s %5s %6s %6s %7s %6s %15s %9s\n' "$@" >>"$table"; }
row opening value turns seeds proved 'at least' 'at most' nodes seconds
while IFS=, read -r opening value _ line seeds; do
    case " $only " in "  " | *" $opening "*) ;; *) continue ;; esac
    printf '\n== %s: 6x6 %s\n' "$opening" "$line" >&2
    status=0
    # The line is several arguments, and so may be KALAH_LINES_ARGS.
    # shellcheck disable=SC2086
    json=$("$kalah" line 6x6 $line --value "$value" --within "$within" --json $more) || status=$?
    [ "$status" = 0 ] || [ "$status" = 3 ] || exit "$status"
    [ "$status" = 0 ] || wrong=3
    turns=$(last turns <<<"$json")
    row "$opening" "$value" "$turns" "$seeds" "$(last proved_from <<<"$json")" \
        "$(last lower <<<"$json")" "$(last upper <<<"$json")" \
        "$(last nodes <<<"$json")" "$(last seconds <<<"$json" | cut -c 1-9)"
    sed -n '$p' "$table" >&2
done < <(grep -v -e '^#' -e '^move,' "$here/tests/reference/rawlings-2015-kalah66-lines.csv")

printf '\n'
cat "$table"
echo 'seeds: after the last turn; proved: fewest turns after which the value is proved'
echo 'at least, at most: proved bounds of the position a turn before that'
exit "$wrong"
