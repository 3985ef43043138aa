#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on files of trace-cmd record -T: the stack of an event is
recorded after the event, and events of interrupts may lie between the two."""

import os
import random
import struct
import sys

from import_case import ImportTest, lacks, main
from import_events import A, B, TRACEPOINTS, Event, Field
from target import ORDER
from trace_dat_files import ring_page, trace_dat

DEPTH = 4
WITH_STACKS = {**TRACEPOINTS, "kernel_stack": ("ftrace", 4, (
    Field("int", "size", 8, 4, 1), *(
        Field("unsigned long", f"caller{i}", 16 + 8 * i, 8, 0)
        for i in range(DEPTH))))}
STACKED = struct.Struct(ORDER + "BBHiQQQQQqIHHII")
HARDIRQ, SOFTIRQ, NMI = 8, 16, 64
NAMES = "".join(f"{address:016x} T {name}\n" for address, name in (
    (A, "trace_event_raw_event_x"), (A + 16, "__alloc_pages"),
    (A + 32, "folio_alloc_noprof"), (A + 48, "asks"), (B, "outer"),
    (B + 4096, "the_end")))


def stack(time, callers, flags=0, size=None):
    """Return the stack of the preceding event in the same context."""
    return Event("kernel_stack", 0, time, {
        "size": len(callers) if size is None else size, "common_flags": flags,
        **{f"caller{i}": caller for i, caller in enumerate(callers)}})


def alloc(time, ptr, site=B + 8, flags=0):
    """Return an allocation of kmalloc."""
    return Event("kmalloc", 0, time, {
        "call_site": site, "ptr": ptr, "bytes_req": 8, "bytes_alloc": 8,
        "common_flags": flags})


def page(time, pfn, flags=0):
    """Return an allocation of one page."""
    return Event("mm_page_alloc", 0, time, {"pfn": pfn, "order": 0,
                                            "common_flags": flags})


SEED = int(os.environ.get("KMT_SEED", random.randrange(1 << 32)))


class TraceStacks(ImportTest):
    """Stacks, and the callers found in them."""

    def take(self, *events, **settings):
        """Import events; return time, call site and stack of each record."""
        path = self.write("trace.dat", trace_dat(
            [[ring_page(events[i:i + 40], WITH_STACKS)
              for i in range(0, len(events), 40)]], kallsyms=NAMES.encode()))
        self.imported(path, "-f", **settings)
        with open(os.path.join(self.out, "cpu0.out"), "rb") as f:
            records = list(STACKED.iter_unpack(f.read()))
        table = {int(line.split()[0]): [int(a, 16) for a in
                                        line.split()[1].split(",")]
                 for line in self.text("stacks").splitlines()
                 if not line.startswith("#")}
        return [(r[9], r[4], table.get(r[13])) for r in records]

    def test_usual(self):
        """Slab stacks begin at the call site, page stacks outside of the allocator."""
        inner = [A + 4, A + 20]
        self.assertEqual(self.take(
            alloc(1000, 0x9000), stack(1001, [*inner, B + 8, B + 20]),
            page(1002, 5), stack(1003, [*inner, A + 36, A + 50]),
            page(1004, 6), stack(1005, [*inner, B + 20])),
            [(1000, B + 8, [B + 8, B + 20]), (1002, A + 50, [A + 50]),
             (1004, B + 20, [B + 20])])
        self.assertIn("the requested node of pages", self.meta()["not_seen"])

    def test_nested(self):
        """Each stack belongs to the last event of its own context."""
        self.assertEqual(self.take(
            page(10, 1),
            page(11, 2, SOFTIRQ),
            page(12, 3, HARDIRQ), stack(13, [A, A + 50], HARDIRQ),
            page(14, 4, HARDIRQ),
            stack(15, [A, B + 9], SOFTIRQ),
            page(16, 5, NMI), stack(17, [A, B + 11], NMI),
            stack(18, [A, B + 7]),
            page(19, 6), page(20, 7), stack(21, [A, B + 8])),
            [(10, B + 7, [B + 7]), (11, B + 9, [B + 9]),
             (12, A + 50, [A + 50]), (14, 0, None), (16, B + 11, [B + 11]),
             (19, 0, None), (20, B + 8, [B + 8])])

    def test_others(self):
        """Stacks of events without a record, and a stack without any event."""
        self.assertEqual(self.take(
            stack(10, [A, B + 7]), page(11, 1),
            Event("sched_switch", 0, 12), stack(13, [A, B + 8]),
            page(14, -1), stack(15, [A, B + 9]),
            page(16, 2), stack(17, [A, B + 9], size=99),
            page(18, 3), stack(19, [A, B + 9], size=-1), page(20, 4),
            stack(21, [], size=0)),
            [(11, 0, None), (16, B + 9, [B + 9, 0, 0]),
             (18, B + 9, [B + 9, 0, 0]), (20, 0, None)])

    def test_stack_that_never_comes(self):
        """A missing stack does not make events wait without limit: after 1024
        interrupts, the import stops waiting for the stack of the interrupted
        event."""
        for count, stacked in ((1000, True), (1030, False)):
            interrupts = [event for t in range(count) for event in (
                page(11 + 2 * t, 2 + t, HARDIRQ),
                stack(12 + 2 * t, [A, B + 9], HARDIRQ))]
            end = 11 + 2 * count
            taken = self.take(page(10, 1), *interrupts,
                              stack(end, [A, B + 7]),
                              page(end + 1, 1 << 20))
            self.assertEqual(len(taken), count + 2)
            self.assertEqual(taken[0], (10, B + 7, [B + 7]) if stacked
                             else (10, 0, None))
            self.assertEqual(taken[-2][1:], (B + 9, [B + 9]))

    def test_random(self):
        """No event is lost, duplicated or moved in any order of events."""
        rng = random.Random(SEED)
        flags = (0, SOFTIRQ, HARDIRQ, NMI)
        for _ in range(20):
            events, expected = [], []
            for time in range(1, 40):
                flag = rng.choice(flags)
                if events and rng.random() < .5:
                    events.append(stack(time, [A, B + time], flag))
                else:
                    events.append(page(time, time, flag))
                    expected.append(time)
            if not expected:
                continue
            if not any(e.name == "kernel_stack" for e in events):
                continue
            self.assertEqual([r[0] for r in self.take(*events)], expected)


if __name__ == "__main__":
    if lacks("libtraceevent", b"PERFILE2" + bytes(200)):
        sys.exit(77)
    print(f"KMT_SEED={SEED}")
    main()
