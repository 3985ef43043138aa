#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds each figure of kmemtrace-report against tests/lib/reference_figures.py on
large captures: those of bench/generate, with every defect in them, or a real
one.

    figures-large.py [--events N]   captures made for it
    figures-large.py DIRECTORY      this one

It takes a minute for a million events.  The programs are those of
$top_builddir, or those found through PATH where that is not set.
"""

import os
import random
import subprocess
import sys
import tempfile

import seeds
from figures_compare import Comparison, Options, Wrong, complete
from reference_capture import Capture
from reference_names import Symbols

N_EVENTS = 1000000
SIZE = 56
MS = 10 ** 6

BUILD = os.environ.get("top_builddir")
REPORT = os.path.join(BUILD, "report", "kmemtrace-report") if BUILD \
    else "kmemtrace-report"
GENERATE = os.path.join(BUILD or ".", "bench", "generate")
RUNS = [(REPORT, 1), (REPORT, 2)]


def questions(length, flags):
    """What is asked of a capture of so many ns; flags: by them, too."""
    third = length // 3
    everything = ("wasted", "frag", "allocs", "live", "peak", "peak-time",
                  "at-peak", "remote-node", "lifetime-median", "lifetime-p99",
                  "age-median", "churn")
    return [
        (Options(cross_cpu=True, fields=everything, sort=(("churn", False),)),
         ("json", "csv", "text")),
        (Options(by=("function", "cpu"), start=third, stop=2 * third,
                 windows=7, shows_windows=True, leaks=True, lines=30,
                 sort=(("live", False), ("callsite", True)),
                 fields=("live", "at-peak", "cross-cpu")),
         ("json", "text", "folded")),
        (Options(by=("cache", "module") + (("gfp",) if flags else ()),
                 kinds={"kmalloc", "pages"}, cpus={0, 2}, size=(64, 65536),
                 lifetime=(10 ** 4, 10 ** 8), sort=(("allocs", False),),
                 fields=("allocs", "live")),
         ("json", "csv")),
        (Options(by=("size", "node"), callsite="*1*", stop=third, page=True,
                 live=True, sort=(("age-median", True),),
                 fields=("live", "age-median")),
         ("json", "text")),
    ]


class Damage:
    """Makes defects of all kinds, a few hundred of each in a million."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.before = None  # an older record

    def defects(self, record):
        """What takes the place of a record."""
        what = self.rng.randrange(300)
        record = bytearray(record)
        if what == 0:       # lost
            return b""
        if what == 1:       # twice: a double allocation or a free without one
            return record * 2
        if what == 2:       # of the other type
            if record[1] < 2:
                record[1] ^= 1
            return record
        if what == 3:       # back in time
            return self.at(record, -self.rng.randrange(1, 2 * MS))
        if what == 4:       # too late for a race, or not
            return self.at(record, self.rng.randrange(1, 2 * MS))
        if what == 5:       # unknown
            record[self.rng.randrange(3)] ^= 0x40
            return record
        if what == 6:       # of no memory
            record[16:24] = bytes(8)
            return record
        if what == 7:       # fewer bytes than requested
            record[32:40] = (1).to_bytes(8, "little")
            return record
        if what == 8 and self.before:   # something of long ago again
            return record + self.at(self.before, 0, record[48:])
        if what == 9:
            self.before = record
        return record

    @staticmethod
    def at(record, ns, since=None):
        """The same at another time."""
        time = int.from_bytes(since or record[48:], "little", signed=True)
        return record[:48] + (time + ns).to_bytes(8, "little", signed=True)

    def file(self, path):
        """Damages a cpu file."""
        with open(path, "rb") as f:
            data = f.read()
        parts = [data[:32 * SIZE]]  # the first ones tell the format
        for offset in range(32 * SIZE, len(data), SIZE):
            record = data[offset:offset + SIZE]
            # Most are as they are.
            parts.append(record if self.rng.random() > .1
                         else self.defects(record))
        parts.append(b"\1" * 17)
        with open(path, "wb") as f:
            for part in parts:
                f.write(part)


def make(directory, seed, cpus, events, change):  # pylint: disable=too-many-arguments
    """A capture with defects; change is made to its meta."""
    subprocess.run([GENERATE, "--output", directory, "--events", str(events),
                    "--cpus", str(cpus), "--seed", str(seed)], check=True)
    damage = Damage(seed)
    path = os.path.join(directory, "kmemtrace.meta")
    with open(path, encoding="ascii") as f:
        meta = f.read()
    for cpu in range(cpus):
        damage.file(os.path.join(directory, f"cpu{cpu}.out"))
    # What was lost is not to be seen by the sizes of the files.
    meta = "\n".join(line for line in meta.splitlines()
                     if not line.startswith("bytes=")) + "\n"
    meta = meta.replace("[cpu1]\nnode=0", "[cpu1]\nnode=1")
    with open(path, "w", encoding="ascii") as f:
        f.write(meta.replace(*change))


def names_of(directory):
    """The captured symbols; without modules, if there are none."""
    texts = []
    for name in ("kallsyms", "modules"):
        path = os.path.join(directory, name)
        text = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text = f.read()
        texts.append(text)
    return Symbols(*texts)


def check(directory):
    """Asks all questions.  Raises Wrong."""
    capture = Capture(directory)
    names = names_of(directory)
    first, last = capture.ends()
    # The reference has no names for flags, which the kernel 6.1 has.
    release = capture.meta["capture"].get("kernel_release", "")
    for options, forms in questions(last - first,
                                    not release.startswith("6.1")):
        compare = Comparison(capture, names, complete(options), runs=RUNS)
        for form in forms:
            getattr(compare, form)()
    counts = {}
    for finding in capture.match(MS).findings:
        key = f"{finding.what} {finding.why}"
        counts[key] = counts.get(key, 0) + 1
    print(f"figures-large.py: {capture.events} events of {len(capture.files)} "
          f"CPUs, all figures are as they must be; findings: {counts}")
    return set(counts)


def generated(events):
    """With losses that are told, and with such that are not."""
    met = set()
    with tempfile.TemporaryDirectory() as scratch:
        changes = (("complete=true", "complete=false"),
                   ("overruns=0", "overruns=9"), ("", ""))
        for i, seed in enumerate(seeds.several(len(changes))):
            directory = os.path.join(scratch, str(i))
            # Where all may be lost, there are few ways to go.
            make(directory, seed, i + 2, events // (4 if i < 2 else 2),
                 changes[i])
            met |= check(directory)
    missing = {"double race", "double unexplained", "double after_loss",
               "unmatched before_trace", "unmatched unexplained",
               "unmatched after_loss", "mismatch mismatch",
               "mismatch after_loss"} - met
    if missing:
        raise Wrong(f"never tried: {missing}")


def main():
    """The command."""
    args = sys.argv[1:]
    events = N_EVENTS
    if args[:1] == ["--events"]:
        events = int(args[1])
        args = args[2:]
    try:
        if args:
            check(args[0])
        else:
            generated(events)
    except Wrong as e:
        print(f"figures-large.py: {e}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
