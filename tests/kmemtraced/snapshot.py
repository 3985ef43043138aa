#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced -S saves a snapshot as a capture, or prints why there is none."""

import errno
import os

from kmemtraced_fake import DaemonTest, main, records_v2, wait_for

TAKEN = ("state: taken\nwhy: cache:a: b>1\ntime: 4711\npid: 7\n"
         "comm: a\\040b\ncaller: f+0x1/0x2\ntaken: 2\ncoincided: 0\n"
         "in_nmi: 0\n")


class Snapshot(DaemonTest):
    """A fake kernel with a snapshot."""

    def take(self, state=TAKEN, lost=(5, 0), consumed=(0, 0)):
        """Make a kernel that has taken a snapshot, with records of CPU 0 and none
        of CPU 1."""
        kernel = self.make_kernel(abi_version=2, enabled=1)
        os.mkdir(os.path.join(kernel.path, "snapshot"))
        kernel.put("snapshot/take", state)
        kernel.put("snapshot/overruns",
                   kernel.lines(dict(enumerate(lost))))
        kernel.put("snapshot/consumed",
                   kernel.lines(dict(enumerate(consumed))))
        self.write(os.path.join(kernel.path, "snapshot/cpu0"),
                   records_v2(1000))
        self.write(os.path.join(kernel.path, "snapshot/cpu1"), b"")
        kernel.put("caches", "# kmemtrace: caches\n# columns: number "
                   "object_size size created destroyed name\n"
                   "7 100 128 0 - seven\n")
        kernel.put("tasks", "# kmemtrace: tasks\n# columns: pid until name\n"
                   "# dropped: 0\n"
                   + "".join(f"{pid} - task\n" for pid in range(1, 1000)))
        return kernel

    def fails(self, text, *args, **settings):
        """Expect a failure that leaves no file and does not change the tracing
        state."""
        code, out, err = self.run_to_end("-S", *args, **settings)
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn(text, err)
        self.assertFalse(os.path.exists(self.out))

    def test_no_library(self):
        """Without libzstd, nothing is left in a directory that existed."""
        self.take()
        self.write(os.path.join(self.root, "libzstd.so.1"), "")
        os.mkdir(self.out)
        code, out, err = self.run_to_end(
            "-S", "--compress", env={"LD_LIBRARY_PATH": self.root})
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn("or record without --compress", err)
        self.assertEqual(os.listdir(self.out), [])

    def test_saved(self):
        kernel = self.take()
        # Another kmemtraced records meanwhile and has the lock.
        other = self.spawn("-q", out=os.path.join(self.root, "live"))
        self.addCleanup(other.process.kill)
        wait_for(lambda: os.path.exists(
            os.path.join(self.root, "live", "kmemtrace.meta")), "the other")
        code, out, err = self.run_to_end("--snapshot")
        self.assertEqual(code, 0, err)
        self.assertIn("saving the snapshot (cache:a: b>1)", err)
        self.assertIn("1000 events, 64000 bytes, 5 events lost", out)
        self.assertIn("kmemtrace-report", out)
        # Larger buffers would not help: they only extend the snapshot into the
        # past.
        self.assertNotIn("subbufs", err)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), records_v2(1000))
        self.assertEqual(capture.cpu(1), b"")
        self.assertEqual(dict(capture.meta["snapshot"]),
                         {"why": "cache:a: b>1", "time": "4711", "pid": "7",
                          "comm": "a\\\\040b", "caller": "f+0x1/0x2"})
        for key, value in (("complete", "true"), ("continues", "true"),
                           ("source", "relay"), ("overruns", "5"),
                           ("events", "1000"), ("cpus", "2")):
            self.assertEqual(capture[key], value, key)
        self.assertEqual(capture.meta["cpu0"]["overruns"], "5")
        self.assertEqual(
            capture.files,
            ["caches", "cpu0.out", "cpu1.out", "kallsyms", "kmemtrace.meta",
             "modules", "tasks"])
        self.assertEqual(kernel.get("enabled"), "1")
        self.assertIsNone(other.process.poll())
        self.end(other)

    def test_cgroups(self):
        """The kernel has a table of cgroups."""
        self.take().put("cgroups", "# kmemtrace: cgroups\n")
        code, _, err = self.run_to_end("-S")
        self.assertEqual(code, 0, err)
        capture = self.capture()
        self.assertEqual(capture["cgroups"], "tracked")
        self.assertEqual(capture.read("cgroups"), b"# kmemtrace: cgroups\n")

    def test_part_was_read(self):
        self.take(consumed=(64, 0))
        code, _, err = self.run_to_end("-S", "-q")
        self.assertEqual(code, 0)
        self.assertIn("part of this snapshot was read before", err)

    def test_none(self):
        kernel = self.take()
        for state in "none", "empty":
            kernel.put("snapshot/take", f"state: {state}\ntaken: 0\n")
            self.fails(f"is '{state}'; take one")

    def test_stopped(self):
        self.take(state="state: stopped\nwhy: oom\ntime: 1\n")
        self.fails("when one was to be taken (oom), so tracing was stopped; "
                   "save the events recorded before with kmemtraced, "
                   "without -S")

    def test_kernel_without(self):
        self.make_kernel(abi_version=2, enabled=1)
        self.fails("there are no snapshots in this kernel")

    def test_replaced_before_it_is_read(self):
        self.take()
        self.fails("the snapshot was freed or replaced", shim={
            "read_file": "snapshot/cpu0", "read_errno": errno.ESTALE})

    def test_replaced_while_it_is_saved(self):
        kernel = self.take()
        fifo, go, shim = self.hang_disk()
        daemon = self.spawn("-S", shim=shim)
        self.addCleanup(daemon.process.kill)
        wait_for(lambda: os.path.exists(fifo + ".waits"), "a write")
        kernel.put("snapshot/take", TAKEN.replace("4711", "4712"))
        os.write(go, b"go go go go")
        code, _, err = daemon.finish()
        self.assertEqual(code, 1)
        self.assertIn("the snapshot was freed or replaced before it was "
                      "completely saved", err)
        self.assertIn("run it again", err)
        self.assertFalse(os.path.exists(self.out))

    def test_cannot_read(self):
        self.take()
        self.fails("cannot read snapshot/cpu0 in debugfs: Input/output error",
                   shim={"read_file": "snapshot/cpu0",
                         "read_errno": errno.EIO})

    def test_cannot_write(self):
        self.take()
        self.fails("cannot write " + self.out + "/cpu0.out: No space left on "
                   "device", shim={"write_file": "cpu0.out",
                                   "write_limit": 640})

    def test_directory_with_a_capture(self):
        self.take()
        os.mkdir(self.out)
        self.write(os.path.join(self.out, "kmemtrace.meta"), "old")
        code, _, err = self.run_to_end("-S")
        self.assertEqual(code, 1)
        self.assertIn("-f", err)
        # The run fails; the existing capture is preserved.
        code, _, err = self.run_to_end("-S", "-f", shim={
            "write_file": "cpu0.out", "write_limit": 640})
        self.assertEqual(code, 1)
        self.assertIn("No space left on device", err)
        self.assertIn("nothing was recorded", err)
        self.assertEqual(os.listdir(self.out), ["kmemtrace.meta"])
        code, _, err = self.run_to_end("-S", "-f", "-q")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.capture().cpu(0), records_v2(1000))

    def test_mistakes(self):
        self.take()
        for args in (["-w", "1"], ["-s", "ftrace"], ["-t", self.root],
                     ["-b", "1"], ["-p", "1"], ["-c", "-p", "1"],
                     ["-F", "sample=10"], ["-R", "read"]):
            self.fails("-S saves a snapshot of kmemtrace", *args)
        code, _, err = self.run_to_end("-S", "--", "true")
        self.assertEqual(code, 125)
        self.assertIn("-S saves a snapshot", err)


if __name__ == "__main__":
    main()
