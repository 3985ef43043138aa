#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Let go tool pprof read the profiles of kmemtrace-report --pprof, and compare what
it prints with --json.  Captures have stacks, directories, or neither.

The step pprof of scripts/test runs this script; the programs of kmemtrace are found
in BUILDDIR.

    pprof-go.py BUILDDIR WORK
"""

import collections
import json
import os
import re
import subprocess
import sys

import large_captures
import mkcapture
from pprof_files import function_of

HERE = os.path.dirname(os.path.abspath(__file__))
# Types of values, their units in the output, and the members of a report.
TYPES = (("alloc_objects", "", "allocs"), ("alloc_space", "B", "bytes_allocated"),
         ("inuse_objects", "", "live_objects"),
         ("inuse_space", "B", "live_bytes_allocated"),
         ("wasted_space", "B", "bytes_wasted"))
KINDS = ("kmalloc", "cache", "pages", "percpu", "vmalloc")


def check(good, *words):
    """End the script unless good."""
    if not good:
        sys.exit(" ".join(str(w) for w in ("pprof-go:", *words)))


class Tools:
    """The programs, with a home directory of their own."""

    def __init__(self, builddir, work):
        self.report_program = os.path.join(builddir, "report", "kmemtrace-report")
        self.generate = os.path.join(builddir, "bench", "generate")
        self.work = work
        self.env = {**os.environ, "HOME": work, "PPROF_TMPDIR": work,
                    "PPROF_BINARY_PATH": work, "GOFLAGS": "", "NO_COLOR": "1"}

    def run(self, *argv):
        """Return the output of a program that must succeed."""
        done = subprocess.run(argv, capture_output=True, text=True, check=False,
                              env=self.env, stdin=subprocess.DEVNULL)
        check(done.returncode == 0, " ".join(argv), "ended with",
              done.returncode, done.stderr[-2000:], done.stdout[-2000:])
        return done.stdout

    def profile(self, capture, name, *args):
        """Write the profile of a capture; return its path."""
        path = os.path.join(self.work, name + ".pb.gz")
        self.run(self.report_program, "-q", "--pprof=" + path, *args, capture)
        return path

    def json(self, capture, *args):
        """Return the JSON report of a capture."""
        return json.loads(self.run(self.report_program, "-q", "--json", *args,
                                   capture))

    def pprof(self, kind, *args):
        """Return the output of go tool pprof for a type of values, with all lines
        and exact numbers."""
        unit = ["-unit=byte"] if kind.endswith("_space") else []
        return self.run("go", "tool", "pprof", "-nodefraction=0",
                        "-edgefraction=0", "-nodecount=1000000", *unit,
                        "-sample_index=" + kind, *args)

    def top(self, kind, *args):
        """Return {function: (flat, cum)} of -top."""
        lines = self.pprof(kind, "-top", *args).splitlines()
        start = [i for i, line in enumerate(lines) if line.split()[:1] == ["flat"]]
        check(len(start) == 1, "no table in", lines[:10])
        found = {}
        for line in lines[start[0] + 1:]:
            flat, _, _, cum, _, name = line.split(None, 5)
            check(name not in found, name, "is listed twice")
            found[name] = (number(flat), number(cum))
        return found


def number(text):
    """Return a number with an optional unit, as 1096B, 5.0B, or -12."""
    match = re.fullmatch(r"(-?\d+)(?:\.0)?B?", text)
    check(match, "not a whole number:", text)
    return int(match[1])


def sums_of(document, member, has_stacks, directories):
    """Return {function: [flat, cum]} of the groups of a report."""
    sums = collections.defaultdict(lambda: [0, 0])
    for group in document["groups"]:
        value = group[member]
        chain = group["stack"] if has_stacks else [group]
        names = [function_of(place) for place in chain]
        if directories:
            names.append(group["directory"] or "(unknown)")
        sums[names[0]][0] += value
        for name in set(names):
            sums[name][1] += value
    return {name: tuple(both) for name, both in sums.items() if any(both)}


def compare_top(tools, capture, profile, document, has_stacks):
    """Compare -top for each type of values with the groups of the report."""
    directories = not has_stacks and any(
        g["directory"] for g in document["groups"])
    for name, _, member in TYPES:
        want = sums_of(document, member, has_stacks, directories)
        got = {k: v for k, v in tools.top(name, profile).items()
               if any(v)}
        check(got == want, capture, name, "-top:",
              sorted(set(got.items()) ^ set(want.items()))[:6])


def compare_tags(tools, capture, profile, document):
    """Compare the sums by kind in -tags, and -tagfocus, with the report."""
    for name, unit, member in TYPES:
        text = tools.pprof(name, "-tags", profile)
        section = re.search(r"(?m)^ *kind: .*\n((?:^ .*\n)*)", text)
        sums = {}
        for line in section[1].splitlines() if section else ():
            value, kind = re.fullmatch(r" *(\S+?)(?: \([^)]*\))?: (\S+)",
                                       line).groups()
            sums[kind] = number(value)
        for kind in KINDS:
            want = document["kinds"].get(kind, {member: 0})[member]
            check(sums.get(kind, 0) == want, capture, name, "-tags:", kind,
                  sums.get(kind), want, unit)


def compare_traces(tools, capture, profile, document, has_stacks):
    """Compare the call chains of -traces with those of the report."""
    text = tools.pprof("alloc_space", "-traces", profile)
    traces = collections.Counter()
    for part in re.split(r"(?m)^-+\+-+\n", text)[1:]:
        lines = [line for line in part.splitlines()
                 if not re.match(r" *\w+: ", line) and line.strip()]
        if not lines:
            continue
        value, first = lines[0].split(None, 1)
        traces[tuple([first.strip()] + [l.strip() for l in lines[1:]])] += \
            number(value)
    want = collections.Counter()
    directories = not has_stacks and any(
        g["directory"] for g in document["groups"])
    for group in document["groups"]:
        chain = group["stack"] if has_stacks else [group]
        names = [function_of(place) for place in chain]
        if directories:
            names.append(group["directory"] or "(unknown)")
        want[tuple(names)] += group["bytes_allocated"]
    check(+traces == +want, capture, "-traces:",
          list((traces - want).items())[:3], list((want - traces).items())[:3])


def compare_difference(tools, capture, profile, document, has_stacks):
    """Compare -diff_base of two parts of a capture with the difference of their
    reports, and of a profile with itself."""
    same = tools.top("inuse_space", "-diff_base=" + profile, profile)
    check(not any(v for both in same.values() for v in both), capture,
          "differs from itself")
    first, last = (document["capture"][k + "_timestamp"] for k in ("first", "last"))
    half = (last - first) // 2
    parts = ("--time", f"0ns,{half}ns"), ("--time", f"{half + 1}ns,")
    profiles = [tools.profile(capture, f"part-{i}", *part)
                for i, part in enumerate(parts)]
    by = "stack" if has_stacks else "callsite"
    reports = [tools.json(capture, "--by", by + ",kind", *part) for part in parts]
    directories = not has_stacks and any(
        g["directory"] for g in document["groups"])
    for name, _, member in TYPES:
        sums = [sums_of(r, member, has_stacks, directories) for r in reports]
        want = {}
        for function in set(sums[0]) | set(sums[1]):
            old, new = (s.get(function, (0, 0)) for s in sums)
            if new != old:
                want[function] = (new[0] - old[0], new[1] - old[1])
        got = {k: v for k, v in tools.top(name, "-diff_base=" + profiles[0],
                                          profiles[1]).items() if any(v)}
        check(got == want, capture, name, "-diff_base:",
              sorted(set(got.items()) ^ set(want.items()))[:6])


def captures(tools):
    """Yield (name, directory, has stacks) of the captures."""
    fixtures = os.path.join(HERE, "fixtures")
    for name, has_stacks in (("report-summary", False), ("report-tags", False),
                             ("report-stacks", True)):
        path = os.path.join(tools.work, name)
        mkcapture.compile_fixture(os.path.join(fixtures, name + ".txt"), path)
        yield name, path, has_stacks
    path = os.path.join(tools.work, "generated")
    tools.run(tools.generate, "-o", path, "-n", "100k")
    yield "generated", path, False
    path = os.path.join(tools.work, "many-stacks")
    large_captures.make("stacks", path, 300)
    yield "many-stacks", path, True


def main():
    """Compare each capture."""
    builddir, work = (os.path.abspath(path) for path in sys.argv[1:3])
    os.makedirs(work, exist_ok=True)
    tools = Tools(builddir, work)
    print(tools.run("go", "version").strip())
    for name, path, has_stacks in captures(tools):
        profile = tools.profile(path, name)
        by = "stack" if has_stacks else "callsite"
        document = tools.json(path, "--by", by + ",kind")
        compare_top(tools, name, profile, document, has_stacks)
        compare_tags(tools, name, profile, document)
        compare_traces(tools, name, profile, document, has_stacks)
        compare_difference(tools, path, profile, document, has_stacks)
        print(f"{name}: {os.path.getsize(profile)} bytes, "
              f"{len(document['groups'])} groups: the sums are equal")
    print(tools.pprof("inuse_space", "-top",
                      os.path.join(work, "report-stacks.pb.gz")))


if __name__ == "__main__":
    main()
