#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Real AFL++ finds a known-bad collector with the custom mutator, and what it finds is what the
# command says of it.  By executions, from a fixed seed: an ordinary run needs about a thousand.
set -eu
: "${ISOHEAP:?}" "${AFL_TARGET:?}" "${AFL_MUTATOR:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1 AFL_NO_UI=1 AFL_NO_COLOR=1
export AFL_BENCH_UNTIL_CRASH=1 AFL_CUSTOM_MUTATOR_LIBRARY=$AFL_MUTATOR
# A tracer or a leak check are no business of this test.
export ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0
mkdir "$work/seeds"
printf '\174' >"$work/seeds/full" # the script "full", and nothing else

# fuzz OUT: from the smallest seed, by structured mutation alone
fuzz() {
    AFL_CUSTOM_MUTATOR_ONLY=1 timeout 120 afl-fuzz -s 1 -E 60000 -t 5000 -m none -i "$work/seeds" -o "$work/$1" \
        -- "$AFL_TARGET" >"$work/$1.log" 2>&1 </dev/null || { tail -n 30 "$work/$1.log"; fail "afl-fuzz ended with $?"; }
}

fuzz out
crash=$(find "$work/out/default/crashes" -name 'id:*' | sort | head -n 1)
if [ -z "$crash" ]; then
    tail -n 5 "$work/out.log"
    fail "AFL++ did not find bad_infix_root within 60000 executions"
else
    echo "found after $(sed -n 's/^execs_done *: *//p' "$work/out/default/fuzzer_stats") executions: ${crash##*/}"
    # What is lost, or that it was not marked, if nothing came of that.
    "$ISOHEAP" run --quiet --expect lost_object --collector bad_infix_root "$crash" ||
        "$ISOHEAP" run --quiet --expect contract_broken --collector bad_infix_root "$crash" ||
        fail "the command says neither lost_object nor contract_broken"
fi

# The queue speaks of the kinds of mutation (afl_custom_describe).
find "$work/out/default/queue" -name 'id:*' | grep -qE ',(insert|grow|root|aim_heap)' ||
    fail "no queue file is named after a mutation"

# A profile that does not exist is refused with the list of those that do.
if ISOHEAP_MUTATION=nonsense timeout 60 afl-fuzz -V 2 -i "$work/seeds" -o "$work/no" -- "$AFL_TARGET" \
    >"$work/no.log" 2>&1 </dev/null; then
    fail "an unknown profile is accepted"
fi
grep -q fragmentation "$work/no.log" || fail "an unknown profile is refused without a list"

exit $failed
