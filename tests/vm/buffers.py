#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check overwrite mode against an independent probe.

Usage: buffers.py OUT

OUT is the output of vm/scenarios/buffers.sh. overwrite/ has the records of two
readers that were too slow for the storms on their CPUs. Each event that the
witness recorded between the first and the last storm event must be present
exactly once, or counted in a loss record. flight/ is a capture by kmemtraced of
a trace longer than the buffers: it must have the newest events and the number of
missing ones."""
import collections
import os
import subprocess
import sys

import capture
from verdict import equal, failed
import loss


def losses_out_of_place(events, lost):
    """Return the loss records whose time is not between those of their neighbors."""
    return sum(
        not (n > 0 and since <= time and
             (i == 0 or events[i - 1].time <= since) and
             (i == len(events) or time <= events[i].time))
        for i, n, since, time in lost)


def judge_overwrite(directory):
    symbols = capture.Symbols(directory)
    counted = loss.overruns(os.path.join(directory, "overruns"))
    for cpu in capture.cpus(directory):
        events, lost = capture.read_all(directory, cpu)
        seen = collections.Counter(loss.between_storms(
            loss.witnessed(os.path.join(directory, "witness", f"cpu{cpu}")),
            symbols))
        recorded = collections.Counter(loss.between_storms(
            [(e.event_id, e.type_id, e.call_site, e.ptr) for e in events],
            symbols))
        equal(f"cpu{cpu}: events that the witness did not see",
              sum((recorded - seen).values()), 0)
        missing = sum((seen - recorded).values())
        equal(f"cpu{cpu}: overruns, where {sum(seen.values())} events were"
              f" seen and {sum(recorded.values())} recorded", counted[cpu],
              missing)
        equal(f"cpu{cpu}: events that {len(lost)} records of losses tell of",
              sum(n for _, n, _, _ in lost), missing)
        equal(f"cpu{cpu}: losses at another time",
              losses_out_of_place(events, lost), 0)
        equal(f"cpu{cpu}: times that go back",
              sum(a.time > b.time for a, b in zip(events, events[1:])), 0)
        equal(f"cpu{cpu}: something was overwritten", missing > 0, True)


def judge_flight(directory):
    symbols = capture.Symbols(directory)
    meta = capture.meta(directory)
    equal("mode in kmemtrace.meta", meta.get("mode"), "overwrite")
    counted = loss.overruns(directory + ".overruns")
    for cpu in capture.cpus(directory):
        events, lost = capture.read_all(directory, cpu)
        equal(f"cpu{cpu}: events that records of losses tell of",
              sum(n for _, n, _, _ in lost), counted[cpu])
        equal(f"cpu{cpu}: losses not at the beginning",
              [i for i, *_ in lost if i], [])
        equal(f"cpu{cpu}: losses at another time",
              losses_out_of_place(events, lost), 0)
        if cpu == 0:
            equal("cpu0: something was overwritten", counted[cpu] > 40000,
                  True)
            # Other code may allocate after the last storm.
            storms = [e for e in events
                      if symbols.function(e.call_site) == "storm_write"]
            equal("cpu0: the last storm", len(storms) >= 20, True)
    equal("overruns in kmemtrace.meta", int(meta["overruns"]),
          sum(counted.values()))
    run = subprocess.run(["kmemtrace-check", directory], check=False)
    equal("kmemtrace-check ends with", run.returncode, 0)
    with open(directory + ".log") as f:
        equal("kmemtraced reports the mode", "overwrit" in f.read(), True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    judge_overwrite(os.path.join(sys.argv[1], "overwrite"))
    judge_flight(os.path.join(sys.argv[1], "flight"))
    return failed()


if __name__ == "__main__":
    sys.exit(main())
