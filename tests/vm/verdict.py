# SPDX-License-Identifier: GPL-2.0-or-later
"""What a judge of guests expects, told line by line, and whether all was so."""

import os
import sys

_wrong = []


def _tell(what, value, good, wanted):
    if not good:
        _wrong.append(what)
    print(f"{os.path.basename(sys.argv[0])}: {what}: {str(value)[:500]}"
          f"{'' if good else '   <-- WRONG' + wanted}")


def holds(what, value, good):
    """Where there is no one right value."""
    _tell(what, value, good, "")


def equal(what, value, wanted):
    """Where there is."""
    _tell(what, value, value == wanted, f", not {str(wanted)[:500]}")


def failed():
    """Was anything wrong?"""
    return bool(_wrong)
