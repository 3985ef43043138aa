#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare each figure of kmemtrace-report with the reference, for random captures
with every defect and random options.

    figures.py [SEED...]     only these seeds
"""

import os
import random
import re
import struct
import sys
import tempfile

import random_captures
import seeds
from figures_compare import Comparison, Options, Wrong, complete
from reference_capture import Capture
from reference_names import Symbols
from reference_output import FIELDS, OTHERS, SUMS
from target import BYTE_ORDER

N_SEEDS = 60
# A seed whose capture has a leak, which is rare.
LEAK_SEED = 243
N_OPTIONS = 3
DIMENSIONS = ["callsite", "function", "module", "directory", "kind", "cache",
              "size", "cpu", "node", "gfp"]
TASK_DIMENSIONS = ["comm", "cgroup"]
COUNTS = [f for f in FIELDS if (SUMS[f][0] if f in SUMS else OTHERS[f]) ==
          "count"]


# Sampling factors; 0 and text are invalid.
SAMPLES = [0, 1, "x", 2, 7, 1000, 2 ** 32 - 1, 2 ** 33 + 1, 2 ** 50,
           2 ** 62 - 1, 2 ** 62, 2 ** 63, 2 ** 64 - 1, 2 ** 64]


class Maker(random_captures.Maker):
    """Makes captures with losses of all kinds, few different values, and addresses
    that several CPUs use at the same time."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = self.rng
        self.seed = seed
        self.begin = self.time
        self.addresses = rng.choice([8, 300])
        self.pace = rng.choice([3, 100, 10 ** 4])
        # Few sizes, so that sums are equal.
        self.sizes = rng.choice([None, [8, 64, 4096]])
        # A separate generator, so that the other values of a seed do not change.
        rng = random.Random(seed + 0.5)
        # No sampling with huge records, whose own sums overflow and would hide the
        # effect of the scaling.
        self.sample = self.unit <= 1 << 40 and rng.choice(
            [None, None, None, *SAMPLES])
        # Another one for the tasks.
        self.tasks_rng = random.Random(seed + 0.75)

    def record(self, event, kind, ptr):
        """Few sizes and flags."""
        record = super().record(event, kind, ptr)
        record["gfp_flags"] = self.rng.choice([0, 0xcc0, 0x400dc0])
        if self.sizes:
            record["bytes_req"] = self.rng.choice(self.sizes) * self.unit
            record["bytes_alloc"] = self.rng.choice([8, 64, 4096, 8192])
            record["bytes_alloc"] *= self.unit
        return record

    def some_ptr(self):
        """Return one of a few addresses."""
        return 0xffff888000000000 + self.rng.randrange(
            1, self.addresses) * 4096

    def lose(self, rng):
        """Insert LOST records. Returns the number of lost events of each CPU."""
        lost = dict.fromkeys(self.cpus, 0)
        is_late = rng.random() < .4
        for cpu, records in self.cpus.items():
            for _ in range(rng.choice([0, 0, 1, 2, 5])):
                place = rng.randrange(len(records) * 3 // 4 * is_late,
                                      len(records) + 1)
                time = records[place - 1]["timestamp"] if place else self.begin
                since = time - rng.choice([0, 1, 3 * self.pace, 10 ** 5])
                n = rng.choice([1, 2, 1000])
                records.insert(place, {
                    **self.record(random_captures.LOST, 0, 0), "timestamp": time,
                    "bytes_req": n, "bytes_alloc": since % 2 ** 64})
                lost[cpu] += n
            lost[cpu] = max(0, lost[cpu] + rng.choice([0, 0, -1, 5]))
        return lost

    def extra(self, record):
        """Return the owner of a record: one of few tasks, without a cache."""
        record["pid"] = self.tasks_rng.randrange(7)
        if self.size < 64:
            return b""
        return struct.pack((">" if self.big else "<") + f"I{self.size - 60}x",
                           record["pid"])

    def write_tasks(self, directory):
        """Write the names and the cgroups of tasks, with changes at and beside the
        times of their records."""
        rng = self.tasks_rng
        records = [r for cpu in self.cpus.values() for r in cpu]
        for table, names in (
                ("tasks", ["sh", "a\\040b", "kworker/0:1", "x\\012y"]),
                ("cgroups", ["/", "/a", "/a/b", "/a/c d;e,f", "/a\\134x",
                             "/\\012"])):
            if rng.random() < .1:
                continue
            with open(f"{directory}/{table}", "w", encoding="ascii") as f:
                f.write(f"# kmemtrace: {table}\n")
                for _ in range(rng.choice([0, 5, 40, 300]) if records else 0):
                    record = rng.choice(records)
                    until = max(0, record["timestamp"] + rng.choice([-1, 0, 1]))
                    f.write(f"{record['pid']} {rng.choice(['-'] + [until] * 9)} "
                            f"{rng.choice(names)}\n")

    def write_losses(self, meta, lost):
        """Add the losses to kmemtrace.meta."""
        if not self.overruns:
            return meta
        if not any(lost.values()):
            lost[0] = 7
        meta = meta.replace("abi_version=1", "abi_version=2")
        meta = re.sub("overruns=7", f"overruns={sum(lost.values())}", meta)
        for cpu, n in lost.items():
            meta = meta.replace(f"[cpu{cpu}]\n",
                                f"[cpu{cpu}]\noverruns={n}\n")
        return meta

    def write(self, directory):
        """Write the capture, then remove parts of it."""
        # Since version 2, kmemtrace.meta has the lost events of each CPU.
        lost = dict.fromkeys(self.cpus, 0) if self.abi > 1 else None
        if self.size >= 64 and any(self.cpus.values()):
            # A separate generator, as for sampling.
            state, self.rng = self.rng, random.Random(self.seed + 0.25)
            lost = self.lose(self.rng)
            self.rng = state
        truncated = super().write(directory)
        self.write_tasks(directory)
        rng = self.rng
        path = f"{directory}/kmemtrace.meta"
        if not self.has_meta:
            return truncated
        with open(path, encoding="ascii") as f:
            meta = f.read()
        if lost:
            meta = self.write_losses(meta, lost)
            # Records of version 1 have no task.
            if self.tasks_rng.random() < .8:
                meta = meta.replace("abi_version=1", "abi_version=2")
        what = rng.randrange(8)
        if what == 0:
            meta = meta.replace("complete=true", "complete=false")
        elif what == 1:
            meta = meta.replace("complete=true", "complete=true\n"
                                "continues=true")
        elif what == 2:
            meta += "[cpu99]\nevents=3\n"
        elif what == 3:
            meta += f"bytes={10 ** 9}\n"  # of the last CPU
        if self.sample:
            meta = meta.replace("overruns=",
                                f"sample={self.sample}\noverruns=", 1)
        with open(path, "w", encoding="ascii") as f:
            f.write(meta)
        return truncated


class Chooser:
    """Chooses random options for a capture."""

    def __init__(self, rng, capture):
        self.rng = rng
        self.capture = capture
        # A separate generator, so that the other values of a seed do not change.
        self.tasks_rng = random.Random(str(rng.getstate()))
        self.times = [r.now - capture.origin for r in capture.records] or [0]

    def maybe(self, chance, choose):
        """Return choose() with a probability of chance, otherwise None."""
        return choose() if self.rng.random() < chance else None

    def moment(self):
        """Return a time at a record, close to a record, or after the end. START is
        not later than the last record."""
        rng = self.rng
        time = rng.choice([rng.choice(self.times), self.times[-1] + 10 ** 6,
                           self.times[-1]]) + rng.choice([-1, 0, 0, 1])
        return max(0, time)

    def span(self, values):
        """Return a range of two values; the upper end may be open."""
        low, high = sorted(self.rng.choice(values) for _ in range(2))
        return (low, self.rng.choice([high, high, low, float("inf")]))

    def sort(self):
        """Return sort keys with their directions."""
        rng = self.rng
        return tuple((rng.choice(FIELDS + ["callsite", "ptr", "hit"]),
                      rng.random() < .5)
                     for _ in range(rng.choice([1, 1, 2, 3])))

    def filters(self, options):
        """Add no filter, or several."""
        rng = self.rng
        records = self.capture.records
        reqs = sorted({r.req for r in records if r.event == 1}) or [1]
        o = options
        o.kinds = self.maybe(.2, lambda: set(rng.sample(
            ["kmalloc", "cache", "pages", "percpu", "vmalloc"],
            rng.choice([1, 2, 3]))))
        o.cpus = self.maybe(.2, lambda: set(rng.sample(range(8), 4)))
        o.nodes = self.maybe(.1, lambda: {0, rng.choice([1, 2])})
        o.size = self.maybe(.2, lambda: self.span(reqs))
        o.callsite = self.maybe(.15, lambda: rng.choice(
            ["*fn1*", "0x*", "fn?", "*", "init[0]", "__fn*"]))
        o.module = self.maybe(.15, lambda: rng.choice(
            ["vmlinux", "mod?", "mod1", "*"]))

    def tasks(self, options):
        """Add dimensions and a filter of tasks to other options, or none."""
        rng = self.tasks_rng
        more = tuple(rng.sample(TASK_DIMENSIONS, rng.choice([1, 1, 2])))
        options.by = rng.choice([options.by] * 3 + [more, options.by + more,
                                                    more + options.by])
        if rng.random() < .15:
            options.cgroup = rng.choice(
                ["/", "/*", "/a/*", "/a", "*c d?e?f", "/?", "x", "(*"])

    def options(self):
        """Return random values of all options."""
        rng = self.rng
        o = Options(
            by=tuple(rng.sample(DIMENSIONS, rng.choice([1, 1, 2, 3]))),
            churn=rng.choice([0, 10, 10 ** 3, 10 ** 5, 10 ** 9]),
            lines=rng.choice([0, 0, 1, 3, 10]), sort=self.sort(),
            fields=tuple(rng.sample(FIELDS, rng.choice([1, 4, 12]))),
            tolerance=rng.choice([0, 0, 100, 10 ** 4, 10 ** 6]),
            slab=rng.random() < .15, page=rng.random() < .15,
            live=rng.random() < .15, cross_cpu=rng.random() < .3)
        if rng.random() < .4:
            o.by = ("callsite",)
        if rng.random() < .5:
            o.start = min(rng.choice([0, self.moment()]),
                          max(0, max(self.times)))
            o.stop = rng.choice([None, max(o.start, self.moment())])
        if rng.random() < .5:
            self.filters(o)
        self.tasks(o)
        if rng.random() < .2:
            o.lifetime = self.span([0, 1, 7, 100, 10 ** 4, 10 ** 6])
        elif rng.random() < .4:
            o.windows = rng.choice([1, 2, 4, 7, 1000])
            o.shows_windows = True
        if not o.lifetime and (not o.windows or o.windows >= 4):
            o.leaks = rng.random() < .3
        return o


def random_capture(seed, rng, directory):
    """Write a random capture; return its records and symbols."""
    maker = Maker(seed)
    for _ in range(rng.choice([0, 1, 2, 30, 500, 500, 500])):
        maker.step()
    maker.write(directory)
    size, big = maker.size, maker.big
    if not any(maker.cpus.values()):  # only kmemtrace.meta has the format
        size, big = 56, BYTE_ORDER == "big"
    capture = Capture(directory, size, big)
    if not capture.records:
        # A capture without a usable record has no report; empty files have.
        for cpu in maker.cpus:
            os.truncate(f"{directory}/cpu{cpu}.out", 0)
        capture = Capture(directory, size, big)
    return capture, Symbols(maker.kallsyms, maker.modules)


def run_seed(seed, directory):
    """Compare reports on one capture; return the covered properties."""
    rng = random.Random(seed)
    capture, names = random_capture(seed, rng, directory)
    chooser = Chooser(rng, capture)
    met = set()
    for _ in range(N_OPTIONS):
        options = chooser.options()
        histogram = chooser.maybe(.3, lambda: rng.choice(["lifetime", "size"]))
        complete(options, histogram)
        extra = ["--histogram", histogram] if histogram else []
        compare = Comparison(capture, names, options, extra)
        if not compare.json():
            met.add("overflow")
            continue
        form = rng.choice(["text", "csv", "folded"])
        if form == "folded" and options.fields[0] not in COUNTS:
            form = "csv"
        getattr(compare, form)()
        met |= tried(compare, form)
    return met


def capture_end(figures):
    """Return the time from the first to the last record."""
    origin = figures.capture.origin
    return 0 if origin is None else figures.last - origin


def tried_tasks(compare):
    """Return the properties of the cgroups as pairs of name and value."""
    o, figures = compare.options, compare.output.figures
    if "cgroup" not in o.by:
        return []
    place = o.by.index("cgroup")
    found = {group.values[place] for group in figures.groups.values()}
    paths = {}  # pid -> its cgroups
    for record in compare.capture.records:
        if compare.capture.tasks and record.event == 1:
            paths.setdefault(record.pid, set()).add(
                figures.naming.task("cgroup", record))
    return [("an unknown cgroup", "(unknown)" in found),
            ("a cgroup of version 1", "(not recorded)" in found),
            ("a task that moves", any(len(p) > 1 for p in paths.values())),
            ("a filtered cgroup", o.cgroup and found)]


def tried(compare, form):
    """Yield the properties of the options and the capture."""
    o = compare.options
    figures = compare.output.figures
    loss = compare.output.loss()
    is_part = compare.output.time()[2]
    met = {form} | {f"by {d}" for d in o.by} | {f"field {f}" for f in o.fields}
    met |= {f"{f.what} {f.why}" for f in figures.findings}
    met |= {name for name, value in vars(o).items() if value}
    for what, value in (
            ("unordered", figures.unordered), ("skipped", figures.skipped),
            ("truncated", figures.truncated), ("short", figures.short),
            ("a leak", o.leaks and figures.leaks()),
            ("no line", not compare.output.rows),
            ("no record", not compare.capture.records),
            ("a rest", compare.output.rest),
            ("a deferred object", figures.kinds["slab"].deferred.objects),
            ("a deferred free", figures.kinds["slab"].deferred.frees),
            ("deferred at the peak", figures.kinds["slab"].deferred.at_peak),
            ("a lifetime filter of deferred objects", o.lifetime and
             figures.kinds["slab"].deferred.objects),
            ("deferred in a window", any(
                w.kinds["slab"].deferred.bytes for w in figures.windows)),
            ("deferred at START", o.start and any(
                d.now - compare.capture.origin < o.start
                for d in figures.deferred.values())),
            ("a merged cache", compare.capture.one_slab and any(
                act.op == "free" and act.object.type != act.free.type
                for act in compare.capture.match(o.tolerance).acts)
             if compare.capture.records else False),
            ("a pair", figures.pairs), ("no name", any(
                figures.naming.symbol(r.site) is None
                for r in compare.capture.records)),
            ("beyond the end", o.stop is not None and
             capture_end(figures) < o.stop),
            ("big", compare.capture.big), ("lossy", compare.capture.lossy),
            ("cut off", compare.capture.cut_off),
            ("continues", compare.capture.continues),
            ("a loss in time", is_part and loss["holes"]),
            ("a loss out of time", is_part and loss["lost_in_time"] is not None
             and loss["lost_in_time"] < (compare.capture.overruns or 0)),
            ("a loss at any time", loss["lost_in_time"] is None
             and compare.capture.overruns),
            ("a loss with a filter", figures.filter.is_set and loss["holes"]),
            ("a loss with windows", o.windows and loss["holes"]),
            ("a sample", compare.capture.sample > 1 and not figures.saturated),
            ("a saturated sample", figures.saturated),
            *tried_tasks(compare),
            ("above 2^63", any(t.alloc >> 63
                               for t in figures.kinds.values()))):
        if value:
            met.add(what)
    return met


# Properties that the seeds must cover.
MUST = ([f"a loss {what}" for what in (
    "in time", "out of time", "at any time", "with a filter",
    "with windows")] +
        ["text", "csv", "folded", "overflow", "a sample",
         "a saturated sample", "unordered", "skipped",
         "truncated", "short", "a leak", "no line", "no record", "a rest",
         "a pair", "no name", "beyond the end", "big", "lossy", "cut off",
         "continues", "above 2^63", "double race", "double unexplained",
         "double after_loss", "mismatch mismatch", "mismatch after_loss",
         "unmatched before_trace", "unmatched unexplained",
         "unmatched after_loss", "a deferred object", "a deferred free",
         "deferred at the peak", "deferred in a window", "deferred at START",
         "a lifetime filter of deferred objects", "a merged cache",
         "unmatched_defer before_trace", "unmatched_defer after_loss",
         "unmatched_defer unexplained", "double_defer unexplained",
         "double_defer after_loss", "start", "stop", "windows", "leaks",
         "cross_cpu", "kinds", "cpus", "nodes", "size", "lifetime",
         "callsite", "module", "cgroup", "slab", "page", "live",
         "an unknown cgroup", "a cgroup of version 1", "a task that moves",
         "a filtered cgroup"] +
        [f"by {d}" for d in DIMENSIONS + TASK_DIMENSIONS] +
        [f"field {f}" for f in FIELDS])


def run_seeds(n_seeds, run, must):
    """Run the seeds of the command line, or n_seeds and LEAK_SEED.  Without a chosen
    seed, each property of must has to occur at least once.  Return the exit status."""
    given = [int(s) for s in sys.argv[1:]]
    tried_seeds = given or [*seeds.several(n_seeds), LEAK_SEED]
    met = set()
    failed = 0
    for seed in tried_seeds:
        with tempfile.TemporaryDirectory() as directory:
            try:
                met |= run(seed, directory)
            except Wrong as e:
                print(f"seed {seed}: {e}")
                failed += 1
    print(f"{len(tried_seeds)} captures, {failed} failed")
    untried = [what for what in must if what not in met]
    if not given and seeds.IS_DEFAULT and untried:
        print("never tried:", untried)
        return 1
    return 1 if failed or not tried_seeds else 0


if __name__ == "__main__":
    sys.exit(run_seeds(N_SEEDS, run_seed, MUST))
