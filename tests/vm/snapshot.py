#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the contents of snapshots.

Usage: snapshot.py OUT

OUT is the output of vm/scenarios/snapshot.sh: captures by kmemtraced -S, one
that kmemtraced recorded at the same time, and one of a trace that stopped. The
work of vm/snapshot/kmt_snapshot.c determines the number of its events in each.
kmemtrace-check must find no error in any capture, and the report must name the
function that caused the out-of-memory."""
import collections
import configparser
import csv
import os
import struct
import subprocess
import sys

import capture
from verdict import equal, failed, holds

STOP = struct.Struct("<BBHiQ32sqII")
EVENT_STOP = 6
SNAPSHOTS = {
    "root": "snapshot/take",
    "both": "kmemtrace_snapshot",
    "cache": "cache:kmt_snapshot>40000",
    "oom": "oom",
}


def allocations(directory):
    """Count the allocations and the allocated bytes of each function."""
    symbols = capture.Symbols(directory)
    count, held = collections.Counter(), collections.Counter()
    for event in capture.read(directory):
        if event.event_id == capture.ALLOC and event.type_id < 2:
            function = symbols.function(event.call_site)
            count[function] += 1
            held[function] += event.bytes_alloc
    return count, held


def meta(directory):
    parser = configparser.RawConfigParser(delimiters="=", strict=True)
    with open(os.path.join(directory, "kmemtrace.meta")) as f:
        parser.read_file(f)
    return parser


def check(directory):
    result = subprocess.run(["kmemtrace-check", directory], text=True,
                            capture_output=True)
    equal(f"{directory}: the check ends with", result.returncode, 0)
    if result.returncode:
        print(result.stdout, result.stderr)


def is_saved(directory, why):
    about = meta(directory)
    equal(f"{directory}: why", about["snapshot"]["why"], why)
    equal("its beginning is cut", about["capture"]["continues"], "true")
    equal("it is complete", about["capture"]["complete"], "true")
    taken = int(about["snapshot"]["time"])
    last = max((e.time for e in capture.read(directory)), default=0)
    # On a slow machine a record may have been in progress.
    holds("the last record comes so many ns after it was taken", last - taken,
          last - taken < 100_000_000)
    check(directory)


def report_names(directory, culprit):
    """Check that the report names the function that holds most memory."""
    text = subprocess.run(
        ["kmemtrace-report", "--csv", "--slab", "--by", "function",
         "--fields", "live,live-objects", "--sort", "live", "--lines", "3",
         directory], check=True, capture_output=True, text=True).stdout
    print(text)
    rows = list(csv.reader(text.splitlines()))
    equal("the report names first", rows[1][1].split()[0], culprit)


def stopped(directory):
    """Check that a record contains the reason of the stop and is the last of its
    CPU."""
    stops = 0
    for cpu in capture.cpus(directory):
        with open(os.path.join(directory, f"cpu{cpu}.out"), "rb") as f:
            data = f.read()
        records = list(STOP.iter_unpack(data))
        for i, fields in enumerate(records):
            if fields[0] != EVENT_STOP:
                continue
            stops += 1
            symbols = capture.Symbols(directory)
            equal("it stopped for", fields[5].rstrip(b"\0"),
                  b"kmemtrace_snapshot")
            equal("asked for by", symbols.function(fields[4]), "snapshot_take")
            equal("fields that are 0", (fields[1], fields[8]), (0, 0))
            equal("records of this CPU after it", len(records) - 1 - i, 0)
    equal("records of a stop", stops, 1)
    check(directory)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    for name, why in SNAPSHOTS.items():
        is_saved(os.path.join(out, name), why)
    with open(os.path.join(out, "site.trigger")) as f:
        is_saved(os.path.join(out, "site"), f.read().strip())
    check(os.path.join(out, "live"))

    count, _ = allocations(os.path.join(out, "root"))
    equal("kept before the snapshot", count["snapshot_keep"], 1000)
    count, _ = allocations(os.path.join(out, "cache"))
    # SLUB counts free objects on per-CPU lists as in use.
    holds("objects of the cache when it held too much",
          count["snapshot_fill"],
          150 <= count["snapshot_fill"] <= 40000 // 200 + 1)
    equal("kept before that", count["snapshot_keep"], 51)
    count, _ = allocations(os.path.join(out, "site"))
    equal("kept between the snapshots, until it was too much",
          count["snapshot_keep"], 51)
    count, held = allocations(os.path.join(out, "oom"))
    equal("who was given most before the OOM killer came",
          held.most_common(1)[0][0], "snapshot_hoard")
    report_names(os.path.join(out, "oom"), "snapshot_hoard")
    count, _ = allocations(os.path.join(out, "stopped"))
    equal("kept before tracing stopped", count["snapshot_keep"], 10)
    stopped(os.path.join(out, "stopped"))
    sys.exit(failed())


if __name__ == "__main__":
    main()
