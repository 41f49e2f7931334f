#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of traits in docs/collectors.md, made from collectors/traits.h: what each promises, needs, and its judge.

    trait_table.py [--renew]

It stands between `<!-- traits -->` and `<!-- end of traits -->`.  Without --renew it is compared; status
1 if it differs.
"""
import re
import sys

from page_table import hold, rows_of, text

ROW = re.compile(r"\bX\(\s*\w+,\s*(\w+),\s*(\w+),(.*?)((?:\"(?:[^\"\\]|\\.)*\"\s*)+),\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)\)", re.DOTALL)


def joined(literals):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"').replace("|", "\\|")


def table():
    body = rows_of(text("collectors/traits.h"), "COLLECTOR_TRAITS")
    lines = ["| trait | promise | needs | judge |", "|---|---|---|---|"]
    for name, judge, _, words, meaning in ROW.findall(body):
        lines.append("| `%s` | %s | %s | %s |" % (name, joined(meaning), joined(words), judge))
    if len(lines) - 2 != len(re.findall(r"\bX\(", body)):
        sys.exit("trait_table.py: a row of collectors/traits.h is not understood")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(hold("docs/collectors.md", "traits", table(),
                  "the table of traits is not that of collectors/traits.h: scripts/trait_table.py --renew"))
