#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Configures (once) and builds presets of CMakePresets.json:  build.sh PRESET...
# TARGETS="a b" builds these instead of what the preset names; known-bad is a part of fuzz.  OCAML=DIR or OCAML=VERSION is where the
# OCaml runtime comes from (ocaml_source.sh), that of OCaml 5 if it is one of those; without it OCaml 4 comes
# from Debian's package, and OCaml 5 from where install.sh has put it.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
tree=$(scripts/ocaml_source.sh "${OCAML:-}") tree5=
case $(head -n 1 "$tree/VERSION" 2>/dev/null) in
5.*) tree5=$tree tree= ;;
esac

# A cache from before the checkout was moved is of no use.
forget_moved_build() {
    local cache=build/$1/CMakeCache.txt
    if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
        rm -rf "build/$1"
    fi
}

# The tree of OCaml 4 or 5 that a build has been configured with.
tree_of() {
    sed -n 's/^ISOHEAP_OCAML5*_SOURCE:[A-Z]*=//p' "build/$1/CMakeCache.txt" 2>/dev/null | tr -d '\n'
}

configure() {
    local log=build/$1/configure.log before wanted
    before=$(tree_of "$1") wanted=$tree$tree5
    if [ build/"$1"/build.ninja -nt CMakePresets.json ] && [ "$before" = "$wanted" ]; then
        return
    fi
    [ "$before" = "$wanted" ] || echo "the OCaml runtime of build/$1 comes from ${wanted:-the package ocaml-source}"
    mkdir -p "build/$1"
    if ! cmake --preset "$1" -DISOHEAP_OCAML_SOURCE="$tree" -DISOHEAP_OCAML5_SOURCE="$tree5" >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
}

for preset in "$@"; do
    of=$preset
    [ "$preset" != known-bad ] || of=fuzz # the same build, other targets of it
    forget_moved_build "$of"
    configure "$of"
    echo "building $preset"
    # shellcheck disable=SC2086 # one word a target
    cmake --build --preset "$preset" -j "$jobs" ${TARGETS:+--target $TARGETS}
done
