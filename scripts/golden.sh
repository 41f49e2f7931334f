#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Renews the golden files of tests/golden/ and the tables in docs/ that are made from the command, after
# a wanted change; then look at what it prints.
set -eu
cd "$(dirname "$0")/.."
export SOURCE_DIR=$PWD ISOHEAP=$PWD/build/bin/isoheap ASAN_OPTIONS=detect_leaks=0

mapfile -t programs < <(grep -lE 'figure(s_of[a-z_]*)?\(|ISOHEAP_UPDATE' tests/*/*_test.c | sed 's|.*/||; s|\.c$||')
TARGETS=isoheap scripts/build.sh release
TARGETS="${programs[*]}" scripts/build.sh check
for program in "${programs[@]}"; do
    ISOHEAP_UPDATE=1 "build/check/tests/$program" >build/golden.log 2>&1 || {
        cat build/golden.log
        exit 1
    }
done
python3 tests/support/transcripts.py --renew tests/golden/reports/*.txt
python3 scripts/option_tables.py --renew docs/command.md
python3 -B scripts/oracle_table.py --renew
python3 -B scripts/trait_table.py --renew
python3 -B scripts/file_index.py --renew
git --no-pager diff --stat -- tests/golden docs
