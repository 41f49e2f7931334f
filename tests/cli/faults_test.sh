#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The benchmark of seeded faults: its ground truth, and what the command does with it.
#
# The faults of this build are in BUILD_DIR/faults; the engine is not needed.
set -u
faults="$SOURCE_DIR/faults"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
export ASAN_OPTIONS=detect_leaks=0

complain() {
    echo "$*" >&2
    failed=1
}

# expect STATUS COMMAND...: output in $work/out
expect() {
    local wanted=$1 status
    shift
    "$@" >"$work/out" 2>&1
    status=$?
    [ "$status" -eq "$wanted" ] || { complain "exit $status, not $wanted: $*"; cat "$work/out" >&2; }
}
says() { grep -q -e "$1" "$work/out" || { complain "no \"$1\" in:"; cat "$work/out" >&2; }; }

# Every trigger is judged as its patch says, by the faulty and by the clean collector.
expect 0 "$ISOHEAP" faults check --faults="$faults" --build-dir="$BUILD_DIR"
says ' faults: .* as their patches say, 0 not$'
tail -n 1 "$work/out"

# A trigger that proves nothing is a failure: here that of another fault, and an empty program.
mkdir -p "$work/faults/mark_sweep"
cp "$faults/mark_sweep/overflow_forgotten.patch" "$work/faults/mark_sweep/"
echo 'isoheap program 1' >"$work/faults/mark_sweep/overflow_forgotten.txt"
expect 1 "$ISOHEAP" faults check --faults="$work/faults" --build-dir="$BUILD_DIR"
says 'mark_sweep/overflow_forgotten: the faulty collector raises none'
sed -i 's/^Class: .*/Class: no_such_class/' "$work/faults/mark_sweep/overflow_forgotten.patch"
expect 3 "$ISOHEAP" faults check --faults="$work/faults" --build-dir="$BUILD_DIR"
says 'no violation class is called no_such_class'
expect 3 "$ISOHEAP" faults list --faults="$faults" no_such_fault
says 'no fault, collector, family or class'
expect 2 "$ISOHEAP" faults nonsense
expect 2 "$ISOHEAP" faults run --arms=no_such_arm --faults="$faults"
expect 2 "$ISOHEAP" faults report --faults="$faults" --results="$work/none"
says 'isoheap faults run'

# The same where triggers are schedules: of another fault, and a program.
mkdir -p "$work/schedules/onthefly"
cp "$faults/onthefly/first_field_saved.patch" "$work/schedules/onthefly/"
cp "$faults/onthefly/null_has_no_barrier.txt" "$work/schedules/onthefly/first_field_saved.txt"
expect 1 "$ISOHEAP" faults check --faults="$work/schedules" --build-dir="$BUILD_DIR"
says 'onthefly/first_field_saved: the faulty collector raises none'
echo 'isoheap program 1' >"$work/schedules/onthefly/first_field_saved.txt"
expect 1 "$ISOHEAP" faults check --faults="$work/schedules" --build-dir="$BUILD_DIR"
says 'onthefly/first_field_saved: its trigger must be a schedule'
echo 'isoheap schedule 1 nonsense' >"$work/schedules/onthefly/first_field_saved.txt"
expect 1 "$ISOHEAP" faults check --faults="$work/schedules" --build-dir="$BUILD_DIR"
says 'onthefly/first_field_saved: the faulty collector raises a harness fault'
expect 2 "$ISOHEAP" run --collector="$BUILD_DIR/faults/onthefly/first_field_saved.so" \
    "$faults/mark_sweep/overflow_forgotten.txt"
says 'is no collector but a fault of the on-the-fly model'

# A shared object is a collector like others.
expect 1 "$ISOHEAP" run --collector="$BUILD_DIR/faults/mark_sweep/overflow_forgotten.so" \
    "$faults/mark_sweep/overflow_forgotten.txt"
says 'violation lost_object'
expect 2 "$ISOHEAP" run --collector="$work/none.so" "$faults/mark_sweep/overflow_forgotten.txt"
# Faults that share an object are told apart by its name.
cp "$BUILD_DIR/faults/mark_sweep/overflow_forgotten.so" "$work/forgotten.so"
expect 2 "$ISOHEAP" run --collector="$work/forgotten.so" "$faults/mark_sweep/overflow_forgotten.txt"
says 'has no seeded fault of its name'

# A patch that does not apply ends the build and says so.
mkdir -p "$work/source/collectors/mark_sweep"
file=$(sed -n 's|^+++ b/||p' "$faults/mark_sweep/overflow_forgotten.patch")
mkdir -p "$work/source/$(dirname "$file")"
echo 'int other;' >"$work/source/$file"
expect 1 cmake "-DPATCH=$faults/mark_sweep/overflow_forgotten.patch" "-DSOURCE=$work/source" \
    "-DOUT=$work/patched" "-DFILES=$file" -P "$SOURCE_DIR/cmake/ApplyFault.cmake"
says 'does not apply'
says 'overflow_forgotten.patch'
mkdir -p "$work/source/faults"
cp -r "$faults/mark_sweep" "$work/source/faults/"
expect 1 python3 "$SOURCE_DIR/cmake/merge_faults.py" merge "$work/source" "$work/merged" mark_sweep overflow_forgotten
says 'does not apply'

# What did not run is no result: an engine that ends at once, and seeds that have not been built.
mkdir -p "$work/broken/faults/mark_sweep"
cp "$(type -P false)" "$work/broken/faults/fuzz_fault"
cp "$BUILD_DIR/faults/mark_sweep/overflow_forgotten.so" "$work/broken/faults/mark_sweep/"
broken=(--faults="$faults" --build-dir="$work/broken" --results="$work/none" mark_sweep/overflow_forgotten)
expect 4 "$ISOHEAP" faults run "${broken[@]}"
says 'fuzz_fault did not run'
grep -q overflow_forgotten "$work/none/results.tsv" 2>/dev/null && complain "a result of a run that was none"
expect 4 "$ISOHEAP" faults run --arms=seeds "${broken[@]}"
says 'seeds/fuzz_mark_sweep: No such file or directory; --build makes it'

# Two campaigns do not share a folder of results.
mkdir "$work/taken"
exec {lock}>"$work/taken/.lock"
flock "$lock"
expect 4 "$ISOHEAP" faults run "${broken[@]}" --results="$work/taken"
says "another campaign uses $work/taken; give this one --results of its own"
exec {lock}>&-

# What is found counts if it comes again when its input runs alone: here a subject that ends its process when it sees a
# certain block, and one that miscounts now and then, by what ran before.
random=(--faults="$work/unruly" --build-dir="$work/unruly" --jobs=1 --arms=random --seeds=1 --runs=20000)
mkdir -p "$work/unruly/unruly" "$work/unruly/faults/unruly"
ln -s "$BUILD_DIR/tests/random_fault" "$work/unruly/faults/fuzz_fault"
ln -s "$BUILD_DIR/tests/unruly_fault.so" "$work/unruly/faults/unruly/deed.so"
printf '%s: x\n' Wrong Model Family Class Needs | sed 's/^Class: x/Class: sanitizer/' >"$work/unruly/unruly/deed.patch"
for deed in end_quietly kill_self; do
    expect 0 env UNRULY=$deed "$ISOHEAP" faults run "${random[@]}" --results="$work/$deed"
    says '^isoheap: 1 runs, 0 flaky, 0 known before, 0 to go$'
    says '^random *1 *100.0% *0 '
done
expect 0 env UNRULY=counts "$ISOHEAP" faults run "${random[@]}" --results="$work/counts"
says '^isoheap: unruly/deed, random, seed 1: .* after [0-9]* executions is flaky: its input alone gives nothing$'
says '^isoheap: 1 runs, 1 flaky, 0 known before, 0 to go$'
says '^random *1 *0.0% *1 *>20000 '
# A flaky run is a run: it is not made again.
expect 0 env UNRULY=counts "$ISOHEAP" faults run "${random[@]}" --results="$work/counts"
says '^isoheap: 0 runs, 0 flaky, 1 known before, 0 to go$'
expect 0 env UNRULY='' "$ISOHEAP" faults run "${random[@]}" --runs=2000 --results="$work/quiet"
says '^random *1 *0.0% *0 *>2000 '

# Results of a campaign make a report, without an engine: two arms, one of which misses.
mkdir "$work/results"
{
    printf 'fault\tarm\n'
    for seed in 1 2 3; do
        printf 'mark_sweep/overflow_forgotten\tdefault\t%s\tk\t1000\t10\t2\t3\t10\t0.5\tlost_object\tfields\t1\t0\t1\n' $seed
        printf 'mark_sweep/overflow_forgotten\tbytes\t%s\tk\t1000\t1000\t0\t0\t0\t1.5\t-\t-\t0\t0\t0\n' $seed
    done
    printf 'mark_sweep/overflow_forgotten\tdefault\t4\tk\t1000\t10\t2\t3\t10\t0.5\tlost_object\tfields\t1\t0\n' # of before
    printf 'mark_sweep/overflow_forgotten\tdefault\t5\tk\t1000\t20\t2\t3\t20\t0.7\tlost_object\tfields\t0\t0\t0\n' # flaky
    printf 'mark_sweep/overflow_forgotten\tdefault\t4\tk\t10' # cut off
} >"$work/results/results.tsv"
expect 0 "$ISOHEAP" faults report --faults="$faults" --results="$work/results"
says '^mark_sweep/overflow_forgotten *3/4 *1 *2 *3 *10 *>1000 *0.50 *>1000  fields$'
says '^bytes *3 *0.0% *0 *>1000 *>1000 *0.125 *1 *0 *1$'
grep -q '<svg' "$work/results/index.html" || complain "no curves in the page"
grep -q -i '<script\|http-equiv\|src=' "$work/results/index.html" && complain "the page needs other files"
expect 0 "$ISOHEAP" faults report --faults="$faults" --results="$work/results" --page="$work/curves.svg"
{ grep -q '^<svg xmlns' "$work/curves.svg" && [ "$(grep -c '<path' "$work/curves.svg")" -eq 5 ]; } ||
    complain "no picture of three stages and two arms"

exit $failed
