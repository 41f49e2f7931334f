#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whatever had a say in a verdict stands in the command that replays it: the plug-in, the collectors, the
# oracles, the masks that are off, the time limit.  The line of a report and that of a reduced program are run as they are.
set -u
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
source=${SOURCE_DIR:?set SOURCE_DIR to the top of the tree}
build=${BUILD_DIR:?set BUILD_DIR to the build}
compiler=${TEST_CC:?set TEST_CC to the C compiler}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
unset ISOHEAP_PLUGIN ISOHEAP_UNMASK

# ---- a collector with two known defects, each behind a mask ----

cat >masked.c <<'C'
#include "collectors/cheney/cheney.h"
#include "collectors/plugin.h"
static const struct gc_mask masks[] = {{"lost-slot", "a collection clears slot 0"},
                                       {"hang", "a collection does not end"}, {NULL, NULL}};
static struct gc_config config;
static void masked_reset(struct gc *gc, const struct gc_config *c) { config = *c; cheney.reset(gc, c); }
static struct gc *masked_open(void) { return cheney.open(); }
static void masked_close(struct gc *gc) { cheney.close(gc); }
static word *masked_image(struct gc *gc, size_t *words) { return cheney.image(gc, words); }
static void masked_adopt(struct gc *gc, size_t words) { cheney.adopt(gc, words); }
static enum gc_result masked_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                                   const word *raw) { return cheney.alloc(gc, m, dst, wosize, tag, raw); }
static enum gc_result masked_collect(struct gc *gc, enum gc_collection kind) {
    enum gc_result result = cheney.collect(gc, kind);
    if (!(config.masks & 1)) config.slots[0][0] = WORD_UNIT;
    for (volatile int on = 1; on && !(config.masks & 2);) ;
    return result;
}
static void masked_walk(struct gc *gc, gc_visit *visit, void *context) { cheney.walk(gc, visit, context); }
const struct collector masked = {.name = "masked", .summary = "cheney with two masks", .masks = masks,
    .traits = {.moves = true, .max_mutators = 1}, .open = masked_open, .reset = masked_reset,
    .close = masked_close, .image = masked_image, .adopt = masked_adopt, .alloc = masked_alloc,
    .collect = masked_collect, .walk = masked_walk};
ISOHEAP_PLUGIN(masked)
C
"$compiler" -std=c17 -shared -fPIC -I "$build/generated" -I "$source" masked.c "$source/collectors/cheney/cheney.c" \
    "$source/collectors/arena.c" -o masked.so || exit 1
cat >crash.txt <<'PROGRAM'
isoheap program 1
heap
  b0 = block tag=0 [7, 8]
roots
  r0 = b0
script
  r1 = alloc tag=0 [1]
  full
PROGRAM
check 0 ': ok' "$isoheap" run --plugin masked.so crash.txt

# replays CLASS WORDS OPTION...: run with the options raises the class; its report has the line with these
# words, which raises it again; so does the reduced program, and its line.
replays() {
    local class=$1 words=$2 line
    shift 2
    check 1 "violation $class " "$isoheap" run "$@" crash.txt
    line=$(sed -n 's/^  isoheap \(run .* crash.txt\)$/\1/p' out)
    [[ $line == *"$words"* ]] || complain "$class, $*: the report's line is: $line"
    # shellcheck disable=SC2086 # words
    (unset ISOHEAP_PLUGIN ISOHEAP_UNMASK && "$isoheap" $line) >again 2>&1
    grep -q "violation $class " again || complain "the report's line says something else: $line" again
    check 0 . "$isoheap" reduce "$@" -o small.txt crash.txt
    line=$(sed -n 's/^# replay: isoheap //p' small.txt)
    [[ $line == *"$words"* ]] || complain "$class, $*: the line of the reduced program is: $line"
    # shellcheck disable=SC2086 # words
    (unset ISOHEAP_PLUGIN ISOHEAP_UNMASK && "$isoheap" $line) >again 2>&1
    grep -q "violation $class " again || complain "the line of the reduced program says something else: $line" again
    rm small.txt
}
here=$(realpath .)
plugin="--plugin $here/masked.so --collector masked --reference"
replays edge_changed "$plugin cheney --unmask=lost-slot " --plugin masked.so --unmask=lost-slot
replays edge_changed "$plugin none --oracles=isomorphism,overlap --unmask=lost-slot " \
    --plugin masked.so --unmask=lost-slot --reference none --oracles=isomorphism,overlap
replays edge_changed "$plugin cheney --oracles=-overlap --unmask=lost-slot " \
    --plugin masked.so --unmask=lost-slot -O-overlap
replays no_progress "--plugin $here/masked.so --timeout=1 --collector masked --reference cheney --unmask=hang,lost-slot " \
    --plugin masked.so --unmask=hang,lost-slot --timeout 1

# ---- the same from the environment; the option is stronger ----

export ISOHEAP_PLUGIN=$here/masked.so ISOHEAP_UNMASK=lost-slot
replays edge_changed "$plugin cheney --unmask=lost-slot "
check 0 ': ok' "$isoheap" run --unmask= crash.txt
ISOHEAP_UNMASK=nonsense check 0 ': ok' "$isoheap" run crash.txt
check 2 'masked has no mask "nonsense"; there are: lost-slot hang' "$isoheap" run --unmask=lost-slot,nonsense crash.txt
check 2 'mark_sweep has no mask "hang", nor any other one' "$isoheap" run --unmask=hang --collector mark_sweep crash.txt
# What says nothing about these collectors is not in the line.
check 1 '^  isoheap run .*--collector bad_infix_root --reference cheney crash.txt$' \
    "$isoheap" run --collector bad_infix_root "$source/crashes/lost_object/bad_infix_root.txt"

# ---- explore ----

check 1 "^  replay       isoheap run $plugin none --oracles=isomorphism --unmask=lost-slot " "$isoheap" explore --quiet \
    --operations 1 --blocks 1 --reference none --oracles isomorphism --crashes found masked
line=$(sed -n 's/^# replay: isoheap //p' found/*/explore-masked.txt)
# shellcheck disable=SC2086 # words
(unset ISOHEAP_PLUGIN ISOHEAP_UNMASK && cd found/edge_changed && "$isoheap" $line) >again 2>&1
grep -q 'violation edge_changed ' again || complain "explore's line says something else: $line" again
exit $wrong
