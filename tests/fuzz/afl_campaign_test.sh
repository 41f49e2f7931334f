#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Campaigns of AFL++: whatever is killed with SIGKILL, no process stays, not even a target that AFL++ had stopped
# between two inputs; and the structured mutator is found where isoheap is installed, or the campaign does not begin.
# shellcheck disable=SC2016 # conditions are evaluated late
set -u
: "${ISOHEAP:?}" "${AFL_MUTATOR:?}" "${SOURCE_DIR:?}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
need afl-clang-fast afl-fuzz
mkdir bin
AFL_QUIET=1 afl-clang-fast -fsanitize=fuzzer -o bin/fuzz_tiny "$SOURCE_DIR/tests/cli/campaign/tiny_target.c" >out 2>&1 ||
    complain 'afl-clang-fast' out

# Processes that this test has started, known by a mark in their environment.
left() {
    grep -lazxF "ISOHEAP_TEST_MARK=$folder" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n'
}
# engines: those that are afl-fuzz; targets: those that are the target
named() {
    local pid
    for pid in $(left); do
        if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ]; then echo "$pid"; fi
    done
}
# until_true WHAT CONDITION: within a minute
until_true() {
    local _
    for _ in $(seq 1200); do
        eval "$2" && return 0
        sleep 0.05
    done
    complain "$1"
}
start() {
    ISOHEAP_TEST_MARK=$folder "$ISOHEAP" fuzz --engine=afl --bin-dir=bin --jobs=1 --time=300 --corpus="$1" --crashes=crashes \
        fuzz_tiny >log 2>&1 </dev/null &
    campaign=$!
    until_true "$1: AFL++ does not run" '[ -n "$(named afl-fuzz)" ] && [ -n "$(named target)" ]'
}

# the campaign
start one
kill -9 "$campaign"
wait "$campaign" 2>/dev/null
until_true 'processes outlive the campaign' '[ -z "$(left)" ]'

# the engine: its targets go with it, another one comes, and an interrupt ends all
start two
first=$(named afl-fuzz)
targets=$(named target)
# shellcheck disable=SC2086 # a process a word
kill -9 $first
until_true 'the engine is not started again' 'grep -q "starting it again" log'
for pid in $targets; do
    until_true "target $pid outlives its engine" "! grep -qazxF 'ISOHEAP_TEST_MARK=$folder' /proc/$pid/environ 2>/dev/null"
done
kill -INT "$campaign"
wait "$campaign"
until_true 'processes outlive an interrupt' '[ -z "$(left)" ]'

# ---- the mutator, for a target of a collector ----

mkdir -p prefix/bin collectors
cp "$ISOHEAP" prefix/bin/isoheap
cp bin/fuzz_tiny collectors/fuzz_mark_sweep
fuzz() {
    prefix/bin/isoheap fuzz --engine=afl --bin-dir=collectors --jobs=1 --time=4 --corpus="$1" --crashes=crashes fuzz_mark_sweep
}
check 4 'isoheap_afl_mutator.so, is neither in collectors nor with this isoheap; build it there.*AFL_CUSTOM_MUTATOR_LIBRARY' fuzz without
grep -q '^fuzz_mark_sweep did not run' out || complain 'it is not said that the target did not run' out
for place in lib lib/x86_64-linux-gnu; do
    mkdir -p "prefix/$place/isoheap"
    cp "$AFL_MUTATOR" "prefix/$place/isoheap/isoheap_afl_mutator.so"
    fuzz with >log 2>&1 </dev/null &
    campaign=$!
    until_true "the mutator in $place is not found" \
        '[ "$(readlink with/.work/fuzz_mark_sweep/mutator.so)" = "$(realpath "prefix/$place/isoheap/isoheap_afl_mutator.so")" ]'
    wait "$campaign"
    ! grep -q 'is neither in' log || complain "$place" log
    rm -r "prefix/$place/isoheap" with
done
exit $wrong
