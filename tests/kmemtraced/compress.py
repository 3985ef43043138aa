#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced --compress."""

import errno
import os
import select
import signal
import subprocess

from compress_case import CompressTest
from kmemtraced_fake import (CHECK, PROGRAM, RECORD, Capture, main, records,
                             wait_for)

# Records that fill the buffer of a reader, which is then compressed.
BUFFER = 36 * 28672 // RECORD
FILE = "cpu0.out.zst"


class Compress(CompressTest):
    """Records that are read into memory first."""

    def size(self, cpu=0):
        """Return the size of a CPU's file."""
        return os.stat(f"{self.out}/cpu{cpu}.out.zst").st_size

    def record(self, *options, shim=None):
        """Record in odd portions through the shim; return stdout, stderr."""
        kernel = self.make_kernel(cpus=(0, 1))
        daemon = self.start("--compress", *options, shim=shim)
        n = 0
        for piece in (1, 511, 513, 2 * BUFFER + 1, 7, BUFFER):
            for cpu in 0, 1:
                kernel.feed(cpu, records(piece, start=n, cpu=cpu))
            kernel.wait_read()
            n += piece
        out, err = self.end(daemon)
        capture, found = self.complete((0, 1))
        for cpu in 0, 1:
            self.assertEqual(found[cpu], records(n, cpu=cpu))
        self.assertEqual(int(capture["events"]), 2 * n)
        self.assertIn(FILE, capture["files"])
        return out, err

    def test_without_o_direct(self):
        """Nothing is padded."""
        self.record(shim={"direct": "refuse"})
        self.assertEqual(self.frames(0).padding, 0)

    def test_o_direct(self):
        """All frames begin and end at a block, except the seek table."""
        _, err = self.record(shim={"direct": "require"})
        self.assertNotIn("off the blocks", err)
        self.assertGreater(self.frames(0).padding, 0)

    def test_file_system_that_fails_with_o_direct(self):
        self.record(shim={"direct": "fail"})

    def test_short_writes(self):
        self.record(shim={"write_file": FILE, "write_short": 1001})

    def test_summary(self):
        """The summary and the advice name the compressed files."""
        out, _ = self.record()
        total = self.size(0) + self.size(1)
        self.assertRegex(out, rf" bytes compressed to {total}, \d")
        self.assertIn(f"kmemtrace_check {self.out}/{FILE} ", out)
        checked = subprocess.run([CHECK, self.out], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertIn(f"{Capture(self.out)['events']} records", checked.stdout)

    def record_some(self, n, *options):
        """Record n records of CPU 0."""
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start(*options, shim={"direct": "refuse"})
        kernel.feed(0, records(n))
        self.end(daemon)

    def test_level(self):
        """The level changes the frames."""
        sizes = []
        for level in "1", "3", "9":
            self.record_some(9000, f"--compress={level}")
            self.assertEqual(self.complete((0,))[0]["compression_level"],
                             level)
            sizes.append(self.size())
            self.setUp()
        self.assertGreater(len(set(sizes)), 1)

    def test_bad_levels(self):
        for level in "0", "20", "-1", "x", "1x":
            code, _, err = self.run_to_end(f"--compress={level}")
            self.assertEqual(code, 1)
            self.assertIn(f"--compress '{level}' is not a level from 1 to 19",
                          err)
        for args, text in ((["20"], "--compress '20' is not a level"),
                           (["x"], "'x' is one argument too many")):
            code, _, err = self.run_to_end("--compress", *args)
            self.assertEqual(code, 1)
            self.assertIn(text, err)
        done = subprocess.run([PROGRAM, "--stream=1", "--compress"],
                              capture_output=True, text=True, check=False)
        self.assertIn("--stream writes no capture", done.stderr)

    def test_no_record(self):
        """A file without records is an empty frame and a seek table."""
        self.make_kernel(cpus=(0, 1))
        self.kernel.feed(1, records(5))
        self.run_to_end("--compress", "-w", "0.1")
        self.assertEqual(self.size(), 13 + 25)
        self.assertEqual(self.complete((0,))[1][0], b"")
        self.capture()

    def test_no_library(self):
        """Without libzstd, nothing is recorded and no directory remains."""
        self.make_kernel(cpus=(0,))
        empty = os.path.join(self.root, "libzstd.so.1")
        self.write(empty, "")
        code, _, err = self.run_to_end(
            "--compress", env={"LD_LIBRARY_PATH": self.root})
        self.assertEqual(code, 1)
        self.assertIn("cannot compress the capture: libzstd.so.1", err)
        self.assertIn("or record without --compress", err)
        self.assertFalse(os.path.exists(self.out))

    def test_age(self):
        """Records are on the disk five seconds after the first one."""
        kernel = self.make_kernel(cpus=(0,))
        clock = self.make_clock()
        daemon = self.start("--compress", shim={"clock": clock})
        kernel.feed(0, records(5))
        kernel.wait_read()
        daemon.wait_idle()
        self.assertEqual(self.size(), 0)
        clock.pass_by(4)
        kernel.feed(0, records(5, start=5))
        kernel.wait_read()
        daemon.wait_idle()
        self.assertEqual(self.size(), 0)
        clock.pass_by(1)
        kernel.feed(0, records(1, start=10))
        wait_for(lambda: self.size() > 0, "the records are written")
        self.assertEqual(self.frames(0).records, records(11))
        self.end(daemon)

    def test_age_without_further_records(self):
        """No further record is needed for this."""
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start("--compress")
        kernel.feed(0, records(5))
        wait_for(lambda: self.size() > 0, "the records are written")
        self.assertEqual(self.frames(0).records, records(5))
        self.end(daemon)

    def feed_while_alive(self, daemon, data):
        """Feed CPU 0 until all is read or kmemtraced has ended; return the number of
        bytes."""
        os.set_blocking(self.kernel.fifos[0], False)
        # A pipe takes so few bytes completely or not at all, so that no part of a
        # record is fed: a mapped buffer would keep that part.
        piece = select.PIPE_BUF // RECORD * RECORD
        n = 0

        def is_done():
            nonlocal n
            try:
                while n < len(data):
                    n += os.write(self.kernel.fifos[0], data[n:n + piece])
            except BlockingIOError:
                pass
            return (daemon.process.poll() is not None or
                    (n == len(data) and not self.kernel.unread(0)))
        wait_for(is_done, "kmemtraced reads or ends")
        return n

    def fill(self, shim, n, text):
        """Record n records with a failing disk; return those in the file."""
        kernel = self.make_kernel(cpus=(0, 1))
        daemon = self.start("--compress",
                            shim={"write_file": FILE, **shim})
        kernel.feed(1, records(9, cpu=1))
        kernel.wait_read()
        n_fed = self.feed_while_alive(daemon, records(n))
        daemon.signal()
        code, _, err = daemon.finish()
        self.assertEqual(code, 1, err)
        self.assertIn(text, err)
        self.assertIn(f"cannot write {self.out}/{FILE} (", err)
        capture = Capture(self.out)
        self.assertEqual(capture["complete"], "false")
        frames = self.frames(0)
        self.assertFalse(frames.table)
        self.assertEqual(frames.rest, 0)
        self.assertEqual(int(capture.meta["cpu0"]["bytes"]),
                         len(frames.records))
        unsaved = n_fed - kernel.unread(0) - len(frames.records)
        self.assertIn(f"({unsaved} bytes of trace were not saved)", err)
        self.assertEqual(self.frames(1).records, records(9, cpu=1))
        self.assertTrue(self.frames(1).table)
        return frames.records

    def test_full(self):
        """Each group of frames that fits is kept."""
        n = 3 * BUFFER
        found = self.fill({"write_limit": 100}, n, "No space left on device")
        self.assertEqual(found, b"")
        first = BUFFER * RECORD // 2
        self.setUp()
        self.record_some(n, "--compress")
        limit = self.size() - 9
        self.setUp()
        found = self.fill({"write_limit": limit}, n,
                          "No space left on device")
        self.assertGreaterEqual(len(found), first)
        self.assertEqual(found, records(n)[:len(found)])

    def test_full_for_the_seek_table(self):
        """All records are in the file, but the end is missing."""
        found = self.fill({"write_limit": 4096, "direct": "require"}, 5,
                          "No space left on device")
        self.assertEqual(found, records(5))

    def test_other_errors(self):
        self.fill({"write_limit": 0, "write_errno": errno.EIO}, 5,
                  "Input/output error")

    def test_slow_disk(self):
        """The reader continues while the disk hangs, until the buffers are full.
        Then the records stay in the kernel."""
        kernel = self.make_kernel(cpus=(0,))
        fifo, go, _ = self.hang_disk()
        daemon = self.start("--compress", shim={"write_file": FILE,
                                                "write_wait": fifo})
        kernel.feed(0, records(4 * BUFFER))
        kernel.wait_read()
        self.assertEqual(self.size(), 0)
        os.write(go, b"x" * 100)
        self.end(daemon)
        self.assertEqual(self.complete((0,))[1][0], records(4 * BUFFER))

    def test_abandon(self):
        """Further signals end the wait for a slow disk."""
        kernel = self.make_kernel(cpus=(0,))
        fifo, go, _ = self.hang_disk()
        daemon = self.start("--compress", shim={"write_file": FILE,
                                                "write_wait": fifo})
        kernel.feed(0, records(3 * BUFFER))
        kernel.wait_read()
        wait_for(lambda: os.path.exists(fifo + ".waits"), "a write waits")
        daemon.signal(signal.SIGINT)
        daemon.wait_line("writing the buffered records")
        daemon.signal(signal.SIGINT)
        daemon.wait_line("no longer waiting for the disk")
        os.write(go, b"x" * 100)
        code, _, err = daemon.finish()
        self.assertEqual(code, 1)
        self.assertIn("ended before all records were written", err)
        self.assertNotIn("cannot write", err)
        frames = self.frames(0)
        self.assertFalse(frames.table)
        self.assertLess(len(frames.records), 3 * BUFFER * RECORD)
        self.assertEqual(int(Capture(self.out).meta["cpu0"]["bytes"]),
                         len(frames.records))

    def test_replaced(self):
        """-f replaces a compressed capture, and also by an uncompressed one."""
        kernel = self.make_kernel(cpus=(0, 1))
        for option, name in (("--compress", FILE), ("--compress", FILE),
                             ("-q", "cpu0.out"), ("--compress", FILE)):
            kernel.feed(0, records(9))
            code, _, err = self.run_to_end(option, "-f", "-w", "0.1")
            self.assertEqual(code, 0, err)
            files = sorted(os.listdir(self.out))
            self.assertEqual([f for f in files if f.startswith("cpu0")],
                             [name])

    def test_replaced_after_a_kill(self):
        """-f replaces the capture of a killed kmemtraced."""
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start("--compress")
        daemon.signal(signal.SIGKILL)
        daemon.finish()
        self.assertIn(FILE, os.listdir(self.out))
        wait_for(lambda: kernel.get("enabled") == "0", "it is cleaned up")
        code, _, err = self.run_to_end("-w", "0.1")
        self.assertEqual(code, 1)
        self.assertIn("which was cut off", err)
        kernel.feed(0, records(3))
        code, _, err = self.run_to_end("-f", "-w", "0.1")
        self.assertEqual(code, 0, err)
        self.assertEqual(Capture(self.out).cpu(0), records(3))
        self.assertNotIn(FILE, os.listdir(self.out))

    def test_file_of_the_user(self):
        """A file that the user compressed is not removed."""
        kernel = self.make_kernel(cpus=(0,))
        kernel.feed(0, records(3))
        self.assertEqual(self.run_to_end("-w", "0.1")[0], 0)
        self.write(f"{self.out}/cpu1.out.zst", "mine")
        code, _, err = self.run_to_end("--compress", "-f", "-w", "0.1")
        self.assertEqual(code, 1)
        self.assertIn("cpu1.out.zst exists and does not belong", err)

    def test_killed_during_a_replacement(self):
        """The records of a killed -f are reported by the next one."""
        kernel = self.make_kernel(cpus=(0,))
        self.assertEqual(self.run_to_end("-w", "0.1")[0], 0)
        daemon = self.start("--compress", "-f")
        kernel.feed(0, records(BUFFER + 1))
        new = f"{self.out}/kmemtrace.new-1"
        wait_for(lambda: os.stat(f"{new}/{FILE}").st_size > 0, "a frame")
        daemon.signal(signal.SIGKILL)
        daemon.finish()
        wait_for(lambda: kernel.get("enabled") == "0", "it is cleaned up")
        found = self.frames(0, new).records
        self.assertGreater(len(found), 0)
        self.assertEqual(found, records(BUFFER + 1)[:len(found)])
        code, _, err = self.run_to_end("-f", "-w", "0.1")
        self.assertEqual(code, 0)
        self.assertIn("kmemtrace.new-1 has the records of an earlier run", err)
        self.assertFalse(os.path.exists(new))


class MappedCompress(Compress):
    """Records that are taken from the mapped buffers."""
    mapped = True
    # A few records stay in the kernel until the end.
    test_age = None
    test_age_without_further_records = None
    test_slow_disk = None
    test_abandon = None

    def test_refused_release(self):
        """Records whose release is refused are not in the file."""
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start("--compress", shim={"give_eagain": 5 * RECORD})
        for start in 0, 9:
            kernel.feed(0, records(9, start=start))
            kernel.wait_read()
        self.end(daemon)
        self.assertEqual(self.complete((0,))[1][0], records(18))


if __name__ == "__main__":
    main()
