# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways to damage a page of the ring buffer in a trace.dat file."""

import struct

from target import ORDER, pack
from trace_dat_files import PAGE

# Events on each page.
EACH = 40


def set_commit(page, value):
    """Return the page with another length."""
    return page[:8] + pack("Q", value) + page[16:]


def set_time(page, value):
    """Return the page with another time."""
    return pack("Q", value) + page[8:]


def commit_of(page):
    """Return the length of the data of a page."""
    return struct.unpack_from(ORDER + "Q", page, 8)[0]


# Name of a damage: function that makes a page unusable.
DAMAGE = {
    "zeroed": lambda page: bytes(PAGE),
    "ones": lambda page: b"\xff" * PAGE,
    "too long": lambda page: set_commit(page, PAGE),
    "no length": lambda page: set_commit(page, 0),
    "odd length": lambda page: set_commit(page, commit_of(page) - 3),
    "within an event": lambda page: set_commit(page, commit_of(page) - 8),
    "at the end of an event": lambda page: set_commit(
        page, commit_of(page) - commit_of(page) // EACH),
    "zeros within": lambda page: page[:1000] + bytes(100) + page[1100:],
    "too early": lambda page: set_time(page, 5),
    "too late": lambda page: set_time(page, 1 << 60),
}
