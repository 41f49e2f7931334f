#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of docs/statements.md: each sentence that the oracles of Myreen's and CakeML's papers can
find broken, where it is judged, the spoiled state of a test that breaks it, and how often the seeds
evaluate it.

    statements.py [--renew | --count]

Without an option the page is compared with the sources; status 1 if it differs, if a sentence has no
spoiled state, or if no seed ever evaluates it and REASONS has no reason.  --renew writes the table anew
and keeps the counts; --count runs the seeds in the coverage build (scripts/build.sh coverage) first.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

from page_table import ROOT, hold, text

PAGE = "docs/statements.md"
TESTS = {"tower": "tests/collectors/tower_test.c", "cakeml": "tests/oracles/cakeml_oracle_test.c"}
PAPERS = {"tower": "Myreen", "cakeml": "CakeML"}
STRING = r'"(?:[^"\\\n]|\\.)*"'
SENTENCE = re.compile(r"(?:" + STRING + r"\s*)+")
# A sentence for which the condition in front is not the one that decides.
ANCHORS = {"Figure 1: something is at an address that no step has used": "if (known == all)"}
REASONS = {}


def joined(literals):
    return "".join(part[1:-1] for part in re.findall(STRING, literals))


def line_of(source, offset):
    return source[:offset].count("\n") + 1


def function_at(source, offset):
    """The function that a place is in: the last definition that begins before it."""
    heads = re.findall(r"^[a-z][\w \*]*?(\w+)\([^;{}]*\)\s*\{", source[:offset], re.MULTILINE)
    return heads[-1] if heads else "?"


def deciding_line(source, offset, sentence):
    """The line whose count says how often the sentence was evaluated."""
    lines = source.split("\n")
    at = line_of(source, offset) - 1
    if sentence in ANCHORS:
        while ANCHORS[sentence] not in lines[at]:
            at -= 1
        return at + 1
    last = at
    while not re.match(r"\s*(return|if)\b", lines[at]):
        at -= 1
    alternative = "||" in "\n".join(lines[at:last + 1])
    if lines[at].lstrip().startswith("return") and not alternative:
        while "if (" not in lines[at]:
            at -= 1
    return at + 1


def sentences():
    """{sentence: (collector, file, function, [lines that decide])} in the order of the sources."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "oracles", "statements", "*.c"))):
        file = os.path.relpath(path, ROOT)
        collector = os.path.basename(path).split("_")[0].split(".")[0]
        if collector not in TESTS:
            continue
        source = text(file)
        for match in SENTENCE.finditer(source):
            sentence = joined(match.group())
            before = source[:match.start()].rstrip()
            if " " not in sentence or before.endswith(("#include", "<< 22,")):
                continue
            line = deciding_line(source, match.start(), sentence)
            entry = found.setdefault(sentence, (collector, file, function_at(source, match.start()), []))
            entry[3].append(line)
    return found


def spoilers():
    """{(collector, sentence): functions of the test that break it}"""
    found = {}
    for collector, file in TESTS.items():
        source = text(file)
        for match in re.finditer(r"\{\s*((?:" + STRING + r"\s*)+),([^{}\"]*?)(\w+)\s*\}", source):
            if re.search(r"^static void " + match.group(3) + r"\(", source, re.MULTILINE):
                found.setdefault((collector, joined(match.group(1))), []).append(match.group(3))
    return found


def old_counts():
    rows = re.findall(r"^\| (.+?) \| \w+ \| .* \| ([\d,]+)[^|]*\|$", text(PAGE), re.MULTILINE)
    return {sentence: int(count.replace(",", "")) for sentence, count in rows}


def counts(found):
    """How often each was evaluated by the seeds of its collector, from the coverage build."""
    command = os.path.join(ROOT, "build", "coverage", "bin", "isoheap")
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LLVM_PROFILE_FILE=os.path.join(folder, "%p.profraw"))
        for collector in TESTS:
            subprocess.run([command, "run", "--in-process", "--quiet", "--collector=" + collector, os.path.join(ROOT, "seeds", collector)],
                           env=environment, stdout=subprocess.DEVNULL, check=True)
        merged = os.path.join(folder, "all.profdata")
        subprocess.run(["llvm-profdata", "merge", "-o", merged, *glob.glob(os.path.join(folder, "*.profraw"))], check=True)
        lcov = subprocess.run(["llvm-cov", "export", "-format=lcov", "-instr-profile=" + merged, command], check=True, capture_output=True, text=True).stdout
    seen = {}
    for part in lcov.split("end_of_record"):
        file = re.search(r"SF:(.*)", part)
        for line, count in re.findall(r"^DA:(\d+),(\d+)", part, re.MULTILINE):
            seen[os.path.relpath(os.path.normpath(file.group(1)), ROOT), int(line)] = int(count)
    return {s: sum(seen.get((file, line), 0) for line in lines) for s, (_, file, _, lines) in found.items()}


def rows(found, evaluated):
    """The table, and what is wrong with it."""
    lines, wrong = ["| sentence | paper | judged in | fails for | evaluated |", "|---|---|---|---|---|"], []
    breaking = spoilers()
    for sentence, (collector, file, function, _) in found.items():
        states = breaking.get((collector, sentence), [])
        count = evaluated.get(sentence, 0)
        if not states:
            wrong.append("nothing makes it fail: " + sentence)
        if not count and sentence not in REASONS:
            wrong.append("never evaluated by a seed, and there is no reason: " + sentence)
        reason = "" if count else ": " + REASONS.get(sentence, "?")
        lines.append(f"| {sentence} | {PAPERS[collector]} | `{file}: {function}` "
                     f"| `{TESTS[collector]}: {', '.join(states)}` | {count:,}{reason} |")
    return lines, wrong


def paper_rows():
    """The rows of the table of statements in docs/papers.md, as lists of cells."""
    lines = text("docs/papers.md").split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("| paper | statement |")) + 2
    while lines[at].startswith("|"):
        yield [cell.strip() for cell in lines[at].strip("|").split("|")]
        at += 1


def complaints_of_papers(found):
    """Rows of docs/papers.md that nothing makes fail."""
    pages = {PAPERS[collector] for collector, *_ in found.values()}
    for paper, statement, _, classes, fails in (row for row in paper_rows()):
        name = "docs/papers.md: " + paper + ", " + statement
        wanted = re.findall(r"`(\w+)`", classes)
        bad = re.findall(r"`(bad_\w+)`", fails)
        for collector in bad:
            there = {os.path.basename(os.path.dirname(f)) for f in glob.glob(os.path.join(ROOT, "crashes", "*", collector + ".txt"))}
            if not there or (wanted and "`tests/" not in fails and not there & set(wanted)):
                yield name + ": no program of %s is in crashes/ under one of its classes" % collector
        sentence = "(statements.md)" in fails and paper.split()[0] in pages
        if not bad and not sentence and not re.match(r"–: \w", fails):
            yield name + ": nothing makes it fail"


def main():
    found = sentences()
    count = sys.argv[1:] == ["--count"]
    lines, wrong = rows(found, counts(found) if count else old_counts())
    wrong += complaints_of_papers(found)
    for complaint in wrong:
        print(complaint)
    if count:
        sys.argv.append("--renew")
    old = hold(PAGE, "statements", "\n".join(lines) + "\n",
               "the table is not what the sources say: scripts/statements.py --renew")
    return 1 if wrong or old else 0


if __name__ == "__main__":
    sys.exit(main())
