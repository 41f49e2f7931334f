#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Does the fuzzer find what it must find?  Fuzzes every known-bad collector (collectors/faults.def)
# from an empty corpus, at most SECONDS_EACH seconds, until it raises the class of the table; what it
# raises before that is counted and passed over.  Prints a line each: defect, class, executions,
# seconds.  DEFECTS="a b" narrows.  Exit status 1 if one is not found.
set -eu
cd "$(dirname "$0")/.."

seconds_each=${SECONDS_EACH:-60}
bin=build/known-bad/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0
found=0

# The class that a log speaks of.
class_of() {
    local class
    class=$(sed -n 's/^isoheap: violation \([a-z_]*\).*/\1/p' "$1" | head -n 1)
    echo "${class:-none}"
}

# Fuzzes until the expected class comes or the time is up; sets runs and seconds.
hunt() {
    local defect=$1 expected=$2 seed=1 start=$SECONDS left class n
    runs=0
    while left=$((seconds_each - (SECONDS - start))) && [ "$left" -gt 0 ]; do
        mkdir -p "$work/$defect"
        "$bin/fuzz_bad_$defect" -seed="$seed" -max_len=256 -max_total_time="$left" -print_final_stats=1 \
            -artifact_prefix="$work/" "$work/$defect" >"$work/log" 2>&1 </dev/null || true
        n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log" | tail -n 1)
        runs=$((runs + ${n:-0}))
        seconds=$((SECONDS - start))
        class=$(class_of "$work/log")
        # found means: the class of the table, and an input to replay
        [ "$class" = "$expected" ] && ls "$work"/crash-* >/dev/null 2>&1 && return 0
        rm -f "$work"/crash-*
        seed=$((seed + 1))
        rm -rf "${work:?}/$defect"
    done
    return 1
}

printf '%-18s %-22s %12s %8s\n' defect class executions seconds
while read -r defect class; do
    case " ${DEFECTS:-$defect} " in *" $defect "*) ;; *) continue ;; esac
    [ "$defect" != small_table ] || continue # its table is larger than any heap that bytes can say
    if hunt "$defect" "$class"; then
        found=$((found + 1))
        printf '%-18s %-22s %12s %8s\n' "$defect" "$class" "$runs" "$seconds"
    else
        missed=$((missed + 1))
        printf '%-18s %-22s %12s %8s\n' "$defect" "not $class" "$runs" "$seconds"
    fi
done <<EOF
$(sed -n 's/^ *X([a-z_]*, \([a-z_0-9]*\), \([a-z_]*\), .*/\1 \2/p' collectors/faults.def)
EOF
echo "$found passed, $missed failed"
[ "$missed" -eq 0 ]
