#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures whose figures take much memory for their size.

    large_captures.py KIND DIRECTORY [N]

KIND is one of:
    sites    N allocations (default: 130000), each of another call site, a
             fifth of which are freed
    stacks   N stacks (default: 8500) of 64 addresses, 10 allocations by each
    comm     a task whose name has N bytes (default: 1 MB), 20000 call sites
    tasks    N names of tasks (default: 200000), in lines as short as can be
    cpus     N CPUs (default: 1000), each frees what two others allocated
    windows  N allocations and frees (default: 100000) of 300 call sites
In Python: make() does the same.
"""

import os
import random
import struct
import sys

SIZE = 72
RECORD = struct.Struct("<BBHiQQQQQqIHHII")
assert RECORD.size == SIZE
ALLOC, FREE = 1, 2
CODE = 0xffffffff81000000
DATA = 0xffff888000000000
META = """[capture]
format=1
abi_version=2
record_size=72
byte_order=little
complete=true
overruns=0
"""


def record(event, time, site, ptr, size=0, pid=1, stack=0):
    """Return the bytes of a record of kmalloc."""
    return RECORD.pack(event, 0, SIZE, -1, site, ptr, size, size, 0xcc0, time,
                       pid, 0, 0, stack, 0)


def sites(n):
    """Write records that all have different call sites."""
    lines = []
    for i in range(n):
        lines.append(record(ALLOC, 1000 * i, CODE + 16 * i, DATA + 64 * i,
                            8 + i % 5000))
        if i % 5 == 4:
            lines.append(record(FREE, 1000 * i + 1 + i % 999, CODE,
                                DATA + 64 * (i - 2)))
    return {"cpu0.out": b"".join(lines)}


def stacks(n):
    """Write many stacks that differ in one address."""
    tail = ",".join(f"{CODE + 256 * i:x}" for i in range(63))
    table = "".join(f"{i + 1} {CODE + 0x1000000 + 16 * i:x},{tail}\n"
                    for i in range(n))
    lines = [record(ALLOC, 1000 * i, CODE + 0x1000000, DATA + 64 * i, 64,
                    stack=i % n + 1) for i in range(10 * n)]
    return {"cpu0.out": b"".join(lines),
            "stacks": ("# kmemtrace: stacks\n# columns: number addresses\n"
                       + table).encode()}


def comm(n):
    """Write one long name of a task."""
    lines = [record(ALLOC, 1000 * i, CODE + 16 * i, DATA + 64 * i, 64)
             for i in range(20000)]
    return {"cpu0.out": b"".join(lines),
            "tasks": b"# kmemtrace: tasks\n# columns: pid until name\n1 - "
            + b"x" * n + b"\n"}


def tasks(n):
    """Write a long table of tasks."""
    lines = [record(ALLOC, 1000 * i, CODE + 16 * (i % 100), DATA + 64 * i, 64,
                    pid=i + 1) for i in range(1000)]
    table = "".join(f"{i} - a\n" for i in range(n, 0, -1))
    return {"cpu0.out": b"".join(lines),
            "tasks": f"# kmemtrace: tasks\n# columns: pid until name\n{table}"
            .encode()}


def cpus(n):
    """Write few records of many CPUs, freed on other CPUs."""
    files = {}
    for cpu in range(n):
        lines = [record(ALLOC, 1000 + cpu, CODE + 16 * cpu,
                        DATA + 64 * (3 * cpu + i), 64) for i in range(3)]
        for i in range(2):
            other = (cpu * 7 + 13 * i + 1) % n
            lines.append(record(FREE, 10 ** 9 + cpu, CODE,
                                DATA + 64 * (3 * other + i)))
        files[f"cpu{cpu}.out"] = b"".join(lines)
    return files


def windows(n):
    """Write allocations of alternating call sites."""
    rng = random.Random(1)
    lines = []
    for i in range(n):
        event = ALLOC if i % 2 == 0 else FREE
        lines.append(record(event, 1000 * i + rng.randrange(900),
                            CODE + 16 * rng.randrange(300),
                            DATA + 64 * (i // 2), 64))
    return {"cpu0.out": b"".join(lines)}


KINDS = {"sites": (sites, 130000), "stacks": (stacks, 8500),
         "comm": (comm, 10 ** 6), "tasks": (tasks, 200000),
         "cpus": (cpus, 1000), "windows": (windows, 100000)}


def make(kind, directory, n=None):
    """Write a capture of a kind into a new directory; return its size."""
    function, default = KINDS[kind]
    files = function(n or default)
    files["kmemtrace.meta"] = META.encode()
    os.mkdir(directory)
    for name, data in files.items():
        with open(os.path.join(directory, name), "wb") as f:
            f.write(data)
    return sum(len(data) for data in files.values())


def main():
    """Run the command line."""
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in KINDS:
        print(__doc__, file=sys.stderr)
        return 1
    print(make(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])), "bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
