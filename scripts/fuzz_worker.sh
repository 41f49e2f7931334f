#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fuzzes one target until the time is up, on one core:  fuzz_worker.sh BUILD TARGET NUMBER SECONDS
#
# libFuzzer ends at the first finding; this starts it again for the time that is left.  A finding is
# named by its violation class and kept in findings/TARGET/ with its report and, if the isoheap
# command can print it, its program as text.  Of one class a worker keeps the first few only.
#
# For scripts/fuzz.sh, in BUILD/run:
#   TARGET.NUMBER.log     what libFuzzer writes; only while it runs
#   TARGET.NUMBER.runs    `executions edges features` of the runs that have ended, a line each
#   TARGET.NUMBER.start   `edges features` when the corpus had been read the first time
#   TARGET.findings       a violation class a line; `trouble` if the target does not run
#   TARGET.trouble        the log of a run that ended in no way known
set -eu
build=$1 target=$2 number=$3 seconds=$4

kept_per_class=5
bin=$build/bin
run=$build/run
corpus=$build/corpus/$target
findings=findings/$target
log=$run/$target.$number.log
seeds=$run/$target.$number.seeds
deadline=$((SECONDS + seconds))
child=
stop=

# libFuzzer ends by SIGINT with its figures.
trap 'stop=yes; [ -z "$child" ] || kill -INT "$child" 2>/dev/null' TERM INT

# Our options file says what continuous fuzzing services and this script pass to libFuzzer.
options_of_target() {
    sed -n 's/^\([a-z_]*\) *= *\([^ ]*\)$/-\1=\2/p' "$bin/$target.options"
}

fuzz_once() {
    local rc=0 left=$((deadline - SECONDS - 1)) # libFuzzer takes a second more than told
    [ "$left" -gt 0 ] || left=1
    # shellcheck disable=SC2046 # one word an option
    "$bin/$target" $(options_of_target) -dict="$bin/$target.dict" \
        -max_total_time="$left" -artifact_prefix="$findings/" \
        -print_final_stats=1 "$corpus" "$seeds" >"$log" 2>&1 </dev/null &
    child=$!
    wait "$child" || rc=$?
    if [ -n "$stop" ]; then # the signal ended the wait, not the child
        wait "$child" || rc=$?
    fi
    child=
    return $rc
}

# The class that the log speaks of.  The first rule that fits holds: what isoheap says itself, the
# frame that it aborted from, what a sanitizer or libFuzzer says.
violation_class() {
    local class
    class=$(sed -n 's/^isoheap: violation \([a-z_]*\).*/\1/p' "$log" | head -n 1)
    [ -n "$class" ] || class=$(sed -n 's/^ *#[0-9]* .* in violation_\([a-z_]*\).*/\1/p' "$log" | head -n 1)
    if [ -n "$class" ]; then
        echo "$class"
    elif grep -aqE '^isoheap: harness error| in harness_error\b' "$log"; then
        echo harness_error
    elif grep -aqE 'ERROR: (Address|Memory|Leak)Sanitizer|runtime error:' "$log"; then
        echo sanitizer
    elif grep -aq 'ERROR: libFuzzer: timeout' "$log"; then
        echo no_progress
    elif grep -aq 'ERROR: libFuzzer: out-of-memory' "$log"; then
        echo sanitizer
    elif grep -aq ' in collector_target ' "$log"; then # the collector called abort
        echo collector_assertion
    else
        echo harness_error
    fi
}

# Everything but libFuzzer's own progress.
report() {
    grep -avE '^(#[0-9]+[[:space:]]|INFO: |stat::|NEW_FUNC|Dictionary: |MS: |0x[0-9a-f]{1,2},)' "$log" | head -c 200000
}

keep_finding() {
    local artifact=$1 class=$2 name
    name=$findings/$class-$(basename "$artifact" | sed 's/^.*-\(.\{12\}\).*/\1/')
    mv -f "$artifact" "$name"
    report >"$name.log"
    if grep -qx "$target bytes" "$build/targets.txt"; then
        build/bin/isoheap convert --to=text "$name" -o "$name.txt" >/dev/null 2>&1 </dev/null || rm -f "$name.txt"
    fi
}

# A seed or corpus file that fails would end every run at its start.
drop_from_corpus() {
    local file dropped=1
    for file in "$corpus"/* "$seeds"/*; do
        if [ -f "$file" ] && cmp -s "$file" "$1"; then
            rm -f "$file"
            dropped=0
        fi
    done
    return $dropped
}

was_initialised() {
    grep -aqE '^#[0-9]+[[:space:]]+INITED' "$log"
}

# The figures of the run that has ended; the log is no longer needed.
note_figures() {
    local executions coverage
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    coverage=$(sed -n 's/^#[0-9]*\t.* cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 \2/p' "$log")
    echo "${executions:-0} $(echo "$coverage" | tail -n 1)" >>"$run/$target.$number.runs"
    if [ ! -s "$run/$target.$number.start" ] && was_initialised; then
        sed -n 's/^#[0-9]*\tINITED cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 \2/p' "$log" >"$run/$target.$number.start"
    fi
    rm -f "$log"
}

# After a run that did not end well.  Returns 1 if it makes no sense to go on.
handle_end() {
    local artifact class
    artifact=$(sed -n 's/^.*Test unit written to \(.*\)$/\1/p' "$log" | tail -n 1)
    if [ -z "$artifact" ] || [ ! -f "$artifact" ]; then
        echo trouble >>"$run/$target.findings"
        cp "$log" "$run/$target.trouble"
        return 1
    fi
    class=$(violation_class)
    echo "$class" >>"$run/$target.findings"
    if ! was_initialised && ! drop_from_corpus "$artifact"; then
        keep_finding "$artifact" "$class"
        return 1
    fi
    count[$class]=$((${count[$class]:-0} + 1))
    if [ "${count[$class]}" -le "$kept_per_class" ]; then
        keep_finding "$artifact" "$class"
    else
        rm -f "$artifact"
    fi
}

mkdir -p "$corpus" "$findings" "$seeds"
cp -f "$build/seeds/$target"/* "$seeds"/ 2>/dev/null || true
declare -A count=()
# A leak check at the end of a run stops the world, which containers may forbid.
export ASAN_OPTIONS=detect_leaks=0:print_legend=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
done=
while [ -z "$stop$done" ] && [ "$SECONDS" -lt "$deadline" ]; do
    rc=0
    fuzz_once || rc=$?
    if [ "$rc" -eq 0 ] || [ -n "$stop" ]; then
        done=yes
    else
        handle_end || done=yes
    fi
    note_figures
done
