#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged records do not change the record size and byte order that the programs
detect."""

import itertools
import json
import os
import sys
import unittest

import mkcapture
from input_case import CHECK, InputCase, run

ORDERS = ("little", "big")
BASE = 0xffff888000000000


def records(n, size, order="little", start=1):
    """Return n sound records of the given size in a list."""
    return [mkcapture.event(t=i, ptr=BASE + 0x1000 * i, event_size=size,
                            order=order) + bytes(size - 56)
            for i in range(start, start + n)]


class RecordFormat(InputCase):
    """Captures whose records do not all have the format of the capture."""

    def setUp(self):
        super().setUp()
        self.number = itertools.count()

    def expect(self, files, size, order="little", skipped=1):
        """Write files and check that both programs read them in this format."""
        path = self.directory(f"case{next(self.number)}", files)
        self.expect_path(path, size, order, skipped)

    def expect_path(self, path, size, order="little", skipped=1):
        """Check that both programs read the operand in this format."""
        documents = [self.report(path, warning="")]
        self.assertEqual(documents[0]["findings"]["skipped_records"], skipped)
        done = run(CHECK, "--json", path)
        self.assertEqual(done.returncode, 2 if skipped else 0, done)
        documents.append(json.loads(done.stdout))
        for document in documents:
            capture = document["capture"]
            self.assertEqual((capture["record_size"], capture["byte_order"]),
                             (size, order), path)

    def test_hole_first(self):
        """Zeros in place of the first record."""
        for size, order, n in itertools.product((56, 64, 72, 80, 248), ORDERS,
                                                (2, 3, 300)):
            data = bytes(size) + b"".join(records(n - 1, size, order))
            self.expect({"cpu0.out": data}, size, order)


if __name__ == "__main__":
    sys.exit(unittest.main())
