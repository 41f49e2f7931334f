#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap explore and schedules from outside: exit statuses, messages, files.  ISOHEAP_COMMAND (or
# ISOHEAP) is the path of the command.
set -u
isoheap=${ISOHEAP_COMMAND:-${ISOHEAP:?set ISOHEAP_COMMAND to the path of the command}}
case $isoheap in
/*) ;;
*) isoheap=$PWD/$isoheap ;;
esac
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

# check STATUS PATTERN ARGUMENT...: status, and an extended regular expression that must match
# stdout and stderr, lines joined by `;`.
check() {
    status=$1 pattern=$2
    shift 2
    "$isoheap" "$@" >out 2>err </dev/null
    got=$?
    output=$(cat out err | tr '\n' ';')
    if [ "$got" -ne "$status" ] || ! printf '%s\n' "$output" | grep -Eq -e "$pattern"; then
        echo "isoheap $*"
        echo "  expected status $status and /$pattern/"
        echo "  got status $got and $(printf '%.1000s' "$output")"
        wrong=1
    fi
}

check 0 'complete: no state is bad.*states +999;' explore onthefly -r 1 -q
check 0 'complete' explore onthefly -r 1 -q --reduction none --fair --jobs 2
check 0 'memory=sc.*' explore onthefly -r 1 -q --sc --expect none
check 1 'violation tricolour_broken.*marked_insertions' explore onthefly -q --variant no_insertion_barrier -o a.schedule
check 0 'violation lost_object' explore onthefly -q --variant alloc_white -I safety --expect lost_object -o b.schedule
check 1 'violation tricolour_broken .*variant +no_insertion_barrier.*step \| m0' run a.schedule
check 0 'violation tricolour_broken' run --expect tricolour_broken a.schedule
check 1 'expected lost_object' run -q --expect lost_object a.schedule
check 0 'violation lost_object.*step \| m0.*gc_free' explore --replay b.schedule --expect lost_object --columns
check 1 'violation (tricolour|handshake)_broken' explore --replay b.schedule -q --invariants all
check 1 '2 passed|1 passed, 1 failed' run -q --expect lost_object a.schedule b.schedule

check 0 'violation lost_object.*model steps +[0-9]+;' explore onthefly -q --directed --variant no_deletion_barrier -I safety --expect lost_object -o d.schedule
check 0 'violation lost_object' run -q --expect lost_object d.schedule
check 0 '^isoheap schedule 1;.*# gc_idle_fence: mfence' show b.schedule
check 0 '^step \| m0' show --map b.schedule
check 2 'text and --map' show --svg b.schedule
"$isoheap" explore onthefly -q --raw --directed --variant no_deletion_barrier -I safety -o raw.schedule >out 2>err
check 0 'lost_object: [0-9]+ steps, from [0-9]+' reduce -o reduced.schedule raw.schedule
check 0 'violation lost_object' run -q --expect lost_object reduced.schedule
[ "$(wc -l <reduced.schedule)" -lt "$(wc -l <raw.schedule)" ] || { echo "reduce leaves nothing out"; wrong=1; }
sed '/^steps/q; /^variant/d' b.schedule >cycle.schedule
echo gc >>cycle.schedule
check 5 'raises no violation' reduce cycle.schedule
check 0 'ok, [0-9]+ steps' run cycle.schedule
head -n 40 b.schedule >half.schedule
check 0 'violation lost_object.*steps' explore --from half.schedule -q --expect lost_object -o e.schedule
check 0 'violation lost_object' run -q --expect lost_object e.schedule
check 3 'No such file' explore --from missing.schedule

"$isoheap" explore onthefly -q --variant no_insertion_barrier -o again.schedule >out2 2>/dev/null
cmp -s a.schedule again.schedule || { echo "two runs give two counter-examples"; wrong=1; }

check 1 'violation mark_lost.*mark_local' explore onthefly -q -m 2 -r 1 --first mark_local --reduction none -v no_second_look
check 0 'complete' explore onthefly -q -r 1 --first weak_tricolour --reduction none -v lost_grey
check 1 'reduction +none: no stronger one is known' explore onthefly -q -r 1 -v no_wait
check 2 'nonsense' explore onthefly -q --first nonsense
check 2 'incomplete: as many states' explore onthefly -q --states 1000
check 2 'incomplete: as many states' explore onthefly -q -m 4 -r 8 -f 4 --states 1000
check 2 'incomplete: as many states' explore onthefly -q -m 4 -r 8 -f 4 --states 1000 --directed
check 2 'incomplete: as many states as --memory' explore onthefly -m 2 -r 3 -q --memory 1
check 0 'complete: every cycle ends' explore onthefly -q --live -r 1
check 1 'no_progress.*loop +steps 54 to 62, again and again' explore onthefly -q --live -r 1 -v endless_rounds -o live.schedule
check 0 'ok' run live.schedule
check 0 'loop +none: who could take a step need not' explore onthefly -q --live -r 1 -v blocks_unanswered -e no_progress
check 2 'incomplete: as many states' explore onthefly -q --live --states 1000
check 2 'no_such is not one of: .*plain_mark' explore onthefly --variant no_such
check 2 'is not one of: valid_refs' explore onthefly --invariants no_such
check 2 'takes a number from 1 to 4, not "5"' explore onthefly --mutators 5
check 2 'takes a number from 1 to 8, not "x"' explore onthefly --buffer x
check 2 'no COLLECTOR' explore
check 2 'none, local or full' explore onthefly --reduction some
check 2 'cannot write /nowhere' explore onthefly -q --variant old_sense -o /nowhere/x.schedule
check 0 'Variants:.*no_gc_fence.*Invariants:.*strong_tricolour' explore onthefly --help

sed 's/^  gc step.*gc_idle_fence.*/  gc jump/' a.schedule >c.schedule
check 3 'c.schedule:[0-9]+:6: expected step, alloc' run c.schedule
sed 's/^  gc step.*gc_idle_fence.*/  m0 step/' a.schedule >c.schedule
check 3 'step 1, .m0 step., cannot be taken: the process is at mut_top' run c.schedule
sed 's/schedule 1/schedule 7/' a.schedule >c.schedule
check 3 'this is version 7; only version 1' run c.schedule
check 3 'No such file' explore --replay missing.schedule
head -c 100 a.schedule >c.schedule
check 3 'c.schedule:[0-9]+:[0-9]+: ' explore --replay c.schedule
exit $wrong
