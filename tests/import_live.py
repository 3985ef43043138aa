#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on what perf, trace-cmd and perf data convert record of the
machine that this runs on: the same totals as their own tools'.

Needs root, a tracefs, perf, trace-cmd and babeltrace2; what is missing is
skipped by name, and where nothing is left the status is 77.  The programs of
kmemtrace are found through PATH, bench/load in BUILDDIR.

    import_live.py BUILDDIR WORK
"""

import collections
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys

from live import check, skip

TRACEFS = "/sys/kernel/tracing"
ROUNDS = 300
EVENTS = ("kmem/kmalloc", "kmem/kmalloc_node", "kmem/kfree",
          "kmem/kmem_cache_alloc", "kmem/kmem_cache_alloc_node",
          "kmem/kmem_cache_free", "kmem/mm_page_alloc", "kmem/mm_page_free",
          "percpu/percpu_alloc_percpu", "percpu/percpu_free_percpu",
          "vmalloc/alloc_vmap_area", "vmalloc/free_vmap_area_noflush")
# Of the function tracer, which trace-cmd switches though nobody asks for it,
# and some machines forbid; see bench/ftrace.
FUNCTION_TRACER = ("/proc/sys/kernel/ftrace_enabled", "set_ftrace_filter",
                   "set_ftrace_notrace", "set_graph_function",
                   "set_graph_notrace", "set_ftrace_pid",
                   "set_ftrace_notrace_pid")


def run(*argv, **settings):
    """Output of a program that must succeed."""
    result = subprocess.run(argv, capture_output=True, text=True, check=False,
                            **settings)
    check(result.returncode == 0, " ".join(argv), "ended with",
          result.returncode, result.stderr[-2000:], result.stdout[-2000:])
    return result.stdout


def wanted():
    """Options that name the tracepoints that this kernel has."""
    return [word for name in EVENTS
            if os.path.isdir(f"{TRACEFS}/events/{name}")
            for word in ("-e", name.replace("/", ":"))]


def imported(path, out, *options):
    """The report of it, as JSON, which the check finds nothing wrong with."""
    print(run("kmemtrace-import", "-f", *options, path, out))
    run("kmemtrace-check", out)
    return json.loads(run("kmemtrace-report", "--json", out))


def meta(out, key):
    """A key of kmemtrace.meta."""
    with open(os.path.join(out, "kmemtrace.meta"), encoding="utf-8") as f:
        return re.search(f"^{key}=(.*)$", f.read(), re.M).group(1)


def number(text, label):
    """Behind the label."""
    found = re.search(re.escape(label) + r"\s*:\s*([\d,]+)", text)
    check(found, "perf does not tell", label, "in", text[:3000])
    return int(found.group(1).replace(",", ""))


def kinds(report):
    """Figures of each kind."""
    return report["kinds"]


def test_perf(builddir, work):
    """perf.data and perf kmem stat."""
    data = os.path.join(work, "perf.data")
    # Without events that are no allocation, which perf kmem would count.
    run("perf", "record", "-q", "-a", "-m", "16M", "-o", data, *wanted(), "--",
        os.path.join(builddir, "bench/load"), "2", str(ROUNDS), work)
    totals = kinds(imported(data, os.path.join(work, "perf")))
    left_out = int(meta(os.path.join(work, "perf"), "no_memory"))
    slab = run("perf", "kmem", "-i", data, "--slab", "stat")
    pages = run("perf", "kmem", "-i", data, "--page", "stat")
    print(slab, pages[:800], f"{left_out} events of no memory are left out")
    ours = {key: totals["kmalloc"][key] + totals["cache"][key]
            for key in ("bytes_requested", "bytes_allocated", "allocs")}
    theirs = (number(slab, "Total bytes requested"),
              number(slab, "Total bytes allocated"))
    check((ours["bytes_requested"], ours["bytes_allocated"]) == theirs,
          "bytes of slab", ours, theirs)
    calls = int(re.search(r"Cross CPU allocations: [\d,]+/([\d,]+)",
                          slab).group(1).replace(",", ""))
    # It counts failed ones, and those of 0 bytes.
    check(0 <= calls - ours["allocs"] <= left_out, "allocations", calls,
          ours)
    for label, key in (("Total allocation requests", "allocs"),
                       ("Total free requests", "frees")):
        check(number(pages, label) == totals["pages"][key], label,
              totals["pages"])
    check(totals["pages"]["allocs"] > 1000 < ours["allocs"],
          "too little to tell anything")
    return data, totals


def counts_of(lines, pattern):
    """How many events of each name the lines tell."""
    found = collections.Counter()
    for line in lines:
        match = re.search(pattern, line)
        if match:
            found[match.group(1)] += 1
    return found


def judge_counts(report, counts, nothing, what):
    """Of each kind as many as another tool tells."""
    totals = kinds(report)
    expected = {
        ("kmalloc", "allocs"): counts["kmalloc"] + counts["kmalloc_node"],
        ("kmalloc", "frees"): counts["kfree"],
        ("cache", "allocs"): counts["kmem_cache_alloc"] +
        counts["kmem_cache_alloc_node"],
        ("cache", "frees"): counts["kmem_cache_free"],
        ("pages", "allocs"): counts["mm_page_alloc"],
        ("pages", "frees"): counts["mm_page_free"],
        ("percpu", "allocs"): counts["percpu_alloc_percpu"],
        ("percpu", "frees"): counts["percpu_free_percpu"],
        ("vmalloc", "allocs"): counts["alloc_vmap_area"],
        ("vmalloc", "frees"): counts["free_vmap_area_noflush"],
    }
    apart = 0
    for (kind, key), n in expected.items():
        ours = totals[kind][key]
        check(0 <= n - ours <= nothing, what, kind, key, ours, n)
        apart += n - ours
    check(apart == nothing, what, apart, "events are missing, but", nothing,
          "were left out")
    print(f"{what}: {sum(counts.values())} events, {nothing} of no memory: "
          "equal")


def test_ctf(work, data, totals):
    """perf data convert, and babeltrace2's text."""
    if not shutil.which("babeltrace2"):
        print("CTF: skipped: there is no babeltrace2")
        return
    folder = os.path.join(work, "ctf")
    shutil.rmtree(folder, ignore_errors=True)
    result = subprocess.run(
        ["perf", "data", "convert", "-i", data, "--to-ctf", folder],
        capture_output=True, text=True, check=False)
    if result.returncode:
        print("CTF: skipped: this perf does not write it:",
              result.stderr.strip())
        return
    out = os.path.join(work, "from-ctf")
    report = imported(folder, out, "--cpus",
                      str(os.sysconf("SC_NPROCESSORS_CONF")))
    check(kinds(report) == totals, "perf.data and CTF differ", totals,
          kinds(report))
    with subprocess.Popen(["babeltrace2", folder], stdout=subprocess.PIPE,
                          text=True) as text:
        counts = counts_of(text.stdout, r" (?:kmem|percpu|vmalloc):(\w+): ")
    judge_counts(report, counts, int(meta(out, "no_memory")), "CTF")


def cover_function_tracer(empty):
    """In a mount namespace of the new process."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.unshare(0x20000)
    libc.mount(None, b"/", None, 0x4000 | 1 << 18, None)
    for name in FUNCTION_TRACER:
        path = os.path.join(TRACEFS, name)
        if os.path.exists(path):
            libc.mount(empty.encode(), path.encode(), None, 0x1000, None)


def put_back(saved):
    """What trace-cmd leaves in another state."""
    for name, value in {"events/enable": "0", **saved}.items():
        try:
            with open(os.path.join(TRACEFS, name), "w",
                      encoding="ascii") as f:
                f.write(value)
        except OSError:
            pass


def test_trace_dat(builddir, work):
    """trace.dat and trace-cmd report."""
    if not shutil.which("trace-cmd"):
        print("trace.dat: skipped: there is no trace-cmd")
        return
    empty = os.path.join(work, "empty")
    with open(empty, "wb"):
        pass
    saved = {}
    for name in ("tracing_on", "buffer_size_kb"):
        with open(os.path.join(TRACEFS, name), encoding="ascii") as f:
            saved[name] = f.read().split()[0]
    data = os.path.join(work, "trace.dat")
    try:
        result = subprocess.run(
            ["trace-cmd", "record", "-q", "-b", "16384", "-o", data, *wanted(),
             os.path.join(builddir, "bench/load"), "2", str(ROUNDS), work],
            capture_output=True, text=True, check=False,
            preexec_fn=lambda: cover_function_tracer(empty))
    finally:
        put_back(saved)
    if result.returncode or not os.path.exists(data):
        print("trace.dat: skipped: trace-cmd cannot record here:",
              " ".join(result.stderr.split()[-30:]))
        return
    out = os.path.join(work, "from-trace-dat")
    report = imported(data, out)
    with subprocess.Popen(["trace-cmd", "report", "-R", "-i", data],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as text:
        counts = counts_of(text.stdout, r"^ .*?\[\d+\] .*?\d: +(\w+): ")
    check(sum(counts.values()) > 1000, "too few events", counts)
    judge_counts(report, counts, int(meta(out, "no_memory")), "trace.dat")
    sites = [s for s in report["callsites"]
             if s["kind"] in ("kmalloc", "cache")]
    named = [s for s in sites if s["symbol"]]
    check(len(named) > 0.99 * len(sites), len(named), "names of", len(sites))


def main():
    """All that the machine allows."""
    builddir, work = sys.argv[1:]
    if os.geteuid() != 0:
        skip("not root")
    if not os.path.isdir(os.path.join(TRACEFS, "events/kmem")):
        skip(f"no tracefs on {TRACEFS}")
    if not shutil.which("perf"):
        skip("there is no perf: scripts/install-deps bench")
    os.makedirs(work, exist_ok=True)
    probe = subprocess.run(
        ["perf", "record", "-q", "-a", "-e", "kmem:kfree", "-o",
         os.path.join(work, "probe"), "--", "true"], capture_output=True,
        text=True, check=False)
    if probe.returncode:
        skip("perf may not record here: " + " ".join(probe.stderr.split()))
    data, totals = test_perf(builddir, work)
    test_ctf(work, data, totals)
    test_trace_dat(builddir, work)


if __name__ == "__main__":
    main()
