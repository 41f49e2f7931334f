#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap faults where something is not as it should be: names of folders, full and read-only disks, two at once,
# SIGKILL, SIGINT (docs/campaign.md has the table).  The fault is the collector unruly, which does no harm here; no engine
# is needed.
# shellcheck disable=SC2016 # names that a shell must not read
set -u
: "${ISOHEAP:?the path of the command}" "${BUILD_DIR:?the build}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

# expect STATUS COMMAND...; says PATTERN: in what it printed
expect() {
    local wanted=$1 got
    shift
    "$@" >out 2>&1 </dev/null
    got=$?
    [ $got -eq "$wanted" ] || complain "status $got instead of $wanted: $*" out
}
says() {
    grep -q -e "$1" out || complain "no /$1/" out
}
# run RESULTS OPTION...: a run of the fault in the folder unruly
run() {
    expect "$1" "$ISOHEAP" faults run "${short[@]}" --faults=unruly --build-dir=unruly --results="$2" "${@:3}"
}

short=(--jobs=1 --arms=random --seeds=1 --runs=2000)
export UNRULY=''
mkdir -p unruly/unruly unruly/faults/unruly
ln -s "$BUILD_DIR/tests/random_fault" unruly/faults/fuzz_fault
ln -s "$BUILD_DIR/tests/unruly_fault.so" unruly/faults/unruly/deed.so
printf '%s: x\n' Wrong Model Family Class Needs | sed 's/^Class: x/Class: sanitizer/' >unruly/unruly/deed.patch

# ---- names ----

for odd in 'a b' 'q"u' "s'q" 'se;touch X' '$(touch X)' '`touch X`' $'new\nline' -dash '*?[x]' 'b\n' $'\xff\xfe'; do
    mkdir "./$odd"
    cp -r unruly/. "./$odd"
    expect 0 "$ISOHEAP" faults list --faults="$odd"
    says '^1 faults$'
    expect 0 "$ISOHEAP" faults run "${short[@]}" --faults="$odd" --build-dir="$odd" --results="$odd/r"
    says '^isoheap: 1 runs, 0 flaky, 0 known before, 0 to go$'
    expect 0 "$ISOHEAP" faults report --faults="$odd" --build-dir="$odd" --results="$odd/r" --page="$odd/page.html"
    grep -q '<svg' "./$odd/page.html" || complain "no page in '$odd'"
    [ -z "$(find . -name 'X*')" ] || complain "a shell has read '$odd'"
done
mkdir -p names/unruly
cp unruly/unruly/deed.patch 'names/unruly/two words.patch'
expect 3 "$ISOHEAP" faults list --faults=names
says 'two words.patch: .* letters, digits and _'

# ---- interrupted ----

# A line that was cut off, by a power cut say, costs no line but itself.
mkdir cut
printf 'unruly/deed\trandom\t1\tk\t20' >cut/results.tsv
run 0 cut
run 0 cut
says '^isoheap: 0 runs, 0 flaky, 1 known before, 0 to go$'

# Processes that this test has started, known by a mark in their environment.
left() {
    grep -lazxF "ISOHEAP_TEST_MARK=$folder" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n'
}
# gone: waits until nothing is left
gone() {
    local _
    for _ in $(seq 200); do
        [ -n "$(left)" ] || return 0
        sleep 0.05
    done
    complain "$1: processes are left: $(left | tr '\n' ' ')"
}
# start RESULTS: a run without end in the background, with command, warden and target
start() {
    local _
    ISOHEAP_TEST_MARK=$folder "$ISOHEAP" faults run "${short[@]}" --runs=1000000000 --faults=unruly --build-dir=unruly \
        --results="$1" >log 2>&1 </dev/null &
    campaign=$!
    for _ in $(seq 600); do
        [ "$(left | wc -l)" -lt 3 ] || return 0
        sleep 0.05
    done
    complain "nothing runs in $1" log
}
start killed
run 4 killed # two at once
says 'another campaign uses killed'
kill -9 $campaign
wait $campaign 2>/dev/null
gone SIGKILL
run 0 killed
says '^isoheap: 1 runs, 0 flaky, 0 known before, 0 to go$'
[ ! -e killed/.work ] || complain 'a work folder is left'

start interrupted
kill -INT $campaign
wait $campaign 2>/dev/null
gone SIGINT
grep -q '^isoheap: 0 runs, 0 flaky, 0 known before, 1 to go$' log || complain 'SIGINT: no count' log

# ---- full and read-only disks: what was noted stays, what could not be noted is said and made again ----

i=0
if small_disk 1m 100; then
    run 0 disk/r
    cp disk/r/results.tsv before
    cat /dev/zero >disk/filler 2>/dev/null
    run 4 disk/r --first-seed=2
    says 'No space left on device'
    cmp -s before disk/r/results.tsv || complain 'a full disk has changed the results'
    expect 2 "$ISOHEAP" faults report --faults=unruly --results=disk/r --page=disk/page.html
    rm disk/filler
    run 0 disk/r --first-seed=2
    says '^isoheap: 1 runs, '
    cp disk/r/results.tsv before
    while : 2>/dev/null >disk/inode$i; do i=$((i + 1)); done 2>/dev/null
    run 4 disk/r --first-seed=3
    says 'No space left on device'
    cmp -s before disk/r/results.tsv || complain 'a disk without inodes has changed the results'
    rm disk/inode*
    run 0 disk/r --first-seed=3
    says '^isoheap: 1 runs, '
    mount -o remount,ro disk
    run 4 disk/r --first-seed=4
    says 'Read-only file system'
fi
finish
