# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare an output with the file that contains the expected output.

With KMT_UPDATE_GOLDEN=1 in the environment, the file is written instead; review the
difference before you commit it.
"""

import difflib
import os


def difference(path, text):
    """Return how text differs from the content of a file, or "" if it is equal."""
    if os.environ.get("KMT_UPDATE_GOLDEN"):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return ""
    with open(path, encoding="utf-8") as f:
        expected = f.read()
    return "".join(difflib.unified_diff(
        expected.splitlines(True), text.splitlines(True), path, "got"))
