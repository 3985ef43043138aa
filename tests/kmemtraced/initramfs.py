#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording in the background that follows process 1 to another root directory.

A link in the fake /proc takes the place of the root directory of process 1.
chroot(2) needs root, or a user namespace.
"""

import ctypes
import os
import signal
import subprocess
import sys
import unittest

from kmemtraced_fake import (TIMEOUT_S, Capture, DaemonTest, main, records,
                             wait_for)
from target import EMULATED

PR_SET_CHILD_SUBREAPER = 36
NEW_SYMBOL = "ffffffffc0400000 t late_probe\t[late]\n"
MAY_CHROOT = os.geteuid() == 0


def adopt_orphans():
    """Become the parent of processes whose parent exits."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


class Initramfs(DaemonTest):
    """The option --initramfs."""

    def setUp(self):
        super().setUp()
        self.pid_file = os.path.join(self.root, "pid")
        self.messages = os.path.join(self.root, "messages")
        self.new_root = os.path.join(self.root, "new-root")
        os.makedirs(os.path.join(self.proc, "1"))
        self.set_root("/")

    def set_root(self, path):
        """Set the root directory of process 1."""
        link = os.path.join(self.proc, "1", "root")
        os.symlink(path, link + ".new")
        os.rename(link + ".new", link)

    def make_new_root(self):
        """Make a root directory with a /proc that has one more module."""
        proc = self.new_root + self.proc
        os.makedirs(proc)
        self.write(os.path.join(proc, "kallsyms"), self.KALLSYMS + NEW_SYMBOL)
        self.write(os.path.join(proc, "modules"),
                   self.MODULES + "late 4096 0 - Live 0xffffffffc0400000\n")
        # The link in /proc then leads from the new root to itself.
        os.symlink("/", self.new_root + self.new_root)

    def begin(self, *more):
        """Start a kmemtraced; return the exit status of the first process."""
        with open(self.messages, "wb") as log:
            daemon = self.spawn("--initramfs", self.pid_file, *more,
                                stdout=log, stderr=log)
        return daemon.process.wait(timeout=TIMEOUT_S)

    def recorder(self):
        """Return the number of the process that records."""
        with open(self.pid_file) as file:
            pid = int(file.read())

        def kill():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.addCleanup(kill)
        return pid

    def stop(self, pid):
        """Stop the process that records; return its exit status."""
        self.kernel.wait_read()
        os.kill(pid, signal.SIGINT)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def text(self):
        """Return all messages."""
        with open(self.messages) as file:
            return file.read()

    def test_background(self):
        """The first process exits when the second one records."""
        self.make_kernel()
        self.assertEqual(self.begin(), 0, self.text())
        self.assertEqual(self.kernel.get("enabled"), "1")
        pid = self.recorder()
        self.assertNotEqual(os.getsid(pid), os.getsid(0))
        if not EMULATED:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                self.assertEqual(file.read(1), b"@")
        self.kernel.feed(0, records(700))
        self.assertEqual(self.stop(pid), 0, self.text())
        self.assertEqual(self.capture()["complete"], "true")
        self.assertEqual(self.capture().cpu(0), records(700))
        self.assertNotIn("warning", self.text())

    def test_failure(self):
        """The first process reports that the second one failed."""
        self.assertEqual(self.begin(), 1)
        self.assertIn("no debugfs", self.text())

    def test_pid_file(self):
        self.make_kernel()
        self.pid_file = os.path.join(self.root, "nowhere", "pid")
        self.assertEqual(self.begin(), 1)
        self.assertIn("nowhere/pid", self.text())
        self.assertEqual(self.kernel.get("enabled"), "0")

    def test_refused(self):
        for more in (["--", "true"], ["-S"]):
            status, _, messages = self.run_to_end("--initramfs", self.pid_file,
                                                  *more)
            self.assertEqual(status, 125 if more[0] == "--" else 1)
            self.assertIn("Try 'kmemtraced --help'", messages)

    @unittest.skipUnless(MAY_CHROOT, "chroot needs root")
    def test_new_root(self):
        """The capture has the symbols of the new root's /proc."""
        self.make_kernel()
        self.make_new_root()
        self.assertEqual(self.begin(), 0, self.text())
        pid = self.recorder()
        self.kernel.feed(0, records(100))
        self.assertEqual(os.readlink(f"/proc/{pid}/root"), "/")
        self.set_root(self.new_root)
        wait_for(lambda: os.readlink(f"/proc/{pid}/root") == self.new_root,
                 "kmemtraced changes its root")
        self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), self.new_root)
        self.kernel.feed(0, records(100, 100))
        self.assertEqual(self.stop(pid), 0, self.text())
        capture = self.capture()
        self.assertEqual(capture["complete"], "true")
        self.assertEqual(capture.cpu(0), records(200))
        self.assertIn(NEW_SYMBOL, capture.read("kallsyms").decode())
        self.assertIn("late 4096", capture.read("modules").decode())
        self.assertNotIn("warning", self.text())

    @unittest.skipUnless(MAY_CHROOT, "chroot needs root")
    def test_late_root(self):
        """The root changes just before the end."""
        self.make_kernel()
        self.make_new_root()
        self.assertEqual(self.begin(), 0, self.text())
        pid = self.recorder()
        os.kill(pid, signal.SIGSTOP)
        self.set_root(self.new_root)
        os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGCONT)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assertIn(NEW_SYMBOL, Capture(self.out).read("kallsyms").decode())

    def test_no_root(self):
        """A root that cannot be entered causes one warning, and no error."""
        self.make_kernel()
        self.assertEqual(self.begin(), 0, self.text())
        pid = self.recorder()
        self.set_root(os.path.join(self.root, "nowhere"))
        wait_for(lambda: "warning" in self.text(), "a warning")
        self.kernel.feed(0, records(100))
        self.assertEqual(self.stop(pid), 0, self.text())
        self.assertEqual(self.capture()["complete"], "true")
        self.assertEqual(self.text().count(
            "cannot change to the root directory of process 1: "
            "No such file or directory"), 1)


def in_namespace():
    """Run this test in a user namespace, if the machine permits that."""
    if subprocess.run(["unshare", "--map-root-user", "true"], check=False,
                      stderr=subprocess.DEVNULL).returncode == 0:
        os.execvp("unshare", ["unshare", "--map-root-user", "--",
                              "python3", *sys.argv])


if __name__ == "__main__":
    if not MAY_CHROOT:
        in_namespace()
    adopt_orphans()
    main()
