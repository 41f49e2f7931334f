#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What ClusterFuzz and OSS-Fuzz take for one crash: the top three frames of the stack that the process
# prints, without those of the sanitizer, the engine and the C library.  No two violation classes may have
# the same, and the first frame must name the class.
set -u
target=${VIOLATING:?set VIOLATING to the target that ends in a class}
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
wrong=0

complain() {
    echo "$1"
    wrong=1
}

# The frames that count of a stack in the format of the sanitizers:
#     #3 0x55d0 in violation_overlap /src/isoheap/fuzz/violate.c:25:1
# The names that are passed over are those that ClusterFuzz passes over.
frames() {
    sed -n 's/^ *#[0-9]* 0x[0-9a-f]* in \([^ (]*\).*/\1/p' |
        grep -vE '^(__sanitizer|__interceptor|___interceptor|__asan|__ubsan|fuzzer::|abort|_*GI_|raise|gsignal|__?pthread_kill|__libc_start|_start|main$|kill$)' |
        head -n 3 | tr '\n' ' '
}

mapfile -t classes < <(ASAN_OPTIONS=detect_leaks=0 "$isoheap" list --json | tr '{' '\n' |
    sed -n '/^  "classes"/,/"targets"/s/.*"name": *"\([a-z_]*\)".*/\1/p')
[ "${#classes[@]}" -ge 20 ] || complain "only ${#classes[@]} classes"
number=0
for class in "${classes[@]}" harness_error; do
    number=$((number + 1))
    # shellcheck disable=SC2059 # an octal number
    printf "\\$(printf %o $number)" >input
    ASAN_OPTIONS=handle_abort=1:detect_leaks=0 "$target" input >said 2>&1 && complain "$class does not end the process"
    top=$(frames <said)
    echo "$top" >>all
    expected=violation_$class
    [ "$class" != harness_error ] || expected=harness_error
    [ "${top%% *}" = "$expected" ] || complain "$class: the frames are $top, of $(head -n 30 said)"
done
duplicates=$(sort all | uniq -d)
[ -z "$duplicates" ] || complain "several classes share: $duplicates"
[ "$(wc -l <all)" = "$number" ] || complain 'a class has no frames'
exit $wrong
