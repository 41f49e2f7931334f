#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Renews the golden files of tests/golden/ and the tables in docs/ that are made from the command, after
# a wanted change; then look at `git diff tests/golden docs`.  Needs the builds release and check.
set -eu
cd "$(dirname "$0")/.."
export SOURCE_DIR=$PWD ISOHEAP=$PWD/build/bin/isoheap ASAN_OPTIONS=detect_leaks=0

for program in $(grep -l ISOHEAP_UPDATE tests/*/*_test.c tests/support/golden.c 2>/dev/null |
    sed -n 's|^tests/[a-z]*/\(.*_test\)\.c$|\1|p'); do
    ISOHEAP_UPDATE=1 "build/check/tests/$program" >/dev/null
done
python3 tests/support/transcripts.py --renew tests/golden/reports/*.txt
python3 scripts/option_tables.py --renew docs/command.md
git status --short tests/golden docs
