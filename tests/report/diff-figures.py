#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check each figure of kmemtrace-report --diff against the JSON reports of the single
captures, for random captures with every defect.

    diff-figures.py [SEED...]                 only these seeds
    diff-figures.py BASE NEW [BY [OPTION...]] two captures, by dimensions of the report
"""

import collections
import os
import random
import re
import sys
import tempfile

import random_captures
import seeds
from reference_diff import FIELDS, Comparison, Wrong, expect

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")
N_SEEDS = 40
DIMENSIONS = ["callsite", "callsite", "function", "module", "kind", "cache", "size",
              "cpu", "node", "gfp"]


class Maker(random_captures.Maker):
    """One of several captures of the same kernel, or of another build of it."""

    def __init__(self, seed, kernel):
        super().__init__(seed)
        self.kallsyms, self.modules = kernel.kallsyms, kernel.modules
        # Some call sites are not used in each capture.
        self.site_list = [site for site in kernel.site_list
                          if self.rng.random() < .9] or kernel.site_list
        self.unit = kernel.unit
        self.build = "0123456789abcdef"

    def record(self, event, kind, ptr):
        """Few flags."""
        record = super().record(event, kind, ptr)
        record["gfp_flags"] = self.rng.choice([0, 0xcc0, 0x400dc0])
        return record

    def rebuild(self):
        """Move all functions, and the code in them, as another compiler does."""
        starts = sorted({int(line.split()[0], 16) for line in
                         self.kallsyms.splitlines()})
        moved = {}
        distance = 0
        for start in starts:
            moved[start] = start + distance
            distance += 16 * (1 + len(moved) % 3)
        self.kallsyms = re.sub(r"(?m)^[0-9a-f]{16}",
                               lambda m: f"{moved[int(m[0], 16)]:016x}", self.kallsyms)
        self.modules = ""
        self.build = "fedcba9876543210"

        def move(site):
            start = max((s for s in starts if s <= site), default=None)
            return site if start is None else moved[start] + (site - start)

        for records in self.cpus.values():
            for record in records:
                record["call_site"] = move(record["call_site"])

    def write(self, directory):
        """Write the capture with the ID of its build."""
        os.mkdir(directory)
        super().write(directory)
        path = os.path.join(directory, "kmemtrace.meta")
        if self.has_meta:
            with open(path, encoding="ascii") as f:
                text = f.read()
            with open(path, "w", encoding="ascii") as f:
                f.write(text.replace("[capture]\n",
                                     f"[capture]\nbuild_id={self.build}\n"))


def make_captures(rng, seed, tmp, n):
    """Write n captures of a kernel; the last one may be of another build."""
    kernel = random_captures.Maker(seed)
    paths = []
    for i in range(n):
        maker = Maker(seed * 100 + i, kernel)
        for _ in range(rng.choice([60, 600])):
            maker.step()
        if i == n - 1 and rng.random() < .4:
            maker.rebuild()
        paths.append(os.path.join(tmp, f"capture{i}"))
        maker.write(paths[-1])
    return paths


def run_seed(seed, tmp):
    """Compare captures; return what the comparison had."""
    rng = random.Random(seed + .5)
    n_base, n_new = rng.choice([(1, 1), (1, 1), (1, 2), (2, 2), (3, 3), (4, 2)])
    paths = make_captures(rng, seed, tmp, n_base + n_new)
    by = list(dict.fromkeys(rng.sample(DIMENSIONS, rng.choice([1, 1, 2]))))
    fields = rng.sample(FIELDS, rng.randint(1, 5))
    options = rng.choice([[], [], ["--kind", "slab"], ["--time", "0,0.002"],
                          ["--callsite", "*fn1*"], ["--error-rate", ".2"]])
    extra = options if options[:1] == ["--error-rate"] else []
    comparison = Comparison(REPORT, paths[:n_base], paths[n_base:], by, fields,
                            [] if extra else options)
    document = comparison.check(rng.choice([None, None, "second"]), extra)
    comparison.check_csv()
    if any(field != "frag" and not field.endswith("max") for field in fields[:1]):
        comparison.check_folded()
    met = collections.Counter({f"{n_base} against {n_new}": 1})
    met.update(document["matches"])
    for line in comparison.lines:
        met["guess"] += line["possible_match"] is not None
        for cell in line["figures"].values():
            met[cell["noise"]] += 1
            met["inexact"] += not (cell["base_exact"] and cell["new_exact"])
            met["negative"] += (cell["difference"] or 0) < 0
    return met


def check_operands(base, new, by="callsite", *options):
    """Compare two captures of the user."""
    comparison = Comparison(REPORT, [base], [new], by.split(","), FIELDS, options)
    document = comparison.check()
    comparison.check_csv()
    comparison.check_folded()
    print(f"{len(comparison.lines)} lines, {len(FIELDS)} fields: each difference is "
          "that of the two JSON reports;", document["matches"])


def main():
    """Run all seeds."""
    if len(sys.argv) > 2 and not sys.argv[1].isdigit():
        check_operands(*sys.argv[1:])
        return
    given = [int(seed) for seed in sys.argv[1:]]
    met = collections.Counter()
    for seed in given or seeds.several(N_SEEDS):
        with tempfile.TemporaryDirectory() as tmp:
            try:
                met += run_seed(seed, tmp)
            except Wrong as error:
                sys.exit(f"seed {seed}: {error}")
    print(dict(met))
    if seeds.IS_DEFAULT and not given:
        expect(all(met[what] for what in (
            "same", "aligned", "removed", "added", "unknown", "within", "exceeds",
            "inexact", "negative")), "a case never occurred")


if __name__ == "__main__":
    main()
