#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the counting workload in the reports of two captures.

Usage: equal_counts.py REPORT REPORT

A REPORT is the output of kmemtrace-report --json for a guest that ran
vm/scenarios/gap.sh, on a machine of any architecture. Each function of the module
must have the same numbers of allocations, frees, and live objects, and the same
bytes requested and allocated, in both reports. A function that only one report has
is an error."""
import collections
import json
import re
import sys

FIGURES = ("allocs", "frees", "live_objects", "bytes_requested",
           "bytes_allocated")


def counts(path):
    """Return the figures of each function and kind of memory."""
    with open(path, encoding="utf-8") as f:
        report = json.load(f)
    if report["callsites_left_out"]:
        sys.exit(f"equal_counts.py: {path} lacks call sites")
    found = collections.defaultdict(collections.Counter)
    for row in report["callsites"]:
        # The compiler may add a suffix, such as .constprop.0.
        match = re.match(r"(gap_\w+)[.\w]*\+0x\w+ \[kmt_gap\]$",
                         row["symbol"] or "")
        if match:
            found[match[1], row["kind"]].update(
                {figure: row[figure] for figure in FIGURES})
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    first, second = map(counts, sys.argv[1:])
    problems = 0
    for key in sorted(first.keys() | second.keys()):
        for figure in FIGURES:
            values = first[key][figure], second[key][figure]
            if values[0] != values[1]:
                print(f"equal_counts.py: {' '.join(key)}: {figure} is"
                      f" {values[0]} and {values[1]}")
                problems += 1
    print(f"equal_counts.py: {len(first)} lines compared, {problems}"
          " differences")
    return 1 if problems or not first else 0


if __name__ == "__main__":
    sys.exit(main())
