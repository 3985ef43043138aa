#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares two builds of kmemtrace-report: on the same captures and options
both must print the same bytes, the same messages, and exit alike.

    report-compare.py OLD NEW [SEEDS [FIRST]]

OLD and NEW are programs.  The captures are all fixtures and SEEDS random ones
(default: 300) from seed FIRST on (default: 1), each with several random command
lines.  A difference is printed with its seed and kept in report-compare.out/.
In NEW's JSON no object may have a key twice.
"""

import glob
import importlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import mkcapture

SRCDIR = os.environ.get("top_srcdir", ".")
KEPT = "report-compare.out"
RUNS = 6
DIMENSIONS = ["callsite", "function", "module", "directory", "kind", "cache",
              "size", "cpu", "node", "gfp", "pid", "comm", "context", "owner",
              "stack"]
FIELDS = ["wasted", "frag", "requested", "allocated", "allocs", "frees", "live",
          "live-objects", "live-requested", "live-wasted", "live-frag",
          "reused", "peak", "peak-time", "at-peak", "cross-cpu", "remote-node",
          "lifetime-median", "lifetime-p99", "age-median", "churn"]
SITE = 0xffffffff81000000
rr = importlib.import_module("report-random")


class Maker(rr.Maker):
    """A random capture of version 1 or 2, with all tables."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = self.rng
        self.version = 1 if self.size == 56 else rng.choice([1, 2, 2, 2])
        self.has_meta |= self.version == 2
        self.sample = rng.choice([1] * 6 + [7, 1 << 40])
        self.stacks = rng.randrange(1, 40)

    def owner(self):
        """What version 2 has behind a record."""
        rng = self.rng
        extra = struct.pack((">" if self.big else "<") + "IHH",
                            rng.randrange(12), rng.randrange(9),
                            rng.choice([0, 0, 1, 2, 3, 4, 8]))
        if self.size >= 72:
            extra += struct.pack((">" if self.big else "<") + "II",
                                 rng.randrange(self.stacks + 2), 0)
        return extra

    def tables(self):
        """caches, tasks and stacks, as text."""
        rng = self.rng
        yield "caches", "# kmemtrace: caches\n" + "".join(
            f"{n} {64 * n} {64 * n} 0 - cache\\040{n}\n" for n in range(1, 8))
        yield "tasks", "# kmemtrace: tasks\n" + "".join(
            f"{rng.randrange(11)} {rng.choice(['-', rng.randrange(10 ** 9)])} "
            f"task{rng.randrange(6)}\n" for _ in range(30))
        lines = []
        for n in range(1, self.stacks + 1):
            depth = rng.choice([1, 2, 5, 30])
            lines.append(f"{n} " + ",".join(
                f"{rng.choice(self.site_list):x}" for _ in range(depth)))
        yield "stacks", "# kmemtrace: stacks\n" + "\n".join(lines) + "\n"

    def write(self, directory):
        super().write(directory)
        path = os.path.join(directory, "kmemtrace.meta")
        if self.has_meta:
            with open(path, encoding="ascii") as f:
                meta = f.read()
            meta = meta.replace("abi_version=1", f"abi_version={self.version}"
                                f"\nsample={self.sample}")
            with open(path, "w", encoding="ascii") as f:
                f.write(meta)
        if self.version < 2:
            return
        for cpu, records in self.cpus.items():
            with open(f"{directory}/cpu{cpu}.out", "wb") as f:
                for record in records:
                    f.write(rr.ref.pack(record, self.big) + self.owner())
        for name, text in self.tables():
            with open(f"{directory}/{name}", "w", encoding="ascii") as f:
                f.write(text)


def some(rng, words, most=4):
    """A few of them, with commas between."""
    return ",".join(rng.sample(words, rng.randrange(1, most + 1)))


def options(rng):
    """A random command line."""
    line = ["--clock-tolerance", "0"] if rng.random() < 0.5 else []
    form = rng.choice(["", "", "--json", "--json", "--csv", "--folded"])
    if form:
        line.append(form)
    if rng.random() < 0.6:
        line += ["--by", some(rng, DIMENSIONS, 3)]
    if rng.random() < 0.2:
        line.append("--stacks")
    if rng.random() < 0.4:
        line += ["--fields", some(rng, FIELDS, 6)]
    if rng.random() < 0.4:
        line += ["--sort", some(rng, FIELDS + ["callsite", "ptr"])]
    if rng.random() < 0.4:
        line += ["--lines", rng.choice(["0", "1", "3", "50"])]
    if form in ("", "--json"):
        if rng.random() < 0.3:
            line.append("--leaks")
        if rng.random() < 0.3:
            line += ["--windows", rng.choice(["4", "7", "50", "1000"])]
        if rng.random() < 0.2:
            line.append("--cross-cpu")
        if rng.random() < 0.3:
            line += ["--histogram", rng.choice(["lifetime", "size"])]
    for choice, likely in (("--live", 0.2), ("--slab", 0.1), ("--page", 0.1),
                           ("--before-trace", 0.2), ("--raw-ip", 0.1),
                           ("--quiet", 0.3), ("--time=0,0.001", 0.1),
                           ("--time=0.000001,", 0.1), ("--time=peak", 0.1),
                           ("--lifetime=1us-", 0.1), ("--kind=slab", 0.1),
                           ("--cpu=0-1", 0.1), ("--node=0", 0.05),
                           ("--size=64-4k", 0.1), ("--callsite=fn*", 0.1),
                           ("--churn=10us", 0.1)):
        if rng.random() < likely:
            line.append(choice)
    return line + ["--jobs", rng.choice(["1", "2", "3", "5"])]


def unique(pairs):
    """json's hook: an object whose keys differ."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key is there twice: "
                         + " ".join(key for key, _ in pairs))
    return dict(pairs)


def differences(programs, line, directory):
    """Why they are not alike; None."""
    runs = [subprocess.run([p, *line, directory], capture_output=True,
                           timeout=600, check=False) for p in programs]
    for name in "returncode", "stderr", "stdout":
        if getattr(runs[0], name) != getattr(runs[1], name):
            return f"another {name}"
    if "--json" in line and not runs[1].returncode:
        try:
            json.loads(runs[1].stdout, object_pairs_hook=unique)
        except ValueError as e:
            return str(e)
    return None


def captures(directory, seeds):
    """(name, directory) of each."""
    for path in sorted(glob.glob(f"{SRCDIR}/tests/fixtures/*.txt")):
        name = os.path.basename(path)[:-4]
        try:
            mkcapture.compile_fixture(path, os.path.join(directory, name))
        except mkcapture.FixtureError:
            continue
        yield name, os.path.join(directory, name)
    for seed in seeds:
        maker = Maker(seed)
        maker.pace = maker.rng.choice([100, 10 ** 4])
        for _ in range(maker.rng.choice([30, 300, 1500])):
            maker.step()
        path = os.path.join(directory, f"seed{seed}")
        os.mkdir(path)
        maker.write(path)
        yield f"seed {seed}", path


def main():
    """All captures."""
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 1
    programs = sys.argv[1:3]
    n, first = (*map(int, sys.argv[3:]), *(300, 1)[len(sys.argv) - 3:])
    runs = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, path in captures(directory, range(first, first + n)):
            rng = random.Random(name)
            lines = [[], ["--json"], ["--leaks"]]
            for line in lines + [options(rng) for _ in range(RUNS)]:
                runs += 1
                why = differences(programs, line, path)
                if not why:
                    continue
                failed += 1
                print(f"{name}: {' '.join(line)}: {why}")
                shutil.copytree(path, os.path.join(KEPT, name),
                                dirs_exist_ok=True)
            shutil.rmtree(path)
    print(f"{runs} runs, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
