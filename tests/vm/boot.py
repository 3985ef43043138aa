#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge the capture of a boot that vm/scenarios/boot-recorded.sh saved.

Usage: boot.py FOLDER [--initrd-systemd]

The recording must begin before the first process of the root file system and end after
it. The report must have the peaks of the modules that the initramfs loads, and each
peak of slab objects must be the one that this program computes from the records. With
--initrd-systemd, systemd also runs in the initramfs, and must start after the
beginning."""
import collections
import heapq
import json
import os
import re
import subprocess
import sys

import capture
from reference_names import Symbols

# The system cannot mount its root file system without these.
MODULES = ("ext4", "virtio_blk")


def say(text):
    print("boot.py:", text)


def times(folder):
    """Return the times of systemd's start in seconds since the boot, by name."""
    with open(os.path.join(folder, "systemd")) as file:
        return {key.removesuffix("TimestampMonotonic"): int(value) / 1e6
                for key, value in re.findall(r"^(\w+)=(\d+)$", file.read(), re.M)}


def report(directory):
    """Return the document of the report by module."""
    done = subprocess.run(
        ["kmemtrace-report", "--by", "module", "--json", "-l", "0", directory],
        capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def module_finder(directory):
    """Return a function that returns the module of a return address, or None."""
    texts = []
    for name in "kallsyms", "modules":
        with open(os.path.join(directory, name)) as file:
            texts.append(file.read())
    symbols = Symbols(*texts)
    known = {}

    def find(site):
        if site not in known:
            symbol = symbols.symbol(site)
            known[site] = symbol[1] if symbol else None
        return known[site]
    return find


def records(directory, cpu):
    """Yield (time, event, type, call site, address, bytes) of each record of a CPU."""
    with open(os.path.join(directory, f"cpu{cpu}.out"), "rb") as file:
        data = file.read()
    for fields in capture.record_struct(directory).iter_unpack(data):
        if fields[0] in (capture.ALLOC, capture.FREE):
            yield (fields[9], fields[0], fields[1], fields[4], fields[5],
                   fields[7])


def slab_peaks(directory, module_of):
    """Return {module: (allocations, peak in bytes)} of slab objects."""
    slab = {capture.TYPES.index(name) for name in capture.SLAB}
    owners = {}
    live, peak = collections.Counter(), collections.Counter()
    allocs = collections.Counter()

    for _, event, kind, site, pointer, size in heapq.merge(
            *(records(directory, cpu) for cpu in capture.cpus(directory)),
            key=lambda record: record[0]):
        if kind not in slab:
            continue
        owner, its_size = owners.pop(pointer, (None, 0))
        if owner:
            live[owner] -= its_size
        if event == capture.ALLOC and module_of(site):
            owner = module_of(site)
            owners[pointer] = owner, size
            allocs[owner] += 1
            live[owner] += size
            peak[owner] = max(peak[owner], live[owner])
    return {name: (allocs[name], peak[name]) for name in allocs}


def main():
    folder = sys.argv[1]
    directory = os.path.join(folder, "capture")
    failures = []

    def demand(condition, text):
        say(("" if condition else "FAILED: ") + text)
        if not condition:
            failures.append(text)

    meta = capture.meta(directory)
    document = report(directory)
    start, end = (document["capture"][key] / 1e9
                  for key in ("first_timestamp", "last_timestamp"))
    systemd = times(folder)
    demand(meta["complete"] == "true", "the capture is complete")
    demand(start < systemd["Userspace"] < end,
           f"recorded from {start:.3f} to {end:.3f} s; systemd of the root file "
           f"system began at {systemd['Userspace']:.3f} s")
    if "--initrd-systemd" in sys.argv:
        demand(systemd["InitRD"] > 0,
               f"systemd of the initramfs began at {systemd['InitRD']:.3f} s")
    peaks = collections.defaultdict(dict)
    for group in document["groups"]:
        if group["peak_bytes_allocated"]:
            peaks[group["module"]][group["kind"]] = group
    say(f"modules with peaks: {len(peaks)}")
    expected = slab_peaks(directory, module_finder(directory))
    for module in MODULES:
        demand(module in peaks, f"{module} has a peak: " + ", ".join(
            f"{kind} {group['peak_bytes_allocated']}"
            for kind, group in peaks[module].items()))
    for module, figures in sorted(expected.items()):
        group = peaks[module].get("slab", {})
        found = group.get("allocs"), group.get("peak_bytes_allocated")
        demand(found == figures, f"slab objects of {module}: allocations and peak "
               f"{found}, expected {figures}")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main())
