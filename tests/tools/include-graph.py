#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the include directives and the names of the C files of the source tree.

    include-graph.py [--top DIR] [--exceptions FILE] [--graph]

The script reads every .c and .h file of the folders in ALLOWED and fails on:

cycle       folders that include each other in a cycle
direction   an include of a folder that ALLOWED does not list
private     a header *-private.h that another folder includes
type        two types of the same name: a tag or a typedef, defined twice
file        two .c or .h files of the same name, except main.c; this rule also
            covers kernel-patches/ and vm/

Each violation is printed as FILE:LINE: RULE: description; the exit status is 1 if
there is any.  FILE lists violations that are accepted for now, one a line:

    RULE NAME  reason

NAME is a folder or file with the one that it includes (report->import), a type,
or a file name.  A line that matches no violation is an error.  The default is
include-graph.list beside this script.  --graph prints the folders that each
folder includes.
"""

import argparse
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Folders that every folder may include.
EVERYWHERE = {"abi", "lib/base"}
LIBRARIES = {"lib/capture", "lib/cli", "lib/input", "lib/match", "lib/output",
             "lib/recovery", "lib/slab", "lib/symbols", "lib/tracepoints"}
PROGRAMS = {"check", "gate", "import", "kmemtraced", "report", "top"}
# The folders that each folder may include, beside itself and EVERYWHERE.
ALLOWED = {
    "abi": set(),
    "lib/base": set(),
    "lib/capture": set(),
    "lib/cli": set(),
    "lib/recovery": set(),
    "lib/symbols": set(),
    "lib/tracepoints": set(),
    "lib/input": {"lib/capture"},
    "lib/match": {"lib/input"},
    "lib/slab": {"lib/input"},
    "lib/output": {"lib/match", "lib/input", "lib/cli", "lib/symbols"},
    "check": LIBRARIES - {"lib/slab", "lib/symbols", "lib/tracepoints"},
    "import": LIBRARIES - {"lib/match", "lib/output", "lib/slab"},
    "kmemtraced": {"lib/capture", "lib/cli", "lib/recovery", "lib/tracepoints"},
    "report": LIBRARIES - {"lib/tracepoints"},
    "gate": LIBRARIES - {"lib/tracepoints"} | {"report"},
    "top": LIBRARIES - {"lib/slab", "lib/tracepoints"},
    "bench": LIBRARIES,
    "fuzz": LIBRARIES | PROGRAMS,
    "tests": LIBRARIES | PROGRAMS,
}
# Folders of kernel code, where only the names of files are checked.
KERNEL = ("kernel-patches", "vm")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
TYPEDEF = re.compile(r"\btypedef\b")
# A name with its array bounds, or a pointer to a function.
DECLARATOR = re.compile(r"\(\s*\*\s*(\w+)\s*\)\s*\(|(\w+)\s*(?:\[[^\]]*\]\s*)*$")

Violation = collections.namedtuple("Violation", "file line rule name text")


def blank(text):
    """Replace comments, strings and preprocessor lines by spaces."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
        r"|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def line_of(text, offset):
    """Return the number of the line that has the offset."""
    return text.count("\n", 0, offset) + 1


def end_of_declaration(code, at):
    """Return the offset of the ';' outside braces that ends a declaration."""
    depth = 0
    while at < len(code):
        if code[at] == "{":
            depth += 1
        elif code[at] == "}":
            depth -= 1
        elif code[at] == ";" and depth == 0:
            return at
        at += 1
    return at


def without_bodies(code):
    """Remove everything between braces."""
    while True:
        shorter = re.sub(r"\{[^{}]*\}", " ", code)
        if shorter == code:
            return code
        code = shorter


def types_of(text):
    """Yield (name, line) of each type that the text of a file defines.

    typedef struct NAME NAME is no definition: it may be repeated, and the one
    of the tag counts.
    """
    code = blank(text)
    for match in TAG.finditer(code):
        yield match.group(1), line_of(text, match.start())
    for match in TYPEDEF.finditer(code):
        declaration = code[match.end():end_of_declaration(code, match.end())]
        tag = re.match(r"\s*(?:struct|union|enum)\s+(\w+)", declaration)
        found = DECLARATOR.search(without_bodies(declaration))
        name = found and (found.group(1) or found.group(2))
        if name and not (tag and tag.group(1) == name):
            yield name, line_of(text, match.start())


def folder_of(path):
    """Return the folder in ALLOWED that has the file."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "lib" else parts[0]


class Tree:
    """The C files of a source tree: {path: text}, by folder."""

    def __init__(self, top):
        self.files = {}
        self.kernel = []
        self.unknown = []
        for folder in sorted({f.split("/")[0] for f in ALLOWED} | set(KERNEL)):
            for directory, _, names in sorted(os.walk(os.path.join(top, folder))):
                for name in sorted(names):
                    if name.endswith((".c", ".h")):
                        self.add(top, os.path.join(directory, name))

    def add(self, top, path):
        """Read a file."""
        name = os.path.relpath(path, top)
        if name.split("/")[0] in KERNEL:
            self.kernel.append(name)
            return
        with open(path, encoding="utf-8") as f:
            self.files[name] = f.read()
        if folder_of(name) not in ALLOWED:
            self.unknown.append(name)

    def includes(self):
        """Yield (file, line, included file) of files of this tree."""
        for name, text in self.files.items():
            for match in INCLUDE.finditer(text):
                for base in (os.path.dirname(name), "", "abi"):
                    path = os.path.normpath(os.path.join(base, match.group(1)))
                    if path in self.files:
                        yield name, line_of(text, match.start(1)), path
                        break


def edges_of(tree):
    """Return {folder: {included folder: (file, line)}} of the first includes."""
    edges = collections.defaultdict(dict)
    for name, line, included in tree.includes():
        source, target = folder_of(name), folder_of(included)
        if source != target:
            edges[source].setdefault(target, (name, line))
    return edges


def reachable(edges, start):
    """Return the folders that a folder includes, directly or not."""
    found, todo = set(), [start]
    while todo:
        for target in edges.get(todo.pop(), ()):
            if target not in found:
                found.add(target)
                todo.append(target)
    return found


def cycles(tree):
    """Yield each include between two folders of one cycle."""
    edges = edges_of(tree)
    for source, targets in edges.items():
        for target, (name, line) in targets.items():
            if source in reachable(edges, target):
                yield Violation(name, line, "cycle", f"{source}->{target}",
                              f"{target}/ includes {source}/, too")


def directions(tree):
    """Yield each include that ALLOWED does not permit."""
    for name in tree.unknown:
        yield Violation(name, 1, "direction", folder_of(name),
                      f"{folder_of(name)}/ is not in the table ALLOWED")
    for name, line, included in tree.includes():
        source, target = folder_of(name), folder_of(included)
        if target not in ALLOWED.get(source, ()) and \
                target not in EVERYWHERE | {source} and source in ALLOWED:
            yield Violation(name, line, "direction", f"{source}->{target}",
                          f"{source}/ must not include {included}")


def private_headers(tree):
    """Yield each include of a private header of another folder."""
    for name, line, included in tree.includes():
        if included.endswith("-private.h") and \
                folder_of(name) != folder_of(included):
            yield Violation(name, line, "private", f"{name}->{included}",
                          f"{included} is private to {folder_of(included)}/")


def twice(rule, places, what):
    """Yield a violation for each place but the first of a name."""
    for name, found in places.items():
        first = found[0]
        for path, line in found[1:]:
            yield Violation(path, line, rule, name,
                          f"{what} {name} is also in {first[0]}:{first[1]}")


def same_types(tree):
    """Yield each type whose name another type has."""
    places = collections.defaultdict(list)
    for path, text in tree.files.items():
        for name, line in types_of(text):
            places[name].append((path, line))
    return twice("type", places, "a type")


def same_files(tree):
    """Yield each file whose name another file has."""
    places = collections.defaultdict(list)
    for path in [*tree.files, *tree.kernel]:
        name = os.path.basename(path)
        if name != "main.c":
            places[name].append((path, 1))
    return twice("file", places, "a file")


def read_exceptions(path):
    """Return {(rule, name): line number} of a list of accepted violations."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.strip() and not line.startswith("#"):
                words = line.split(None, 2)
                if len(words) < 3:
                    sys.exit(f"{path}:{number}: expected RULE NAME REASON")
                found[words[0], words[1]] = number
    return found


def main():
    """Print all violations that are not accepted."""
    parser = argparse.ArgumentParser(description="check include directives")
    parser.add_argument("--top", default=os.path.join(HERE, "..", ".."))
    parser.add_argument("--exceptions",
                        default=os.path.join(HERE, "include-graph.list"))
    parser.add_argument("--graph", action="store_true")
    args = parser.parse_args()
    tree = Tree(args.top)
    if args.graph:
        for folder, targets in sorted(edges_of(tree).items()):
            print(f"{folder}: {' '.join(sorted(targets))}")
        return 0
    accepted = read_exceptions(args.exceptions)
    unused = set(accepted)
    failures = 0
    for rule in cycles, directions, private_headers, same_types, same_files:
        for violation in rule(tree):
            unused.discard((violation.rule, violation.name))
            if (violation.rule, violation.name) not in accepted:
                failures += 1
                print(f"{violation.file}:{violation.line}: {violation.rule}: "
                      f"{violation.text}")
    for rule, name in sorted(unused):
        failures += 1
        print(f"{args.exceptions}:{accepted[rule, name]}: no violation {rule} "
              f"{name}")
    print(f"{len(tree.files)} files, {len(tree.kernel)} of the kernel, "
          f"{failures} failures, {len(accepted)} exceptions")
    return 1 if failures or not tree.files else 0


if __name__ == "__main__":
    sys.exit(main())
