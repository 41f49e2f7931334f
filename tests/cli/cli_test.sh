#!/bin/sh
# SPDX-License-Identifier: MIT
# The isoheap command from outside: every subcommand, exit statuses, messages, hostile files.
# ISOHEAP_COMMAND (or ISOHEAP) is the path of the command; with SOURCE_DIR, the checkout, the seeds are
# run too.  POSIX shell.
set -u
isoheap=${ISOHEAP_COMMAND:-${ISOHEAP:?set ISOHEAP_COMMAND to the path of the command}}
case $isoheap in
/*) ;;
*) isoheap=$PWD/$isoheap ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export ASAN_OPTIONS=detect_leaks=0
unset NO_COLOR
wrong=0 lacks=''
# As in tests/support/support.bash.
lack() {
    echo "skipped: $1"
    lacks=yes
}
finish() {
    [ $wrong -ne 0 ] || [ -z "$lacks" ] || exit 77
    exit $wrong
}
input=/dev/null

complain() {
    echo "$1"
    wrong=1
}

# check STATUS PATTERN ARGUMENT...: status, and an extended regular expression that must match
# stdout and stderr, lines joined by `;`.  Leaves them in out and err.
check() {
    status=$1 pattern=$2
    shift 2
    "$isoheap" "$@" >out 2>err <"$input"
    got=$?
    output=$(cat out err | tr -d '\000' | tr '\n' ';')
    if [ "$got" -ne "$status" ] || ! printf '%s\n' "$output" | grep -Eq -e "$pattern"; then
        complain "isoheap $*"
        echo "  expected status $status and /$pattern/"
        echo "  got status $got and $(printf '%.2000s' "$output")"
    fi
}

# refuse PATTERN: what the last check printed must not match.
refuse() {
    if cat out err | grep -Eq -e "$1"; then
        complain "/$1/ must not match:"
        cat out err
    fi
}

# same FILE FILE WHAT
same() {
    cmp -s "$1" "$2" || complain "$3: $1 and $2 differ"
}

# ---- programs ----

cat >infix.txt <<'END'
isoheap program 1
heap
  b0 = closure arity=1,1 env=[7]
roots
  r0 = b0+3
script
  full
END
cat >stale.txt <<'END'
isoheap program 1
config heap=64
heap
  dead 3
script
  r0 = alloc tag=0 [1]
  full
  r1 = alloc tag=0 [2]
END
cat >rescan.txt <<'END'
isoheap program 1
config mark-stack=1
heap
  b0 = block tag=0 [b1, b2]
  b1 = block tag=1 [1]
  b2 = block tag=2 [2]
roots
  r0 = b0
script
  full
END
cat >list.txt <<'END'
isoheap program 1
heap
  b0 = block tag=0 [b1, 42]
  b1 = string [0x123456789abcdef]
  dead 3
roots
  r0 = b0
script
  r1 = alloc tag=3 [r0, -1]
  r1.1 := 9
  full
  r2 = r1.0
  read r2.0
END
cat >never.txt <<'END'
isoheap program 1
config heap=16
script
  r0 = alloc tag=0 size=100
END
printf 'isoheap program 1\nhaep\n' >bad_section.txt
printf 'isoheap program 1\nscript\n  r0 = nonsense\n' >bad_operation.txt
: >empty
head -c 3000 /dev/urandom >junk
head -c 17000000 /dev/zero >long

# ---- the command itself ----

check 2 '^Usage: isoheap SUBCOMMAND'
check 0 '^Usage: isoheap SUBCOMMAND.* list .* run .* show .* convert .*Exit status' --help
check 0 '^Usage: isoheap SUBCOMMAND' help
check 0 '^isoheap [0-9]+\.[0-9]+, program format [0-9]+;$' --version
check 2 'called lst; did you mean list\?' lst
check 2 'called rnu; did you mean run\?' rnu
check 2 'called lst; did you mean list\?' help lst
check 2 'called frobnicate \(.isoheap --help.' frobnicate
for subcommand in list run show convert fuzz corpus help; do
    check 0 "^Usage: isoheap $subcommand .*--help" "$subcommand" --help
    check 2 "^isoheap $subcommand: unrecognized option '--bogus'.*isoheap $subcommand --help" \
        "$subcommand" --bogus
done
for subcommand in run show convert; do
    check 2 'no FILE; - is standard input' "$subcommand"
done

# ---- list ----

check 0 '^collectors;  mark_sweep .*variant=0.*  cheney .*bad_infix_root +lost_object .*oracles;.*;violation classes;.*targets;  fuzz_mark_sweep .*config keys.*limits' list
check 2 'there is no list of orcles; did you mean oracles\?' list orcles
check 2 'there is no list of extra' list extra
check 0 '^oracles;  isomorphism .*;;violation classes;  lost_object ' list classes oracles
check 0 '^known-bad collectors[^;]*;  bad_lost_fragments [^;]*;  bad_no_fragment ' list --search=FRAGMENT known-bad
check 0 '^collectors;  cheney .*;  +traits: .*;$' list collectors --search=cheney
check 2 'nothing has "xyzzy" in it' list --search=xyzzy
check 2 '--json has everything' list --json oracles
check 0 '"known_bad": \[' list --json
cp out list.json
if command -v python3 >/dev/null; then
    python3 - <<'END' || complain 'list --json: not as promised'
import json
known = json.load(open("list.json"))
names = {c["name"]: c for c in known["collectors"]}
assert names["cheney"]["traits"]["moves"] and not names["mark_sweep"]["traits"]["moves"]
assert names["mark_sweep"]["variants"]
classes = {c["name"] for c in known["classes"]}
assert "lost_object" in classes and all(b["class"] in classes for b in known["known_bad"])
assert {o["name"] for o in known["oracles"]} >= {"isomorphism", "progress"}
assert {t["name"] for t in known["targets"]} >= {"fuzz_mark_sweep", "fuzz_text"}
assert known["config"]["heap"]["min"] < known["config"]["heap"]["max"]
assert known["limits"]["slots"] == 32
END
else
    lack 'list --json as JSON: python3 is missing (scripts/install.sh)'
fi

# ---- run ----

check 0 '^infix.txt: ok;$' run infix.txt
check 0 '^infix.txt: ok, digest [0-9a-f]{16};$' run --digest infix.txt
cp out first
check 0 digest run --digest --in-process infix.txt
same first out 'one digest in a child and without'
check 0 '^infix.txt: ok;list.txt: ok;2 passed, 0 failed;$' run infix.txt list.txt
check 0 ok run --reference none list.txt
check 0 ok run --collector cheney --reference mark_sweep list.txt
# one state in a process: the model judges alone
check 0 ok run --collector boehm --reference boehm list.txt
# No room for what the initial heap hangs in: that is not "ok".
printf 'isoheap program 1\nconfig heap=16\nheap\n  b0 = block tag=0 size=15 []\nroots\n  r0 = b0\nscript\n  full\n' >full.txt
check 3 'full.txt: not run: boehm refuses a block of the initial heap' run --collector boehm full.txt
check 3 'list.txt: ok;.*1 passed, 0 failed, 1 not run' run --collector boehm list.txt full.txt
check 5 'nothing to reduce; it was not run: boehm refuses' reduce --collector boehm full.txt
check 0 '^boehm: not run: boehm refuses a block of the initial heap;' show --map --collector boehm full.txt
check 0 '' show --html --collector boehm -o full.html full.txt
grep -q '<h1>not run</h1>' full.html && grep -q 'meaning">boehm refuses' full.html || complain 'the page of a program that is not run'

check 1 '^infix.txt: violation lost_object \(subject\) at operation 0: full;' \
    run --collector bad_infix_root infix.txt
for part in 'meaning' 'guilty     subject \(bad_infix_root\)' 'oracle' 'operation  0: full' \
    'path       r0' 'expected' 'found' 'reference \(cheney\)' 'b0 = closure' 'replay' \
    'isoheap run --collector bad_infix_root --reference cheney'; do
    grep -Eq "$part" out || complain "the report lacks /$part/"
done
sed -n '/^isoheap program 1/,/^$/p' out >again.txt
check 1 '^again.txt: violation lost_object' run -q --collector bad_infix_root again.txt
check 1 '^infix.txt: violation lost_object [^;]*;$' run --quiet --collector bad_infix_root infix.txt
refuse "$(printf '\033')"
check 1 'violation [a-z_]+ \(reference\)' run -q --reference bad_infix_root infix.txt

check 0 '^infix.txt: violation lost_object [^;]*;$' \
    run --expect lost_object --collector bad_infix_root infix.txt
check 1 'expected edge_changed' run --expect edge_changed --collector bad_infix_root infix.txt
check 1 'list.txt: ok;  expected lost_object;' \
    run --expect lost_object --collector bad_infix_root infix.txt list.txt
check 0 ok run --expect none list.txt
check 1 'expected none' run --expect none --collector bad_infix_root infix.txt
check 2 'no violation class is called bogus' run --expect bogus list.txt

# A crash and a hang inside the collector are verdicts; one bad file costs no other.
check 1 '^stale.txt: violation sanitizer \(subject\) at operation 2: r1 = alloc.*empty: ok;1 passed, 1 failed' \
    run --collector bad_stale_next_fit stale.txt empty
for part in 'operation  2: r1 = alloc' 'detail     the collector ' 'heaps before the operation' \
    'subject \(bad_stale_next_fit\)' 'dead 3' '--collector bad_stale_next_fit --reference cheney'; do
    grep -Eq -e "$part" out || complain "the report of a crash lacks /$part/"
done
check 1 'violation sanitizer \(reference\)' run -q --reference bad_stale_next_fit stale.txt
check 1 '^rescan.txt: violation no_progress' run -q --collector bad_endless_rescan rescan.txt
check 1 '^rescan.txt: violation no_progress \(subject\) at operation 0: full;.*more than 1 seconds' \
    run --timeout 1 --oracles=-progress --collector bad_endless_rescan rescan.txt


# Recursion uses up a stack of the usual size, or of the one that is asked for.
cat >deep.txt <<'END'
isoheap program 1
config heap=8192
script
  r0 = list 1000 0
  r1 = list 1000 r0
  r0 = 0
  full
END
check 1 'violation sanitizer.*detail     the stack of 64 KiB is used up in collect;.*--collector bad_deep_mark --reference cheney crash.txt' \
    run --collector bad_deep_mark deep.txt
check 1 'the stack of 16 KiB is used up in collect;.*--reference cheney --stack=16 crash.txt' run --stack=16 --collector bad_deep_mark deep.txt
check 0 ok run --stack=0 --collector bad_deep_mark deep.txt
check 0 'sanitizer, subject \(bad_deep_mark\): [1-4] operations' reduce --runs=150 --collector bad_deep_mark -o shallow.txt deep.txt
check 0 ok run --stack=16 --collector mark_sweep deep.txt
check 2 'at least 16, or 0 for the ordinary stack' run --stack=15 deep.txt

check 2 'no oracle is called "bogus"' run --oracles bogus list.txt
check 2 'called "well_fromed"; did you mean well_formed\?' run --oracles well_fromed list.txt
check 2 'called lost_objekt; did you mean lost_object\?' run --expect lost_objekt list.txt
check 2 'called mark_swep; did you mean mark_sweep\?' run --collector mark_swep list.txt
check 2 'called bad_infix_rot; did you mean bad_infix_root\?' run --collector bad_infix_rot list.txt
check 2 'no oracle is left' run --oracles isomorphism,-isomorphism list.txt
check 0 ok run --oracles isomorphism,overlap,fields list.txt
check 0 'infix.txt: ok' run --oracles wear --collector bad_infix_root infix.txt
check 2 'no collector is called bogus; there are: mark_sweep' run --collector bogus list.txt
check 2 'no collector is called bogus' run --reference bogus list.txt
for seconds in 0 1x -3 '' 999999999999999999999; do
    check 2 'timeout takes a number from 1' run "--timeout=$seconds" list.txt
done

check 0 '^list.txt;   -  the initial heap;      r0 = b0, 3 blocks.*;   0  r1 = alloc tag=3.*r1 = n0.*;   2  full;.*;list.txt: ok;$' \
    run --trace list.txt
check 1 ';   0  full;      r0 = a pointer to no block.*;infix.txt: violation' \
    run --trace --quiet --collector bad_infix_root infix.txt
check 1 ';   2  r1 = alloc tag=0 \[2\];stale.txt: violation sanitizer' \
    run --trace --quiet --collector bad_stale_next_fit stale.txt

# Domains stop: who asks for it, who else stands and until when; whoever looks changes no schedule.
if "$isoheap" list | grep -qw ocaml5_domains; then
    printf '%s\n' 'isoheap program 1' 'config schedule=77' script '  r0 = alloc tag=0 [7]' '  mutator 1: minor' '  full' >stop.txt
    check 0 '   1                                    minor;.*;      stands [0-9]* to [0-9]*  *stops all [0-9]* to [0-9]*;.*;   2  full;.*;      stops all [0-9]* to [0-9]*  *stands [0-9]* to [0-9]*;' \
        run --trace --collector ocaml5_domains stop.txt
    "$isoheap" run --digest --collector ocaml5_domains stop.txt >unseen
    "$isoheap" run --digest --trace --collector ocaml5_domains stop.txt | tail -n 1 | cmp -s - unseen || complain 'a trace changes the schedule' unseen
fi

# The life of one block.
check 0 '^list.txt;b1 = string \[0x123456789abcdef\];   -  the initial heap;      program    pointed at by b0 field 0;      subject    in the initial heap: words 3 to 4' \
    run --trace=b1 list.txt
check 0 '^list.txt;n0, allocated by operation 0: r1 = alloc.*;   0  r1 = alloc.*subject    allocated: words' \
    run -tn0 list.txt
check 1 '   1  full;      subject    marked from r0;.*violation sanitizer' \
    run --quiet --trace=n0 --collector bad_stale_next_fit stale.txt
check 0 'n0 was never allocated' run --trace=n0 --collector mark_sweep --reference none never.txt
# Blocks of the operations that make many, or that a runtime has.
printf 'isoheap program 1\nscript\n  r0 = list 3 1\n  full\n' >built.txt
check 0 '^built.txt;n0, allocated by operation 0: r0 = list 3 1;   0  r0 = list 3 1;      program    pointed at by n0:2 field 1;      subject    allocated: words' \
    run --trace=n0 built.txt
printf 'isoheap program 1\nscript\n  r0 = tree 3 0\n  drop r0\n  full\n' >tree.txt
check 0 '^tree.txt;n0:2, allocated by operation 0: r0 = tree 3 0;   0  .*      program    pointed at by n0:3 field 1, n0:3 field 2;      subject    allocated: words .*;   2  full;      subject    swept.*gone from words' \
    run --trace=n0:2 tree.txt
for operation in 'ephemeron 2' 'resource 3' 'array 2 5' 'exhaust 3'; do
    printf 'isoheap program 1\nscript\n  r0 = %s\n  full\n' "$operation" >runtime.txt
    check 0 "^runtime.txt;n0, allocated by operation 0: r0 = $operation;   0  .*subject    allocated: words" \
        run --trace=n0 runtime.txt
done
check 2 'list.txt: no block b9; the program has 2, counted from b0' run --trace=b9 list.txt
check 2 'no block n2: operation 2 allocates nothing' run --trace=n2 list.txt
check 2 'no block n99: operation 99 does not exist' run --trace=n99 list.txt
for name in x b b1x n n1: n1:x b1:2 b12345678901234567890; do
    check 2 'takes the name of a block, b3 or n7' run "--trace=$name" list.txt
done

# ---- input ----

check 3 '^bad_section.txt:2:1: expected .*found' run bad_section.txt
check 3 '^bad_operation.txt:3:[0-9]+: ' show bad_operation.txt
check 3 '^bad_section.txt:2:1: ' convert bad_section.txt
check 3 'list.txt: ok;1 passed, 0 failed, 1 unreadable' run list.txt bad_section.txt
check 3 'violation' run -q --collector bad_infix_root infix.txt nowhere.txt
for subcommand in run show convert; do
    check 3 'nowhere.txt: No such file' "$subcommand" nowhere.txt
    check 3 'long: longer than any program' "$subcommand" long
done
check 0 '^empty: ok;/dev/null: ok;junk: ok;' run empty /dev/null junk
for file in empty /dev/null junk; do
    check 0 '^isoheap program 1' show "$file"
    check 0 'before the script' show --map "$file"
done
mkdir -p tree/b tree/.hidden none
cp list.txt tree/b/1.txt
cp list.txt tree/a.txt
cp bad_section.txt tree/.hidden/
ln -s ../tree tree/loop
mkfifo tree/pipe
check 0 '^tree/a.txt: ok;tree/b/1.txt: ok;2 passed, 0 failed;$' run tree
check 0 '^tree/a.txt: ok;' run tree/
check 3 'none: no file in this folder' run none
check 3 'tree: Is a directory' show tree
input=list.txt
check 0 '^-: ok;$' run -
check 0 '^isoheap program 1' show -
check 3 'standard input can be read once' run - -
input=/dev/null

# ---- convert ----

check 0 '' convert infix.txt
cp out infix.bin
check 0 '' convert infix.bin
same out infix.txt 'text, bytes, text'
check 0 '' convert --to=text infix.txt
same out infix.txt 'text stays text'
check 0 '' convert --to=bytes infix.bin
same out infix.bin 'bytes stay bytes'
check 0 '' convert --to=text -o junk.txt junk
check 0 '' convert --to=bytes -o junk.bin junk.txt
check 0 '' convert --to=text -o junk.again.txt junk.bin
same junk.txt junk.again.txt 'any bytes as text'
check 0 'digest' run --digest - <infix.txt
input=infix.bin
check 0 '^isoheap program 1' convert -
input=/dev/null
mkdir bytes text
check 0 '^$' convert --to bytes -d bytes infix.txt tree/b
check 0 '^$' convert -d text bytes
same text/infix.txt infix.txt 'a folder of bytes as text'
[ "$(echo bytes/* text/*)" = 'bytes/1 bytes/infix text/1.txt text/infix.txt' ] ||
    complain "convert -d wrote $(echo bytes/* text/*)"
check 2 '--to takes bytes or text, not html' convert --to html infix.txt
# Bytes of an older isoheap: byte 196 of record 251 was weakblit, and is an act of a finaliser now.
printf '\373\304\001\002\003\004\005\006' >older
check 0 '^isoheap program 1;script;  weakblit r2.3 -> r1.4, 5;$' convert --from=bytes-1 older
cp out older.txt
check 0 '^isoheap program 1;script;  weaken r1, 1 -> r2;$' convert older
check 0 '' convert --from=bytes-1 --to=bytes -o newer older
check 0 '' convert newer
same out older.txt 'carried over'
check 2 '--from takes bytes-1 to bytes-[0-9]+, not text' convert --from=text older
check 2 '--from=bytes-N takes a number from 1' convert --from=bytes-0 older
check 2 'several inputs need --directory' convert infix.txt list.txt
check 2 'tree: a folder needs --directory' convert tree
check 2 'nowhere: no such folder' convert -d nowhere infix.txt
check 2 'exclude each other' convert -d text -o x infix.txt
check 2 'b/1.txt: another input has become text/1 already' convert -d text tree/b/1.txt ./tree/b/1.txt
check 2 'cannot write nowhere/x: No such file' convert -o nowhere/x infix.txt
# An output is replaced as a whole and keeps its mode; links and devices stay what they are.
echo old >target
chmod 600 target
ln -s target link
check 0 '^$' convert -o link infix.txt
same target infix.bin 'output through a link'
[ -L link ] || complain 'an output has taken the place of a link'
[ "$(find target -perm 600)" ] || complain 'an output lost its mode'
check 0 '^$' convert -o /dev/null infix.txt
[ -c /dev/null ] || complain 'an output has taken the place of /dev/null'
if [ -c /dev/full ]; then
    "$isoheap" convert infix.txt >/dev/full 2>err
    [ $? -eq 2 ] || complain 'a full disk goes unnoticed'
    grep -q 'standard output' err || complain 'a full disk goes unnamed'
fi
[ -z "$(find . -name '*.??????' -newer infix.bin ! -name '*.again.txt')" ] ||
    complain "temporary files are left: $(find . -name '*.??????')"

# ---- show ----

check 0 '^isoheap program 1;.*# 2 blocks and 1 gaps in [0-9]+ of 256 heap words, 1 roots, 5 operations;' \
    show list.txt
cp out shown.txt
check 0 ok run shown.txt
check 0 'violation lost_object at r0;.*before operation 0: full;  subject \(bad_infix_root\);Aaaaaaa\..*  reference \(cheney\);.*  model.*after operation 0: full;  subject [^;]*;\.\.\.' \
    show --map --collector bad_infix_root infix.txt
check 0 'no violation;.*before the script;.*after the script;' show --map list.txt
check 0 'before operation 2: full;.*after operation 2: full;' show --map --at 2 list.txt
check 2 'the script has 5 operations' show --map --at 5 list.txt
printf 'isoheap schedule 1\n' >a.schedule
check 3 'a schedule of the on-the-fly model, and no program' export a.schedule
check 3 'a schedule of the on-the-fly model, and no program' convert a.schedule
check 2 '--at takes a number from 0' show --map --at x list.txt
check 2 'one FILE' show list.txt infix.txt
check 0 'violation sanitizer.*before operation 2.*subject.*after operation 2.*\(no state: the run ended in operation 2\)' \
    show --map --collector bad_stale_next_fit stale.txt
check 2 '--party reference without a reference' show --dot --party reference --reference none list.txt
check 2 '--party takes' show --dot --party bogus list.txt
check 0 '^digraph isoheap.*violation lost_object at r0.*cluster_after_.*r0 \(lost\).*cluster_before_.*before_b0:f3 \[color=red.*<b>b0</b> tag 247, size 6, white' \
    show --dot --collector bad_infix_root infix.txt
check 0 'cluster_after_.*the run ended in operation 2' show --dot --collector bad_stale_next_fit stale.txt
check 0 'subject after operation 0.*garbage</b> tag 0.*' show --dot --at 0 list.txt
grep -q 'style=dashed' out || complain 'what is unreachable is not dashed'
for party in subject reference model; do
    check 0 "^digraph.*$party before the script" show --dot --party "$party" list.txt
    cp out "$party.dot"
done
check 0 '^$' show --dot -o out.dot list.txt
same out.dot subject.dot 'show -o'
PATH=/nowhere "$isoheap" show --svg list.txt >out 2>err
[ $? -eq 2 ] || complain 'show --svg without Graphviz: not status 2'
grep -q 'apt-get install graphviz' err || complain 'show --svg without Graphviz names no remedy'
if command -v dot >/dev/null; then
    check 0 '<svg.*violation lost_object.*</svg>' show --svg --collector bad_infix_root infix.txt
    for party in subject reference model; do
        dot -Tsvg -o /dev/null "$party.dot" 2>err || complain "Graphviz refuses the $party"
        [ ! -s err ] || complain "Graphviz: $(cat err)"
    done
else
    lack 'pictures: dot is missing (scripts/install.sh)'
fi

# A page; html_test.sh looks at it in a browser.
PATH=/nowhere "$isoheap" show --html list.txt >out 2>err
[ $? -eq 2 ] || complain 'show --html without Graphviz: not status 2'
grep -q 'apt-get install graphviz' err || complain 'show --html without Graphviz names no remedy'
if command -v dot >/dev/null; then
    check 0 '^<!doctype html>.*<h1>lost_object</h1>.*</html>;$' show --html --collector bad_infix_root infix.txt
    check 0 '<h1>no violation</h1>' show --html junk
    check 0 '<h1>sanitizer</h1>' show --html --collector bad_stale_next_fit stale.txt
    check 0 '^$' show --html -o page.html list.txt
    check 0 '' show --html list.txt
    same out page.html 'show --html twice'
else
    lack 'pictures: dot is missing (scripts/install.sh)'
fi

# ---- the project's own files ----

if [ -n "${SOURCE_DIR:-}" ]; then
    seeds=$SOURCE_DIR/seeds/mark_sweep
    check 0 '^[^;]*: ok;.*;[0-9]+ passed, 0 failed;$' run --quiet "$seeds"
    mkdir seeds
    check 0 '^$' convert --to=bytes -d seeds "$seeds"
    [ "$(find seeds -type f | wc -l)" -eq "$(find "$seeds" -name '*.txt' | wc -l)" ] ||
        complain 'convert -d lost a seed'
    check 0 '' run --quiet --digest "$seeds"
    sed 's/.*: ok, digest //' out >text.digests
    check 0 '' run --quiet --digest seeds
    sed 's/.*: ok, digest //' out | sort >bytes.digests
    sort -o text.digests text.digests
    same text.digests bytes.digests 'seeds as text and as bytes run alike'
fi
# Tables sized for the largest campaign have no place in the file: builds link the command often.
[ "$(wc -c <"$isoheap")" -lt 67108864 ] || complain "the command has $(wc -c <"$isoheap") bytes"
finish
