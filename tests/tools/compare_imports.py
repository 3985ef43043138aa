# SPDX-License-Identifier: GPL-2.0-or-later
"""Random input files and command lines of kmemtrace-import, for
tests/tools/compare-programs.py."""

import os
import random
import struct

import ctf_files
import damaged_pages
import import_events as ev
import perf_files
import random_captures
import trace_dat_files

CALLCHAIN = 1 << 5
KERNEL, USER = (1 << 64) - 128, (1 << 64) - 512
CHAINS = ((), (USER, 1, 2), (KERNEL, ev.B),
          (KERNEL, ev.B + 4, ev.A + 9, ev.A + 16, ev.B + 32,
           ev.B + 40, USER, 0x401000),
          (KERNEL, *range(ev.A, ev.A + 200)))
FEATURES = (
    (4, perf_files.perf_text("6.1.0-test")), (5, perf_files.perf_text("6.1.9")),
    (6, perf_files.perf_text("x86_64")), (7, struct.pack("<II", 4, 3)),
    (2, perf_files.perf_build_id(bytes(range(20)))),
    (11, perf_files.perf_command("perf", "record", "-a", "-e", "kmem:*")),
    (11, perf_files.perf_command("perf", "record", "-C", "1", "-c", "7")),
    (11, perf_files.perf_command("perf", "record", "-p", "7", "-F", "99")))
WRONG = ("--abi=3", "--abi=x", "--cpus=0", "--cpus=x", "--kallsyms=/nonexistent",
         "--modules=/nonexistent", "--buildid-dir=/nonexistent",
         "--buffer=nothing", "--nothing", "/nonexistent")
NAMES = "".join(f"{address:016x} T {name}\n" for name, address in (
    *ev.SITES.items(), ev.END, ("alloc_pages_noprof", ev.A + 64)))


def random_events(rng):
    """Return events of all tracepoints in order of time."""
    time, found = 1000, []
    for _ in range(rng.choice([1, 10, 200])):
        event = rng.choice(ev.USUAL + ev.MORE)
        time += rng.randrange(500)
        values = dict(event.values)
        if "ptr" in values:
            values["ptr"] = 0xffff888000001000 + 64 * rng.randrange(40)
        if rng.random() < 0.2:
            values["common_pid"] = rng.randrange(9)
        if "name" in values:
            values["name"] = rng.choice(["dentry", "inode cache", "a\\b", ""])
        found.append(ev.Event(event.name, rng.randrange(2), time, values))
    return found


def perf_records(rng, events, chains):
    """Return the records of a perf.data file: samples and some other types."""
    out = perf_files.perf_kernel(ev.A) if rng.random() < 0.3 else b""
    for event in events:
        chain = rng.choice(CHAINS) if chains else None
        out += perf_files.perf_sample(event, chain=chain)
        what = rng.random()
        if what < 0.03:
            out += perf_files.perf_lost(rng.choice([1, 50]), event.cpu,
                                        event.time)
        elif what < 0.06:
            out += perf_files.perf_comm(rng.randrange(9), rng.choice(
                ["a task", "other", "odd\\\n"]), event.time)
        elif what < 0.09:
            out += perf_files.perf_record(perf_files.ROUND, b"")
        elif what < 0.1:
            out += perf_files.perf_other(perf_files.LOST_SAMPLES,
                                         struct.pack("<Q", 8))
    return out


def perf(rng, events):
    """Return a perf.data file or a perf stream, possibly compressed."""
    chains = rng.random() < 0.3
    records = perf_records(rng, events, chains)
    if rng.random() < 0.3:
        records = bytearray(records)
        random_captures.damage_bytes(rng, records)
        records = bytes(records)
    if rng.random() < 0.2:
        # A compressed record has at most 64 KB.
        least = -(-len(records) // 50000)
        records = perf_files.perf_compressed(
            records, max(rng.choice([1, 3, 20]), least), rng.random() < 0.5)
    features = dict(rng.sample(FEATURES, rng.randrange(len(FEATURES))))
    sample_type = perf_files.LAYOUT | (CALLCHAIN if chains else 0)
    period = rng.choice([1, 1, 1, 7])
    layouts = ((2, sample_type, (perf_files.EVENT_ID,), {"period": period}),)
    write = perf_files.perf_pipe if rng.random() < 0.2 else perf_files.perf_data
    return write(records, layouts=layouts, features=features)


def dat_pages(rng, events):
    """Return the pages of two CPUs with some events each; some pages are damaged."""
    cpus = []
    for cpu in (0, 1):
        some, pages = ev.of_cpu(events, cpu), []
        while some:
            n = rng.choice([3, 20, 40])
            page = trace_dat_files.ring_page(some[:n], ev.TRACEPOINTS,
                                   missed=rng.choice([None, None, 5, -1]))
            if rng.random() < 0.05:
                page = damaged_pages.DAMAGE[rng.choice(
                    sorted(damaged_pages.DAMAGE))](page)
            pages.append(page)
            some = some[n:]
        cpus.append(pages)
    return cpus


def dat(rng, events):
    """Return a trace.dat file of version 6 or 7."""
    pages = dat_pages(rng, events)
    options = b"".join(
        trace_dat_files.dat_stats(cpu, unread=rng.choice([0, 50]),
                                  read=len(events),
                                  overrun=rng.choice([0, 0, 9]),
                                  dropped=rng.choice([0, 0, 2]))
        for cpu in (0, 1)) if rng.random() < 0.4 else b""
    names = rng.choice([None, None, b""])
    if rng.random() < 0.5:
        return trace_dat_files.trace_dat(pages, options=options, kallsyms=names,
                               instance=rng.choice([None, ("mine", pages)]))
    buffers = [("", pages)]
    if rng.random() < 0.3:
        buffers.append(("mine", dat_pages(rng, random_events(rng))))
    return trace_dat_files.trace_dat7(
        buffers, rng.choice(["none", "zstd", "zlib"]), options=options,
        kallsyms=names, clock=rng.choice(["local", "mono", "uptime"]))


def ctf(rng, path, events):
    """Write a CTF directory with the names that perf or LTTng uses."""
    os.mkdir(path)
    settings = {"prefix": rng.choice(["{system}:", "{system}_", ""])}
    stream = {}
    if rng.random() < 0.3:
        without = {"common_type", "common_flags", "common_preempt_count",
                   "common_pid"}
        settings["without"] = stream["without"] = without
        settings["context"] = (" event.context := struct { s32 _tid; "
                               "string _procname; };")
        stream["context"] = struct.pack("<i", 9) + b"a name\0"
    if rng.random() < 0.5:
        settings["env"] = {"release": "6.9", "machine": "riscv64",
                           "tracer_name": rng.choice(["perf",
                                                      "lttng-modules"])}
    text = ctf_files.ctf_metadata(ev.TRACEPOINTS, **settings)
    data = {"metadata": ctf_files.ctf_metadata_packets(text)
            if rng.random() < 0.3 else text.encode()}
    for cpu in (0, 1):
        some, packets, discarded = ev.of_cpu(events, cpu), b"", 0
        while some:
            discarded += rng.choice([0, 0, 3])
            packets += ctf_files.ctf_packet(some[:50], ev.TRACEPOINTS, cpu,
                                        discarded, **stream)
            some = some[50:]
        if packets:
            data[f"stream{cpu}"] = packets
    for name, content in data.items():
        if rng.random() < 0.15:
            content = bytearray(content)
            damage(rng, content)
        with open(os.path.join(path, name), "wb") as f:
            f.write(content)


def damage(rng, data):
    """Damage the file; one of six files is truncated."""
    if rng.random() < 0.17:
        del data[rng.randrange(len(data)):]
    else:
        random_captures.damage_bytes(rng, data)


def several_perf(rng, path, events):
    """Write the files of one perf record --switch-output and return their paths."""
    paths, size = [], max(len(events) // 3, 1)
    for n in range(0, len(events), size):
        name = f"{path}.{n // size}"
        with open(name, "wb") as f:
            f.write(perf_files.perf_data(
                perf_records(rng, events[n:n + size], False) +
                perf_files.perf_record(perf_files.ROUND, b""), features={
                    11: perf_files.perf_command("perf", "record", "-a",
                                           "--switch-output", "-e",
                                           "kmem:*")}))
        paths.append(name)
    rng.shuffle(paths)
    return paths


def random_input(seed, path):
    """Write the input of a seed below or beside path.  Returns its kind and the
    words of a command line that name it."""
    rng = random.Random(seed)
    events = random_events(rng)
    kind = rng.choice(["perf", "perf", "perf", "perfs", "dat", "dat", "ctf"])
    if kind == "ctf":
        ctf(rng, path, events)
    elif kind == "perfs":
        return kind, several_perf(rng, path, events)
    else:
        data = bytearray((perf if kind == "perf" else dat)(rng, events))
        if rng.random() < 0.5:
            damage(rng, data)
        with open(path, "wb") as f:
            f.write(data)
    return kind, [path]


def import_options(rng, names):
    """A random command line of kmemtrace-import; names: a file like
    /proc/kallsyms."""
    line = []
    for choice, probability in (
            ("--force", 0.7), ("--quiet", 0.1), ("--cpus=2", 0.2),
            ("--abi=1", 0.15), ("--abi=2", 0.1), ("--buffer=mine", 0.1),
            (f"--kallsyms={names}", 0.3)):
        if rng.random() < probability:
            line.append(choice)
    if rng.random() < 0.04:
        line.append(rng.choice(WRONG))
    return line
