#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The whole text of reports, one of each kind: tests/golden/reports/ has the command and what it prints.
# After a wanted change: scripts/golden.sh, and look at the difference.
. "${SOURCE_DIR:?set SOURCE_DIR to the checkout}/tests/support/support.bash"

need python3
python3 "$SOURCE_DIR/tests/support/transcripts.py" "$SOURCE_DIR"/tests/golden/reports/*.txt ||
    complain 'a report is not what it was'
exit $wrong
