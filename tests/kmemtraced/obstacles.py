#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced with a disk that becomes full at each step, and with other files at
the names of the new capture."""

import errno
import itertools
import os
import shutil
import stat

from files import contents
from kmemtraced_fake import Capture, DaemonTest, main, records

OLD, NEW = 77, 33
PRECIOUS = b"a file of the user's\n"


class Obstacles(DaemonTest):
    """A capture is either correct or marked as incomplete, and no other file
    is written or removed."""

    def prepare(self, force):
        """Make a kernel, and an old capture if it will be replaced."""
        shutil.rmtree(self.root)
        self.setUp()
        self.make_kernel(cpus=(0,))
        self.victim = os.path.join(self.root, "victim")
        self.write(self.victim, PRECIOUS)
        self.old = {}
        if force:
            self.kernel.feed(0, records(OLD))
            self.assertEqual(self.run_to_end()[0], 0)
            self.old = contents(self.out)
            self.kernel.put("enabled", "0\n")
        self.target = os.path.join(self.out, "kmemtrace.new-1") if force \
            else self.out

    def put(self, kind, name):
        """Put a file of another kind at the name of a file."""
        path = os.path.join(self.target, name)
        if os.path.lexists(path):
            os.unlink(path)
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "directory":
            os.mkdir(path)
        elif kind == "symbolic link":
            os.symlink(self.victim, path)
        else:
            os.link(self.victim, path)

    def check_result(self, status, err, force):
        """Check the conditions that hold after any obstacle."""
        self.assertIn(status, (0, 1), err)
        self.assertEqual(self.kernel.get("enabled"), "0")
        with open(self.victim, "rb") as file:
            self.assertEqual(file.read(), PRECIOUS)
        self.assertEqual(os.stat(self.victim).st_mode & 0o777, 0o644)
        if status:
            self.assertTrue(err.strip(), "no message")
            if force:
                found = contents(self.out)
                self.assertEqual({n: found.get(n) for n in self.old}, self.old)
            return
        capture = self.capture()
        self.assertEqual(capture["complete"], "true")
        for name in capture["files"].strip(";").split(";"):
            mode = os.lstat(os.path.join(self.out, name)).st_mode
            self.assertTrue(stat.S_ISREG(mode), name)
        self.assertEqual(capture.cpu(0), records(NEW))
        self.assertEqual(capture.read("kallsyms"), self.KALLSYMS.encode())

    def saved(self):
        """Return the saved records of CPU 0, from the directory or from the
        directory beside it."""
        for folder in self.target, self.out:
            try:
                return Capture(folder).cpu(0)
            except FileNotFoundError:
                pass
        return None

    def test_no_room_for_the_replacement(self):
        """A file at a name that the replacement will need is refused at the start."""
        for kind in "fifo", "symbolic link", "hard link":
            with self.subTest(kind):
                self.prepare(True)
                self.target = self.out
                self.put(kind, "kmemtrace.complete")
                code, _, err = self.run_to_end("-f")
                self.assertEqual(code, 1)
                self.assertIn("kmemtrace.complete exists", err)
                self.assertIn("move that file away", err)
                self.check_result(code, err, True)
                self.assertFalse(os.path.exists(os.path.join(
                    self.out, "kmemtrace.new-1")))

    def test_replaced_while_recording(self):
        """Another file is put at the name of kmemtrace.meta's temporary file during
        the recording."""
        kinds = "fifo", "symbolic link", "hard link", "directory"
        for force, kind in itertools.product((False, True), kinds):
            with self.subTest(kind, force=force):
                self.prepare(force)
                daemon = self.start(*["-f"] * force)
                self.kernel.feed(0, records(NEW))
                self.kernel.wait_read()
                self.put(kind, "kmemtrace.meta.tmp")
                daemon.signal()
                code, _, err = daemon.finish()
                self.assertEqual(code, 1)
                self.assertIn("another process has replaced or removed "
                              "kmemtrace.meta.tmp", err)
                self.check_result(code, err, force)
                capture = Capture(self.target)
                self.assertEqual(capture["complete"], "false")
                self.assertEqual(capture.cpu(0), records(NEW))

    def each_failure(self, names, force):
        """Yield shim settings by which one file cannot be written, at the start or
        after recording began."""
        go = os.path.join(self.root, "go")
        for name, late in itertools.product(names, (False, True)):
            for limit in 0, 10, 200:
                shim = {"write_file": name, "write_limit": limit}
                yield name, late, {**shim, "write_if": go} if late else shim
            if not late:
                yield name, late, {"open_file": name,
                                   "open_errno": errno.ENOSPC}
                yield name, late, {"fsync_file": name,
                                   "fsync_errno": errno.EIO}
            else:
                yield name, late, {"open_file": name, "open_if": go,
                                   "open_errno": errno.ENOSPC}

    def test_full_disk(self):
        """The disk is full for each file, at the start or later, at several
        lengths."""
        names = ("kmemtrace.meta.tmp", "kallsyms.tmp", "modules.tmp",
                 "cpu0.out", "kmemtrace.lock")
        for force in False, True:
            self.prepare(force)
            for n, (name, late, shim) in enumerate(
                    list(self.each_failure(names, force))):
                with self.subTest(force=force, name=name, late=late, n=n):
                    self.prepare(force)
                    go = os.path.join(self.root, "go")
                    shim = {key: go if key.endswith("_if") else value
                            for key, value in shim.items()}
                    daemon = self.spawn(*["-f"] * force, shim=shim)
                    self.addCleanup(daemon.process.kill)
                    try:
                        daemon.wait_line("recording")
                    except AssertionError:
                        began = False
                    else:
                        began = True
                        self.kernel.feed(0, records(NEW))
                        self.kernel.wait_read()
                        self.write(go, "")
                        daemon.signal()
                    code, _, err = daemon.finish()
                    self.check_result(code, err, force)
                    if not began:
                        self.assertEqual(code, 1)
                        self.assertIn("nothing was recorded", err)
                        self.assertEqual(os.path.exists(self.out), force)
                    elif name != "cpu0.out":
                        self.assertEqual(self.saved(), records(NEW), err)


if __name__ == "__main__":
    main()
