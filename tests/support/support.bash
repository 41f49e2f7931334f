# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the tests in bash share; to be sourced first.  Goes into a folder that is gone afterwards.  A
# test ends with `exit $wrong`.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
# LeakSanitizer needs ptrace, which a container may forbid.
export ASAN_OPTIONS=detect_leaks=0
wrong=0

# complain WHAT [FILE...]
complain() {
    echo "$1"
    [ $# -lt 2 ] || cat "${@:2}"
    wrong=1
}

# check STATUS PATTERN COMMAND ARGUMENT...: the status, and a pattern in what it prints.  Leaves that in
# out and err.
check() {
    local status=$1 pattern=$2 got
    shift 2
    "$@" >out 2>err </dev/null
    got=$?
    [[ $got =~ ^($status)$ ]] || complain "status $got instead of $status: $*" out err
    cat out err | grep -Eq -e "$pattern" || complain "no /$pattern/: $*" out err
}

# lack WHAT: a part of the test cannot be done here.  The rest goes on; a test that ends with `finish`
# is then counted as skipped, unless something is wrong.
lacks=
lack() {
    echo "skipped: $1"
    lacks=yes
}
finish() {
    [ $wrong -ne 0 ] || [ -z "$lacks" ] || exit 77
    exit $wrong
}

# small_disk SIZE INODES: a file system of its own in disk/, which is unmounted at the end; false where
# none can be mounted, as in a container.
small_disk() {
    mkdir -p disk
    trap 'umount "$folder"/disk 2>/dev/null; rm -rf "$folder"' EXIT
    mount -t tmpfs -o "size=$1,nr_inodes=$2" none disk 2>/dev/null && return
    lack 'full and read-only disks: no file system can be mounted here (CAP_SYS_ADMIN)'
    return 1
}

# need PROGRAM...: a test that cannot run says so, and is counted as skipped (SKIP_RETURN_CODE).
need() {
    local program
    for program in "$@"; do
        if ! command -v "$program" >/dev/null; then
            echo "skipped: this test needs $program; scripts/install.sh --tests installs it"
            exit 77
        fi
    done
}
