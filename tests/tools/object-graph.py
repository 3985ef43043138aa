#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fail if the object files of a folder refer to each other in a cycle.

Usage: object-graph.py [--exceptions FILE] [--layers] NAME=PATH[,PATH]...

Each NAME=PATH is a group of object files: PATH is a folder, whose *.o files are
taken without subfolders, or an object file. A file depends on another one of its
group if it has an undefined symbol that the other one defines. The script prints
each strongly connected component of more than one file, with the symbols that
form its edges, and ends with status 1 if there is any.

FILE lists edges to be ignored, one a line, each with its reason:
    NAME FROM TO  reason
FROM and TO are names of object files without their suffix. The default is
object-graph.list beside this script. A line that matches no edge is an error.

--layers prints the files of each group in layers, lowest first.
"""
import glob
import os
import subprocess
import sys

EXCEPTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "object-graph.list")


def names_of(paths):
    """Return {path: name}, without the suffix and automake's prefix."""
    names = {path: os.path.basename(path)[:-2] for path in paths}
    # automake prefixes the objects of a target that has flags of its own.
    prefixes = {name.partition("-")[0] for name in names.values()}
    if len(prefixes) == 1 and all("-" in name for name in names.values()):
        names = {path: name.partition("-")[2] for path, name in names.items()}
    return names


def objects(spec):
    found = []
    for path in spec.split(","):
        if os.path.isdir(path):
            found += sorted(glob.glob(os.path.join(path, "*.o")))
        elif os.path.isfile(path):
            found.append(path)
        else:
            sys.exit(f"object-graph.py: there is no folder or file {path}")
    if not found:
        sys.exit(f"object-graph.py: there are no object files in {spec}")
    return found


def symbols(path):
    """Return the symbols that a file defines and the symbols that it needs."""
    output = subprocess.run(("nm", path), check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    defined, needed = set(), set()
    for line in output.splitlines():
        kind, name = line.split()[-2:]
        if kind in "Uwv":
            needed.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, needed - defined


def edges_of(paths):
    """Return {from: {to: set of symbols}}."""
    names = names_of(paths)
    table = {names[path]: symbols(path) for path in paths}
    home = {}
    for name, (defined, _) in table.items():
        for symbol in defined:
            home.setdefault(symbol, []).append(name)
    edges = {name: {} for name in table}
    for name, (_, needed) in table.items():
        for symbol in needed:
            for other in home.get(symbol, ()):
                edges[name].setdefault(other, set()).add(symbol)
    return edges


def components(edges):
    """Return the strongly connected components, dependencies first (Tarjan)."""
    index, low, stack, done = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            cut = stack.index(node)
            done.append(sorted(stack[cut:]))
            del stack[cut:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return done


def print_cycle(group, component, edges):
    print(f"{group}: a cycle of {len(component)} files: "
          f"{' '.join(component)}")
    for name in component:
        for other in sorted(set(edges[name]) & set(component)):
            used = sorted(edges[name][other])
            more = f" and {len(used) - 4} more" if len(used) > 4 else ""
            print(f"    {name} -> {other}: {' '.join(used[:4])}{more}")


def print_layers(group, ordered, edges):
    layer = {}
    for component in ordered:
        below = {other for name in component for other in edges[name]}
        number = 1 + max((layer[other] for other in below
                          if other not in component), default=0)
        layer.update((name, number) for name in component)
    for number in sorted(set(layer.values())):
        files = sorted(name for name in layer if layer[name] == number)
        print(f"{group}: layer {number}: {' '.join(files)}")


def read_exceptions(path):
    """Return {(group, from, to)}."""
    exceptions = set()
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) < 4:
                sys.exit(f"object-graph.py: {path}:{number}: expected NAME "
                         f"FROM TO and a reason")
            exceptions.add(tuple(words[:3]))
    return exceptions


def main():
    arguments = sys.argv[1:]
    layers = "--layers" in arguments
    if layers:
        arguments.remove("--layers")
    exceptions = EXCEPTIONS if os.path.exists(EXCEPTIONS) else None
    if arguments[:1] == ["--exceptions"]:
        exceptions, arguments = arguments[1], arguments[2:]
    if not arguments or not all("=" in word for word in arguments):
        sys.exit(__doc__)
    ignored = read_exceptions(exceptions) if exceptions else set()
    groups = [word.partition("=")[::2] for word in arguments]
    bad = False
    for group, spec in groups:
        edges = edges_of(objects(spec))
        for _, name, other in sorted(edge for edge in ignored
                                     if edge[0] == group):
            if edges.get(name, {}).pop(other, None) is None:
                print(f"{group}: the exception {name} -> {other} matches no "
                      f"edge")
                bad = True
        ordered = components(edges)
        for component in ordered:
            if len(component) > 1:
                print_cycle(group, component, edges)
                bad = True
        if layers:
            print_layers(group, ordered, edges)
        print(f"{group}: {len(edges)} files, "
              f"{sum(map(len, edges.values()))} edges")
    return bad


if __name__ == "__main__":
    sys.exit(main())
