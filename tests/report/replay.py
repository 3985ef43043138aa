#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the replay of random captures with the figures of kmemtrace-report,
which other tests compare with the reference.

    replay.py [SEED...]      only these seeds
"""

import json
import os
import subprocess
import sys
import tempfile

import races
import seeds
from random_captures import Maker
from report_case import PROGRAM

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
DUMP = os.path.join(BUILD, "tests", "report", "replay-dump")
N_SEEDS = 40
# Options that limit the time or the objects.
LIMITS = ([], ["--time", "500ns,"], ["--time", ",900ns"],
          ["--kind", "slab", "--time", "200ns,100us"], ["--size", "-100"],
          ["--cpu", "0"])


class Wrong(Exception):
    """A difference between the replay and the report."""


def output_of(program, *args):
    """Return the JSON output of a program, or None if it refuses the capture."""
    run = subprocess.run([program, *args], capture_output=True, text=True,
                         check=False)
    if run.returncode not in (0, 1):
        raise Wrong(f"{program} ended with {run.returncode}: {run.stderr}")
    return json.loads(run.stdout) if run.returncode == 0 else None


def equal(what, replay, report):
    """Fail unless both programs have this figure."""
    if replay != report:
        raise Wrong(f"{what}: {replay} in the replay, {report} in the report")


def sites_of(replay):
    """Return the live bytes of each call site and kind, at the end and at the
    peak."""
    sites = {}
    for size in replay["sizes"]:
        key = size["address"], size["kind"]
        live, peak = sites.get(key, (0, 0))
        sites[key] = (live + size["live"] * size["bytes_alloc"],
                      peak + size["at_peak"] * size["bytes_alloc"])
    return {key: value for key, value in sites.items() if any(value)}


def compare(directory, tolerance, limit):
    """Compare the replay of a capture with its report. Return whether the programs
    read the capture."""
    args = ["-q", "--clock-tolerance", str(tolerance), "--by", "callsite,kind",
            *limit, directory]
    report = output_of(PROGRAM, "--json", *args)
    replay = output_of(DUMP, *args)
    if report is None or replay is None:
        equal("refusal", replay, report)
        return False
    equal("wrong events", replay["wrong"], 0)
    if report["findings"]["sums_overflowed"]:
        return True
    for kind, figures in replay["kinds"].items():
        if kind not in report["kinds"]:
            continue
        totals = report["kinds"][kind]
        equal(f"live bytes of {kind}", figures["live"],
              totals["live_bytes_allocated"])
        equal(f"peak of {kind}", figures["peak"], totals["peak_bytes_allocated"])
        if figures["peak"]:
            equal(f"time of the peak of {kind}", figures["peak_time"],
                  totals["peak_timestamp"])
    groups = {(g["address"], g["kind"]): (g["live_bytes_allocated"],
                                          g["live_bytes_at_peak"])
              for g in report["groups"]}
    equal("call sites", sites_of(replay),
          {key: value for key, value in groups.items() if any(value)})
    return True


def compare_all(seed, directory, tolerance):
    """Compare a capture with all limits. Return the number of comparisons."""
    n = 0
    for limit in LIMITS:
        try:
            n += compare(directory, tolerance, limit)
        except Wrong as e:
            sys.exit(f"seed {seed}, tolerance {tolerance}, {limit}: {e}")
    return n


def main():
    """Compare all captures."""
    given = [int(s) for s in sys.argv[1:]]
    n = 0
    for seed in given or seeds.several(N_SEEDS):
        with tempfile.TemporaryDirectory() as directory:
            maker = Maker(seed)
            for _ in range(maker.rng.choice([30, 400, 1500])):
                maker.step()
            maker.write(directory)
            n += compare_all(seed, directory, 0)
        with tempfile.TemporaryDirectory() as directory:
            races.Maker(seed).capture.write(directory)
            n += compare_all(seed, directory, races.TOLERANCE)
    if not n:
        sys.exit("no capture was readable")
    print(f"{n} comparisons")


if __name__ == "__main__":
    main()
