#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a campaign makes of a subject that turns on it: that is killed without a word, fails once and
# not again, hangs, forks, or signals those around it; and of a mutator of ours that crashes.
# MISBEHAVING knows the collector `unruly` (tests/cli/misbehaving/unruly.c), CAMPAIGN_BIN has its target.
# shellcheck disable=SC2016,SC2046,SC2317 # conditions and functions are evaluated late; words of pids
set -u
: "${MISBEHAVING:?the path of the misbehaving command}"
bin=${CAMPAIGN_BIN:-}
[ -n "$bin" ] || { echo 'skipped: this test needs libFuzzer, which clang has'; exit 77; }
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

files() {
    find "$@" -type f 2>/dev/null
}

# Processes that have been started from this folder, known by a mark in their environment.
left() {
    grep -lazxF "ISOHEAP_TEST_MARK=$PWD" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n'
}

# nothing_left WHAT
nothing_left() {
    local end=$((SECONDS + 10))
    while [ -n "$(left)" ] && [ "$SECONDS" -lt $end ]; do sleep 0.1; done
    [ -z "$(left)" ] || complain "$1: processes are left: $(left | tr '\n' ' ')"
}

# start DEED SECONDS: a campaign against the unruly collector in the background; log has what it prints.
start() {
    : >log # on a busy machine what the last one printed would be read for the next one's
    ISOHEAP_TEST_MARK=$PWD UNRULY=$1 "$MISBEHAVING" fuzz --bin-dir="$bin" --jobs=1 --corpus="corpus_$1" --crashes="crashes_$1" \
        --reduce-runs=50 --time="$2" fuzz_unruly >log 2>&1 </dev/null &
    pid=$!
}

# ends DEED STATUS PATTERN: its status, and a pattern in what it has printed, lines joined by `;`.
ends() {
    local got before=$SECONDS
    wait $pid
    got=$?
    took=$((SECONDS - before))
    [ $got -eq "$2" ] || complain "$1: status $got instead of $2" log
    tr '\n' ';' <log | grep -Eq -e "$3" || complain "$1: no /$3/" log
    nothing_left "$1"
}

# finds DEED PATTERN [PATTERN]: a campaign ends at once when the first pattern is there, with status 1.
finds() {
    local end=$((SECONDS + 100))
    start "$1" 100
    until grep -Eq -e "$2" log || [ $SECONDS -gt $end ]; do sleep 0.2; done
    kill -INT $pid
    ends "$1" 1 "${3:-$2}"
    [ $took -le 12 ] || complain "$1: an interrupt takes $took s" log # two, where it is quiet
}

# What it does to itself and to those around it.
signals() {
    # Killed without a word: the input was in a mapped file, and is filed.
    finds kill_self 'new violation sanitizer \(unruly\), .*: crashes_kill_self/sanitizer/unruly-' \
        ';fuzz_unruly +[1-9][0-9]* .*sanitizer [1-9][0-9]* new'
    finding=$(files crashes_kill_self/sanitizer -name 'unruly-*.txt' | head -n 1)
    grep -q '^# message: the process was killed (signal 9)$' "$finding" || complain 'the finding does not say how' "$finding"
    UNRULY=kill_self check 0 'violation sanitizer' "$MISBEHAVING" run -q --expect=sanitizer --collector=unruly "$finding"

    # Its parent, its group, itself without a word: the campaign goes on.
    finds kill_group 'violation sanitizer \(unruly\)'
    finds kill_parent 'violation sanitizer \(unruly\)'
    finds end_quietly 'new violation sanitizer \(unruly\)'
    # Words beyond what it is lent, and a copy of the process that goes on in its place.
    finds slots+100 'new violation sanitizer \(unruly\)'
    finds leave_it_to_a_copy 'new violation sanitizer \(unruly\)'
}

# What does not come again, and what is left behind.
once() {
    # Fails once and then not: class, what was said, a place in the summary, a hint.
    finds counts 'isoheap conformance --only=repeats' \
        'flaky violation [a-z_]+ \(unruly\), which did not come again: corpus_counts/.work/fuzz_unruly/flaky/.* [a-z_]+ [1-9][0-9]* flaky;.*[1-9][0-9]* flaky, in '
    said=$(files corpus_counts/.work/fuzz_unruly/flaky -name '*.txt' | head -n 1)
    grep -qE '^isoheap: violation [a-z_]+$' "$said" || complain 'what was said is not kept' "$said"

    # What a subject forks does not stay.
    start leave_child 4
    ends leave_child 0 'fuzz_unruly +[1-9][0-9]* .* none'

    # One that forks for ever is ended before it takes the machine, and is a finding that says so.
    finds leave_children 'new violation sanitizer \(unruly\)'
    grep -q '^# message: isoheap: it has started more than 128 processes$' crashes_leave_children/sanitizer/unruly-*.txt ||
        complain 'the finding does not say what it did' crashes_leave_children/sanitizer/*

    # SIGKILL to the campaign: nothing stays.
    start leave_child 60
    until grep -q '/s ' log || [ -n "$(ls corpus_leave_child/.work/fuzz_unruly/current 2>/dev/null)" ]; do sleep 0.2; done
    kill -9 $pid
    wait $pid 2>/dev/null
    nothing_left 'after kill -9'
}

# It stops itself or its parent, and limits of time.
stops() {
    # Stops its parent: no harm is done.
    start stop_parent 4
    ends stop_parent 0 'fuzz_unruly +[1-9][0-9]* .* none'

    # Stops itself: the time is kept.
    before=$SECONDS
    start stop_self 6
    wait $pid
    took=$((SECONDS - before))
    [ $took -le 25 ] || complain "6 s have become $took s" log # 11, where it is quiet
    nothing_left stop_self

    # The limit that an input has hit is said: it had stopped itself, each time that it ran alone; or it went on
    # whatever signal came.
    three='isoheap program 1\nscript\n  r0 = alloc tag=0 [1, 2, 3]\n  full\n'
    export ISOHEAP_INPUT_SECONDS=1
    limit() {
        rm -rf corpus_limit crashes_limit
        mkdir -p corpus_limit/.work/fuzz_unruly/found
        printf "$three" >corpus_limit/.work/fuzz_unruly/found/timeout-1
        ISOHEAP_TEST_MARK=$PWD UNRULY=$1 "$MISBEHAVING" fuzz --bin-dir="$bin" --jobs=1 --corpus=corpus_limit --crashes=crashes_limit \
            --reduce-time=1 --time=100 --runs=1 fuzz_unruly >log 2>&1 </dev/null &
        pid=$!
        ends limit 1 'new violation no_progress \(unruly\)'
        grep -q "^# message: $2\$" crashes_limit/no_progress/unruly-*.txt ||
            complain "$1: the finding does not say which limit" crashes_limit/no_progress/*
    }
    limit stop_self 'slept, or was stopped, for more than 2 seconds, twice'
    limit spin_on 'took more than 1 seconds* of processor time, twice'

    # All of them are stopped for longer than the limit while an input is looked at: that is no lateness.
    mkdir -p corpus_nap/.work/fuzz_unruly/found
    printf "$three" >corpus_nap/.work/fuzz_unruly/found/timeout-1
    ISOHEAP_TEST_MARK=$PWD UNRULY=nap "$MISBEHAVING" fuzz --bin-dir="$bin" --jobs=1 --corpus=corpus_nap --crashes=crashes_nap \
        --time=100 --runs=1 fuzz_unruly >log 2>&1 </dev/null &
    pid=$!
    end=$((SECONDS + 60))
    looked_at() { grep -alzF corpus_nap/.work/fuzz_unruly/queue/ /proc/[0-9]*/cmdline 2>/dev/null | tr -dc '0-9\n'; }
    until [ -n "$(looked_at)" ] || [ $SECONDS -gt $end ]; do sleep 0.02; done
    kill -STOP $(left)
    sleep 5
    kill -CONT $(left)
    ends nap 0 'fuzz_unruly +[1-9][0-9]* .* none'
    unset ISOHEAP_INPUT_SECONDS
}

# Binaries and corpora.
surroundings() {
    # The binary goes away: the campaign has a copy, also for an engine that is started again.
    mkdir gone
    cp "$bin/fuzz_unruly" gone
    ISOHEAP_TEST_MARK=$PWD UNRULY='' "$MISBEHAVING" fuzz --bin-dir=gone --jobs=1 --corpus=corpus_gone --crashes=crashes_gone --time=15 fuzz_unruly >log 2>&1 </dev/null &
    pid=$!
    end=$((SECONDS + 20))
    until [ -n "$(files corpus_gone/.work/fuzz_unruly/current)" ] || [ $SECONDS -gt $end ]; do sleep 0.1; done
    rm -r gone
    kill -9 $(find /proc/[0-9]*/cwd -maxdepth 0 -lname "$PWD/corpus_gone/*" 2>/dev/null | tr -dc '0-9\n')
    ends gone 0 'starting it again.*fuzz_unruly +[1-9][0-9]* .* none'

    # Two processes of an engine share one corpus, and none of its files is torn.
    ISOHEAP_TEST_MARK=$PWD UNRULY='' "$MISBEHAVING" fuzz --bin-dir="$bin" --jobs=2 --corpus=corpus_two --crashes=crashes_two --time=8 \
        fuzz_unruly >log 2>&1 </dev/null &
    pid=$!
    engines() { find /proc/[0-9]*/cwd -maxdepth 0 -lname "$PWD/corpus_two/*" 2>/dev/null | wc -l; }
    most=0
    while kill -0 $pid 2>/dev/null; do
        now=$(engines)
        [ "$now" -le $most ] || most=$now
        sleep 0.2
    done
    ends two 0 'fuzz_unruly +[1-9][0-9]* .* none'
    [ $most -eq 2 ] || complain "two jobs: $most processes work in the corpus"
    [ "$(files corpus_two/fuzz_unruly | wc -l)" -gt 1 ] || complain 'two jobs: no corpus' log
    for file in $(files corpus_two/fuzz_unruly); do
        [ "$(sha1sum <"$file" | cut -c 1-40)" = "${file##*/}" ] || complain "two jobs: $file is not what its name says"
    done

    # A corpus of many files does not eat the time.
    mkdir -p corpus_many/fuzz_unruly
    (cd corpus_many/fuzz_unruly && seq 100000 | split -l 1 -a 5 -)
    before=$SECONDS
    UNRULY='' "$MISBEHAVING" fuzz --bin-dir="$bin" --jobs=1 --corpus=corpus_many --crashes=crashes_many --time=6 fuzz_unruly >log 2>&1 </dev/null
    took=$((SECONDS - before))
    grep -q 'the engine gets [0-9]* of the 100000 files of its corpus' log || complain 'a large corpus is read as a whole' log
    [ $took -le 30 ] || complain "6 s with a large corpus have become $took s" log
    [ "$(files corpus_many/fuzz_unruly | wc -l)" -ge 100000 ] || complain 'files of a large corpus are gone'

    # The crash of our mutator is ours.
    check 4 "isoheap's own mutator crashed, which is no fault of the collector; what it worked on: crashes_mutator/harness_error/fuzz_bad_mutator-mutator-" \
        "$MISBEHAVING" fuzz --bin-dir="$bin" --jobs=1 --corpus=corpus_mutator --crashes=crashes_mutator --time=10 fuzz_bad_mutator
}

# Most of these wait for a second or a few: two at a time, each in a folder of its own.
# chain FUNCTION...
chain() {
    local part
    for part; do
        mkdir "$folder/$part" && cd "$folder/$part" || exit 1
        "$part" >said 2>&1
        cat said # one write
    done
    exit $wrong
}
(chain signals stops) &
one=$!
(chain once surroundings) || wrong=1
wait $one || wrong=1

exit $wrong
