#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is known of an OCaml source tree's garbage collector, and what fuzzing finds in it.
usage() {
    cat <<'TEXT'
Usage: scripts/ocaml_check.sh [OPTION...] TREE
Look at the garbage collector of an OCaml source tree: which known defects it has, whether all seeds
pass, and what fuzzing finds.

  TREE                  a folder with OCaml 4.12 to 4.14, 5.1 or 5.3, edited or not, or a
                        version (scripts/ocaml_source.sh --list)
  --time=SECONDS        how long to fuzz (default: 60); 0: not at all
  --jobs=N              processor cores to use (default: all)
  --variants=A,B        of release, debug, tiny, and, of OCaml 4, nnp, native, of 5.3 domains,
                        domains_debug (default: all)
  --help                print this

Builds the runtime in build/fuzz, with sanitizers.  For each known defect a line says whether it is
`present`, `gone`, or `not reachable`: this build lacks the variant, or this version an operation.
Fuzzing steers around those that are present, and around no others.  Findings go to findings/.

Exit status: 0 nothing but what is known of that version; 1 a seed fails, a defect is present that this
version should not have, or fuzzing finds something; 2 usage; 3 no such tree, or it does not compile.
TEXT
}
set -u
cd "$(dirname "$0")/.." || exit 3

seconds=60 jobs=$(nproc) variants= tree=
refuse() {
    echo "ocaml_check.sh: $1 (--help explains)" >&2
    exit 2
}
for argument; do
    case $argument in
        --help) usage; exit 0 ;;
        --time=*) seconds=${argument#*=} ;;
        --jobs=*) jobs=${argument#*=} ;;
        --variants=*) variants=${argument#*=} ;;
        -*) refuse "there is no option $argument" ;;
        *) [ -z "$tree" ] || refuse "one tree, not $tree and $argument"; tree=$argument ;;
    esac
done
[ -n "$tree" ] || refuse "which tree?"
[[ $seconds =~ ^[0-9]+$ && $jobs =~ ^[1-9][0-9]*$ ]] || refuse "--time and --jobs take numbers"
source_folder=$(scripts/ocaml_source.sh "$tree") || exit
read -ra there < <(scripts/ocaml_source.sh --collectors "$tree")
runtime=${there[0]} # its release
seeds=(seeds/ocaml seeds/mark_sweep)
[ "$runtime" = ocaml ] || seeds=("seeds/$runtime" "${seeds[@]}")
collectors=("${there[@]}")
[ -z "$variants" ] || collectors=()
for variant in ${variants//,/ }; do
    collector=${runtime}_$variant
    [ "$variant" = release ] && collector=$runtime
    case " ${there[*]} " in *" $collector "*) ;; *) refuse "there is no variant $variant of $runtime" ;; esac
    collectors+=("$collector")
done
isoheap=build/fuzz/bin/isoheap
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! OCAML=$tree JOBS=$jobs TARGETS="isoheap ${collectors[*]/#/fuzz_}" scripts/build.sh fuzz >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "ocaml_check.sh: $tree does not compile as a collector" >&2
    exit 3
fi
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
unset ISOHEAP_UNMASK
version=$("$isoheap" list collectors | sed -n "s/^ *$runtime  *the OCaml \([^ ]*\) runtime.*/\1/p")
echo "OCaml $version, ${source_folder:-Debian\'s package ocaml-source}"
status=0 gone=''

# covers VERSION FIRST LAST: is it from FIRST to LAST?  A LAST of two numbers has all of its releases.
covers() {
    local number=${1%%[+~]*}
    [[ $number == "$3" || $number == "$3".* ]] && number=$3
    printf '%s\n' "$2" "$number" "$3" | sort -V -C
}

# state_of COLLECTOR MASK CLASS FILE: present, gone, not reachable, or what else comes.
state_of() {
    case " ${collectors[*]} " in *" $1 "*) ;; *) echo 'not reachable'; return ;; esac
    "$isoheap" run -v --collector "$1" --unmask="$2" "$4" >"$log" 2>&1
    case $? in
        0) if grep -q ' skipped: ' "$log"; then echo 'not reachable'; else echo gone; fi ;;
        1) class=$(sed -n 's/.*: violation \([a-z_]*\) .*/\1/p;T;q' "$log")
           if [ "$class" = "$3" ]; then echo present; else echo "$class instead"; fi ;;
        *) echo 'not reachable' ;;
    esac
}

# look_at FILE: the line of a known defect.  crashes/<class>/<collector>-<mask>.txt says for which
# versions it holds.
look_at() {
    local class name collector mask first last state
    class=$(basename "$(dirname "$1")") name=$(basename "$1" .txt)
    collector=${name%%-*} mask=${name#*-}
    mask=${mask%%.*}
    read -r first last < <(sed -n 's/^# OCaml \(.*\) to \(.*\)\.$/\1 \2/p; s/^# OCaml \([0-9.]*\)\.$/\1 \1/p' "$1")
    state=$(state_of "$collector" "$mask" "$class" "$1")
    if covers "$version" "$first" "$last"; then
        [ "$state" != gone ] || state='gone: repaired in this tree'
        if [ "$state" = present ] && ! "$isoheap" run -q --collector "$collector" "$1" >"$log" 2>&1; then
            state='present, and its mask does not steer around it' status=1
        fi
    elif [ "$state" = present ]; then
        state='present: not in this version, so far' status=1
    fi
    case $state in
        gone*) gone+=" $mask" ;;
        present) held+=" $mask" ;;
        *instead) status=1 ;;
    esac
    printf '%-18s  %-12s  %-20s  %-15s  %s\n' "$mask" "$collector" "$class" "$first to $last" "$state"
}
held=''
printf '%-18s  %-12s  %-20s  %-15s  %s\n' defect collector class versions here
for file in crashes/*/"$runtime"{,_*}-*.txt; do
    [ -e "$file" ] || continue
    look_at "$file"
done

for collector in "${collectors[@]}"; do
    "$isoheap" run -q --jobs="$jobs" --collector "$collector" "${seeds[@]}" >"$log" 2>&1
    [ $? -ne 1 ] || status=1
    grep -v -e ': ok$' -e ': not run: ' "$log" | sed "s/^/seeds, $collector: /"
done

# Masks of what this tree does not have hide nothing.
unmask=$(for mask in $gone; do
    case " $held " in *" $mask "*) ;; *) echo "$mask" ;; esac
done | sort -u | paste -s -d ,)
if [ "$seconds" -gt 0 ]; then
    "$isoheap" fuzz --time="$seconds" --jobs="$jobs" ${unmask:+--unmask="$unmask"} --bin-dir=build/fuzz/bin \
        --corpus=build/fuzz/corpus --crashes=findings "${collectors[@]/#/fuzz_}"
    found=$?
    [ "$found" -le "$status" ] || status=$found
fi
exit "$status"
