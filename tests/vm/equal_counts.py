#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the counting workload in the reports of two captures.

Usage: equal_counts.py [--32-bit] REPORT REPORT

A REPORT is the output of kmemtrace-report --json for a guest that ran
vm/scenarios/gap.sh, on a machine of any architecture. Each function of the module
must have the same numbers of allocations, frees, and live objects, and the same
bytes requested and allocated, in both reports. A function that only one report has
is an error. With --32-bit the second report is of a 32-bit machine, and the figures
in NARROW may differ; an entry without a difference is an error."""
import collections
import json
import re
import sys

FIGURES = ("allocs", "frees", "live_objects", "bytes_requested",
           "bytes_allocated")

REQUESTED, ALLOCATED = "bytes_requested", "bytes_allocated"

# Figures that differ on a 32-bit machine, with the reason.
NARROW = {
    **{(function, kind): (figures, "struct rcu_head has two pointers")
       for function, kind, figures in (
           ("gap_kfree_rcu", "kmalloc", (REQUESTED,)),
           ("gap_kfree_rcu_cache", "cache", (REQUESTED, ALLOCATED)),
           ("gap_kfree_rcu_irqs_off", "kmalloc", (REQUESTED,)),
           ("gap_kfree_rcu_mightsleep", "kmalloc", (REQUESTED,)))},
    **{(function, "kmalloc"):
       ((ALLOCATED,), "objects are aligned to 64 bytes: no kmalloc-96")
       for function in ("gap_kmalloc_node", "gap_kmemdup")},
    ("gap_kmalloc_nolock", "kmalloc"):
        (FIGURES, "the processor lacks the atomic exchange that it needs"),
    ("gap_vmap_put_pages", "kmalloc"):
        ((REQUESTED, ALLOCATED), "an array of pointers"),
    ("gap_kvmalloc", "vmalloc"):
        ((REQUESTED, ALLOCATED), "the array of the pages is included"),
    ("gap_vmalloc_large", "vmalloc"):
        ((REQUESTED, ALLOCATED),
         "its number of pages depends on the size of a pointer"),
}


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
    arguments = sys.argv[1:]
    exceptions = {}
    if arguments[:1] == ["--32-bit"]:
        exceptions = NARROW
        arguments.pop(0)
    if len(arguments) != 2:
        sys.exit(__doc__)
    first, second = map(counts, arguments)
    problems = 0
    explained = set()
    for key in sorted(first.keys() | second.keys()):
        for figure in FIGURES:
            values = first[key][figure], second[key][figure]
            figures, reason = exceptions.get(key, ((), None))
            if values[0] == values[1]:
                continue
            print(f"equal_counts.py: {' '.join(key)}: {figure} is"
                  f" {values[0]} and {values[1]}"
                  + (f": {reason}" if figure in figures else ""))
            if figure in figures:
                explained.add(key)
            else:
                problems += 1
    for key in exceptions.keys() - explained:
        print(f"equal_counts.py: {' '.join(key)}: no difference was found")
        problems += 1
    print(f"equal_counts.py: {len(first)} lines compared, {problems}"
          f" differences, {len(explained)} lines with explained differences")
    return 1 if problems or not first else 0


if __name__ == "__main__":
    sys.exit(main())
