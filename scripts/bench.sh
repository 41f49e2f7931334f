#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every benchmark in the fuzz build (asan) and in the release build (plain).  Standard output
# has lines `name value unit` and nothing else.
set -eu
cd "$(dirname "$0")/.."

run_all() {
    local program collector
    for program in build/"$1"/bench/bench_*; do
        "$program" "$2" </dev/null
    done
    for collector in $(build/"$1"/bench/bench_exec --names) all; do
        [ "$collector" = mark_sweep ] || build/"$1"/bench/bench_exec "$2" "$collector" </dev/null
    done
    # what a collector's own statements cost
    build/"$1"/bench/bench_exec "$2" incremental snapshot </dev/null
    build/"$1"/bench/bench_exec "$2" generational remembered minor </dev/null
    build/"$1"/bench/bench_exec "$2" cakeml refinement_words layout </dev/null
    build/"$1"/bench/bench_exec "$2" tower refinement </dev/null
}

# per_second BINARY RUNS [CORPUS]: executions per second under libFuzzer, inputs of up to 256 bytes.
per_second() {
    "$1" -runs="$2" -max_len=256 -seed=1 -artifact_prefix="$work/" "${@:3}" 2>&1 </dev/null |
        awk '/^Done / { seconds = $5 > 0 ? $5 : 1; printf "%d\n", $2 / seconds }'
}

# The engine's own price: mark_sweep against a target that does nothing, built the same way.
compare_with_empty() {
    local empty full
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/corpus"
    empty=$(per_second build/fuzz/bench/empty_target 10000000)
    full=$(per_second build/fuzz/bin/fuzz_mark_sweep 200000 "$work/corpus")
    echo "empty_target_libfuzzer_asan $empty executions/s"
    echo "mark_sweep_libfuzzer_asan $full executions/s"
    awk -v full="$full" -v empty="$empty" 'BEGIN { printf "mark_sweep_to_empty_target %.4f ratio\n", full / empty }'
}

export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
run_all fuzz asan
run_all release plain
compare_with_empty
/usr/bin/python3 bench/page_500.py build/bin/isoheap
/usr/bin/python3 bench/campaign.py build/bin/isoheap build/fuzz/bin
/usr/bin/python3 bench/target_cost.py build/bin/isoheap build/known-bad/bin build/{fuzz,release}/bench/bench_in_process
