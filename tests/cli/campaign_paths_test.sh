#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Folders and files of any name, full and read-only disks, two commands at once, SIGKILL at any point:
# no name reaches a shell, and a corpus is never less than it was (docs/campaign.md has the table).
# shellcheck disable=SC2016 # names that a shell must not read
set -u
: "${ISOHEAP:?the path of the command}" "${SOURCE_DIR:?the checkout}"
bin=${CAMPAIGN_BIN:-}
target=fuzz_bad_infix_root
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

long=$(printf 'long%.0s' $(seq 60))
names=('a b' 'q"u' "s'q" 'se;touch X' '$(touch X)' '`touch X`' $'new\nline' -dash '*?[x]' 'b\n' "$long" $'\xff\xfe')
few=('a b;touch X' '$(touch X)'"'"$'\n`touch X`' -dash)

files() {
    find "$@" -type f ! -name '.*' 2>/dev/null
}
# status STATUS COMMAND...
status() {
    local want=$1 got
    shift
    "$@" >out 2>err </dev/null
    got=$?
    [ $got -eq "$want" ] || complain "status $got instead of $want: $*" out err
}
untouched() {
    [ -z "$(find . -name 'X*' -newer start)" ] || complain "$1: a shell has read the name"
}
touch start
printf 'isoheap program 1\nscript\n  r0 = closure arity=1,1 env=[]\n  r0 = infix r0 1\n  full\n' >finding.txt

# ---- commands on files ----

for name in "${names[@]}"; do
    mkdir -p "./$name"
    cp finding.txt "./$name/in.txt"
    check 0 ': ok$' "$ISOHEAP" run -- "$name/in.txt"
    status 0 "$ISOHEAP" convert --to=bytes --output="$name/bytes" -- "$name/in.txt"
    check 0 'lost_object' "$ISOHEAP" reduce -c bad_infix_root --output="$name/small $name.txt" -- "$name/in.txt"
    # what is printed to be copied is a command
    (cd "./$name" && eval "$(sed -n 's/^# replay: isoheap /"$ISOHEAP" /p' "./small $name.txt")") >out 2>&1
    [ $? -eq 1 ] || complain "the replay line of '$name' does not replay" out "./$name/small $name.txt"
    untouched "$name"
done
# these read and write files by the same functions
for name in "${few[@]}"; do
    mkdir -p "./$name"
    cp finding.txt "./$name/in.txt"
    check 0 'isoheap program 1' "$ISOHEAP" show -- "$name/in.txt"
    check 0 'script' "$ISOHEAP" convert --to=text -- "$name/in.txt"
    status 0 "$ISOHEAP" export -c bad_infix_root --output="$name/x.c" -- "$name/in.txt"
    status 0 "$ISOHEAP" show --html --collector=bad_infix_root --output="$name/page.html" -- "$name/in.txt"
    untouched "$name"
done
check 0 'programs' "$ISOHEAP" explore mark_sweep --state="${names[4]}/state" -q --shapes=b1:1 --menu=full
untouched 'explore --state'

# ---- what is written to a full or a read-only disk ----

# refused WHAT: nothing is written, that is said, and what was there before is still there.
refused() {
    check 2 'cannot write disk/old: ' "$ISOHEAP" convert --to=bytes --output=disk/old finding.txt
    check 2 'cannot write disk/old: ' "$ISOHEAP" reduce -c bad_infix_root --output=disk/old finding.txt
    check 2 'cannot write disk/new: ' "$ISOHEAP" convert --to=bytes --output=disk/new finding.txt
    [ "$(cat disk/old)" = old ] && [ ! -e disk/new ] || complain "$1: what was there has changed"
}
if small_disk 64k 20; then
    echo old >disk/old
    cat /dev/zero >disk/filler 2>/dev/null
    refused 'a full disk'
    rm disk/filler
    i=0
    while : 2>/dev/null >disk/inode$i; do i=$((i + 1)); done 2>/dev/null
    refused 'no inode is free'
    rm disk/inode*
    mount -o remount,ro disk
    refused 'a read-only disk'
    umount disk
fi
rmdir disk

# ---- text that is not recognised is no bytes ----

printf 'Isoheap program 1\nscript\n  full\n' >typo
printf '// mine\nisoheap program 1\nscript\n  full\n' >comment
{ printf '\xef\xbb\xbf'; cat finding.txt; } >mark
{ printf '\xff\xfe'; sed 's/./&\x00/g; s/$/\x00/' finding.txt | sed 's/\x00$//' ; } >wide # UTF-16, nearly
if command -v iconv >/dev/null; then iconv -t UTF-16LE finding.txt >wide && iconv -t UTF-16 finding.txt >wide16; else cp wide wide16; fi
for file in typo comment mark wide wide16; do
    for verb in run show convert reduce export; do
        check 3 "$file:1:1: a text.*--bytes" "$ISOHEAP" $verb $file
    done
    status 0 "$ISOHEAP" run --bytes $file
done
printf '# a comment\n\nisoheap program 1\nscript\n  full\n' >good
check 0 'good: ok' "$ISOHEAP" run good

[ -n "$bin" ] || { echo 'no libFuzzer here: the rest is left out'; exit $wrong; }

# ---- campaigns ----

# corpus VERB ARGUMENT...; fuzz, both in the folder $where
corpus() {
    "$ISOHEAP" corpus --corpus="$where" --crashes=findings --bin-dir="$bin" -- "$1" $target "${@:2}" >out 2>err </dev/null
}
# What fails and a busy machine has left in the queue is named by the next command, which says so by its status.
seeds() {
    local status
    for _ in 1 2 3; do
        corpus import "$SOURCE_DIR/seeds/mark_sweep" && return
        status=$?
        [ $status -eq 1 ] && grep -q ': fails, and is no part of the corpus: ' out || break
    done
    complain "import into '$where': status $status" out err
}

# told_as_a_word PATTERN BEGINNING: what stands behind the pattern in `out` is, to a shell, one word that begins so.
told_as_a_word() {
    local told words=()
    told=$(sed -n "s/^.*$1//p" out | head -n 1)
    eval "words=($told)" 2>/dev/null
    [ ${#words[@]} -eq 1 ] && [[ ${words[0]} == "$2"* ]] || complain "in '$where' this is not one word: $told" out
}

for where in "${few[@]}"; do
    seeds
    if [ "$where" = "${few[0]}" ]; then
        corpus minimise
        told_as_a_word 'is no part of the corpus: ' "$where/.work/$target/queue/"
        rm -r findings
    fi
    "$ISOHEAP" fuzz --corpus="$where" --crashes="f$where" --bin-dir="$bin" --jobs=1 --time=40 --runs=1 \
        --reduce-time=2 --keep=1 $target >out 2>&1 </dev/null
    got=$?
    [[ $got = [01] ]] && grep -Eq "^$target +[1-9]" out || complain "fuzz in '$where': status $got" out
    ! grep -q '; filed in ' out || told_as_a_word '; filed in ' "f$where/"
    corpus minimise
    [[ $? = [01] ]] && [ "$(files "./$where/$target" | wc -l)" -gt 20 ] || complain "minimise in '$where'" out err
    cp -r "./$where/$target" "./$where/other dir"
    corpus merge "$where/other dir"
    [[ $? = [01] ]] || complain "merge in '$where'" out err
    untouched "campaign in '$where'"
done

# ---- 0 executions ----

printf '#!/bin/sh\nsleep 100\n' >idle && chmod +x idle && mkdir idle_bin && mv idle idle_bin/fuzz_idle
check 4 'fuzz_idle did not run; it executed nothing' "$ISOHEAP" fuzz --bin-dir=idle_bin --time=2 --corpus=idle_c --crashes=idle_f

# ---- a corpus is what it was, or better ----

# same WHAT: the old corpus is there, whole.
same() {
    local now
    now=$(cd "./$where/$target" && files . -exec sha1sum {} + | sort)
    [ "$now" = "$old" ] || complain "$1: the corpus has changed" err
}
remember() {
    old=$(cd "./$where/$target" && files . -exec sha1sum {} + | sort)
}

where=corpus
rm -rf findings # the defect is new again
seeds
corpus minimise # what fails leaves the corpus: it is named, kept and filed
[ $? -eq 1 ] && grep -q ": fails, and is no part of the corpus: corpus/.work/$target/queue/" out &&
    grep -Eq 'new violation (lost_object|contract_broken)' out && [ -n "$(files findings)" ] || complain 'failing inputs' out err
for file in $(files "$where/$target"); do
    [ "$(sha1sum <"$file" | cut -c 1-40)" = "${file##*/}" ] || complain "$file is not what its name says"
done
seeds
for _ in 1 2 3; do corpus minimise && break; done # here, too
remember
printf 'keep' >"$where/$target/.gitignore"

# killed at any point
for delay in 0.05 0.3 0.6 1.0 1.6; do
    timeout -s KILL $delay "$ISOHEAP" corpus minimise --corpus=$where --bin-dir="$bin" $target >/dev/null 2>&1
    [ "$(files $where/$target | wc -l)" -gt 20 ] || complain "killed after $delay s: the corpus is gone"
done
corpus minimise || complain 'minimise after SIGKILL' out err
[ -s "$where/$target/.gitignore" ] || complain 'a hidden file is gone'
[ ! -e "$where/.work/$target/new" ] || complain 'a temporary folder is left'

# two at once: the lock is one of the corpora
(flock 9; corpus minimise; [ $? -eq 4 ] && grep -q 'another campaign uses' err) 9>$where/.work/.lock || complain 'two at once' err

# an engine that loses inputs, and one that names what it has not written
mkdir liar
for lie in '' ': >"$new/da39a3ee5e6b4b0d3255bfef95601890afd80709"' 'printf x >"$new/0123456789abcdef"'; do
    {
        echo '#!/bin/bash'
        echo 'for word; do case $word in new) new=$word ;; esac; done'
        echo 'case "$*" in *merge=1*) '"${lie:-true}"'; exit 0 ;; esac'
        echo 'n=$(ls "${@: -1}" | wc -l); echo "#2 INITED cov: $((100 + n)) ft: $((200 + n)) corp: 1/1b"'
    } >liar/$target
    chmod +x liar/$target
    remember
    "$ISOHEAP" corpus minimise --corpus=$where --bin-dir=liar $target >out 2>err
    [ $? -eq 4 ] && grep -Eq 'reaches less|not been written to its end' err || complain "an engine that lies: $lie" out err
    same 'an engine that lies'
done

# ---- full and read-only disks ----

if small_disk 1200k 400; then
    cp -r corpus disk/corpus
    where=disk/corpus
    remember
    cat /dev/zero >disk/filler 2>/dev/null
    for room in 0 8 48; do # KiB
        truncate -s -${room}K disk/filler
        corpus minimise
        [[ $? = [04] ]] || complain "$room KiB free" out err
        [ "$(files $where/$target -size +0 | wc -l)" -gt 20 ] || complain "$room KiB free: the corpus is gone"
        corpus import "$SOURCE_DIR/seeds/mark_sweep" >/dev/null
        corpus merge corpus/$target
        for file in $(files "$where/$target"); do
            [ -s "$file" ] || [ "${file##*/}" = da39a3ee5e6b4b0d3255bfef95601890afd80709 ] || [ "${file##*/}" = cbf29ce484222325 ] ||
                complain "$room KiB free: $file is empty"
        done
    done
    rm -f disk/filler
    remember
    i=0
    while : 2>/dev/null >disk/inode$i; do i=$((i + 1)); done 2>/dev/null
    corpus minimise
    [ $? -eq 4 ] || complain 'no inode is free' out err
    same 'no inode is free'
    rm -f disk/inode*
    mount -o remount,ro disk
    corpus minimise
    [ $? -eq 4 ] || complain 'a read-only disk' out err
    same 'a read-only disk'
    check 4 'Read-only file system' "$ISOHEAP" fuzz --corpus=$where --crashes=disk/findings --bin-dir="$bin" --time=2 $target
    # the engine has inodes for some of what it finds: the campaign ends before it would lose any
    mount -o remount,rw,size=64m,nr_inodes=$(($(df --output=iused disk | tail -n 1) + 340)) disk
    timeout 200 "$ISOHEAP" fuzz --corpus=disk/grown --crashes=disk/findings --bin-dir="$bin" --jobs=1 --time=100 --reduce-time=1 $target >out 2>&1
    [ $? -eq 4 ] && grep -q 'is full$' out && [ "$(df --output=iavail disk | tail -n 1)" -gt 9 ] ||
        complain 'inodes that come to an end' out
fi

# ---- AFL++ ----

if command -v afl-clang-fast >/dev/null; then
    where="${few[1]}"
    mkdir afl
    AFL_QUIET=1 afl-clang-fast -fsanitize=fuzzer -o afl/fuzz_tiny "$SOURCE_DIR/tests/cli/campaign/tiny_target.c" >out 2>&1 ||
        complain 'afl-clang-fast' out
    mkdir -p "./bin $where"
    mv afl/fuzz_tiny "./bin $where/"
    "$ISOHEAP" fuzz --engine=afl --bin-dir="bin $where" --jobs=1 --time=4 --corpus="afl$where" --crashes="f$where" \
        --sync="s$where" --node=one >out 2>&1 </dev/null
    [ $? -eq 1 ] && grep -Eq '^fuzz_tiny +[1-9].* overlap 1 new' out || complain "AFL++ in '$where'" out
    untouched 'AFL++'
fi
finish
