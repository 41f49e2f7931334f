#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same program, the same verdict, on other machines and with other compilers: builds the command for each,
# runs all seeds and crashes there, and compares verdicts and digests with those of the command of this machine.
#
#   machines.sh [NAME...]    presets of CMakePresets.json: s390x (big-endian) and aarch64, under qemu-user; clang-19
#
# What differs is printed, and the exit status is 1.  boehm is left out: its library is not there for
# the other machines, and what a conservative collector takes for a pointer is the machine's business.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
work=build/machines

# How the command of a machine is started.
choose_runner() {
    case $1 in
    here) runner=(build/bin/isoheap) ;;
    s390x | aarch64) runner=("qemu-$1" -L "/usr/$1-linux-gnu" "build/$1/bin/isoheap") ;;
    *) runner=("build/$1/bin/isoheap") ;;
    esac
}

# The parts of a transcript: a collector each, and some more.
parts() {
    choose_runner "$1"
    "${runner[@]}" list --json |
        python3 -c 'import json, sys; [print(c["name"]) for c in json.load(sys.stdin)["collectors"] if c["name"] != "boehm" and not c["name"].startswith("ocaml5")]'
    echo known_bad known_defects schedules bytes | tr ' ' '\n'
}

judge() {
    "${runner[@]}" run -q --digest -T 120 "$@" || true # a violation is no failure here
}

# Each crash on the collector that it was found with.
each_crash() {
    local file name
    for file in "$@"; do
        name=$(basename "$file" .txt)
        [[ $name == bad_boehm* || $name == ocaml5* ]] || judge --unmask=all --collector="${name%%-*}" "$file"
    done
}

play_part() {
    local own="seeds/$2" file
    choose_runner "$1"
    case $2 in
    known_bad) each_crash crashes/*/bad_*.txt ;;
    known_defects) each_crash crashes/*/ocaml*.txt ;;
    schedules) judge seeds/onthefly/* crashes/*/*.schedule ;;
    bytes)
        for file in seeds/*/*.txt; do
            "${runner[@]}" convert --to=bytes -o - "$file" 2>&1 | cksum | sed "s|\$| $file|"
        done
        ;;
    *)
        [[ -d $own && $own != seeds/mark_sweep ]] || own=
        # shellcheck disable=SC2086 # a folder, or none
        judge --collector="$2" $own seeds/mark_sweep crashes/*/*.txt
        ;;
    esac >"$work/$1/$2"
}

play() {
    rm -rf "${work:?}/$1"
    mkdir -p "$work/$1"
    parts "$1" | xargs -P "$jobs" -n 1 "$0" --part "$1"
}

# What both have must be the same, and there must be enough of it.
compare() {
    local count
    count=$(cat "$work/$1"/* | grep -c -e ', digest ' -e '^[0-9]')
    if ! diff -r "$work/here" "$work/$1" >"$work/$1.diff"; then
        cat "$work/$1.diff"
        echo "$1: not as here"
        return 1
    fi
    echo "$1: $count verdicts, digests and forms in bytes, all as here"
    [ "$count" -gt 2000 ] || { echo "$1: too few"; return 1; }
}

if [ "${1:-}" = --part ]; then
    play_part "$2" "$3"
    exit
fi
[ $# -gt 0 ] || set -- s390x aarch64 clang-19
TARGETS=isoheap scripts/build.sh release "$@"
failed=0
play here
for machine in "$@"; do
    play "$machine"
    compare "$machine" || failed=1
done
exit $failed
