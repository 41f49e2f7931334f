#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Known defects of OCaml 4.13.1's runtime, which they all are (scripts/ocaml_check.sh is for other versions): crashes/<class>/<collector>-<mask>.txt raises its class on that
# collector while the mask is off, and passes while it is on.  What can be said in plain OCaml shows
# the wrong result, compiled with ocamlopt.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wrong=0 n=0 lacks=''
# As in tests/support/support.bash.
lack() {
    echo "skipped: $1"
    lacks=yes
}
finish() {
    [ $wrong -ne 0 ] || [ -z "$lacks" ] || exit 77
    exit $wrong
}
export ASAN_OPTIONS=detect_leaks=0

if ! "$ISOHEAP" list | grep -q '^ *ocaml '; then
    echo "this build has no OCaml runtime"
    exit 0
fi

complain() {
    echo "$1"
    [ $# -lt 2 ] || head -n 40 "$2"
    wrong=1
}

# known FILE: with the mask off, and with it on.
known() {
    local class name collector mask
    class=$(basename "$(dirname "$1")")
    name=$(basename "$1" .txt)
    collector=${name%%-*} mask=${name#*-}
    mask=${mask%%.*}
    "$ISOHEAP" list | grep -q "^ *$collector " || return
    n=$((n + 1))
    ISOHEAP_UNMASK=$mask "$ISOHEAP" run --collector "$collector" --expect "$class" "$1" >"$folder/log" 2>&1 ||
        complain "$1: no $class with the mask off" "$folder/log"
    "$ISOHEAP" run --collector "$collector" "$1" >"$folder/log" 2>&1 ||
        complain "$1: a violation with the mask on" "$folder/log"
    grep -qE '^# OCaml 4\.[0-9.]+ to 4\.[0-9.]+\.$' "$1" || complain "$1 does not say for which versions"
    grep -q "^| \`$mask\` | $(sed -n 's/^# OCaml \(.*\)\.$/\1/p' "$1") | " "$SOURCE_DIR/docs/ocaml.md" ||
        complain "$1: docs/ocaml.md has other versions of $mask"
    grep -q "^# " "$1" || complain "$1 does not say why"
    [ "$(sed '1,/^script/d' "$1" | grep -cv '^ *#')" -le 12 ] || complain "$1: more than 12 operations"
}
for file in "$SOURCE_DIR"/crashes/*/ocaml{,_*}-*.txt; do
    known "$file"
done
[ $n -ge 4 ] || complain "there are $n crash files"

# shows FILE: as an OCaml program, it crashes or prints a wrong result.
shows() {
    local name
    name=$(basename "$1" .txt)
    ISOHEAP_UNMASK=all "$ISOHEAP" export --ocaml --collector "${name%%-*}" -o "$folder/finding.ml" "$1" 2>"$folder/log" ||
        { complain "$1: not exported" "$folder/log"; return; }
    (cd "$folder" && ocamlopt -w -3 -o finding finding.ml) >"$folder/log" 2>&1 ||
        { complain "$1: not compiled" "$folder/log"; return; }
    "$folder/finding" >"$folder/log" 2>&1
    status=$?
    if [ $status -eq 1 ] && grep -q 'wrong result' "$folder/log"; then
        return
    fi
    [ $status -ge 128 ] || complain "$1 as OCaml: status $status" "$folder/log"
}
if command -v ocamlopt >/dev/null; then
    for file in "$SOURCE_DIR"/crashes/*/ocaml-*.txt; do
        grep -q '^# In OCaml' "$file" && shows "$file"
    done
    # The runtime does right where there is no defect: what cannot be marshalled is unit, and objects get numbers of the process.
    printf 'isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  r1 = ephemeron 1\n  weak r1.1 := r0\n  r2 = alloc tag=3 [r0]\n  weak r1.0 := r2\n  drop r2\n  r4 = alloc tag=248 [7, 5]\n  r5 = marshal r4\n  r6 = closure arity=1 env=[]\n  r6 = alloc tag=0 [r6]\n  r6 = marshal r6\n  full\n' >"$folder/good.txt"
    "$ISOHEAP" export --ocaml --collector ocaml --class lost_object -o "$folder/finding.ml" "$folder/good.txt" &&
        (cd "$folder" && ocamlopt -w -3 -o finding finding.ml && ./finding) >"$folder/log" 2>&1 &&
        grep -qx passed "$folder/log" || complain "a good program does not pass" "$folder/log"
else
    lack 'the findings as OCaml programs: ocamlopt is missing (scripts/install.sh)'
fi
finish
