#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the pictures of the pages again, with Graphviz and, where it is, Chromium:
#   docs/architecture.svg    of docs/architecture.dot
#   docs/first-finding.svg   of a crash file, with build/bin/isoheap
#   docs/page.png            of the same as a page in a browser
set -eu
cd "$(dirname "$0")/.."
dot -Tsvg -o docs/architecture.svg docs/architecture.dot
build/bin/isoheap show --svg --collector bad_infix_root -o docs/first-finding.svg crashes/lost_object/bad_infix_root.txt
finding=crashes/lost_object/bad_infix_root.txt
if browser=$(command -v chromium || command -v chromium-browser); then
    page=$(mktemp -d)
    trap 'rm -rf "$page"' EXIT
    build/bin/isoheap show --html --collector bad_infix_root -o "$page/page.html" $finding
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1180,800 \
        --screenshot="$PWD/docs/page.png" "file://$page/page.html" >"$page/log" 2>&1 || { cat "$page/log"; exit 1; }
else
    echo 'pictures.sh: no chromium: docs/page.png stays as it is' >&2
fi
