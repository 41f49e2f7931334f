#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command judges in the binary of a fuzz target if it is asked to, or if one lies beside the
# plug-in: what AddressSanitizer alone sees is found, replayed, reduced and drawn.
# TARGET_DIR has the collector `stale` (tests/cli/target/stale.c) as a plug-in without sanitizers, and its
# targets: one with the standalone runner, and with clang one with libFuzzer.
# shellcheck disable=SC2015,SC2016 # conditions; a line that is evaluated later
set -u
: "${ISOHEAP:?the path of the command}" "${TARGET_DIR:?the folder of the plug-in}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
cp "$TARGET_DIR"/stale.so "$TARGET_DIR"/stale_standalone .
[ ! -x "$TARGET_DIR/fuzz_stale" ] || cp "$TARGET_DIR/fuzz_stale" libfuzzer_stale
cat >f.txt <<'END'
isoheap program 1
heap
  b0 = block tag=0 [7]
roots
  r0 = b0
script
  r1 = alloc tag=0 [r0, 3]
  full
  r2 = alloc tag=0 [r0, 4]
  full
  r1.0 := 4
  full
  full
END

printf 'isoheap program 1\nconfig heap=16\nscript\n  r0 = alloc tag=0 [1]\n' >good.txt

# ---- the plug-in alone, and a target that was named ----

check 0 'f.txt: ok' "$ISOHEAP" run --plugin stale.so f.txt
check 5 'nothing to reduce' "$ISOHEAP" reduce --plugin stale.so f.txt

# judges TARGET: every command, in that one
judges() {
    local target=$1
    check 1 'ERROR: AddressSanitizer: heap-use-after-free' "$ISOHEAP" run --plugin stale.so --target "$target" f.txt
    grep -q 'violation sanitizer (subject) at operation 5: full' out || complain "$target: another verdict" out
    grep -q 'only in the target .*stale.*: without it there is none' out || complain "$target: it is not said that the target alone sees it" out
    grep -q "isoheap run .*--target=.*stale.* --collector stale" out || complain "$target: the replay line does not name it" out
    grep -q '^heaps before the operation' out || complain "$target: no maps" out
    check 0 'sanitizer, subject \(stale\): [12] operations and [01] items' "$ISOHEAP" reduce --plugin stale.so --target "$target" -o small.txt f.txt
    grep -q 'isoheap: only in the target' err || complain "$target: reduce does not say that the target alone sees it" err
    grep -q '^# violation sanitizer: .*heap-use-after-free' small.txt || complain "$target: no header" small.txt
    # the replay line as it stands there
    (eval "$(sed -n 's/^# replay: isoheap run/check 1 "small.txt: violation sanitizer .subject." "$ISOHEAP" run -q/p' small.txt)"; exit $wrong) || wrong=1
    check 0 'stale: violation sanitizer' "$ISOHEAP" show --map --plugin stale.so --target "$target" f.txt
    grep -q '^before operation 5: full' out && grep -q '^AaBbbCcc' out || complain "$target: no map" out
    check 1 '   5  full' "$ISOHEAP" run --trace -q --plugin stale.so --target "$target" f.txt
    ! grep -q '^ *6  full' out || complain "$target: the trace goes on behind the violation" out
    check 0 'finding.c' "$ISOHEAP" export --plugin stale.so --target "$target" f.txt
    grep -q 'only in the target' err || complain "$target: export does not say that the target alone sees it" err
    check 1 'stale: violation sanitizer \(subject\)' "$ISOHEAP" explore --plugin stale.so --target "$target" -q -j1 -b0 -s1 -n3 -g0 \
        --menu=full --crashes=explored stale
    # nothing stays of a run
    cp f.txt g.txt
    check 1 '1 passed, 2 failed' "$ISOHEAP" run -q --plugin stale.so --target "$target" f.txt good.txt g.txt
}
judges ./stale_standalone

# ---- how else a run ends ----

# deed DEED CLASS DETAIL
deed() {
    export STALE=$1
    check 1 "violation $2 \(subject\)" "$ISOHEAP" run -T 1 --plugin stale.so --target ./stale_standalone f.txt
    grep -q "$3" out || complain "$1: no /$3/" out
    # the same without a target: it is no sanitizer who sees these
    check 1 "violation $2 \(subject\)" "$ISOHEAP" run -T 1 -q --plugin stale.so --target none f.txt
    ! grep -q 'only in the target' out || complain "$1: not in the target alone" out
    [ "$1" != abort ] || check 0 "$2, subject \(stale\): [12] operations and [01] items" "$ISOHEAP" reduce -T 1 --plugin stale.so --target ./stale_standalone -o small.txt f.txt
    unset STALE
}
deed abort collector_assertion 'the collector crashed: Aborted'
deed exit sanitizer 'ended the process with status 0'
deed kill sanitizer 'the collector crashed: Killed'
deed hang no_progress 'took more than 1 seconds of processor time'

# ---- what is no target ----

check 2 'no such binary of a fuzz target' "$ISOHEAP" run --plugin stale.so --target nothing f.txt
check 2 'no binary of the collector.s fuzz target in that folder' "$ISOHEAP" run --plugin stale.so --target . f.txt
check 2 'exclude each other' "$ISOHEAP" run --in-process --plugin stale.so --target ./stale_standalone f.txt
check 4 'is no fuzz target of this isoheap that judges programs' "$ISOHEAP" run --plugin stale.so --target /bin/true f.txt
check 4 'does not have this collector and reference' "$ISOHEAP" run --collector mark_sweep --target ./stale_standalone f.txt
check 4 'does not have this collector and reference' "$ISOHEAP" run --plugin stale.so -r mark_sweep --target ./stale_standalone f.txt
# one that cannot be used beside the plug-in is said and left alone
cp /bin/true fuzz_stale
check 0 'fuzz_stale is no fuzz target .*; judging without it' "$ISOHEAP" run --plugin stale.so f.txt
rm fuzz_stale

# ---- the target beside the plug-in, and a campaign ----

if [ -x libfuzzer_stale ]; then
    mv libfuzzer_stale fuzz_stale
    check 1 'violation sanitizer \(subject\) at operation 5' "$ISOHEAP" run --plugin stale.so f.txt
    ! grep -q -e '--target' out || complain 'the replay line names what is found without it' out
    check 0 'f.txt: ok' "$ISOHEAP" run --plugin stale.so --target none f.txt
    check 1 'violation sanitizer \(subject\) at operation 5' "$ISOHEAP" run -q --plugin stale.so --target . f.txt
    check 0 'sanitizer, subject \(stale\)' "$ISOHEAP" reduce --plugin stale.so -o small.txt f.txt
    check 1 'new violation sanitizer \(stale\), [12] operations, [01] block' \
        "$ISOHEAP" fuzz --plugin stale.so --time=8 --jobs=1 --corpus=corpus --crashes=found
    [ "$(find found -name '*.txt' | wc -l)" -eq 1 ] || complain 'one defect is filed more than once' out
    grep -q '^# only in the target' found/sanitizer/*.txt || complain 'the finding does not say that the target alone sees it' found/sanitizer/*.txt
    check 1 'violation sanitizer \(subject\)' "$ISOHEAP" run -q --plugin stale.so found
    check 0 'ok' "$ISOHEAP" run -q --plugin stale.so --target none found
    # a corpus is the target's: what fails in it is judged there
    check 0 'fuzz_stale: 1 new, 0 known' "$ISOHEAP" corpus import --plugin stale.so --corpus=shared fuzz_stale f.txt
    check 1 'fuzz_stale: fails, and is no part of the corpus' "$ISOHEAP" corpus minimise --plugin stale.so --corpus=shared --crashes=filed
    check 1 'violation sanitizer \(subject\)' "$ISOHEAP" run -q --plugin stale.so filed
    grep -q '^# guilty: stale$' filed/sanitizer/*.txt || complain 'what a corpus had is not filed as of the collector' filed/sanitizer/*.txt
fi

exit $wrong
