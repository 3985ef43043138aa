#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Let speedscope and d3-flame-graph read the output of kmemtrace-report --folded,
and compare every frame and weight with --json.

The step folded of scripts/test runs this script, which needs npm and chromium.  npm
installs the readers, pinned by hash, in WORK.

    folded-readers.py BUILDDIR WORK
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys

import mkcapture

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "report", "fixtures")
# Names with the separators of the format, markup, digits, and other letters.
HOSTILE = """
meta
  [capture]
  format=1
  abi_version=2
  record_size=64
  byte_order=little
  complete=true
  overruns=0
  [cpu0]
  overruns=0
kallsyms
  ffffffff81000000 T plain
  ffffffff81001000 T a;b
  ffffffff81002000 T <b>"&amp;'
  ffffffff81003000 T ends.123
  ffffffff81004000 T __proto__
  ffffffff81005000 T constructor
  ffffffff81007000 T _end
tasks
  : # kmemtrace: tasks
  : # columns: pid until name
  : # dropped: 0
  1 - a b;c 12
  2 - <script>alert(1)</script>
cpu 0 little size=64
"""


def check(good, *words):
    """End the script unless good."""
    if not good:
        sys.exit(" ".join(str(w) for w in ("folded-readers:", *words)))


def run(*argv, **settings):
    """Return the output of a program that must succeed."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **settings)
    check(done.returncode == 0, " ".join(argv[:4]), "ended with",
          done.returncode, done.stderr[-3000:], done.stdout[-1000:])
    return done.stdout


def frame(text):
    """Return a text as a frame, which has no blank and no semicolon."""
    return re.sub("[; \n]", "_", text)


def function_of(place):
    """Return the frame of a function in a call stack."""
    if place["symbol"] is None:
        return place["address"]
    name = place["symbol"].split(" ")[0].rsplit("+", 1)[0]
    return frame(name + (f" [{place['module']}]" if place["module"] else ""))


def expected(document, by, member):
    """Return {frames: weight} of the groups of a report."""
    stacks = collections.Counter()
    for group in document["groups"]:
        frames = [group["kind"]]
        for dimension in by:
            if dimension == "stack":
                frames += [function_of(p) for p in reversed(group["stack"])]
            else:
                frames.append(frame(group[dimension]))
        stacks[tuple(frames)] += group[member]
    return +stacks


def prefixes(stacks):
    """Return {frames: weight of all stacks that begin with them}."""
    sums = collections.Counter()
    for frames, weight in stacks.items():
        for n in range(1, len(frames) + 1):
            sums[frames[:n]] += weight
    return sums


def captures(builddir, work):
    """Yield (name, directory, dimensions, options, member) of the cases."""
    def fixture(name):
        path = os.path.join(work, name)
        if not os.path.isdir(path):
            mkcapture.compile_fixture(os.path.join(FIXTURES, name + ".txt"), path)
        return path

    stacks = fixture("report-stacks")
    yield "stacks", stacks, ["stack"], [], "bytes_allocated"
    yield "live", stacks, ["stack"], ["--live"], "live_bytes_allocated"
    yield ("tasks", stacks, ["comm", "stack"], ["--fields", "allocs"], "allocs")
    yield ("directories", fixture("report-tags"), ["directory", "function"], [],
           "bytes_allocated")
    yield "modules", fixture("report-summary"), ["module", "function"], [], \
        "bytes_allocated"
    text = HOSTILE + "".join(
        f"alloc kmalloc t={i} site={0xffffffff81000010 + 0x1000 * (i // 2 % 6):#x} "
        f"ptr={0x1000 + 64 * i:#x} req=8 alloc={8 * (i + 1)} pid={1 + i % 2} "
        "cache=0 flags=0\n" for i in range(14))
    path = os.path.join(work, "hostile")
    mkcapture.compile_text(text).write(path)
    yield "names", path, ["comm", "function"], [], "bytes_allocated"
    path = os.path.join(work, "generated")
    run(os.path.join(builddir, "bench", "generate"), "-o", path, "-n", "50k")
    yield "generated", path, ["cpu", "function", "size"], [], "bytes_allocated"


def main():
    """Compare each case."""
    builddir, work = (os.path.abspath(path) for path in sys.argv[1:3])
    os.makedirs(work, exist_ok=True)
    browser = shutil.which("chromium")
    check(browser, "chromium is missing")
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(os.path.join(HERE, name), work)
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=work)
    report = os.path.join(builddir, "report", "kmemtrace-report")
    cases = {}
    for name, path, by, options, member in captures(builddir, work):
        file = os.path.join(work, name + ".folded")
        argv = ["-q", "--by", ",".join(by), *options, path]
        with open(file, "w", encoding="utf-8") as f:
            f.write(run(report, "--folded", *argv))
        cases[file] = expected(json.loads(run(report, "--json", *argv)), by,
                               member)
    read = json.loads(run(
        "node", os.path.join(HERE, "readers.mjs"),
        os.path.join(work, "node_modules"), browser, *cases, cwd=work))
    for file, want in cases.items():
        name = os.path.basename(file)
        check(want, name, "has no stack")
        for reader, sums in (("speedscope", want), ("drawn", prefixes(want))):
            got = collections.Counter()
            for frames, weight in read[file][reader]:
                got[tuple(frames)] += weight
            check(+got == sums, name, "of", reader,
                  list((got - sums).items())[:3], list((sums - got).items())[:3])
        print(f"{name}: {len(want)} stacks are equal in speedscope, "
              f"{len(prefixes(want))} frames in d3-flame-graph")


if __name__ == "__main__":
    main()
