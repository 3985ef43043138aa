#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report: live bytes and peaks above 2^63 are exact with each number of
jobs, and sums above 2^64 are reported."""

import sys
import unittest

from report_case import META_V1, ReportCase, run

HEAD = META_V1 + "cpu 0 little size=56\n"


def alloc(t, ptr, size, kind="kmalloc"):
    """Return the line of an ALLOC."""
    return f"alloc {kind} t={t}000000 site=0x10 ptr={ptr} req={size} alloc={size}\n"


def free(t, ptr, kind="kmalloc"):
    """Return the line of a FREE."""
    return f"free {kind} t={t}000000 site=0x20 ptr={ptr}\n"


class HugeSizes(ReportCase):
    """Sizes that no kernel has."""

    def reports(self, text):
        """Return the path of a capture, and its report with one thread, two
        threads, and several shards."""
        path = self.compiled(HEAD + text)
        return path, [self.report("--jobs", jobs, path) for jobs in "124"]

    def test_sign(self):
        """The distance of the live bytes to the peak reaches 2^63."""
        big, small = 2 ** 62, 2 ** 61 + 5
        for kind, layer in (("kmalloc", "slab"), ("cache", "slab"),
                            ("pages", "pages")):
            # The first records of an address take the slow path.
            used = "".join(alloc(10 * i + t, 4096 * i, 1, kind) +
                           free(10 * i + t + 1, 4096 * i, kind)
                           for i in range(1, 5) for t in (1, 3))
            _, reports = self.reports(
                used + alloc(101, 4096, big, kind) +
                alloc(102, 8192, big, kind) + alloc(103, 12288, small, kind) +
                free(104, 4096, kind) + free(105, 8192, kind) +
                alloc(106, 16384, 7, kind))
            for report in reports:
                self.assertEqual(report["capture"]["loss"], "none")
                for row in (report["kinds"][layer], report["callsites"][0]):
                    self.assertEqual(row["live_bytes_allocated"], small + 7)
                    self.assertEqual(row["peak_bytes_allocated"], 2 * big + small)
                self.assertEqual(report["callsites"][0]["live_bytes_at_peak"],
                                 2 * big + small)

    def test_overflow(self):
        """A sum exceeds 2^64 - 1."""
        path, reports = self.reports("".join(
            alloc(i, 4096 * i, 2 ** 63 - 1) for i in range(1, 5)) +
            free(9, 4096) + alloc(10, 4096, 2 ** 63 - 1))
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(reports[0], reports[2])
        self.assertIn("some are above 2^64 - 1", run(path).stdout)


if __name__ == "__main__":
    sys.exit(unittest.main())
