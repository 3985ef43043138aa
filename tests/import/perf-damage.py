#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on damaged recordings of perf: intact records are imported, a
record of a loss marks the damage, and the capture is not complete."""

import os
import random
import sys

from import_case import ImportTest, lacks, main
from import_events import A, TRACEPOINTS, Event
from perf_files import (ROUND, perf_compressed, perf_data, perf_lost,
                        perf_other, perf_pipe, perf_record, perf_sample)
from target import pack

LOST = 3
SEED = int(os.environ.get("KMT_SEED", random.randrange(1 << 32)))


def kfree(time, cpu=0):
    """Return a free."""
    return perf_sample(Event("kfree", cpu, time, {
        "call_site": A, "ptr": 1 << 63 | time << 8}))


SIZE = len(kfree(1))
# Samples alternate between two CPUs; a round ends after each ten samples.
EACH = 50


def samples(first=1, count=EACH):
    """Return count samples whose times begin at first."""
    return [kfree(t, t % 2) for t in range(first, first + count)]


def short_sample():
    """Return a sample that is shorter than its own length field."""
    return perf_record(9, kfree(1)[8:-16])


class PerfDamage(ImportTest):
    """Damaged files, pipes and directories of perf."""

    def assert_times(self, expected, losses=None):
        """Compare the times of all events. losses: numbers of events of a CPU that
        precede each LOST record."""
        for cpu in (0, 1):
            found = self.records(cpu)
            self.assertEqual([r[9] for r in found if r[0] != LOST],
                             [t for t in expected if t % 2 == cpu])
            if losses:
                self.assertEqual([i for i, r in enumerate(found)
                                  if r[0] == LOST], losses[cpu])
        meta = self.meta()
        self.assertNotIn("overruns", meta)

    def test_pipe_that_ends_early(self):
        """A pipe that ends at any byte of a sample."""
        data = perf_pipe(b"".join(samples()))
        for cut in (1, 8, SIZE - 7, SIZE - 1, SIZE + 1, 20 * SIZE + 9):
            self.partial(self.write("pipe", data[:-cut]))
            n = EACH - -(-cut // SIZE)
            self.assert_times(range(1, n + 1), ([n // 2], [(n + 1) // 2]))
            self.checked()
        # An end between two samples cannot be detected.
        self.imported(self.write("pipe", data[:-SIZE]), "-f")

    def test_length(self):
        """After a record with an invalid length, no further record can be found."""
        for length in (0, 4, 7):
            some = samples()
            some[30] = pack("IHH", 9, 0, length) + some[30][8:]
            self.partial(self.write("perf.data", perf_data(b"".join(some))))
            self.assert_times(range(1, 31), ([15], [15]))
            self.checked()

    def test_one_record(self):
        """Records after a damaged record are imported."""
        unknown = pack("I", 0x1000)
        some = samples()
        other = pack("QQIIQIIQI", 55, 0, 7, 7, 31, 1, 0, 1, 12)
        for name, bad, losses in (
                ("short", short_sample(), ([15], [15])),
                ("event", perf_record(9, other + pack(
                    "HHiI", TRACEPOINTS["kfree"][1], 0, 7, 0)), ([], [15])),
                ("CPU", kfree(31, 70000), ([15], [15])),
                ("type", unknown + some[30][4:], ([15], [15])),
                ("no type", bytes(4) + some[30][4:], ([15], [15])),
                ("loss", perf_record(2, b"12345678"), ([15], [15]))):
            with self.subTest(name):
                self.partial(self.write("perf.data", perf_data(b"".join(
                    [*some[:30], bad, *some[31:]]))))
                self.assert_times([t for t in range(1, EACH + 1) if t != 31],
                                  losses)
                self.checked()

    def test_other_type(self):
        """A sample whose type changed into another type of perf counts as lost."""
        for kind in (*range(1, 22), *range(64, 84)):
            if kind == 9:
                continue
            with self.subTest(kind):
                some = samples()
                some[30] = pack("I", kind) + some[30][4:]
                self.partial(self.write("perf.data", perf_data(
                    b"".join(some))))
                self.assert_times([t for t in range(1, EACH + 1) if t != 31],
                                  ([15], [15]))
                self.checked()

    def test_types_of_others(self):
        """Types that a newer kernel or perf may add are no damage."""
        for kind in (22, 30, 90):
            self.imported(self.write("perf.data", perf_data(b"".join(
                samples()) + perf_other(kind, bytes(8)))), "-f")

    def test_compressed(self):
        """A block that cannot be decompressed, and a block without records of perf."""
        for pieces in (1, 5):
            for bad in (b"\0" * 8, b"\xff" * 8):
                data = bytearray(perf_compressed(b"".join(samples()), pieces))
                at = len(data) * 3 // 5
                data[at:at + SIZE + 8] = bad * (SIZE // 8 + 1)
                result = self.run_import(self.write("perf.data", perf_data(
                    bytes(data))), "-f")
                if pieces == 5:
                    self.assertEqual(result.returncode, 2, result.stderr)
                    self.assertEqual(self.meta()["complete"], "false")
                    self.checked()
                else:
                    self.assertIn(result.returncode, (1, 2), result.stderr)

    def test_threads(self):
        """The files of other threads are complete."""
        os.mkdir(self.path("dir"))
        self.write("dir/data", perf_data(perf_record(ROUND, b"")))
        self.write("dir/data.0", b"".join(samples())[:-SIZE - 3])
        self.write("dir/data.1", b"".join(samples(51)))
        self.partial(self.path("dir"))
        self.assert_times([*range(1, 49), *range(51, 101)])
        self.checked()

    def test_many(self):
        """Memory does not grow with the product of CPUs and damaged records."""
        cpus = b"".join(kfree(t, t) for t in range(400))
        bad = perf_record(9, bytes(8)) * 30000
        result = self.run_import(self.write("perf.data", perf_data(
            cpus + bad)), "-f")
        self.assertEqual(result.returncode, 2, result.stderr)
        size = os.path.getsize(os.path.join(self.out, "cpu0.out"))
        self.assertLess(size, 64 * 3000)

    def test_any_byte(self):
        """After any change no event is dropped without a LOST record, no event is
        invented, and the import ends."""
        draw = random.Random(SEED)
        print(f"KMT_SEED={SEED}")
        some = samples()
        head = perf_pipe(b"")
        for _ in range(80):
            bad = bytearray(b"".join(some))
            kind = draw.randrange(3)
            at = draw.randrange(EACH) * SIZE
            if kind == 0:           # header of a record
                at += draw.choice((0, 1, 2, 3, 6, 7))
                bad[at] ^= 1 << draw.randrange(8)
            elif kind == 1:         # missing bytes
                n = draw.randrange(1, 3 * SIZE)
                del bad[at:at + n]
            else:                   # zeros, as after a loss of power
                n = draw.randrange(8, 3 * SIZE)
                bad[at:at + n] = bytes(len(bad[at:at + n]))
            # Complete records that are missing cannot be detected.
            whole_records = kind == 1 and (n % SIZE == 0 or
                                           at == len(bad))
            result = self.run_import(self.write("x", head + bytes(bad)), "-f")
            with self.subTest(kind=kind, at=at):
                self.assertIn(result.returncode, (0, 1, 2), result.stderr)
                if result.returncode == 1:
                    self.assertEqual(at // SIZE, 0)
                    continue
                meta = self.meta()
                events = [r for cpu in (0, 1) if os.path.exists(
                    os.path.join(self.out, f"cpu{cpu}.out"))
                          for r in self.records(cpu) if r[0] != LOST]
                self.assertLessEqual(len(events), EACH)
                if not whole_records and kind != 0:
                    self.assertEqual(meta["complete"], "false")
                if len(events) < EACH and not whole_records and kind:
                    self.assertEqual(result.returncode, 2)

    def test_lost_record_stays(self):
        """A loss that perf counted is reported in addition to the damage."""
        some = samples()
        some[10:10] = [perf_lost(7, 0, 10)]
        some[40] = short_sample()
        self.partial(self.write("perf.data", perf_data(b"".join(some))))
        self.assertEqual([r[6] for r in self.records(0) if r[0] == LOST],
                         [7, 0])


if __name__ == "__main__":
    if lacks("libtraceevent", b"PERFILE2" + bytes(200)):
        sys.exit(77)
    main()
