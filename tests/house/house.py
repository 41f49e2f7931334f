#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The structure of the tree: house.py [CHECKOUT].

A room is a folder of code.  Rooms do not include each other in a circle, nor do files; no room has so many
files that nobody reads their names; the product includes nothing of tests and benchmarks.  Prints what is
wrong, a line each; exit status 1 then.
"""
import os
import re
import sys

CODE = (".c", ".h", ".inc", ".def")
MOST_FILES = 30
MOST_FOLDERS = 20
NOT_THE_PRODUCT = ("tests", "bench")


def code_files(top):
    """Every file of code as a path from the top; builds, findings and hidden folders are left out."""
    tops = [d for d in sorted(os.listdir(top)) if os.path.isdir(os.path.join(top, d))]
    for first in tops:
        if first.startswith(".") or first in ("build", "findings", "corpus"):
            continue
        for folder, below, names in os.walk(os.path.join(top, first)):
            below.sort()
            for name in sorted(names):
                if name.endswith(CODE):
                    yield os.path.relpath(os.path.join(folder, name), top)


def includes(top, path):
    with open(os.path.join(top, path), encoding="utf-8") as source:
        named = re.findall(r'^\s*#\s*include "([^"]+)"', source.read(), re.M)
    return [name for name in named if os.path.exists(os.path.join(top, name))]


def circles(graph):
    """The strongly connected components with more than one member (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            start = stack.index(node)
            if len(stack) - start > 1:
                found.append(sorted(stack[start:]))
            del stack[start:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def variables_twice(top, paths):
    """Variables without a value that two files of a room name alike: compiled together they would be one."""
    where = {}
    for path in paths:
        with open(os.path.join(top, path), encoding="utf-8") as source:
            for text in re.findall(r"^static ([^=()\n]*);", source.read(), re.M):
                for name in text.split(","):
                    name = re.sub(r"\[.*", "", name).split()[-1].lstrip("*")
                    where.setdefault(name, []).append(path)
    return [(name, files) for name, files in sorted(where.items()) if len(files) > 1]


def main(top):
    wrong = []
    files = list(code_files(top))
    if len(files) < 100:
        wrong.append("only %d files of code below %s: is that the checkout?" % (len(files), top))
    graph = {path: includes(top, path) for path in files}

    rooms, files_of = {}, {}
    for path, named in graph.items():
        room = os.path.dirname(path)
        files_of.setdefault(room, []).append(path)
        for other in named:
            if os.path.dirname(other) != room:
                rooms.setdefault(room, set()).add(os.path.dirname(other))
            if other.split("/")[0] in NOT_THE_PRODUCT and path.split("/")[0] not in NOT_THE_PRODUCT:
                wrong.append("%s includes %s, which is no part of the product" % (path, other))

    wrong += ["rooms include each other in a circle: " + " ".join(c) for c in circles(rooms)]
    wrong += ["files include each other in a circle: " + " ".join(c) for c in circles(graph)]
    wrong += ["%s has %d files of code beside each other, more than %d" % (room, len(paths), MOST_FILES)
              for room, paths in sorted(files_of.items()) if len(paths) > MOST_FILES]
    for room, paths in sorted(files_of.items()):
        if room.split("/")[0] not in NOT_THE_PRODUCT + ("fuzz",): # each of its sources is a program
            wrong += ["each of %s has a variable %s, which would be one if they are compiled together" %
                      (" and ".join(files), name) for name, files in variables_twice(top, sorted(paths))]
    folders = [d for d in os.listdir(top) if os.path.isdir(os.path.join(top, d))
               and not d.startswith(".") and d not in ("build", "findings", "corpus")]
    if len(folders) > MOST_FOLDERS:
        wrong.append("%d folders at the top, more than %d" % (len(folders), MOST_FOLDERS))
    print("\n".join(wrong) or "%d files in %d rooms" % (len(files), len(files_of)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
