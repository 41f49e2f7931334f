#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of the pages say what the code says.

    tables.py CHECKOUT

Each check names a table by its page and the first words of its head, and what its first column, or
another, must list: what `isoheap list --json` prints, or a table in a source.  ISOHEAP is the path of
the command.
"""
import json
import os
import re
import subprocess
import sys

import tree

ROOT = sys.argv[1] if len(sys.argv) > 1 else "."
ISOHEAP = os.environ["ISOHEAP"]
wrong = tables = 0


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def listed():
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([ISOHEAP, "list", "--json"], env=environment, text=True, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def table(page, head):
    """The rows of every table of a page whose head begins with these cells."""
    rows, inside = [], False
    for line in text(page).splitlines():
        cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if cells[: len(head)] == head:
            inside = True
        elif not cells:
            inside = False
        elif inside and not all(re.fullmatch(r":?-+:?", c) for c in cells):
            rows.append(cells)
    return rows


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def named_in(page):
    """What a page has between backquotes, once each, outside fenced blocks."""
    return list(dict.fromkeys(quoted(re.sub(r"^```.*?^```", "", text(page), flags=re.DOTALL | re.MULTILINE))))


def names(rows, column=0):
    return [name for row in rows for name in quoted(row[column])]


def body(path, macro):
    """The rows of an X-macro as one line."""
    rows = re.search(r"#define %s\(X.*?\)(.*?[^\\])\n" % macro, text(path), re.DOTALL).group(1)
    return re.sub(r"\s*\\\n\s*", " ", rows)


def xmacro(path, macro):
    """The first arguments of the rows of an X-macro."""
    return re.findall(r"\bX\((\w+)", body(path, macro))


def same(what, page, code, ordered=False, may_be_empty=False):
    """Complains about what one has and the other lacks."""
    global wrong, tables
    tables += 1
    page, code = [str(p) for p in page], [str(c) for c in code]
    complaints = ["%s: the page lacks %s" % (what, c) for c in code if c not in page]
    complaints += ["%s: the page has %s, the code has not" % (what, p) for p in page if p not in code]
    complaints += ["%s: the page has %s twice" % (what, p) for p in set(page) if page.count(p) > 1]
    if not complaints and ordered and page != code:
        complaints = ["%s: not in the order of the code" % what]
    if not code and not may_be_empty:
        complaints.append("%s: nothing found in the code" % what)
    for c in complaints:
        print(c)
    wrong += len(complaints)


def of_the_list(d):
    collectors = {c["name"]: c for c in d["collectors"]}
    keys = [[k, v["min"], v["max"], v["default"]] for k, v in d["config"].items()]
    same("docs/program.md, config", [r[:4] for r in table("docs/program.md", ["key", "least"])],
         [[str(x) for x in k] for k in keys], ordered=True)
    classes = [c["name"] for c in d["classes"]]
    same("docs/oracles.md, classes", [n for n in named_in("docs/oracles.md") if n in classes], classes)
    rows = table("docs/oracles.md", ["oracle", "file"])
    same("docs/oracles.md, oracles", [r[0] for r in rows], [o["name"] for o in d["oracles"]], ordered=True)
    for row, oracle in zip(rows, d["oracles"]):
        files = [f for f in tree.files(ROOT) if f.startswith("oracles/") and f.endswith("/%s.c" % oracle["name"])]
        same("docs/oracles.md, %s, file" % oracle["name"], quoted(row[1]), files)
        same("docs/oracles.md, %s, events" % oracle["name"], row[3].split(", "), oracle["events"], ordered=True)
        same("docs/oracles.md, %s, needs" % oracle["name"], row[4].split("; "), oracle["needs"] or [""], ordered=True)
        same("docs/oracles.md, %s, classes" % oracle["name"], quoted(row[5]), oracle["classes"], ordered=True)
    numbered = lambda rows: ["%s %s" % (r[0].split()[0], quoted(r[0])[0]) for r in rows]
    number = lambda these: ["%d %s" % pair for pair in enumerate(these)]
    same("docs/cakeml.md, kinds", numbered(table("docs/cakeml.md", ["kind"])), number(collectors["cakeml"]["kinds"]))
    same("docs/cakeml.md, variants", numbered(table("docs/cakeml.md", ["variant"])),
         number(collectors["cakeml"]["variants"]))
    same("docs/tower.md, variants", numbered(table("docs/tower.md", ["variant"])),
         number(collectors["tower"]["variants"]))
    same("docs/generational.md, kinds", [r[0] for r in table("docs/generational.md", ["kind"])],
         range(len(collectors["generational"]["kinds"])))
    if "ocaml" in collectors:
        same("docs/ocaml.md, collectors", names(table("docs/ocaml.md", ["collector"])),
             [c for c in collectors if re.fullmatch("ocaml(_.*)?", c)])
    if "ocaml5" in collectors:
        same("docs/ocaml5.md, collectors", names(table("docs/ocaml5.md", ["collector"])),
             [c for c in collectors if c.startswith("ocaml5")])
    same("README.md, exit statuses", re.findall(r"(\d) (?:no violation|violation|usage|unreadable|harness|nothing)",
                                                 text("README.md")), range(6))


def of_sources():
    same("docs/mutation.md, kinds", names(table("docs/mutation.md", ["changes"]), 1),
         xmacro("program/mutation/mutate.h", "MUTATION_KINDS"))
    profiles = re.findall(r'\.name = "(\w+)"', text("program/mutation/profiles.c"))
    same("docs/mutation.md, profiles", names(table("docs/mutation.md", ["ISOHEAP_MUTATION"])), profiles + ["off"])
    parts = re.findall(r'\{"(\w+)", COVER_', text("harness/coverage.c"))
    same("docs/mutation.md, parts of coverage", names(table("docs/mutation.md", ["part"])),
         [p for p in parts if p not in ("all", "default")])
    for page, rows in zip(["docs/ocaml.md", "docs/ocaml5.md"], text("collectors/ocaml/masks.c").split("#else")):
        same(f"{page}, masks", names(table(page, ["mask"])), re.findall(r'X\(MASK_\w+, "([a-z-]+)"', rows))
    variants = xmacro("models/onthefly/model.h", "VARIANTS")
    rows = [r[0] for r in table("docs/on-the-fly.md", ["variant", "first broken"])]
    same("docs/on-the-fly.md, variants", rows + [n for n in named_in("docs/on-the-fly.md") if n in variants and n not in rows],
         variants)
    same("docs/on-the-fly.md, invariants", [n for r in table("docs/on-the-fly.md", ["name", "paper"])
                                            for n in r[0].split(", ") if n],
         xmacro("models/onthefly/invariants.h", "INVARIANTS"))
    source = text("models/onthefly/labels.h")
    rows = [label for row in table("docs/on-the-fly.md", ["label", "line"]) for label in row[0].split(", ")]
    handshakes = [h + "_…" for h in re.findall(r"HANDSHAKE_LABELS\(X, (gc_\w+)\)", source)]
    mark = [label for label in xmacro("models/onthefly/labels.h", "MARK_LABELS") if label != "mo_out"]
    gc = re.findall(r'\bX\((gc_\w+), "(?![^"]*\(variant)', source)
    same("docs/on-the-fly.md, labels", list(dict.fromkeys(label.split()[0] for label in rows)),
         mark + xmacro("models/onthefly/labels.h", "MUTATOR_LABELS") + handshakes + gc)


def of_the_interface(d):
    hooks = re.search(r"^struct gc_hooks \{(.*?)^\};", text("collectors/collector.h"), re.DOTALL | re.MULTILINE).group(1)
    hooks = re.sub(r"/\*.*?\*/", "", hooks, flags=re.DOTALL)
    rows = table("docs/collectors.md", ["hook"])
    same("docs/collectors.md, hooks", names(rows),
         [a or b for a, b in re.findall(r"\(\*(\w+)\)\(|\b(\w+)(?:\[\w+\])?;", hooks)], ordered=True)
    steps = [s for f in tree.files(ROOT) if f.startswith("conformance/")
             for s in re.findall(r'^    \{"(\w+)",', text(f), re.MULTILINE)]
    judges = steps + [o["name"] for o in d["oracles"]]
    same("docs/collectors.md, judges of hooks", [j for j in names(rows, 2) if j not in judges], [], may_be_empty=True)


def of_the_house():
    presets = json.loads(text("CMakePresets.json"))["configurePresets"]
    same("CONTRIBUTING.md, presets", names(table("CONTRIBUTING.md", ["preset"])),
         [p["name"] for p in presets if not p.get("hidden")])
    listing = re.findall(r"<<'LIST'\n(.*?)\nLIST", text("scripts/install.sh"), re.DOTALL)
    packages = [line.split()[0] for part in listing for line in part.splitlines()]
    same("README.md, packages", [p for r in table("README.md", ["package"]) for p in r[0].split(", ")], packages)
    sources = [f for f in tree.files(ROOT) if f.endswith((".c", ".h"))]
    variables = {v for path in sources
                 for v in re.findall(r'\bgetenv\("(\w+)"\)|"(ISOHEAP_[A-Z_]+)"', text(path)) for v in v if v}
    rows = [list(row) for macro in ("ENVIRONMENT", "ENVIRONMENT_INSIDE") for row in
            re.findall(r'\bX\((\w+), "([^"]*)", "([^"]*)"\)', body("cli/environment.h", macro))]
    same("cli/environment.h, what the sources read", [r[0] for r in rows], sorted(variables))
    same("CONTRIBUTING.md, environment variables", [[quoted(r[0])[0]] + r[1:] for r in
                                                    table("CONTRIBUTING.md", ["variable"])], rows, ordered=True)
    folders = {f.split("/")[0] + "/" for f in sources}
    same("README.md, folders", [n for n in names(table("README.md", ["folder"])) if n in folders], sorted(folders))


def main():
    of_the_list(listed())
    of_the_interface(listed())
    of_sources()
    of_the_house()
    print("%d tables, %d complaints" % (tables, wrong))
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
