#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How kmemtraced reads the kernel's buffers, in both modes and with both readers.

tests/vm/buffers.py tests the kernel's side."""
import fcntl
import os
import signal
import struct

from kmemtraced_fake import (CHUNK, RECORD, DaemonTest, main, records,
                             records_v2, wait_for)
from target import ORDER

# Layout of a LOST record of version 2.
LOST = struct.Struct(ORDER + "BBHi16xQq8xq8x")
LOST_ID = 3
SUBBUF = 8192


class Buffers(DaemonTest):
    """A kernel whose buffers cannot be mapped."""

    def test_overwrite_reads_at_the_end(self):
        kernel = self.make_kernel(cpus=(0,))
        kernel.put("mode", "overwrite\n")
        log, lines = self.make_log()
        daemon = self.start(shim={"log": log})
        begun = len(lines())
        fed = records(1000)
        kernel.feed(0, fed)
        kernel.set_overruns({0: 7})
        daemon.wait_idle()
        self.assertEqual(kernel.unread(0), len(fed))
        daemon.signal()
        _, err = self.check_end(daemon)
        self.read_after_the_end(lines()[begun:])
        self.assertIn("7 events were overwritten by newer ones in the mode "
                      "overwrite; on the affected CPUs the capture", err)
        self.assertNotIn("kmemtrace.subbufs=", err)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), fed)
        self.assertEqual(capture["mode"], "overwrite")
        self.assertEqual(capture["overruns"], "7")

    def read_after_the_end(self, lines):
        """Expect in the shim's log that tracing was off before the buffer was read."""
        self.assertIn("read cpu0", lines)
        self.assertLess(lines.index("off"), lines.index("read cpu0"))

    def with_snapshot(self, mode):
        """Return kmemtraced's warnings about lost events while another program
        takes snapshots."""
        kernel = self.make_kernel(cpus=(0,))
        kernel.put("mode", mode + "\n")
        os.mkdir(os.path.join(kernel.path, "snapshot"))
        kernel.put("snapshot/take", "state: taken\ntaken: 2\n")
        daemon = self.start()
        kernel.feed(0, records(10))
        kernel.set_overruns({0: 7})
        daemon.signal()
        _, err = self.check_end(daemon)
        self.assertNotIn("kmemtrace.subbufs=", err)
        return err

    def test_snapshot_of_somebody(self):
        """A larger buffer would not have kept the events that the snapshot took, so
        the message does not recommend one."""
        self.assertIn("because its buffer was full or a snapshot took them; "
                      "kmemtraced -S saves the last snapshot",
                      self.with_snapshot("discard"))

    def test_snapshot_and_overwrite(self):
        self.assertIn("in the mode overwrite, or were moved to a snapshot; "
                      "on the affected CPUs the capture",
                      self.with_snapshot("overwrite"))

    def test_overwrite_from_boot(self):
        kernel = self.make_kernel(cpus=(0,), enabled=1)
        kernel.put("mode", "overwrite\n")
        kernel.feed(0, records(10))
        log, lines = self.make_log()
        daemon = self.start(shim={"on_enable": "exit 1", "log": log})
        daemon.wait_idle()
        self.assertEqual(kernel.unread(0), len(records(10)))
        daemon.signal()
        self.check_end(daemon)
        self.read_after_the_end(lines())
        self.assertEqual(self.capture().cpu(0), records(10))

    def test_overwrite_frozen(self):
        kernel = self.make_kernel(cpus=(0,))
        kernel.put("mode", "overwrite\n")
        kernel.feed(0, records(10))
        code, _, err = self.run_to_end(shim={"on_enable": "exit 1"})
        self.assertEqual(code, 0, err)
        self.assertEqual(self.capture().cpu(0), records(10))

    def test_kernel_without_modes(self):
        kernel = self.make_kernel(cpus=(0,))
        kernel.remove("mode")
        daemon = self.start()
        kernel.feed(0, records(3))
        self.end(daemon)
        self.assertNotIn("mode", self.capture().meta["capture"])

    def test_reader_that_the_kernel_lacks(self):
        self.make_kernel(cpus=(0,))
        code, _, err = self.run_to_end("-R", "mmap")
        self.assertEqual(code, 1)
        self.assertIn("cannot map cpu0 in debugfs", err)

    def test_readers_by_name(self):
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start("--reader=read")
        kernel.feed(0, records(3))
        self.end(daemon)
        self.assertEqual(self.capture().cpu(0), records(3))
        code, _, err = self.run_to_end("-R", "splice")
        self.assertEqual(code, 1)
        self.assertIn("-R 'splice' is neither mmap nor read", err)


class Mapped(DaemonTest):
    """The default reader, which uses mmap() and its ioctls."""
    mapped = True

    def test_chosen(self):
        """The mapped reader is the default and can be named; it makes no read()
        call."""
        kernel = self.make_kernel(cpus=(0,))
        for args in ([], ["-R", "mmap"]):
            log, lines = self.make_log()
            daemon = self.start("-f", *args, shim={"log": log})
            kernel.feed(0, records(3))
            self.end(daemon)
            self.assertEqual(self.capture().cpu(0), records(3))
            self.assertNotIn("read cpu0", lines())
            os.unlink(os.path.join(kernel.path, ".ring-cpu0"))

    def test_every_byte_of_many_sub_buffers(self):
        """Read the ring several times around, with sub-buffers that have an unused
        end."""
        for size in (SUBBUF * RECORD, 4096, 8192 + 24):
            with self.subTest(size):
                self.setUp()
                kernel = self.make_kernel(cpus=(0,))
                kernel.put("subbufs", "3\n")
                kernel.put("subbuf_size", f"{size}\n")
                n = 4 * 3 * (size // RECORD) + 11
                daemon = self.start()
                kernel.feed(0, records(n))
                self.end(daemon)
                self.assertEqual(self.capture().cpu(0), records(n))
                self.assertEqual(kernel.ring(0), (n * RECORD, n * RECORD))

    def test_other_reader(self):
        """Records that another reader has consumed first are not saved."""
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start(shim={"give_eagain": SUBBUF * RECORD})
        fed = records(3 * SUBBUF + 5)
        kernel.feed(0, fed)
        self.end(daemon)
        size = SUBBUF * RECORD
        self.assertEqual(self.capture().cpu(0), fed[:size] + fed[2 * size:])

    def test_buffer_that_is_replaced(self):
        """A buffer that the kernel replaces is mapped again, and no record is
        missing."""
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start()
        kernel.feed(0, records(SUBBUF))
        wait_for(lambda: kernel.ring(0)[0] == SUBBUF * RECORD, "a sub-buffer")
        kernel.replace_buffer(0)
        kernel.feed(0, records(100, start=SUBBUF))
        self.end(daemon)
        self.assertEqual(self.capture().cpu(0), records(SUBBUF + 100))

    def test_loss(self):
        """A LOST record precedes the next record, as with read()."""
        kernel = self.make_kernel(cpus=(0,), abi_version=2)
        kernel.lose(0, 7, 100, 900)
        daemon = self.start()
        kernel.feed(0, records_v2(10))
        kernel.set_overruns({0: 7})
        self.end(daemon)
        data = self.capture().cpu(0)
        self.assertEqual(LOST.unpack(data[:64]),
                         (LOST_ID, 0, 64, -1, 7, 100, 900))
        self.assertEqual(data[64:], records_v2(10))

    def test_killed(self):
        """No record is missing between two captures, and fewer records than a
        sub-buffer holds are in both."""
        kernel = self.make_kernel(cpus=(0,), enabled=1)
        fed = records(3 * SUBBUF + 100)
        daemon = self.start(shim={"write_file": "cpu0.out",
                                  "write_kill": SUBBUF * RECORD + 3 * CHUNK})
        kernel.feed(0, fed)
        code, _, _ = daemon.finish()
        self.assertEqual(code, -signal.SIGKILL)
        fd = os.open(self.out, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX) # the cleanup process has ended
        os.close(fd)
        first = self.capture().cpu(0)
        self.out = os.path.join(self.root, "second")
        self.end(self.start())
        second = self.capture().cpu(0)
        at = kernel.ring(0)[0] - len(second)
        self.assertEqual(first, fed[:len(first)])
        self.assertEqual(second, fed[at:])
        self.assertLessEqual(at, len(first))
        self.assertLessEqual(len(first) - at, SUBBUF * RECORD)

    def test_full_disk(self):
        """Records that do not fit on the disk are released and counted."""
        kernel = self.make_kernel(cpus=(0,))
        limit = SUBBUF * RECORD + 1000
        daemon = self.start(shim={"write_file": "cpu0.out",
                                  "write_limit": limit})
        fed = records(3 * SUBBUF)
        kernel.feed(0, fed)
        _, err = self.check_end(daemon, status=1)
        whole = limit - limit % RECORD
        # The full disk stops tracing, perhaps before all records were written to
        # the buffer.
        consumed, produced = kernel.ring(0)
        self.assertEqual(consumed, produced - produced % RECORD)
        self.assertGreater(consumed, limit)
        self.assertIn(f"({consumed - whole} bytes of trace were not saved)",
                      err)
        self.assertEqual(self.capture().cpu(0), fed[:whole])


if __name__ == "__main__":
    main()
