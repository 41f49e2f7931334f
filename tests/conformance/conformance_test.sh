#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap conformance: every collector that isoheap knows keeps its promises; every plug-in of
# tests/conformance/table.h breaks the one that the table says, in words; those that cannot even be
# loaded end in a message.
set -u
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
plugins=${CONFORMANCE_DIR:?set CONFORMANCE_DIR to the folder of the plug-ins}
source=${SOURCE_DIR:?set SOURCE_DIR to the top of the tree}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
unset ISOHEAP_PLUGIN

# ---- what is sound passes ----

for collector in $("$isoheap" list | sed -n '/^collectors/,/^$/s/^  \([a-z_0-9]*\) .*/\1/p'); do
    "$isoheap" conformance --timeout 60 --collector "$collector" >said 2>&1 # a slow machine is no hang
    grep -q '^[1-9][0-9]* promises kept, [0-9]* broken' said || complain "$collector: no sum: $(cat said)"
    ! grep -q '^  BROKEN ' said || complain "$collector: $(grep -A 3 BROKEN said)"
done

"$isoheap" conformance >said 2>&1
grep -Eq '^  judged  isomorphism [1-9][0-9]*, fields' said && grep -q 'remembered (lacks young and remembered)' said ||
    complain "nobody says who judged: $(cat said)"

# ---- every promise can be broken ----

rows=0
while read -r name step; do
    rows=$((rows + 1))
    "$isoheap" conformance --timeout 1 --plugin "$plugins/broken_$name.so" --only "$step" >said 2>&1
    status=$?
    [ $status = 1 ] || complain "broken_$name: status $status, not 1: $(cat said)"
    grep -q "^  BROKEN   $step " said || complain "broken_$name does not break $step: $(cat said)"
done < <(sed -n 's/^ *X(\([a-z_]*\), \([a-z_]*\),.*/\1 \2/p' "$source/tests/conformance/table.h")
[ $rows -ge 51 ] || complain "only $rows rows"

# ---- and the words are the ones that help ----

says() {
    "$isoheap" conformance --timeout 1 --plugin "$plugins/broken_$1.so" --only "$2" 2>&1 | tr -s '\n ' '  ' |
        grep -qF "$3" || complain "broken_$1 does not say: $3"
}
says slot_stale roots 'slot 2 of mutator 0 points where the walk has no live block'
says init_collects init 'init collected; it never may'
says state_stays repeats 'reset leaves state behind'
says shares_state beside 'two of them in a process do not do what each does alone'
says walk_gap walk 'the walk ends before the heap does'
says walk_goes_back walk 'the walk has a gap or goes back: to word 0 of the heap (0x'
says claims_infix infix 'an infix pointer, alone in its slot'
says hangs roots 'the step does not end: a hang (it took more than 1 seconds of processor time)'
says crashes roots 'the collector crashed: Aborted'
says contradiction traits 'trait sorted_free_list needs free_list'
says claims_minor exact_minor 'young blocks were garbage'
says check_complains roots "the collector's own check says: to-space is upside down"

# A crash and a hang cost a step, not the run: all steps answer.
"$isoheap" conformance --plugin "$plugins/broken_crashes.so" >said 2>&1
[ "$(grep -cE '^  (kept|BROKEN|-) ' said)" = "$("$isoheap" conformance | grep -cE '^  (kept|BROKEN|-) ')" ] ||
    complain 'a crash ended the run'

# ---- known-bad collectors ----

for row in word_bits:sign_lost grows:growth_unmarked grows:half_grown acyclic:count_kept always_merged:neighbours_left \
    solid_end:rest_behind; do
    "$isoheap" conformance --only="${row%:*}" --collector="bad_${row#*:}" >said 2>&1
    grep -q "^  BROKEN   ${row%:*} " said || complain "$row: $(cat said)"
done

# ---- what cannot be loaded ----

refuses() {
    timeout 20 "$isoheap" "${@:2}" >said 2>&1
    status=$?
    [ $status = 2 ] || complain "${*:2}: status $status, not 2: $(cat said)"
    grep -qF -- "$1" said || complain "${*:2} does not say '$1': $(cat said)"
}
echo 'not a shared object' >text.so
echo 'isoheap program 1' >empty.txt
refuses 'loading it crashes' conformance --plugin "$plugins/load_crashes.so"
refuses 'loading it takes more than' list --plugin "$plugins/load_hangs.so"
refuses 'with the headers of another isoheap' run --plugin "$plugins/load_other_interface.so" empty.txt
refuses 'lacks one of the functions' show --plugin "$plugins/load_incomplete.so" empty.txt
refuses 'has only one of young and remembered' run --plugin "$plugins/load_half.so" empty.txt
refuses 'No such file' run --plugin nowhere.so empty.txt
refuses 'text.so' reduce --plugin text.so empty.txt
refuses 'no step is called nonsense' conformance --only nonsense

# ---- the option of the other subcommands ----

plugin=$plugins/broken_field_stale.so
cat >crash.txt <<'PROGRAM'
isoheap program 1
heap
  b0 = block tag=0 [7, b1]
  b1 = block tag=0 [8, 9]
roots
  r0 = b0
script
  full
  full
PROGRAM
"$isoheap" list --plugin "$plugin" | grep -q '^  broken_field_stale ' || complain 'list does not have the plug-in'
"$isoheap" list --json --plugin "$plugin" | python3 -c 'import json, sys; json.load(sys.stdin)' || complain 'list --json'
"$isoheap" run --plugin "$plugin" crash.txt >said 2>&1
[ $? = 1 ] || complain 'run finds nothing in the plug-in'
command=$(sed -n 's/^  isoheap \(run --plugin .*\)/\1/p' said)
[ -n "$command" ] || complain "the report has no command with the plug-in: $(cat said)"
# shellcheck disable=SC2086 # words
"$isoheap" $command >again 2>&1
[ $? = 1 ] || complain 'the command of the report does not replay'
ISOHEAP_PLUGIN=$plugin "$isoheap" run crash.txt >said 2>&1
[ $? = 1 ] || complain 'ISOHEAP_PLUGIN is not read'
"$isoheap" run --plugin "$plugin" --collector cheney crash.txt >said 2>&1 || complain '--collector does not win'
"$isoheap" show --map --plugin "$plugin" crash.txt | grep -q '^broken_field_stale: violation' || complain 'show'
"$isoheap" reduce --plugin "$plugin" --output small.txt crash.txt >said 2>&1 || complain "reduce: $(cat said)"
grep -q '^# replay: isoheap run --plugin ' small.txt || complain 'reduce does not name the plug-in'
"$isoheap" export --plugin "$plugin" crash.txt >finding.c || complain 'export'
exit $wrong
