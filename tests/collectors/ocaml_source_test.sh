#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which source trees of OCaml are taken (cmake/IsoheapOcamlTree.cmake, scripts/ocaml_source.sh), which are refused
# and in which words, and what scripts/ocaml_check.sh takes for a command.
. "${SOURCE_DIR:?set SOURCE_DIR to the checkout}/tests/support/support.bash"
# tree VERSION: a folder that looks like a source tree.
tree() {
    local tree
    tree=$(mktemp -d "$folder/tree.XXXXXX")
    mkdir -p "$tree/runtime/caml"
    touch "$tree/runtime/major_gc.c"
    printf '%s\n\n# more\n' "$1" >"$tree/VERSION"
    echo "$tree"
}

for version in 4.12.0 4.13.1 4.14.5 5.3.0 '5.3.1+dev0' '4.14.3+dev0-2023-12-11' '4.13.0~alpha1'; do
    it=$(tree "$version")
    check 0 "^$it\$" "$SOURCE_DIR"/scripts/ocaml_source.sh "$it"
done
for version in 4.11.2 4.15.0 5.0.0 '5.4.0+dev' 3.12.1; do
    check 3 "is OCaml ${version%%+*}.* isoheap takes 4.12 to 4.14" "$SOURCE_DIR"/scripts/ocaml_source.sh "$(tree "$version")"
done
check 3 'begins with no version' "$SOURCE_DIR"/scripts/ocaml_source.sh "$(tree trunk)"
check 3 'has no file VERSION' "$SOURCE_DIR"/scripts/ocaml_source.sh "$folder"
it=$(tree 4.14.1)
rm "$it/runtime/major_gc.c"
check 3 'no runtime/major_gc.c' "$SOURCE_DIR"/scripts/ocaml_source.sh "$it"
it=$(tree 4.14.1)
rm "$it/VERSION"
mkdir "$it/VERSION"
check 3 'cannot be read: .*VERSION' "$SOURCE_DIR"/scripts/ocaml_source.sh "$it"
check 2 'is no folder, and none of the versions' "$SOURCE_DIR"/scripts/ocaml_source.sh "$folder/nowhere"
check 2 'none of the versions.* 4.14.1' "$SOURCE_DIR"/scripts/ocaml_source.sh 4.9.9
check 0 '^4.14.1$' "$SOURCE_DIR"/scripts/ocaml_source.sh --list
[ -z "$("$SOURCE_DIR"/scripts/ocaml_source.sh 4.13.1)$("$SOURCE_DIR"/scripts/ocaml_source.sh '')" ] || complain "Debian's package is no folder"

# Which collectors each makes.
check 0 '^ocaml ocaml_debug ocaml_tiny ocaml_nnp ocaml_native$' "$SOURCE_DIR"/scripts/ocaml_source.sh --collectors ''
check 0 '^ocaml ocaml_debug ocaml_tiny ocaml_nnp ocaml_native$' "$SOURCE_DIR"/scripts/ocaml_source.sh --collectors "$(tree 4.14.1)"
check 0 '^ocaml5 ocaml5_debug ocaml5_tiny$' "$SOURCE_DIR"/scripts/ocaml_source.sh --collectors "$(tree 5.1.0)"
check 0 '^ocaml5 ocaml5_debug ocaml5_tiny ocaml5_domains ocaml5_domains_debug$' "$SOURCE_DIR"/scripts/ocaml_source.sh --collectors "$(tree 5.3.0)"
check 3 'isoheap takes 4.12 to 4.14' "$SOURCE_DIR"/scripts/ocaml_source.sh --collectors "$(tree 5.2.0)"
check 2 'no variant domains of ocaml5' "$SOURCE_DIR"/scripts/ocaml_check.sh --variants=domains "$(tree 5.1.0)"

# By hand, too: configuring stops, and says why.
check 1 'cannot be built: .*/nowhere' cmake -S "$SOURCE_DIR" -B "$folder/build" -G Ninja -DISOHEAP_OCAML_SOURCE="$folder/nowhere"

check 0 'Usage: scripts/ocaml_check.sh' "$SOURCE_DIR"/scripts/ocaml_check.sh --help
check 2 'which tree' "$SOURCE_DIR"/scripts/ocaml_check.sh
check 2 'no option --tim' "$SOURCE_DIR"/scripts/ocaml_check.sh --tim=3 4.13.1
check 2 'take numbers' "$SOURCE_DIR"/scripts/ocaml_check.sh --time=long 4.13.1
check 2 'no variant large' "$SOURCE_DIR"/scripts/ocaml_check.sh --variants=large 4.13.1
check 3 'isoheap takes 4.12 to 4.14, 5.1 and 5.3' "$SOURCE_DIR"/scripts/ocaml_check.sh "$(tree 5.2.0)"
check 2 'no variant native of ocaml5' "$SOURCE_DIR"/scripts/ocaml_check.sh --variants=native "$(tree 5.3.0)"
finish
