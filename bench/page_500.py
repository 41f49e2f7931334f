#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The page of a 500-block heap and 30 operations: page_500.py ISOHEAP prints its size, the time to
make it, and the time until headless Chromium has drawn it, as lines `name value unit`."""
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

BLOCKS, OPERATIONS, RUNS = 500, 30, 5


def program():
    """A binary tree with cross edges and raw leaves; the collection at the end fails."""
    chance = random.Random(7)
    lines = ["isoheap program 1", "config heap=8192", "heap"]
    for i in range(BLOCKS):
        fields = [f"b{j}" for j in (2 * i + 1, 2 * i + 2) if j < BLOCKS] or [str(i)]
        if chance.random() < 0.15:
            fields.append(f"b{chance.randrange(BLOCKS)}")
        if i > BLOCKS // 2 and i % 3 == 0:
            lines.append(f"  b{i} = string [{i:#x}]")
        else:
            lines.append(f"  b{i} = block tag={i % 5} [{', '.join(fields)}]")
    lines += ["roots", "  r0 = b0"] + [f"  r{r} = b{chance.randrange(BLOCKS)}" for r in range(1, 9)] + ["script"]
    kinds = ["r{a} = alloc tag=1 [r{b}, r{c}]", "r{a}.1 := r{b}", "r{a} = r{b}.0", "drop r{a}"]
    for k in range(OPERATIONS - 1):
        a, b, c = chance.randrange(1, 12), chance.randrange(12), chance.randrange(12)
        lines.append("  " + kinds[k % len(kinds)].format(a=a, b=b, c=c))
    return "\n".join(lines + ["  full", ""])


def browser(folder):
    options = Options()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                 "--window-size=1300,900", f"--user-data-dir={folder}/profile"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, page = Path(folder, "heap.txt"), Path(folder, "page.html")
        source.write_text(program())
        start = time.monotonic()
        subprocess.run([sys.argv[1], "show", "--html", "--collector", "bad_no_forward", "-o", page, source], check=True)
        made = time.monotonic() - start
        window = browser(folder)
        drawn = []
        for _ in range(RUNS):
            window.get(page.as_uri())
            drawn.append(window.execute_script(  # from navigation to the end of the script and of the layout
                "document.body.offsetHeight;"
                "return Math.max(performance.getEntriesByName('isoheap-drawn')[0].startTime,"
                " performance.getEntriesByType('navigation')[0].loadEventStart)"))
        window.quit()
        print(f"html_bytes_500 {page.stat().st_size} bytes")
        print(f"html_make_500 {made * 1000:.0f} ms")
        print(f"html_render_500 {sorted(drawn)[RUNS // 2]:.0f} ms")


main()
