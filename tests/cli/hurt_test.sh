#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The subject cannot hurt the judge: whatever `unruly` writes (tests/cli/misbehaving/unruly.c), few words or
# many, before and behind each thing that it can reach, and whatever it does to its process, each command
# ends with a verdict on it.  `run` takes all of it (the lengths in between for two regions only, since each
# run costs half a second of processor time); the other commands, whose subjects run under the same
# guard, take a part.  Campaigns: campaign_findings_test.sh.
set -u
: "${MISBEHAVING:?the path of the misbehaving command}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

cat >program.txt <<'END'
isoheap program 1
heap
  static b0 = block tag=0 [1, 2]
roots
  r1 = b0
script
  r0 = alloc tag=0 [1]
  r2 = alloc tag=0 [1, 2, 3]
  r3 = alloc tag=0 [1, 2, 3]
  full
END

# judged DEED PATTERN COMMAND...: a violation, the subject guilty of it, and nothing that is ours.
judged() {
    local deed=$1 pattern=$2
    shift 2
    UNRULY=$deed check 1 "$pattern" "$MISBEHAVING" "$@"
    ! cat out err | grep -Eq 'harness.error|harness fault|the harness itself|guilty +reference' ||
        complain "$deed, $1: the harness is accused" out err
}
in_run() { judged "$1" "violation ($2) \(subject\)" run -T 2 -c unruly program.txt; }
in_reduce() {
    rm -f small.txt
    UNRULY=$1 check 0 "($2), subject \(unruly\)" "$MISBEHAVING" reduce -c unruly -o small.txt program.txt
    grep -Eq "^# violation ($2)" small.txt || complain "reduce, $1: no finding" out err
}
in_conformance() { judged "$1" '0 promises kept, 1 broken' conformance -T 2 -c unruly --only=alloc; }
in_explore() {
    judged "$1" "unruly: violation ($2) \(subject\)" \
        explore -q -T "${3:-2}" -j1 -b0 -s1 -n1 -g0 --shapes=b3 --menu=alloc --crashes=crashes unruly
}
everywhere() {
    in_run "$@"
    in_reduce "$@"
    in_conformance "$@"
    in_explore "$@"
}

# ---- words beyond a region: a fault, or words beside it that are not as they were ----

for region in heap statics slots config hooks content stack; do
    lengths='100 10000000'
    [[ ! $region =~ heap|slots ]] || lengths+=' 100000 200000'
    for words in $lengths; do
        [ $region = stack ] || in_run "$region-$words" sanitizer
        in_run "$region+$words" sanitizer
    done
done
# the words below a stack are nobody's, until there is no room for more
in_run stack-100,short '[a-z_]+'
in_run stack-10000000 sanitizer
for region in heap slots config hooks; do
    in_conformance "$region-100"
    in_explore "$region+100" sanitizer
done
in_reduce heap-100 sanitizer
in_reduce slots-100 sanitizer
in_reduce statics+100 sanitizer

# ---- deeds ----

for deed in null end_well leave_it_to_a_copy; do
    everywhere $deed sanitizer
done
for deed in close_files fork_on; do
    everywhere $deed,short '[a-z_]+'
done
for deed in end_quietly recurse kill_group; do
    in_run $deed sanitizer
    in_explore $deed sanitizer
done
for deed in change_handlers leave_child kill_parent; do
    in_run $deed,short '[a-z_]+'
    in_explore $deed,short '[a-z_]+'
done
in_run jump sanitizer
in_run spin_on no_progress
in_run stop_parent,short '[a-z_]+'
in_explore kill_self sanitizer
in_explore stop_self no_progress
in_explore eat_memory sanitizer 60

# ---- in the run that a report asks for, when the verdict is there ----

for deed in kill_self leave_it_to_a_copy heap+10000000 end_well spin_on; do
    in_run $deed,short,again overlap
    grep -q '^replay ' out || complain "$deed, again: no report" out err
    grep -q '^  written ' out && complain "$deed, again: it has been told what was not seen" out
done
exit $wrong
