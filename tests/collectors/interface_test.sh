#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A plug-in that was compiled with another interface is refused, whatever the difference: also a new
# trait that changes no size, a value of an enum, a constant, a function of the extras.
set -u
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
source=${SOURCE_DIR:?set SOURCE_DIR to the top of the tree}
build=${BUILD_DIR:?set BUILD_DIR to the build}
compiler=${TEST_CC:?set TEST_CC to the C compiler}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
unset ISOHEAP_PLUGIN

# headers FOLDER: the interface as this build installs it.
headers() {
    rm -rf "$1"
    mkdir -p "$1/collectors/tower" "$1/collectors/cheney"
    cp "$source"/collectors/*.h "$1/collectors"
    cp "$source"/collectors/tower/levels.h "$1/collectors/tower"
    cp "$source"/collectors/cheney/cheney.h "$1/collectors/cheney"
    hash_of "$1"
}
hash_of() {
    cmake -DTOP="$1" -DOUT="$PWD/$1/collectors/interface_hash.h" -P "$source/cmake/IsoheapInterface.cmake"
}
cat >plugin.c <<'C'
#include "collectors/plugin.h"
extern const struct collector another;
ISOHEAP_PLUGIN(another)
C
# plugin FOLDER: cheney under another name as a plug-in, compiled with the headers there.
plugin() {
    "$compiler" -std=c17 -shared -fPIC -DISOHEAP_COLLECTOR=another -I "$1" -I "$source" plugin.c "$source/collectors/cheney/cheney.c" \
        "$source/collectors/arena.c" -o "$1.so" || complain "the headers of $1 do not compile"
}

headers same
cmp same/collectors/interface_hash.h "$build/generated/collectors/interface_hash.h" ||
    complain 'the same headers have another hash'
plugin same
check 0 'promises kept, 0 broken' "$isoheap" conformance --plugin ./same.so

# changed NAME FILE SED: with that change the plug-in compiles, and is refused.
changed() {
    headers "$1"
    sed -i "$3" "$1/collectors/$2"
    cmp -s "$1/collectors/$2" "$source/collectors/$2" && complain "$1: nothing has changed"
    hash_of "$1"
    plugin "$1"
    check 2 'headers of another isoheap \(interface [0-9a-f]{16}, and here it is [0-9a-f]{16}\); compile it again' \
        "$isoheap" list --plugin "./$1.so"
}
changed trait traits.h 's/^ *X(bool, infix, /X(bool, one_more, infix, true, "", "fits in") &/'
changed constant collector.h 's/GC_SLOTS = 36/GC_SLOTS = 40/'
changed order collector.h 's/GC_MINOR, GC_FULL/GC_FULL, GC_MINOR/'
changed extra extras.h 's/size_t (\*measure)/size_t (*another)(struct gc *); &/'
changed layout layout.h 's/TAG_LAZY = 246/TAG_LAZY = 245/'
changed meaning collector.h 's/one more step/two more steps/; s/Neither collects/Both collect/'
exit $wrong
