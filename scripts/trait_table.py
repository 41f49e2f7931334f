#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of traits in docs/collectors.md, made from collectors/traits.h: what each promises, needs, and its judge.

    trait_table.py [--renew]

It stands between `<!-- traits -->` and `<!-- end of traits -->`.  Without --renew it is compared; status
1 if it differs.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "collectors.md")
TABLE = re.compile(r"(<!-- traits -->\n)(.*?)(<!-- end of traits -->)", re.DOTALL)
ROW = re.compile(r"\bX\(\s*\w+,\s*(\w+),\s*(\w+),(.*?)((?:\"(?:[^\"\\]|\\.)*\"\s*)+),\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)\)", re.DOTALL)


def joined(literals):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"').replace("|", "\\|")


def table():
    with open(os.path.join(ROOT, "collectors", "traits.h"), encoding="utf-8") as file:
        source = file.read()
    body = re.search(r"#define COLLECTOR_TRAITS\(X\)(.*?[^\\])\n", source, re.DOTALL).group(1).replace("\\\n", "\n")
    lines = ["| trait | promise | needs | judge |", "|---|---|---|---|"]
    for name, judge, _, words, meaning in ROW.findall(body):
        lines.append("| `%s` | %s | %s | %s |" % (name, joined(meaning), joined(words), judge))
    if len(lines) - 2 != len(re.findall(r"\bX\(", body)):
        sys.exit("trait_table.py: a row of collectors/traits.h is not understood")
    return "\n".join(lines) + "\n"


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    new = TABLE.sub(lambda m: m.group(1) + table() + m.group(3), page)
    if "--renew" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(new)
    elif new != page or not TABLE.search(page):
        sys.exit("docs/collectors.md: the table of traits is not that of collectors/traits.h: scripts/trait_table.py --renew")


main()
