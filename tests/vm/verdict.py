# SPDX-License-Identifier: GPL-2.0-or-later
"""Print each expectation with its result, and count failures."""

import os
import sys

_wrong = []


def _report(what, value, good, wanted):
    if not good:
        _wrong.append(what)
    print(f"{os.path.basename(sys.argv[0])}: {what}: {str(value)[:500]}"
          f"{'' if good else '   <-- WRONG' + wanted}")


def holds(what, value, good):
    """Expect a value that satisfies a condition."""
    _report(what, value, good, "")


def equal(what, value, wanted):
    """Expect a given value."""
    _report(what, value, value == wanted, f", not {str(wanted)[:500]}")


def failed():
    """Return whether any expectation failed."""
    return bool(_wrong)
