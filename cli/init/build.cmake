# isoheap's targets for the collector @NAME@:
#
#   cmake -B build && cmake --build build && ctest --test-dir build
#
# build/bin/ then has fuzz_@NAME@ (libFuzzer), fuzz_@NAME@_standalone (replays files), the seed corpus
# as a zip, and @NAME@.so, the plug-in for the command:
#
#   isoheap conformance --plugin build/bin/@NAME@.so
#   isoheap fuzz --bin-dir build/bin --plugin build/bin/@NAME@.so
#
# If isoheap is installed in an unusual place: cmake -B build -DCMAKE_PREFIX_PATH=/there
cmake_minimum_required(VERSION 3.22)
set(CMAKE_C_COMPILER clang CACHE STRING "libFuzzer is clang's")
project(@NAME@ C)
find_package(isoheap REQUIRED)
isoheap_add_target(NAME fuzz_@NAME@ COLLECTOR @NAME@ SOURCES @NAME@.c)
