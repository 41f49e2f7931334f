#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Large heaps from outside: a table of ten million entries is found at its true size, a smaller one is reduced to its
# entry, what has no large heap says so in words, and an exported finding plays.
source=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
# shellcheck source=tests/support/support.bash
. "$source/tests/support/support.bash"
unset ISOHEAP_PLUGIN
crash=$source/crashes/lost_object/bad_small_table.txt

# ---- what is found ----

check 1 'violation lost_object' "$isoheap" run --collector=bad_small_table "$crash"
grep -q 'a pointer to b0:10001 ' out || complain 'the block is not named' out
grep -q 'a heap of 20002 words is not drawn' out || complain 'nothing is said of the map' out
check 0 ': ok$' "$isoheap" run --collector=mark_sweep "$crash"
check 3 'not run: tower has no heap of more than 8192 words \(max_heap_words\)' "$isoheap" run --collector=tower "$crash"
printf 'isoheap program 1\nconfig heap=200000 mark-stack=0\nheap\n  b0 = 30000 of block tag=1 [7, next, 3]\n  500 of free 3\nroots\n  r0 = b0\nscript\n  full\n  r1 = alloc tag=0 [r0]\n  full\n' >large.txt
check 0 'lost_object' "$isoheap" reduce --collector=bad_small_table -o small.txt large.txt
grep -Eq '10001 of block tag=0 \[next\]' small.txt || complain 'it is not reduced to the table' small.txt
check 1 "BROKEN   large" "$isoheap" conformance --only=large --collector=bad_small_table
check 0 'kept     large' "$isoheap" conformance --only=large --large=20000 --collector=bad_small_table
check 2 '--large takes a number from 64 to 134217728' "$isoheap" conformance --large=7

# ---- what a large heap has not ----

check 3 'bytes have no heap of more than 8192 words and no blocks by count' "$isoheap" convert --to=bytes -o large.bin large.txt
check 2 'a heap of more than 8192 words is not drawn' "$isoheap" show --map large.txt
check 0 '30000 blocks and 500 gaps in 122000 of 200000 heap words' "$isoheap" show large.txt
check 2 'a heap of more than 8192 words is not drawn' "$isoheap" run --trace=b0 large.txt
check 0 'large.txt: ok' "$isoheap" run --trace large.txt

# ---- at its true size, where there is memory and time for it ----

# A sanitizer's shadow would take as much again: the command without one, if it has been built here.
plain=$source/build/bin/isoheap generated=$source/build/release/generated
[ -x "$plain" ] || { plain=$isoheap generated=${BUILD_DIR:?set BUILD_DIR to the build}/generated; }
mib=$(awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
if ! command -v cc >/dev/null; then
    lack 'there is no cc for a plug-in'
elif [ "${mib:-0}" -lt 6000 ] || nm "$plain" 2>/dev/null | grep -q ' T __asan_init'; then
    lack 'ten million blocks need six gigabytes, and no sanitizer'
else
    printf '#include "collectors/plugin.h"\nextern const struct collector table;\nISOHEAP_PLUGIN(table)\n' >plugin.c
    cc -O2 -shared -fPIC -I "$source" -I "$generated" -DISOHEAP_COLLECTOR=table \
        -DISOHEAP_FAULT=FAULT_small_table -DMARK_TABLE=10000000 -o table.so "$source/collectors/mark_sweep/mark_sweep.c" \
        "$source/collectors/arena.c" plugin.c 2>err || complain 'it does not compile' err
    sed 's/20002/20000002/; s/10001/10000001/' "$crash" >ten_million.txt
    check 1 'violation lost_object' "$plain" run --plugin table.so ten_million.txt
    grep -q 'a pointer to b0:10000001 ' out || complain 'the block is not named' out
    sed -i 's/10000001/10000000/' ten_million.txt
    check 0 ': ok$' "$plain" run --plugin table.so ten_million.txt
fi
finish
