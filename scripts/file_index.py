#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The index of files, docs/files.md: each file with the first sentence of the comment at its head.

    file_index.py [--renew]

Without --renew it is compared; status 1 and the lines that differ.  A file without such a sentence is
an error.
"""
import difflib
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "docs"))
import tree  # noqa: E402  (the tests use it too)

PAGE = os.path.join(ROOT, "docs", "files.md")
# Rooms in the order of the arrows, then what is around them.
ROOMS = ("program", "collectors", "models", "views", "oracles", "harness", "conformance", "pictures", "cli", "fuzz",
         "faults", "bench", "tests", "scripts", "cmake")
CODE = (".c", ".h", ".inc", ".def", ".c.in", ".py", ".sh", ".bash", ".cmake", ".pml", ".js")
HEAD = """# Index of files

Each file of code with the first sentence of the comment at its head; [architecture.md](architecture.md) shows how the
folders hang together. `scripts/file_index.py --renew` makes this page.
"""


def listed():
    files = [f for f in tree.files(ROOT) if f.endswith(CODE) and f.split("/")[0] in ROOMS]
    order = lambda f: (ROOMS.index(f.split("/")[0]), os.path.dirname(f), os.path.basename(f))
    return sorted(files, key=order)


def comment(text):
    """The lines of the comment at the head of a file, without its signs."""
    lines = []
    for line in text.splitlines():
        line = line.strip()
        if line.startswith(("#!", "/*@ ")):
            continue
        bare = re.sub(r"^(/\*+|\*+/|\*|//|#|\(\*|<!--|\"\"\")\s?", "", line)
        is_comment = bare != line or (lines and text.lstrip().startswith(("/*", "(*", "<!--")) and "*/" not in line)
        if not is_comment and not text.startswith("#!/usr/bin/env python3"):
            break
        lines.append(re.sub(r"\s*(\*/|\*\)|-->)$", "", bare))
        if re.search(r"(\*/|\*\)|-->)$", line) and "SPDX" not in line:
            break
    return lines


def summary(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    paragraph = []
    for line in comment(text):
        if "SPDX-License-Identifier" in line or line.startswith(("shellcheck", "@ ")):
            continue
        if not line.strip() and paragraph:
            break
        if line.strip():
            paragraph.append(line.strip())
    prose = " ".join(paragraph)
    sentence = re.match(r"(.+?[.:!?])(?:\s+[A-Z`(<]|\s*$)", prose + " ")
    return (sentence.group(1) if sentence else prose).rstrip(":").strip()


def page():
    out, folder = [HEAD], None
    for path in listed():
        if os.path.dirname(path) != folder:
            folder = os.path.dirname(path)
            out.append("\n## %s/\n\n" % folder)
        sentence = summary(path)
        if not sentence:
            sys.exit("%s: no comment at its head says what it is for" % path)
        out.append("* `%s`: %s\n" % (os.path.basename(path), sentence))
    return "".join(out)


def main():
    new = page()
    if "--renew" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(new)
        return 0
    with open(PAGE, encoding="utf-8") as file:
        old = file.read()
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), "docs/files.md", "the files", lineterm="", n=0):
        print(line)
    return old != new


if __name__ == "__main__":
    sys.exit(main())
