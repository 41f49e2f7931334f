#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds with clang and with gcc, runs all tests with clang, all but the end-to-end ones and those of pages and sources with gcc, and
# sums up.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
passed=0 failed=0 skipped=0

# run_tests PRESET: CTest's own output, then its figures added to passed, failed and skipped; what a
# skipped test lacks is said.
run_tests() {
    local log=build/$1/ctest.log summary
    echo "testing $1"
    # one more than there are cores: some tests wait more than they work
    ctest --preset "$1" -j $((jobs + 1)) 2>&1 </dev/null | tee "$log" || true
    summary=$(sed -n 's/^.*tests passed, \([0-9]*\) tests\{0,1\} failed out of \([0-9]*\)$/\1 \2/p' "$log")
    if [ -z "$summary" ]; then
        echo "CTest did not finish in build/$1" >&2
        exit 4
    fi
    # CTest counts a skipped test as passed
    local lacking
    lacking=$(grep -c '[*][*][*]Skipped' "$log" || true)
    awk '/^"?[0-9]+\/[0-9]+ Test(ing)?: / { name = $NF } /^skipped: / { print name ": " $0 }' \
        "build/$1/Testing/Temporary/LastTest.log"
    skipped=$((skipped + lacking))
    failed=$((failed + ${summary% *}))
    passed=$((passed + ${summary#* } - ${summary% *} - lacking))
}

# release: one test wants a heap that is too large for a sanitizer's command
scripts/build.sh release check gcc
run_tests check
run_tests gcc
[ "$skipped" -eq 0 ] || skips=", $skipped skipped"
echo "$passed passed, $failed failed${skips:-}"
[ "$failed" -eq 0 ]
