#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap export: for every known-bad collector the exported file compiles with gcc and clang without
# a warning, fails with the collector and passes with the healthy one.  The compile command is the
# one that the file itself names.
# ISOHEAP is the command, MISBEHAVING that with the collectors of tests/cli/misbehaving/, SOURCE_DIR the
# checkout.
set -u
: "${ISOHEAP:?the path of the command}" "${SOURCE_DIR:?the checkout}" "${MISBEHAVING:?the other command}"
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Werror'
export ISOHEAP SOURCE_DIR warnings
# LeakSanitizer needs ptrace, which a container may forbid.
export ASAN_OPTIONS=detect_leaks=0

# ---- one fixture with one compiler: this script calls itself ----

# complain WHAT FILE: one write, since two of us run at a time.
complain() {
    printf '%s\n' "$1: $(head -c 2000 "$2")"
    exit 1
}

if [ $# -eq 2 ]; then
    file=$1 compiler=$2
    name=$(basename "$file" .txt)
    mkdir "$name.$compiler" && cd "$name.$compiler" || exit 1
    ln -s "$SOURCE_DIR/collectors" collectors
    "$ISOHEAP" export --no-check --collector "$name" -o finding.c "$file" 2>log || complain "$name: not exported" log
    command=$(sed -n 's/^ \*   cc //p' finding.c)
    source=$(sed -n 's|.*collectors/\([a-z_]*\)/.*|\1|p' finding.c | head -1)
    eval "$compiler $warnings $command" >log 2>&1 || complain "$name, $compiler: not compiled" log
    [ ! -s log ] || complain "$name, $compiler: warnings" log
    ./finding 2>&1 | cat >log # in a pipe bash does not remark on the abort
    status=${PIPESTATUS[0]}
    case $file in
    */sanitizer/*) grep -q 'ERROR: AddressSanitizer' log || complain "$name, $compiler: status $status" log ;;
    *) grep -q 'Assertion' log && [ $status -eq 134 ] || complain "$name, $compiler: status $status" log ;;
    esac
    healthy=$(printf '%s' "$command" | sed 's/-DISOHEAP_[A-Z]*=[A-Za-z_]*//g')
    case $file in
    */sanitizer/*) ;;
    *) healthy="-std=c17 -I. -o finding finding.c ../$compiler.$source.o ../$compiler.arena.o" ;;
    esac
    [ "$source" != boehm ] || healthy="$healthy -lgc"
    eval "$compiler $warnings -DCOLLECTOR=$source $healthy" >log 2>&1 || complain "$name, $compiler: no $source" log
    ./finding >log 2>&1 || complain "$name, $compiler: $source fails" log
    grep -qx passed log || complain "$name, $compiler: $source did not come to the end" log
    exit 0
fi

# ---- all of them ----

this=$(realpath "$0")
# shellcheck source=tests/support/support.bash
. "$(dirname "$this")/../support/support.bash"

# Each build of the tests compiles the fixtures with its own compiler; by hand it is both.
case ${TEST_CC:-} in
*clang*) compilers=clang ;;
*gcc* | */cc) compilers=gcc ;;
*) compilers='gcc clang' ;;
esac

# The healthy collectors, for all: each in one object file, whatever it consists of.
collectors=$("$ISOHEAP" list | sed -n '/^collectors/,/^$/s/^  \([a-z_0-9]*\) .*/\1/p')
[ "$(echo "$collectors" | wc -l)" -ge 7 ] || { echo "no list of collectors"; wrong=1; }
for compiler in gcc clang; do
    for collector in $collectors; do
        [[ $collector != ocaml* ]] || continue # it needs the runtime's sources
        $compiler -std=c17 -I"$SOURCE_DIR" -r -nostdlib -o "$compiler.$collector.o" "$SOURCE_DIR/collectors/$collector/"*.c || wrong=1
    done
    $compiler -std=c17 -I"$SOURCE_DIR" -r -nostdlib -o $compiler.arena.o "$SOURCE_DIR/collectors/arena.c" \
        "$SOURCE_DIR/collectors/literals.c" || wrong=1
done

fixtures=$("$ISOHEAP" list --json | tr '{' '\n' | sed -n 's/.*"name": *"\(bad_[a-z_0-9]*\)".*"class": *"\([a-z_]*\)".*/\2\/\1/p')
[ "$(echo "$fixtures" | wc -l)" -ge 20 ] || { echo "no list of known-bad collectors"; wrong=1; }
for fixture in $fixtures; do
    for compiler in $compilers; do
        printf '%s %s\n' "$SOURCE_DIR/crashes/$fixture.txt" $compiler
    done
done | xargs -P 2 -L 1 bash "$this" || wrong=1

check 5 'operation of a runtime' "$ISOHEAP" export --class lost_object "$SOURCE_DIR/seeds/mark_sweep/runtime.txt"

# Operations under every kind of assertion, on healthy collectors: every STEP-th seed, each with the
# next class.
# healthy COLLECTOR STEP CLASS...
healthy() {
    local collector=$1 step=$2 n=0 seed class
    shift 2
    local classes=("$@")
    for seed in "$SOURCE_DIR/seeds/$collector"/*.txt; do
        [ "$(basename "$seed")" != runtime.txt ] || continue # operations of a runtime: see above
        n=$((n + 1))
        [ $((n % step)) -eq 0 ] || continue
        class=${classes[n / step % ${#classes[@]}]}
        # shellcheck disable=SC2086
        "$ISOHEAP" export --collector "$collector" --class "$class" "$seed" >seed.c &&
            gcc -std=c17 $warnings -I"$SOURCE_DIR" -o seed seed.c "gcc.$collector.o" gcc.arena.o &&
            ./seed >log 2>&1 && continue
        echo "$seed as $class:"
        cat log
        wrong=1
    done
    [ $n -ge 40 ] || { echo "there are $n seeds"; wrong=1; }
}
healthy mark_sweep 3 lost_object wrong_colour garbage_retained overlap false_out_of_memory \
    heap_worn_out collector_assertion no_progress
healthy incremental 6 snapshot_lost edge_changed ill_formed_heap barrier_missed
healthy tower 7 refinement_broken
healthy cakeml 4 layout_broken refinement_broken generation_order_broken

# ---- a collector that lets nobody lay out its heap ----

gcc -std=c17 -I"$SOURCE_DIR" -r -nostdlib -o theirs.o "$SOURCE_DIR"/tests/cli/misbehaving/{collectors,unruly}.c || wrong=1

# theirs STATUS ARGUMENT...: exported for without_image, compiled, run.
theirs() {
    local status=$1
    shift
    # shellcheck disable=SC2086
    "$MISBEHAVING" export -c without_image "$@" >theirs.c &&
        gcc -std=c17 $warnings -I"$SOURCE_DIR" -o theirs theirs.c theirs.o gcc.mark_sweep.o gcc.arena.o
    ./theirs 2>&1 | cat >log
    [ "${PIPESTATUS[0]}" -eq "$status" ] && return
    echo "without_image, $*: not status $status"
    cat log
    wrong=1
}
for seed in list closure infix_root static static_closure custom mutators; do
    theirs 0 --class edge_changed "$SOURCE_DIR/seeds/mark_sweep/$seed.txt"
done
cat >pieces.txt <<'END'
isoheap program 1
config heap=32
heap
  b0 = block tag=0 size=7
  b1 = block tag=0 [b0]
  b2 = block tag=0 size=7
roots
  r1 = b1
script
  r1.0 := 0
  r2 = alloc tag=0 size=20
END
theirs 134 pieces.txt

# ---- what export itself says of the file ----

cd "$SOURCE_DIR" || exit 1 # the top of the sources
good=$SOURCE_DIR/crashes/lost_object/bad_infix_root.txt
file=$folder/finding.c
for CC in $compilers; do
    export CC
    "$ISOHEAP" export -c bad_infix_root -o "$file" "$good" >"$folder/out" 2>&1 &&
        grep -q "compiled with $CC and run: it fails with bad_infix_root, and passes with mark_sweep" "$folder/out" ||
        complain "$CC: export does not prove itself" "$folder/out"
done
unset CC
cd "$folder" || exit 1
CC=no_such_compiler check 0 'not checked: it does not compile' "$ISOHEAP" export -c bad_infix_root -o finding.c "$good"
check 0 'define COLLECTOR bad_infix_root' "$ISOHEAP" export --no-check -c bad_infix_root "$good"
[ ! -s err ] || complain '--no-check says something' err

# ---- usage ----

good=$SOURCE_DIR/crashes/lost_object/bad_infix_root.txt
check 5 'raises no violation of mark_sweep: nothing to export' "$ISOHEAP" export "$good"
check 5 'the reference is guilty: give it as --collector' "$ISOHEAP" export -r bad_infix_root "$good"
check 2 'no collector is called nobody' "$ISOHEAP" export -c nobody "$good"
check 2 'no violation class is called nothing' "$ISOHEAP" export --class nothing "$good"
check 2 'one FILE' "$ISOHEAP" export "$good" "$good"
check 2 'is no C name' "$ISOHEAP" export -c bad_infix_root --symbol 'a b' "$good"
check 2 'cannot write' "$ISOHEAP" export -c bad_infix_root -o no/where.c "$good"
check 3 'No such file' "$ISOHEAP" export missing.txt
check 0 'define COLLECTOR theirs' "$ISOHEAP" export -c bad_infix_root --symbol theirs "$good"
check 0 'needs the' "$ISOHEAP" export --help

exit $wrong
