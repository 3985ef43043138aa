#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds kmemtrace-report --json against tests/lib/report_reference.py on captures
made at random, with every defect that a capture can have.

    random-captures.py [SEED...]      these only
"""

import json
import os
import subprocess
import sys
import tempfile

import report_reference as ref
import seeds
from random_captures import Maker

BUILD = os.environ.get("top_builddir", ".")
PROGRAM = os.path.join(BUILD, "report", "kmemtrace-report")
SMALL = os.path.join(BUILD, "tests", "report",
                     "report-small")  # blocks of 3 records
N_SEEDS = 60


def sites_of(rows, count):
    """JSON's list of sites as the reference has it."""
    return {(int(r["address"], 16), r["kind"]): r[count] for r in rows}


def pairs_of(rows, first, second):
    """Likewise for pairs."""
    return {tuple((int(r[k]["address"], 16), r[k]["kind"])
                  for k in (first, second)): r["count"] for r in rows}


def check(what, got, want):
    """Equal, or the end."""
    if got != want:
        raise AssertionError(f"{what}: {got!r}, must be {want!r}")


def check_totals(what, got, want):
    """A T, to the last digit."""
    for key, value in want.items():
        check(f"{what}.{key}", got[key], value)
    check(f"keys of {what}", set(want) - set(got), set())


def compare(report, want, maker, truncated):
    """Every figure of the report."""
    capture, findings = report["capture"], report["findings"]
    check("byte_order", capture["byte_order"],
          "big" if maker.big else "little")
    check("cpus", capture["cpus"], maker.n_cpus)
    check("record_size", capture["record_size"], maker.size)
    check("events", capture["events"], want.events)
    check("first", capture["first_timestamp"], want.first)
    check("last", capture["last_timestamp"], want.last)
    check("overruns", capture["overruns"],
          maker.overruns if maker.has_meta else None)
    check("kinds", set(report["kinds"]), set(want.kinds))
    for kind, expected in want.kinds.items():
        check_totals(kind, report["kinds"][kind], expected)
    rows = {(int(r["address"], 16), r["kind"]): r for r in report["callsites"]}
    check("number of rows", len(rows), len(report["callsites"]))
    check("call sites", set(rows), set(want.sites))
    for key, expected in want.sites.items():
        check_totals(f"site {key[0]:#x} {key[1]}", rows[key], expected)
    names = ref.Symbols(maker.kallsyms, maker.modules)
    for (address, _), row in rows.items():
        check(f"name of {address:#x}", row["symbol"], names.name(address))
    check("unmatched", findings["unmatched_frees"], want.unmatched)
    check("doubles", findings["double_allocations"], want.doubles)
    check("mismatches", findings["type_mismatches"],
          sum(want.mismatches.values()))
    check("mismatches after loss", findings["type_mismatches_after_loss"],
          want.mismatches_after_loss)
    check("mismatch pairs",
          pairs_of(findings["type_mismatch_pairs"], "allocated", "freed"),
          want.mismatches)
    check("double pairs",
          pairs_of(findings["double_allocation_pairs"], "older", "newer"),
          want.double_pairs)
    for why, sites in want.unmatched_sites.items():
        check(why, sites_of(findings[f"{why}_sites"], "frees"), sites)
    check("unordered", findings["unordered_timestamps"], want.unordered)
    check("skipped", findings["skipped_records"], want.skipped)
    check("truncated", findings["truncated_bytes"], truncated)
    check("short", findings["short_allocations"], want.short)


def run_seed(seed, directory):
    """Returns what the capture had of each defect."""
    maker = Maker(seed)
    for _ in range(maker.rng.choice([0, 30, 1500])):
        maker.step()
    truncated = maker.write(directory)
    # The order of an empty capture is told by meta only.
    if not maker.has_meta and not any(maker.cpus.values()):
        maker.big, maker.size = sys.byteorder == "big", 56
        truncated = sum(os.path.getsize(f"{directory}/cpu{c}.out") % 56
                        for c in maker.cpus)
    want = ref.Reference(maker.cpus, maker.nodes if maker.has_meta else {},
                         maker.overruns > 0, maker.size)
    runs = [subprocess.run(
        [program, "--json", "-q", "--clock-tolerance", "0", "--jobs", jobs,
         directory], capture_output=True, check=False)
            for program, jobs in ((PROGRAM, "1"), (PROGRAM, "2"), (SMALL, "1"),
                                  (SMALL, "5"))]
    run = runs[0]
    if want.skipped == want.events and any(
            os.path.getsize(f"{directory}/cpu{c}.out") for c in maker.cpus):
        check("exit status of nothing", run.returncode, 1)
        check("message", b"no record can be used" in run.stderr, True)
        return {"nothing": 1}
    for other in runs[1:]:
        check("output with more jobs", other.stdout, run.stdout)
    check("messages", run.stderr, b"")
    check("exit status", run.returncode, 0)
    overflow = any(t[k] >= 1 << 64 for t in want.kinds.values()
                   for k in ("bytes_requested", "bytes_allocated"))
    report = json.loads(run.stdout)
    check("overflow", report["findings"]["sums_overflowed"], overflow)
    if not overflow:
        compare(report, want, maker, truncated)
    return {"overflow": overflow, "short": want.short,
            "above 2^63": not overflow and any(
                t["bytes_allocated"] >= 1 << 63 for t in want.kinds.values()),
            "big": maker.big and want.events, "ties": maker.ties,
            "doubles": sum(want.doubles.values()),
            "lossy doubles": want.doubles["after_loss"],
            "unexplained": want.unmatched["unexplained"],
            "before": want.unmatched["before_trace"],
            "mismatches": len(want.mismatches),
            "lossy mismatches": want.mismatches_after_loss,
            "skipped": want.skipped,
            "unordered": want.unordered, "truncated": truncated,
            "cross": want.kinds["slab"]["cross_cpu_frees"],
            "remote": want.kinds["slab"]["remote_node_allocs"],
            "empty": want.events == 0}


def main():
    """All seeds; none of the defects may be missing from all of them."""
    given = [int(s) for s in sys.argv[1:]]
    met = {}
    for seed in given or seeds.several(N_SEEDS):
        with tempfile.TemporaryDirectory() as directory:
            try:
                defects = run_seed(seed, directory)
            except AssertionError as e:
                print(f"seed {seed}: {e}")
                return 1
        for name, count in defects.items():
            met[name] = met.get(name, 0) + int(count)
    print(met)
    if not given and seeds.IS_DEFAULT and not all(met.values()):
        print("a defect was never tried:", [k for k in met if not met[k]])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
