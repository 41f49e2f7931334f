#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The helpers of the installed package, each by pkg-config alone, without CMake and with both compilers: a shadow, a
# subject's variables put back, edges as fuel, an arena with guard pages, threads.
# shellcheck disable=SC2046,SC2086,SC2015 # flags are words; conditions
set -u
build=${BUILD_DIR:?set BUILD_DIR to the build}
source=${SOURCE_DIR:?set SOURCE_DIR to the top of the tree}
CC=${TEST_CC:?set TEST_CC to the C compiler}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
unset ISOHEAP_PLUGIN
need pkg-config gcc g++ clang clang++
cmake --install "$build" --prefix "$folder/prefix" >log 2>&1 || { cat log; exit 1; }
isoheap=$folder/prefix/bin/isoheap
export PKG_CONFIG_PATH=$folder/prefix/lib/pkgconfig
compilers=(gcc clang) defs=-Wl,-z,defs
if nm "$folder/prefix/lib/libisoheap.a" 2>/dev/null | grep -q __asan_init; then
    # a sanitized installation wants its own compiler, and has the runtime in the command
    defs=
    compilers=(gcc)
    ! "$CC" --version | grep -q clang || compilers=(clang)
fi

# plugin NAME FILE...: NAME.so, with $compile and $link.
plugin() {
    local name=$1 file language
    shift
    printf '#include "collectors/plugin.h"\nextern const struct collector %s;\nISOHEAP_PLUGIN(%s)\n' "$name" "$name" >plugin.c
    rm -f ./*.o "$name.so"
    for file in plugin.c "$@"; do
        language=
        [ "${file##*.}" = c ] || language=-std=c++20
        $cc -g -c -fPIC $language $compile "$file" >log 2>&1 || complain "$file is not compiled by $cc" log
    done
    $cc -g -shared -fPIC ./*.o -o "$name.so" $defs $link >log 2>&1 || complain "$name.so is not made by $cc" log
}

printf 'isoheap program 1\nheap\n  b0 = block tag=0 [1]\nroots\n  r0 = b0\nscript\n  full\n' >full.txt
printf 'isoheap program 1\nscript\n  r0 = alloc tag=77 [1, 2]\n' >loop.txt
printf 'isoheap program 1\nscript\n  r0 = alloc tag=0 [1, 2]\n  full\n  full\n  full\n' >three.txt

for cc in "${compilers[@]}"; do
    # sections and edges: a loop that calls no gc_tick, and a variable that no reset knows (foreign_test.sh)
    compile="$(pkg-config --cflags isoheap_edges) $(pkg-config --variable=$cc isoheap_edges)"
    link=$(pkg-config --libs isoheap_edges)
    plugin foreign "$source/tests/cli/foreign/foreign.c"
    check 1 'violation no_progress' "$isoheap" run --plugin ./foreign.so loop.txt
    check 1 'violation field_written' "$isoheap" run --plugin ./foreign.so three.txt
    compile+=' -DISOHEAP_WITHOUT_HELPERS'
    plugin foreign "$source/tests/cli/foreign/foreign.c"
    check 1 'violation no_progress' "$isoheap" run -T 1 --plugin ./foreign.so loop.txt
    grep -q 'more than 1 seconds of processor time' out || complain 'a loop is seen without edges' out

    # an arena: whoever runs far behind a heap faults
    compile=$(pkg-config --cflags isoheap) link=$(pkg-config --libs isoheap)
    cat >wild.c <<'C'
#define pebble sound
#include "pebble.c"
#undef pebble
extern const struct collector wild;
static enum gc_result run_away(struct gc *g, enum gc_collection kind) {
    if (getenv("WILD"))
        ((volatile word *)g->arena.base)[g->config.heap_words + 20000] = 1;
    return pebble_collect(g, kind);
}
const struct collector wild = {.name = "wild", .summary = "pebble, which runs away", .traits = {.infix = true,
    .start_env = true, .raw = true, .max_mutators = 1}, .open = pebble_open, .reset = pebble_reset, .close = pebble_close,
    .image = pebble_image, .adopt = pebble_adopt, .alloc = pebble_alloc, .collect = run_away, .walk = pebble_walk};
C
    compile+=" -I $source/examples/pebble"
    plugin wild wild.c
    check 0 'full.txt: ok' "$isoheap" run --plugin ./wild.so full.txt
    WILD=1 check 1 'violation sanitizer \(subject\) at operation 0: full' "$isoheap" run --plugin ./wild.so full.txt

    # deterministic threads
    compile=$(pkg-config --cflags isoheap_threads isoheap)
    link=$(pkg-config --libs isoheap_threads isoheap)
    plugin tandem "$source/examples/tandem/tandem.c" "$source/examples/tandem/adapter.c"
    check 0 'beside.txt: ok' "$isoheap" run -q --plugin ./tandem.so "$source/examples/tandem/seeds"
    compile+=' -DTANDEM_DEFECT=3'
    plugin tandem "$source/examples/tandem/tandem.c" "$source/examples/tandem/adapter.c"
    check 1 'violation deadlock' "$isoheap" run --plugin ./tandem.so "$source/examples/tandem/seeds/tandem/beside.txt"

    # a shadow, from C++
    compile=$(pkg-config --cflags isoheap) link="$(pkg-config --libs isoheap) -lstdc++"
    plugin flint "$source/examples/flint/flint.cpp"
    check 0 ' 0 failed' "$isoheap" run -q --plugin ./flint.so "$source/examples/flint/seeds" full.txt
done
exit $wrong
