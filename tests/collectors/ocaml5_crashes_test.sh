#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Known defects of OCaml 5's runtime: crashes/<class>/<collector>-<mask>.txt raises its class on that collector
# while the mask is off, if this version has the defect, and passes while it is on; each mask of docs/ocaml5.md has one.
. "${SOURCE_DIR:?set SOURCE_DIR to the checkout}/tests/support/support.bash"
export ASAN_OPTIONS=detect_leaks=0
"$ISOHEAP" list | grep -q '^ *ocaml5 ' || { echo "this build has no OCaml 5 runtime"; exit 0; }

version=$("$ISOHEAP" list | sed -n 's/^ *ocaml5  *the OCaml \(5\.[0-9]*\)\..*/\1/p')
[ -n "$version" ] || complain 'nobody says which version this is'
n=0
for file in "$SOURCE_DIR"/crashes/*/ocaml5{,_*}-*.txt; do
    [ -e "$file" ] || continue
    class=$(basename "$(dirname "$file")") name=$(basename "$file" .txt)
    last=$(sed -n 's/^# OCaml \(.* to \)\{0,1\}\(5\.[0-9]*\)\.$/\2/p' "$file")
    expected=(--expect "$class")
    [ "$(printf '%s\n' "$version" "$last" | sort -V | tail -n 1)" = "$last" ] || expected=() # repaired before
    check 0 '' env ISOHEAP_UNMASK="${name#*-}" "$ISOHEAP" run --collector "${name%%-*}" "${expected[@]}" "$file"
    check 0 '' "$ISOHEAP" run --collector "${name%%-*}" "$file"
    grep -qE '^# OCaml 5\.[0-9]( to 5\.[0-9])?\.$' "$file" || complain "$file does not say for which versions"
    grep -q "^| \`${name#*-}\` | $(sed -n 's/^# OCaml \(.*\)\.$/\1/p' "$file") | " "$SOURCE_DIR/docs/ocaml5.md" ||
        complain "$file: docs/ocaml5.md has other versions of it"
    n=$((n + 1))
done

# Each way to make the largest young block comes to young-trigger, and the mask knows them all; a smaller one does not,
# and no build without the assertion and Gc.Memprof.
if [ "$version" = 5.3 ] && "$ISOHEAP" list | grep -q '^ *ocaml5_debug '; then
    # make_largest FIELDS OPERATION: OPERATION makes a young block of FIELDS fields when half of the minor heap is full.
    make_largest() {
        printf '%s\n' 'isoheap program 1' 'config heap=2048 large=256 variant=3' script "r0 = alloc tag=0 size=$1" minor \
            "r1 = alloc tag=0 size=250" "$2" full
    }
    for make in 'dup r0' 'sub r0.0, FIELDS' 'marshal r0' 'resource RESOURCE'; do
        for fields in 256 255; do
            made=${make/FIELDS/$fields}
            make_largest "$fields" "r1 = ${made/RESOURCE/$((fields - 3))}" >"$fields.txt"
        done
        check 1 'collector_assertion' "$ISOHEAP" run --unmask=young-trigger --collector ocaml5_debug 256.txt
        check 0 '' "$ISOHEAP" run --collector ocaml5_debug 256.txt
        check 0 '' "$ISOHEAP" run --unmask=young-trigger --collector ocaml5_debug 255.txt
        check 0 '' "$ISOHEAP" run --unmask=young-trigger --collector ocaml5 256.txt
    done
fi
[ "$n" -ge 5 ] || complain "there are $n crash files"
finish
