#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced's source bpf on the running kernel, beside its source ftrace: events of
tracepoints that both sources have are recorded equally often, and the paths that the
capture names as not seen agree with what was recorded.

The test needs root and a kernel that loads BPF programs. Without either, the test
prints the reason and exits with status 77. The programs are found through PATH.

    bpf-live.py WORK
"""

import collections
import os
import shutil
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder)
                for folder in ("lib", "vm")]
import capture  # pylint: disable=wrong-import-position
from live_tracefs import (  # pylint: disable=wrong-import-position
    PIPE_ARRAY_BYTES, check, resize_pipes, skip, take_tracefs)

PIPES = 200
MOUNTS = 40
ALL_PERCPU = "all per-CPU memory"


def work(folder):
    """Allocate a known number of objects: the array of each pipe, and the per-CPU
    counters of each mount. Write the number of this process to a file, because other
    processes of this machine may allocate objects of the same sizes."""
    with open(os.path.join(folder, os.pardir, "worker"), "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    resize_pipes(PIPES)
    for _ in range(MOUNTS):
        subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
        subprocess.run(["umount", folder], check=True)


def record(out):
    """Record the work by both sources at the same time; skip the test if this kernel
    loads no BPF programs."""
    folder = os.path.join(out, "mount")
    os.makedirs(folder)
    probe = subprocess.run(["kmemtraced", "-s", "bpf", "-D", os.path.join(out, "probe"),
                            "--", "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        skip("the source bpf cannot be used here: " + probe.stderr.strip())
    inner = ["kmemtraced", "-s", "bpf", "-b", "16384", "-D", os.path.join(out, "bpf"),
             "--", sys.executable, os.path.abspath(__file__), "--work", folder]
    outer = ["unshare", "--mount", "kmemtraced", "-s", "ftrace", "-b", "65536", "-D",
             os.path.join(out, "ftrace"), "--", *inner]
    subprocess.run(outer, check=True)


def counts(directory, worker):
    """Return the number of the arrays of pipes of a process, and the numbers of the
    per-CPU allocations of mount by call site."""
    check(capture.meta(directory)["overruns"] == "0", directory, "lost events")
    names = {int(row[0]) for row in capture.table(directory, "tasks")[0]
             if capture.name(row[-1]) == "mount"}
    pipes, percpu = 0, collections.Counter()
    symbols = capture.Symbols(directory)
    for event in capture.read(directory):
        if event.event_id != capture.ALLOC:
            continue
        kind = capture.TYPES[event.type_id]
        if (kind == "kmalloc" and event.bytes_req == PIPE_ARRAY_BYTES
                and event.pid == worker):
            pipes += 1
        if kind == "percpu" and event.pid in names:
            percpu[symbols.function(event.call_site), event.bytes_req] += 1
    return pipes, percpu


def not_seen(directory):
    """Return the paths that the source does not record."""
    return capture.meta(directory).get("not_seen", "").split(";")


def main():
    """Run the test."""
    if sys.argv[1] == "--work":
        work(sys.argv[2])
        return
    out = os.path.abspath(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    take_tracefs("events/percpu")
    record(out)
    bpf, ftrace = (os.path.join(out, source) for source in ("bpf", "ftrace"))
    with open(os.path.join(out, "worker"), encoding="ascii") as file:
        worker = int(file.read())
    found, expected = counts(bpf, worker), counts(ftrace, worker)
    print("arrays of pipes:", found[0], "per-CPU allocations:", sum(found[1].values()))
    check(PIPES <= found[0] == expected[0], "arrays of pipes:", found[0], expected[0])
    check(sum(expected[1].values()) >= MOUNTS, "ftrace:", expected[1])
    check((ALL_PERCPU in not_seen(bpf)) == (not found[1]), not_seen(bpf), found[1])
    check(found[1] == expected[1], "per-CPU memory:", found[1], expected[1])
    subprocess.run(["kmemtrace-check", bpf], check=True, stdout=subprocess.DEVNULL)


main()
