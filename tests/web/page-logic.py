#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of the page of kmemtrace-report --html that need no browser: numbers,
filters, time spans, and damaged data. Needs node."""

import os
import shutil
import subprocess
import sys

TOP = os.path.abspath(os.environ.get("top_srcdir", "."))

if __name__ == "__main__":
    if shutil.which("node") is None:
        print("node is not installed")
        sys.exit(77)
    sys.exit(subprocess.run(
        ["node", os.path.join(TOP, "tests", "web", "page-logic.cjs"),
         os.path.join(TOP, "report", "html", "js")], check=False).returncode)
