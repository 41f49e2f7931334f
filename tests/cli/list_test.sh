#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap list: what it says of fuzz targets and traits is what the build has, for people and for programs.
set -u
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
source=${SOURCE_DIR:?set SOURCE_DIR to the top of the tree}
build=${BUILD_DIR:?set BUILD_DIR to the build}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
unset ISOHEAP_PLUGIN

# section TITLE: the first words of its lines.
section() {
    "$isoheap" list | sed -n "/^$1\$/,/^\$/s/^  \([a-z_0-9]*\) .*/\1/p"
}

# ---- targets: those of which the build can make a standalone runner, but for that of target_test.sh ----

cmake --build "$build" --target help | sed -n 's/^\(fuzz_[a-z_0-9]*\)_standalone:.*/\1/p' | grep -vx fuzz_stale | sort -u >built
[ "$(wc -l <built)" -ge 13 ] || complain 'the build has few targets' built
section targets | sort >listed
cmp -s built listed || complain "list and the build have other targets: $(diff built listed)"
"$isoheap" list --json | python3 -c '
import json, sys
for target in json.load(sys.stdin)["targets"]:
    print(target["name"])' | sort >json
cmp -s built json || complain "list --json and the build have other targets: $(diff built json)"

# ---- traits: the rows of collectors/traits.h ----

sed -n 's/^    X([a-z_]*, \([a-z_]*\), .*/\1/p' "$source/collectors/traits.h" | sort >rows
[ "$(wc -l <rows)" -ge 24 ] || complain 'few traits' rows
section 'traits of collectors' | sort >listed
cmp -s rows listed || complain "list and traits.h have other traits: $(diff rows listed)"
"$isoheap" list --json | python3 -c '
import json, sys
known = json.load(sys.stdin)
rows = set(open("rows").read().split())
for collector in known["collectors"]:
    if set(collector["traits"]) != rows:
        print(collector["name"], "has other traits")
mark_sweep = known["collectors"][0]["traits"]
if mark_sweep["moves"] is not False or mark_sweep["refusal"] != "no_free_block":
    print("mark_sweep:", mark_sweep)' >said
[ ! -s said ] || complain 'list --json' said
"$isoheap" list | tr -s '\n ' '  ' | grep -qF 'renews refusal=no_free_block max_mutators=' || complain 'list names no values'
exit $wrong
