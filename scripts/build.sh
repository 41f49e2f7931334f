#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Configures (once) and builds presets of CMakePresets.json:  build.sh PRESET...
# TARGETS="a b" builds these instead of what the preset names.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}

# A cache from before the checkout was moved is of no use.
forget_moved_build() {
    local cache=build/$1/CMakeCache.txt
    if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
        rm -rf "build/$1"
    fi
}

configure() {
    local log=build/$1/configure.log
    if [ build/"$1"/build.ninja -nt CMakePresets.json ]; then
        return
    fi
    mkdir -p "build/$1"
    if ! cmake --preset "$1" >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
}

for preset in "$@"; do
    forget_moved_build "$preset"
    configure "$preset"
    echo "building $preset"
    # shellcheck disable=SC2086 # one word a target
    cmake --build --preset "$preset" -j "$jobs" ${TARGETS:+--target $TARGETS}
done
