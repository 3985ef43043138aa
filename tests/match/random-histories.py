#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the matcher with the reference, and with known histories.

1. Random records with defects: match-dump prints the lines of reference_match.py.
2. A correct history on CPUs whose clocks differ by at most the tolerance: there is
   no finding. Some frees are deferred.
3. The same history without one record, which is far from any other: there is one
   finding.
"""

import os
import random
import struct
import subprocess
import sys
import tempfile

import mkcapture
import reference_match
import seeds

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
DUMPS = [os.path.join(BUILD, "tests", "match", name)
         for name in ("match-dump", "match-dump-small")]
ROUNDS = int(os.environ.get("KMT_ROUNDS", "150"))
BASE = 0xffff888000001000
TOLERANCE = 100


def dump(capture, tmp, tolerance=TOLERANCE):
    """Return the sorted lines of match-dump without the counts in the last line.
    The size of the matcher's table must not change the result."""
    answers = set()
    with tempfile.TemporaryDirectory(dir=tmp) as directory:
        capture.write(directory)
        for program in DUMPS:
            done = subprocess.run([program, str(tolerance), directory],
                                  check=True, capture_output=True, text=True,
                                  timeout=60)
            answers.add("\n".join(sorted(done.stdout.splitlines()[:-1])))
    if len(answers) > 1:
        return ["unexplained mismatch of " + " and ".join(DUMPS)]
    return answers.pop().splitlines()


def anything(rng):
    """Make random records: (capture, order, size)."""
    order = rng.choice(["little", "big"])
    whole = rng.choice([56, 64])
    deferring = rng.random() < .5
    capture = mkcapture.Capture()
    addresses = [BASE + 8 * i for i in range(rng.choice([1, 2, 4, 30]))]
    for cpu in range(rng.randint(1, 4)):
        capture.add(cpu, b"")
        t = rng.randint(0, 100)
        for _ in range(rng.randint(0, 30)):
            t += rng.choice([0, 0, 1, 10, 30, 90, 101, 500])
            size = whole if rng.random() < .98 else rng.choice([0, 40, 55])
            capture.add(cpu, mkcapture.event(
                rng.choice([1, 1, 1, 2, 2, 2, 2, rng.randint(0, 4)]
                           + [7, 7] * deferring),
                rng.choice([0, 0, 0, 0, 1, 2, rng.randint(0, 5)]),
                t - (rng.randint(0, 50) if rng.random() < .05 else 0),
                ptr=0 if rng.random() < .02 else rng.choice(addresses),
                event_size=size, order=order) + bytes(whole - 56))
    return capture, order, whole


def sound(rng, skew):
    """Make a correct history in which each CPU's clock has a constant offset:
    (capture, number of records)."""
    cpus = rng.randint(2, 4)
    off = [rng.randint(-skew // 2, skew // 2) for _ in range(cpus)]
    last = [0] * cpus
    capture = mkcapture.Capture()
    live = {BASE + 8 * i: rng.random() < .5 for i in range(rng.randint(1, 3))}
    deferred = set()
    deferring = rng.choice([0, 0, .3, .9])
    size = 64 if deferring else 56
    t = 1000
    for cpu in range(cpus):
        capture.add(cpu, b"")
    for _ in range(rng.randint(2, 40)):
        t += rng.choice([0, 1, 5, 20, 60, 300])
        cpu = rng.randrange(cpus)
        ptr = rng.choice(list(live))
        last[cpu] = max(last[cpu], t + off[cpu])
        make = mkcapture.free if live[ptr] else mkcapture.alloc
        if live[ptr] and ptr not in deferred and rng.random() < deferring:
            make = mkcapture.defer
            deferred.add(ptr)
        else:
            deferred.discard(ptr)
            live[ptr] = not live[ptr]
        capture.add(cpu, make(last[cpu], ptr, event_size=size)
                    + bytes(size - 56))
    return capture


def one_missing(rng):
    """Make alternating ALLOC and FREE far apart and omit one: (capture, omitted
    event)."""
    capture = mkcapture.Capture()
    n = rng.randint(4, 20)
    left_out = rng.randrange(1, n - 1)
    for i in range(n):
        make = mkcapture.free if i % 2 else mkcapture.alloc
        if i != left_out:
            capture.add(rng.randrange(3), make(1000 * i, BASE))
    return capture, "FREE" if left_out % 2 else "ALLOC"


def tells_of_loss(capture, order):
    """Return whether a record of 64 bytes is a LOST record; the capture has no meta
    file."""
    head = struct.Struct(mkcapture.ORDERS[order] + "BxH20xQ")
    for data in capture.cpus.values():
        for at in range(0, len(data) - 63, 64):
            event, size, lost = head.unpack_from(data, at)
            if (event, size) == (3, 64) and lost:
                return True
    return False


def check_anything(rng, tmp):
    """Return a description of the failure, or None."""
    capture, order, size = anything(rng)
    got = dump(capture, tmp)
    files = {cpu: list(reference_match.read(
        bytes(data), mkcapture.ORDERS[order], size))
        for cpu, data in capture.cpus.items()}
    expected = reference_match.reference(
        files, TOLERANCE, lossy=size > 56 and tells_of_loss(capture, order),
        size=size)
    if got == expected:
        return None
    return ("reference: " + "; ".join(sorted(set(expected) - set(got)))
            + "\nmatcher:   " + "; ".join(sorted(set(got) - set(expected))))


def check_sound(rng, tmp):
    """Return a description of the failure, or None."""
    got = dump(sound(rng, rng.choice([0, 10, TOLERANCE])), tmp)
    bad = [line for line in got if "unexplained" in line or "mismatch" in line]
    return "; ".join(bad) or None


def check_missing(rng, tmp):
    """Return a description of the failure, or None."""
    capture, missing = one_missing(rng)
    got = dump(capture, tmp)
    bad = [line.split()[0] for line in got if "unexplained" in line]
    if bad == (["double"] if missing == "FREE" else ["unmatched"]):
        return None
    return f"{missing} is missing: {bad}"


def main():
    """Run all three checks ROUNDS times."""
    failures = 0
    with tempfile.TemporaryDirectory() as tmp:
        for seed in seeds.several(ROUNDS):
            for check in (check_anything, check_sound, check_missing):
                wrong = check(random.Random(seed), tmp)
                if wrong:
                    failures += 1
                    print(f"FAIL {check.__name__} seed {seed}\n{wrong}")
    print(f"{3 * ROUNDS} captures, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
