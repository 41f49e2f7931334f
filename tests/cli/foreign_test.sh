#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A collector that does not know of isoheap (foreign/foreign.c): its hidden variable makes a finding that does not come
# again alone, and its loop is a time-out, unless the adapter uses the helpers for both.
source=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
programs=${FOREIGN_DIR:?set FOREIGN_DIR to the folder of the programs}
# shellcheck source=tests/support/support.bash
. "$source/tests/support/support.bash"
unset ISOHEAP_PLUGIN

program() {
    printf 'isoheap program 1\nscript\n  r0 = alloc tag=%s [1, 2]\n' "$1"
    for ((i = 0; i < $2; i++)); do printf '  full\n'; done
}
mkdir several
for name in a b c d; do program 0 1 >several/$name.txt; done
program 0 3 >three.txt
program 77 0 >loop.txt

# ---- the hidden variable ----

check 134 'violation field_written' "$programs/foreign_without_standalone" --no-fork several
check 0 '1 passed' "$programs/foreign_without_standalone" --no-fork several/a.txt
check 0 '4 passed' "$programs/foreign_with_standalone" --no-fork several
check 1 'violation field_written' "$programs/foreign_with_standalone" three.txt
check 1 'violation field_written' "$isoheap" run --plugin "$programs/foreign_with.so" three.txt
check 0 'ok' "$isoheap" run --plugin "$programs/foreign_with.so" several/a.txt several/b.txt several/c.txt several/d.txt
# without sections of its own: the variables of the whole plug-in
check 1 'violation field_written' "$isoheap" run --plugin "$programs/foreign_object.so" three.txt
check 0 'ok' "$isoheap" run --plugin "$programs/foreign_object.so" several/a.txt several/b.txt several/c.txt several/d.txt

# ---- the loop ----

check 1 'timed out after 2 s' "$programs/foreign_without_standalone" --timeout=2 loop.txt
check 1 'violation no_progress' "$programs/foreign_with_standalone" --timeout=60 loop.txt
check 1 'violation no_progress \(subject\) at operation 0: r0 = alloc' "$isoheap" run --plugin "$programs/foreign_with.so" loop.txt
exit $wrong
