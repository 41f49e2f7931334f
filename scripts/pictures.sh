#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the pictures of the pages again, with Graphviz:
#   docs/architecture.svg    of docs/architecture.dot
#   docs/first-finding.svg   of a crash file, with build/bin/isoheap
set -eu
cd "$(dirname "$0")/.."
dot -Tsvg -o docs/architecture.svg docs/architecture.dot
build/bin/isoheap show --svg --collector bad_infix_root -o docs/first-finding.svg crashes/lost_object/bad_infix_root.txt
