#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A target goes on after a violation where a campaign asks for it (fuzz/go_on.c): inputs are kept, of
# each kind a few; none of them gets into the engine's corpus; and alone it ends as it always did.
# shellcheck disable=SC2015,SC2086 # conditions; names without spaces
set -u
bin=${CAMPAIGN_BIN:-}
[ -n "$bin" ] || { echo 'skipped: this test needs libFuzzer, which clang has'; exit 77; }
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
target=$bin/fuzz_bad_infix_root
printf 'isoheap program 1\nheap\n  b0 = closure arity=1,1 env=[7]\nroots\n  r0 = b0+3\nscript\n  full\n' >bad
printf 'isoheap program 1\nscript\n  full\n' >good

count() {
    find "$@" -type f ! -name '.*' | wc -l
}
# new: folders as a campaign has them
new() {
    rm -rf found said engine corpus
    mkdir found said engine corpus
}

# ---- nobody asks: the process ends ----

new
check 77 'violation lost_object' "$target" bad
[ "$(count found said)" -eq 0 ] || complain 'something is kept though nobody asks'

# ---- a campaign asks ----

export ISOHEAP_GO_ON=.
mkdir inputs
cp bad good inputs
check 0 'Done [1-9]' "$target" -runs=0 inputs
[ "$(count found)" -eq 1 ] && cmp -s bad found/violation-* || complain 'the input is not kept'
name=$(basename found/violation-*)
grep -q '^isoheap: violation lost_object$' "said/${name#violation-}" || complain 'what was said is not kept'

# a second one in the same process: it may owe its failure to the first
sed 's/env=\[7\]/env=[9999]/' bad >inputs/worse # longer: it comes later
new
check 0 'Done [1-9]' "$target" -runs=0 inputs
[ "$(count found -name 'violation-*')" -eq 1 ] && cmp -s inputs/worse found/later-* || complain 'the second one is not marked' err

# Of one kind a few are kept, then fewer and fewer, by all processes together.
new
for i in $(seq 60); do sed "s/env=\[7\]/env=[$i]/" bad >corpus/$i; done
check 0 'Done 6[0-9] runs' "$target" -runs=0 corpus
kept=$(count found) # the engine runs one of them twice
[ "$kept" -ge 6 ] && [ "$kept" -le 7 ] || complain "$kept of 60 inputs are kept, not the first 4, the 8th, the 16th and the 32nd" err
grep -Eq 'INITED .*corp: 1/|INITED exec' out err || complain 'the engine takes inputs that fail for inputs that reach something' err
check 0 'Done 6[0-9] runs' "$target" -runs=0 corpus
[ "$(count found)" -le 8 ] || complain 'another process keeps the same again' err

# What fails has reached nothing: no input of the corpus that has grown fails.
new
check 0 'Done 20000 runs' "$target" -seed=1 -runs=20000 -max_len=4096 corpus "$SOURCE_DIR/seeds/mark_sweep"
[ "$(count found)" -ge 3 ] && [ "$(count corpus)" -ge 30 ] || complain 'nothing found, or nothing grown' err
[ "$(count found)" -le 60 ] || complain "$(count found) inputs fill the disk"
(unset ISOHEAP_GO_ON; "$target" -runs=0 corpus) >out 2>&1 || complain 'inputs that fail are in the corpus' out
for file in $(ls found/* | head -n 8); do
    (unset ISOHEAP_GO_ON; "$target" "$file") >out 2>&1 && complain "$file does not fail" out
done

# ---- what cannot be kept ends the process, which leaves it in its mapped file ----

new
rm -r found
printf '' >found
mkdir current
ISOHEAP_CURRENT=current check 77 'violation lost_object' "$target" bad
grep -q 'b0 = closure' current/* || complain 'the input is gone'
ISOHEAP_GO_ON=nowhere check 77 'violation lost_object' "$target" bad
exit $wrong
