#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of kmemtrace-report that write a file: when the file is replaced, and
which options exclude each other.  --perfetto stands for all of them."""

import json
import os
import pty
import resource
import signal
import stat
import subprocess
import tempfile
import threading
import unittest

import report_case

OPTION = "--perfetto"
CAPTURE = """
cpu 0 little
alloc kmalloc t=1000 site=0x10 ptr=0x1000 req=100 alloc=128
free kmalloc t=2000 site=0x20 ptr=0x1000
"""


class OutputFile(report_case.ReportCase):
    """A file that exists, or that cannot be written."""

    def setUp(self):
        super().setUp()
        self.capture = self.compiled(CAPTURE)
        self.folder = os.path.join(self.dir, "out")
        os.mkdir(self.folder)
        self.file = os.path.join(self.folder, "file")

    def write_file(self, name, *args, **kwargs):
        """Write a file; check that the program prints nothing."""
        done = report_case.run("-q", f"{OPTION}={name}", *args, self.capture,
                               **kwargs)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def is_whole(self, text):
        """Check the content of a file."""
        self.assertEqual(json.loads(text)["otherData"]["format"],
                         "kmemtrace-report")

    def read(self):
        """Return the content of the file."""
        with open(self.file, encoding="utf-8") as f:
            return f.read()

    def test_new_and_replaced(self):
        """The file has the usual permissions, and nothing is left beside it."""
        self.assertEqual(self.write_file(self.file, preexec_fn=lambda: os.umask(0o027)),
                         "")
        self.is_whole(self.read())
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o640)
        with open(self.file, "w", encoding="utf-8") as f:
            f.write("old" * 100000)
        self.write_file(self.file)
        self.is_whole(self.read())
        self.assertEqual(os.listdir(self.folder), ["file"])

    def test_permissions(self):
        """A file that is replaced keeps its permissions.  One that is read-only stays."""
        with open(self.file, "w", encoding="utf-8") as f:
            f.write("old")
        os.chmod(self.file, 0o600)
        self.write_file(self.file)
        self.is_whole(self.read())
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)
        if os.geteuid() == 0:
            return  # root may write to any file
        os.chmod(self.file, 0o400)
        self.refused("-q", f"{OPTION}={self.file}", self.capture,
                     message="Permission denied")

    def test_relative_and_links(self):
        """A relative name, and a symbolic link whose target is replaced."""
        os.symlink("file", os.path.join(self.folder, "link"))
        with open(self.file, "w", encoding="utf-8") as f:
            f.write("old")
        self.write_file("link", cwd=self.folder)
        self.assertTrue(os.path.islink(os.path.join(self.folder, "link")))
        self.is_whole(self.read())

    def test_links_without_target(self):
        """A link to a missing file creates the file.  stdout that is a deleted file is
        written to, and its link stays.  A link to itself is an error."""
        link = os.path.join(self.folder, "link")
        os.symlink("file", link)
        self.write_file(link)
        self.assertTrue(os.path.islink(link))
        self.is_whole(self.read())
        os.unlink(link)
        os.symlink("/proc/self/fd/1", link)
        with tempfile.TemporaryFile("w+", dir=self.dir) as f:
            subprocess.run([report_case.PROGRAM, "-q", f"{OPTION}={link}", self.capture],
                           stdout=f, check=True)
            self.assertTrue(os.path.islink(link))
            f.seek(0)
            self.is_whole(f.read())
        os.unlink(link)
        os.symlink("link", link)
        self.refused("-q", f"{OPTION}={link}", self.capture, message="symbolic links")
        self.assertTrue(os.path.islink(link))
        self.assertEqual(sorted(os.listdir(self.folder)), ["file", "link"])

    def test_error_keeps_the_file(self):
        """A full disk, a capture that cannot be read, and a wrong option."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        with open(self.file, "w", encoding="utf-8") as f:
            f.write("old")
        for message, capture, kwargs in (
                ("cannot write", self.capture, {"preexec_fn": limit}),
                ("nowhere", os.path.join(self.dir, "nowhere"), {}),
                ("START is beyond", self.capture, {"args": ("--time", "5,")})):
            args = kwargs.pop("args", ())
            self.refused("-q", f"{OPTION}={self.file}", *args, capture, message=message,
                         **kwargs)
            self.assertEqual(self.read(), "old")
            self.assertEqual(os.listdir(self.folder), ["file"])

    def test_not_writable(self):
        """A directory, a missing directory, and an empty name."""
        for name in (self.folder, os.path.join(self.folder, "none", "file"), ""):
            self.refused("-q", f"{OPTION}={name}", self.capture,
                         message=f"{OPTION}: cannot")
        self.refused("-q", f"{OPTION}=/dev/full", self.capture, message="No space left")

    def test_in_place(self):
        """A device, a pipe with a name, and standard output."""
        self.write_file("/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        got = []

        def read_fifo():
            with open(fifo, encoding="utf-8") as f:
                got.append(f.read())

        reader = threading.Thread(target=read_fifo)
        reader.start()
        self.write_file(fifo)
        reader.join()
        self.is_whole(got[0])
        self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))
        self.is_whole(self.write_file("-"))

    def test_terminal(self):
        """Standard output that is a terminal is refused."""
        master, slave = pty.openpty()
        done = subprocess.run(
            [report_case.PROGRAM, OPTION + "=-", self.capture], stdout=slave,
            stderr=subprocess.PIPE, text=True, check=False)
        os.close(slave)
        os.close(master)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'-' is the terminal", done.stderr)

    def test_excluded(self):
        """Other formats, and options that the file leaves no choice for."""
        for args in (["--json"], ["--csv"], ["--folded"]):
            self.refused("-q", f"{OPTION}={self.file}", *args, self.capture,
                         message=f"{OPTION}: not with --json", usage=True)
        for args in (["--by", "kind"], ["--stacks"], ["--fields", "live"],
                     ["--sort", "live"], ["--lines", "3"], ["--live"],
                     ["--leaks"], ["--cross-cpu"], ["--marks"],
                     ["--before-trace"], ["--histogram", "size"],
                     ["--time", "peak"]):
            name = "--time peak" if args[0] == "--time" else args[0]
            self.refused("-q", f"{OPTION}={self.file}", *args, self.capture,
                         message=f"{name}: not with {OPTION}", usage=True)
        self.refused("-q", f"{OPTION}={self.file}", "--slab", self.capture,
                     message="use --kind", usage=True)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
