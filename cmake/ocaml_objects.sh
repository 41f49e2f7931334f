#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ocaml_objects.sh SYMBOL OBJCOPY NM FOLDER RUNTIME-OBJECT... -- ADAPTER-OBJECT...
#
# Copies the objects of one variant of the OCaml runtime to FOLDER.  Every global symbol but SYMBOL,
# the collector, gets SYMBOL as a prefix; the variables of the runtime go to sections SYMBOL_data and
# SYMBOL_bss, whose bounds the linker knows.
set -eu
symbol=$1 objcopy=$2 nm=$3 folder=$4
shift 4
mkdir -p "$folder"

runtime=() adapter=()
while [ "$1" != -- ]; do
    runtime+=("$1")
    shift
done
shift
adapter=("$@")

# Not the compiler runtimes' (__...).
"$nm" --defined-only --extern-only "${runtime[@]}" "${adapter[@]}" |
    awk -v symbol="$symbol" 'NF == 3 && ($2 ~ /[TDBRG]/ && ($3 !~ /^__/ || $3 ~ /^__odr_asan/) || $3 ~ /^caml_/) && $3 != symbol {
        print $3, symbol "__" $3 }' | sort -u >"$folder/symbols"

data=()
for section in .data .data.rel .data.rel.local .sdata; do
    data+=(--rename-section "$section=${symbol}_data")
done
# The bytes of both are saved: .bss of the runtime may not stay without content.
for object in "${runtime[@]}"; do
    "$objcopy" --redefine-syms="$folder/symbols" "${data[@]}" --rename-section ".bss=${symbol}_bss" \
        "$object" "$folder/$(basename "$object")"
done
for object in "${adapter[@]}"; do
    name=$(basename "$object")
    if [[ $name == *_view.c.o ]]; then # it contains a file of the runtime
        "$objcopy" --redefine-syms="$folder/symbols" "${data[@]}" --rename-section ".bss=${symbol}_bss" \
            "$object" "$folder/$name"
    else
        "$objcopy" --redefine-syms="$folder/symbols" "$object" "$folder/$name"
    fi
done
