#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Line coverage from the seeds alone.  The replay tests run in the coverage build; then every seed
# runs on every known-bad collector too, since what an oracle does when it finds something is
# reached by nothing else.  Writes the HTML report, prints the figure of collectors, models, views and oracles
# and fails if it is below COVERAGE_LEAST per cent.
set -eu
cd "$(dirname "$0")/.."
least=${COVERAGE_LEAST:-95}
jobs=${JOBS:-$(nproc)}
build=build/coverage

# Known-bad collectors may crash or hang: one process for each run.
replay_on_known_bad() {
    # shellcheck disable=SC2016 # sh expands them
    sed -n 's/^ *X([a-z_0-9]*, *\([a-z_0-9]*\),.*/bad_\1/p' collectors/faults.def |
        while read -r collector; do
            find seeds -name '*.txt' -printf "$collector %p\n"
        done |
        xargs -P "$jobs" -n 2 sh -c 'timeout 10 "$0" run --in-process --quiet --collector "$1" "$2"' \
            "$build/bin/isoheap" >/dev/null 2>&1 || true
}

# llvm-cov takes one program by place and the others by option.
cov() {
    llvm-cov "$1" "$build/bin/isoheap" "${runners[@]/#/-object=}" -instr-profile="$build/all.profdata" "${@:2}"
}

scripts/build.sh coverage
rm -rf "$build/profiles" "$build/html"
export LLVM_PROFILE_FILE=$PWD/$build/profiles/%m.profraw
ctest --test-dir "$build" -L replay --output-on-failure --no-tests=error
replay_on_known_bad
llvm-profdata merge -sparse "$build"/profiles/*.profraw -o "$build/all.profdata"
runners=("$build"/bin/*_standalone)

cov show -format=html -output-dir="$build/html" program collectors models views oracles harness >/dev/null 2>&1
cov report collectors models views oracles >"$build/report.txt" 2>/dev/null
awk '$8 ~ /^[0-9]+$/ && $8 > 0 { printf "%-32s %5d lines, %4d missed  %7s\n", $1, $8, $9, $10 }' "$build/report.txt"
echo "report: $build/html/index.html"
awk -v least="$least" '/^TOTAL/ {
    printf "line coverage of collectors, models, views and oracles, from the seeds alone: %s (at least %s %%)\n", $10, least
    found = 1
    exit $10 + 0 < least
} END { if (!found) exit 1 }' "$build/report.txt"
