#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on recordings of kernels that report a large kmalloc() twice:
all formats give the same records, with one record for each allocation."""

import sys

from ctf_files import ctf_metadata, ctf_packet
from import_case import ImportTest, lacks, main
from import_events import TRACEPOINTS, Event
from perf_files import perf_command, perf_data, perf_lost, perf_sample
from trace_dat_files import ring_page, trace_dat

INNER, FIRST, SECOND = (0xffffffff81000110, 0xffffffff81000210,
                        0xffffffff81000310)
NAMES = ("ffffffff81000100 T __kmalloc_noprof\n"
         "ffffffff81000200 t first_caller\n"
         "ffffffff81000300 T second_caller\n"
         "ffffffff81000400 T _end\n")
OLD_NAMES = NAMES.replace("__kmalloc_noprof", "__kmalloc")
PTR = 0xffff888000010000
WITHOUT_CTF = lacks("libbabeltrace2", None)
SOFTIRQ, HARDIRQ = 0x10, 0x08


def kmalloc(time, site, ptr=PTR, req=10240, **values):
    """Return an allocation of 16 KB."""
    return Event("kmalloc", 0, time, {
        "call_site": site, "ptr": ptr, "bytes_req": req, "bytes_alloc": 16384,
        "gfp_flags": 0xcc0, **values})


def pages(time, order=2, **values):
    """Return an allocation of pages."""
    return Event("mm_page_alloc", 0, time, {"pfn": 0x10, "order": order,
                                            **values})


def kfree(time, **values):
    """Return the free of the memory."""
    return Event("kfree", 0, time, {"call_site": FIRST, "ptr": PTR, **values})


def small(time, **values):
    """Return an allocation of another address."""
    return kmalloc(time, SECOND, 0xffff888000008000 + time, 32,
                   bytes_alloc=32, **values)


class Pairs(ImportTest):
    """A recording in each format."""

    def formats(self, events, kallsyms=""):
        """Write the events in each format; yield (path, options)."""
        names = ("--kallsyms", self.write("names", kallsyms)) \
            if kallsyms else ()
        yield self.write("perf.data", perf_data(
            b"".join(perf_sample(e) for e in events))), names
        yield self.write("trace.dat", trace_dat(
            [[ring_page(events[i:i + 40], TRACEPOINTS)
              for i in range(0, len(events), 40)]],
            kallsyms=kallsyms.encode())), ()
        if not WITHOUT_CTF:
            self.write("ctf/metadata", ctf_metadata(TRACEPOINTS))
            self.write("ctf/stream", ctf_packet(events, TRACEPOINTS))
            yield self.path("ctf"), names

    def assert_left(self, events, left, kallsyms=""):
        """Check which of the events, by their times, have a record."""
        for path, options in self.formats(events, kallsyms):
            with self.subTest(path=path, kallsyms=bool(kallsyms)):
                result = self.run_import(path, "-f", *options)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual([r[9] for r in self.records(0)], left)
                dropped = len(events) - len(left)
                meta = self.meta()
                self.assertEqual(meta["kmalloc_duplicates"], str(dropped))
                self.assertEqual(meta["events"], str(len(left)))
                self.assertIn(f": {len(left)} events of ", result.stdout)
                said = f"left out: {dropped} events of a large kmalloc()"
                self.assertEqual(said in result.stdout, dropped > 0)

    def test_pair(self):
        """The event with the caller's call site stays."""
        pair = [kmalloc(20, INNER), kmalloc(30, FIRST)]
        self.assert_left([pages(10), *pair, kfree(40)], [10, 30, 40])
        self.assert_left([*pair, kfree(40)], [30, 40], NAMES)
        self.assertEqual([r[4] for r in self.records(0)], [FIRST, FIRST])
        # Each pair of a sequence is found.
        self.assert_left([pages(10), *pair, kfree(40), pages(50),
                          kmalloc(60, INNER), kmalloc(70, SECOND)],
                         [10, 30, 40, 50, 70])

    def test_no_proof(self):
        """Two allocations of the same memory, which another CPU freed."""
        both = [kmalloc(20, FIRST), kmalloc(30, SECOND)]
        self.assert_left(both, [20, 30])
        self.assert_left(both, [20, 30], NAMES)
        # With page events, each allocation has its own.
        self.assert_left([pages(10), both[0], pages(25), both[1]],
                         [10, 20, 25, 30])
        # The names of a kernel that reports each allocation once.
        self.assert_left([pages(10), kmalloc(20, INNER), both[1]],
                         [10, 20, 30], OLD_NAMES)
        # Pages of another size or another task prove nothing.
        self.assert_left([pages(10, 3), *both], [10, 20, 30])
        self.assert_left([pages(10, common_flags=SOFTIRQ), *both],
                         [10, 20, 30])

    def test_differences(self):
        """An event with another value in any field is another allocation."""
        first = kmalloc(20, INNER)
        for values in ({"ptr": PTR + 4096}, {"bytes_req": 10241},
                       {"bytes_alloc": 32768}, {"gfp_flags": 0xcd0},
                       {"node": 0}, {"call_site": INNER}):
            with self.subTest(values=values):
                second = first._replace(
                    time=30, values={**first.values, "call_site": FIRST,
                                     **values})
                self.assert_left([pages(10), first, second], [10, 20, 30])
                self.assert_left([first, second], [20, 30], NAMES)

    def test_free_between(self):
        """A free or any other event of the context ends the wait."""
        for between in (kfree(25), small(25), pages(25),
                        kfree(25, ptr=PTR + 4096)):
            events = [kmalloc(20, INNER), between, kmalloc(30, FIRST)]
            self.assert_left([pages(10), *events], [10, 20, 25, 30])
            self.assert_left(events, [20, 25, 30], NAMES)

    def test_other_contexts(self):
        """Interrupts have events between the two, even pairs of their own."""
        events = [pages(10), kmalloc(20, INNER),
                  small(21, common_flags=SOFTIRQ),
                  pages(22, common_flags=SOFTIRQ),
                  kmalloc(23, INNER, PTR + 65536, common_flags=SOFTIRQ),
                  kmalloc(24, INNER, PTR + 131072, common_flags=HARDIRQ),
                  small(25, common_flags=HARDIRQ),
                  kmalloc(26, SECOND, PTR + 65536, common_flags=SOFTIRQ),
                  kmalloc(30, FIRST), small(40)]
        self.assert_left(events, [10, 21, 22, 24, 25, 26, 30, 40])

    def test_another_task(self):
        """Another task runs between the two; its event is not the second one."""
        events = [pages(10), kmalloc(20, INNER),
                  kmalloc(22, SECOND, common_pid=8), kmalloc(30, FIRST)]
        self.assert_left(events, [10, 22, 30])
        self.assert_left(events[:-1], [10, 20, 22])

    def test_many_between(self):
        """The wait for the second event ends after 255 records."""
        for n, found in ((254, True), (255, False), (600, False)):
            between = [small(100 + i, common_flags=HARDIRQ) for i in range(n)]
            events = [pages(10), kmalloc(20, INNER), *between,
                      kmalloc(2000, FIRST)]
            self.assert_left(events, [
                e.time for e in events if not (found and e.time == 20)])

    def test_one_is_missing(self):
        """An event without its partner is the only record of the allocation."""
        for one in (INNER, FIRST):
            events = [pages(10), kmalloc(20, one)]
            self.assert_left(events, [10, 20])
            self.assert_left(events[1:], [20], NAMES)


class Losses(ImportTest):
    """Events were lost between the two: the first one stays."""

    EVENTS = (pages(10), kmalloc(20, INNER), kmalloc(30, FIRST))

    def assert_all_left(self, path):
        """Check that both events are left, with a LOST record between them."""
        self.imported(path, "-f")
        self.assertEqual([(r[0], r[4]) for r in self.records(0)],
                         [(1, 0), (1, INNER), (3, 0), (1, FIRST)])
        self.assertEqual(self.meta()["kmalloc_duplicates"], "0")

    def test_perf(self):
        self.assert_all_left(self.write("perf.data", perf_data(
            b"".join(perf_sample(e) for e in self.EVENTS[:2]) +
            perf_lost(1, 0, 25) + perf_sample(self.EVENTS[2]))))

    def test_trace_dat(self):
        def pieces(missed):
            return self.write("trace.dat", trace_dat([[
                ring_page(self.EVENTS[:2], TRACEPOINTS),
                ring_page(self.EVENTS[2:], TRACEPOINTS, missed)]],
                kallsyms=b""))
        self.assert_all_left(pieces(-1))
        self.assert_all_left(pieces(5))
        # Without a loss, the pair is found across pages.
        self.imported(pieces(0), "-f")
        self.assertEqual(self.meta()["kmalloc_duplicates"], "1")

    def test_ctf(self):
        if WITHOUT_CTF:
            return
        self.write("ctf/metadata", ctf_metadata(TRACEPOINTS))
        self.write("ctf/stream", ctf_packet(self.EVENTS[:2], TRACEPOINTS) +
                   ctf_packet(self.EVENTS[2:], TRACEPOINTS, discarded=6))
        self.assert_all_left(self.path("ctf"))


if __name__ == "__main__":
    if lacks("libtraceevent", b"PERFILE2" + bytes(200)):
        sys.exit(77)
    main()
