#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public function is named by some test (public.py), and public.py sees one that is not.
set -u
source=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
need python3

check 0 '^[0-9]+ public functions, 0 that no test names$' python3 "$source/tests/house/public.py" "$source"

for room in program collectors models views oracles harness conformance pictures cli fuzz tests; do
    mkdir -p "tree/$room"
    cp -r "$source/$room" tree/
done
echo 'int nobody_tests_this(int);' >>tree/views/graph.h
check 1 '^views/graph.h: no test names nobody_tests_this$' python3 "$source/tests/house/public.py" tree
exit $wrong
