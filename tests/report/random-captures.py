#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare kmemtrace-report --json with the reference on random captures with
every defect, in which no address is used by two CPUs at the same time.

    random-captures.py [SEED...]      only these seeds
"""

import collections
import subprocess
import sys
import tempfile

import seeds
from figures_compare import REPORT, SMALL, Comparison, Options, Wrong
from random_captures import Maker
from reference_capture import Capture
from reference_names import Symbols
from target import BYTE_ORDER

N_SEEDS = 60
RUNS = [(REPORT, 1), (REPORT, 2), (SMALL, 1), (SMALL, 5)]


def check_refusal(directory):
    """Fail unless a capture without a usable record ends in an error."""
    run = subprocess.run([REPORT, "--json", "-q", directory],
                         capture_output=True, check=False)
    if run.returncode != 1 or b"no record can be used" not in run.stderr:
        raise Wrong(f"without usable records: exit status {run.returncode}, "
                    f"{run.stderr.decode()}")


def defects_of(maker, figures):
    """Return how often a capture has each property that a run must meet."""
    findings = collections.Counter((f.what, f.why) for f in figures.findings)
    slab = figures.kinds["slab"]
    return {"short": figures.short,
            "big": maker.big and figures.capture.events, "ties": maker.ties,
            "doubles": sum(n for (what, _), n in findings.items()
                           if what == "double"),
            "lossy doubles": findings["double", "after_loss"],
            "unexplained": findings["unmatched", "unexplained"],
            "before": findings["unmatched", "before_trace"],
            "mismatches": findings["mismatch", "mismatch"],
            "lossy mismatches": findings["mismatch", "after_loss"],
            "skipped": figures.skipped, "unordered": figures.unordered,
            "truncated": figures.truncated, "cross": slab.cross,
            "remote": slab.remote, "empty": figures.capture.events == 0}


def run_seed(seed, directory):
    """Compare one capture; return what it had of each defect."""
    maker = Maker(seed)
    for _ in range(maker.rng.choice([0, 30, 1500])):
        maker.step()
    maker.write(directory)
    size, big = maker.size, maker.big
    # Without a record only kmemtrace.meta reports the format.
    if not any(maker.cpus.values()):
        size, big = 56, BYTE_ORDER == "big"
    capture = Capture(directory, size, big)
    if not capture.records and any(file.bytes for file in capture.files):
        check_refusal(directory)
        return {"nothing": 1}
    compare = Comparison(capture, Symbols(maker.kallsyms, maker.modules),
                         Options(tolerance=0), runs=RUNS)
    figures = compare.output.figures
    overflowed = not compare.json()
    if overflowed != compare.overflowed():
        raise Wrong("a sum is reported to overflow, and none does")
    return {**defects_of(maker, figures), "overflow": overflowed,
            "above 2^63": not overflowed and any(
                t.alloc >> 63 for t in figures.kinds.values())}


def main():
    """Run all seeds; each defect must occur in at least one capture."""
    given = [int(s) for s in sys.argv[1:]]
    met = collections.Counter()
    failed = 0
    for seed in given or seeds.several(N_SEEDS):
        with tempfile.TemporaryDirectory() as directory:
            try:
                defects = run_seed(seed, directory)
            except Wrong as e:
                print(f"seed {seed}: {e}")
                failed += 1
                continue
        met.update({name: int(count) for name, count in defects.items()})
    print(dict(met))
    if not given and seeds.IS_DEFAULT and not all(met.values()):
        print("a defect was never tried:", [k for k in met if not met[k]])
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
