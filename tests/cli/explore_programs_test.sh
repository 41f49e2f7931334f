#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap explore from outside: every collector in a small scope, known-bad ones, processes,
# interrupts, what is wrong.  ISOHEAP is the command, MISBEHAVING the one with the collector of
# tests/cli/misbehaving/.
set -u
: "${ISOHEAP:?the path of the command}" "${MISBEHAVING:?the path of the misbehaving one}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

same() {
    cmp -s "$1" "$2" || complain "$3: $1 and $2 differ" "$1" "$2"
}

# ---- every collector ----

# A bound of seconds for each; docs/explore.md has larger scopes.  The first has every kind, too.
check 0 'mark_sweep: complete, no violation' "$ISOHEAP" explore all --blocks=1 --operations=1 --slots=1 \
    --config=variant=0
for collector in $("$ISOHEAP" list --json | python3 -c 'import json, sys
for c in json.load(sys.stdin)["collectors"]: print(c["name"])'); do
    grep -q "^$collector: complete, no violation" out || complain "all is not all: $collector" out
done
grep -q ' programs in .* s, .*/s' err || complain 'no word about the time' err
check 0 'complete' "$ISOHEAP" explore all -q --blocks=2 --operations=1 --slots=1 --gaps=0 --shapes=b2,c1 \
    --config=variant=0 --config=kind=0
check 0 'complete' "$ISOHEAP" explore all -q --blocks=1 --operations=2 --slots=1 --gaps=0 --config=variant=0 --config=kind=0

# What has run is what there is, by the formula.
check 0 'complete' "$ISOHEAP" explore -q cheney -b1 -n2 --menu=load,store,full --gaps=0
ran=$(sed -n 's/^  programs *\([0-9]*\).*/\1/p' out)
[ ! -s err ] || complain '--quiet is not quiet' err
check 0 '^  units' "$ISOHEAP" explore --count cheney -b1 -n2 --menu=load,store,full --gaps=0
[ "$ran" = "$(sed -n 's/^  programs *\([0-9]*\).*/\1/p' out)" ] || complain "$ran programs" out

# ---- it can fail ----

# finds DEFECT CLASS OPERATIONS OPTION...: the class, in a script of so many operations, in a
# program that the other commands understand.
finds() {
    local file=crashes/$2/explore-bad_$1.txt lines
    check 1 "bad_$1: violation $2 \(subject\)" "$ISOHEAP" explore "bad_$1" --quiet "${@:4}"
    check 0 "$file: violation $2" "$ISOHEAP" run -q --collector "bad_$1" --expect "$2" "$file"
    grep -q "^# violation $2: " "$file" || complain 'no header' "$file"
    lines=$(sed '1,/^script$/d' "$file" | wc -l)
    grep -q '^script$' "$file" || lines=0
    [ "$lines" -eq "$3" ] || complain "$lines operations, not $3" "$file"
}
finds infix_root lost_object 1 -n1 -b1
finds follows_code sanitizer 1 -n1 -b1
finds lost_overflow lost_object 1 -n1 -b2 --shapes=b2 --gaps=0
finds endless_rescan no_progress 1 -n1 -b2 --shapes=b2 --gaps=0
finds small_retained garbage_retained 0 -n1 -b1 --shapes=b1
finds no_forward sharing_changed 1 -n1 -b1
finds last_field dangling_pointer 1 -n1 -b1
finds soft_limit missed_out_of_memory 1 -n1 -b2
finds lost_fragments heap_worn_out 0 -n0 -b0
finds l3_last_field refinement_broken 1 -n1 -b1
check 1 'bad_infix_root' "$ISOHEAP" explore bad_infix_root -n1 -b1
grep -q '^isoheap: violation lost_object$' out || complain 'no report' out
check 0 'complete' "$ISOHEAP" explore -q bad_infix_root -n1 -b1 --oracles=well_formed,colours

# Subjects that crash, hang and sleep.
menu=("--menu=alloc,drop" --operations=1 --blocks=0 --jobs=1)
check 1 'violation collector_assertion \(subject\) at operation 0: r0 = alloc tag=3' \
    "$MISBEHAVING" explore misbehaves "${menu[@]}" --shapes=b1:3 -q
check 1 'violation no_progress \(subject\) at operation 0: r0 = alloc tag=1' \
    "$MISBEHAVING" explore misbehaves "${menu[@]}" --shapes=b1:1 -q --timeout=1
check 1 'violation no_progress' "$MISBEHAVING" explore misbehaves "${menu[@]}" --shapes=b1:2 -q --timeout=1

# ---- processes and interrupts ----

scope=(-b2 -n1 --slots=1 --gaps=1)
"$ISOHEAP" explore -q cheney "${scope[@]}" --jobs=1 >one || complain 'one process failed' one
"$ISOHEAP" explore -q cheney "${scope[@]}" --jobs=5 >five || complain 'five processes failed' five
same one five 'processes can be told'
"$ISOHEAP" explore -q bad_no_forward "${scope[@]}" --jobs=1 >one
"$ISOHEAP" explore -q bad_no_forward "${scope[@]}" --jobs=5 >five
same one five 'another violation'

# Interrupted again and again, it ends with what a run without interrupts says.  Interrupts come after
# an eighth of the time that the whole takes here and now; if the machine then does little between
# two of them, the last run has all the time it needs.
scope=(-b1 -n2 --slots=1)
began=$(date +%s%N)
"$ISOHEAP" explore -q cheney "${scope[@]}" -j1 >whole || complain 'the whole failed' whole
eighth=$(python3 -c "print(($(date +%s%N) - $began) / 8e9)")
rounds=0
while [ "$rounds" -lt 12 ]; do
    "$ISOHEAP" explore -q cheney "${scope[@]}" -j1 --state=state >parts 2>err &
    child=$!
    sleep "$eighth"
    kill -INT "$child" 2>/dev/null
    kill -TERM "$child" 2>/dev/null # a job in the background does not hear SIGINT
    wait "$child"
    status=$?
    rounds=$((rounds + 1))
    [ "$status" -ne 0 ] || break
    [ "$status" -eq 143 ] || complain "status $status at an interrupt" err
done
if [ "$status" -ne 0 ]; then
    "$ISOHEAP" explore -q cheney "${scope[@]}" -j1 --state=state >parts 2>err ||
        complain 'it does not come to an end' state/cheney.state
fi
[ "$rounds" -gt 1 ] || complain 'nothing was interrupted'
same whole parts "after $rounds rounds"
check 0 'complete' "$ISOHEAP" explore -q cheney "${scope[@]}" --state=state
same whole out 'the state of what is done'

# ---- what is wrong ----

check 2 'state/cheney.state is of another exploration' "$ISOHEAP" explore cheney -n1 --state=state
sed 's/^digest.*/digest none/' state/cheney.state >damaged
cp damaged state/cheney.state
check 3 'cheney.state is damaged' "$ISOHEAP" explore cheney "${scope[@]}" --state=state
echo nonsense >state/cheney.state
check 3 'cheney.state is no state' "$ISOHEAP" explore cheney "${scope[@]}" --state=state
: >file
check 2 'file/lost_object' "$ISOHEAP" explore -q bad_infix_root -n1 -b1 --crashes=file
check 4 'cannot make the folder file' "$ISOHEAP" explore -q cheney -n0 -b0 --state=file
check 2 'no COLLECTOR' "$ISOHEAP" explore
check 2 'no collector is called nobody' "$ISOHEAP" explore nobody
check 2 'more gaps than places' "$ISOHEAP" explore cheney -b0 -g2
check 2 'more than 2\^64 programs' "$ISOHEAP" explore cheney -n16
check 2 '--blocks takes a number from 0 to 4' "$ISOHEAP" explore cheney -b9
check 2 'x1 is not such a list' "$ISOHEAP" explore cheney --shapes=x1
check 2 'sing is not such a list' "$ISOHEAP" explore cheney --menu=sing
check 2 '--config takes a number from 16 to 1048576' "$ISOHEAP" explore cheney --config=heap=1
check 2 '--config takes KEY=VALUE' "$ISOHEAP" explore cheney --config=heat=1
check 0 'Usage: isoheap explore .*COLLECTOR' "$ISOHEAP" explore --help

# Nothing explored is not explored without a violation.
check 2 '--menu asks for closure, and the scope has no such operation: --allocs' \
    "$ISOHEAP" explore -q cheney -b1 -n1 --menu=closure,full --shapes=b1
check 2 '--menu asks for set, and the scope has no such operation: it needs another slot' \
    "$ISOHEAP" explore -q cheney -b1 -n1 --menu=set --slots=1
check 2 'mark_sweep: no operation of [0-9]+ programs had an effect.*has none of the menu.s' \
    "$ISOHEAP" explore -q mark_sweep -b1 -s1 -n1 -g0 --menu=poll
! grep -q complete out || complain 'complete, with nothing done' out
check 2 'no operation of 1 programs had an effect.*--operations=0 asks for that' "$ISOHEAP" explore -q cheney -n0 -b0 -g0
check 0 'menu=alloc,full kinds' "$ISOHEAP" explore -q cheney -b1 -s1 -n1 -g0 --shapes=b1 --menu=alloc,full
# A default, and all, are what the scope has of them; a word of two operations means both.
check 0 'menu=alloc,load,store,drop,minor,full,compact kinds' \
    "$ISOHEAP" explore -q cheney -b1 -s1 -n1 -g0 --shapes=b1
check 0 'menu=alloc,load,.*,poll,ephemeron,.*,build,.*,finalise_then,.*,starve kinds' "$ISOHEAP" explore -q --count cheney -b1 -s1 -n1 --shapes=b1 --menu=all
! grep -Eq 'closure|raw|,set,' out || complain 'the scope has more than it can' out
check 0 'menu=ephemeron,weak_set,weak_get kinds' \
    "$ISOHEAP" explore -q mark_sweep -b1 -s1 -n1 -g0 --shapes=b1 --menu=ephemeron,weak
grep -Eq '^  operations   [1-9]' out || complain 'no ephemeron' out

# ---- a terminal ----

if python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    python3 - "$ISOHEAP" >terminal <<'END' || complain 'nothing on a terminal' terminal
import os, pty, sys
status = pty.spawn([sys.argv[1], "explore", "cheney", "-b2", "-n1", "--slots=1"])
sys.exit(os.waitstatus_to_exitcode(status))
END
    tr '\r' '\n' <terminal | grep -Eq 'cheney: [0-9.]+ %, .* of .* programs, .*/s, about .* left' ||
        complain 'no progress on a terminal' terminal
else
    lack 'progress on a terminal: this system has no pseudo-terminals (/dev/ptmx)'
fi

finish
