#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The 256 collectors whose four noop handshakes are each as in the paper (P), without its mfence (H), an mfence
# alone (F), or gone (-): onthefly_subsets.sh MUTATORS REFS [OPTION...] explores each and prints whether it is safe.
# ISOHEAP is the command (default: build/bin/isoheap).
set -eu
cd "$(dirname "$0")/.."
isoheap=${ISOHEAP:-build/bin/isoheap}
mutators=$1 refs=$2
shift 2
handshakes=(idle idle_flip init mark)

for ((i = 0; i < 256; i++)); do
    code='' variants=''
    for k in 0 1 2 3; do
        case $((i >> 2 * k & 3)) in
        0) code+=P ;;
        1) code+=H variants+=,no_fence_${handshakes[k]} ;;
        2) code+=F variants+=,fence_only_${handshakes[k]} ;;
        3) code+=- variants+=,skip_${handshakes[k]} ;;
        esac
    done
    options=()
    [ -z "$variants" ] || options=(--variant "${variants#,}")
    found=$("$isoheap" explore onthefly -q -m "$mutators" -r "$refs" -I safety "${options[@]}" "$@" || true)
    printf '%s  %s, %s states\n' "$code" "$(sed -n 's/^onthefly: //p' <<<"$found")" \
        "$(sed -n 's/^  states *//p' <<<"$found")"
done
