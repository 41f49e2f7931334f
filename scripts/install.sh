#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that isoheap needs and that are missing.
#
#   install.sh             install what is missing; nothing is touched if nothing is
#   install.sh --tests     the same, and what only the tests need
#   install.sh --machines  the same, and other machines and compilers, for make machines
#   install.sh --list      print the packages and what each is for
#
# By npm, if that is there, it fetches the sources of OCaml 5 into build/ocaml-source/ (ocaml_source.sh).
#
# Runs apt-get as root or through sudo.  With INSTALL=no, or without either, it says what to
# install and fails.
set -eu
cd "$(dirname "$0")/.."

packages() {
    cat <<'LIST'
clang            the compiler of the fuzz targets, with libFuzzer
libclang-rt-dev  the runtimes of libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer
llvm             names in stack traces (llvm-symbolizer), line coverage (llvm-cov, llvm-profdata)
gcc              the second compiler, which runs the tests too
libc6-dev        the C library's headers
cmake            describes the build
ninja-build      runs the build
libgc-dev        the Boehm-Demers-Weiser collector, tested as collectors/boehm
libcmocka-dev    the framework of the unit tests
afl++            the second fuzzing engine, make afl and its test
patch            makes the collectors with seeded faults (faults/)
python3          merges seeded faults into one object; compares ways to fuzz (scripts/compare.py); the test of the tree's structure
graphviz         draws the pictures of isoheap show --svg and --html
ocaml-source     the OCaml runtime's sources: the collectors ocaml, ocaml_debug, ocaml_tiny, ocaml_nnp and ocaml_native
ocaml-nox        ocamlopt, which compiles an exported finding in a test
groff-base       a test reads the manual page with it
spin             the model checker that isoheap explore is compared with (bench/spin.sh)
LIST
}

test_packages() {
    cat <<'LIST'
chromium         opens the pages of isoheap show --html in the tests
chromium-driver  drives it
python3-selenium speaks to the driver
pkg-config       reads the file that cmake --install writes for it
g++              the installed headers are compiled as C++ in a test, and an example in that language
rustc            an example in Rust (examples/quartz)
fish             its completion is asked in a test
zsh              likewise
LIST
}

machine_packages() {
    cat <<'LIST'
qemu-user              runs programs of other machines, for make machines
gcc-s390x-linux-gnu    the compiler for s390x, which is big-endian
libc6-dev-s390x-cross  its C library
gcc-aarch64-linux-gnu  the compiler for aarch64
libc6-dev-arm64-cross  its C library
clang-19               a newer compiler than Debian's default
LIST
}

wanted_packages() {
    packages
    [ -z "$tests" ] || test_packages
    [ -z "$machines" ] || machine_packages
}

missing_packages() {
    wanted_packages | while read -r package _; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || printf '%s ' "$package"
    done
}

# Not Debian: see that the programs are there, and trust.
check_programs() {
    for program in clang gcc cmake ninja; do
        if ! command -v "$program" >/dev/null; then
            echo "isoheap needs the program $program; on Debian: $(packages | cut -d' ' -f1 | tr '\n' ' ')" >&2
            exit 1
        fi
    done
}

refuse() {
    echo "isoheap needs packages that are not installed${1:-}.  As root, run:" >&2
    echo "    apt-get update && apt-get install --no-install-recommends $missing" >&2
    exit 1
}

apt_get() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq "$@"
}

install_missing() {
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    echo "installing: $missing"
    # shellcheck disable=SC2086 # one word a package
    if ! { apt_get update && apt_get install -y --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        echo "apt-get failed; the packages needed are: $missing" >&2
        exit 1
    fi
}

if [ "${1:-}" = --list ]; then
    packages
    test_packages
    machine_packages
    exit
fi
tests=
machines=
[ "${1:-}" != --tests ] || tests=yes
[ "${1:-}" != --machines ] || machines=yes
# The sources of OCaml 5 are in no package of Debian's.  Without them the collectors ocaml5 are left out.
fetch_ocaml5() {
    [ -d build/ocaml-source/5.3.0 ] || ! command -v npm >/dev/null || scripts/ocaml_source.sh 5.3.0 ||
        echo "the collectors ocaml5 are left out" >&2
}

fetch_ocaml5
if ! command -v dpkg-query >/dev/null; then
    check_programs
    exit
fi
missing=$(missing_packages)
[ -n "$missing" ] || exit 0
sudo=
if [ "$(id -u)" -ne 0 ]; then
    sudo=sudo
    command -v sudo >/dev/null || refuse ", and neither root nor sudo is here"
fi
[ "${INSTALL:-yes}" = yes ] || refuse
install_missing
