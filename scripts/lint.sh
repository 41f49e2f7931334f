#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# For those who change isoheap:  lint.sh format|tidy
# Needs the packages clang-format, clang-tidy and shellcheck, which users of isoheap do not.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}

need() {
    if ! command -v "$1" >/dev/null; then
        echo "$1 is missing; as root: apt-get install $1" >&2
        exit 1
    fi
}

sources() {
    find program collectors models views oracles harness conformance pictures fuzz cli tests bench -name '*.[ch]' "$@" -print0
}

case ${1:-} in
format)
    need clang-format
    sources | xargs -0 clang-format -i
    ;;
tidy)
    need clang-tidy
    need shellcheck
    shellcheck -x scripts/*.sh scripts/*.bash .ci/run
    # a build that compiles a folder in one piece does not say how one of its files is compiled
    cmake --preset check -B build/tidy -DISOHEAP_UNITY=OFF >/dev/null
    cmake --build build/tidy -j "$jobs" | tail -n 1
    sources -name '*.c' | xargs -0 -n 1 -P "$jobs" clang-tidy --quiet -p build/tidy
    ;;
*)
    echo "usage: lint.sh format|tidy" >&2
    exit 2
    ;;
esac
