#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every question of scripts/oss_fuzz_judge.bash: a toy target for which the answer is yes, and one
# for each way in which it is no.
set -u
source=${SOURCE_DIR:?set SOURCE_DIR to the top of the tree}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
: "${TEST_CC:?set TEST_CC to clang, which has libFuzzer}"
top=$folder work=$folder/work
mkdir -p work program collectors harness seeds
# shellcheck source=scripts/oss_fuzz_judge.bash
. "$source/scripts/oss_fuzz_judge.bash"

# ---- toys ----

cat >program/part.c <<'C'
int part(const unsigned char *data, unsigned long size);
int part(const unsigned char *data, unsigned long size) { return size > 1 && data[0] == 'a' && data[1] == 'b'; }
C
sed 's/part/collect/g' program/part.c >collectors/collect.c
sed 's/part/compare/g' program/part.c >harness/compare.c
# so many edges as it is told, of 27
cat >>collectors/collect.c <<'C'
void go_far(int steps);
static volatile int gone;
#define STEP(n) static void step##n(void) { gone++; }
STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13)
STEP(14) STEP(15) STEP(16) STEP(17) STEP(18) STEP(19) STEP(20) STEP(21) STEP(22) STEP(23) STEP(24) STEP(25) STEP(26)
void go_far(int steps) {
    static void (*const step[])(void) = {step0, step1, step2, step3, step4, step5, step6, step7, step8, step9, step10,
        step11, step12, step13, step14, step15, step16, step17, step18, step19, step20, step21, step22, step23, step24,
        step25, step26};
    for (int n = 0; n < steps; n++)
        step[n]();
}
C
cat >toy.c <<'C'
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
int part(const unsigned char *, unsigned long), collect(const unsigned char *, unsigned long), compare(const unsigned char *, unsigned long);
void go_far(int);
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) {
    static unsigned runs;
    runs++;
    (void)runs;
#ifdef BLIND
    return 0;
#endif
#ifdef CRASHES
    if (size > 1 && data[0] == 'a')
        abort();
#endif
#ifdef CRASHES_AT_ONCE
    abort();
#endif
#ifdef TIRES
    if (runs == 50)
        abort();
#endif
#ifdef WAVERS
    static unsigned char steps;
    if (runs == 1 && getentropy(&steps, 1) != 0)
        abort();
    go_far(steps % 28);
#endif
#ifdef WRITES
    FILE *file = fopen("left-behind", "w");
    if (!file)
        abort();
    fclose(file);
#endif
#ifdef TIDIES
    int file = open("gone", O_CREAT | O_WRONLY, 0600);
    if (file < 0 || unlink("gone") != 0)
        abort();
#endif
#ifdef CALLS
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(0x7f000001)};
    int line = socket(AF_INET, SOCK_DGRAM, 0);
    if (connect(line, (struct sockaddr *)&there, sizeof there) != 0)
        abort();
    close(line);
#endif
#ifdef ASKS
    if (!getenv("HOME"))
        abort();
#endif
    return (part(data, size) + collect(data, size) + compare(data, size)) * 0;
}
C
cat >arithmetic.c <<'C'
int arithmetic(int *a);
int arithmetic(int *a) {
#define AGAIN a[0] += a[1]; a[1] += a[2]; a[2] -= a[0];
    AGAIN AGAIN AGAIN AGAIN AGAIN AGAIN AGAIN AGAIN AGAIN AGAIN
    return a[2];
}
C

# parts_of_toy: the objects that toys have in common, in `objects`; each is compiled once for each way.
parts_of_toy() {
    local part flags object
    objects=()
    for part in program/part.c collectors/collect.c harness/compare.c arithmetic.c; do
        flags="-g -O1 -fsanitize=${SANITIZER:-address}"
        [[ " ${INSTRUMENTED:-program collectors} " != *" ${part%/*} "* ]] || flags+=' -fsanitize-coverage=inline-8bit-counters,pc-table'
        object="${flags//[^a-z0-9]/}-${part//\//-}.o"
        # shellcheck disable=SC2086 # words
        [ -e "$object" ] || "$TEST_CC" $flags -c "$folder/$part" -o "$object" || complain "$part is not compiled"
        objects+=("$object")
    done
}

# toy NAME [FLAG...]: a target; SANITIZER and INSTRUMENTED say how.
toy() {
    local name=$1 objects
    shift
    parts_of_toy
    # an object of its own: linking with libFuzzer's flag would compile it with counters
    "$TEST_CC" -g -O1 -fsanitize="${SANITIZER:-address}" "${@/#-[Ll]*/-w}" -c toy.c -o "$name-toy.o" ||
        complain "$name is not compiled"
    "$TEST_CC" -fsanitize="${SANITIZER:-address}",fuzzer "$name-toy.o" "${objects[@]}" "$@" -o "$name" ||
        complain "$name is not linked"
    printf '[libfuzzer]\nmax_len = 64\n' >"$name.options"
    printf '# words\n"ab"\n' >"$name.dict"
    cp seeds.zip "${name}_seed_corpus.zip"
}
printf ab >seeds/first
printf c >seeds/second
python3 -c 'import shutil; shutil.make_archive("seeds", "zip", "seeds")'

yes() {
    ("$@") >said 2>&1 </dev/null || complain "no: $*" said
}
no() {
    ("$@") >said 2>&1 </dev/null && complain "yes: $*" said
}

# ---- names and companions ----

toy good
yes has_companions "$folder/good"
# without WHAT: a change of one companion, which is then put back
without() {
    rm -rf changed
    mkdir changed
    cp good good.dict good.options good_seed_corpus.zip changed/
    (cd changed && eval "$1")
    no has_companions "$folder/changed/${2:-good}"
}
without 'rm good_seed_corpus.zip'
without 'rm good.options'
without 'rm good.dict'
without 'echo "[engine]" >good.options'
without 'echo word >>good.dict'
without 'python3 -c "import zipfile; zipfile.ZipFile(\"good_seed_corpus.zip\", \"w\")"'
# shellcheck disable=SC2016 # there, not here
without 'for file in good*; do mv $file x.$file; done' x.good

# ---- what is in it ----

yes is_static "$folder/good"
"$TEST_CC" -shared -fPIC -o libown.so program/part.c
toy dynamic -L. -Wl,--no-as-needed,-rpath,"$folder" -lown
no is_static "$folder/dynamic"
yes has_sanitizer "$folder/good" address
no has_sanitizer "$folder/good" undefined
no has_sanitizer "$folder/good" memory
SANITIZER=address,undefined toy both
no has_sanitizer "$folder/both" address
export LEAST_FUNCTIONS=1 # toys are small
yes is_instrumented "$folder/good" seeds
LEAST_FUNCTIONS=5 no is_instrumented "$folder/good" seeds
INSTRUMENTED=program toy not_collectors
no is_instrumented "$folder/not_collectors" seeds
INSTRUMENTED='program collectors harness' toy all_of_it
no is_instrumented "$folder/all_of_it" seeds

# ---- what it does ----

unpack "$folder/good" unpacked
[ "$(cat unpacked/first)" = ab ] || complain 'the seeds are not unpacked'
for question in "runs_on_seeds $folder/good seeds" "runs_four_times $folder/good" "is_deterministic $folder/good seeds" \
    "repeats $folder/good seeds" "alone runs_a_while $folder/good"; do
    # shellcheck disable=SC2086 # words
    yes $question
done
# bad QUESTION TOY FLAG [SEEDS]: four inputs do not show it, the question does.
bad() {
    toy "$2" "$3"
    yes runs_four_times "$folder/$2"
    # shellcheck disable=SC2086 # words
    no $1 "$folder/$2" ${4:-}
}
toy crashes_at_once -DCRASHES_AT_ONCE
no runs_four_times "$folder/crashes_at_once"
bad runs_on_seeds crashes -DCRASHES seeds
bad is_deterministic wavers -DWAVERS seeds
bad repeats tires -DTIRES seeds
bad 'alone runs_a_while' writes -DWRITES
bad 'alone runs_a_while' asks -DASKS
if unshare -rnm true 2>/dev/null; then # else only what is left behind shows
    bad 'alone runs_a_while' tidies -DTIDIES
    bad 'alone runs_a_while' calls -DCALLS
    (
        # shellcheck disable=SC2317 # alone calls it: a kernel that refuses
        unshare() { return 1; }
        no alone runs_a_while "$folder/writes"
        yes alone runs_a_while "$folder/good" # whatever another one has left behind
        exit $wrong
    ) || wrong=1
else
    lack 'a target that tidies up behind itself, and one that calls the network: no user namespaces here (unshare -rnm)'
fi

# ---- coverage and AFL++ ----

no writes_profile "$folder/good" seeds
"$TEST_CC" -O1 -fprofile-instr-generate -fcoverage-mapping -fsanitize=fuzzer toy.c program/part.c collectors/collect.c \
    harness/compare.c -o profiled || complain 'no target with a profile'
yes writes_profile "$folder/profiled" seeds

driver=/usr/lib/afl/libAFLDriver.a
if command -v afl-clang-fast >/dev/null && [ -e "$driver" ]; then
    export AFL_SECONDS=3 AFL_QUIET=1
    # afl NAME FLAG...
    afl() {
        afl-clang-fast -O1 -fsanitize=address "${@:2}" toy.c program/part.c collectors/collect.c harness/compare.c \
            "$driver" -o "$1" || complain "$1 is not built"
    }
    mkdir other && printf zz >other/seed
    afl afl_good
    yes finds_paths "$folder/afl_good" other
    yes runs_files "$folder/afl_good" seeds
    yes repeats_file "$folder/afl_good" seeds
    yes alone runs_files "$folder/afl_good" "$folder/seeds"
    afl afl_blind -DBLIND
    no finds_paths "$folder/afl_blind" other
    afl afl_crashes -DCRASHES
    no runs_files "$folder/afl_crashes" seeds
    afl afl_tires -DTIRES
    no repeats_file "$folder/afl_tires" seeds
    afl afl_asks -DASKS
    no alone runs_files "$folder/afl_asks" "$folder/seeds"
else
    lack 'the questions for AFL++: afl-clang-fast is missing (scripts/install.sh)'
fi

# ---- and the count ----

passed=0 failed=0
check 'right' true
check 'wrong' false 2>said
[ "$passed $failed" = '1 1' ] || complain "counted $passed and $failed"
grep -qx 'FAILED  wrong' said || complain 'a failure is not shown' said
finish
