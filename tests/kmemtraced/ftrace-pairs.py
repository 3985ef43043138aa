#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced -s ftrace on a kernel that reports a large kmalloc() twice: the
capture has one record for each allocation."""

import os
import struct
import unittest

from kmemtraced_fake import main
from kmemtraced_tracefs import (PAGE, SOURCE_READY, TracefsTest, event, page,
                                page_event)
from target import ORDER, pack

RECORD = struct.Struct(ORDER + "BBHiQQQQQqIHH")
INNER, CALLER = 0xffffffff81000110, 0xffffffff81000210
PTR = 0xffff888000010000
NAMES = """ffffffff81000100 T {}
ffffffff81000200 t a_caller
ffffffff81000300 T _end
"""
HIDDEN = "0000000000000000 T __kmalloc\n"


def pages(delta=1):
    """Return the page allocation of a kmalloc() of 16 KB."""
    return page_event("mm_page_alloc", delta, 0x10, 2)


def kmalloc(site, delta=1, ptr=PTR, **settings):
    """Return an allocation of 16 KB."""
    return event("kmalloc", delta, ptr, site=site, sizes=(10240, 16384),
                 **settings)


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Pairs(TracefsTest):
    """The records of CPU 0; CPU 1 has no events."""

    def recorded(self, *cpu0, names=HIDDEN, status=0, lost=0):
        """Record these pages of the ring buffer; return (event, call site) of each
        record. names: the content of kallsyms; lost: lost events."""
        self.setUp()
        self.make_tracefs(pages=(b"".join(cpu0), b""),
                          lost=((lost, 0, 0), (0, 0, 0)))
        self.write(os.path.join(self.proc, "kallsyms"), names)
        self.check_end(self.spawn("-w", "0.1"), status)
        found = list(RECORD.iter_unpack(self.capture().cpu(0)))
        self.assertEqual([r[9] for r in found], sorted(r[9] for r in found))
        self.assertEqual(self.capture()["events"], str(len(found)))
        self.duplicates = self.capture()["kmalloc_duplicates"]
        return [(r[0], r[4]) for r in found]

    def assert_pair(self, *cpu0, **settings):
        """Check that of a page allocation and a pair, only the caller is left."""
        self.assertEqual(self.recorded(*cpu0, **settings),
                         [(1, 0), (1, CALLER)])
        self.assertEqual(self.duplicates, "1")

    def assert_both(self, *cpu0, between=(), **settings):
        """Check that both events are left."""
        self.assertEqual(self.recorded(*cpu0, **settings),
                         [(1, 0), (1, INNER), *between, (1, CALLER)])
        self.assertEqual(self.duplicates, "0")

    def test_pair(self):
        """In one page, or in two."""
        self.assert_pair(page(10, pages(), kmalloc(INNER), kmalloc(CALLER)))
        self.assert_pair(page(10, pages(), kmalloc(INNER)),
                         page(20, kmalloc(CALLER)))
        self.assert_pair(page(10, pages()), page(20, kmalloc(INNER)),
                         page(30), page(40, kmalloc(CALLER)))

    def test_names(self):
        """With names, the function of the first call site decides."""
        events = page(10, pages(), kmalloc(INNER), kmalloc(CALLER))
        self.assert_pair(events, names=NAMES.format("__kmalloc_noprof"))
        self.assert_pair(events,
                         names=NAMES.format("__do_kmalloc_node.isra.0"))
        self.assert_both(events, names=NAMES.format("__kmalloc"))

    def test_interrupted(self):
        """Events of an interrupt between the two stay in their place."""
        self.assertEqual(
            self.recorded(
                page(10, pages(), kmalloc(INNER),
                     event("kmalloc", 1, 0x1000, flags=8, site=1)),
                page(20, event("kfree", 1, 0x1000, flags=8, site=2),
                     kmalloc(CALLER), event("kfree", 1, PTR, site=3))),
            [(1, 0), (1, 1), (2, 2), (1, CALLER), (2, 3)])

    def test_two_allocations(self):
        """Another CPU freed the memory in between."""
        self.assert_both(page(10, pages(), kmalloc(INNER), pages(),
                              kmalloc(CALLER)), between=[(1, 0)])
        self.assert_both(page(10, pages(), kmalloc(INNER),
                              event("kfree", 1, 0x5000, site=7),
                              kmalloc(CALLER)), between=[(2, 7)])

    def test_loss(self):
        """Events were lost or are unreadable between the two."""
        first = page(10, pages(), kmalloc(INNER))
        second = kmalloc(CALLER)
        self.assert_both(first, page(20, second, missed=True))
        stored = bytearray(page(20, second))
        struct.pack_into(ORDER + "Q", stored, 8, len(second) | 3 << 30)
        struct.pack_into(ORDER + "Q", stored, 16 + len(second), 6)
        self.assert_both(first, bytes(stored), between=[(3, 0)], lost=6)

    def test_damage(self):
        """Events are unreadable between the two."""
        second = page(20, kmalloc(CALLER))
        for damaged in (
                # An event that is longer than the rest of its page, and one that
                # is too short for its fields.
                page(10, pages(), kmalloc(INNER), pack("I", 20)),
                page(10, pages(), kmalloc(INNER), kmalloc(7)[:4] + bytes(4))):
            self.assert_both(damaged, second, status=1)

    def test_end(self):
        """The last event of a CPU waits for no other."""
        self.assertEqual(self.recorded(page(10, pages(), kmalloc(INNER))),
                         [(1, 0), (1, INNER)])
        full = [event("kfree", 1, 0x1000 + i, flags=8, site=i)
                for i in range(100)]
        self.assertEqual(
            self.recorded(page(10, pages(), kmalloc(INNER), *full)),
            [(1, 0), (1, INNER)] + [(2, i) for i in range(100)])


if __name__ == "__main__":
    assert PAGE == 4096
    main()
