#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on damaged trace.dat files: intact pages are imported, and a
record of a loss marks each damaged page."""

import json
import os
import random
import subprocess
import sys

from damaged_pages import DAMAGE, EACH
from import_case import REPORT, ImportTest, lacks, main
from import_events import A, TRACEPOINTS, Event
from target import pack
from trace_dat_files import (PACKERS, PAGE, dat_option, dat_stats, ring_page,
                             trace_dat, trace_dat7)

LOST = 3
PAGES = 5


def allocations(first, count):
    """Return events with different addresses and times."""
    return [Event("kmalloc", 0, 100000000 + t * 1000, {
        "call_site": A + 16, "ptr": 0xffff888000000000 + t * 64,
        "bytes_req": 64, "bytes_alloc": 64})
            for t in range(first, first + count)]


def times(pages):
    """Return the times of the events of pages."""
    return [e.time for n in pages for e in allocations(n * EACH, EACH)]


def whole_pages(count=PAGES):
    """Return pages of EACH events."""
    return [ring_page(allocations(n * EACH, EACH), TRACEPOINTS)
            for n in range(count)]


class Damage(ImportTest):
    """Damaged pages and chunks, and truncated files."""

    def reported(self):
        """Return the JSON document of a report."""
        result = subprocess.run([REPORT, "--json", self.out],
                                capture_output=True, text=True, check=True)
        return json.loads(result.stdout)

    def assert_events(self, expected, cpu=0):
        """Expect exactly the events of the given pages."""
        self.assertEqual([r[9] for r in self.records(cpu) if r[0] != LOST],
                         times(expected))

    def losses(self, cpu=0):
        """Return (events, since, timestamp) of each LOST record."""
        # Fields of a LOST record: events at 24, since at 32, timestamp at 48.
        return [(r[6], r[7], r[9]) for r in self.records(cpu)
                if r[0] == LOST]

    def test_each_damage(self):
        """One page of five is damaged: 160 of 200 events remain. Only the kernel's
        counters give the number of the missing 40."""
        for name, damage in DAMAGE.items():
            for options, number in ((b"", 0),
                                    (dat_stats(0, unread=150, read=50), EACH)):
                with self.subTest(damage=name, number=number):
                    pages = whole_pages()
                    pages[1] = damage(pages[1])
                    self.partial(self.write("trace.dat", trace_dat(
                        [pages], options=options)))
                    self.assert_events([0, 2, 3, 4])
                    before, after = times([0])[-1], times([2])[0]
                    self.assertEqual(self.losses(), [(number, before, after)])
                    self.assertEqual(self.meta().get("overruns"),
                                     str(number) if number else None)
                    self.assertEqual(self.meta().get("cpu0.overruns"),
                                     str(number) if number else None)
                    self.checked()

    def test_tolerance(self):
        """The clock may go back by 1 ms in any unit: a page that is 500 ticks of 10
        ms early is damaged, and a page that is 900 us early by a clock of 1 us
        is not."""
        for clock, more, ticks, whole in (
                ("uptime", b"", 500, False), ("uptime", b"", 0, True),
                ("x86-tsc", dat_option(14, pack("IIQ", 1000, 0, 0)),
                 900, True),
                ("x86-tsc", dat_option(14, pack("IIQ", 1000, 0, 0)),
                 1100, False)):
            pages = [ring_page([Event("kfree", 0, when, {
                "call_site": A, "ptr": 1 << 63 | when})], TRACEPOINTS)
                for when in (10000, 20000, 20000 - ticks, 30000, 40000)]
            path = self.write("trace.dat", trace_dat7(
                [("", [pages])], clock=clock, options=more))
            with self.subTest(clock=clock, ticks=ticks):
                if whole:
                    self.imported(path, "-f")
                else:
                    self.partial(path)
                self.assertEqual(len([r for r in self.records(0)
                                      if r[0] != LOST]), 5 if whole else 4)

    def test_counters_that_do_not_fit(self):
        """A sum of counters that overflows would equal the number of remaining
        events."""
        pages = whole_pages()
        pages[1] = bytes(PAGE)
        for stats in ({"unread": (1 << 64) - 1, "read": 161},
                      {"unread": 161, "read": (1 << 64) - 1}):
            self.partial(self.write("trace.dat", trace_dat(
                [pages], options=dat_stats(0, **stats))))
            self.assert_events([0, 2, 3, 4])
        self.imported(self.write("trace.dat", trace_dat(
            [whole_pages()], options=dat_stats(
                0, overrun=5, commit=(1 << 64) - 3, dropped=2))), "-f")
        meta = self.meta()
        self.assertEqual((meta["losses"], meta.get("overruns")),
                         ("unnumbered", None))

    def test_report(self):
        """The report shows the place, and the number if it is known."""
        for options, number in ((b"", None),
                                (dat_stats(0, unread=200), EACH)):
            pages = whole_pages()
            pages[1] = bytes(PAGE)
            self.partial(self.write("trace.dat", trace_dat(
                [pages], options=options)))
            capture = self.reported()["capture"]
            self.assertEqual([h["events"] for h in capture["holes"]],
                             [number])
            self.assertFalse(capture["complete"])
            text = subprocess.run([REPORT, self.out], capture_output=True,
                                  text=True, check=True).stdout
            self.assertIn("the imported file is damaged", text)
            self.assertIn("40 events\n" if number else
                          "an unknown number of events\n", text)

    def test_places(self):
        """Damage at the start, at the end, at two places, and in consecutive pages."""
        first, last = times([0])[0], times([PAGES - 1])[-1]
        for bad, expected in (
                ([0], [(EACH, times([1])[0], times([1])[0])]),
                ([4], [(EACH, times([3])[-1], times([3])[-1])]),
                ([1, 2], [(2 * EACH, times([0])[-1], times([3])[0])]),
                ([1, 3], [(0, times([0])[-1], times([2])[0]),
                          (0, times([2])[-1], times([4])[0])])):
            with self.subTest(bad=bad):
                pages = whole_pages()
                for n in bad:
                    pages[n] = bytes(PAGE)
                self.partial(self.write("trace.dat", trace_dat(
                    [pages], options=dat_stats(0, read=PAGES * EACH))))
                self.assert_events([n for n in range(PAGES) if n not in bad])
                self.assertEqual(self.losses(), expected)
                self.assertEqual(self.meta()["overruns"],
                                 str(EACH * len(bad)))
                self.checked()
                holes = self.reported()["capture"]["holes"]
                self.assertEqual([h["events"] for h in holes],
                                 [n or None for n, _, _ in expected])
        # All pages of a CPU are damaged; the loss has the time of the other CPUs.
        self.partial(self.write("trace.dat", trace_dat(
            [whole_pages(), [bytes(PAGE)]],
            options=dat_stats(0, read=200) + dat_stats(1, read=7))))
        self.assertEqual(self.losses(1), [(7, first, last)])
        self.assertEqual(self.meta()["cpu1.overruns"], "7")
        self.checked()

    def test_no_loss(self):
        """A page of zeros that held no event is no damage."""
        pages = whole_pages() + [bytes(PAGE)]
        self.imported(self.write("trace.dat", trace_dat(
            [pages], options=dat_stats(0, unread=200))))
        self.assert_events(range(PAGES))
        self.assertEqual(self.losses(), [])
        self.assertEqual(self.meta()["complete"], "true")

    def test_chunks(self):
        """Version 7: a chunk has two pages."""
        for packing in ("zstd", "zlib", "none"):
            pages = whole_pages(6)
            data = trace_dat7([("", [pages])], packing=packing,
                              options=dat_stats(0, read=240))
            path = self.write("trace.dat", data)
            self.imported(path, "-f")
            self.assert_events(range(6))
            pages[2] = bytes(PAGE)
            self.partial(self.write("trace.dat", trace_dat7(
                [("", [pages])], packing=packing,
                options=dat_stats(0, read=240))))
            self.assert_events([0, 1, 3, 4, 5])
            self.assertEqual([n for n, _, _ in self.losses()], [EACH])

    def test_chunk_itself(self):
        """The data of a chunk cannot be decompressed, or its length is wrong."""
        for packing in ("zstd", "zlib"):
            pages = whole_pages(6)
            data = trace_dat7([("", [pages])], packing=packing,
                              options=dat_stats(0, read=240))
            # The second chunk: its sizes precede its data.
            at = data.index(PACKERS[packing](pages[2] + pages[3]))
            for name, change, expected in (
                    ("data", (at, b"\0" * 8), [0, 1, 4, 5]),
                    ("length", (at - 8, pack("I", 0x7fffffff)), [0, 1]),
                    ("unpacked length", (at - 4, pack("I", 0x7fffffff)),
                     [0, 1, 4, 5])):
                with self.subTest(packing=packing, damage=name):
                    where, what = change
                    self.partial(self.write("trace.dat", (
                        data[:where] + what + data[where + len(what):])))
                    self.assert_events(expected)
                    self.assertEqual([n for n, _, _ in self.losses()],
                                     [240 - EACH * len(expected)])
                    self.checked()

    def test_cut(self):
        """A file that ends within its events; in version 7, the table of pages is
        at the end."""
        pages = whole_pages()
        data = trace_dat([pages])
        for end, expected in ((1, 4), (PAGE, 4), (2 * PAGE + 100, 2)):
            self.partial(self.write("trace.dat", data[:-end]))
            self.assert_events(range(expected))
            self.assertEqual(len(self.losses()), 1)
            self.checked()
        subprocess.run(["rm", "-r", self.out], check=True)
        self.refused(self.write("trace.dat", trace_dat7(
            [("", [pages])])[:-PAGE]), "cut off or damaged within its options")

    def test_missing_without_a_place(self):
        """Fewer events than the kernel delivered: a loss without a place."""
        self.imported(self.write("trace.dat", trace_dat(
            [whole_pages()], options=dat_stats(0, unread=208))))
        self.assertEqual(self.meta()["overruns"], "8")
        self.assertEqual(self.losses(), [])

    def test_any_byte(self):
        """After any change no event is dropped without a LOST record. A change
        within an event may turn one event into two."""
        seed = int(os.environ.get("KMT_SEED", random.randrange(1 << 32)))
        print(f"test_any_byte: KMT_SEED={seed}")
        draw = random.Random(seed)
        pages = whole_pages()
        data = trace_dat([pages], options=dat_stats(0, read=200))
        begin = data.index(pages[0])
        for _ in range(60):
            at = draw.randrange(begin, len(data))
            n = draw.choice((1, 1, 4, 64, PAGE))
            bad = bytearray(data)
            for i in range(at, min(at + n, len(data))):
                bad[i] ^= draw.randrange(1, 256)
            result = self.run_import(self.write("trace.dat", bytes(bad)), "-f")
            with self.subTest(at=at - begin, n=n):
                meta = self.meta()
                whole = meta["complete"] == "true"
                self.assertEqual(result.returncode, 0 if whole else 2,
                                 result.stderr)
                events = [r for r in self.records(0) if r[0] != LOST]
                known = len(events) + int(meta["no_memory"]) + \
                    int(meta["other_events"]) + int(meta.get("overruns", 0))
                self.assertGreaterEqual(known, 200)
                self.assertEqual(whole, not self.losses())


if __name__ == "__main__":
    if lacks("libtraceevent", b"PERFILE2" + bytes(200)):
        sys.exit(77)
    main()
