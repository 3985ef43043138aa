#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Are the events counted as lost those that the capture lacks?

Usage: loss.py OUT

OUT is what vm/scenarios/loss.sh left: a capture, the kernel's counters and what
vm/witness/kmt_witness.c saw. Between the first and the last event of the storms
on a CPU, the events that the witness saw and the capture lacks must be as many
as the kernel counted for this CPU and as its records of losses tell, and the
events of the capture must all be the witness's. kmemtraced must report that number, and the check and the report
must say that events were lost.
"""
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
    equal("kmemtraced tells the number", f"{total} " in said
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
