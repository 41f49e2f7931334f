#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the pages say of the code: their tables (tables.py), and the files and functions that they name
# (references.py); and that both see what is wrong.
set -u
source=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
# shellcheck source=tests/support/support.bash
. "$(dirname "$0")/../support/support.bash"
need python3
export ISOHEAP=$isoheap

check 0 ', 0 complaints$' python3 -B "$source/tests/docs/tables.py" "$source"
check 0 ', 0 complaints$' python3 -B "$source/tests/docs/references.py" "$source"
python3 -B "$source/scripts/oracle_table.py" || complain 'the table of oracles in docs/architecture.md is old'
python3 -B "$source/scripts/trait_table.py" || complain 'the table of traits in docs/collectors.md is old'
python3 -B "$source/scripts/statements.py" || complain 'docs/statements.md is old: scripts/statements.py --renew'
python3 -B "$source/scripts/file_index.py" || complain 'docs/files.md is old: scripts/file_index.py --renew'

# ---- they see what is wrong ----

mkdir tree
(cd "$source" && tar --exclude=./build --exclude=./.git --exclude=./findings --exclude=./corpus -cf - .) | tar -C tree -xf -
sed -i '/^. .msan. /d' tree/CONTRIBUTING.md
sed -i 's/| heap | 16 |/| heap | 17 |/' tree/docs/program.md
check 1 'CONTRIBUTING.md, presets: the page lacks msan' python3 -B "$source/tests/docs/tables.py" tree
check 1 "docs/program.md, config: the page lacks \\['heap', '16'" python3 -B "$source/tests/docs/tables.py" tree
cat >>tree/docs/report.md <<'END'
`views/no_such.c`, `views/graph.h: no_such_function`, [nowhere](nowhere.md)
END
check 1 'docs/report.md:[0-9]+: there is no file views/no_such.c' python3 -B "$source/tests/docs/references.py" tree
check 1 'docs/report.md:[0-9]+: views/graph.h has no no_such_function' python3 -B "$source/tests/docs/references.py" tree
check 1 'docs/report.md:[0-9]+: a link leads nowhere: nowhere.md' python3 -B "$source/tests/docs/references.py" tree
sed -i 's/ \* [A-Z]/ * x/' tree/views/graph.h
check 1 'graph.h' python3 -B tree/scripts/file_index.py
sed -i '0,/NEED_walk/s/NEED_walk/NEED_exact/' tree/oracles/graph/fields.c
sed -i 's/"blocks may move:/"blocks never move:/' tree/collectors/traits.h
check 1 'the table of traits' python3 -B tree/scripts/trait_table.py
check 1 'the table of oracles' python3 -B tree/scripts/oracle_table.py
python3 -B tree/scripts/statements.py --renew >/dev/null
sed -i 's/"rule 3: an address of as is in z"/"rule 3: nobody says this"/' tree/tests/collectors/tower_test.c
check 1 'nothing makes it fail: rule 3: an address of as is in z' python3 -B tree/scripts/statements.py
sed -i '/field_reads_equal/s/`bad_mark_writes`//' tree/docs/papers.md
check 1 'field_reads_equal: nothing makes it fail' python3 -B tree/scripts/statements.py
sed -i '/^| rule 1: b is in domain h /s/[0-9,]* |$/0 |/' tree/docs/statements.md
check 1 'never evaluated by a seed.*: rule 1: b is in domain h' python3 -B tree/scripts/statements.py
exit $wrong
