#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests of the isoheap command: every subcommand, exit statuses, messages.  ISOHEAP is the command,
# SOURCE_DIR the checkout.
set -u
isoheap=${ISOHEAP:?the isoheap command}
source=${SOURCE_DIR:?the checkout}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
crash=$source/crashes/lost_object/bad_infix_root.txt
seed=$source/seeds/mark_sweep/infix_both.txt

# check WHAT STATUS COMMAND...: the command ends with the status; its output is in $work/out, err.
check() {
    local what=$1 expected=$2 status=0
    shift 2
    "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    if [ "$status" -ne "$expected" ]; then
        echo "failed: $what: exit status $status, not $expected"
        head -n 5 "$work/out" "$work/err"
        failed=1
    fi
}
# has WHAT FILE PATTERN: the file has a line that the pattern fits.
has() {
    if ! grep -qE -- "$3" "$work/$2"; then
        echo "failed: $1: no line like '$3' in"
        head -n 5 "$work/$2"
        failed=1
    fi
}

check 'no subcommand' 2 "$isoheap"
check 'unknown subcommand' 2 "$isoheap" rnu
has 'unknown subcommand' err 'did you mean run'
check '--version' 0 "$isoheap" --version
check '--help' 0 "$isoheap" --help
for subcommand in list run show convert; do
    check "$subcommand --help" 0 "$isoheap" $subcommand --help
    has "$subcommand --help" out 'Usage:'
    check "$subcommand --nonsense" 2 "$isoheap" $subcommand --nonsense
done

check 'list' 0 "$isoheap" list
for word in mark_sweep bad_infix_root isomorphism heap_worn_out fuzz_bytes mark-stack; do
    has 'list' out "^ +$word"
done
check 'list --json' 0 "$isoheap" list --json
if command -v python3 >/dev/null; then
    cp "$work/out" "$work/list.json"
    check 'valid JSON' 0 python3 -m json.tool "$work/list.json"
fi

check 'run a seed' 0 "$isoheap" run "$seed"
check 'run a folder' 0 "$isoheap" run -q "$source/seeds/mark_sweep"
has 'run a folder' out '^[0-9]+ passed, 0 failed$'
check 'run a violation' 1 "$isoheap" run --collector bad_infix_root "$crash"
for line in 'violation lost_object \(subject\) at operation 0: full' 'guilty +subject' 'path +r0' \
    'expected +an infix pointer to field 3 of b0' 'found +a pointer' 'isoheap run --collector'; do
    has 'the report' out "$line"
done
check 'a wrong reference' 1 "$isoheap" run --reference bad_infix_lost "$source/crashes/edge_changed/bad_infix_lost.txt"
has 'a wrong reference' out 'guilty +reference'
check 'no reference' 0 "$isoheap" run --reference none "$seed"
check '--expect met' 0 "$isoheap" run --expect lost_object --collector bad_infix_root "$crash"
check '--expect not met' 1 "$isoheap" run --expect overlap --collector bad_infix_root "$crash"
check '--expect none' 0 "$isoheap" run --expect none "$seed"
check '--expect nonsense' 2 "$isoheap" run --expect nonsense "$seed"
check 'a crash of the subject' 1 "$isoheap" run --collector bad_follows_code "$source/crashes/sanitizer/bad_follows_code.txt"
has 'a crash of the subject' out 'violation sanitizer'
check 'no progress' 1 "$isoheap" run --collector bad_endless_rescan "$source/crashes/no_progress/bad_endless_rescan.txt"
check 'a hang' 1 "$isoheap" run --timeout 1 --oracles -progress --collector bad_endless_rescan "$source/crashes/no_progress/bad_endless_rescan.txt"
has 'a hang' out 'more than 1 seconds'
check 'only one oracle' 0 "$isoheap" run --oracles wear --collector bad_infix_root "$crash"
check 'unknown oracle' 2 "$isoheap" run --oracles nonsense "$seed"
check 'unknown collector' 2 "$isoheap" run --collector nonsense "$seed"
check '--trace' 0 "$isoheap" run --trace "$seed"
has '--trace' out 'r3 = b1\+3'
check '--in-process' 0 "$isoheap" run --in-process "$seed"
check 'standard input, empty: no bytes are a program' 0 "$isoheap" run -

printf 'isoheap program 1\nscript\n  r0 = r99\n' >"$work/bad.txt"
check 'bad text' 3 "$isoheap" run "$work/bad.txt"
has 'bad text' err 'bad\.txt:3:8: '
check 'a missing file' 3 "$isoheap" run "$work/missing"
check 'missing and bad and good' 3 "$isoheap" run "$seed" "$work/missing" "$work/bad.txt"
head -c 5000 /dev/urandom >"$work/junk"
check 'junk' 0 "$isoheap" run "$work/junk"
check '/dev/null' 0 "$isoheap" run /dev/null

check 'convert to bytes' 0 "$isoheap" convert --to=bytes -o "$work/seed.bin" "$seed"
check 'convert to text' 0 "$isoheap" convert -o "$work/seed.txt" "$work/seed.bin"
check 'convert again' 0 "$isoheap" convert --to=bytes -o "$work/again.bin" "$work/seed.txt"
check 'round trip' 0 cmp "$work/seed.bin" "$work/again.bin"
mkdir "$work/dir"
check 'convert a folder' 0 "$isoheap" convert --to=bytes -d "$work/dir" "$source/seeds/mark_sweep"
check 'as many' 0 test "$(find "$work/dir" -type f | wc -l)" -eq "$(find "$source/seeds/mark_sweep" -name '*.txt' | wc -l)"
check 'run bytes' 0 "$isoheap" run -q "$work/dir"
check 'several without a folder' 2 "$isoheap" convert "$seed" "$crash"

check 'show' 0 "$isoheap" show "$seed"
has 'show' out '^isoheap program 1$'
check 'show --map' 0 "$isoheap" show --map --collector bad_infix_root "$crash"
has 'show --map' out '^Aaaaaaa\.\.\.'
check 'show --map of a crash' 0 "$isoheap" show --map --collector bad_follows_code "$source/crashes/sanitizer/bad_follows_code.txt"
check 'show --at' 0 "$isoheap" show --map --at 1 "$seed"
check 'show --at too large' 2 "$isoheap" show --map --at 1000 "$seed"
for party in subject reference model; do
    check "show --dot $party" 0 "$isoheap" show --dot --party $party --collector bad_infix_root "$crash"
    has "show --dot $party" out '^digraph isoheap'
done
has 'the path is red' out 'color=red'
if command -v dot >/dev/null; then
    check 'show --svg' 0 "$isoheap" show --svg -o "$work/heap.svg" --collector bad_infix_root "$crash"
    check 'an SVG file' 0 grep -q '<svg' "$work/heap.svg"
fi
check 'show --svg without Graphviz' 2 env PATH=/nonexistent "$isoheap" show --svg "$seed"
has 'show --svg without Graphviz' err 'apt-get install graphviz'

[ "$failed" -eq 0 ] && echo 'all is well'
exit "$failed"
