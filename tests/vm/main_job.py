#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the capture of the main job.

Usage: main_job.py CAPTURE

CAPTURE starts at boot and is complete and lossless, with two CPUs.
kmemtrace-check must find nothing, neither in each file alone nor in the capture.
kmemtrace-report must name the call sites and have no unexplained events."""
import json
import os
import re
import subprocess
import sys

import capture
from verdict import failed, holds


LIMITS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../docs/limits.md")


def known_before():
    """Return the functions that free untraced allocations according to
    docs/limits.md."""
    with open(LIMITS) as f:
        table = f.read().split("## Frees without an allocation", 1)[1]
    return set(re.findall(r"^\| `(\w+)` \|", table, re.M))


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    directory = sys.argv[1]
    meta = capture.meta(directory)
    holds("complete", meta.get("complete"), meta.get("complete") == "true")
    holds("overruns", meta.get("overruns"), meta.get("overruns") == "0")
    cpus = capture.cpus(directory)
    holds("files of CPUs", cpus, cpus == [0, 1])
    records = {cpu: capture.read_cpu(directory, cpu) for cpu in cpus}
    count = sum(len(r) for r in records.values())
    for cpu in cpus:
        holds(f"events of CPU {cpu}", len(records[cpu]),
              len(records[cpu]) > 1000)
        path = os.path.join(directory, f"cpu{cpu}.out")
        check = run("kmemtrace_check", path)
        holds(f"kmemtrace_check cpu{cpu}.out ends", check.returncode,
              check.returncode == 0)
        if check.returncode:
            print(check.stdout, check.stderr)
    # early_trace_init() allocates the buffers of ftrace. A tracer that needs these
    # buffers cannot record that allocation. Newer compilations inline one function
    # into the other.
    symbols = capture.Symbols(directory)
    early = [symbols.function(e.call_site) for e in records[0][:100]]
    holds("first functions", early[:3],
          {"__ring_buffer_alloc", "rb_allocate_cpu_buffer"} & set(early))
    check = run("kmemtrace-check", directory)
    holds("kmemtrace-check ends", check.returncode, check.returncode == 0)
    print(check.stdout, check.stderr)

    report = json.loads(run("kmemtrace-report", "--json", directory).stdout)
    holds("events in the report", report["capture"]["events"],
          report["capture"]["events"] == count == int(meta["events"]))
    findings = report["findings"]
    print("main_job.py:", json.dumps(findings))
    for kind in ("unmatched_frees", "double_allocations"):
        n = findings[kind]["unexplained"]
        holds(f"unexplained {kind}", n, n == 0)
        n = findings[kind]["after_loss"]
        holds(f"{kind} after loss", n, n == 0)
    for kind in ("type_mismatches", "unordered_timestamps", "skipped_records",
                 "truncated_bytes"):
        holds(kind, findings[kind], findings[kind] == 0)
    before = {re.split(r"[+.]", site["symbol"])[0]: site["frees"]
              for site in findings["before_trace_sites"]}
    strange = {name: n for name, n in before.items()
               if name not in known_before()}
    holds(f"frees without an allocation, of {before}, that docs/limits.md"
          " does not explain", strange, not strange)
    for kind in ("slab", "pages"):
        n = report["kinds"][kind]["cross_cpu_frees"]
        holds(f"cross-CPU frees of {kind}", n, n > 0)
    sites = report["callsites"]
    nameless = [s["address"] for s in sites if not s.get("symbol")]
    holds(f"call sites of {len(sites)} without a name", len(nameless),
          len(sites) > 100 and not nameless)
    text = run("kmemtrace-report", directory)
    holds("kmemtrace-report ends", text.returncode, text.returncode == 0)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
