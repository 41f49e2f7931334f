#!/usr/bin/env bash
# Line coverage from the seeds alone: runs the replay tests in the coverage build, writes the HTML
# report, prints the figure of collectors/ and oracles/ and fails if it is below the least allowed.
set -eu
cd "$(dirname "$0")/.."
least=${COVERAGE_LEAST:-95}
build=build/coverage

scripts/build.sh coverage
rm -rf "$build/profiles" "$build/html"
LLVM_PROFILE_FILE=$PWD/$build/profiles/%p.profraw \
    ctest --test-dir "$build" -L replay --output-on-failure --no-tests=error
llvm-profdata merge -sparse "$build"/profiles/*.profraw -o "$build/all.profdata"

# llvm-cov takes one program by place and the others by option.
runners=("$build"/bin/*_standalone)
cov() {
    llvm-cov "$1" "${runners[0]}" "${runners[@]/#/-object=}" -instr-profile="$build/all.profdata" "${@:2}"
}
cov show -format=html -output-dir="$build/html" program collectors oracles harness >/dev/null
cov report collectors oracles >"$build/report.txt"
awk 'NF >= 10 && $8 ~ /^[0-9]+$/ { printf "%-40s %5d lines, %4d missed  %s\n", $1, $8, $9, $10 }' "$build/report.txt"
echo "report: $build/html/index.html"
awk -v least="$least" '/^TOTAL/ {
    printf "line coverage of collectors and oracles, from the seeds alone: %s (at least %s %%)\n", $10, least
    found = 1
    exit $10 + 0 < least
} END { if (!found) exit 1 }' "$build/report.txt"
