#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Configures (once) and builds presets of CMakePresets.json:  build.sh PRESET...
# TARGETS="a b" builds these instead of what the preset names.  OCAML=DIR or OCAML=VERSION is where the
# OCaml runtime comes from (ocaml_source.sh); without it from Debian's package.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
tree=$(scripts/ocaml_source.sh "${OCAML:-}")

# A cache from before the checkout was moved is of no use.
forget_moved_build() {
    local cache=build/$1/CMakeCache.txt
    if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
        rm -rf "build/$1"
    fi
}

# The OCaml tree that a build has been configured with.
tree_of() {
    sed -n 's/^ISOHEAP_OCAML_SOURCE:[A-Z]*=//p' "build/$1/CMakeCache.txt" 2>/dev/null || true
}

configure() {
    local log=build/$1/configure.log before
    before=$(tree_of "$1")
    if [ build/"$1"/build.ninja -nt CMakePresets.json ] && [ "$before" = "$tree" ]; then
        return
    fi
    [ "$before" = "$tree" ] || echo "the OCaml runtime of build/$1 comes from ${tree:-the package ocaml-source}"
    mkdir -p "build/$1"
    if ! cmake --preset "$1" -DISOHEAP_OCAML_SOURCE="$tree" >"$log" 2>&1; then
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
