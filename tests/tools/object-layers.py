#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The object files of a folder do not call each other in a cycle."""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.environ.get("top_srcdir", "."), "tests", "tools",
                      "object-graph.py")
BUILD = os.environ.get("top_builddir", ".")
FOLDERS = ("lib/base", "lib/capture", "lib/cli", "lib/input", "lib/match",
           "lib/output", "lib/recovery", "lib/symbols", "lib/tracepoints",
           "check", "gate", "import", "kmemtraced", "report",
           "top")
# Prefixes that automake gives to objects which tests and fuzzers compile again.
VARIANTS = ("tests_", "fuzz_")
LOWER = "void upper(void);\nvoid lower(void);\nvoid lower(void) { upper(); }\n"
UPPER = "void lower(void);\nvoid upper(void);\nvoid upper(void) { lower(); }\n"


def run(*groups):
    """Run the script; return its exit status and output."""
    result = subprocess.run([sys.executable, SCRIPT, *groups],
                            capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


class Layers(unittest.TestCase):
    """Files call files of lower layers only."""

    def test_folders(self):
        """No folder of user space has a cycle."""
        groups = []
        for folder in FOLDERS:
            paths = [path for path in
                     sorted(glob.glob(os.path.join(BUILD, folder, "*.o")))
                     if not os.path.basename(path).startswith(VARIANTS)]
            self.assertTrue(paths, f"there are no object files in {folder}")
            groups.append(f"{folder}={','.join(paths)}")
        status, output = run(*groups)
        self.assertEqual(status, 0, output)

    def test_cycle(self):
        """A call from a lower file to an upper file is reported."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("lower", LOWER), ("upper", UPPER)):
                path = os.path.join(folder, name)
                with open(path + ".c", "w", encoding="ascii") as f:
                    f.write(text)
                subprocess.run([*os.environ.get("CC", "cc").split(), "-c",
                                path + ".c", "-o", path + ".o"], check=True)
            status, output = run(f"example={folder}")
        self.assertEqual(status, 1, output)
        self.assertIn("upper", output)


if __name__ == "__main__":
    unittest.main()
