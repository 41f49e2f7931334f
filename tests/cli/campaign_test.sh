#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap fuzz and isoheap corpus from outside, with real engines: libFuzzer on a known-bad collector
# (CAMPAIGN_BIN, empty where there is no libFuzzer) and AFL++, where it is installed, on a tiny target.
# Findings are filed once; kill -9, an engine that dies and a full disk lose none of them.
# shellcheck disable=SC2015,SC2016,SC2317 # conditions are evaluated late; cleanup is a trap
set -u
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
source_dir=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
bin=${CAMPAIGN_BIN:-}
target=fuzz_bad_infix_root
campaign='' mounted=''
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

cleanup() {
    [ -z "$campaign" ] || kill -9 "$campaign" 2>/dev/null
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$folder"
}
trap cleanup EXIT

complain() {
    echo "$1"
    sed 's/^/    /' out | tail -n 30
    wrong=1
}

# check STATUS PATTERN ARGUMENT...: status, and an extended regular expression that must match what
# the command prints, lines joined by `;`.
check() {
    local status=$1 pattern=$2 got
    shift 2
    "$isoheap" "$@" >out 2>&1 </dev/null
    got=$?
    if [ "$got" -ne "$status" ] || ! tr '\n' ';' <out | grep -Eq -e "$pattern"; then
        complain "isoheap $*: expected status $status and /$pattern/, got status $got and"
    fi
}

# wait_until SECONDS CONDITION: false if it does not come true.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until eval "$*"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

files() {
    find "$@" -type f 2>/dev/null
}

# ---- usage, and what is missing: everywhere ----

mkdir empty
check 0 '^Usage: isoheap fuzz .*--engine.*--jobs' fuzz --help
check 0 '^Usage: isoheap corpus .*merge TARGET' corpus --help
check 2 'time takes a number' fuzz --time=soon
check 2 'engine takes libfuzzer or afl, not honggfuzz' fuzz --engine=honggfuzz
check 4 'no binary fuzz_x in empty; build it \(cmake --preset fuzz.*--bin-dir' fuzz --bin-dir=empty fuzz_x
check 4 'no binary of a fuzz target in empty; build it' fuzz --bin-dir=empty
check 4 'no binary fuzz_x in empty; build it' corpus merge --bin-dir=empty fuzz_x
check 2 'merge, minimise or import' corpus
check 2 'which SOURCE' corpus import fuzz_x

# An engine that does not run is started again, but not for ever, and its last words are shown.
mkdir broken
printf '#!/bin/sh\necho no such luck\nexit 5\n' >broken/fuzz_broken
chmod +x broken/fuzz_broken
check 4 'status 5\); starting it again.*fuzz_broken did not run; it executed nothing; the last lines.*no such luck' fuzz --bin-dir=broken --time=9 --corpus=corpus0 --crashes=crashes0
[ "$(grep -c 'starting it again' out)" -eq 2 ] || complain 'not started three times'

# The main targets have their turn first, in the order of registration, and others after them.
mkdir order
for name in fuzz_aaa fuzz_text fuzz_mark_sweep; do cp broken/fuzz_broken order/$name; done
check 4 'target .*;fuzz_mark_sweep .*;fuzz_text .*;fuzz_aaa ' fuzz --bin-dir=order --time=9 --jobs=3 --corpus=corpus0 --crashes=crashes0

# ---- libFuzzer ----

# fuzz STATUS PATTERN ARGUMENT...
fuzz() {
    local status=$1 pattern=$2
    shift 2
    check "$status" "$pattern" fuzz --bin-dir="$bin" --jobs=1 --reduce-time=3 "$@" "$target"
}

start_campaign() {
    : >log
    "$isoheap" fuzz --bin-dir="$bin" --jobs=1 --time=200 --reduce-time=3 --corpus="$folder/$1" --crashes="$2" $target >log 2>&1 </dev/null &
    campaign=$!
}

# Processes that work in that folder of corpora, zombies left out.
engines() {
    find /proc/[0-9]*/cwd -maxdepth 0 -lname "$folder/$1/*" 2>/dev/null | tr -dc '0-9\n'
}

# What is lost, or, where nothing comes of it, that mark has not found it.
either='(lost_object|contract_broken)'

# A first finding is filed; an engine that is killed is started again; SIGINT ends the campaign with
# its summary.
finds_and_files() {
    local finding class
    start_campaign corpus crashes
    wait_until 60 'files corpus/.work/*/current | grep -q .' || complain 'no engine'
    # shellcheck disable=SC2046 # a process a word
    kill -9 $(engines corpus)
    wait_until 150 "grep -Eq 'new violation $either' log" || complain 'no finding' # another class may come first
    kill -INT "$campaign"
    wait "$campaign"
    [ $? -eq 1 ] || complain 'status after SIGINT is not 1'
    campaign=''
    cp log out
    grep -q 'the engine ended before its time (signal 9); starting it again' out || complain 'no second engine'
    grep -Eq "^$target: new violation $either \(bad_infix_root\), [0-9]+ operations?, [0-9]+ blocks?: crashes/" out || complain 'no report'
    grep -Eq "^$target +[1-9][0-9]* .* $either [1-9][0-9]* new" out || complain 'no summary'
    grep -q "^$target: how often oracles judged bad_infix_root" out &&
        grep -Eq '^  judged  isomorphism [1-9][0-9]*, fields [1-9]' out &&
        grep -q '^  silent  .*compaction (lacks trait compacts or slides)' out || complain 'no judgements'
    grep -Eq '^interrupted: [1-9][0-9]* new violation' out || complain 'no last line'
    [ -z "$(engines corpus)" ] || complain 'an engine outlives SIGINT'
    if grep -q "$(printf '[\001-\010\013-\037]')" out; then
        complain 'control characters in piped output'
    fi
    finding=$(files crashes -name 'bad_infix_root-*.txt' | grep -E "/$either/" | sort | head -n 1)
    class=$(basename "$(dirname "$finding")")
    grep -q "^# target: $target\$" "$finding" && grep -q '^# seed: 1$' "$finding" &&
        grep -Eq '^# corpus: [0-9a-f]{16}$' "$finding" || complain "$finding has no history"
    check 0 ": violation $class" run -q --expect="$class" --collector=bad_infix_root "$finding"
    local replay
    read -ra replay < <(sed -n 's/^# replay: isoheap //p' "$finding")
    [ "${replay[*]}" = "run --collector bad_infix_root --reference cheney ${finding##*/}" ] || complain "replay: ${replay[*]}"
    cp "$finding" . && check 1 ": violation $class" "${replay[@]}"
}

# The input of an earlier finding comes again: known, and no second file.
files_once() {
    local before after
    before=$(files crashes | sort)
    cp "$(files corpus/.work/$target/filed | head -n 1)" corpus/.work/$target/found/crash-again
    fuzz 1 "left by an earlier campaign.*;$target: known violation" --time=60 --runs=1
    after=$(files crashes | sort)
    [ "$(comm -23 <(echo "$before") <(echo "$after"))" = '' ] || complain 'a finding is gone'
    [ -z "$(files corpus/.work/$target/found)" ] || complain 'found/ is not empty'
}

# Three findings of one defect: in a heap, with other names and numbers, and by operations.  They have
# one file, which counts them.  A file that somebody has put there has no count, and stays as it is.
# (The engine may find more of it in its second.)
groups_findings() {
    local found=corpus7/.work/$target/found
    mkdir -p "$found"
    printf 'isoheap program 1\nheap\n  b0 = closure arity=1,1 env=[7]\nroots\n  r0 = b0+3\nscript\n  full\n' >"$found/one"
    printf 'isoheap program 1\nheap\n  b0 = closure arity=1,1 env=[-9]\nroots\n  r5 = b0+3\nscript\n  full\n' >"$found/two"
    printf 'isoheap program 1\nscript\n  r0 = closure arity=1,1 env=[]\n  r0 = infix r0 1\n  full\n' >"$found/three"
    cp -r corpus7 corpus10
    fuzz 1 "3 findings left by an earlier campaign.*known violation.*lost_object 1 new [1-9][0-9]* known" --time=60 --reduce-time=30 --runs=1 --corpus=corpus7 --crashes=crashes7
    [ "$(files crashes7 | wc -l)" -eq 1 ] || complain 'not one file'
    grep -Eq '^# findings: ([3-9]|[1-9][0-9]+)$' "$(files crashes7)" || complain 'they are not counted'
    grep -Eq '^# form: [0-9a-f]{16} lost_object$' "$(files crashes7)" || complain 'the form is not told'
    mkdir -p crashes10/lost_object
    sed '/^#/d' "$(files crashes7)" >crashes10/lost_object/bad_infix_root.txt
    cp crashes10/lost_object/bad_infix_root.txt before
    fuzz 1 "known violation.*lost_object [3-9][0-9]* known" --time=60 --reduce-time=30 --runs=1 --corpus=corpus10 --crashes=crashes10
    cmp -s before crashes10/lost_object/bad_infix_root.txt || complain 'a file of somebody has changed'
}

# SIGKILL when an input has been found (one of the corpus, so that the test is not up to luck): it is
# filed by the next campaign.
survives_kill() {
    mkdir -p corpus2/$target
    cp "$(files corpus/.work/$target/filed | head -n 1)" corpus2/$target/input
    start_campaign corpus2 crashes2
    wait_until 20 '[ -n "$(files corpus2/.work/*/found corpus2/.work/*/queue)" ]' || complain 'nothing found'
    kill -9 "$campaign"
    wait "$campaign" 2>/dev/null
    campaign=''
    wait_until 20 '[ -z "$(engines corpus2)" ]' || complain 'an engine outlives the campaign'
    [ -n "$(files corpus2/.work/*/found corpus2/.work/*/queue)" ] || complain 'the input is gone'
    fuzz 1 'left by an earlier campaign.*new violation' --time=60 --runs=1 --corpus=corpus2 --crashes=crashes2
    [ -n "$(files crashes2)" ] || complain 'not filed after kill -9'
    [ -z "$(files corpus2/.work/*/queue)" ] || complain 'the queue is not empty'
}

# No room for the file: said, kept, and filed when there is room.
survives_full_disk() {
    local input kept
    mkdir disk
    if mount -t tmpfs -o size=256k none disk 2>/dev/null; then
        mounted=$PWD/disk
    else
        echo 'no tmpfs here: a limit on the size of files stands for the full disk'
    fi
    input=$(files corpus/.work/$target/filed | head -n 1)
    mkdir -p corpus4/.work/$target/found disk/lost_object
    cp "$input" corpus4/.work/$target/found/crash-1
    sed 's/bad_infix_root/another/' "$(files crashes | head -n 1)" >disk/lost_object/another.txt
    kept=$(cksum disk/lost_object/another*)
    if [ -n "$mounted" ]; then
        cat /dev/zero >disk/filler 2>/dev/null
        fuzz 4 'disk of .* is full.*could not be filed: .*No space left on device; its input stays in.*the disk is full: the campaign has stopped.*1 finding is left in the queue' --time=30 --corpus=corpus4 --crashes=disk
    else
        trap '' XFSZ
        (ulimit -f 0 && "$isoheap" fuzz --bin-dir="$bin" --time=5 --corpus=corpus4 --crashes=disk $target) 2>&1 | cat >out
        grep -q 'the disk is full' out || complain 'the limit is not noticed'
    fi
    [ "$(cksum disk/lost_object/another*)" = "$kept" ] || complain 'the finding already reported has changed'
    [ -n "$(files corpus4/.work/*/queue corpus4/.work/*/found)" ] || complain 'the input is gone'
    rm -f disk/filler
    [ -z "$mounted" ] || mount -o remount,size=64m disk
    fuzz 1 'left by an earlier campaign.*new violation' --time=60 --runs=1 --corpus=corpus4 --crashes=disk
    [ -z "$(files corpus4/.work/*/queue)" ] || complain 'the queue is not empty'
}

# A target whose turn never comes has run nothing, and that is said: here since the campaign stands still
# for its whole time.  The one that had begun has run.
tells_who_had_no_time() {
    mkdir two
    cp "$bin/$target" two/fuzz_one
    cp "$bin/$target" two/fuzz_two
    "$isoheap" fuzz --bin-dir=two --jobs=1 --time=6 --corpus=corpus8 --crashes=crashes8 fuzz_one fuzz_two >log 2>&1 </dev/null &
    campaign=$!
    wait_until 60 'files corpus8/.work/fuzz_one/current | grep -q .' || complain 'no engine'
    kill -STOP "$campaign"
    sleep 7
    kill -CONT "$campaign"
    wait "$campaign"
    [ $? -eq 4 ] || complain 'a target without time: status is not 4'
    campaign=''
    cp log out
    grep -Eq '^fuzz_one +[1-9]' out && grep -q '^fuzz_two did not run; it executed nothing' out && ! grep -q '^fuzz_one did not' out ||
        complain 'it is not said who had no time'
}

# ---- corpora ----

changes_corpora() {
    local seeds=$source_dir/seeds/mark_sweep n
    n=$(find "$seeds" -type f | wc -l)
    check 0 "^$target: [1-9][0-9]* new, [0-9]+ known;$target: 0 -> [1-9]" corpus import --corpus=shared --bin-dir="$bin" $target "$seeds"
    [ "$(files shared/$target | wc -l)" -le "$n" ] || complain 'more inputs than seeds'
    ! grep -rlq '^isoheap program' shared/$target || complain 'a seed is still text'
    check 0 "^$target: 0 new, $n known" corpus import --corpus=shared --bin-dir="$bin" $target "$seeds"
    mkdir shared/fuzz_other
    printf 'one' >shared/fuzz_other/a
    cp "$(files shared/$target | head -n 1)" shared/fuzz_other/b
    # some of the seeds fail on this collector: they are named, kept and filed
    check 1 "^$target: [0-9]+ inputs read;$target: [0-9]+ -> [0-9]+ files.*$target: fails, and is no part of the corpus: shared/.work/$target/queue/[0-9a-f]{16}" \
        corpus merge --corpus=shared --crashes=crashes9 --bin-dir="$bin" $target
    # a busy machine leaves some of them in the queue: the next command looks at those first
    for _ in 1 2 3 4 5; do
        [ -n "$(files shared/.work/$target/queue)" ] || break
        "$ISOHEAP" corpus minimise --corpus=shared --crashes=crashes9 --target="$bin/$target" >out 2>err </dev/null
    done
    check 0 "^$target: [0-9]+ -> [0-9]+ files[^;]*;$" corpus minimise --corpus=shared --crashes=crashes9 --target="$bin/$target"
    check 2 "target names $target, and not fuzz_other" corpus minimise --target="$bin/$target" fuzz_other
    check 2 'there is no nowhere; each corpus is that of a target' corpus minimise --target=nowhere
    check 0 "^$target: [0-9]+ -> [0-9]+ files" corpus minimise --corpus=shared --crashes=crashes9 --target="$bin" $target
    [ -n "$(files crashes9)" ] || complain 'what failed is not filed'
    [ "$(files shared/$target | wc -l)" -gt 5 ] && [ "$(files shared/$target | wc -l)" -le $((n + 2)) ] ||
        complain 'minimise: too many or too few'
    check 3 'nowhere: no such folder' corpus merge --corpus=shared --bin-dir="$bin" $target nowhere
    [ ! -e shared/.work/$target/new ] || complain 'a temporary folder is left'
}

# ---- AFL++ ----

works_with_afl() {
    mkdir afl
    AFL_QUIET=1 afl-clang-fast -fsanitize=fuzzer -o afl/fuzz_tiny "$source_dir/tests/cli/campaign/tiny_target.c" >out 2>&1 ||
        complain 'afl-clang-fast'
    check 1 'fuzz_tiny: new violation overlap \(tiny\), .*: crashes5/overlap/fuzz_tiny-[0-9a-f]{16};.*fuzz_tiny +[1-9][0-9]* .* overlap 1 new' \
        fuzz --engine=afl --bin-dir=afl --jobs=1 --time=8 --corpus=corpus5 --crashes=crashes5
    grep -q '^# engine: afl$' crashes5/overlap/*.history || complain 'no history'
    [ -n "$(files corpus5/fuzz_tiny)" ] || complain 'AFL++ leaves no corpus'
    check 1 'fuzz_tiny +[1-9][0-9]* .* overlap [0-9]+ known' \
        fuzz --engine=afl --bin-dir=afl --jobs=1 --time=8 --corpus=corpus6 --crashes=crashes5
}

if [ -n "$bin" ]; then
    finds_and_files
    files_once
    groups_findings
    survives_kill
    survives_full_disk
    tells_who_had_no_time
    changes_corpora
fi
if ! command -v afl-clang-fast >/dev/null; then
    lack 'campaigns of AFL++: afl-clang-fast is missing (scripts/install.sh)'
elif [ -n "$bin" ]; then
    works_with_afl
fi
finish
