#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The manual page and the completion, which are made from what --help prints.
set -u
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"

# ---- the manual page ----

"$isoheap" help --man >isoheap.1 || complain 'help --man failed'
groff -man -ww -Tascii isoheap.1 >page 2>warnings || complain 'groff failed'
[ ! -s warnings ] || complain "groff warns: $(head -n 5 warnings)"
commands=$("$isoheap" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 7 ] || complain 'too few subcommands'
for command in $commands; do
    grep -Fq ".SS $command" isoheap.1 || complain "the page lacks $command"
    for option in $("$isoheap" "$command" --help | sed -n 's/^  [ -].[, ] --\([a-z-]*\).*/\1/p'); do
        grep -Fq -- "--$option" <(sed 's/\\-/-/g' isoheap.1) || complain "the page lacks $command --$option"
    done
done

# ---- completion ----

"$isoheap" help --completion=bash >isoheap.bash || complain 'help --completion failed'
bash -n isoheap.bash || complain 'the completion is no bash'
mkdir bin
touch bin/fuzz_one bin/fuzz_two bin/fuzz_two.dict bin/fuzz_one_standalone crash.txt
chmod +x bin/fuzz_*

# completes 'EXPECTED...' WORD...: all words that are offered for the last one.
completes() {
    local expected=$1 got
    shift
    # shellcheck disable=SC2016 # expanded by the inner bash
    got=$(bash -c 'source ./isoheap.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _isoheap; echo ${COMPREPLY[*]}' bash "$@")
    [ "$(echo "$got" | tr ' ' '\n' | sort)" = "$(echo "$expected" | tr ' ' '\n' | sort)" ] ||
        complain "$*: offers '$got', not '$expected'"
}

completes 'fuzz' isoheap fu
completes "$(echo "$commands" | tr '\n' ' ' | sed 's/ $//') --help --version" isoheap ''
completes '--collector' isoheap run --co
completes '--collector' isoheap show --co
completes 'bad_infix_root bad_infix_left bad_infix_flat bad_infix_lost' isoheap run --collector bad_infix
completes 'bad_infix_root bad_infix_left bad_infix_flat bad_infix_lost' isoheap run --collector = bad_infix
completes 'cheney' isoheap run -r ch
completes 'lost_object' isoheap run --expect = lost
completes 'bytes text' isoheap convert --to ''
completes 'libfuzzer' isoheap fuzz --engine lib
completes 'fuzz_one fuzz_two' isoheap fuzz --bin-dir bin ''
completes 'fuzz_two' isoheap corpus merge --bin-dir = bin fuzz_t
completes 'merge minimise' isoheap corpus m
completes 'crash.txt' isoheap run cr
completes 'crash.txt' isoheap run --trace cr
completes 'bin' isoheap fuzz --bin-dir b
completes 'convert corpus conformance' isoheap help co
completes 'cheney' isoheap explore ch
completes '' isoheap fuzz --time ''
complete_line=$(bash -c 'source ./isoheap.bash; complete -p isoheap')
[ "$complete_line" = 'complete -o filenames -F _isoheap isoheap' ] || complain "registered: $complete_line"

exit $wrong
