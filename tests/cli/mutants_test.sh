#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap mutants: some mutants of the example are killed and some survive, the same ones whatever the jobs; survivors
# can be accepted; an interrupted run goes on; what cannot be compiled, or is not the plug-in's, is said.
source=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
# shellcheck source=tests/support/support.bash
. "$source/tests/support/support.bash"
unset ISOHEAP_PLUGIN
need clang python3

# Mark, sweep and what is between are the collector's own; the rest of the example is in headers elsewhere.
pebble=$source/examples/pebble/pebble.c
begin=$(grep -n '^static void mark(' "$pebble" | cut -d: -f1) end=$(grep -n '2. allocation' "$pebble" | cut -d: -f1)
mkdir other own
head -n $((begin - 1)) "$pebble" >other/front.h
tail -n +"$end" "$pebble" >other/back.h
{
    echo '#include "front.h"'
    sed -n "$begin,$((end - 1))p" "$pebble"
    echo '#include "back.h"'
} >own/pebble.c
mutants=("$isoheap" mutants --seeds "$source/examples/pebble/seeds" --budget 40)
flags=(-- -I "$PWD/other")
# run STATUS PATTERN FOLDER OPTION...: of that source
run() {
    check "$1" "$2" "${mutants[@]}" --source own/pebble.c --results "$3" "${@:4}" "${flags[@]}"
}

# ---- killed, survived, the same each time ----

run 1 'pebble: [0-9]+ mutants' one -j2 --killed
mv out first
killed=$(grep -c 'killed by program' first)
[ "$killed" -gt 30 ] || complain "only $killed mutants are killed" first
grep -A1 'in sweep: .next < end. -> .next <= end. (relational)' first | grep -q 'killed by program [0-9]*: ' ||
    complain 'a sweep that leaves the heap survives' first
grep -A1 'in pebble_collect: .GC_OK. -> .0. (result)' first && complain 'what is the same code is a mutant' first
grep -q 'it could be wrong, and nobody would notice' first || complain 'all are killed' first
grep -Eq 'found: (100.0|[89][0-9].[0-9]) % of those that make a program go wrong' first || complain 'too few are found' first
# What is known is not run again, and another run comes to the same.
run 1 'pebble: ' one -j1 --killed
cmp -s out first || complain 'results that are kept differ' first out
run 1 'pebble: ' two -j1 --killed
cmp -s out first || complain 'a second run differs' first out

# ---- JSON ----

run 1 '"collector": "pebble"' one --json
cp out report.json
python3 - "$killed" <<'PY' || complain 'the JSON is wrong' out
import json, sys
report = json.load(open("report.json"))
assert report["finished"] and report["killed"]["all"] == int(sys.argv[1])
assert report["mutants"] == sum(m["fate"] != "does not compile" for m in report["all"])
assert report["survivors"]["left"] == sum(m["fate"] in ("survived", "never executed") for m in report["all"])
assert report["not_run"] == 0
PY

# Programs that the collector cannot be given are none that a mutant survives.
cp -r other small
sed 's/max_heap_words = CAPACITY/max_heap_words = 1024/' other/back.h >small/back.h
check 1 '^  [1-9][0-9]* of the programs are for mutants that promise more: the collector cannot be given them' "${mutants[@]}" --source own/pebble.c \
    --results small/results -- -I "$PWD/small"
check 1 '"not_run": [1-9]' "${mutants[@]}" --source own/pebble.c --results small/results --json -- -I "$PWD/small"

# clang's tree of a source may be larger than any program is.
(cat own/pebble.c && echo "static const int many[] = {$(seq -s, 40000)};") >own/large.c
check 2 'it was cut short' "${mutants[@]}" --source own/large.c --results x --time 1 "${flags[@]}"

# ---- accepted survivors ----

sed -n 's/^    accept: \(.*\)/equivalent \1\n    for the test/p' first >accepted
run 0 'left: 0$' one --accepted accepted
cp accepted all
# shellcheck disable=SC2016 # backquotes of the report
printf 'waste pebble.c mark call `gone();` -> `;`\n    it was there once\n' >>accepted
run 1 'accepted, but no survivor, line [0-9]+: pebble.c mark call' one --accepted accepted
printf 'fine pebble.c mark\n    why\n' >odd
run 3 'odd:1: an entry begins with equivalent, waste' one --accepted odd
printf '# a comment\n    why\n' >odd
run 3 'odd:2: a reason without an entry' one --accepted odd
printf 'lie pebble.c mark call\n' >odd
run 3 'odd:1: no reason' one --accepted odd
run 3 'nowhere: No such file' one --accepted nowhere

# ---- some of them ----

run '0|1' '[1-9][0-9]* other mutants were left aside' one --only ' sweep ' --killed
cp out some
grep ': in ' some | grep -qv ': in sweep: ' && complain 'others than those of sweep are reported' some
for pattern in 'killed by' 'accept: pebble.c sweep '; do
    [ "$(grep -c "$pattern" some)" -eq "$(grep -A2 ': in sweep: ' first | grep -c "$pattern")" ] || complain "sweep has other mutants alone: $pattern" some
done
# Those of an earlier report.
run 1 'other mutants were left aside' one --only @first
diff <(grep 'accept: ' first) <(grep 'accept: ' out) || complain 'others survive alone' out
grep -q ' killed 0: ' out || complain 'a survivor is killed alone' out
run 0 'left: 0$' one --left --accepted all
grep -q ' survive 0, ' out || complain 'accepted ones are among those that are left' out
run 0 'left: 0$' one --left --accepted accepted # of the others nothing is said
run '0|1' '"fate": "left aside"' one --only ' mark ' --json
python3 -c 'import json; r = json.load(open("out")); assert r["aside"] + r["mutants"] == sum(m["fate"] != "does not compile" for m in r["all"])' ||
    complain 'the JSON counts others' out
run 3 'no mutant of [0-9]+ is chosen' one --only 'nobody at all'
run 3 'nowhere: No such file' one --only @nowhere

# ---- cut short ----

run 2 'it was cut short: .* of 20000 programs' one --budget 20000 --time 1
check 2 'another|in use|busy|needs' flock one/.lock "${mutants[@]}" --source own/pebble.c --results one "${flags[@]}"
head -c 200 one/results.tsv >results.cut && cp results.cut one/results.tsv # the machine went down in the middle of a line
run 1 'pebble: ' one --killed
cmp -s out first || complain 'after a cut file results differ' first out
run '1|2' 'begins anew' one --seed 2 --time 1
# Another isoheap begins anew, however long it is; it finds its checkout by where it is itself.
long=$isoheap.long
trap 'rm -rf "$folder" "$long"' EXIT
{ cat "$isoheap" && head -c 17M /dev/zero; } >"$long" && chmod +x "$long"
check '1|2' 'begins anew' "$long" "${mutants[@]:1}" --source own/pebble.c --results one --seed 2 --time 1 "${flags[@]}"
! grep -q '/proc/self/exe' err || complain 'a long command is not read' err

# ---- what cannot be ----

check 2 'whose mutants' "$isoheap" mutants
check 3 'nothing\.c: No such file' "$isoheap" mutants --source nothing.c --results x
printf 'int broken( {\n' >broken.c
check 3 'broken\.c: clang does not compile it' "$isoheap" mutants --source broken.c --results x
grep -q 'error: ' err || complain 'clang is not heard' err
printf 'int none;\n' >none.c
check 3 'no source defines a .const struct collector' "$isoheap" mutants --source none.c --results x
check 3 'no-such-clang: there is no such program; mutants are made by clang' "$isoheap" mutants --source own/pebble.c --clang ./no-such-clang --results x
check 3 'makes no sense|does not compile' "$isoheap" mutants --source own/pebble.c --clang "$(command -v true)" --results x
printf '#!/bin/sh\nyes "[[[[" | head -c 100000\n' >deep && chmod +x deep
check 3 'tree of it makes no sense: it is' "$isoheap" mutants --source own/pebble.c --clang ./deep --results x
printf '#!/bin/sh\necho "{\\"inner\\": [{\\"kind\\": \\"FunctionDecl"\n' >short && chmod +x short
check 3 'tree of it makes no sense: it ends within a string' "$isoheap" mutants --source own/pebble.c --clang ./short --results x
(cat "$pebble" && echo 'extern int nowhere(void); int (*elsewhere)(void) = nowhere;') >unlinked.c
check '2|3' 'do not link|symbol' "${mutants[@]}" --source unlinked.c --results x
check 2 'no sources of a collector "nobody"' "$isoheap" mutants --collector nobody
check 2 'no sources of a collector' "$isoheap" mutants --collector ../program

# ---- the sources of the plug-in, and others ----

printf '#include "collectors/plugin.h"\nISOHEAP_PLUGIN(pebble)\n' >plugin.c
clang -g -shared -fPIC -I "$source" -I "${BUILD_DIR:?set BUILD_DIR to the build}/generated" -o pebble.so "$pebble" plugin.c \
    "$source/collectors/arena.c" 2>err || complain 'it does not compile' err
run 1 'pebble: [0-9]+ mutants' one --plugin ./pebble.so
sed 's/"pebble"/"stone"/' "$pebble" >stone.c
check 2 'the plug-in has the collector pebble, and the sources have stone' "${mutants[@]}" --source stone.c --results x --plugin ./pebble.so
sed 's/gc_tick(/(void)(/' "$pebble" >lame.c
check 2 'the sources are not those of the plug-in' "${mutants[@]}" --source lame.c --results x --plugin ./pebble.so
exit $wrong
