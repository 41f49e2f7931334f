#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of options in docs/command.md, made from what `isoheap SUBCOMMAND --help` prints.

    option_tables.py [--renew] PAGE

A table stands between `<!-- options: SUBCOMMAND -->` and `<!-- end of options -->`.  Without --renew it
is compared, and so is that every subcommand has its section, and a table if it has options; status 1
and a line for each that differs.  ISOHEAP is the path of the command (default: build/bin/isoheap).
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ISOHEAP = os.environ.get("ISOHEAP", os.path.join(ROOT, "build", "bin", "isoheap"))
TABLE = re.compile(r"(<!-- options: ([a-z ]+) -->\n)(.*?)(<!-- end of options -->)", re.DOTALL)
OPTION = re.compile(r"\s{2,6}(?:(-\w), )?(--[\w-]+)(\[=\S+\]|=\S+)?\s*(.*)")
CONTINUED = re.compile(r"\s{28,}(\S.*)")
OF_ARGP = ("--help", "--usage")


def help_of(words):
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([ISOHEAP] + words + ["--help"], env=environment, text=True, check=True,
                          stdout=subprocess.PIPE)
    return done.stdout


def options_of(command):
    """[option as it is written, what it does] of a subcommand, in the order of --help."""
    options, is_open = [], False
    for line in help_of(command.split()).splitlines():
        option, continued = OPTION.fullmatch(line), CONTINUED.fullmatch(line)
        if option and not continued:
            short, long, value, text = option.groups()
            names = ["`%s`" % short] if short else []
            options.append([", ".join(names + ["`%s%s`" % (long, value or "")]), text])
            is_open = True
        elif continued and is_open:
            # argp breaks a line at a blank, so one is left out between them.
            options[-1][1] = (options[-1][1] + " " + continued.group(1)).strip()
        else:
            is_open = False
    return [o for o in options if not any("`%s`" % name in o[0] for name in OF_ARGP)]


def table_of(command):
    cell = lambda text: text.replace("|", "\\|").replace("<", "&lt;")
    rows = ["| %s | %s |" % (cell(names), cell(text)) for names, text in options_of(command)]
    return "\n".join(["| option | |", "|---|---|"] + rows) + "\n" if rows else ""


def subcommands():
    """The first words of the lines between the two blank lines that surround the list."""
    return re.findall(r"^  ([a-z]+)  +\S", help_of([]), re.MULTILINE)


def complaints(page):
    tables = {command: table for _, command, table, _ in TABLE.findall(page)}
    for command, table in tables.items():
        if table != table_of(command):
            yield "the table of `%s` is not what --help says: scripts/option_tables.py --renew" % command
    for command in subcommands():
        if not re.search(r"^## %s\b" % command, page, re.MULTILINE):
            yield "no section on `%s`" % command
        if command not in tables and table_of(command):
            yield "no table of options of `%s`" % command


def main():
    arguments = [a for a in sys.argv[1:] if a != "--renew"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        page = file.read()
    if "--renew" in sys.argv:
        page = TABLE.sub(lambda m: m.group(1) + table_of(m.group(2)) + m.group(4), page)
        with open(arguments[0], "w", encoding="utf-8") as file:
            file.write(page)
    wrong = list(complaints(page))
    for line in wrong:
        print("%s: %s" % (arguments[0], line))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
