#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap explore and SPIN on the same model, one after the other: bench/spin.sh [ISOHEAP]
#
# bench/onthefly.pml is the model of models/onthefly/ in Promela, with the same atomic steps.
# Both search without reduction and symmetry, so they must reach the same states (SPIN counts one
# more: before an initial state is chosen), and must agree on the known-bad variants.  SPIN checks
# two invariants, isoheap all of them.  Prints lines `name value unit`; exit status 1: they disagree.
# SMALL=yes takes the smallest configuration only (for the tests).
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
isoheap=$(realpath "${1:-$top/build/bin/isoheap}")
export ASAN_OPTIONS=detect_leaks=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
status=0
optimise=-O2
[ "${SMALL:-}" != yes ] || optimise=-O0 # compiling takes the longest then

# spin_run MUTATORS REFS VARIANT_NUMBER -> states seconds bytes_per_state errors
spin_run() {
    spin -a -DNM="$1" -DNR="$2" -DVARIANT="$3" "$top/bench/onthefly.pml" >/dev/null
    cc "$optimise" -DSAFETY -DNOREDUCE -DMEMLIM=8000 -w -o pan pan.c
    ./pan -m1000000 -w20 >pan.out 2>&1
    awk '/errors:/ { errors = $NF }
         /states, stored/ { states = $1 }
         /total actual memory/ { bytes = $1 * 1048576 }
         /elapsed time/ { seconds = $4 }
         END { printf "%d %g %.1f %d\n", states, seconds, bytes / states, errors }' pan.out
}

# isoheap_run MUTATORS REFS OPTION... -> states seconds bytes_per_state status
isoheap_run() {
    local mutators=$1 refs=$2 rc=0 began ended
    shift 2
    began=$(date +%s%N)
    "$isoheap" explore onthefly -m "$mutators" -r "$refs" --reduction none --no-symmetry -q "$@" >found || rc=$?
    ended=$(date +%s%N)
    awk -v seconds="$(((ended - began) / 1000000))" -v rc="$rc" '
         $1 == "states" { states = $2 }
         $1 == "a" { bytes = $5 }
         END { printf "%d %g %.1f %d\n", states, seconds / 1000, bytes, rc }' found
}

per_second() {
    awk -v n="$1" -v s="$2" 'BEGIN { printf "%.0f", (s > 0 ? n / s : 0) }'
}

compare() {
    local name=${1}x$2 ours theirs seconds bytes verdict
    read -r ours seconds bytes verdict < <(isoheap_run "$1" "$2" -I safety,strong_tricolour)
    echo "isoheap_${name}_states $ours states"
    echo "isoheap_${name}_speed $(per_second "$ours" "$seconds") states/s"
    echo "isoheap_${name}_state $bytes bytes"
    read -r theirs seconds bytes errors < <(spin_run "$1" "$2" 0)
    echo "spin_${name}_states $theirs states"
    echo "spin_${name}_speed $(per_second "$theirs" "$seconds") states/s"
    echo "spin_${name}_state $bytes bytes"
    if [ "$theirs" -ne $((ours + 1)) ] || [ "$verdict" -ne 0 ] || [ "$errors" -ne 0 ]; then
        echo "they disagree on $name" >&2
        status=1
    fi
}

# same_verdict NUMBER VARIANT: both find that it is bad, with one mutator and two references.
same_verdict() {
    local verdict errors
    read -r _ _ _ verdict < <(isoheap_run 1 2 --variant "$2" -I safety,strong_tricolour)
    read -r _ _ _ errors < <(spin_run 1 2 "$1")
    if [ "$verdict" -ne 1 ] || [ "$errors" -eq 0 ]; then
        echo "they disagree on $2" >&2
        status=1
    fi
}

compare 1 1
if [ "${SMALL:-}" != yes ]; then
    compare 1 2
    compare 2 1
    same_verdict 1 no_deletion_barrier
fi
same_verdict 2 no_insertion_barrier
exit $status
