#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Collectors in other languages, with the installed package alone: the examples in C++ and in Rust build, pass their
# tests, and are fuzzed with counters of their own; a defect in each is found.  The installed headers compile alone in
# C++.
# shellcheck disable=SC2015 # conditions
set -u
build=${BUILD_DIR:?set BUILD_DIR to the build}
source=${SOURCE_DIR:?set SOURCE_DIR to the top of the tree}
export CC=${TEST_CC:?set TEST_CC to the C compiler}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
unset ISOHEAP_PLUGIN
need g++ clang++ rustc
CXX=g++ has_libfuzzer=
"$CC" --version | grep -q clang && has_libfuzzer=yes CXX=clang++
cmake --install "$build" --prefix "$folder/prefix" >log 2>&1 || { cat log; exit 1; }
isoheap=$folder/prefix/bin/isoheap

headers=$folder/prefix/include/isoheap
for compiler in g++ clang++; do
    while read -r header; do
        printf '#include "%s"\n#include "%s"\n' "$header" "$header" >alone.cpp
        $compiler -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I "$headers" alone.cpp >log 2>&1 ||
            complain "$header does not compile alone with $compiler" log
    done < <(cd "$headers" && find . -name '*.h' | cut -c 3-)
done

# example NAME FILE BEFORE AFTER: it builds and passes; with the one text for the other in the file it does not.
example() {
    local name=$1 file=$2
    cp -r "$source/examples/$name" "$name"
    (cd "$name" && cmake -B build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER=$CXX &&
        cmake --build build -j 2 && ctest --test-dir build --output-on-failure --no-tests=error) >log 2>&1 ||
        { complain "$name does not build or does not pass: $(tail -n 30 log)"; return; }
    if [ -n "$has_libfuzzer" ]; then
        "$name/build/bin/fuzz_$name" -runs=2000 -seed=1 "$name/build/seeds/fuzz_$name" >log 2>&1 ||
            complain "fuzz_$name: $(tail -n 20 log)"
        grep -Eq "INFO: Loaded 1 modules *\(($4)" log || complain "fuzz_$name has few counters" log
    fi
    cp -r "$name" "bad_$name" && rm -rf "bad_$name/build"
    sed -i "$3" "bad_$name/$file"
    ! cmp -s "$name/$file" "bad_$name/$file" || complain "$file has no such place"
    (cd "bad_$name" && cmake -B build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER=$CXX &&
        cmake --build build -j 2 --target "${name}_plugin") >log 2>&1 || complain "bad_$name does not build: $(tail -n 20 log)"
    check '1|3' 'violation ' "$isoheap" run --plugin "bad_$name/build/bin/$name.so" "$source/seeds/mark_sweep"
}
# More counters than the adapter in C has alone.
example flint flint.cpp 's/^\( *\)shade(object->fields\[i\], gray);/\1if (i > 0) shade(object->fields[i], gray);/' '[1-9][0-9]{2}'
example quartz quartz.rs 's/for i in at + 1 + copying.first(at)\.\.end/for i in at + 2 + copying.first(at)..end/' '[1-9][0-9]{2}|[5-9][0-9]'
exit $wrong
