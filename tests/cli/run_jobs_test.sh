#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap run --jobs: the same lines in the same order as one file after the other, to the letter, whatever
# the files do; and on a terminal a line that says how far it is.
source=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
# shellcheck source=tests/support/support.bash
. "$source/tests/support/support.bash"

mkdir -p files/deep
cp "$source"/crashes/lost_object/bad_{infix_root,lost_overflow}.txt "$source"/crashes/sanitizer/bad_follows_code.txt files/
cp "$source"/crashes/mark_lost/onthefly_old_sense.schedule files/
cp "$source"/seeds/compact/[a-c]*.txt files/deep/
printf 'isoheap program 1\nnonsense\n' >files/unreadable.txt
ln -s nowhere files/gone.txt

# same ARGUMENT...: with and without --jobs
same() {
    "$isoheap" run "$@" >one 2>one.err
    local alone=$?
    "$isoheap" run --jobs=4 "$@" >many 2>many.err
    local beside=$?
    [ $alone = $beside ] || complain "status $beside instead of $alone: $*"
    cmp -s one many || complain "other lines: $*" one many
    cmp -s one.err many.err || complain "other messages: $*" one.err many.err
}
same --quiet --collector bad_infix_root files
grep -q '2 unreadable' one || complain 'the files are not what they should be' one
same --quiet --collector bad_follows_code --expect=lost_object files/bad_lost_overflow.txt files/bad_follows_code.txt
same --trace --digest "$(find files/deep -type f | sort | head -n 1)" files/bad_infix_root.txt
check 3 "No such file" "$isoheap" run --jobs=2 "$folder/nowhere"
mkdir empty
check 3 'no file in this folder' "$isoheap" run --jobs=2 empty
check 2 'one file after the other, without --jobs' "$isoheap" run --jobs=2 --in-process files
check 2 'jobs' "$isoheap" run --jobs=0 files

# ---- on a terminal ----

if ! command -v script >/dev/null; then
    lack 'progress on a terminal: this system has no script (bsdutils)'
elif ! python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    lack 'progress on a terminal: this system has no pseudo-terminals (/dev/ptmx)'
else
    script -qec "$isoheap run --quiet --jobs=2 files/bad_lost_overflow.txt files/bad_infix_root.txt >plain" terminal >/dev/null
    grep -q '[0-2] of 2 files' terminal || complain 'no progress' terminal
    [ "$(cat plain)" = "$("$isoheap" run --quiet files/bad_lost_overflow.txt files/bad_infix_root.txt)" ] || complain 'other lines on a terminal' plain
fi
finish
