#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isoheap as others have it: installed into a folder of its own, with a collector in another one.
# shellcheck disable=SC2015 # conditions
set -u
build=${BUILD_DIR:?set BUILD_DIR to the build}
source=${SOURCE_DIR:?set SOURCE_DIR to the top of the tree}
export CC=${TEST_CC:?set TEST_CC to the C compiler}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
unset ISOHEAP_PLUGIN
need gcc clang pkg-config
has_libfuzzer=
"$CC" --version | grep -q clang && has_libfuzzer=yes

# builds FOLDER: with the installed package alone; complains with the end of the log.
builds() {
    (cd "$1" && cmake -B build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_COMPILER="$CC" &&
        cmake --build build -j 2 && ctest --test-dir build --output-on-failure --no-tests=error) >log 2>&1 ||
        { complain "$1 does not build or does not pass: $(tail -n 20 log)"; return 1; }
    local name=${1##*/} file
    for file in "fuzz_${name}_standalone" "$name.so" ${has_libfuzzer:+"fuzz_$name" "fuzz_${name}_seed_corpus.zip" \
        "fuzz_$name.dict" "fuzz_$name.options"}; do
        [ -s "$1/build/bin/$file" ] || complain "$1 has no build/bin/$file"
    done
    for file in "replay_$name" "conformance_$name"; do
        grep -q "$file .*Passed" log || complain "$1 has no test $file that passes"
    done
}

# What is older than its sources is built anew: the library of before is not what is installed.
library=$(find "$build" -maxdepth 1 -name libisoheap.a)
[ -z "$library" ] || { printf '!<arch>\n' >"$library" && touch -d '2000-01-01' "$library"; }
rm -f "$build/.install"
cmake --install "$build" --prefix "$folder/prefix" >log 2>&1 || { cat log; exit 1; }
isoheap=$folder/prefix/bin/isoheap

# One who may not write the build gets what is there, if all of it is.
ln -s nowhere/file "$build/.install"
cmake --install "$build" --prefix "$folder/again" >log 2>&1 && grep -q 'cannot be written: what is there is installed' log &&
    cmp "$isoheap" again/bin/isoheap || complain 'what is there is not installed' log
mv "$build/isoheap.1" "$build/isoheap.1.away"
! cmake --install "$build" --prefix "$folder/again" >log 2>&1 && grep -q 'isoheap.1 is not built' log ||
    complain 'something is installed without what is missing' log
mv "$build/isoheap.1.away" "$build/isoheap.1"
rm -rf "$build/.install" again

# ---- what is installed: headers that compile alone, names that are taken ----

headers=$folder/prefix/include/isoheap
[ "$(find "$headers" -name '*.h' | wc -l)" -ge 18 ] || complain 'few headers are installed'
for compiler in gcc clang; do
    while read -r header; do
        printf '#include "%s"\n#include "%s"\ntypedef int nothing;\n' "$header" "$header" >alone.c
        $compiler -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$headers" alone.c >log 2>&1 ||
            complain "$header does not compile alone with $compiler" log
    done < <(cd "$headers" && find . -name '*.h' | cut -c 3-)
done
# The page's list of names: patterns of the shell.
mapfile -t taken < <(sed -n '/^## Names that are taken/,/^## /p' "$source/docs/plug-in.md" |
    sed -n '/^`/,/^$/p' | grep -o '`[a-z_*]*`' | tr -d '`')
[ "${#taken[@]}" -ge 20 ] || complain 'the page has no list of names'
[ "$(printf '%s\n' "${taken[@]}")" = "$(grep -v '^#\|^__' "$source/cmake/exported-names.txt")" ] ||
    complain 'docs/plug-in.md has other names than cmake/exported-names.txt'
while read -r name; do
    for pattern in "${taken[@]}" '__*'; do
        # shellcheck disable=SC2053 # it is a pattern
        [[ $name == $pattern ]] && continue 2
    done
    complain "the library has the name $name, which is its user's"
done < <(nm -g --defined-only "$folder"/prefix/lib/libisoheap{,_threads}.a | sed -n 's/.* [A-Za-z] //p')

# ---- the tutorial ----

# Pebble with functions that are not static and have the simplest of names.
cp -r "$source/examples/pebble" pebble
cat >>pebble/pebble.c <<'C'

int allocate(void), fail(void), collect(void), walk(void), make(void), ask(void), remark(void), load(void);
int allocate(void) { return 1; }
int fail(void) { return allocate(); }
int collect(void) { return fail(); }
int walk(void) { return collect(); }
int make(void) { return walk(); }
int ask(void) { return make(); }
int remark(void) { return ask(); }
int load(void) { return remark(); }
C
[ "$(grep -cv '^ *\(#\|$\)' pebble/CMakeLists.txt)" -le 5 ] || complain 'the example has more than five lines of CMake'
builds pebble
if [ -n "$has_libfuzzer" ]; then
    pebble/build/bin/fuzz_pebble -runs=2000 -seed=1 -dict=pebble/build/bin/fuzz_pebble.dict \
        pebble/build/seeds/fuzz_pebble >log 2>&1 || complain "fuzz_pebble: $(tail -n 20 log)"
    # counters of the collector, and structured mutation
    grep -q 'INFO: Loaded 1 modules *([1-9]' log || complain 'fuzz_pebble has no counters'
    nm pebble/build/bin/fuzz_pebble | grep -q 'T LLVMFuzzerCustomMutator' || complain 'no structured mutation'
fi
# bad_small_table.txt is a list on which pebble, which marks in quadratic time, takes minutes
find "$source/crashes" -name "*.txt" ! -name bad_small_table.txt -exec "$isoheap" run --quiet --plugin pebble/build/bin/pebble.so {} + >log 2>&1 || complain "$(cat log)"
"$isoheap" list --plugin pebble/build/bin/pebble.so | grep -q '^  pebble ' || complain 'list lacks pebble'

# ---- an example with threads, which are deterministic; one that waits for ever is said to ----

cp -r "$source/examples/tandem" tandem
builds tandem
cp -r tandem stuck && rm -rf stuck/build
(cd stuck && cmake -B build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS=-DTANDEM_DEFECT=3 -DISOHEAP_FUZZER=OFF &&
    cmake --build build -j 2) >log 2>&1 || complain "tandem: $(tail -n 20 log)"
for _ in 1 2; do
    "$isoheap" run --plugin stuck/build/bin/tandem.so stuck/seeds/tandem/beside.txt >log 2>&1
    grep -q 'violation deadlock' log && grep -q 'no thread can go on: thread' log || complain "no deadlock: $(cat log)"
done

# ---- which lines of it are executed; a check of UndefinedBehaviorSanitizer that is left out ----

if [ -n "$has_libfuzzer" ] && command -v llvm-cov >/dev/null; then
    cp -r pebble covered && rm -rf covered/build
    printf '\nint never(int);\nint never(int i) {\n    return i;\n}\n' >>covered/pebble.c
    (cd covered && cmake -B build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_COMPILER="$CC" -DISOHEAP_COVERAGE=ON \
        -DISOHEAP_FUZZER=OFF && cmake --build build -j 2 --target coverage_pebble) >log 2>&1 || complain "coverage: $(tail -n 20 log)"
    grep -Eq 'pebble\.c .* 9[0-9]\.[0-9]+%' log || complain "coverage has no line of pebble.c: $(tail -n 20 log)"
    grep -rq 'never' covered/build/coverage/pebble/coverage || complain 'the page has not the lines of pebble.c'
    cp -r pebble shifts && rm -rf shifts/build
    sed -i 's/^\(static void pebble_reset(.*{\)$/\1\n    volatile int old = -1;\n    old <<= 1;/' shifts/pebble.c
    grep -q 'old <<= 1' shifts/pebble.c || complain 'pebble has no such place'
    for left_out in '' shift; do
        (cd shifts && cmake -B build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_COMPILER="$CC" -DISOHEAP_FUZZER=OFF \
            -DISOHEAP_NO_SANITIZE="$left_out" && cmake --build build -j 2 --target fuzz_pebble_standalone) >log 2>&1 ||
            complain "shifts: $(tail -n 20 log)"
        shifts/build/bin/fuzz_pebble_standalone shifts/seeds/pebble >log 2>&1
        status=$?
        [ -z "$left_out" ] || [ $status = 0 ] || complain "the check is not left out: $(tail -n 20 log)"
        [ -n "$left_out" ] || grep -q 'left shift of negative value' log || complain "the check is not there: $(tail -n 20 log)"
    done
fi

# ---- a defect in it is found by all that was built ----

mkdir broken
cp -r pebble/pebble.c pebble/CMakeLists.txt pebble/seeds broken/
sed -i 's/v = infix_parent(v);.*/return false;/' broken/pebble.c
(cd broken && cmake -B build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_COMPILER="$CC" && cmake --build build -j 2) \
    >log 2>&1 || complain "$(tail -n 20 log)"
ctest --test-dir broken/build >log 2>&1 && complain 'the tests pass in spite of a defect'
grep -q 'replay_pebble .*Failed' log || complain 'the replay test does not see the defect'
grep -q 'conformance_pebble .*Failed' log || complain 'the conformance test does not see the defect'
plugin=broken/build/bin/pebble.so
"$isoheap" conformance --plugin "$plugin" | grep -q '^  BROKEN   infix ' || complain 'the kit does not say infix'
"$isoheap" reduce --plugin "$plugin" -o small.txt broken/seeds/pebble/closure.txt 2>log || complain "$(cat log)"
grep -q '^# violation lost_object' small.txt || complain "reduced: $(cat small.txt)"
if [ -n "$has_libfuzzer" ]; then
    # the target is the one beside the plug-in; it ends when what it has found is filed
    "$isoheap" fuzz --plugin "$plugin" --time 60 --runs 5000 --reduce-time 5 --jobs 1 --corpus corpus \
        --crashes findings >log 2>&1
    [ $? = 1 ] || complain "the campaign finds nothing: $(tail -n 20 log)"
    [ -n "$(ls findings/lost_object/pebble-*.txt 2>/dev/null)" ] || complain "nothing is filed: $(tail -n 20 log)"
fi

# ---- isoheap init ----

"$isoheap" init mine --name my_own >log 2>&1 || complain "init: $(cat log)"
mv mine my_own
builds my_own
"$isoheap" conformance --plugin my_own/build/bin/my_own.so >log 2>&1 || complain "$(cat log)"
grep -q 'not filled in yet' log || complain 'the skeleton does not say that it is one'
# A copy loop that runs away behind the arena is a verdict on it, however far it goes.
cp -r my_own wild && rm -rf wild/build
cat >runaway <<'C'
    const char *wild = getenv("WILD");
    volatile word *p = g->arena.base + CAPACITY;
    for (size_t i = 0, far = wild ? strtoul(wild, 0, 0) : 0; i < far; i++)
        p[i] = 0x9f9f9f9f9f9f9f9f;
C
sed -i -e '/nothing is freed yet/r runaway' -e 's/^#include <stdlib.h>$//' -e '0,/^#include/s//#include <stdlib.h>\n#include/' wild/my_own.c
grep -q 'getenv("WILD")' wild/my_own.c || complain 'the skeleton has no such place'
(cd wild && cmake -B build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_COMPILER="$CC" &&
    cmake --build build -j 2 --target my_own_plugin) \
    >log 2>&1 || complain "$(tail -n 20 log)"
printf 'isoheap program 1\nheap\n  b0 = block tag=0 [1]\nroots\n  r0 = b0\nscript\n  full\n' >full.txt
for words in 100 100000 200000 10000000; do
    WILD=$words check 1 'violation sanitizer \(subject\) at operation 0: full' \
        "$isoheap" run --plugin wild/build/bin/my_own.so full.txt
done
"$isoheap" init my_own 2>log && complain 'init writes over files'
grep -q 'exists; nothing is overwritten' log || complain "$(cat log)"
for name in cheney Foo 1a 'a b' ../x int ''; do
    "$isoheap" init new --name "$name" 2>/dev/null
    [ $? = 2 ] || complain "init takes the name '$name'"
done
[ ! -e new ] || complain 'init left something behind'

# ---- without CMake: the commands of docs/plug-in.md ----

"$isoheap" init my_gc >log 2>&1 || complain "init: $(cat log)"
# the compiler and the place of this test; without libFuzzer not the command that needs it
# shellcheck disable=SC2016 # those are the marks of a block
sed -n '/^## Without CMake/,/^## /p' "$source/docs/plug-in.md" | sed -n '/^```$/,/^```$/{/^```$/!p}' |
    sed "s#~/isoheap#$folder/prefix#g; s#^\(cc\|clang\) #$CC #; s#^isoheap #$isoheap #" >commands
for file in standalone.c libfuzzer_mutator.c; do
    grep -q "$file" commands || complain "the page has no command with $file"
done
# the library of this build may be sanitized: the command that loads the plug-in has what is undefined in it then
! nm "$folder/prefix/lib/libisoheap.a" 2>/dev/null | grep -q ' U __asan_init' || sed -i 's/ -Wl,-z,defs//' commands
[ -n "$has_libfuzzer" ] || sed -i '/-fsanitize=fuzzer/,/[^\]$/d' commands
# shellcheck source=/dev/null
(cd my_gc && . ../commands) >log 2>&1 || complain "the commands without CMake: $(tail -n 20 log)"
grep -q '^[1-9][0-9]* promises kept, 0 broken' log || complain "no conformance: $(tail -n 20 log)"
grep -Eq '^[1-9][0-9]* passed, 0 failed(, [0-9]+ not run)?$' log || complain "no replay: $(tail -n 20 log)"
[ -z "$has_libfuzzer" ] || my_gc/fuzz_my_gc -runs=500 >log 2>&1 || complain "the program with libFuzzer: $(tail -n 20 log)"
exit $wrong
