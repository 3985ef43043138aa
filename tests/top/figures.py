#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the figures of kmemtrace-top with kmemtrace-report and with the reference
on the records of the same random captures.

    figures.py [SEED...]      only these seeds
"""

import collections
import os
import sys
import tempfile

import mkstream
import seeds
from random_captures import Maker
from reference_capture import Capture
from reference_figures import Figures
from reference_names import Symbols
from reference_totals import Options
from target import BYTE_ORDER
from top_case import documents, report, rows_of_report, rows_of_top, top

N_SEEDS = 40
GROUPINGS = ["callsite", "cache", "comm", "module"]
KINDS = ["kmalloc", "cache", "slab", "pages", "percpu", "vmalloc"]
TICKS_NS = [10**5, 10**6, 10**7, 10**9]
TOLERANCES_NS = [0, 10**6]


class Wrong(Exception):
    """A figure differs."""


def equal(got, want, what):
    """Raise Wrong with the differences of two dictionaries."""
    if got == want:
        return
    lines = [f"{key}: {got.get(key)}, must be {want.get(key)}"
             for key in sorted(set(got) | set(want), key=str)
             if got.get(key) != want.get(key)]
    raise Wrong(f"{what}: " + "; ".join(lines[:5]))


def make(seed, directory):
    """Write a capture that kmemtraced could have sent; return its maker."""
    maker = Maker(seed)
    maker.big = BYTE_ORDER == "big"
    maker.has_meta = True
    maker.unit = 1
    maker.pace = [10**4, 10**6][seed % 3 == 0]
    for _ in range(maker.rng.choice([0, 30, 1500])):
        maker.step()
    maker.write(directory)
    return maker


def run_top(stream, *args):
    """Return the documents of kmemtrace-top, which must succeed."""
    run = top("-b", "--json", f"--read={stream}", *args)
    if run.returncode or run.stderr:
        raise Wrong(f"exit status {run.returncode}: {run.stderr}")
    return documents(run.stdout)


def compare_reference(maker, directory, view, tolerance):
    """Compare the figures of each kind with the reference."""
    figures = Figures(Capture(directory, maker.size, maker.big),
                      Options(tolerance=tolerance),
                      Symbols(maker.kallsyms, maker.modules))
    for kind in KINDS:
        got, want = view["kinds"][kind], figures.kinds[kind]
        # A FREE without an object counts for its kind in the report only.
        equal({"allocs": got["allocs"], "bytes": got["allocated_bytes"],
               "live": got["live_bytes"], "objects": got["live_objects"]},
              {"allocs": want.allocs, "bytes": want.alloc,
               "live": want.live, "objects": want.objects}, kind)


def compare_iterations(stream, tick_ns, view, clock):
    """Check that the intervals of all views add up to the last view."""
    views = run_top(stream, "-d", f"{max(tick_ns * 3 / 1e9, .01):f}", clock)
    sums = collections.Counter()
    for each in views:
        for row in each["rows"]:
            key = row["name"], row["kind"]
            sums[key, "allocs"] += row["interval_allocs"]
            sums[key, "frees"] += row["interval_frees"]
            sums[key, "live_bytes"] += row["growth_bytes"]
    want = collections.Counter()
    for row in view["rows"]:
        for column in ("allocs", "frees", "live_bytes"):
            want[(row["name"], row["kind"]), column] += row[column]
    equal(sums, want, "sums of the intervals")
    equal(rows_of_top(views[-1]), rows_of_top(view), "last of several views")
    return len(views)


def run_seed(seed, directory):
    """Compare one capture; return what it had."""
    capture = os.path.join(directory, "capture")
    os.mkdir(capture)
    maker = make(seed, capture)
    if not any(maker.cpus.values()):
        return {"empty": 1}
    tick_ns = TICKS_NS[seed % len(TICKS_NS)]
    tolerance = TOLERANCES_NS[seed % len(TOLERANCES_NS)]
    stream = os.path.join(directory, "stream")
    with open(stream, "wb") as file:
        file.write(mkstream.convert(capture, tick_ns=tick_ns,
                                    records=seed % 7 + 1))
    clock = f"--clock-tolerance={tolerance}"
    for by in GROUPINGS:
        view, = run_top(stream, "-d", "1000000", "--by", by, clock)
        if not view["header"]["ended"]:
            raise Wrong("the last view has not ended")
        equal(rows_of_top(view),
              rows_of_report(report(capture, "--by", by, clock), by), by)
        if by == "callsite":
            compare_reference(maker, capture, view, tolerance)
            n_views = compare_iterations(stream, tick_ns, view, clock)
    header = view["header"]
    return {"events": header["events"], "lost": header["lost"],
            "before": header["frees_before_trace"],
            "unmatched": header["unmatched_frees"],
            "deferred": maker.deferring > 0, "several views": n_views > 2}


def main():
    """Run all seeds; each property must occur in at least one capture."""
    given = [int(s) for s in sys.argv[1:]]
    met = collections.Counter()
    failed = 0
    for seed in given or seeds.several(N_SEEDS):
        with tempfile.TemporaryDirectory() as directory:
            try:
                met.update({name: int(n) for name, n
                            in run_seed(seed, directory).items()})
            except Wrong as error:
                print(f"seed {seed}: {error}")
                failed += 1
    print(dict(met))
    if not given and seeds.IS_DEFAULT and not all(met.values()):
        print("never tried:", [name for name in met if not met[name]])
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
