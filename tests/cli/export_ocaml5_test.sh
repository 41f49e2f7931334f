#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap export --ocaml for the OCaml 5 runtime: with a domain for each mutator, and with one.  What is
# written runs to its end and comes to the model's result with the OCaml of this machine, whose domains are
# then threads that take turns (tests/cli/export_ocaml5/); that shows the turns and the result, not the
# collector.  With a compiler of OCaml 5 (OCAMLOPT5) it runs on the domains themselves.
set -u
# shellcheck source=tests/support/support.bash
. "$SOURCE_DIR/tests/support/support.bash"
need ocamlopt
if ! "$ISOHEAP" list | grep -q '^ *ocaml5_domains '; then
    echo "skipped: this build has no OCaml 5 runtime with domains"
    exit 77
fi

# written NAME COLLECTOR: NAME.txt as NAME.ml, whatever its verdict is.
written() {
    "$ISOHEAP" export --ocaml --class lost_object --collector "$2" -o "$1.ml" "$1.txt" 2>err ||
        complain "$1 is not exported" err
}

# compiled NAME: NAME.ml as NAME, with real domains or with threads in their place.
compiled() {
    if [ -n "${OCAMLOPT5:-}" ]; then
        "$OCAMLOPT5" -w -3 -o "$1" "$1.ml" 2>err || complain "$1 does not compile" err
    else
        cp "$SOURCE_DIR"/tests/cli/export_ocaml5/{domain.ml,forcing.c} .
        ocamlopt -w -3 -I +threads -o "$1" unix.cmxa threads.cmxa domain.ml forcing.c "$1.ml" 2>err ||
            complain "$1 does not compile" err
    fi
}

# plays NAME COLLECTOR STATUS PATTERN: three rounds.
plays() {
    written "$1" "$2"
    compiled "$1"
    check "$3" "$4" timeout 100 "./$1" 3
}

# Four domains: blocks that several have from the beginning, one handed over, one domain that ends, operations
# of one that is away, and one that comes again.
cat >many.txt <<'P'
isoheap program 1
heap
  b0 = block tag=0 [7, 8]
  b1 = block tag=3 [b0]
roots
  r0 = b0
  mutator 1: r2 = b0
  mutator 3: r1 = b1
script
  r1 = alloc tag=244 [r0, 5]
  r0.0 := r1
  mutator 1: r3 = r2.0
  mutator 2: r0 = list 2 9
  mutator 3: full
  mutator 1: r2.1 := 11
  mutator 1: detach
  mutator 1: r0 = alloc tag=0 [1]
  mutator 1: detach
  mutator 3: attach
  minor
  mutator 1: attach
  mutator 1: r4 = alloc tag=1 [2]
  mutator 0: detach
  compact
P
plays many ocaml5_domains 0 '^passed$'
grep -q 'start 1 life_1_12' many.ml || complain 'mutator 1 does not come again'
[ "$(grep -c '^let life_' many.ml)" -eq 5 ] || complain 'another number of lives than five'
grep -q 'block 244' many.ml && complain 'a tag of the runtime'

# It can fail: one word of what is expected is changed.
sed 's/mutator 2: r0 = 0(9 /mutator 2: r0 = 0(8 /' many.ml >other.ml
cmp -s many.ml other.ml && complain 'nothing changed'
compiled other
check 1 '^wrong result in round 1$' timeout 100 ./other 3

# One domain: what OCaml 5 does otherwise, a resource, and ephemerons, whose differences are told and
# are no wrong result.
cat >one.txt <<'P'
isoheap program 1
heap
  b0 = block tag=246 [0]
roots
  r0 = b0
script
  r1 = alloc tag=0 [1, 2, 3]
  truncate r1, 1
  forward r0 := r1
  r2 = resource 5
  r3 = ephemeron 1
  weak r3.1 := r2
  weak r3.0 := r1
  r4 = weakcopy r3.1
  full
P
plays one ocaml5 0 '^passed$'
grep -q 'Obj.truncate\|Obj.set_tag\|allocation_policy\|Domain' one.ml && complain 'OCaml 5 has no such thing, or one domain needs none'
sed 's/^  ephemeron 2 = #0 /  ephemeron 2 = 12 /' one.ml >other.ml
cmp -s one.ml other.ml && complain 'nothing changed'
compiled other
check 0 '^ephemerons held something else in 3 rounds$' timeout 100 ./other 3
sed 's/^ (\[ true; \]/ ([ false; ]/' one.ml >other.ml
cmp -s one.ml other.ml && complain 'nothing changed'
compiled other
check 0 '^nothing was judged$' timeout 100 ./other 3

# What is refused, and why.
refused() {
    printf 'isoheap program 1\nscript\n%b' "$2" >refused.txt
    check 5 "$3" "$ISOHEAP" export --ocaml --class lost_object --collector "$1" refused.txt
}
refused ocaml5_domains '  starve 1\n' 'is no OCaml program: starve'
refused ocaml5 '  mutator 1: detach\n' 'is no OCaml program: detach'
refused ocaml5 '  r0 = resource 1\n  r1 = dup r0\n' 'a resource beside'
finish
