#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The page of `isoheap show --html` in a real browser: headless Chromium, driven by Selenium.
# ISOHEAP is the path of the command, SOURCE_DIR the checkout.
set -eu
isoheap=${ISOHEAP:?set ISOHEAP to the path of the command}
source=${SOURCE_DIR:?set SOURCE_DIR to the checkout}
# shellcheck source=tests/support/support.bash
. "$source/tests/support/support.bash"
need chromium chromedriver dot /usr/bin/python3
if ! getent hosts localhost >/dev/null; then # chromedriver calls the browser by that name
    lack 'the page in a browser: this system does not know the name localhost (/etc/hosts)'
    finish
fi

# page NAME COLLECTOR FILE
page() {
    "$isoheap" show --html --collector "$2" -o "$folder/$1.html" "$3"
}
cat >"$folder/states.txt" <<'END'
isoheap program 1
config heap=64
heap
  b0 = block tag=0 [b1, 42]
  b1 = closure arity=1,1 env=[b0]
  b2 = block tag=1 [7]
  dead 3
  static b3 = string [0x1]
roots
  r0 = b0
  r1 = b1+3
  r2 = b2
  r3 = b3
script
  r4 = alloc tag=3 [r0, -1]
  drop r2
  r4.1 := r0
  full
  r5 = exhaust 1
END
cat >"$folder/young.txt" <<'END'
isoheap program 1
config nursery=40
heap
  b0 = block tag=0 [0, 0]
  b1 = closure arity=1,1 env=[b0]
roots
  r0 = b0
  r2 = b1+3
script
  r1 = alloc tag=0 [r0]
  r0.1 := r1
END
cp "$folder/states.txt" "$folder/a<b>&\"'.txt"
page lost bad_infix_root "$source/crashes/lost_object/bad_infix_root.txt"
page edge bad_infix_lost "$source/crashes/edge_changed/bad_infix_lost.txt"
page sharing bad_no_forward "$source/crashes/sharing_changed/bad_no_forward.txt"
page crash bad_stale_next_fit "$source/crashes/sanitizer/bad_stale_next_fit.txt"
page hang bad_endless_rescan "$source/crashes/no_progress/bad_endless_rescan.txt"
page worn bad_lost_fragments "$source/crashes/heap_worn_out/bad_lost_fragments.txt"
page states mark_sweep "$folder/states.txt"
page young generational "$folder/young.txt"
page hole bad_unrecorded_store "$source/crashes/remembered_set_hole/bad_unrecorded_store.txt"
page threads concurrent "$source/seeds/concurrent/come_and_go.txt"
page hostile mark_sweep "$folder/a<b>&\"'.txt"
"$isoheap" show --html --reference none -o "$folder/alone.html" "$folder/states.txt"
/usr/bin/python3 "$source/tests/cli/html/pages.py" "$folder"
