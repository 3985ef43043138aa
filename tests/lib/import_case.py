# SPDX-License-Identifier: GPL-2.0-or-later
"""Run kmemtrace-import in a test, and read the capture that it wrote."""

import os
import signal
import struct
import subprocess
import tempfile
import unittest

from import_events import USUAL_RECORDS
from target import ORDER

# Captures then belong to root.
for variable in "SUDO_UID", "SUDO_GID":
    os.environ.pop(variable, None)
# nohup and a shell's "&" leave signals ignored, and the programs inherit that.
for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM:
    signal.signal(number, signal.SIG_DFL)
TOP_SRCDIR = os.environ.get("top_srcdir", ".")
TOP = os.environ.get("top_builddir", ".")
PROGRAM = os.path.join(TOP, "import", "kmemtrace-import")
CHECK = os.path.join(TOP, "check", "kmemtrace-check")
REPORT = os.path.join(TOP, "report", "kmemtrace-report")
RECORD = struct.Struct(ORDER + "BBHiQQQQQqIHH")


def lacks(library, content):
    """Return whether the program was built without a library, and prints it.

    content: the input that needs the library, None for a directory.
    """
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "x")
        if content is None:
            os.mkdir(path)
        else:
            with open(path, "wb") as f:
                f.write(content)
        said = subprocess.run(
            [PROGRAM, path, os.path.join(scratch, "out")],
            capture_output=True, text=True, check=False).stderr
    missing = f"built without {library}: install" in said
    if missing:
        print(said, end="")
    return missing


def has_address_sanitizer():
    """Return whether the program was built with AddressSanitizer."""
    with open(PROGRAM, "rb") as file:
        return b"__asan_init" in file.read()


def sanitizer_environment():
    """Return an environment in which failed allocations and signals have the same
    effect as without a sanitizer. libbabeltrace2 allocates as much memory as a
    damaged file claims, and crashes on some files."""
    return {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
            ":allocator_may_return_null=1"
            ":handle_segv=0:handle_sigbus=0:handle_abort=0"}


class ImportTest(unittest.TestCase):
    """Import files into a temporary directory."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.out = self.path("out")
        # The fake machine runs another kernel.
        self.proc = self.path("proc")
        self.sys = self.path("sys")
        os.mkdir(self.proc)
        os.makedirs(os.path.join(self.sys, "kernel"))

    def path(self, *names):
        """Return a path in the temporary directory."""
        return os.path.join(self.scratch, *names)

    def write(self, name, data):
        """Write a file into the temporary directory; return its path."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return self.path(name)

    def run_import(self, path, *options, out=None, **settings):
        """Run kmemtrace-import."""
        return subprocess.run(
            [PROGRAM, "--proc", self.proc, "--sys", self.sys, *options, path,
             out or self.out], capture_output=True, text=True, check=False,
            env=sanitizer_environment(), **settings)

    def imported(self, path, *options):
        """Import a valid file; return the messages."""
        result = self.run_import(path, *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        checked = subprocess.run([CHECK, self.out], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        return result.stdout

    def refused(self, path, *words, options=(), **settings):
        """Check that a file is refused with a message and without a capture."""
        result = self.run_import(path, *options, **settings)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith(
            f"kmemtrace-import: cannot import {path}: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertFalse(os.path.exists(self.out), "something is left")

    def partial(self, path, *options, status=2):
        """Import a damaged file; expect a warning and the status."""
        result = self.run_import(path, "-f", *options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(f"kmemtrace-import: warning: {path} is damaged",
                      result.stderr)
        self.assertEqual(self.meta()["complete"], "false")
        return result.stdout

    def checked(self):
        """Check that kmemtrace-check reports only the damage."""
        result = subprocess.run([CHECK, self.out], capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("WARNING: the file that was imported is damaged",
                      result.stdout)

    def records(self, cpu):
        """Return the records of a CPU."""
        with open(os.path.join(self.out, f"cpu{cpu}.out"), "rb") as f:
            return list(RECORD.iter_unpack(f.read()))

    def text(self, name):
        """Return a file of the capture, empty if it does not exist."""
        try:
            with open(os.path.join(self.out, name), encoding="ascii") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def meta(self):
        """Return the keys and values of all groups of kmemtrace.meta."""
        found, group = {}, None
        for line in self.text("kmemtrace.meta").splitlines():
            if line.startswith("["):
                group = line[1:-1]
            elif line:
                key, value = line.split("=", 1)
                found[key if group == "capture" else f"{group}.{key}"] = value
        return found

    def assert_usual(self):
        """Check that the capture has the records of USUAL."""
        self.assertEqual(self.records(0), USUAL_RECORDS[0])
        self.assertEqual(self.records(1), USUAL_RECORDS[1])
        meta = self.meta()
        self.assertEqual(
            {key: meta[key] for key in (
                "source", "complete", "events", "overruns", "no_memory",
                "other_events", "cpus", "abi_version", "record_size",
                "page_size", "cpu0.overruns")},
            {"source": "import", "complete": "true", "events": "7",
             "overruns": "0", "no_memory": "2", "other_events": "2",
             "cpus": "2", "abi_version": "2", "record_size": "64",
             "page_size": "4096", "cpu0.overruns": "0"})
        self.assertEqual(set(meta["tracepoints"].strip(";").split(";")), {
            "kmalloc", "kmalloc_node", "kfree", "kmem_cache_alloc",
            "kmem_cache_free", "mm_page_alloc", "mm_page_free"})
        self.assertNotIn("has no event", meta["not_seen"])
        self.assertIn("1 192 192 0 - dentry\n", self.text("caches"))
        self.assertFalse(any(name.endswith(".tmp")
                             for name in os.listdir(self.out)))


def main():
    """Run the tests of the file."""
    unittest.main()
