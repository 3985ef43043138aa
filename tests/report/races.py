#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures full of ties and races of the clocks, which report_reference.py
does not know: what reference_match.py says of them, added up, is what
kmemtrace-report --json must say.

Peaks are left out: they depend on when a decision is made.
"""

import collections
import json
import os
import random
import subprocess
import sys
import tempfile

import mkcapture
import reference_match
import seeds

BUILD = os.environ.get("top_builddir", ".")
PROGRAM = os.path.join(BUILD, "report", "kmemtrace-report")
SMALL = os.path.join(BUILD, "tests", "report",
                     "report-small")  # blocks of 3 records
KINDS = ["kmalloc", "cache", "pages"]
TOLERANCE = 100
N_SEEDS = 150


class Capture:
    """Records at few addresses, close in time, on several CPUs."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.capture = mkcapture.Capture()
        self.records = {}
        self.lossy = rng.random() < 0.2
        addresses = [0x1000 + 8 * i for i in range(rng.randint(1, 5))]
        for cpu in range(rng.randint(1, 4)):
            self.capture.add(cpu, b"")
            t = rng.randint(0, 100)
            for index in range(rng.randint(0, 40)):
                t += rng.choice([0, 1, 10, 30, 90, 101, 500])
                record = {"event_id": rng.choice([1, 2]),
                          "type_id": rng.choice([0, 0, 0, 1, 2]), "t": t,
                          "ptr": rng.choice(addresses),
                          "site": rng.choice([0x10, 0x20, 0x30]),
                          "req": rng.randint(1, 1000), "alloc": 1000}
                self.records[f"{cpu}:{index}"] = record
                self.capture.add(cpu, mkcapture.event(**record))
        self.capture.texts["kmemtrace.meta"] = (
            "[capture]\ncomplete=true\nrecord_size=56\nbyte_order=little\n"
            f"overruns={int(self.lossy)}\n")

    def site(self, name):
        """The call site of a record, as the report groups them."""
        record = self.records[name]
        return record["site"], KINDS[record["type_id"]]

    def cpus_of_free(self, old, time):
        """Where the late FREE of an object at that time may have been."""
        want = self.records[old]
        return {name.split(":")[0] for name, r in self.records.items()
                if r["event_id"] == 2 and r["t"] == int(time) and
                (r["ptr"], r["type_id"]) == (want["ptr"], want["type_id"])}


class Expected:
    """The sums of what the reference says."""

    def __init__(self, capture):
        self.capture = capture
        self.sites = collections.defaultdict(collections.Counter)
        self.kinds = collections.defaultdict(collections.Counter)
        self.unmatched = collections.Counter()
        self.doubles = collections.Counter()
        self.mismatches = collections.Counter()
        self.pairs = collections.Counter()
        self.cross_is_known = True
        for name, record in capture.records.items():
            kind = KINDS[record["type_id"]]
            if record["event_id"] == 2:
                self.kinds[kind]["frees"] += 1
            else:
                self.count(name, "allocs", 1)
                self.count(name, "bytes_requested", record["req"])
                self.count(name, "bytes_allocated", record["alloc"])
        tell = {"free": self.free, "double": self.double, "live": self.live,
                "unmatched": self.unmatched_free,
                "replaced": lambda old, new: None}  # is told as double too
        files = {cpu: list(reference_match.read(bytes(data)))
                 for cpu, data in capture.capture.cpus.items()}
        for line in reference_match.reference(files, TOLERANCE,
                                              capture.lossy):
            words = line.split()
            tell[words[0]](*words[1:])
        for key in ("frees", "allocs", "bytes_allocated", "cross_cpu_frees",
                    "live_objects"):
            self.kinds["slab"][key] = (self.kinds["kmalloc"][key] +
                                       self.kinds["cache"][key])

    def count(self, name, key, n):
        """Adds to the site of a record, and to the kind but for frees."""
        site = self.capture.site(name)
        self.sites[site][key] += n
        if key != "frees":
            self.kinds[site[1]][key] += n

    def free(self, alloc, free, mismatch=None):
        """A matched pair."""
        self.count(alloc, "frees", 1)
        self.count(alloc, "cross_cpu_frees",
                   alloc.split(":")[0] != free.split(":")[0])
        if mismatch:
            self.mismatches[self.capture.site(alloc),
                            self.capture.site(free)] += 1

    def double(self, old, new, why, time=None):
        """A double allocation; of a race, the time of the FREE."""
        self.doubles[why] += 1
        if why == "unexplained":
            self.pairs[self.capture.site(old), self.capture.site(new)] += 1
        if time is None:
            return
        cpus = self.capture.cpus_of_free(old, time)
        self.cross_is_known &= len(cpus) == 1
        self.count(old, "frees", 1)
        self.count(old, "cross_cpu_frees", cpus != {old.split(":")[0]})

    def unmatched_free(self, free, why):
        """A free without an object."""
        self.unmatched[why, self.capture.site(free)] += 1

    def live(self, name):
        """Live at the end."""
        record = self.capture.records[name]
        self.count(name, "live_objects", 1)
        self.count(name, "live_bytes_requested", record["req"])
        self.count(name, "live_bytes_allocated", record["alloc"])


KEYS = ["allocs", "frees", "bytes_requested", "bytes_allocated",
        "live_objects", "live_bytes_requested", "live_bytes_allocated",
        "cross_cpu_frees"]


def figures(got, want, keys):
    """The figures of a T that are not as expected."""
    return {k: (got[k], want[k]) for k in keys if got[k] != want[k]}


def compare(report, want):
    """What differs, as a list."""
    findings = report["findings"]
    keys = [k for k in KEYS
            if want.cross_is_known or k != "cross_cpu_frees"]
    wrong = []
    rows = {(int(r["address"], 16), r["kind"]): r for r in report["callsites"]}
    if set(rows) != set(want.sites):
        wrong.append(("sites", sorted(rows), sorted(want.sites)))
    for site, totals in want.sites.items():
        wrong.append(figures(rows[site], totals, keys))
    for kind in KINDS:
        wrong.append(figures(report["kinds"][kind], want.kinds[kind], keys))
    wrong.append(figures(
        report["kinds"]["slab"], want.kinds["slab"],
        [k for k in ("frees", "allocs", "bytes_allocated", "cross_cpu_frees",
                     "live_objects") if k in keys]))
    for why, n in findings["double_allocations"].items():
        if n != want.doubles[why]:
            wrong.append((why, n, want.doubles[why]))
    unmatched = collections.Counter()
    for why in ("before_trace", "after_loss", "unexplained"):
        for row in findings[f"{why}_sites"]:
            unmatched[why, (int(row["address"], 16), row["kind"])] = \
                row["frees"]
    if unmatched != want.unmatched:
        wrong.append((unmatched, want.unmatched))
    for key, first, second, pairs in (
            ("type_mismatch_pairs", "allocated", "freed", want.mismatches),
            ("double_allocation_pairs", "older", "newer", want.pairs)):
        got = {tuple((int(row[k]["address"], 16), row[k]["kind"])
                     for k in (first, second)): row["count"]
               for row in findings[key]}
        if got != pairs:
            wrong.append((key, got, pairs))
    return [w for w in wrong if w]


def main():
    """All seeds."""
    met = collections.Counter()
    failed = 0
    for seed in seeds.several(N_SEEDS):
        capture = Capture(seed)
        want = Expected(capture)
        with tempfile.TemporaryDirectory() as directory:
            capture.capture.write(directory)
            runs = [subprocess.run(
                [program, "--json", "-q", "--raw-ip", "--clock-tolerance",
                 str(TOLERANCE), "--jobs", jobs, directory],
                                   capture_output=True, check=True)
                    for program, jobs in ((PROGRAM, "1"), (SMALL, "1"),
                                          (SMALL, "3"))]
        wrong = compare(json.loads(runs[0].stdout), want)
        if len({run.stdout for run in runs}) > 1:
            wrong = "it depends on the number of jobs or on blocks"
        if wrong:
            failed += 1
            print(f"seed {seed}: (report, expected): {wrong}")
        met.update(want.doubles)
        met["mismatches"] += sum(want.mismatches.values())
        met["cross"] += want.cross_is_known
    print(f"{N_SEEDS} captures, {failed} failed; {dict(met)}")
    tried = all(met[k] for k in ("race", "unexplained", "after_loss",
                                 "mismatches", "cross"))
    return 0 if (tried or not seeds.IS_DEFAULT) and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
