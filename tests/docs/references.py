#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files and functions that the pages name are there.

    references.py CHECKOUT

In README.md, CONTRIBUTING.md and docs/*.md a path between backquotes whose first part is a folder of the
tree must exist (`harness/runner.c`, `seeds/mark_sweep/`, `tests/*/x.c`); `<x>`, `x…` and `NAME` stand for
anything.  A file name alone (`mark.h`) must be that of some file.  After a file and a colon come
names, separated by commas: each must be in that file (`sweep.h: sweep_block, struct sweep`).  Links to
other files must lead somewhere.
"""
import collections
import glob
import os
import re
import sys

import tree

ENDINGS = r"\.(?:c|h|inc|def|py|sh|bash|cmake|ml|pml|md|txt|json|js|css|html|in|dict|options|patch|schedule)"
FILE = re.compile(r"([\w./*<>…-]*\w" + ENDINGS + r")(?::\s*(.*))?", re.DOTALL)
NAME = re.compile(r"(?:(?:struct|enum)\s+)?[A-Za-z_]\w*")
# What a page may speak of though no file of the tree has that name: files of a reader's, made files,
# and sources of others.
FOREIGN = {"interface_hash.h", "crash.txt", "small.txt", "finding.c", "finding.ml", "page.html", "test.c", "my_gc.c", "mlvalues.h",
           "targets.txt", "compile_commands.json", "LastTest.log"}


class Checkout:
    def __init__(self, root):
        self.root = root
        self.files = tree.files(root)
        self.folders = {f.split("/")[0] for f in self.files if "/" in f}
        self.by_name = collections.defaultdict(list)
        for f in self.files:
            self.by_name[os.path.basename(f)].append(f)
        self.texts = {}

    def text(self, path):
        if path not in self.texts:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def find(self, path, page):
        """The files that a page may mean by a path."""
        pattern = re.sub(r"<[^>]*>|…|\b[A-Z]{3,}\b", "*", path)
        if "/" not in pattern and "*" in pattern:
            return [path]
        if pattern.split("/")[0] in self.folders:
            found = glob.glob(os.path.join(self.root, pattern))
            return [os.path.relpath(f, self.root) for f in found]
        beside = os.path.normpath(os.path.join(os.path.dirname(page), pattern))
        if os.path.exists(os.path.join(self.root, beside)):
            return [beside]
        return [f for f in self.by_name[os.path.basename(pattern)] if f.endswith("/" + pattern) or f == pattern]


def spans(text):
    """(line, content) of each `code` of a page, fenced blocks left out."""
    fenced = re.sub(r"^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    for match in re.finditer(r"`([^`]+)`", fenced):
        yield fenced.count("\n", 0, match.start()) + 1, match.group(1)


def complaints_of_span(checkout, page, span):
    match = FILE.fullmatch(span)
    if not match:
        first = span.split("/")[0]
        if "/" in span and first in checkout.folders and re.fullmatch(r"[\w./*<>…-]+", span):
            if not checkout.find(span.rstrip("/"), page):
                yield "there is no %s" % span
        return
    path, names = match.groups()
    if os.path.basename(path) in FOREIGN or path.startswith(("build/", "findings/", "corpus/", "DIR/")):
        return
    files = checkout.find(path, page)
    if not files:
        yield "there is no file %s" % path
        return
    for name in NAME.findall(names or ""):
        word = re.compile(r"\b%s\b" % re.escape(name.split()[-1]))
        if not any(os.path.isfile(os.path.join(checkout.root, f)) and word.search(checkout.text(f)) for f in files):
            yield "%s has no %s" % (path, name)


def complaints_of_links(checkout, page, text):
    for match in re.finditer(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        target = match.group(1)
        if "://" in target:
            continue
        path = os.path.normpath(os.path.join(checkout.root, os.path.dirname(page), target))
        if not os.path.exists(path):
            yield text.count("\n", 0, match.start()) + 1, "a link leads nowhere: %s" % target


def main():
    checkout = Checkout(os.path.abspath(sys.argv[1]))
    pages = [f for f in checkout.files if f in ("README.md", "CONTRIBUTING.md") or re.fullmatch(r"docs/[^/]+\.md", f)]
    n = wrong = 0
    for page in pages:
        text = checkout.text(page)
        found = [(line, c) for line, span in spans(text) for c in complaints_of_span(checkout, page, span)]
        found += complaints_of_links(checkout, page, text)
        n += sum(1 for _, span in spans(text) if FILE.fullmatch(span))
        for line, what in sorted(found):
            print("%s:%d: %s" % (page, line, what))
        wrong += len(found)
    print("%d files named in %d pages, %d complaints" % (n, len(pages), wrong))
    return wrong != 0 or n < 100


if __name__ == "__main__":
    sys.exit(main())
