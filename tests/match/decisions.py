#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each decision of the matcher alone, at the limit of the tolerance (100 ns).

A case is the history of one address and the expected lines of match-dump, which
names records CPU:INDEX.  'A0@1000' is an ALLOC on CPU 0 at 1000, F is a FREE; a and
f belong to a cache, P and p to pages, C and c to per-CPU memory, V and v to vmalloc
(in a capture of version 2).
"""

import os
import subprocess
import sys
import tempfile

import mkcapture

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
DUMP = os.path.join(BUILD, "tests", "match", "match-dump")
TOLERANCE = 100
PTR = 0xffff888000001000

KINDS = {"A": (1, 0), "F": (2, 0), "a": (1, 1), "f": (2, 1),
         "P": (1, 2), "p": (2, 2), "C": (1, 3), "c": (2, 3), "V": (1, 4),
         "v": (2, 4), "D": (7, 0)}


def early_defers(n):
    """Return a history in which n DEFERs of the allocating CPU are older than the one
    that belongs to the allocation."""
    older = " ".join(f"D0@{2000 + i}" for i in range(n))
    return f"A0@1000 F0@1010 {older} D1@2030 A0@2040"


def unmatched_defers(n):
    """Return the decisions about the n older DEFERs."""
    return [f"unmatched_defer 0:{2 + i} unexplained" for i in range(n)]


CASES = [
    ("a pair", "A0@1000 F0@2000", ["free 0:0 0:1"]),
    ("freed on another CPU", "A0@1000 F1@2000", ["free 0:0 1:0"]),
    ("live at the end", "A0@1000 F0@2000 A0@3000",
     ["free 0:0 0:1", "live 0:2"]),
    ("slab and pages are two spaces", "A0@1000 P0@2000 F0@3000 p0@4000",
     ["free 0:0 0:2", "free 0:1 0:3"]),
    ("slab and pages, one freed", "A0@1000 P0@2000 p0@3000",
     ["free 0:1 0:2", "live 0:0"]),
    ("each kind but kmalloc and cache is a space",
     "A0@1000 P0@1500 C0@2000 V0@3000 v0@4000 c0@5000 p0@6000 f0@9000",
     ["free 0:0 0:7 mismatch", "free 0:1 0:6", "free 0:2 0:5",
      "free 0:3 0:4"]),
    ("pages and per-CPU memory", "P0@1000 C0@2000 C0@3000 p0@4000",
     ["double 0:1 0:2 unexplained", "free 0:0 0:3", "live 0:2",
      "replaced 0:1 0:2"]),
    ("no mismatch of vmalloc and slab", "V0@1000 F0@2000",
     ["live 0:0", "unmatched 0:1 before_trace"]),
    ("from before the trace", "F0@1000 A0@2000 F0@3000",
     ["free 0:1 0:2", "unmatched 0:0 before_trace"]),
    ("free of what is known to be free", "A0@1000 F0@2000 F0@3000",
     ["free 0:0 0:1", "unmatched 0:2 unexplained"]),
    ("only the first sight can be from before", "F0@1000 F0@2000",
     ["unmatched 0:0 before_trace", "unmatched 0:1 unexplained"]),
    ("double allocation", "A0@1000 A0@2000 F0@3000",
     ["double 0:0 0:1 unexplained", "free 0:1 0:2", "replaced 0:0 0:1"]),
    ("mismatch", "a0@1000 F0@2000", ["free 0:0 0:1 mismatch"]),
    ("mismatch, then in use again at once", "a0@1000 F0@2000 A0@2001",
     ["free 0:0 0:1 mismatch", "live 0:2"]),
    ("mismatch on another CPU, then in use again", "a0@1000 F1@2000 a0@9000",
     ["free 0:0 1:0 mismatch", "live 0:1"]),

    # A FREE that is late.
    ("late, on the edge", "A0@1000 A0@5000 F1@5100",
     ["double 0:0 0:1 race 5100", "live 0:1", "replaced 0:0 0:1"]),
    ("late by more than the tolerance", "A0@1000 A0@5000 F1@5101",
     ["double 0:0 0:1 unexplained", "free 0:1 1:0", "replaced 0:0 0:1"]),
    ("not late: order is certain on one CPU", "A0@1000 A0@5000 F0@5050",
     ["double 0:0 0:1 unexplained", "free 0:1 0:2", "replaced 0:0 0:1"]),
    ("both frees come, the near one first",
     "A0@1000 A1@5000 F1@5010 F0@5020",
     ["double 0:0 1:0 race 5020", "free 1:0 1:1", "replaced 0:0 1:0"]),
    ("a tie, allocation first by CPU number", "A0@1000 A0@2000 F1@2000",
     ["double 0:0 0:1 race 2000", "live 0:1", "replaced 0:0 0:1"]),
    ("two at once are late", "A0@1000 A0@5000 F0@5001 A0@5002 F1@5050 F1@5060",
     ["double 0:0 0:1 race 5050", "free 0:1 0:2", "free 0:3 1:1",
      "replaced 0:0 0:1"]),
    ("the type identifies the late one", "A0@1000 a0@5000 F1@5010 f1@5020",
     ["double 0:0 0:1 race 5010", "free 0:1 1:1", "replaced 0:0 0:1"]),

    # A FREE that is early.
    ("early, on the edge", "A0@1000 F0@2000 F1@4900 A0@5000 A0@9000",
     ["free 0:0 0:1", "free 0:2 1:0", "live 0:3"]),
    ("early by more than the tolerance",
     "A0@1000 F0@2000 F1@4899 A0@5000 F0@9000",
     ["free 0:0 0:1", "free 0:2 0:3", "unmatched 1:0 unexplained"]),
    ("not early: order is certain on one CPU",
     "A0@1000 F0@2000 F0@4950 A0@5000 F0@9000",
     ["free 0:0 0:1", "free 0:3 0:4", "unmatched 0:2 unexplained"]),
    ("a tie, free first by CPU number", "A0@1000 F0@2000 F0@3000 A1@3000",
     ["free 0:0 0:1", "free 1:0 0:2"]),
    ("early first record: a second allocation shows it",
     "F0@1000 A1@1050 A1@9000",
     ["double 1:0 1:1 race", "live 1:1", "replaced 1:0 1:1",
      "unmatched 0:0 before_trace"]),
    ("at first sight but too early", "F0@1000 A1@1101 A1@9000",
     ["double 1:0 1:1 unexplained", "live 1:1", "replaced 1:0 1:1",
      "unmatched 0:0 before_trace"]),
    ("at first sight on one CPU", "F0@1000 A0@1050 A0@9000",
     ["double 0:1 0:2 unexplained", "live 0:2", "replaced 0:1 0:2",
      "unmatched 0:0 before_trace"]),

    ("at first sight, nothing live for too long",
     "F0@1000 f0@2000 A1@2050 A1@9000",
     ["double 1:0 1:1 unexplained", "live 1:1", "replaced 1:0 1:1",
      "unmatched 0:0 before_trace", "unmatched 0:1 unexplained"]),

    # The first ALLOC may be ordered after the FREE of an older object.
    ("a tie at the first record: a second free shows it", "A0@1000 F1@1000 F0@9000",
     ["free 0:0 1:0", "unmatched 0:1 before_trace"]),
    ("but only one", "A0@1000 F1@1000 F0@9000 F0@9900",
     ["free 0:0 1:0", "unmatched 0:1 before_trace",
      "unmatched 0:2 unexplained"]),
    ("a second free, the first one too late", "A0@1000 F1@1101 F0@9000",
     ["free 0:0 1:0", "unmatched 0:1 unexplained"]),
    ("a second free, on one CPU", "A0@1000 F0@1050 F0@9000",
     ["free 0:0 0:1", "unmatched 0:2 unexplained"]),
    ("a pair passed the free of what was before", "A0@1000 F0@1010 F1@1050",
     ["free 0:0 0:1", "unmatched 1:0 before_trace"]),
    ("a pair passed it too long ago", "A0@1000 F0@1010 F1@1111",
     ["free 0:0 0:1", "unmatched 1:0 unexplained"]),
    ("it shows after eight more records",
     "A0@1000 F0@1001 " + "A0@1002 F0@1003 " * 4 + "F1@1050",
     [f"free 0:{i} 0:{i + 1}" for i in range(0, 10, 2)]
     + ["unmatched 1:0 before_trace"]),
    ("but not after ten",
     "A0@1000 F0@1001 " + "A0@1002 F0@1003 " * 5 + "F1@1050",
     [f"free 0:{i} 0:{i + 1}" for i in range(0, 12, 2)]
     + ["unmatched 1:0 unexplained"]),

    # The number of pending frees that are searched for the type.
    ("the eighth that waits is found",
     "A0@1000 F0@2000 " + "f0@4000 " * 7 + "F0@4001 A1@4002",
     ["free 0:0 0:1", "free 1:0 0:9"]
     + [f"unmatched 0:{i} unexplained" for i in range(2, 9)]),
    ("the ninth is not",
     "A0@1000 F0@2000 " + "f0@4000 " * 8 + "F0@4001 A1@4002",
     ["free 0:0 0:1", "live 1:0"]
     + [f"unmatched 0:{i} unexplained" for i in range(2, 11)]),

    ("eight records until another CPU shows up, in spite of one that waits",
     "A0@1000 A0@2000 F0@2001 A0@2010 F0@2020 A0@2030 F0@2040 A0@2050 "
     "F0@2060 F1@2130",
     ["double 0:0 0:1 unexplained", "free 0:1 0:2", "free 0:3 0:4",
      "free 0:5 0:6", "free 0:7 0:8", "replaced 0:0 0:1",
      "unmatched 1:0 before_trace"]),

    # A time that goes backwards counts as the time of the preceding record.
    ("time goes back", "A0@1000 F0@500 A0@600",
     ["free 0:0 0:1", "live 0:2"]),

    # Eight DEFERs are searched for one that belongs to a new object.
    ("the eighth DEFER is found", early_defers(7),
     ["free 0:0 0:1", "defer 0:9 1:0 first", "live 0:9 deferred 2030"]
     + unmatched_defers(7)),
    ("the ninth DEFER is not searched", early_defers(8),
     ["free 0:0 0:1", "unmatched_defer 1:0 unexplained", "live 0:10"]
     + unmatched_defers(8)),
]


def run(history):
    """Return the sorted lines of match-dump without the last line."""
    capture = mkcapture.Capture()
    is_newer = bool(set(history) & set("CcVvD"))
    for word in history.split():
        event, type_id = KINDS[word[0]]
        cpu, t = word[1:].split("@")
        fields = {"event_id": event, "type_id": type_id, "t": int(t),
                  "ptr": PTR}
        capture.add(int(cpu), mkcapture.event_v2(**fields) if is_newer
                    else mkcapture.event(**fields))
    with tempfile.TemporaryDirectory() as directory:
        capture.write(directory)
        done = subprocess.run([DUMP, str(TOLERANCE), directory], check=True,
                              capture_output=True, text=True, timeout=60)
    return sorted(done.stdout.splitlines()[:-1])


def main():
    """Run all cases."""
    failures = 0
    for what, history, expected in CASES:
        got = run(history)
        if got != sorted(expected):
            failures += 1
            print(f"FAIL {what}: {history}\n  expected {sorted(expected)}\n"
                  f"  got      {got}")
    print(f"{len(CASES)} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
