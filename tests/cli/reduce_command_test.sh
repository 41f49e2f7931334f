#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap reduce from outside: exit statuses, budgets, interrupts, subjects that hang and crash.
# ISOHEAP is the command, MISBEHAVING the one with the collector of tests/cli/misbehaving/.
set -u
: "${ISOHEAP:?the path of the command}" "${MISBEHAVING:?the path of the misbehaving one}" "${SOURCE_DIR:?the checkout}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

# has FILE PATTERN: exactly this in a file.
has() {
    grep -Eq -e "$2" "$1" || complain "no /$2/ in $1" "$1"
}

# at_most FILE OPERATIONS: lines behind `script`.
at_most() {
    local n
    n=$(sed '1,/^script$/d' "$1" | wc -l)
    [ "$n" -le "$2" ] || complain "$n operations are left in $1" "$1"
}

# What a schedule cannot be reduced to, and why.
for tag in 6 7; do
    printf 'isoheap program 1\nconfig schedule=3 preempt=20\nscript\n  full\n  r1 = alloc tag=%s [1]\n' $tag >tag$tag.txt
done
sed -i 's/ preempt=20//' tag6.txt
check 0 'isoheap: schedule=[1-9][0-9]* stays a number: the violation needs more than its first 1024 decisions, and a program lists no more' \
    "$MISBEHAVING" reduce --collector misbehaves -o small.txt tag6.txt
has small.txt '^config schedule=[1-9]'
check 0 'isoheap: preempt=[1-9][0-9]*: some decisions are at edges that the compiler has made, which another build may have elsewhere' \
    "$MISBEHAVING" reduce --collector misbehaves -o small.txt tag7.txt
has small.txt '^config .*preempt=[1-9]'
! grep -q 'stays a number' err || complain 'a number that has become a list stays' err
[ "$(sed -n 's/^config .*schedule=\([^ ]*\).*/\1/p' small.txt)" = '' ] || complain 'the number stays beside the list' small.txt

# A finding with much around it.
{
    echo 'isoheap program 1'
    echo 'heap'
    for b in $(seq 0 9); do echo "  b$b = block tag=$b [b$(((b + 3) % 10)), $b]"; done
    echo '  b10 = closure arity=1,2 env=[b3, 7]'
    echo 'roots'
    for r in $(seq 0 9); do echo "  r$r = b$r"; done
    echo '  r12 = b10+3'
    echo 'script'
    for r in $(seq 0 9); do echo "  r2$r = alloc tag=0 [r$r, 1]"; done
    echo '  full'
} >finding.txt

# ---- results ----

check 0 'lost_object, subject \(bad_infix_root\): 1 operations and 1 items, from 11 and 11' \
    "$ISOHEAP" reduce --collector bad_infix_root -o small.txt finding.txt
has small.txt '^# violation lost_object: '
has small.txt '^# guilty: subject \(bad_infix_root\)$'
has small.txt '^# replay: isoheap run --collector bad_infix_root --reference cheney small.txt$'
at_most small.txt 1
replay=$(sed -n 's/^# replay: isoheap //p' small.txt)
# shellcheck disable=SC2086
"$ISOHEAP" $replay >out 2>&1
[ $? -eq 1 ] || complain "the command of the header does not replay it" out
check 0 'violation' "$ISOHEAP" run --collector bad_infix_root --expect lost_object small.txt

"$ISOHEAP" reduce -c bad_infix_root -o again.txt finding.txt 2>err
sed 's/again.txt/small.txt/' again.txt | cmp -s - small.txt || complain "a second run differs" again.txt
"$ISOHEAP" reduce -c bad_infix_root -o again.txt small.txt 2>err
sed 's/again.txt/small.txt/' again.txt | cmp -s - small.txt || complain "what was reduced changes" again.txt
"$ISOHEAP" convert --to=bytes -o bytes finding.txt
"$ISOHEAP" reduce -c bad_infix_root - <bytes 2>err | sed 's/crash.txt/small.txt/' | cmp -s - small.txt ||
    complain "bytes on standard input give another result"

# One defect raises several classes: with any of them kept, the one with the smallest program is left.
check 0 'dangling_pointer, subject \(bad_copied_down\)' \
    "$ISOHEAP" reduce -c bad_copied_down -o strict.txt "$SOURCE_DIR/seeds/compact/infix_field.txt"
check 0 'data_changed, subject \(bad_copied_down\): 1 operations and 2 items' \
    "$ISOHEAP" reduce -c bad_copied_down --any-violation -o any.txt strict.txt
has any.txt '^# violation data_changed: '
check 5 'raises no violation' "$ISOHEAP" reduce -c mark_sweep --any-violation finding.txt

check 0 'minimal: [0-9]+ single' "$ISOHEAP" reduce -c bad_infix_root --verify-minimal -o v.txt finding.txt
check 1 'not minimal: one more step keeps it: remove' \
    "$ISOHEAP" reduce -c bad_infix_root --runs 0 --verify-minimal finding.txt
check 0 'minimal' "$ISOHEAP" reduce -c bad_infix_root --runs=0 --verify-minimal small.txt
grep -q $'\r' err && complain "a progress line in a file" err

# ---- no violation, bad usage, unreadable input ----

check 5 'raises no violation of mark_sweep: nothing to reduce' "$ISOHEAP" reduce -o no.txt finding.txt
[ ! -e no.txt ] || complain "something was written without a violation"
check 2 'no FILE' "$ISOHEAP" reduce
check 2 'one FILE' "$ISOHEAP" reduce small.txt small.txt
check 2 'no collector is called nobody' "$ISOHEAP" reduce -c nobody small.txt
check 2 'no collector is called nobody' "$ISOHEAP" reduce -r nobody small.txt
check 2 'no oracle is called' "$ISOHEAP" reduce -O nothing small.txt
for bad in --runs=x --runs=-1 --runs= --runs=99999999999 --time=0 --time=1s --timeout=0; do
    check 2 'takes a number from' "$ISOHEAP" reduce "$bad" small.txt
done
check 2 'cannot write' "$ISOHEAP" reduce -c bad_infix_root -o no/where.txt small.txt
check 3 'No such file' "$ISOHEAP" reduce missing.txt
echo 'isoheap program 1 nonsense' >bad.txt
check 3 'bad.txt:1:19' "$ISOHEAP" reduce bad.txt
check 0 'verify-minimal' "$ISOHEAP" reduce --help

# ---- budgets ----

check 0 'in 5 runs' "$ISOHEAP" reduce -c bad_infix_root --runs 5 -o five.txt finding.txt
has err 'ended by --runs: perhaps not minimal'
check 0 'violation' "$ISOHEAP" run -c bad_infix_root --expect lost_object five.txt
check 1 'not minimal' "$ISOHEAP" reduce -c bad_infix_root --runs 5 --verify-minimal -o five.txt finding.txt

# ---- the reference, and oracles that are left out ----

check 0 'reference \(bad_infix_root\): 1 op' "$ISOHEAP" reduce -c mark_sweep -r bad_infix_root finding.txt
has out 'guilty: reference \(bad_infix_root\)'
check 0 'op' "$ISOHEAP" reduce -c bad_infix_root -O -fields finding.txt
has out '^# replay: .* --oracles=-fields crash.txt$'

# ---- subjects that hang and crash ----

# around TAG TAG: a script with both, and others around.
around() {
    printf 'isoheap program 1\nheap\n  b0 = block tag=0 [1]\nroots\n  r0 = b0\nscript\n'
    printf '  r1 = alloc tag=0 [1]\n  r2 = alloc tag=%u [r0]\n  full\n  r3 = alloc tag=%u [r0]\n' "$@"
}
two() { # the same without the others: each run of these takes a second
    printf 'isoheap program 1\nscript\n  r0 = alloc tag=%u [0]\n  r0 = alloc tag=%u [0]\n' "$@"
}
only() { # FILE TAG: nothing but one allocation with this tag
    at_most "$1" 1
    has "$1" "alloc tag=$2 "
}

around 1 3 >spins.txt
check 0 'no_progress, subject \(misbehaves\): 1 op' "$MISBEHAVING" reduce -c misbehaves -T 1 -o s.txt spins.txt
only s.txt 1
has s.txt '^# violation no_progress: the run does not end'
two 2 3 >sleeps.txt
check 0 'no_progress' "$MISBEHAVING" reduce -c misbehaves -T 1 -o s.txt sleeps.txt
only s.txt '[12]' # a lower tag spins, which looks the same
# It slept for longer than --time, which is processor time.
check 0 'in [0-9]+ runs' "$MISBEHAVING" reduce -c misbehaves -T 1 -t 5 -o s.txt sleeps.txt
! grep -q 'ended by --time' err || complain 'sleeping counts as processor time' err
# One step makes a tag that spins of these: it takes the limit.
around 3 1 >aborts.txt
check 0 'collector_assertion, subject' "$MISBEHAVING" reduce -c misbehaves -T 1 -o s.txt aborts.txt
only s.txt 3
around 4 3 >exits.txt
check 0 'sanitizer, subject' "$MISBEHAVING" reduce -c misbehaves -T 1 -o s.txt exits.txt
only s.txt 4
has s.txt 'status 3'
around 3 4 >aborts.txt
check 0 'collector_assertion, subject' "$MISBEHAVING" reduce -c misbehaves -T 1 -o s.txt aborts.txt
only s.txt 3

# Slow is not hanging: a limit that is too small at first does not change what is reduced.
two 5 1 >slow.txt
check 0 'no_progress' "$MISBEHAVING" reduce -c misbehaves -T 1 -o s.txt slow.txt
only s.txt 1

# ---- interrupts ----

# interrupt SIGNAL STATUS: a long reduction, ended when something has been written.
interrupt() {
    local status waited=0
    rm -f partial.txt
    { around 2 3; for _ in $(seq 40); do echo '  full'; done; } >long.txt
    "$MISBEHAVING" reduce -c misbehaves -T 1 -o partial.txt long.txt 2>err &
    local pid=$!
    while [ ! -e partial.txt ] && [ $waited -lt 150 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    kill -"$1" $pid
    wait $pid 2>/dev/null
    status=$?
    [ $status -eq "$2" ] || complain "status $status after SIG$1" err
    [ -e partial.txt ] || complain "nothing written at SIG$1" err
    check 0 violation "$MISBEHAVING" run -c misbehaves -T 1 --expect no_progress partial.txt
    for left in partial.txt.*; do
        [ ! -e "$left" ] || complain "a temporary file is left: $left"
    done
}
interrupt TERM 143
interrupt KILL 137

exit $wrong
