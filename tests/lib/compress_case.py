# SPDX-License-Identifier: GPL-2.0-or-later
"""Compressed captures of kmemtraced, and their frames."""

import os
import re
import subprocess
import unittest

from kmemtraced_fake import TOP_BUILDDIR, Capture, DaemonTest

DUMP = os.path.join(TOP_BUILDDIR, "tests", "kmemtraced", "zstd-dump")


def has_zstd():
    """Return whether the programs can compress."""
    done = subprocess.run([DUMP, os.devnull, "1"], capture_output=True,
                          check=False)
    return done.returncode == 0


class Frames:
    """The frames of a file cpu<n>.out.zst, which zstd-dump must find correct.

    records: the content of the complete frames
    frames, padding: numbers of frames
    table: whether there is a seek table
    rest: bytes of an incomplete frame at the end"""

    def __init__(self, path, record):
        done = subprocess.run([DUMP, path, str(record)], capture_output=True,
                              check=False)
        said = done.stderr.decode()
        assert done.returncode == 0, f"{path}: {said}"
        figures = dict(re.findall(r"(\w+)=(\d+)", said))
        self.records = done.stdout
        self.frames = int(figures["frames"])
        self.padding = int(figures["padding"])
        self.table = figures["table"] == "1"
        self.rest = int(figures["rest"])


@unittest.skipUnless(has_zstd(), "no libzstd")
class CompressTest(DaemonTest):
    """A kmemtraced that compresses."""

    def frames(self, cpu, directory=None):
        """Return the frames of a CPU."""
        return Frames(os.path.join(directory or self.out, f"cpu{cpu}.out.zst"),
                      self.kernel.record)

    def complete(self, cpus):
        """Expect a complete capture; return it, and the records of each CPU."""
        capture = Capture(self.out)
        self.assertEqual(capture["complete"], "true")
        self.assertEqual(capture["compression"], "zstd")
        found = {}
        for cpu in cpus:
            frames = self.frames(cpu)
            group = capture.meta[f"cpu{cpu}"]
            self.assertTrue(frames.table)
            self.assertEqual(frames.rest, 0)
            self.assertEqual(int(group["bytes"]), len(frames.records))
            self.assertEqual(int(group["frames"]), frames.frames)
            self.assertEqual(int(group["file_bytes"]), os.stat(
                f"{self.out}/cpu{cpu}.out.zst").st_size)
            found[cpu] = frames.records
        return capture, found
