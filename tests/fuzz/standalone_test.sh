#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The standalone runner (fuzz/standalone.c) on a target that misbehaves as its input says
# (tests/fuzz/misbehaving/target.c).  RUNNERS_DIR is where the build puts the runners.
set -u
runner=$RUNNERS_DIR/misbehaving_standalone
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ASAN_OPTIONS=detect_leaks=0
wrong=0

# expect STATUS PATTERN ARGUMENT...: runs it in the folder; the pattern must match its output, lines
# joined by `;`.
expect() {
    local status=$1 pattern=$2 output got=0
    shift 2
    output=$(cd "$folder" && "$runner" "$@" 2>&1 </dev/null) || got=$?
    output=${output//$'\n'/;}
    if [ "$got" -ne "$status" ] || ! [[ $output =~ $pattern ]]; then
        echo "arguments: $*"
        echo "  expected status $status and /$pattern/"
        echo "  got status $got and $output"
        wrong=1
    fi
}

mkdir -p "$folder/good/below" "$folder/bad" "$folder/empty"
printf 'x' >"$folder/good/one"
printf '' >"$folder/good/nothing"
printf 'y' >"$folder/good/below/two"
printf 'ignored' >"$folder/good/.hidden"
for kind in a e h k s; do
    printf '%s' "$kind" >"$folder/bad/$kind"
done

expect 0 '^3 passed, 0 failed$' good
expect 0 '^4 passed, 0 failed$' good good/one
expect 1 '^bad/a: crashed: SIGABRT;call 1 aborts;.*0 passed, 1 failed$' bad/a
expect 1 '^bad/e: exit 77;0 passed, 1 failed$' bad/e
expect 1 '^bad/k: crashed: SIGKILL;' bad/k
expect 1 '^bad/h: timed out after 1 s;0 passed, 1 failed$' --timeout=1 bad/h
# One bad input costs no other, and the order is that of the names.
expect 1 '^bad/a: .*;bad/e: .*;bad/h: .*;bad/k: .*;4 passed, 4 failed$' --timeout=1 bad good
# The same process again, or a new one.
expect 0 '^2 passed, 0 failed$' bad/s bad/s
expect 1 '^bad/s: crashed: SIGABRT' --repeat=2 bad/s
expect 0 '^3 passed, 0 failed$' --repeat=100 --no-fork good
# Files that share a process: each failure is its own, what fails only after others says so, and the rest goes on.
expect 0 '^3 passed, 0 failed$' --together good
expect 1 '^bad/a: crashed: SIGABRT;call 1 aborts;bad/e: .*;bad/h: .*;bad/k: .*;4 passed, 4 failed$' --timeout=1 --together bad good
mkdir "$folder/twice"
printf 's' >"$folder/twice/1"
printf 's' >"$folder/twice/2"
printf 'x' >"$folder/twice/3"
expect 1 '^twice/2: crashed: SIGABRT after the inputs before it, but not alone;.*2 passed, 1 failed$' --together twice
# What cannot be read, and what would be a replay of nothing.
mkdir "$folder/torn"
printf 'x' >"$folder/torn/1"
ln -s /proc/self/mem "$folder/torn/2" # it can be opened, and not read
printf 'x' >"$folder/torn/3"
for together in '' --together; do
    expect 3 '^torn/2: Input/output error;2 passed, 0 failed$' ${together:+"$together"} torn
done
expect 3 'nowhere: No such file.*;1 passed, 0 failed$' nowhere good/one
expect 3 'empty: nothing to replay;0 passed, 0 failed$' empty
expect 2 '^usage:'
expect 2 'not understood: --bogus;usage:' --bogus good
expect 2 'not understood: --timeout=1x;usage:' --timeout=1x good
expect 0 '^usage:.*Exit status' --help
# What cannot be run has not passed.
mkdir "$folder/refused"
printf 'n' >"$folder/refused/n"
expect 3 '^refused/n: not run: it begins with n;0 passed, 0 failed, 1 not run$' refused
expect 0 '^refused/n: not run: it begins with n;3 passed, 0 failed, 1 not run$' good refused
expect 0 '^refused/n: not run: it begins with n;3 passed, 0 failed, 1 not run$' --no-fork refused good
expect 0 '^refused/n: not run: it begins with n;3 passed, 0 failed, 1 not run$' --together good refused
expect 1 '1 passed, 1 failed, 1 not run$' refused bad/a good/one
expect 0 '^58 passed, 0 failed, 2 not run$' --random=60 --seed=488
# Random inputs: the same seed finds the same ones, and keeps them.
expect 1 'random input [0-9]+ of seed 3: .*found/crash-[0-9a-f]{16}: kept.* passed, [0-9]+ failed$' \
    --timeout=1 --random=300 --seed=3 --findings=found
first=$(cd "$folder/found" && cksum crash-*)
rm -rf "$folder/found"
expect 1 'of seed 3' --timeout=1 --random=300 --seed=3 --findings=found
if [ "$first" != "$(cd "$folder/found" && cksum crash-*)" ]; then
    echo "the same seed gave other findings"
    wrong=1
fi
# What it keeps fails again.
expect 1 ' 0 passed|^found/crash-' --timeout=1 found
exit $wrong
