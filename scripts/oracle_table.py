#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of oracles in docs/architecture.md, made from oracles/: file, events and needs of each.

    oracle_table.py [--renew]

It stands between `<!-- oracles -->` and `<!-- end of oracles -->`.  Without --renew it is compared; status
1 if it differs.
"""
import glob
import os
import re
import sys

from page_table import ROOT, hold, rows_of, text


def arguments(source, macro):
    """The arguments of each X(...) of an X-macro."""
    body = rows_of(source, macro).replace("\n", " ")
    return re.findall(r"\bX\(([^()]*(?:\([^()]*\)[^()]*)*)\)", body)


def definitions():
    """{oracle: (file, the text of its struct oracle_module)}"""
    found = {}
    for path in glob.glob(os.path.join(ROOT, "oracles", "**", "*.c"), recursive=True):
        source = text(path)
        for match in re.finditer(r"const struct oracle_module oracle_(\w+) = \{(.*?)\n\};", source, re.DOTALL):
            found[match.group(1)] = (os.path.relpath(path, ROOT), match.group(2))
    return found


def table():
    header, judge = text("oracles/oracle.h"), text("oracles/judge.h")
    words = {r.split(",")[0]: re.search(r'"([^"]*)"', r).group(1) for r in arguments(header, "ORACLE_NEEDS")}
    events = [r.split(",")[0] for r in arguments(judge, "ORACLE_EVENTS")]
    modules = definitions()
    lines = ["| oracle | file | events | needs of a collector |", "|---|---|---|---|"]
    for oracle in arguments(header, "ORACLES"):
        path, module = modules[oracle.strip()]
        heard = [e for e in events if re.search(r"\.%s = " % e, module)]
        needs = [words[n] for n in re.findall(r"NEED_(\w+)", module)]
        lines.append("| %s | `%s` | %s | %s |" % (oracle.strip(), path, ", ".join(heard), ", ".join(needs)))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(hold("docs/architecture.md", "oracles", table(),
                  "the table of oracles is not what oracles/ says: scripts/oracle_table.py --renew"))
