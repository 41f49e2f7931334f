#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A plug-in that is compiled by hand: symbols that it lacks have names and a remedy, the name of another collector
# is refused, `explore` takes it, and the replay line of a report can be copied, whatever its folder is called.
source=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
# shellcheck source=tests/support/support.bash
. "$source/tests/support/support.bash"
unset ISOHEAP_PLUGIN
need cc

printf '#include "collectors/plugin.h"\nextern const struct collector pebble;\nISOHEAP_PLUGIN(pebble)\n' >plugin.c
# shared OUTPUT SOURCE...
shared() {
    cc -g -shared -fPIC -I "$source" -I "${BUILD_DIR:?set BUILD_DIR to the build}/generated" -o "$@" plugin.c
}
pebble=$source/examples/pebble/pebble.c arena=$source/collectors/arena.c

# ---- symbols that nobody defines ----

shared lacking.so "$pebble" 2>err || complain 'it does not compile' err
check 2 'lacking\.so: 3 symbols are defined nowhere: arena_[a-z]+, arena_[a-z]+, arena_[a-z]+$' "$isoheap" list --plugin lacking.so
check 2 'link it with what defines them: .*pkg-config --libs isoheap.*-Wl,-z,defs' "$isoheap" list --plugin lacking.so
shared lacking.so "$pebble" -Wl,-z,defs 2>err && complain 'the linker is content'
grep -q 'arena_open' err || complain 'the linker does not say what is missing' err
# What a library defines, or nobody needs, is not missing.
printf '#include <math.h>\nextern double lgamma(double);\n__attribute__((weak)) void nobody(void);\nvoid far_away(void);\ndouble of(double x);\ndouble of(double x) { if (nobody) nobody(); far_away(); return lgamma(x); }\n' >more.c
shared more.so "$pebble" "$arena" more.c -lm 2>err || complain 'it does not compile' err
check 2 'more\.so: 1 symbol is defined nowhere: far_away$' "$isoheap" list --plugin more.so
# What cannot be read is what dlopen says.
head -c 5000 lacking.so >cut.so 2>/dev/null || true
check 2 'cut\.so: ' "$isoheap" list --plugin cut.so
check 2 'plugin\.c: .*invalid ELF header' "$isoheap" list --plugin plugin.c

# ---- a name means one collector ----

for name in mark_sweep bad_infix_root; do
    sed "s/\"pebble\"/\"$name\"/" "$pebble" >named.c
    shared "$name.so" named.c "$arena" 2>err || complain 'it does not compile' err
    check 2 "$name\.so: isoheap has a collector of that name itself" "$isoheap" list --plugin $name.so
    check 2 'isoheap has a collector of that name itself' "$isoheap" fuzz --time=1 --plugin $name.so
done

# ---- explore ----

mkdir "a b"
shared "a b/pebble.so" "$pebble" "$arena" 2>err || complain 'it does not compile' err
scope=(-q -j1 -b1 -s1 -n1 -g0 --menu=full)
check 0 '^pebble: complete, no violation' "$isoheap" explore "${scope[@]}" --plugin "a b/pebble.so"
check 0 '^cheney: complete, no violation' "$isoheap" explore "${scope[@]}" --plugin "a b/pebble.so" pebble cheney
grep -q '^pebble: complete, no violation' out || complain 'pebble has not been explored' out
check 2 'no collector is called pebbel' "$isoheap" explore "${scope[@]}" --plugin "a b/pebble.so" pebble pebbel
grep -q complete out && complain 'something has been explored' out
check 2 'no COLLECTOR' "$isoheap" explore "${scope[@]}"
check 2 'onthefly is a model.* takes no --plugin' "$isoheap" explore onthefly --plugin "a b/pebble.so"

# ---- the replay line ----

sed 's/v = infix_parent(v);.*/return false;/' "$pebble" >bad.c
shared "a b/it's bad.so" bad.c "$arena" 2>err || complain 'it does not compile' err
"$isoheap" convert --to=text -o crash.txt "$source/crashes/lost_object/bad_infix_root.txt" || complain 'no program'
check 1 'violation lost_object' "$isoheap" run --plugin "a b/it's bad.so" crash.txt
line=$(sed -n '/^replay /{n;p;}' out)
[[ $line == *--plugin* ]] || complain 'the replay line has no plug-in' out
mkdir elsewhere && cp crash.txt elsewhere && ln -s "$isoheap" elsewhere/isoheap
check 1 'violation lost_object \(subject\)' bash -c "cd elsewhere && PATH=\$PWD:\$PATH && $line"
exit $wrong
