#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare kmemtrace-report --json with the reference on captures with many
equal times and races between the clocks of CPUs."""

import collections
import random
import sys
import tempfile

import mkcapture
import seeds
from figures_compare import REPORT, SMALL, Comparison, Options, Wrong
from reference_capture import Capture

TOLERANCE = 100
N_SEEDS = 150
RUNS = [(REPORT, 1), (SMALL, 1), (SMALL, 3)]


class Maker:
    """Records at few addresses, close in time, on several CPUs."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.capture = mkcapture.Capture()
        is_lossy = rng.random() < 0.2
        addresses = [0x1000 + 8 * i for i in range(rng.randint(1, 5))]
        for cpu in range(rng.randint(1, 4)):
            self.capture.add(cpu, b"")
            t = rng.randint(0, 100)
            for _ in range(rng.randint(0, 40)):
                t += rng.choice([0, 1, 10, 30, 90, 101, 500])
                self.capture.add(cpu, mkcapture.event(
                    event_id=rng.choice([1, 2]),
                    type_id=rng.choice([0, 0, 0, 1, 2]), t=t,
                    ptr=rng.choice(addresses),
                    site=rng.choice([0x10, 0x20, 0x30]),
                    req=rng.randint(1, 1000), alloc=1000,
                    node=rng.choice([-1, 0, 1])))
        self.capture.texts["kmemtrace.meta"] = (
            "[capture]\ncomplete=true\nrecord_size=56\nbyte_order=little\n"
            f"overruns={int(is_lossy)}\n" +
            "".join(f"[cpu{cpu}]\nnode={cpu % 2}\n" for cpu in range(4)))


def run_seed(seed, directory):
    """Compare one capture; return how often it has each kind of finding."""
    Maker(seed).capture.write(directory)
    capture = Capture(directory)
    compare = Comparison(capture, None, Options(tolerance=TOLERANCE),
                         ["--raw-ip"], RUNS)
    if not compare.json():
        raise Wrong("an overflow is reported")
    figures = compare.output.figures
    met = collections.Counter(f"{f.what} {f.why}" for f in figures.findings)
    met["cross"] += figures.kinds["slab"].cross
    return met


def main():
    """Run all seeds; each kind of finding must occur."""
    met = collections.Counter()
    failed = 0
    for seed in seeds.several(N_SEEDS):
        with tempfile.TemporaryDirectory() as directory:
            try:
                met.update(run_seed(seed, directory))
            except Wrong as e:
                print(f"seed {seed}: {e}")
                failed += 1
    print(f"{N_SEEDS} captures, {failed} failed; {dict(met)}")
    tried = all(met[k] for k in ("double race", "double unexplained",
                                 "double after_loss", "mismatch mismatch",
                                 "cross"))
    return 0 if (tried or not seeds.IS_DEFAULT) and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
