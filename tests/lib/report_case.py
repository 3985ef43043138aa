# SPDX-License-Identifier: GPL-2.0-or-later
"""Run kmemtrace-report on fixtures, and read its tables."""

import json
import os
import subprocess
import tempfile
import unittest

import mkcapture

SRCDIR = os.path.abspath(os.environ.get("top_srcdir", "."))
PROGRAM = os.path.abspath(os.path.join(os.environ.get("top_builddir", "."),
                                       "report", "kmemtrace-report"))
FIXTURES = os.path.join(SRCDIR, "tests", "report", "fixtures")

# Text of the kmemtrace.meta of a complete capture with records of version 1.
META_V1 = """meta
  [capture]
  format=1
  abi_version=1
  record_size=56
  byte_order=little
  complete=true
  overruns=0
"""


def run(*args, **kwargs):
    """Run kmemtrace-report; return its result as text."""
    kwargs.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([PROGRAM, *args], stderr=subprocess.PIPE, text=True,
                          check=False, **kwargs)


def table(text, title):
    """Return the lines of a table, without its header, split at blanks."""
    lines = text.split("\n" + title, 1)[1].split("\n\n", 1)[0].split("\n")
    return [line.split() for line in lines[2:] if line]


class ReportCase(unittest.TestCase):
    """Captures from fixtures in a temporary directory."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name

    def fixture(self, name):
        """Compile a fixture; return its directory."""
        path = os.path.join(self.dir, name)
        mkcapture.compile_fixture(os.path.join(FIXTURES, name + ".txt"), path)
        return path

    def compiled(self, text, name="capture"):
        """Compile the text of a fixture; return its directory."""
        path = os.path.join(self.dir, name)
        mkcapture.compile_text(text).write(path)
        return path

    def write(self, name, text):
        """Write a file; return its path."""
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def report(self, *args):
        """Return the JSON document of a run that must succeed."""
        done = run("--json", "-q", *args)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return json.loads(done.stdout)

    def refused(self, *args, message, usage=False, **kwargs):
        """Check that a run fails with a message of one line."""
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, 1, done)
        self.assertTrue(done.stderr.startswith("kmemtrace-report: "), done)
        self.assertIn(message, done.stderr)
        self.assertEqual("Try 'kmemtrace-report --help'" in done.stderr, usage)
        self.assertEqual(done.stderr.count("\n"), 2 if usage else 1)
        if done.stdout:
            self.fail(f"output in spite of an error: {done.stdout}")
