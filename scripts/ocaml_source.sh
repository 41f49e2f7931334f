#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The source tree of OCaml that `OCAML=` of make names; prints its folder, or why there is none.
#
#   ocaml_source.sh DIR       a checkout or an unpacked release, 4.12 to 4.14, 5.1 or 5.3, edited or not
#   ocaml_source.sh 4.13.1    prints nothing: Debian's package ocaml-source, which is the default
#   ocaml_source.sh 4.14.1    a release as npm's package ocaml has it: fetched once, by npm, to
#                             build/ocaml-source/, and compared with the checksum below
#   ocaml_source.sh --list    the versions that it can fetch
#   ocaml_source.sh --collectors TREE     the collectors that one of these makes, instead of its folder
#
# Exit status 2 if it is none of these, 3 if it cannot be had.
set -eu
cd "$(dirname "$0")/.."

# Version of OCaml, that of npm's package, SHA-512 of its archive.
releases() {
    cat <<'LIST'
4.12.0 4.12.0 6f0c4b9f411d2d57f4c2578782c76b4ec5468b0e0308508b0afa311c6fe1c009c296829b4045521eca3be4b60b38e796ee6e96ae0bb3dccfa94a42559ef678a2
4.14.0 4.14.0 2b7f24ddf7ab97a7385b2cad4fbd3c965a7f0453b65c1f8c5986b0faa46722504d6634418e7a5cb068d79d1eac7bf033d0ca1db3b5027fbe00a71d9d48aa2bcc
4.14.1 4.14.1000 f7c9d59ea9e82026b96eb6279bad16c1ebf2ef6fd85248bd2aaa203cf917737e7b8144285c2675bcab3130c13a9f268072e23d393e7fa33ba9a28e2f4e7f0740
5.1.4 5.1.4 a9134ed7f0c32b8f3284da9c189236b2facbf1191c4f78d503f0774d3acb840aaa7ccf19268a6e4fcf1d4851fb5dc5e9d29b161cd6360e5e73a82330053aecec
5.3.0 5.3.0 0f4b86e38437afa2d8e304b38416691defaad72309e101e09394753acbfba8b5818163d0da313ad2f63aad7809ada2ff1fd7efb16385dca65222ba3f6d2f99f0
LIST
}

die() {
    echo "ocaml_source.sh: $2" >&2
    exit "$1"
}

# What CMake thinks of a tree, in words: answer has all that it says.
judge() {
    answer=$(cmake -DTREE="$1" -P cmake/IsoheapOcamlTree.cmake 2>&1) ||
        die 3 "$(echo "$answer" | sed -n '/^  /{s/^ *//;p}' | tr '\n' ' ' | sed 's/ *$//')"
}

# fetch VERSION PACKAGED SUM: into build/ocaml-source/VERSION, as a whole or not at all.
fetch() {
    local folder=$PWD/build/ocaml-source/$1 sum
    if [ ! -d "$folder" ]; then
        command -v npm >/dev/null || die 3 "OCaml $1 comes by npm, which is not here; OCAML=DIR takes a folder"
        mkdir -p build/ocaml-source
        work=$(mktemp -d build/ocaml-source/fetching.XXXXXX)
        trap 'rm -rf "$work"' EXIT
        npm pack --silent --pack-destination "$work" "ocaml@$2" >"$work/log" 2>&1 ||
            { cat "$work/log" >&2; die 3 "npm does not get ocaml@$2"; }
        sum=$(sha512sum "$work/ocaml-$2.tgz" | cut -d ' ' -f 1)
        [ "$sum" = "$3" ] || die 3 "ocaml@$2 is not what it was: its SHA-512 is $sum, not $3"
        tar -xzmf "$work/ocaml-$2.tgz" -C "$work" package/VERSION package/runtime package/LICENSE
        mv "$work/package" "$folder"
    fi
    echo "$folder"
}

if [ $# -eq 2 ] && [ "$1" = --collectors ]; then
    folder=$(scripts/ocaml_source.sh "$2")
    judge "$folder"
    echo "$answer" | sed -n 's/^collectors //p'
    exit
fi
[ $# -eq 1 ] || die 2 "one tree: a folder, or a version"
if [ "$1" = --list ]; then
    releases | cut -d ' ' -f 1
elif [ -z "$1" ] || [ "$1" = 4.13.1 ]; then
    :
elif [ -d "$1" ]; then
    folder=$(realpath "$1")
    judge "$folder"
    echo "$folder"
elif release=$(releases | grep -F "$1 " | grep "^$1 "); then
    # shellcheck disable=SC2086 # version, package's version, checksum
    fetch $release
else
    die 2 "$1 is no folder, and none of the versions that can be had: 4.13.1 $(releases | cut -d ' ' -f 1 | tr '\n' ' ')"
fi
