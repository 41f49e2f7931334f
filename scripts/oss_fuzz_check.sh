#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Rehearses what OSS-Fuzz and ClusterFuzzLite would do with the targets, without containers: builds
# them with its environment for every sanitizer and engine, and judges and runs the result as their
# infrastructure does.
#
#   oss_fuzz_check.sh [BUILD...]    address undefined memory coverage afl; default: all
#
# The last line is `N passed, N failed`; exit status 0 if nothing failed, 2 for a BUILD that does not exist.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
all_builds='address undefined memory coverage afl'
passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS=detect_leaks=0

# --- builds --------------------------------------------------------------------------------------

common='-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION'

# As the base image sets them (infra/base-images/base-builder of OSS-Fuzz).
sanitizer_flags() {
    case $1 in
    address | afl) echo '-fsanitize=address -fsanitize-address-use-after-scope' ;;
    undefined) echo '-fsanitize=array-bounds,bool,builtin,enum,function,integer-divide-by-zero,null,object-size,return,returns-nonnull-attribute,shift,signed-integer-overflow,unsigned-integer-overflow,unreachable,vla-bound,vptr -fno-sanitize-recover=array-bounds,bool,builtin,enum,function,integer-divide-by-zero,null,object-size,return,returns-nonnull-attribute,shift,signed-integer-overflow,unreachable,vla-bound,vptr' ;;
    memory) echo '-fsanitize=memory -fsanitize-memory-track-origins' ;;
    coverage) echo '-fprofile-instr-generate -fcoverage-mapping -pthread' ;;
    esac
}

build() {
    local flags engine=-fsanitize=fuzzer cc=clang cxx=clang++ sanitizer=$1
    flags="$common $(sanitizer_flags "$1")"
    case $1 in
    afl)
        cc=afl-clang-fast cxx=afl-clang-fast++ sanitizer=address engine=$(afl_driver)
        ;;
    coverage) ;;
    *) flags+=' -fsanitize=fuzzer-no-link' ;;
    esac
    OUT=$work/$1 WORK=$work/$1.work CC=$cc CXX=$cxx CFLAGS=$flags CXXFLAGS=$flags SANITIZER=$sanitizer \
        LIB_FUZZING_ENGINE=$engine scripts/oss-fuzz-build.sh >"$work/$1.log" 2>&1
}

afl_driver() {
    local library
    for library in /usr/lib/afl/libAFLDriver.a /usr/local/lib/afl/libAFLDriver.a; do
        [ -e "$library" ] && echo "$library" && return
    done
    echo /libAFLDriver.a-is-missing
}

# shellcheck source=scripts/oss_fuzz_judge.bash
. scripts/oss_fuzz_judge.bash

# --- all together --------------------------------------------------------------------------------

rehearse() {
    local build=$1 target
    echo "$build: building"
    check "$build: builds" build "$build"
    [ -d "$work/$build" ] || { tail -n 20 "$work/$build.log" >&2; return; }
    for target in "$work/$build"/fuzz_*; do
        [ -x "$target" ] || continue
        echo "$build: $(basename "$target")"
        if [ "$build" = afl ]; then
            judge_afl "$target"
        else
            judge_libfuzzer "$target" "$build"
        fi
    done
}

same_build_script() {
    cmp "$top/.clusterfuzzlite/build.sh" "$top/oss-fuzz/build.sh"
}

builds=("$@")
[ $# -gt 0 ] || read -r -a builds <<<"$all_builds"
for build in "${builds[@]}"; do
    case " $all_builds " in
    *" $build "*) ;;
    *) echo "$build is none of: $all_builds" >&2; exit 2 ;;
    esac
done
check 'ClusterFuzzLite and OSS-Fuzz have one build.sh' same_build_script
for build in "${builds[@]}"; do
    rehearse "$build"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
