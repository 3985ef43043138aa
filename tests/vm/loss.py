#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that the events counted as lost are exactly those missing in the capture.

Usage: loss.py OUT

OUT is the output of vm/scenarios/loss.sh: a capture, the kernel's counters, and
the records of vm/witness/kmt_witness.c. Between the first and the last storm
event on a CPU, the number of witness events missing in the capture must equal
the kernel's counter of that CPU and the sum of its loss records. Each event of
the capture must be an event of the witness. kmemtraced must report that number,
and kmemtrace-check and kmemtrace-report must report lost events."""
import collections
import json
import os
import re
import struct
import subprocess
import sys

import capture
from verdict import equal, failed, holds

WITNESSED = struct.Struct("<QQQ")


def witnessed(path):
    with open(path, "rb") as f:
        data = f.read()
    return [(kind >> 8, kind & 0xff, call_site, ptr)
            for call_site, ptr, kind in WITNESSED.iter_unpack(data)]


def between_storms(events, symbols):
    storms = [i for i, event in enumerate(events)
              if symbols.function(event[2]) == "storm_write"]
    return events[storms[0]:storms[-1] + 1]


def overruns(path):
    with open(path) as f:
        return {int(cpu): int(n) for cpu, n in
                re.findall(r"^cpu(\d+) (\d+)$", f.read(), re.M)}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    directory = os.path.join(out, "capture")
    symbols = capture.Symbols(directory)
    counted = overruns(os.path.join(out, "overruns"))
    for cpu in capture.cpus(directory):
        events, lost = capture.read_all(directory, cpu)
        seen = collections.Counter(between_storms(
            witnessed(os.path.join(out, "witness", f"cpu{cpu}")), symbols))
        recorded = collections.Counter(between_storms(
            [(e.event_id, e.type_id, e.call_site, e.ptr)
             for e in events], symbols))
        equal(f"cpu{cpu}: events that the witness did not see",
              sum((recorded - seen).values()), 0)
        equal(f"cpu{cpu}: overruns, where {sum(seen.values())} events were"
              f" seen and {sum(recorded.values())} recorded", counted[cpu],
              sum((seen - recorded).values()))

        equal(f"cpu{cpu}: events that {len(lost)} records of losses tell of",
              sum(n for _, n, _, _ in lost), counted[cpu])
        equal(f"cpu{cpu}: losses not between the times of the records around",
              sum(not (0 < i < len(events) and n > 0 and
                       events[i - 1].time <= since <= time <= events[i].time)
                  for i, n, since, time in lost), 0)

    total = sum(counted.values())
    with open(os.path.join(out, "total_overruns")) as f:
        equal("total_overruns", int(f.read()), total)
    equal("overruns in kmemtrace.meta",
          int(capture.meta(directory)["overruns"]), total)
    holds("something was lost", total, total > 0)

    rows, about = capture.table(directory, "tasks")
    until = [int(row[1]) for row in rows if row[1] != "-"]
    equal("names of tasks kept", len(until), 16)
    equal("others dropped, up to before the first of these",
          int(about["dropped"]) > 0
          and int(about["exact_after"]) <= until[0], True)
    equal("names in their order", until, sorted(until))

    with open(directory + ".log") as f:
        said = f.read().replace(",", "")
    equal("kmemtraced reports the number", f"{total} " in said
          and "kmemtrace.subbufs=" in said, True)
    for program in ("kmemtrace-check", "kmemtrace-report"):
        run = subprocess.run([program, directory], capture_output=True,
                             text=True, check=False)
        equal(f"{program} tells the number",
              str(total) in (run.stdout + run.stderr).replace(",", ""), True)
    run = subprocess.run(["kmemtrace-report", "--json", directory],
                         capture_output=True, text=True, check=True)
    equal("overruns in the report", json.loads(run.stdout)["capture"]
          ["overruns"], total)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
