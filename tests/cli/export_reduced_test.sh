#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A finding is reduced, then exported: the C file fails with the defect and passes without it, though the
# violation may now stand in the checks after the script.  Of known-bad collectors, each linked with its
# source as one object that has all defects, of which one is switched on, where no sanitizer must see it
# compiled (export_test.sh runs the command that the file names); and of seeded faults, whose patch is
# applied to a copy of the sources.
#
#   export_reduced_test.sh              a sample, with one compiler
#   export_reduced_test.sh all [PART]   every known-bad collector, with both compilers; PART is a/b: one
#                                       part of so many
#   export_reduced_test.sh these NAME...
#   export_reduced_test.sh faults STEP  every STEP-th seeded fault, with both
#
# ISOHEAP is the command, SOURCE_DIR the checkout, BUILD_DIR has the faults' objects (faults/).
# TARGETS is a folder of fuzz targets, for what a sanitizer alone sees; without it those are left out.
# shellcheck disable=SC2015 # conditions
set -u
: "${ISOHEAP:?the path of the command}" "${SOURCE_DIR:?the checkout}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
compilers='gcc clang'
[ $# -gt 0 ] || case ${TEST_CC:-} in *clang*) compilers=clang ;; *) compilers=gcc ;; esac
tree=$SOURCE_DIR
n=0

# compiled NAME COMPILER TREE WORDS...: at the top of that tree
compiled() {
    local name=$1 compiler=$2 top=$3
    shift 3
    (cd "$top" && eval "$compiler $*") >log 2>&1 || complain "$name, $compiler: not compiled" log
}

# passes WANTED WHAT: the program that was compiled does (0), or fails by itself (1)
passes() {
    ./finding 2>&1 | cat >log # in a pipe bash does not remark on the abort
    local status=${PIPESTATUS[0]}
    if [ "$1" -eq 0 ]; then
        [ $status -eq 0 ] && grep -qx passed log || complain "$2: status $status" log
    else
        [ $status -ne 0 ] && [ $status -ne 77 ] && [ $status -ne 99 ] && ! grep -qx passed log || complain "$2: it passes" log
    fi
}

# objects COMPILER SOURCE: a collector with its defects and without them, once for all
objects() {
    [ ! -e "$1.$2.bad.o" ] || return
    $1 -std=c17 -I"$SOURCE_DIR" -DISOHEAP_FAULT=known_bad_fault -DISOHEAP_COLLECTOR="known_bad_$2" \
        -r -nostdlib -o "$1.$2.bad.o" "$SOURCE_DIR/collectors/$2/"[a-z]*.c &&
        $1 -std=c17 -I"$SOURCE_DIR" -r -nostdlib -o "$1.$2.o" "$SOURCE_DIR/collectors/$2/"[a-z]*.c &&
        $1 -std=c17 -I"$SOURCE_DIR" -r -nostdlib -o "$1.arena.o" "$SOURCE_DIR/collectors/"{arena,literals,shadow}.c ||
        complain "$1: $2 is not compiled"
}

# linked NAME COMPILER SOURCE: fails with the defect, passes without
linked() {
    local name=$1 compiler=$2 source=$3 collector=known_bad_$3 rest
    objects "$compiler" "$source"
    rest=$compiler.arena.o
    [ "$source" != boehm ] || rest+=' -lgc'
    printf '#include "collectors/faults.h"\nenum isoheap_fault known_bad_fault = FAULT_%s;\n' "${name#bad_}" >defect.c
    compiled "$name" "$compiler" . "-std=c17 -I$SOURCE_DIR -DCOLLECTOR=$collector -c -o finding.o finding.c"
    compiled "$name" "$compiler" . "-std=c17 -I$SOURCE_DIR -o finding finding.o defect.c $compiler.$source.bad.o $rest"
    passes 1 "$name with the defect, $compiler"
    compiled "$name" "$compiler" . "-o finding finding.o -Wl,--defsym=$collector=$source $compiler.$source.o $rest"
    passes 0 "$name without the defect, $compiler"
}

# shows NAME COLLECTOR FILE PATCH: PATCH is "" for a known-bad collector
shows() {
    local name=$1 collector=$2 file=$3 patch=$4 command compiler healthy source target=none
    if [ -n "${TARGETS:-}" ] && [ -x "$TARGETS/fuzz_$name" ]; then target=$TARGETS; fi
    "$ISOHEAP" reduce --target "$target" --collector "$collector" -o small.txt "$file" >log 2>&1 || {
        if [ "$target" = none ] && [[ $(grep '^# .*sanitizer' "$file")$file = *sanitizer* ]]; then
            echo "$name: a sanitizer alone sees it: TARGETS"
            return
        fi
        complain "$name: not reduced" log
        return
    }
    "$ISOHEAP" export --no-check --target "$target" --collector "$collector" -o finding.c small.txt >log 2>&1 || {
        complain "$name: not exported" log small.txt
        return
    }
    n=$((n + 1))
    command=$(sed -n 's/^ \*   cc \(.*\) -o finding finding.c/\1 -o '"${folder//\//\\/}"'\/finding '"${folder//\//\\/}"'\/finding.c/p' finding.c)
    source=$(sed -n 's|.*collectors/\([a-z_]*\)/.*|\1|p' finding.c | head -1)
    healthy="-DCOLLECTOR=$source $(printf '%s' "$command" | sed 's/-DISOHEAP_[A-Z]*=[A-Za-z_0-9]*//g')"
    if [ -n "$patch" ]; then
        rm -rf patched && mkdir patched && cp -r "$SOURCE_DIR/collectors" patched/ &&
            patch -s -p1 -d patched <"$patch" || complain "$name: the patch does not apply"
        tree=$folder/patched
        command="-DCOLLECTOR=$source '-DCANARY(n)=((void)0)' $command" # faults/canary.h
    fi
    for compiler in $compilers; do
        if [ -z "$patch" ] && [[ $command != *-fsanitize* ]]; then
            linked "$name" "$compiler" "$source"
            continue
        fi
        compiled "$name" "$compiler" "$tree" "$command"
        passes 1 "$name with the defect, $compiler"
        compiled "$name" "$compiler" "$SOURCE_DIR" "$healthy"
        passes 0 "$name without the defect, $compiler"
    done
    tree=$SOURCE_DIR
}

known_bad() {
    shows "$1" "$1" "$(find "$SOURCE_DIR/crashes" -name "$1.txt")" ''
}

# fault COLLECTOR/NAME
fault() {
    local object=${BUILD_DIR:-$SOURCE_DIR/build/check}/faults/$1.so
    [ -e "$object" ] || { lack "there is no $object"; return; }
    shows "$1" "$object" "$SOURCE_DIR/faults/$1.txt" "$SOURCE_DIR/faults/$1.patch"
}

case ${1:-sample} in
all)
    part=${2:-0/1} i=0
    for name in $("$ISOHEAP" list --json | tr '{' '\n' | sed -n 's/.*"name": *"\(bad_[a-z_0-9]*\)".*"class".*/\1/p'); do
        i=$((i + 1))
        [ $((i % ${part#*/})) -ne "${part%/*}" ] || known_bad "$name"
    done
    [ $n -ge $((100 / ${part#*/})) ] || complain "only $n known-bad collectors"
    ;;
faults)
    i=0
    for file in "$SOURCE_DIR"/faults/*/*.txt; do
        name=${file#"$SOURCE_DIR"/faults/}
        i=$((i + 1))
        case $name in onthefly/*) continue ;; esac
        [ $((i % ${2:-10})) -ne 0 ] || fault "${name%.txt}"
    done
    [ $n -ge 3 ] || complain "only $n faults"
    ;;
these)
    for name in "${@:2}"; do known_bad "$name"; done
    ;;
sample)
    for name in bad_no_barrier bad_unrecorded_store bad_minor_writes bad_young_no_roots bad_ck_stores_beside bad_boehm_atomic; do
        known_bad $name
    done
    fault mark_sweep/"$(basename "$(find "$SOURCE_DIR/faults/mark_sweep" -name '*.txt' | sort | head -1)" .txt)"
    fault generational/remembered_table_full # an operation of a runtime
    [ $n -ge 6 ] || complain "only $n findings"
    ;;
*) exit 2 ;;
esac
echo "$n findings reduced, exported, compiled with $compilers"
finish
