#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The pages are true: every command that they show does what they show, and the tables of options are
# what --help says.  ISOHEAP: the command, SOURCE_DIR: the checkout.
. "${SOURCE_DIR:?set SOURCE_DIR to the checkout}/tests/support/support.bash"
cd "$SOURCE_DIR" || exit 1

need python3 dot

python3 tests/support/transcripts.py README.md docs/crash.md docs/report.md docs/command.md docs/explore.md docs/pictures.md ||
    complain 'a page does not show what its commands do'
python3 scripts/option_tables.py docs/command.md || complain 'docs/command.md is not what --help says'

# The picture is that of its source: the same texts, whatever the version of Graphviz does to places.
texts() {
    grep -o '<text[^>]*>[^<]*' | sed 's/.*>//' | sort
}
[ "$(dot -Tsvg docs/architecture.dot | texts)" = "$(texts <docs/architecture.svg)" ] ||
    complain 'docs/architecture.svg is old: scripts/pictures.sh'
exit $wrong
