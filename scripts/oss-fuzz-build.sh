#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the fuzz targets where OSS-Fuzz, ClusterFuzzLite or a like service has set the scene:
#
#   CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE    how to compile and what to link
#   OUT                                          where the targets, seeds and dictionaries go
#   WORK                                         a folder for the build (default: a new one in /tmp)
#
# To be called from the project's build.sh there.
set -eu
cd "$(dirname "$0")/.."
: "${LIB_FUZZING_ENGINE:?is not set: this is for the environment of OSS-Fuzz; see make help}"
: "${OUT:?is not set: the folder for the fuzz targets}"
build=${WORK:-$(mktemp -d)}/isoheap
generator='Unix Makefiles'
if command -v ninja >/dev/null; then
    generator=Ninja
fi

rm -rf "$build"
cmake -S . -B "$build" -G "$generator"
mapfile -t targets < <(cut -d ' ' -f 1 "$build/targets.txt")
cmake --build "$build" -j "$(nproc)" --target fuzz_targets

mkdir -p "$OUT"
for target in "${targets[@]}"; do
    cp "$build/bin/$target" "$build/bin/$target.dict" "$build/bin/$target.options" \
        "$build/bin/${target}_seed_corpus.zip" "$OUT/"
done
echo "in $OUT: ${targets[*]}"
