#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap fuzz --engine afl --sync: two nodes, as on two machines, share what they find through a folder
# and nothing else.
set -u
: "${ISOHEAP:?}" "${AFL_TARGET:?}" "${AFL_MUTATOR:?}"
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

mkdir bin seeds seeds/fuzz_bad_infix_root
cp "$AFL_TARGET" bin/fuzz_bad_infix_root
cp "$AFL_MUTATOR" bin/isoheap_afl_mutator.so
printf '\174' >seeds/fuzz_bad_infix_root/full

# node NAME SECONDS: a machine of its own but for the folder shared.
node() {
    "$ISOHEAP" fuzz --engine afl --sync shared --node "$1" --bin-dir bin --jobs 1 --time "$2" \
        --corpus "corpus.$1" --crashes "crashes.$1" fuzz_bad_infix_root >"log.$1" 2>&1
    status=$?
    [ $status -le 1 ] || complain "node $1 ends with $status: $(tail -n 20 "log.$1")"
}
node one 11 &
sleep 5
node two 6
wait
for name in one two; do
    [ -s shared/fuzz_bad_infix_root/$name-job0/fuzzer_stats ] || complain "node $name left no figures"
    # the corpora stay apart
    [ -n "$(ls corpus.$name/fuzz_bad_infix_root)" ] || complain "node $name has no corpus"
done
[ -n "$(find shared/fuzz_bad_infix_root/*-job0/queue -name '*sync:one-job0*' -o -name '*sync:two-job0*' | head -n 1)" ] ||
    complain "neither node took an input of the other: $(find shared -name 'id:*' | head -n 20)"

# refuses WORDS OPTION...
refuses() {
    "$ISOHEAP" fuzz --bin-dir bin "${@:2}" >said 2>&1
    status=$?
    [ $status = 2 ] || complain "${*:2}: status $status, not 2"
    grep -qF -- "$1" said || complain "${*:2} does not say '$1': $(cat said)"
}
refuses 'are for --engine=afl' --sync shared
refuses 'only with --sync' --engine afl --node x
refuses '1 to 20 letters' --engine afl --sync shared --node a/b
exit $wrong
