#!/usr/bin/env bash
# Counts the instructions of one call of our operations at 10,000 skills. Counts do not depend on what else the machine
# does, so that a small loss shows.
#
#   benches/callgrind.sh                    print the counts
#   benches/callgrind.sh --check            compare with benches/callgrind.txt; exit code 1 if one grew by more than 3 %
#   benches/callgrind.sh --update           write benches/callgrind.txt
#   benches/callgrind.sh --profile NAME     print the dearest functions of an operation, instructions of one call
#
# Counts change with the compiler too: update the file with the same compiler before and after a change. Needs valgrind.
set -eu
cd "$(dirname "$0")/.."

operations=(get lookup prefix fuzzy search match list resolve)
calls=256
tolerance=3
known=benches/callgrind.txt
work=target/callgrind
mkdir -p "$work"

command -v valgrind >/dev/null || { echo "valgrind is not there (apt-get install valgrind)" >&2; exit 2; }
build=$(cargo bench --no-run --bench counted 2>&1) || { echo "$build" >&2; exit 2; }
program=$(echo "$build" | sed -n 's/.*Executable.*counted.*(\(.*\))$/\1/p')
rm -rf "$work/data"
"$program" "$work" fill

# run NAME: leaves the profile in $work/NAME.out; only what the function `measured` does is counted.
run() {
    rm -f "$work/$1.out"
    valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*counted::measured*' --dump-instr=no \
        --callgrind-out-file="$work/$1.out" "$program" "$work" "$1" "$calls" >"$work/$1.log" 2>&1 ||
        { cat "$work/$1.log" >&2; exit 2; }
}

if [ "${1:-}" = --profile ]; then
    run "${2:?name an operation: ${operations[*]}}"
    # Lines are "COUNT (SHARE%)  FILE:FUNCTION [OBJECT]"; a function that is inlined stands in several files.
    callgrind_annotate --threshold=100 --auto=no "$work/$2.out" | awk -v calls="$calls" '
        /^ *[0-9,]+ \(/ && !/PROGRAM TOTALS/ {
            count = $1
            gsub(",", "", count)
            sub(/^ *[0-9,]+ \([ 0-9.]+%\) +/, "")
            sub(/ \[.*$/, "")
            name = match($0, /:[^:]/) ? substr($0, RSTART + 1) : $0
            sum[name] += count
        }
        END { for (name in sum) printf "%12.1f  %s\n", sum[name] / calls, name }' | sort -rn | head -n 30
    exit
fi

for operation in "${operations[@]}"; do
    run "$operation"
    total=$(sed -n 's/^\(summary\|totals\): *\([0-9]*\).*/\2/p' "$work/$operation.out" | tail -n 1)
    [ "$total" -gt 0 ] || { echo "$operation: nothing was counted" >&2; exit 2; }
    echo "$operation $((total / calls))"
done | tee "$work/counts.txt"

case "${1:-}" in
    --update) cp "$work/counts.txt" "$known" ;;
    --check)
        awk -v tolerance="$tolerance" '
            NR == FNR { known[$1] = $2; next }
            !($1 in known) { print $1 ": not in the file"; bad = 1; next }
            { change = 100 * ($2 / known[$1] - 1) }
            change > tolerance { printf "%s: %d instructions, %.1f %% more than %d\n", $1, $2, change, known[$1]; bad = 1 }
            END { exit bad }' "$known" "$work/counts.txt" ;;
esac
