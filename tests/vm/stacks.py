#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that each record has the stack of its event.

Usage: stacks.py CAPTURE [VMLINUX]

CAPTURE is of version 3, made with kmemtrace.stacks=yes from boot or by kmemtraced
--stacks with BPF programs. Every stack number
must be in the table, nearly every stack must begin with its record's call site,
and known call chains must appear. With VMLINUX, which must have debug
information, kmemtrace-report must print source lines."""
import collections
import json
import os
import re
import subprocess
import sys

import capture
from verdict import failed, holds

# Cache type and callers in this order; other functions may be in between. On Linux 6.1
# the call of __percpu_counter_init() happens at boot.
CHAINS = (("cache", ("__d_alloc", "d_alloc", "do_syscall_64")),
          ("cache", ("vm_area_alloc", "do_mmap", "vm_mmap_pgoff")),
          ("cache", ("copy_process", "kernel_clone")),
          ("kmalloc", ("load_elf_phdrs", "load_elf_binary", "bprm_execve")),
          ("percpu", ("__percpu_counter_init",)),
          ("pages", ("__handle_mm_fault", "handle_mm_fault")))
DEPTH = 32

os.environ.setdefault("KMEMTRACE_WRAPPERS", os.path.join(
    os.path.dirname(__file__), "../../lib/symbols/wrappers.list"))


def read_table(directory):
    """Return {number: addresses}."""
    rows, about = capture.table(directory, "stacks")
    return ({int(number): [int(a, 16) for a in addresses.split(",")]
             for number, addresses in rows}, about)


def is_chain(names, wanted):
    """Return whether names contains the wanted names in this order. Since Linux 6.6
    a function for one counter calls the function for many."""
    rest = iter(names)
    return all(any(name in (want, want + "_many") for name in rest)
               for want in wanted)


def report(*args):
    done = subprocess.run(["kmemtrace-report", *args], check=True,
                          capture_output=True, text=True)
    return done.stdout


def check_source(directory, vmlinux):
    """Check the source lines from debug information."""
    groups = json.loads(report("-q", "--json", "--stacks", "--vmlinux",
                               vmlinux, directory))["groups"]
    frames = [f for g in groups for f in g["stack"]]
    named = sum(f["symbol"] is not None for f in frames)
    lines = sum(f["source"] is not None for f in frames)
    holds("call sites and callers of stacks with a name",
          f"{named} of {len(frames)}", named >= .99 * len(frames))
    holds("with file and line", f"{lines} of {len(frames)}",
          lines >= .97 * len(frames))
    found = {f["source"]["file"] for g in groups for f in g["stack"]
             if f["source"] and (f["symbol"] or "").startswith("copy_process+")}
    holds("the file of copy_process()", found,
          any(name.endswith("kernel/fork.c") for name in found))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    directory = sys.argv[1]
    holds("version", capture.version(directory),
          capture.version(directory) == 3)
    holds("record size", capture.record_size(directory),
          capture.record_size(directory) == 72)
    table, about = read_table(directory)
    symbols = capture.Symbols(directory)
    names = {number: [symbols.function(a) for a in addresses]
             for number, addresses in table.items()}
    holds("stacks in the table", len(table), len(table) > 400)
    deepest = max(map(len, table.values()))
    holds("deepest", deepest, 8 < deepest <= DEPTH)
    counts = collections.Counter()
    found = collections.Counter()
    used = set()
    for e in capture.read(directory):
        counts["records"] += 1
        counts["reserved"] += e.reserved
        if not e.stack:
            counts["none"] += 1
            continue
        if e.stack not in table:
            counts["unknown"] += 1
            continue
        used.add(e.stack)
        counts["at call site"] += table[e.stack][0] == e.call_site
        if e.event_id == capture.ALLOC:
            found[e.stack, capture.TYPES[e.type_id]] += 1
    holds("records", counts["records"], counts["records"] > 10000)
    holds("reserved", counts["reserved"], not counts["reserved"])
    holds("numbers that the table lacks", counts["unknown"],
          not counts["unknown"])
    holds("records without a stack", counts["none"],
          counts["none"] <= counts["records"] / 1000)
    holds("as many as the table says", about["lost"],
          counts["none"] <= int(about["lost"]))
    holds("stacks that begin with the call site", counts["at call site"],
          counts["at call site"] >= .99 * counts["records"])
    holds("stacks used", len(used), len(used) > len(table) / 2)
    from_boot = capture.meta(directory).get("source") == "relay"
    for kind, wanted in CHAINS:
        if kind == "percpu" and not from_boot:
            continue
        n = sum(count for (stack, of), count in found.items()
                if of == kind and is_chain(names[stack], wanted))
        holds(f"{kind}: {' < '.join(wanted)}", n, n > 0)
    folded = report("-q", "--folded", "--stacks", directory).splitlines()
    deep = [line for line in folded
            if re.match(r"cache;.*;do_syscall_64;.*;__d_alloc \d+$", line)]
    holds("whole chains in --folded", len(deep), bool(deep))
    owners = report("-q", "--by", "owner", "--csv", directory)
    holds("owners", owners.count("\n"), "kmem_cache_alloc" not in owners
          and owners.count("\n") > 80)
    if len(sys.argv) == 3:
        check_source(directory, sys.argv[2])
    return failed()


if __name__ == "__main__":
    sys.exit(main())
