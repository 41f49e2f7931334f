# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What oss_fuzz_check.sh asks of a target that is built for a fuzzing service.  To be sourced; each question
# is a function of its own that says why and returns 1 if the answer is no, so that
# tests/fuzz/oss_fuzz_judge_test.sh can ask it about a target that is wrong.
#
#   top, work          folder of the sources, scratch folder: whoever sources this sets them
#   passed, failed     are counted
: "${top:?}" "${work:?}"

# check WHAT COMMAND...: counts, and on failure shows what the command said.
check() {
    local what=$1
    shift
    if "$@" >"$work/said" 2>&1 </dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED  $what" >&2
        tail -n 20 "$work/said" | sed 's/^/        /' >&2
    fi
}

# Names that every part of the infrastructure takes, and the companions of each target.
has_companions() {
    local target=$1
    [[ $(basename "$target") =~ ^[a-zA-Z0-9_-]+$ ]] || { echo "a name with other characters"; return 1; }
    python3 - "$target" <<'PYTHON'
import configparser, re, sys, zipfile
target = sys.argv[1]
names = zipfile.ZipFile(target + "_seed_corpus.zip").namelist()
assert names, "the seed zip is empty"
options = configparser.ConfigParser()
options.read_file(open(target + ".options"))
assert options.has_section("libfuzzer"), "no section [libfuzzer] in the options"
for number, line in enumerate(open(target + ".dict"), 1):
    line = line.strip()
    assert not line or line[0] == "#" or re.fullmatch(r'(\w+(@\d+)?\s*=\s*)?".*"', line), f"dictionary, line {number}"
PYTHON
}

# Our own code is inside: nothing but the system's libraries is loaded at run time.
is_static() {
    ! ldd "$1" | grep -vE 'linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|resolv)\.so'
}

count_symbols() {
    nm "$1" | grep -cE "$2" || true
}

# Each build has the checks of its sanitizer, and of no other; the runtime of AddressSanitizer itself
# calls a few handlers of the other one.
has_sanitizer() {
    local target=$1 build=$2 asan ubsan msan
    asan=$(count_symbols "$target" ' [TtWw] __asan_init$')
    msan=$(count_symbols "$target" ' [TtWw] __msan_init$')
    ubsan=$(nm -u "$target" | grep -c __ubsan_handle || true)
    ubsan=$((ubsan + $(objdump -d --no-show-raw-insn "$target" | grep -cE 'call.*<__ubsan_handle_[a-z_]+>' || true)))
    echo "asan $asan, msan $msan, calls of ubsan handlers $ubsan"
    case $build in
    address | afl) [ "$asan" -gt 0 ] && [ "$msan" -eq 0 ] && [ "$ubsan" -lt 10 ] ;;
    memory) [ "$msan" -gt 0 ] && [ "$asan" -eq 0 ] && [ "$ubsan" -lt 10 ] ;;
    undefined) [ "$ubsan" -gt 100 ] && [ "$asan" -eq 0 ] && [ "$msan" -eq 0 ] ;;
    esac
}

# The functions that the seeds reach with counters: enough of the code under test, and none of the
# harness.  Of the OCaml runtime that is the runtime too, which lies in the build.
is_instrumented() {
    local target=$1 seeds=$2 covered
    covered=$("$target" -runs=0 -print_coverage=1 "$seeds" 2>&1 | grep -a '^COVERED_FUNC' |
        sed -nE "s#.* ($top|[^ ]*/ocaml)/([a-z_/0-9]*)/[a-z_0-9]*\\.c.*#\\2#p" | sort | uniq -c)
    echo "$covered"
    ! grep -qE ' (harness|conformance|views|oracles|pictures|cli)(/|$)' <<<"$covered" || return 1
    case $(basename "$target") in
    fuzz_bytes | fuzz_text) has_functions program 10 ;;
    fuzz_onthefly*) has_functions models/onthefly 10 ;; # schedules, no programs
    fuzz_ocaml*) has_functions program 10 && has_functions collectors/ocaml 10 && has_functions '(runtime|tiny)' 100 ;;
    *) has_functions program "${LEAST_FUNCTIONS:-8}" && has_functions 'collectors.*' "${LEAST_FUNCTIONS:-8}" ;;
    esac
}

# has_functions FOLDER LEAST: reads a list of counts and folders.
has_functions() {
    awk -v folder="^$1\$" -v least="$2" '$2 ~ folder { n += $1 } END { if (n < least) { print "only", n + 0, folder; exit 1 } }' <<<"$covered"
}

runs_on_seeds() {
    "$1" -runs=0 -dict="$1.dict" -artifact_prefix="$work/" "$2"
}

unpack() {
    mkdir -p "$2"
    python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$1_seed_corpus.zip" "$2"
}

# What a run of 2,000 inputs found: edges, features, corpus; without the times.  At fixed addresses,
# because the engine takes material for mutations from the operands of comparisons; without the thread
# of its memory limit, which takes memory when its turn comes; and without looking for new files every second.
figures() {
    setarch -R "$1" -seed=1 -runs=2000 -reload=0 -rss_limit_mb=0 -print_final_stats=1 -artifact_prefix="$work/" "$2" 2>&1 |
        sed -n 's/^#.* \(cov: [0-9]* ft: [0-9]* corp: [0-9]*\).*/\1/p' | tail -n 1
}

is_deterministic() {
    local first again n
    for n in 1 2 3 4; do
        rm -rf "$work/corpus"
        cp -r "$2" "$work/corpus"
        again=$(figures "$1" "$work/corpus")
        [ -n "$again" ] || { echo "no figures"; return 1; }
        [ "$n" -eq 1 ] && first=$again
        [ "$first" = "$again" ] || { echo "run 1: $first; run $n: $again"; return 1; }
    done
}

# alone COMMAND...: from a folder that is empty and cannot be written, without a network and with next to
# nothing in the environment.  The kernel sees to it where it lets us; else root may write, which shows.
alone() (
    rm -rf "$work/empty" && mkdir "$work/empty" && chmod 555 "$work/empty" && cd "$work/empty" || return 1
    export -f "${1?}" # COMMAND is one of these functions, and the shell below is another one
    # shellcheck disable=SC2016 # there, not here
    local name bound=() inside='"$@"'
    for name in $(compgen -e); do
        case $name in
        PATH | ASAN_OPTIONS | BASH_FUNC_*) ;;
        *) unset -v "$name" ;;
        esac
    done
    if unshare -rnm true 2>/dev/null; then
        bound=(unshare -rnm)
        # shellcheck disable=SC2016 # there, not here
        inside='mount --bind "$PWD" "$PWD" && mount -o remount,bind,ro "$PWD" && cd "$PWD" && "$@"'
    fi
    "${bound[@]}" bash -c "$inside" alone "$@" || return 1
    [ -z "$(ls -A)" ] || { echo "it wrote: $(ls -A)"; return 1; }
)

# As the infrastructure tries a build.
runs_four_times() {
    "$1" -seed=1337 -runs=4 -artifact_prefix="$work/"
}

runs_a_while() {
    "$1" -runs=500 -seed=2
}

first_seed() {
    find "$1" -type f | sort | head -n 1
}

repeats() {
    "$1" -runs=100 -artifact_prefix="$work/" "$(first_seed "$2")"
}

judge_libfuzzer() {
    local target=$1 build=$2 name seeds
    name=$build/$(basename "$target")
    seeds=$work/seeds/$name
    unpack "$target" "$seeds"
    check "$name: name, seed zip, options, dictionary" has_companions "$target"
    check "$name: own code is linked statically" is_static "$target"
    check "$name: runs on its seeds" runs_on_seeds "$target" "$seeds"
    if [ "$build" = coverage ]; then
        check "$name: writes a profile" writes_profile "$target" "$seeds"
        return
    fi
    check "$name: its sanitizer and no other" has_sanitizer "$target" "$build"
    check "$name: counters in the code under test only" is_instrumented "$target" "$seeds"
    check "$name: four inputs of one seed" runs_four_times "$target"
    check "$name: four times 2,000 inputs of one seed find the same" is_deterministic "$target" "$seeds"
    check "$name: one input a hundred times" repeats "$target" "$seeds"
    check "$name: an empty, read-only folder and no network" alone runs_a_while "$target"
}

writes_profile() {
    LLVM_PROFILE_FILE=$work/profile.raw "$1" -runs=0 "$2"
    llvm-profdata merge -sparse "$work/profile.raw" -o "$work/profile"
    llvm-cov report "$1" -instr-profile="$work/profile" | grep -qE '(program|collectors)/'
}

# What the driver of AFL++ is asked by a service too: files as arguments.
runs_files() {
    find "$2" -type f -print0 | xargs -0 "$1"
}

repeats_file() {
    local first n files=()
    first=$(first_seed "$2")
    for ((n = 0; n < 100; n++)); do
        files+=("$first")
    done
    "$1" "${files[@]}"
}

judge_afl() {
    local target=$1 name seeds
    name=afl/$(basename "$target")
    seeds=$work/seeds/$name
    unpack "$target" "$seeds"
    check "$name: name, seed zip, options, dictionary" has_companions "$target"
    check "$name: own code is linked statically" is_static "$target"
    check "$name: its sanitizer and no other" has_sanitizer "$target" afl
    check "$name: runs on its seeds" runs_files "$target" "$seeds"
    check "$name: one input a hundred times" repeats_file "$target" "$seeds"
    check "$name: an empty, read-only folder and no network" alone runs_files "$target" "$seeds"
    check "$name: AFL++ sees new paths" finds_paths "$target" "$seeds"
}

finds_paths() {
    rm -rf "$work/afl.out"
    AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1 AFL_FAST_CAL=1 \
        ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0 \
        afl-fuzz -i "$2" -o "$work/afl.out" -V "${AFL_SECONDS:-15}" -m none -t 2000 -- "$1"
    awk -F ' *: *' '$1 == "corpus_found" { found = $2 } END { print "found", found; exit !(found > 0) }' \
        "$work/afl.out/default/fuzzer_stats"
}
