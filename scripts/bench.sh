#!/usr/bin/env bash
# Runs every benchmark in the fuzz build (asan) and in the release build (plain).  Standard output
# has lines `name value unit` and nothing else.
set -eu
cd "$(dirname "$0")/.."

run_all() {
    local program
    for program in build/"$1"/bench/bench_*; do
        "$program" "$2" </dev/null
    done
}

export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
run_all fuzz asan
run_all release plain
