#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that a collector cannot be given is "not run", which is not "ok": every command says how many, and why.
# TARGET_DIR has the collector `stale` (tests/cli/target/stale.c), whose heap has 2048 words at most, as a plug-in and as
# targets.  Its defect is not asked for here.
# shellcheck disable=SC2015 # conditions
set -u
: "${ISOHEAP:?the path of the command}" "${TARGET_DIR:?the folder of the plug-in}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
cp "$TARGET_DIR"/stale.so "$TARGET_DIR"/stale_standalone .
mkdir inputs
printf 'isoheap program 1\nconfig heap=2048\nscript\n  full\n' >inputs/small.txt
printf 'isoheap program 1\nconfig heap=2049\nscript\n  full\n' >inputs/large.txt
why='stale has no heap of more than 2048 words \(max_heap_words\)'
export ASAN_OPTIONS=detect_leaks=0

# says STATUS PATTERN COMMAND ARGUMENT...: as check, but with lines joined by `;`, those of stderr at the end.
says() {
    local status=$1 pattern=$2
    shift 2
    check "$status" '' "$@"
    cat out err | tr '\n' ';' | grep -Eq -e "$pattern" || complain "no /$pattern/: $*" out err
}

# ---- run, in every way ----

for way in '' --in-process --jobs=2 '--target ./stale_standalone'; do
    # shellcheck disable=SC2086 # words
    says 3 "^inputs/large.txt: not run: $why;inputs/small.txt: ok;1 passed, 0 failed, 1 not run;" "$ISOHEAP" run --plugin stale.so $way inputs
done
says 3 "not run: $why" "$ISOHEAP" run --plugin stale.so --expect=none inputs/large.txt
says 1 'not run: .*expected lost_object' "$ISOHEAP" run --plugin stale.so --expect=lost_object inputs/large.txt
says 5 "nothing to reduce; it was not run: $why" "$ISOHEAP" reduce --plugin stale.so inputs/large.txt
says 5 "nothing to export; it was not run: $why" "$ISOHEAP" export --plugin stale.so inputs/large.txt

# ---- targets ----

says 0 "^inputs/large.txt: not run: $why;1 passed, 0 failed, 1 not run;\$" ./stale_standalone inputs
says 3 '0 passed, 0 failed, 1 not run' ./stale_standalone inputs/large.txt
ends="isoheap: stale: 1 of [23] programs were not run; the first: $why"
says 0 "1 passed, 0 failed, 1 not run;.*$ends" ./stale_standalone --no-fork inputs
says 0 '^1 passed, 0 failed;$' ./stale_standalone --no-fork inputs/small.txt
if [ -x "$TARGET_DIR/fuzz_stale" ]; then
    says 0 "$ends" "$TARGET_DIR/fuzz_stale" -runs=0 inputs
    mkdir -p corpus/fuzz_stale bin && cp inputs/large.txt corpus/fuzz_stale && cp "$TARGET_DIR/fuzz_stale" bin
    says '[01]' "fuzz_stale: [1-9][0-9]* of [1-9][0-9]* programs were not run; the first: $why" \
        "$ISOHEAP" fuzz --plugin stale.so --bin-dir=bin --time=30 --runs=300 --jobs=1 --corpus=corpus --crashes=crashes \
        --reduce-time=1 --keep=1 fuzz_stale
fi

# ---- explorations ----

scope=(--plugin stale.so -q -b0 -n1 -g0 --slots=1 --menu=full --crashes=explored)
says 0 "complete.*  programs     4;  not run      2 of them; the first: $why;" "$ISOHEAP" explore "${scope[@]}" --config=heap=16,2049 --jobs=1
cp out one
says 0 'complete' "$ISOHEAP" explore "${scope[@]}" --config=heap=16,2049 --jobs=3 --state=state
cmp -s one out || complain 'processes can be told' one out
says 0 'complete' "$ISOHEAP" explore "${scope[@]}" --config=heap=16,2049 --state=state
cmp -s one out || complain 'what was explored before has forgotten what was not run' one out
sed -i 's/^why .*/why so/' state/stale.state
says 3 'is damaged' "$ISOHEAP" explore "${scope[@]}" --config=heap=16,2049 --state=state
says 2 "none of 2 programs was run: $why" "$ISOHEAP" explore "${scope[@]}" --config=heap=2049
says 2 "1 of them were not run; the first: $why" "$ISOHEAP" explore "${scope[@]}" -n0 --config=heap=16,2049

# ---- programs made at random ----

says 0 "oracles in 32 programs .*;[1-9][0-9]* of them were not run; the first: $why" "$ISOHEAP" conformance --plugin stale.so
finish
