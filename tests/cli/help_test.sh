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
completes 'bad_infix_left bad_infix_lost' isoheap run --collector bad_infix_l
completes 'bad_infix_left bad_infix_lost' isoheap run --collector = bad_infix_l
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

completes 'oracles operations' isoheap list o
check 2 'completion knows bash, zsh and fish, not csh' "$isoheap" help --completion=csh

# ---- fish ----

"$isoheap" help --completion=fish >isoheap.fish || complain 'help --completion=fish failed'
# fish_offers 'EXPECTED...' LINE: the words that are offered at its end.
fish_offers() {
    local got
    got=$(fish -N -c 'source ./isoheap.fish; complete -C $argv[1]' "$2" 2>&1 | cut -f 1 | sort | tr '\n' ' ' | sed 's/ $//')
    [ "$got" = "$1" ] || complain "fish, $2: offers '$got', not '$1'"
}
if command -v fish >/dev/null; then
    fish_offers 'fuzz' 'isoheap fu'
    fish_offers '--collector' 'isoheap run --co'
    fish_offers '--collector=bad_infix_left --collector=bad_infix_lost' \
        'isoheap run --collector=bad_infix_l'
    fish_offers 'cheney' 'isoheap run -r ch'
    fish_offers 'lost_object' 'isoheap run --expect lost'
    fish_offers 'merge minimise' 'isoheap corpus m'
    fish_offers 'operations oracles' 'isoheap list o'
    fish_offers 'cheney' 'isoheap explore ch'
    fish_offers 'crash.txt' 'isoheap run cr'
    fish_offers 'fuzz_one fuzz_two' 'isoheap fuzz --bin-dir=bin fuzz_'
    fish_offers 'fuzz_one fuzz_two' 'isoheap fuzz --bin-dir bin fuzz_'
else
    lack 'completion for fish: fish is missing (scripts/install.sh --tests)'
fi

# ---- zsh ----

"$isoheap" help --completion=zsh >_isoheap || complain 'help --completion=zsh failed'
# zsh_has TEXT WORD...: among what the function hands to those of zsh, for the last of the words.
zsh_has() {
    local text=$1 got
    shift
    # shellcheck disable=SC2016 # expanded by zsh
    got=$(zsh -f -c 'compdef() { : }; _describe() { print -l -- ${(P)2} }; compadd() { print -l -- "$@" }
        _arguments() { print -l -- "$@" }; source ./_isoheap
        words=("$@"); CURRENT=$#; _isoheap' zsh "$@" 2>&1)
    grep -qF -- "$text" <<<"$got" || complain "zsh, $*: no '$text' in: $got"
}
if command -v zsh >/dev/null; then
    zsh_has 'fuzz:a campaign over fuzz targets' isoheap ''
    zsh_has '--version' isoheap ''
    zsh_has '(-c --collector)--collector=[the collector under test' isoheap run ''
    zsh_has ':NAME:(mark_sweep cheney ' isoheap run ''
    zsh_has '1:word:(merge minimise import)' isoheap corpus ''
    zsh_has '*:word:_isoheap_targets' isoheap corpus ''
    zsh_has '*:word:(collectors known-bad oracles ' isoheap list ''
    zsh_has '--bin-dir=[' isoheap fuzz ''
    zsh_has ':DIR:_files -/' isoheap fuzz ''
    zsh_has '*:word:_files' isoheap run ''
else
    lack 'completion for zsh: zsh is missing (scripts/install.sh --tests)'
fi

finish
