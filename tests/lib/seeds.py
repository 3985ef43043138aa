# SPDX-License-Identifier: GPL-2.0-or-later
"""The seeds of tests that draw random numbers.

KMT_SEED is the first seed, 1 by default.  Each test prints its seeds, so that a
failure can be repeated.
"""

import os
import random

FIRST = int(os.environ.get("KMT_SEED", "1"))
# A test may require that its inputs cover every case only with these seeds.
IS_DEFAULT = FIRST == 1
PRINTED = set()


def several(n):
    """Return the seeds of n inputs."""
    print(f"seeds {FIRST} to {FIRST + n - 1}; KMT_SEED=N begins at N")
    return range(FIRST, FIRST + n)


def generator(name):
    """Return the random generator of a test."""
    if name not in PRINTED:
        print(f"seed {FIRST} of {name}; KMT_SEED=N takes N")
    PRINTED.add(name)
    return random.Random(FIRST)
