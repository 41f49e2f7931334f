#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fuzzes one target with AFL++ and the structured mutator:  TARGET=fuzz_x TIME=seconds afl.sh
#
# Needs `scripts/build.sh release` and the target in build/afl; `make afl` is all of it.  The queue
# stays in build/afl/out/TARGET, so a second run goes on from the first.  What crashes is copied to
# findings/TARGET/, named by its violation class.  ISOHEAP_MUTATION chooses the profile or "off".
#
# Exit status: 0 no violation, 1 violations, 2 usage, 4 AFL++ did not run.
set -eu
cd "$(dirname "$0")/.."
target=${TARGET:-fuzz_mark_sweep}
time=${TIME:-60}
bin=build/afl/bin
out=build/afl/out/$target
log=build/afl/$target.log
findings=findings/$target

usage() {
    echo "$1" >&2
    exit 2
}

trouble() {
    tail -n 20 "$log" >&2
    echo "afl-fuzz did not run; its log: $log" >&2
    exit 4
}

# The seeds of the target; without any, the smallest script that collects.
make_seeds() {
    seeds=build/afl/seeds/$target
    if [ -z "$(find "$seeds" -type f -size +0 2>/dev/null | head -n 1)" ]; then
        seeds=build/afl/no-seeds
        mkdir -p "$seeds"
        printf '\174' >"$seeds/full"
    fi
}

# stat NAME -> the figure in AFL++'s own statistics
stat_of() {
    sed -n "s/^$1 *: *//p" "$out/default/fuzzer_stats"
}

run_afl() {
    export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1 AFL_AUTORESUME=1
    if [ "${ISOHEAP_MUTATION:-}" != off ]; then # one round in eight is bytes even so
        export AFL_CUSTOM_MUTATOR_LIBRARY=$PWD/$bin/isoheap_afl_mutator.so AFL_CUSTOM_MUTATOR_ONLY=1
    fi
    if [ -t 1 ]; then
        afl-fuzz -V "$time" -t 2000 -m none -i "$seeds" -o "$out" -- "$bin/$target"
    else
        AFL_NO_UI=1 AFL_NO_COLOR=1 afl-fuzz -V "$time" -t 2000 -m none -i "$seeds" -o "$out" -- "$bin/$target" \
            >"$log" 2>&1 </dev/null
    fi
}

# The driver of AFL++ replays files too.
class_of() {
    local class
    class=$(ASAN_OPTIONS=detect_leaks=0 timeout 20 "$bin/$target" "$1" 2>&1 |
        sed -n 's/^isoheap: violation \([a-z_]*\).*/\1/p' | head -n 1)
    echo "${class:-unknown}"
}

keep_findings() {
    local file name
    for file in "$out"/default/crashes/id:*; do
        [ -f "$file" ] || continue
        name=$findings/$(class_of "$file")-$(sha1sum "$file" | cut -c 1-12)
        mkdir -p "$findings"
        cp "$file" "$name.new" && mv -f "$name.new" "$name"
        build/bin/isoheap convert --to=text "$name" -o "$name.txt" >/dev/null 2>&1 </dev/null || rm -f "$name.txt"
        echo "$name"
    done
}

case $time in
'' | *[!0-9]*) usage "TIME=$time must be a number of seconds" ;;
esac
[ -x "$bin/$target" ] || usage "TARGET=$target is not built: make afl TARGET=$target"
command -v afl-fuzz >/dev/null || usage "afl-fuzz is missing: install afl++"
make_seeds
mkdir -p "$out"
echo "AFL++ on $target for $time s"
run_afl || trouble
[ -f "$out/default/fuzzer_stats" ] || trouble
echo "$(stat_of execs_done) executions, $(stat_of execs_per_sec)/s, $(stat_of corpus_count) in the queue," \
    "$(stat_of edges_found) edges"
kept=$(keep_findings)
if [ -n "$kept" ]; then
    echo "violations:"
    echo "$kept"
    exit 1
fi
echo "no violations"
