#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged captures never crash kmemtrace-check: the exit status is 0, 1 or 2, and
an error message is printed with status 1.  The pipeline of lib/match counts as many
errors across files as the pass that finds their records.  Threads change nothing.  A
failure prints its seed.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

import mkcapture
import seeds
from random_captures import damage_bytes

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")
THREADS = os.path.join(BUILD, "tests", "check", "check-threads")
ROUNDS = int(os.environ.get("KMT_ROUNDS", "120"))

META = """[capture]
format=1
record_size=56
byte_order=little
complete=%s
continues=%s
overruns=%s
[cpu0]
events=40
node=0
"""


ACROSS = ("double-allocation", "unmatched-free", "mismatched-free",
          "unmatched-defer", "double-defer")
MAX_PRINT = 10


def all_found(document):
    """Return whether the records of the counted errors across files are listed."""
    counts = {r["name"]: r["errors"] for r in document["rules"]
              if r["name"] in ACROSS}
    found = dict.fromkeys(counts, 0)
    for error in document["errors"]:
        if error["rule"] in found:
            found[error["rule"]] += 1
    return all(found[r] == min(n, MAX_PRINT) for r, n in counts.items())


def make(rng):
    """Make an undamaged capture."""
    capture = mkcapture.Capture()
    order = rng.choice(["little", "big"])
    size = rng.choice([56, 56, 64, 72])
    for cpu in range(rng.randint(1, 3)):
        capture.add(cpu, b"")
        t = 0
        for _ in range(rng.randint(0, 40)):
            t += rng.choice([0, 1, 1000, 10 ** 7])
            capture.add(cpu, mkcapture.event(
                rng.choice([1, 2] if size == 56 else [1, 1, 2, 2, 7]),
                rng.choice([0, 1, 2]), t,
                ptr=0xffff888000000000 + 8 * rng.randrange(9), order=order,
                event_size=size) + bytes(size - 56))
    if rng.random() < .5:
        capture.texts["kmemtrace.meta"] = META % (
            rng.choice(["true", "false"]), rng.choice(["true", "false"]),
            rng.choice(["0", "5", "-1", "x", str(2 ** 70)]))
    return capture


def main():
    """Damage and check ROUNDS captures."""
    failures = n_across = 0
    seen = set()
    for seed in seeds.several(ROUNDS):
        rng = random.Random(seed)
        capture = make(rng)
        for data in capture.cpus.values():
            damage_bytes(rng, data)
        if "kmemtrace.meta" in capture.texts and rng.random() < .3:
            text = bytearray(capture.texts["kmemtrace.meta"].encode())
            damage_bytes(rng, text)
            capture.texts["kmemtrace.meta"] = text.decode("latin-1")
        with tempfile.TemporaryDirectory() as directory:
            capture.write(directory)
            args = [rng.choice(["--json", "--max-print=3",
                                "--max-print=99"]), directory]
            if rng.random() < .2:
                args[1] = os.path.join(directory, "cpu0.out")
            done, threads = [
                subprocess.run([program, *args], capture_output=True,
                               check=False, timeout=60)
                for program in (CHECK, THREADS)]
        seen.add(done.returncode)
        good = done.returncode in (0, 1, 2)
        good &= (done.returncode == 1) == bool(done.stderr)
        good &= (done.stdout, done.returncode) == (threads.stdout,
                                                   threads.returncode)
        if good and done.returncode != 1 and args[0] == "--json":
            document = json.loads(done.stdout)
            errors = document["total_errors"]
            good = (errors > 0) == (done.returncode == 2)
            good &= all_found(document)
            n_across += sum(e["rule"] in ACROSS for e in document["errors"])
        if not good:
            failures += 1
            print(f"FAIL seed {seed}: {args[0]} exit {done.returncode}\n"
                  f"{done.stderr.decode(errors='replace')}")
    print(f"{ROUNDS} captures, exit codes {sorted(seen)}, {n_across} errors "
          f"across files, {failures} failures")
    return 1 if failures or not n_across or not {0, 2} <= seen else 0


if __name__ == "__main__":
    sys.exit(main())
