#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged records do not change the record size and byte order that the programs
detect."""

import gzip
import itertools
import json
import os
import sys
import unittest

import mkcapture
import target
from input_case import CHECK, NEEDS_ARCHIVES, InputCase, run

ORDERS = ("little", "big")
BASE = 0xffff888000000000
META = ("[capture]\nformat=1\nrecord_size=%d\nbyte_order=%s\ncomplete=true\n"
        "overruns=0\n")


def with_size(record, size, order="little"):
    """Return the record with another event_size."""
    return record[:2] + (size & 0xffff).to_bytes(2, order) + record[4:]


def other_sizes(size, n):
    """Return wrong values of event_size: one flipped bit, and the distance between
    two records."""
    sizes = {size ^ 1 << bit for bit in range(16)}
    sizes |= {size * n // 2, size * (n - 1), size * n, 56, 64, 72, 80}
    return sorted(sizes - {size})


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

    def test_wrong_size(self):
        """A wrong event_size in one of the first two records. If all records are
        sound, one is sufficient, whatever its size."""
        for size, order in itertools.product((56, 64, 73, 512), ORDERS):
            for n in (1, 2, 5):
                data = b"".join(records(n, size, order))
                self.expect({"cpu0.out": data}, size, order, 0)
        for size, order, n, i in itertools.product((64, 80), ORDERS, (2, 40),
                                                   (0, 1)):
            for other in other_sizes(size, n):
                data = records(n, size, order)
                data[i] = with_size(data[i], other, order)
                self.expect({"cpu0.out": b"".join(data)}, size, order)

    @NEEDS_ARCHIVES
    def test_compressed(self):
        """Only the first 64 KiB of compressed data are examined."""
        data = records(3000, 64)
        data[0] = with_size(data[0], 0x8040)
        self.expect({"cpu0.out.gz": gzip.compress(b"".join(data))}, 64)

    def test_two_files(self):
        """A wrong event_size in one file does not refuse a sound second file."""
        for size, order in itertools.product((56, 64, 72), ORDERS):
            data = records(4, size, order)
            first = with_size(data[0], 2 * size, order)
            self.expect({"cpu0.out": first + b"".join(data[1:]),
                         "cpu1.out": b"".join(records(4, size, order, 9))},
                        size, order)

    def test_missing_byte(self):
        """One byte is missing in the second record, so that the only sound record is
        the first one. The second record has a sound beginning."""
        for size, order in itertools.product((64, 72), ORDERS):
            data = b"".join(records(300, size, order))
            data = data[:size + 20] + data[size + 21:]
            self.expect({"cpu0.out": data}, size, order, 297)

    def test_meta(self):
        """One record confirms kmemtrace.meta, although other records agree on another
        format: with one byte too many, type_id 0 and event_size 64 look like an
        event_size in the other byte order."""
        for size, order in itertools.product((64, 72), ORDERS):
            meta = META % (size, order)
            data = b"".join(records(300, size, order))
            data = data[:size + 20] + b"\0" + data[size + 20:]
            files = {"cpu0.out": data, "kmemtrace.meta": meta.encode()}
            self.expect(files, size, order, 298)
            files["cpu1.out"] = b"".join(records(5, size, order))
            self.expect(files, size, order, 298)
        # Without such a record, kmemtrace.meta is wrong.
        for n in (1, 2, 300):
            self.expect({"cpu0.out": b"".join(records(n, 64)),
                         "kmemtrace.meta": (META % (72, "big")).encode()},
                        64, skipped=0)

    def test_layout_a(self):
        """In the wrong byte order, the type of the first record is a size."""
        for type_id, n in itertools.product((1, 2), (1, 5, 10, 19)):
            data = b"".join(mkcapture.older(
                "A", {"type_id": type_id, "t": t, "ptr": BASE + 0x1000 * t})
                            for t in range(n))
            path = self.directory(f"case{next(self.number)}",
                                  {"cpu0.out": data})
            document = self.report(path, warning="")
            self.assertEqual((document["capture"]["layout"],
                              document["findings"]["skipped_records"]),
                             ("A", 0), (type_id, n))

    def test_no_capture(self):
        """A text is not one record of the size that its first bytes contain."""
        path = self.directory("text", {"cpu0.out": b"<!-- a comment -->" * 900})
        done = run(CHECK, path)
        self.assertIn(f"records of 56 bytes, {target.BYTE_ORDER} endian",
                      done.stdout)


if __name__ == "__main__":
    sys.exit(unittest.main())
