#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the cgroups in the report of a guest that ran vm/scenarios/cgroups.sh with
the allocations that its tasks made in each cgroup.

Usage: cgroups.py OUT"""
import collections
import csv
import io
import os
import re
import subprocess
import sys

import capture
from verdict import equal, failed, holds

# Paths of removed cgroups that the scenario makes at last.
N_MANY = 150


def expected(path):
    """Return the allocations in each cgroup, by the tasks that made them."""
    counts = collections.Counter()
    with open(path, encoding="utf-8") as f:
        for line in f:
            n, cgroup = line.rstrip("\n").split(" ", 1)
            counts[cgroup] += int(n)
    return counts


def by_report(directory, *args):
    """Return the allocations in each cgroup, by the report."""
    done = subprocess.run(
        ["kmemtrace-report", "-q", "--csv", "--by", "cgroup", "--callsite",
         "storm_write", "--lines", "0", "--fields", "allocs", *args, directory],
        capture_output=True, text=True, check=True)
    return collections.Counter(
        {row["cgroup"]: int(row["allocs"])
         for row in csv.DictReader(io.StringIO(done.stdout))})


def by_records(directory):
    """Return the allocations in each cgroup, by the records and the table, and the
    number of records whose task the table does not have."""
    entries = collections.defaultdict(list)
    rows, _ = capture.table(directory, "cgroups")
    for pid, until, path in rows:
        entries[int(pid)].append(
            (float("inf") if until == "-" else int(until), path))
    for of_task in entries.values():
        assert of_task == sorted(of_task, key=lambda e: e[0]), of_task
    symbols = capture.Symbols(directory)
    counts = collections.Counter()
    unknown = 0
    for event in capture.read(directory):
        if not event.pid:
            continue
        unknown += event.pid not in entries
        if event.event_id == capture.ALLOC and \
                symbols.function(event.call_site) == "storm_write":
            path = next((path for until, path in entries[event.pid]
                         if event.time <= until), "(after the last entry)")
            counts[path] += 1
    return counts, unknown


def check_filtered(directory, n):
    """Only the allocations in the cgroups of the filter are recorded, which are in n
    cgroups."""
    wanted = expected(directory + ".expected")
    holds("allocations with a filter", wanted, len(wanted) == n)
    counts, _ = by_records(directory)
    equal("allocations by the records with a filter", counts, wanted)
    equal("allocations by the report with a filter", by_report(directory),
          wanted)
    done = subprocess.run(
        ["kmemtrace-report", "-q", "--csv", "--by", "cgroup", "--lines", "0",
         "--fields", "allocs", directory],
        capture_output=True, text=True, check=True)
    other = [row["cgroup"] for row in csv.DictReader(io.StringIO(done.stdout))
             if row["allocs"] != "0" and
             row["cgroup"] not in (*wanted, "/f", "/x, y")]
    equal("other cgroups with allocations", other, [])


def check_many(directory):
    """The newest paths of removed cgroups are kept; the other entries are counted."""
    rows, about = capture.table(directory, "cgroups")
    shown = [(int(until), int(re.search(r"-(\d+)$", path)[1]))
             for _, until, path in rows if path.startswith("/many-")]
    dropped = int(about["dropped"])
    holds("entries with the path of a removed cgroup", len(shown),
          N_MANY / 2 < len(shown) < N_MANY)
    equal("these entries and the dropped ones", len(shown) + dropped, N_MANY)
    equal("the newest are kept", [i for _, i in shown],
          list(range(dropped, N_MANY)))
    holds("exact_after", about["exact_after"],
          0 < int(about["exact_after"]) < shown[0][0])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    directory = os.path.join(out, "capture")
    wanted = expected(directory + ".expected")
    holds("allocations", wanted, len(wanted) > 10)
    equal("cgroups in kmemtrace.meta", capture.meta(directory)["cgroups"],
          "tracked")
    _, about = capture.table(directory, "cgroups")
    equal("dropped entries", about["dropped"], "0")
    equal("allocations by the report", by_report(directory), wanted)
    for glob, pattern in (("/t/*", "/t/.*"), ("/gone,/a", "/(gone|a)"),
                          ("/system.slice/*", "/system.slice/.*")):
        equal(f"allocations in {glob}", by_report(directory, "--cgroup", glob),
              collections.Counter({path: n for path, n in wanted.items()
                                   if re.fullmatch(pattern, path)}))
    counts, unknown = by_records(directory)
    equal("allocations by the records", counts, wanted)
    equal("records of tasks without a cgroup", unknown, 0)
    check_filtered(os.path.join(out, "filtered"), 4)
    check_filtered(os.path.join(out, "globs"), 2)
    check_many(os.path.join(out, "many"))
    return failed()


if __name__ == "__main__":
    sys.exit(main())
