# SPDX-License-Identifier: GPL-2.0-or-later
"""How tests on the running kernel end; the steps of scripts/test call them."""

import sys


def skip(reason):
    """As scripts/test knows it."""
    print(reason)
    sys.exit(77)


def check(condition, *what):
    """Fails with all that was seen."""
    if not condition:
        print("FAILED:", *what)
        sys.exit(1)
