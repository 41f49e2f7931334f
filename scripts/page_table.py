# SPDX-License-Identifier: MIT
"""A table on a page of docs/ that is made from the sources: compared with them, or renewed."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rows_of(source, macro):
    """The text of the rows of an X-macro, #define MACRO(X) ..."""
    return re.search(r"#define %s\(X\)(.*?[^\\])\n" % macro, source, re.DOTALL).group(1).replace("\\\n", "\n")


def hold(page, name, table, complaint):
    """The table between `<!-- NAME -->` and `<!-- end of NAME -->`; with --renew it is written anew.

    Returns the status of the process: 1, and the complaint is printed, if it differs or is not there.
    """
    place = re.compile(r"(<!-- %s -->\n)(.*?)(<!-- end of %s -->)" % (name, name), re.DOTALL)
    old = text(page)
    new = place.sub(lambda m: m.group(1) + table + m.group(3), old)
    if "--renew" in sys.argv:
        with open(os.path.join(ROOT, page), "w", encoding="utf-8") as file:
            file.write(new)
        return 0
    if not place.search(old) or new != old:
        print("%s: %s" % (page, complaint))
        return 1
    return 0
