#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The word EDGES with each engine, from an installed tree: a loop that calls no gc_tick is the verdict no_progress under
# libFuzzer, under AFL++ and in the environment of OSS-Fuzz; where edges cannot be counted, it is refused in words.
# shellcheck disable=SC2015 # conditions
set -u
build=${BUILD_DIR:?set BUILD_DIR to the build}
source=${SOURCE_DIR:?set SOURCE_DIR to the top of the tree}
CC=${TEST_CC:?set TEST_CC to the C compiler}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
unset ISOHEAP_PLUGIN
need clang clang++
"$CC" --version | grep -q clang || { echo 'skipped: this test is for an installation by clang, whose engines these are'; exit 77; }
cmake --install "$build" --prefix "$folder/prefix" >log 2>&1 || { cat log; exit 1; }
mkdir foreign
cp "$source/tests/cli/foreign/foreign.c" foreign
cat >foreign/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(foreign C)
find_package(isoheap REQUIRED)
isoheap_add_target(NAME fuzz_foreign COLLECTOR foreign SOURCES foreign.c EDGES SECTIONS)
CMAKE
mkdir -p foreign/seeds/foreign
printf 'isoheap program 1\nscript\n  r0 = alloc tag=0 [1, 2]\n' | tee good.txt >foreign/seeds/foreign/good.txt
printf 'isoheap program 1\nscript\n  r0 = alloc tag=77 [1, 2]\n' >loop.txt

# built FOLDER OPTION...: the target with these options of CMake, and the environment as it is.
built() {
    (cmake -S foreign -B "$1" -DCMAKE_PREFIX_PATH="$folder/prefix" "${@:2}" && cmake --build "$1" -j 2) >log 2>&1 ||
        { complain "$1 is not built: $(tail -n 20 log)"; return 1; }
}
# judges TARGET: it ends, and says what it is
judges() {
    check 0 '' timeout 60 "$1" good.txt
    check '[1-9][0-9]*' 'violation no_progress' timeout 60 "$1" loop.txt
    ! grep -Eq 'timeout|timed out' out err || complain "$1: a time-out" out err
}

built libfuzzer -DCMAKE_C_COMPILER=clang && judges libfuzzer/bin/fuzz_foreign
if [ -e /usr/lib/afl/libAFLDriver.a ] || [ -e /usr/local/lib/afl/libAFLDriver.a ]; then
    if built afl -DCMAKE_C_COMPILER=clang -DISOHEAP_AFL=ON; then
        judges afl/bin/fuzz_foreign
        # and its own counters are there as well
        ! command -v afl-showmap >/dev/null || {
            AFL_MAP_SIZE=65536 afl-showmap -q -o map -- afl/bin/fuzz_foreign good.txt >log 2>&1
            [ "$(wc -l <map)" -gt 20 ] || complain "AFL++ sees $(wc -l <map) edges" log
        }
    fi
else
    lack "AFL++'s runtime is not here"
fi

# ---- the environment of OSS-Fuzz ----

export LIB_FUZZING_ENGINE=-fsanitize=fuzzer CXX=clang++
export CFLAGS='-O1 -fsanitize=address -fsanitize=fuzzer-no-link' CXXFLAGS='-O1 -fsanitize=address -fsanitize=fuzzer-no-link'
CC=clang built oss && judges oss/bin/fuzz_foreign
if command -v afl-clang-fast >/dev/null; then
    LIB_FUZZING_ENGINE=$(find /usr/lib/afl /usr/local/lib/afl -name libAFLDriver.a 2>/dev/null | head -n 1)
    export CFLAGS='-O1 -fsanitize=address' CXXFLAGS='-O1 -fsanitize=address'
    for word in EDGES THREADS; do
        sed -i "s/ \(EDGES\|THREADS\)/ $word/" foreign/CMakeLists.txt
        CC=afl-clang-fast CXX=afl-clang-fast++ cmake -S foreign -B refused -DCMAKE_PREFIX_PATH="$folder/prefix" >out 2>&1 &&
            complain "$word is taken where no edge is counted" out
        tr '\n' ' ' <out | tr -s ' ' | grep -q 'EDGES and THREADS need a call at every edge, and .*afl-clang-fast.* makes none' ||
            complain "$word is not refused in words" out
        rm -rf refused
    done
fi
finish
