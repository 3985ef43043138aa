#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that an event nested in the writing of another event is refused and
counted.

Usage: nested.py OUT

OUT is the output of vm/scenarios/nested.sh. All events of the storm must be
recorded completely. Events nested in them must not be recorded, but must be
counted by the counters and by the loss records. Events nested in the saving of a
stack reserve no room, so they must be recorded without a stack. Events nested in
a locked section must be refused and must not fire a trigger. An operation on
many pages must save one stack."""
import collections
import os
import sys

import capture
from verdict import equal, failed, holds


def number(path, column=0):
    with open(path) as f:
        return int(f.read().split()[column])


def judge(out, place):
    directory = os.path.join(out, place)
    symbols = capture.Symbols(directory)
    pairs, nested = (number(f"{directory}.nested", i) for i in (0, 1))
    size = capture.record_size(directory)
    counts = collections.Counter()
    lost = 0
    for cpu in capture.cpus(directory):
        length = os.path.getsize(os.path.join(directory, f"cpu{cpu}.out"))
        equal(f"{place}: cpu{cpu}: bytes beyond whole records", length % size,
              0)
        events, losses = capture.read_all(directory, cpu)
        lost += sum(events_lost for _, events_lost, *_ in losses)
        times = [e.time for e in events]
        equal(f"{place}: cpu{cpu}: times in order", times == sorted(times),
              True)
        for e in events:
            if e.event_id not in (capture.ALLOC, capture.FREE):
                continue
            caller = symbols.function(e.call_site)
            counts[caller] += 1
            if caller == "nested_allocate" and e.stack:
                counts["nested with a stack"] += 1
    overruns = number(f"{directory}.overruns")
    equal(f"{place}: events of the storm", counts["nested_storm"], 2 * pairs)
    if place == "stack":
        holds(f"{place}: nested", nested, nested >= 2 * pairs)
        equal(f"{place}: of these recorded", counts["nested_allocate"], nested)
        equal(f"{place}: with a stack", counts["nested with a stack"], 0)
        holds(f"{place}: stacks without a number",
              number(f"{directory}.unnumbered"),
              number(f"{directory}.unnumbered") >= nested)
        equal(f"{place}: lost", overruns, 0)
        return
    holds(f"{place}: nested", nested,
          nested >= (2 * pairs if place in ("slot", "room", "mark") else 1))
    equal(f"{place}: of these recorded", counts["nested_allocate"], 0)
    equal(f"{place}: counted as lost", overruns, nested)
    equal(f"{place}: in records of losses", lost, nested)


def judge_lock(out, place):
    """Check events nested in code that holds a reader's lock."""
    directory = os.path.join(out, place)
    symbols = capture.Symbols(directory)
    nested = number(f"{directory}.nested", 1)
    recorded = 0
    for cpu in capture.cpus(directory):
        events, _ = capture.read_all(directory, cpu)
        recorded += sum(symbols.function(e.call_site) == "nested_allocate"
                        for e in events
                        if e.event_id in (capture.ALLOC, capture.FREE))
    holds(f"{place}: nested", nested, nested >= 30)
    equal(f"{place}: of these recorded", recorded, 0)
    overruns = number(f"{directory}.overruns")
    # An allocation may also allocate a page, which is another event.
    holds(f"{place}: counted as lost", overruns,
          nested <= overruns <= nested + nested // 20)
    with open(f"{directory}.trigger") as f:
        states = [line.split()[0] for line in f]
    equal(f"{place}: triggers", states, ["armed", "armed"])


def judge_operations(path):
    with open(path) as f:
        rows = {what: numbers for what, *numbers in map(str.split, f)}
    for what, (pages, _, first, second) in rows.items():
        equal(f"{what}: stacks of the operation on {pages} pages", int(first),
              1)
        # The pages of bulk and split are freed one by one.
        equal(f"{what}: stacks of the free", int(second),
              1 if what == "exact" else int(pages))
    equal("operations", sorted(rows), ["bulk", "exact", "split"])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    for place in ("slot", "room", "stack", "mark", "irq_work_queue"):
        judge(out, place)
    for place in ("reader", "view", "snapshot", "counter"):
        judge_lock(out, place)
    judge_operations(os.path.join(out, "operations"))
    with open(os.path.join(out, "tried")) as f:
        tried = f.read().split()
    holds("functions of the writer", len(tried), len(tried) > 15)
    probed = os.path.join(out, "probed")
    equal("of these with a probe",
          open(probed).read().split() if os.path.exists(probed) else [], [])
    return failed()


if __name__ == "__main__":
    sys.exit(main())
