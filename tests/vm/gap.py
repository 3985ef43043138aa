#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare a capture with the work that vm/gap/kmt_gap_main.c reports.

Usage: gap.py CAPTURE LOG [NMI]

LOG has the module's lines. CAPTURE must have each path through the allocators
with the reported number of events, bytes and flags. Each allocation must be
freed exactly once, by the reported function. NMI has the records of a session in
which only 50 events in NMI context were lost; with version 2, loss records must
count them."""
import collections
import os
import re
import sys

import capture


def expectations(log):
    lines = []
    done = False
    with open(log, errors="replace") as f:
        for line in f:
            match = re.search(r"kmt_gap: (.*?)\s*$", line)
            if not match:
                continue
            words = match[1].split()
            done |= words == ["done"]
            lines.append(words)
    if not done:
        sys.exit(f"gap.py: {log}: the module did not come to its end")
    return lines


class Made:
    """Allocations of one type by one function, and the functions that freed them."""

    def __init__(self):
        self.count = 0
        self.bytes_req = 0
        self.gfp = collections.Counter()
        self.freed_by = collections.Counter()
        self.live = 0


def collect(events, symbols):
    made = collections.defaultdict(Made)
    live = {}
    pages = collections.defaultdict(list)
    problems = []
    for event in events:
        function = symbols.function(event.call_site)
        kind = capture.TYPES[event.type_id]
        space = "slab" if kind in capture.SLAB else kind
        if kind == "pages":
            pages[event.ptr].append(event.event_id)
        if event.event_id == capture.ALLOC:
            if event.bytes_alloc < event.bytes_req or not event.bytes_req:
                problems.append(f"{function}: impossible sizes {event}")
            entry = made[function, kind]
            entry.count += 1
            entry.bytes_req += event.bytes_req
            entry.gfp[event.gfp] += 1
            entry.live += 1
            live[space, event.ptr] = (function, kind)
        else:
            owner = live.pop((space, event.ptr), None)
            if owner:
                made[owner].live -= 1
                made[owner].freed_by[function] += 1
                if owner[0].startswith("gap_") and owner[1] != kind:
                    problems.append(f"{owner}: freed as {kind} by {function}")
            elif function.startswith("gap_"):
                problems.append(f"{function}: freed {event.ptr:#x} ({kind}),"
                                " which was not allocated")
    return made, pages, problems


def check(lines, made, pages):
    problems = []
    checked = 0
    expected = collections.defaultdict(int)
    for words in lines:
        if words[0] == "alloc":
            function, kind, count, bytes_req, gfp = words[1:]
            entry = made[function, kind]
            if (entry.count, entry.bytes_req) != (int(count), int(bytes_req)):
                problems.append(
                    f"{function} {kind}: {count} allocations of {bytes_req}"
                    f" bytes were made, {entry.count} of {entry.bytes_req}"
                    " are recorded")
            if gfp != "-" and int(count) and set(entry.gfp) != {int(gfp, 0)}:
                problems.append(
                    f"{function} {kind}: gfp should be {gfp}, is "
                    + ", ".join(map(hex, entry.gfp)))
            if entry.live:
                problems.append(f"{function} {kind}: {entry.live} of its"
                                " allocations have no free")
            expected[function, kind] += int(count)
            checked += 1
        elif words[0] == "freed":
            function, kind, count, by = words[1:]
            freed = made[function, kind].freed_by
            n = (sum(freed.values()) if by == "*"
                 else sum(freed[name] for name in by.split("|")))
            if n != int(count):
                problems.append(
                    f"{function} {kind}: {count} should be freed by {by}, {n}"
                    f" are (freed by: {dict(freed)})")
            checked += 1
        elif words[0] == "pages":
            for word in words[1:]:
                seen = pages[int(word, 16)]
                # Other code may have used the page before and after.
                if (capture.ALLOC, capture.FREE) not in zip(seen, seen[1:]):
                    problems.append(f"page {word}: not allocated and freed:"
                                    f" {seen[-4:]}")
            checked += 1
    for (function, kind), entry in made.items():
        # The pages of a large kmalloc belong to the slab allocator, not to the
        # function.
        if function.startswith("gap_") and entry.count \
                and (function, kind) not in expected:
            problems.append(f"{function} {kind}: {entry.count} allocations"
                            " that it did not make")
    return checked, problems


def check_nmi(directory):
    losses = []
    for cpu in capture.cpus(directory):
        losses += capture.read_all(directory, cpu)[1]
    n_lost = sum(n for _, n, _, _ in losses)
    print(f"gap.py: {len(losses)} LOST records, {n_lost} events lost in NMI")
    if capture.version(directory) > 1 and n_lost != 50:
        return [f"{n_lost} events in NMI context are reported, not 50"]
    return []


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    directory, log = sys.argv[1:3]
    lines = expectations(log)
    if int(capture.meta(directory).get("overruns", -1)):
        sys.exit(f"gap.py: {directory}: events were lost, nothing can be said")
    symbols = capture.Symbols(directory)
    made, pages, problems = collect(capture.read(directory), symbols)
    checked, more = check(lines, made, pages)
    if len(sys.argv) == 4 and os.path.exists(sys.argv[3]):
        more += check_nmi(sys.argv[3])
    for line in lines:
        if line[0] == "no":
            print("gap.py: note: " + " ".join(line))
    for problem in problems + more:
        print("gap.py: " + problem)
    print(f"gap.py: {checked} statements of the module checked,"
          f" {len(problems) + len(more)} problems")
    return 1 if problems or more or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
