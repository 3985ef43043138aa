#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare what kmemtrace-top printed in a guest with the report of its raw capture.

    top.py OUT
"""

import os
import subprocess
import sys

from top_case import CHECK, documents
from top_compare import check_trace


def main():
    """Judge the files that the guest wrote."""
    out, = sys.argv[1:]
    directory = os.path.join(out, "capture")
    subprocess.run([CHECK, directory], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(out, "top.json"), encoding="utf-8") as file:
        views = documents(file.read())
    check_trace(views, directory, "relay")


if __name__ == "__main__":
    main()
