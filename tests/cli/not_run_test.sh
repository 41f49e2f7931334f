#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that a collector cannot be given is "not run", which is not "ok": every command says how many, and why.
# TARGET_DIR has the collector `stale` (tests/cli/target/stale.c), whose heap has 2048 words at most, as a plug-in and as
# targets.  Its defect is not asked for here.
# shellcheck disable=SC2015 # conditions
set -u
: "${ISOHEAP:?the path of the command}" "${TARGET_DIR:?the folder of the plug-in}" "${SOURCE_DIR:?the checkout}" "${FOREIGN_DIR:?a plug-in without an image}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
cp "$TARGET_DIR"/stale.so "$TARGET_DIR"/stale_standalone .
mkdir inputs
printf 'isoheap program 1\nconfig heap=2048\nscript\n  full\n' >inputs/small.txt
printf 'isoheap program 1\nconfig heap=2049\nscript\n  full\n' >inputs/large.txt
why='stale has no heap of more than 2048 words \(max_heap_words\)'
export ASAN_OPTIONS=detect_leaks=0

# says STATUS PATTERN COMMAND ARGUMENT...: as check, but with lines joined by `;`, those of stderr at the end.
says() {
    local status=$1 pattern=$2
    shift 2
    check "$status" '' "$@"
    cat out err | tr '\n' ';' | grep -Eq -e "$pattern" || complain "no /$pattern/: $*" out err
}

# ---- run, in every way ----

for way in '' --in-process --jobs=2 '--target ./stale_standalone'; do
    # shellcheck disable=SC2086 # words
    says 3 "^inputs/large.txt: not run: $why;inputs/small.txt: ok;1 passed, 0 failed, 1 not run;" "$ISOHEAP" run --plugin stale.so $way inputs
done
says 3 "not run: $why" "$ISOHEAP" run --plugin stale.so --expect=none inputs/large.txt
says 1 'not run: .*expected lost_object' "$ISOHEAP" run --plugin stale.so --expect=lost_object inputs/large.txt
says 5 "nothing to reduce; it was not run: $why" "$ISOHEAP" reduce --plugin stale.so inputs/large.txt
says 5 "nothing to export; it was not run: $why" "$ISOHEAP" export --plugin stale.so inputs/large.txt

# ---- exported findings, with a collector that has no room, or refuses part of the initial heap ----

cat >refusing.c <<'C'
#include "collectors/mark_sweep/mark_sweep.h"
#include <stddef.h>
extern struct collector refusing;
struct collector refusing;
static word *no_image(struct gc *g, size_t *words) { return (void)g, (void)words, NULL; }
static enum gc_result no_alloc(struct gc *g, unsigned m, unsigned dst, size_t n, unsigned tag, const word *raw) {
    return (void)g, (void)m, (void)dst, (void)n, (void)tag, (void)raw, GC_OUT_OF_MEMORY;
}
static enum gc_result no_store(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    return (void)g, (void)m, (void)obj, (void)i, (void)value, GC_OUT_OF_MEMORY;
}
static void less(const struct gc_config *c, struct collector_traits *t) {
    (void)c;
    t->max_wosize = REFUSES == 4;
    t->max_heap_words = REFUSES == 5 ? 16 : 0;
}
__attribute__((constructor)) static void make(void) {
    refusing = mark_sweep;
    if (REFUSES == 1)
        refusing.image = no_image;
    if (REFUSES == 2 || REFUSES == 3)
        refusing.image = NULL, refusing.adopt = NULL;
    if (REFUSES == 2)
        refusing.alloc = no_alloc;
    if (REFUSES == 3)
        refusing.store = no_store;
    if (REFUSES >= 4)
        refusing.promise = less;
}
C
# With an image and without one: the file has the one way that its collector has.
file=$SOURCE_DIR/crashes/lost_object/bad_infix_root.txt
"$ISOHEAP" export --no-check --collector bad_infix_root -o with.c "$file" &&
    "$ISOHEAP" export --no-check --plugin "$FOREIGN_DIR/foreign_with.so" --class lost_object -o without.c "$file" || complain 'no export'
exported() {
    "${TEST_CC:-cc}" -std=c17 -g -I "$SOURCE_DIR" -DCOLLECTOR=refusing -DREFUSES="$1" -o exported "$2" refusing.c \
        "$SOURCE_DIR"/collectors/mark_sweep/[a-z]*.c "$SOURCE_DIR"/collectors/{arena,literals}.c >log 2>&1 || complain "$2 is not compiled" log
    check "$3" "$4" ./exported
}
exported 0 with.c 0 '^passed$'
exported 1 with.c 77 '^not run: the collector has no room for the image of the initial heap$'
exported 4 with.c 77 '^not run: the collector has no block as long as one of the initial heap$'
exported 5 with.c 77 '^not run: the collector has no heap of that size$'
exported 2 without.c 77 '^not run: the collector refuses a block of the initial heap$'
exported 3 without.c 77 '^not run: the collector refuses a store into a block of the initial heap$'

# ---- targets ----

says 0 "^inputs/large.txt: not run: $why;1 passed, 0 failed, 1 not run;\$" ./stale_standalone inputs
says 3 '0 passed, 0 failed, 1 not run' ./stale_standalone inputs/large.txt
ends="isoheap: stale: 1 of [23] programs were not run; the first: $why"
says 0 "1 passed, 0 failed, 1 not run;.*$ends" ./stale_standalone --no-fork inputs
says 0 '^1 passed, 0 failed;$' ./stale_standalone --no-fork inputs/small.txt
if [ -x "$TARGET_DIR/fuzz_stale" ]; then
    says 0 "$ends" "$TARGET_DIR/fuzz_stale" -runs=0 inputs
    mkdir -p corpus/fuzz_stale bin && cp inputs/large.txt corpus/fuzz_stale && cp "$TARGET_DIR/fuzz_stale" bin
    says '[01]' "fuzz_stale: [1-9][0-9]* of [1-9][0-9]* programs were not run; the first: $why" \
        "$ISOHEAP" fuzz --plugin stale.so --bin-dir=bin --time=30 --runs=300 --jobs=1 --corpus=corpus --crashes=crashes \
        --reduce-time=1 --keep=1 fuzz_stale
fi

# ---- explorations ----

scope=(--plugin stale.so -q -b0 -n1 -g0 --slots=1 --menu=full --crashes=explored)
says 0 "complete.*  programs     4;  not run      2 of them; the first: $why;" "$ISOHEAP" explore "${scope[@]}" --config=heap=16,2049 --jobs=1
cp out one
says 0 'complete' "$ISOHEAP" explore "${scope[@]}" --config=heap=16,2049 --jobs=3 --state=state
cmp -s one out || complain 'processes can be told' one out
says 0 'complete' "$ISOHEAP" explore "${scope[@]}" --config=heap=16,2049 --state=state
cmp -s one out || complain 'what was explored before has forgotten what was not run' one out
sed -i 's/^why .*/why so/' state/stale.state
says 3 'is damaged' "$ISOHEAP" explore "${scope[@]}" --config=heap=16,2049 --state=state
says 2 "none of 2 programs was run: $why" "$ISOHEAP" explore "${scope[@]}" --config=heap=2049
says 2 "1 of them were not run; the first: $why" "$ISOHEAP" explore "${scope[@]}" -n0 --config=heap=16,2049

# ---- programs made at random ----

says 0 "oracles in 32 programs .*;[1-9][0-9]* of them were not run; the first: $why" "$ISOHEAP" conformance --plugin stale.so
finish
