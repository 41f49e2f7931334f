#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap export: for every known-bad collector the exported file compiles with gcc and clang without
# a warning, fails with the collector and passes with the healthy one.
#
# The file names a command that compiles it with the collector's sources.  That very command is run for
# one defect of each source, and for all that a sanitizer must see compiled.  Of the others it is
# compared, word for word, with what it must be; each file is compiled, and those of a source become one
# program that runs the one that it is told.  It is linked with the source's object that has all of its
# defects, of which one is switched on, and again with the healthy one's.
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

# source_of DEFECT: the collector that has it
source_of() {
    sed -n "s/^ *X(\\([a-z_]*\\), *$1,.*/\\1/p" "$SOURCE_DIR/collectors/faults.def"
}

# fails NAME FILE COMMAND...: it stops by itself
fails() {
    local name=$1 file=$2 status
    "${@:3}" 2>&1 | cat >log # in a pipe bash does not remark on the abort
    status=${PIPESTATUS[0]}
    case $file in
    */sanitizer/*) grep -q 'ERROR: AddressSanitizer' log || complain "$name: status $status" log ;;
    *) grep -q 'Assertion' log && [ "$status" -eq 134 ] || complain "$name: status $status" log ;;
    esac
}

# passes NAME COMMAND...
passes() {
    "${@:2}" >log 2>&1 || complain "$1 fails" log
    grep -qx passed log || complain "$1 did not come to the end" log
}

# compiled NAME COMMAND: without a word
compiled() {
    eval "$2" >log 2>&1 || complain "$1: not compiled" log
    [ ! -s log ] || complain "$1: warnings" log
}

# By the command that the file names; the healthy collector by the same, without what makes it bad.
as_it_says() {
    ln -s "$SOURCE_DIR/collectors" "$SOURCE_DIR/models" .
    compiled "$name, $compiler" "$compiler $warnings $command"
    fails "$name, $compiler" "$file" ./finding
    compiled "$name, $compiler, $source" \
        "$compiler $warnings -DCOLLECTOR=$source $(printf '%s' "$command" | sed 's/-DISOHEAP_[A-Z]*=[A-Za-z_0-9]*//g')"
    passes "$name, $compiler: $source" ./finding
}

# object NAME COMPILER COLLECTOR: of NAME.c, of which the function main_NAME alone is global; the collector is
# whatever symbol it is linked with
object() {
    compiled "$1, $2" "$2 $warnings -std=c17 -I$SOURCE_DIR -DCOLLECTOR=$3 -c -o $1.$2.o $1.c"
    objcopy --redefine-sym "main=main_$1" --keep-global-symbol="main_$1" "$1.$2.o"
}

if [ $# -eq 3 ]; then
    file=$1 compiler=$2 first=$3
    name=$(basename "$file" .txt)
    defect=${name#bad_}
    mkdir "$name.$compiler" && cd "$name.$compiler" || exit 1
    "$ISOHEAP" export --no-check --collector "$name" -o finding.c "$file" 2>log || complain "$name: not exported" log
    command=$(sed -n 's/^ \*   cc //p' finding.c)
    source=$(source_of "$defect")
    case $file in
    */sanitizer/*) sanitizer=' -fsanitize=address' first=yes ;;
    *) sanitizer= ;;
    esac
    library=
    [ "$source" != boehm ] || library=' collectors/shadow.c -lgc'
    [ "$source" != concurrent ] || library=' collectors/threads/[a-z]*.c collectors/switch/switch.c'
    must="-std=c17 -g -I.$sanitizer -DISOHEAP_FAULT=FAULT_$defect -DISOHEAP_COLLECTOR=$name -o finding finding.c \
collectors/$source/[a-z]*.c collectors/arena.c collectors/literals.c$library"
    [ "$command" = "$must" ] || complain "$name: the file's command is not $must" finding.c
    if [ "$first" = yes ]; then as_it_says; fi
    [ -z "$sanitizer" ] || exit 0
    mv finding.c "../$name.c" && cd .. && object "$name" "$compiler" "known_bad_$source"
    echo "$name" >>"$compiler.$source.names"
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

# The collectors, for all: each in one object file, whatever it consists of, healthy and with its defects.
collectors=$({
    "$ISOHEAP" list | sed -n '/^collectors/,/^$/s/^  \([a-z_0-9]*\) .*/\1/p'
    sed -n 's/^ *X(\([a-z_]*\), .*/\1/p' "$SOURCE_DIR/collectors/faults.def" | grep -v '^boehm$'
} | sort -u)
[ "$(echo "$collectors" | wc -l)" -ge 7 ] || { echo "no list of collectors"; wrong=1; }
for compiler in gcc clang; do
    for collector in $collectors; do
        [[ $collector != ocaml* ]] || continue # it needs the runtime's sources
        $compiler -std=c17 -I"$SOURCE_DIR" -r -nostdlib -o "$compiler.$collector.o" "$SOURCE_DIR/collectors/$collector/"*.c || wrong=1
        [[ " $compilers " = *" $compiler "* ]] || continue
        $compiler -std=c17 -I"$SOURCE_DIR" -DISOHEAP_FAULT=known_bad_fault -DISOHEAP_COLLECTOR="known_bad_$collector" \
            -r -nostdlib -o "$compiler.$collector.bad.o" "$SOURCE_DIR/collectors/$collector/"*.c || wrong=1
    done
    $compiler -std=c17 -I"$SOURCE_DIR" -r -nostdlib -o $compiler.arena.o "$SOURCE_DIR/collectors/arena.c" \
        "$SOURCE_DIR/collectors/literals.c" "$SOURCE_DIR/collectors/shadow.c" || wrong=1
    $compiler -std=c17 -I"$SOURCE_DIR" -r -nostdlib -o $compiler.threads.o "$SOURCE_DIR/collectors/threads/"*.c \
        "$SOURCE_DIR/collectors/switch/switch.c" || wrong=1
done

fixtures=$("$ISOHEAP" list --json | tr '{' '\n' | sed -n 's/.*"name": *"\(bad_[a-z_0-9]*\)".*"class": *"\([a-z_]*\)".*/\2\/\1/p')
[ "$(echo "$fixtures" | wc -l)" -ge 20 ] || { echo "no list of known-bad collectors"; wrong=1; }
seen=' '
for fixture in $fixtures; do
    source=$(source_of "${fixture#*/bad_}")
    first=no
    [[ $seen = *" $source "* ]] || first=yes
    seen+="$source "
    for compiler in $compilers; do
        printf '%s %s %s\n' "$SOURCE_DIR/crashes/$fixture.txt" $compiler $first
    done
done | xargs -P 2 -L 1 bash "$this" || wrong=1

# program COMPILER FILE NAME...: FILE.c, which runs the one that it is told, with its defect
program() {
    local name
    {
        printf '#include "collectors/faults.h"\n#include <string.h>\nenum isoheap_fault known_bad_fault;\n'
        printf 'int main_%s(void);\n' "${@:3}"
        printf 'int main(int n, char **words) {\n    if (n != 2)\n        return 2;\n'
        for name in "${@:3}"; do
            printf '    if (strcmp(words[1], "%s") == 0) {\n' "$name"
            case $name in bad_*) printf '        known_bad_fault = FAULT_%s;\n' "${name#bad_}" ;; esac
            printf '        return main_%s();\n    }\n' "$name"
        done
        printf '    return 2;\n}\n'
    } >"$2.c"
    $1 -std=c17 -I"$SOURCE_DIR" -c -o "$2.o" "$2.c" || wrong=1
}

n=0
for compiler in $compilers; do
    for names in "$compiler".*.names; do
        source=${names#"$compiler."} source=${source%.names}
        mapfile -t all <"$names"
        library=
        [ "$source" != boehm ] || library=-lgc
        [ "$source" != concurrent ] || library=$compiler.threads.o
        program "$compiler" all "${all[@]}"
        objects=("${all[@]/%/.$compiler.o}" all.o "$compiler.arena.o")
        $compiler -o bad "${objects[@]}" "$compiler.$source.bad.o" $library || wrong=1
        $compiler -o good "${objects[@]}" -Wl,--defsym="known_bad_$source=$source" "$compiler.$source.o" $library || wrong=1
        for name in "${all[@]}"; do
            fails "$name, $compiler" "$name" ./bad "$name"
            passes "$name, $compiler: $source" ./good "$name"
            n=$((n + 1))
        done
    done
done
[ $n -ge 90 ] || { echo "only $n findings"; wrong=1; }

check 5 'operation of a runtime' "$ISOHEAP" export -c ocaml --class lost_object "$SOURCE_DIR/seeds/mark_sweep/runtime.txt"

# Operations under every kind of assertion, on healthy collectors: every STEP-th seed, each with the
# next class.
# healthy COLLECTOR STEP CLASS...
healthy() {
    local collector=$1 step=$2 n=0 seed class name names=()
    shift 2
    local classes=("$@")
    for seed in "$SOURCE_DIR/seeds/$collector"/*.txt; do
        n=$((n + 1))
        [ $((n % step)) -eq 0 ] || [ "$(basename "$seed")" = runtime.txt ] || continue
        class=${classes[n / step % ${#classes[@]}]}
        name=$(basename "$seed" .txt)_as_$class
        "$ISOHEAP" export --collector "$collector" --class "$class" -o "$name.c" "$seed" 2>log || { echo "$seed"; cat log; wrong=1; continue; }
        object "$name" gcc "$collector"
        names+=("$name")
    done
    [ $n -ge 40 ] || { echo "there are $n seeds"; wrong=1; }
    program gcc all "${names[@]}"
    gcc -o good "${names[@]/%/.gcc.o}" all.o "gcc.$collector.o" gcc.arena.o || wrong=1
    for name in "${names[@]}"; do
        passes "$collector, $name" ./good "$name"
    done
}
healthy mark_sweep 3 lost_object wrong_colour garbage_retained overlap false_out_of_memory \
    heap_worn_out collector_assertion no_progress promise_broken
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

# ---- a sanitizer's finding of which only the checks after the script are left ----

cat >after.txt <<'END'
isoheap program 1
config kind=1
heap
  b0 = block tag=0 [0, 0]
roots
  r0 = b0
script
  r1 = alloc tag=0 size=1
  r0.1 := r1
  drop r0
END
"$ISOHEAP" export -c bad_stale_entry --class sanitizer -o after.c after.txt 2>log || complain 'not exported' log
for compiler in $compilers; do
    compiled after "(cd '$SOURCE_DIR' && $compiler $(sed -n "s|^ \\*   cc \\(.*\\) -o finding after.c|\\1 -o '$folder/after' '$folder/after.c'|p" after.c))"
    fails after /sanitizer/ ./after
done

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
