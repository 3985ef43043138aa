#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report: records of two CPUs exactly the clock tolerance apart may be in
the other order."""

import sys
import unittest

from report_case import META_V1, ReportCase


class ToleranceLimit(ReportCase):
    """The tolerance is 100 ns."""

    def test_free_of_earlier_object(self):
        """The first FREE may precede the ALLOC; the second then frees its object."""
        for distance, cause in ((100, "before_trace"), (101, "unexplained")):
            path = self.compiled(
                META_V1 + "cpu 0 little size=56\n"
                "alloc kmalloc t=1000 site=0x10 ptr=4096 req=8 alloc=8\n"
                "free kmalloc t=5000 site=0x20 ptr=4096\n"
                "cpu 1 little size=56\n"
                f"free kmalloc t={1000 + distance} site=0x20 ptr=4096\n")
            expected = dict.fromkeys(
                ("before_trace", "after_loss", "unexplained"), 0) | {cause: 1}
            for jobs in "14":
                report = self.report("--clock-tolerance=100", "--jobs", jobs, path)
                with self.subTest(distance=distance, jobs=jobs):
                    self.assertEqual(report["findings"]["unmatched_frees"],
                                     expected)


if __name__ == "__main__":
    sys.exit(unittest.main())
