# SPDX-License-Identifier: GPL-2.0-or-later
"""Run kmemtrace-top in batch mode on streams, and read what it prints."""

import json
import os
import subprocess
import tempfile
import unittest

import mkcapture
import mkstream

BUILD = os.environ.get("top_builddir", ".")
SOURCE = os.environ.get("top_srcdir", ".")
TOP = os.path.join(BUILD, "top", "kmemtrace-top")
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")
# Columns of a row in kmemtrace-top, and those of kmemtrace-report that they equal.
FIGURES = {"allocs": "allocs", "frees": "frees",
           "allocated_bytes": "bytes_allocated",
           "live_objects": "live_objects", "live_bytes": "live_bytes_allocated"}
# Long enough for a machine with a high load.
TIMEOUT_S = 600


def top(*args, **kwargs):
    """Run kmemtrace-top; return its result as text."""
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([TOP, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False,
                          timeout=TIMEOUT_S, **kwargs)


def documents(text):
    """Return the JSON documents that follow each other in a text."""
    decoder = json.JSONDecoder()
    found = []
    text = text.lstrip()
    while text:
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:].lstrip()
    return found


def report(directory, *args):
    """Return the document of kmemtrace-report."""
    run = subprocess.run([REPORT, "--json", "-q", *args, directory],
                         capture_output=True, check=False, text=True,
                         timeout=TIMEOUT_S)
    if run.returncode:
        raise AssertionError(run.stderr)
    return json.loads(run.stdout)


def add(sums, key, figures):
    """Add the figures of a row to those of the rows of the same name."""
    if any(figures.values()):
        old = sums.setdefault(key, dict.fromkeys(figures, 0))
        for name, value in figures.items():
            old[name] += value


def rows_of_report(document, by):
    """Return {(name, kind): figures in the columns of kmemtrace-top}."""
    sums = {}
    for group in document["callsites" if by == "callsite" else "groups"]:
        name = (group["symbol"] or group["address"]) if by == "callsite" \
            else group[by]
        if name == "0x0000000000000000":
            name = "(caller not recorded)"
        figures = {column: group[other] for column, other in FIGURES.items()}
        figures["wasted_bytes"] = (group["live_bytes_allocated"]
                                   - group["live_bytes_requested"])
        add(sums, (name, group["kind"]), figures)
    return sums


def rows_of_top(document):
    """Return {(name, kind): figures}."""
    sums = {}
    for row in document["rows"]:
        add(sums, (row["name"], row["kind"]),
            {column: row[column] for column in [*FIGURES, "wasted_bytes"]})
    return sums


class TopCase(unittest.TestCase):
    """Streams in a temporary directory."""

    maxDiff = 4000

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name

    def capture(self, text, name="capture"):
        """Compile the text of a fixture; return its directory."""
        path = os.path.join(self.dir, name)
        mkcapture.compile_text(text).write(path)
        return path

    def fixture(self, path, name="capture"):
        """Compile a fixture, relative to the folder tests; return its directory."""
        directory = os.path.join(self.dir, name)
        mkcapture.compile_fixture(os.path.join(SOURCE, "tests", path), directory)
        return directory

    def stream(self, directory, name="stream", **kwargs):
        """Convert a capture to a stream; return its path."""
        return self.save(mkstream.convert(directory, **kwargs), name)

    def save(self, data, name="stream"):
        """Write the bytes of a stream; return its path."""
        path = os.path.join(self.dir, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def views(self, path, *args):
        """Return the JSON documents of a run that must succeed."""
        run = top("-b", "--json", f"--read={path}", *args)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return documents(run.stdout)

    def last(self, path, *args):
        """Return the last document."""
        return self.views(path, "-d", "1000000", *args)[-1]
