#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced when the directory for the capture cannot be made or replaced."""

import errno
import fcntl
import os

from kmemtraced_fake import Capture, DaemonTest, main, records, wait_for


class Directory(DaemonTest):
    """The directory of the capture cannot be used."""

    def refused(self, *texts, args=(), out=None, **settings):
        """Expect an error message with a cause and an action; tracing stays off."""
        code, stdout, err = self.run_to_end(*args, out=out, **settings)
        self.assertEqual((code, stdout), (1, ""), err)
        for text in texts:
            self.assertIn(text, err)
        self.assertEqual(self.kernel.get("enabled"), "0")

    def test_parent_that_is_missing(self):
        self.make_kernel()
        self.refused("cannot make the directory", "No such file",
                     out=os.path.join(self.root, "a", "b"))

    def test_file_in_its_place(self):
        self.make_kernel()
        self.write(self.out, "")
        self.refused("cannot open the directory", "Not a directory")

    def test_capture_that_is_there(self):
        self.make_kernel()
        os.makedirs(self.out)
        path = os.path.join(self.out, "kmemtrace.meta")
        for text, cut_off in (("old", ""),
                              ("[capture]\ncomplete=false\n",
                               ", which was cut off")):
            self.write(path, text)
            self.refused(f"there is a capture already{cut_off}: {path} exists",
                         "replace that capture with -f")
            self.assertEqual(os.listdir(self.out), ["kmemtrace.meta"])

    def test_capture_of_its_own(self):
        self.make_kernel()
        daemon = self.start()
        self.kernel.feed(0, records(3))
        self.end(daemon)
        self.refused("kmemtrace.meta exists")
        self.assertEqual(self.capture().cpu(0), records(3))

    def test_force(self):
        self.make_kernel()
        os.mkdir(self.out)
        tables = ("kallsyms", "modules", "info", "caches", "tasks", "cgroups",
                  "marks", "stacks", "tags", "slabinfo", "kmemtrace.meta")
        for name in ("cpu0.out", "cpu9.out"):
            self.write(os.path.join(self.out, name), "old")
        for name in tables:
            text = {"kallsyms": "ffffffff81000000 T _text\n",
                    "modules": "ext4 1024 1 - Live 0x0000000000000000\n",
                    "slabinfo": "slabinfo - version: 2.1\n"
                    }.get(name, f"# kmemtrace: {name}\n")
            self.write(os.path.join(self.out, name), text)
            self.write(os.path.join(self.out, name + ".tmp"), text[:5])
        os.unlink(os.path.join(self.proc, "modules"))
        daemon = self.start("-f")
        self.kernel.feed(1, records(3))
        self.end(daemon)
        capture = self.capture()
        self.assertEqual(capture.files, ["cpu0.out", "cpu1.out", "kallsyms",
                                         "kmemtrace.meta"])
        self.assertEqual(capture.cpu(0), b"")
        self.assertEqual(capture.cpu(1), records(3))

    def test_force_does_not_follow_links(self):
        self.make_kernel()
        os.mkdir(self.out)
        precious = os.path.join(self.root, "precious")
        self.write(precious, "mine")
        self.write(os.path.join(self.out, "kmemtrace.meta"), "old")
        os.symlink(precious, os.path.join(self.out, "cpu0.out"))
        self.end(self.start("-f"))
        self.assertEqual(open(precious).read(), "mine")

    def test_force_that_cannot_remove(self):
        self.make_kernel()
        os.makedirs(os.path.join(self.out, "cpu0.out"))
        self.write(os.path.join(self.out, "kmemtrace.meta"), "old")
        self.refused("cpu0.out exists", args=["-f"])

    def test_force_removes_nothing_when_there_is_no_kernel(self):
        os.mkdir(self.out)
        self.write(os.path.join(self.out, "cpu0.out"), "old")
        code, _, _ = self.run_to_end("-f")
        self.assertEqual(code, 1)
        self.assertEqual(Capture(self.out).cpu(0), b"old")

    def test_directory_in_use(self):
        self.make_kernel()
        os.mkdir(self.out)
        fd = os.open(self.out, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        self.refused("another program writes to the directory")
        os.close(fd)

    def test_directory_that_becomes_free(self):
        self.make_kernel()
        os.mkdir(self.out)
        fd = os.open(self.out, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        log, lines = self.make_log()
        daemon = self.spawn(shim={"log": log})
        wait_for(lambda: lines().count("flock") >= 2, "the lock is tried again")
        self.assertEqual(os.listdir(self.out), [])
        os.close(fd)
        daemon.wait_line("recording")
        self.end(daemon)

    def test_files_that_cannot_be_made(self):
        self.make_kernel()
        for name in ("cpu1.out", "kallsyms.tmp", "kmemtrace.meta.tmp"):
            self.refused(name.replace(".tmp", ""), "No space left on device",
                         shim={"open_file": name,
                               "open_errno": errno.ENOSPC})
            self.assertFalse(os.path.exists(self.out))

    def test_full_before_it_began(self):
        self.make_kernel()
        for name in ("kallsyms.tmp", "kmemtrace.meta.tmp"):
            self.refused("cannot write", "No space left on device",
                         "another file system with -D",
                         "nothing was recorded",
                         shim={"write_file": name, "write_limit": 10})
            self.assertFalse(os.path.exists(self.out))

    def test_no_room_for_the_tables_of_a_trace_from_boot(self):
        """Events that were traced since boot are saved although a table cannot be
        written; the capture is then cut off."""
        kernel = self.make_kernel(enabled=1)
        kernel.feed(0, records(9))
        daemon = self.spawn(shim={"write_file": "kallsyms.tmp",
                                  "write_limit": 10})
        _, err = self.check_end(daemon, status=1)
        self.assertIn("kallsyms: No space left on device", err)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), records(9))
        self.assertEqual(capture["complete"], "false")
        self.assertNotIn("kallsyms", capture.files)

    def test_no_room_for_the_tables_of_the_records(self):
        kernel = self.make_kernel(abi_version=2)
        kernel.put("caches", "a table\n")
        daemon = self.spawn(shim={"write_file": "caches.tmp",
                                  "write_limit": 3})
        code, _, err = daemon.finish()
        self.assertEqual(code, 1)
        self.assertIn("caches: No space left on device", err)
        self.assertNotIn("caches", self.capture().files)

    def test_tables_of_the_records_that_cannot_be_read(self):
        kernel = self.make_kernel(abi_version=2)
        kernel.put("caches", "a table\n")
        kernel.put("tasks", "another\n")
        daemon = self.start(shim={"read_file": "kmemtrace/caches"})
        _, err = self.end(daemon)
        self.assertIn("kmemtrace/caches: ", err)
        self.assertIn("the capture does not include it", err)
        capture = self.capture()
        self.assertNotIn("caches", capture.files)
        self.assertEqual(capture.read("tasks"), b"another\n")

    def test_kallsyms_that_cannot_be_read(self):
        self.make_kernel()
        daemon = self.start(shim={"read_file": "proc/kallsyms"})
        self.kernel.feed(0, records(3))
        _, err = self.end(daemon)
        self.assertIn("warning: cannot read", err)
        self.assertIn("the capture does not include it", err)
        self.assertNotIn("kallsyms", self.capture().files)
        self.assertEqual(self.capture()["complete"], "true")


if __name__ == "__main__":
    main()
