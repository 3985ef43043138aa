#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How kmemtraced reads the kernel's buffers: the mode and the reader.

The mapped reader needs a kernel: see tests/vm/buffers.py.
"""
import os
import time

from kmemtraced_fake import DaemonTest, main, records


class Buffers(DaemonTest):
    """A kernel whose files cannot be mapped."""

    def test_overwrite_reads_at_the_end(self):
        kernel = self.make_kernel(cpus=(0,))
        kernel.put("mode", "overwrite\n")
        daemon = self.start()
        fed = records(1000)
        kernel.feed(0, fed)
        time.sleep(0.3)
        self.assertEqual(kernel.unread(0), len(fed))
        kernel.set_overruns({0: 7})
        daemon.signal()
        _, err = self.check_end(daemon)
        self.assertIn("7 events were overwritten by newer ones, as the mode "
                      "overwrite has it; the capture", err)
        self.assertNotIn("kmemtrace.subbufs=", err)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), fed)
        self.assertEqual(capture["mode"], "overwrite")
        self.assertEqual(capture["overruns"], "7")

    def with_snapshot(self, mode):
        """What is told of loss while somebody takes snapshots."""
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
        """No larger buffer would have kept what it took."""
        self.assertIn("because its buffer was full or a snapshot took them; "
                      "kmemtraced -S saves the last snapshot",
                      self.with_snapshot("discard"))

    def test_snapshot_and_overwrite(self):
        self.assertIn("as the mode overwrite has it, or are in a snapshot; "
                      "the capture", self.with_snapshot("overwrite"))

    def test_overwrite_from_boot(self):
        kernel = self.make_kernel(cpus=(0,), enabled=1)
        kernel.put("mode", "overwrite\n")
        kernel.feed(0, records(10))
        daemon = self.start(shim={"on_enable": "exit 1"})
        time.sleep(0.3)
        self.assertEqual(kernel.unread(0), len(records(10)))
        daemon.signal()
        self.check_end(daemon)
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


if __name__ == "__main__":
    main()
