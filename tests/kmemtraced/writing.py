#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How kmemtraced writes to the disk: with and without O_DIRECT, with short writes,
and without delay."""

import os
import signal

from kmemtraced_fake import CHUNK, DaemonTest, main, records, wait_for


class Writing(DaemonTest):
    """Records that are read into memory first."""

    def check(self, shim):
        """Record odd numbers of bytes in odd portions through the shim."""
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start(shim=shim)
        n = 0
        for piece in (1, 511, 512, 513, 20000, 7, 9000):
            kernel.feed(0, records(piece, start=n))
            kernel.wait_read()
            n += piece
        _, err = self.end(daemon)
        self.assertEqual(self.capture().cpu(0), records(n))
        self.assertEqual(self.capture()["complete"], "true")
        return err

    def test_file_system_that_takes_o_direct(self):
        err = self.check({"direct": "require"})
        self.assertNotIn("off the blocks", err)

    def test_file_system_without_o_direct(self):
        self.check({"direct": "refuse"})

    def test_file_system_that_fails_with_o_direct(self):
        self.check({"direct": "fail"})

    def test_short_writes(self):
        self.check({"write_file": "cpu0.out", "write_short": 1001})

    def test_small_sub_buffers_gather(self):
        """Small sub-buffers are gathered into fewer, larger writes."""
        kernel = self.make_kernel(cpus=(0,))
        kernel.put("subbuf_size", "4096\n")
        daemon = self.start(shim={"direct": "require"})
        kernel.feed(0, records(15 * CHUNK // 56))
        kernel.wait_read()
        daemon.signal(signal.SIGSTOP)
        self.assertEqual(os.stat(f"{self.out}/cpu0.out").st_size, 0)
        daemon.signal(signal.SIGCONT)
        kernel.feed(0, records(CHUNK // 56, start=15 * CHUNK // 56))
        wait_for(lambda: os.stat(f"{self.out}/cpu0.out").st_size == 16 * CHUNK,
                 "a batch is written")
        self.end(daemon)

    def test_what_is_read_is_soon_on_the_disk(self):
        """Records reach the disk soon; only the rest below a chunk waits, as
        documented."""
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start()
        kernel.feed(0, records(1500))
        wait_for(lambda: os.stat(f"{self.out}/cpu0.out").st_size >= 2 * CHUNK,
                 "whole chunks are written")
        self.end(daemon)
        self.assertEqual(self.capture().cpu(0), records(1500))


class MappedWriting(Writing):
    """Records that are written from the mapped buffers."""
    mapped = True
    test_small_sub_buffers_gather = None
    test_what_is_read_is_soon_on_the_disk = None


if __name__ == "__main__":
    main()
