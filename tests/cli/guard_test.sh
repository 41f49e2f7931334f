#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A subject that turns on those around it, under the commands that run it: each ends with a verdict and
# the limit that was hit, and nothing stays.  MISBEHAVING knows the collector `unruly`.
set -u
: "${MISBEHAVING:?the path of the misbehaving command}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

# Processes that this test has started, known by a mark in their environment.
nothing_left() {
    local left
    left=$(grep -lazxF "ISOHEAP_TEST_MARK=$folder" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n')
    [ -z "$left" ] || complain "$1: processes are left: $left"
}

printf 'isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  r0 = alloc tag=0 [1, 2, 3]\n  full\n' >program.txt

# run DEED STATUS PATTERN [SECONDS]
run() {
    ISOHEAP_TEST_MARK=$folder UNRULY=$1 check "$2" "$3" "$MISBEHAVING" run -T "${4:-2}" -c unruly program.txt
    nothing_left "run, $1"
}
run kill_self 1 'detail +the collector crashed: Killed'
run kill_group 1 'detail +the collector crashed: Killed'
run end_quietly 1 'detail +the collector ended the process with status 3'
run stop_self 1 'detail +the run slept, or was stopped, for more than 6 seconds'
run leave_child 0 'program.txt: ok'
run leave_children 1 'detail +the run (started more than 128 processes|took more than 2 seconds)'
run eat_memory 1 'detail +the run took more than 2048 MiB of memory' 60
run kill_parent '[01]' '(ok|violation sanitizer)'
run stop_parent 0 'program.txt: ok'

ISOHEAP_TEST_MARK=$folder UNRULY=kill_self check 0 'sanitizer, subject \(unruly\): 1 op' "$MISBEHAVING" reduce -c unruly -o small.txt program.txt
ISOHEAP_TEST_MARK=$folder UNRULY=kill_self check 0 'violation sanitizer' "$MISBEHAVING" run -q --expect=sanitizer -c unruly small.txt
nothing_left reduce

# Under conformance a step is the answer, and the command ends.
for deed in stop_self leave_child kill_parent; do
    ISOHEAP_TEST_MARK=$folder UNRULY=$deed check '[01]' 'promises kept' "$MISBEHAVING" conformance -T 1 -c unruly --only=alloc
    nothing_left "conformance, $deed"
done
ISOHEAP_TEST_MARK=$folder UNRULY=stop_self check 1 'the step does not end: a hang \(it slept, or was stopped' "$MISBEHAVING" conformance -T 1 -c unruly --only=alloc

# That all of them were stopped for longer than the limit is no lateness.
{
    printf 'isoheap program 1\nconfig heap=8192\nscript\n  r0 = list 900 1\n'
    for _ in $(seq 400); do echo '  full'; done
} >long.txt
ISOHEAP_TEST_MARK=$folder "$MISBEHAVING" run -T 3 -c mark_sweep long.txt >out 2>&1 &
pid=$!
for _ in 1 2 3 4; do
    all=$(grep -lazxF "ISOHEAP_TEST_MARK=$folder" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n')
    # shellcheck disable=SC2086 # a process a word
    kill -STOP $all 2>/dev/null
    sleep 4
    # shellcheck disable=SC2086
    kill -CONT $all 2>/dev/null
done
wait $pid
[ $? -eq 0 ] || complain 'a run that was stopped for a while is no violation' out
exit $wrong
