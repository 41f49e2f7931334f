#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The structure of the tree (house.py), that house.py sees what it looks for, and that a wrong arrow does
# not compile.
set -u
source=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
build=${BUILD_DIR:?set BUILD_DIR to the build}
compiler=${TEST_CC:?set TEST_CC to the C compiler}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
house=$source/tests/house/house.py

check 0 '^[0-9]+ files in [0-9]+ rooms$' python3 "$house" "$source"

# ---- it sees what it looks for ----

# tree: a copy of the code that may be spoiled.
tree() {
    rm -rf tree
    mkdir tree
    (cd "$source" && find . -path ./build -prune -o -path './.*' -prune -o -path ./seeds -prune -o \
        \( -name '*.[ch]' -o -name '*.inc' -o -name '*.def' \) -print0 | tar --null -T - -cf -) | tar -C tree -xf -
}
tree
echo '#include "oracles/statements/definition6.h"' >>tree/views/graph.h
check 1 'rooms include each other in a circle: .*views' python3 "$house" tree
check 1 'files include each other in a circle: .*views/graph.h' python3 "$house" tree
tree
echo '#include "tests/support/support.h"' >>tree/cli/main.c
check 1 'cli/main.c includes tests/support/support.h' python3 "$house" tree
for i in $(seq 31); do
    : >"tree/views/more_$i.c"
done
check 1 'views has [0-9]+ files of code' python3 "$house" tree
tree
echo 'static unsigned many[3], two;' >>tree/views/graph.c
echo 'static bool *two;' >>tree/views/heap.c
check 1 'views/graph.c and views/heap.c has a variable two,' python3 "$house" tree

# ---- a wrong arrow does not compile ----

# sees LIBRARY HEADER: the compiler finds the header from there.
# shellcheck disable=SC2317 # check calls it
sees() {
    printf '#include "%s"\nint nothing;\n' "$2" >arrow.c
    "$compiler" -std=c17 -fsyntax-only -I "$build/sees/$1" arrow.c && echo compiles
}
while read -r library own other; do
    check 0 compiles sees "$library" "$own"
    check 1 "$other.*(not found|No such file)" sees "$library" "$other"
done <<'END'
isoheap_program program/program.h collectors/collector.h
isoheap_collectors collectors/collector.h program/program.h
isoheap_views views/graph.h oracles/statements/definition6.h
isoheap_oracles views/graph.h harness/harness.h
isoheap_harness harness/harness.h collectors/mark_sweep/mark_sweep.h
isoheap_pictures harness/harness.h cli/cli.h
isoheap_cli cli/cli.h tests/support/support.h
END
exit $wrong
