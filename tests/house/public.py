#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each public function is named by some test.

Public is what another room may call: the functions of a header that a source of another room of the
product includes.  A test that names a function need not be a good test of it, but a function that no
test names has none.

    public.py [CHECKOUT]
"""
import os
import re
import sys

ROOMS = ("program", "collectors", "models", "views", "oracles", "harness", "conformance", "pictures")
USERS = ROOMS + ("cli", "fuzz")


def files(root, rooms, endings):
    for room in rooms:
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(folder, name), root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def room_of(path):
    return path.split("/")[0]


def public_headers(root):
    public = set()
    for path in files(root, USERS, (".c", ".h", ".c.in")):
        for header in re.findall(r'#include "([^"]+)"', read(root, path)):
            if header.endswith(".h") and room_of(header) in ROOMS and room_of(header) != room_of(path):
                public.add(header)
    return sorted(public)


def outermost(text):
    """The declarations of a header, without comments, directives and bodies."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.MULTILINE | re.DOTALL)
    depth, kept = 0, []
    for c in text:
        depth += c == "{"
        if depth == 0:
            kept.append(c)
        if c == "}":
            depth -= 1
            kept.append(";")
    return [" ".join(d.split()) for d in "".join(kept).split(";")]


def functions(header_text):
    for declaration in outermost(header_text):
        match = re.match(r"[\w\s*]+?[\s*](\w+)\s*\(", declaration)
        if match and not declaration.startswith(("typedef", "_Static_assert", "extern")):
            yield match.group(1)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
    named = set()
    for path in files(root, ("tests",), (".c", ".h")):
        named.update(re.findall(r"\w+", read(root, path)))
    n = missing = 0
    for header in public_headers(root):
        for function in functions(read(root, header)):
            n += 1
            if function not in named:
                print("%s: no test names %s" % (header, function))
                missing += 1
    print("%d public functions, %d that no test names" % (n, missing))
    return missing != 0 or n < 100


if __name__ == "__main__":
    sys.exit(main())
