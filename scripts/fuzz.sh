#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fuzzes every target for TIME seconds in all on JOBS cores and sums up; TARGET narrows to one or
# some (separated by commas).  Needs `scripts/build.sh release fuzz`; `make fuzz` is all of it.
# PRESET names another build than fuzz.
#
# Targets get equal shares of the time; with more cores than targets, several cores share a target's
# corpus.  The corpora stay in build/fuzz/corpus/, so a second run goes on from the first.
#
# Exit status: 0 no violation, 1 violations, 2 usage, 4 a target did not run or the harness erred.
set -eu
cd "$(dirname "$0")/.."
time=${TIME:-60}
jobs=${JOBS:-$(nproc)}
build=build/${PRESET:-fuzz}
run=$build/run
started=$SECONDS
interrupted=
workers=()
LC_ALL=C
export LC_ALL

usage() {
    echo "$1" >&2
    exit 2
}

choose_targets() {
    mapfile -t all < <(cut -d ' ' -f 1 "$build/targets.txt")
    targets=("${all[@]}")
    if [ -n "${TARGET:-}" ]; then
        IFS=', ' read -r -a targets <<<"$TARGET"
    fi
    for target in "${targets[@]}"; do
        case " ${all[*]} " in
        *" $target "*) ;;
        *) usage "TARGET=$target is not one of: ${all[*]}" ;;
        esac
    done
}

# The longest name of a target.
name_width() {
    printf '%s\n' "${targets[@]}" | awk '{ if (length > n) n = length } END { print n }'
}

# --- progress ------------------------------------------------------------------------------------

# figures TARGET -> executions edges features edges_at_start features_at_start, so far
figures() {
    local log
    {
        sed 's/^/start /' "$run/$1".*.start 2>/dev/null || true
        sed 's/^/run /' "$run/$1".*.runs 2>/dev/null || true
        for log in "$run/$1".*.log; do
            tail -n 200 "$log" 2>/dev/null |
                sed -n 's/^#\([0-9]*\)\t.* cov: \([0-9]*\) ft: \([0-9]*\) .*/run \1 \2 \3/p' | tail -n 1
        done
    } | awk '
        $1 == "start" && (!features0 || $3 < features0) { edges0 = $2; features0 = $3 }
        $1 == "run" {
            executions += $2
            if ($3 > edges) edges = $3
            if ($4 > features) features = $4
        }
        END { print executions + 0, edges + 0, features + 0, edges0 + 0, features0 + 0 }'
}

count_files() {
    find "$1" -type f 2>/dev/null | wc -l
}

# "none", or "lost_object 12, overlap 1"
violations() {
    if [ -s "$run/$1.findings" ]; then
        sort "$run/$1.findings" | uniq -c | sort -rn | awk '{ printf "%s%s %d", sep, $2, $1; sep = ", " } END { print "" }'
    else
        echo none
    fi
}

progress_line() {
    local target=$1 seconds=$((SECONDS - wave_started)) executions edges features rest
    read -r executions edges features rest < <(figures "$target")
    [ "$seconds" -gt 0 ] || seconds=1
    [ "$seconds" -le "$share" ] || seconds=$share
    printf '%-*s %3d/%d s  %10d executions  %7d/s  %5d edges  %6d features  violations: %s\n' \
        "$width" "$target" "$seconds" "$share" "$executions" "$((executions / seconds))" "$edges" "$features" "$(violations "$target")"
}

# On a terminal the lines of the running targets are written over; in a log they come now and then.
show_progress() {
    local target
    if [ -t 1 ]; then
        [ -z "$drawn" ] || printf '\033[%dA' "$drawn"
        drawn=$#
        for target in "$@"; do
            printf '\033[K'
            progress_line "$target" | cut -c "1-${columns}"
        done
    elif [ "${last:-}" ] || { [ "$SECONDS" -ge "$next_lines" ] && [ $((SECONDS - wave_started)) -lt $((share - 1)) ]; }; then
        next_lines=$((SECONDS + 10))
        for target in "$@"; do
            progress_line "$target"
        done
    fi
}

# --- running -------------------------------------------------------------------------------------

# shellcheck disable=SC2317 # called by a trap
stop_workers() {
    interrupted=yes
    [ ${#workers[@]} -eq 0 ] || kill "${workers[@]}" 2>/dev/null || true
}

any_alive() {
    local pid
    for pid in "${workers[@]}"; do
        kill -0 "$pid" 2>/dev/null && return 0
    done
    return 1
}

# Fuzzes these targets side by side for `share` seconds.
run_wave() {
    local target number seconds
    wave_started=$SECONDS next_lines=$((SECONDS + 10)) drawn='' workers=()
    for target in "$@"; do
        mkdir -p "$build/corpus/$target"
        count_files "$build/corpus/$target" >"$run/$target.corpus"
        for number in $(seq "$workers_per_target"); do
            scripts/fuzz_worker.sh "$build" "$target" "$number" "$share" &
            workers+=($!)
        done
    done
    while any_alive; do
        sleep 0.5 &
        wait $! || true
        last='' show_progress "$@"
    done
    wait
    last=yes show_progress "$@"
    for target in "$@"; do
        seconds=$((SECONDS - wave_started))
        echo "$((seconds > share ? share : seconds > 0 ? seconds : 1))" >"$run/$target.seconds"
    done
}

run_all() {
    local count=${#targets[@]} waves i
    waves=$(((count + jobs - 1) / jobs))
    share=$((time / waves))
    workers_per_target=$((jobs / count))
    [ "$workers_per_target" -gt 0 ] || workers_per_target=1
    [ "$share" -gt 0 ] || usage "TIME=$time is too short for $count targets on $jobs cores"
    echo "fuzzing ${targets[*]}: $share s each, $time s in all"
    for ((i = 0; i < count; i += jobs)); do
        [ -z "$interrupted" ] || break
        run_wave "${targets[@]:i:jobs}"
    done
}

# --- summary -------------------------------------------------------------------------------------

summary_line() {
    local target=$1 executions edges features edges0 features0 seconds
    read -r seconds <"$run/$target.seconds"
    read -r executions edges features edges0 features0 < <(figures "$target")
    if [ "$executions" -eq 0 ] && [ ! -s "$run/$target.findings" ]; then
        echo trouble >"$run/$target.findings"
    fi
    printf '%-*s %12d %9d  %6d -> %-6d %6d -> %-6d %5d -> %-5d  %s\n' "$width" "$target" "$executions" \
        "$((executions / seconds))" "$edges0" "$edges" "$features0" "$features" "$(cat "$run/$target.corpus")" \
        "$(count_files "$build/corpus/$target")" "$(violations "$target")"
}

print_summary() {
    local target
    echo
    printf '%-*s %12s %9s  %-16s %-16s %-14s  %s\n' "$width" target executions exec/s edges features 'corpus files' violations
    for target in "${targets[@]}"; do
        [ ! -f "$run/$target.seconds" ] || summary_line "$target"
    done
    echo
}

print_findings() {
    local target
    for target in "${targets[@]}"; do
        [ -s "$run/$target.findings" ] || continue
        if [ -f "$run/$target.trouble" ]; then
            echo "$target did not run to its end; the last lines that it wrote:"
            tail -n 20 "$run/$target.trouble"
        fi
        [ "$(count_files "findings/$target")" -eq 0 ] || echo "findings: findings/$target/  (CLASS-*: the input; .txt: as a program; .log: the report)"
    done
}

# All classes of all targets -> exit status.
verdict() {
    local classes
    classes=$(cat "$run"/*.findings 2>/dev/null | sort -u)
    case " $(echo "$classes" | tr '\n' ' ') " in
    *" trouble "* | *" harness_error "*) return 4 ;;
    esac
    [ -z "$classes" ] || return 1
}

choose_targets
case $time$jobs in
*[!0-9]*) usage "TIME=$time and JOBS=$jobs must be numbers" ;;
esac
width=$(name_width)
columns=$(tput cols 2>/dev/null || echo 120)
rm -rf "$run"
mkdir -p "$run"
trap stop_workers INT TERM
run_all
print_summary
print_findings
rmdir findings/* findings 2>/dev/null || true # only what is empty
status=0
verdict || status=$?
if [ -n "$interrupted" ]; then
    echo "interrupted after $((SECONDS - started)) s"
    [ "$status" -ne 0 ] || status=130
elif [ "$status" -eq 0 ]; then
    echo "no violations in $((SECONDS - started)) s"
fi
exit $status
