# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine that runs the programs: this one, or the one that QEMU emulates."""

import os
import struct
import sys

# The emulated architecture; None without emulation. Set by vm/cross --check.
EMULATED = os.environ.get("KMT_EMULATED") or None
BYTE_ORDER = {None: sys.byteorder, "s390x": "big"}.get(EMULATED, "little")
# The machine's name in uname().
MACHINE = {None: os.uname().machine, "arm64": "aarch64",
           "arm": "armv7l"}.get(EMULATED, EMULATED)
# The byte order as the first character of a format of struct.
ORDER = {"little": "<", "big": ">"}[BYTE_ORDER]


def pack(layout, *values):
    """Return the values as the machine stores them, without alignment."""
    return struct.pack(ORDER + layout, *values)
