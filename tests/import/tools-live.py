#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare kmemtrace-import with perf, trace-cmd and babeltrace2 on recordings of
this machine: the totals must be equal.

The test needs root, tracefs (mounted in a private namespace if necessary), perf,
trace-cmd and babeltrace2.  A missing tool is named and its part is skipped; if
nothing is left, the exit status is 77.  The programs of kmemtrace are found
through PATH, bench/load in BUILDDIR.

    tools-live.py BUILDDIR WORK
    tools-live.py --load N PROGRAM...    a program, then N large kmalloc()
"""

import collections
import ctypes
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

from live_tracefs import TRACEFS, check, resize_pipes, skip, take_tracefs

ROUNDS = 300
RESIZES = 200
# Functions that report a large kmalloc() of their callers a second time.
INNER = re.compile(r"(__do_kmalloc_node|__kv?malloc_node_noprof|"
                   r"__kmalloc(_node_track_caller|_flags)?_noprof)\b")
KMALLOC_LINE = re.compile(
    r"^ *(\d+ +\[\d+\]) .*:kmalloc: call_site=(\S+) "
    r"(ptr=\S+ bytes_req=(\d+) bytes_alloc=(\d+) .*)")
EVENTS = ("kmem/kmalloc", "kmem/kmalloc_node", "kmem/kfree",
          "kmem/kmem_cache_alloc", "kmem/kmem_cache_alloc_node",
          "kmem/kmem_cache_free", "kmem/mm_page_alloc", "kmem/mm_page_free",
          "percpu/percpu_alloc_percpu", "percpu/percpu_free_percpu",
          "vmalloc/alloc_vmap_area", "vmalloc/free_vmap_area_noflush")
# Settings of the function tracer. trace-cmd changes them without need, and some
# machines forbid that; see bench/ftrace.
FUNCTION_TRACER = ("/proc/sys/kernel/ftrace_enabled", "set_ftrace_filter",
                   "set_ftrace_notrace", "set_graph_function",
                   "set_graph_notrace", "set_ftrace_pid",
                   "set_ftrace_notrace_pid")


def run(*argv, **settings):
    """Return the output of a program that must succeed."""
    result = subprocess.run(argv, capture_output=True, text=True, check=False,
                            **settings)
    check(result.returncode == 0, " ".join(argv), "ended with",
          result.returncode, result.stderr[-2000:], result.stdout[-2000:])
    return result.stdout


def wanted():
    """Return options that name the tracepoints that this kernel has."""
    return [word for name in EVENTS
            if os.path.isdir(f"{TRACEFS}/events/{name}")
            for word in ("-e", name.replace("/", ":"))]


def imported(path, out, *options):
    """Import a recording, check the capture, and return the report as JSON."""
    print(run("kmemtrace-import", "-f", *options, path, out))
    run("kmemtrace-check", out)
    return json.loads(run("kmemtrace-report", "--json", out))


def meta(out, key):
    """Return the value of a key of kmemtrace.meta."""
    with open(os.path.join(out, "kmemtrace.meta"), encoding="utf-8") as f:
        return re.search(f"^{key}=(.*)$", f.read(), re.M).group(1)


def number(text, label):
    """Return the number that follows a label."""
    found = re.search(re.escape(label) + r"\s*:\s*([\d,]+)", text)
    check(found, "perf does not tell", label, "in", text[:3000])
    return int(found.group(1).replace(",", ""))


def kinds(report):
    """Return the figures of each kind."""
    return report["kinds"]


def loaded(*program):
    """Return a command that runs a program, and makes large allocations."""
    return [sys.executable, sys.argv[0], "--load", str(RESIZES), *program]


def duplicates(*paths):
    """Return number, requested and allocated bytes of the large kmalloc() that
    perf script prints twice in succession for a task, with two call sites."""
    last, sums = {}, [0, 0, 0]
    for path in paths:
        for line in run("perf", "script", "-i", path, "-F",
                        "tid,cpu,event,trace").splitlines():
            found = KMALLOC_LINE.match(line)
            if not found:
                continue
            task, site, fields, requested, allocated = found.groups()
            if int(allocated) > 8192 and \
                    last.get(task, (site, fields))[0] != site and \
                    last[task][1] == fields:
                for i, n in enumerate((1, int(requested), int(allocated))):
                    sums[i] += n
            last[task] = (site, fields)
    return sums


def test_perf(builddir, work):
    """Compare perf.data with perf kmem stat."""
    data = os.path.join(work, "perf.data")
    # Record only allocations and frees, because perf kmem counts other events as
    # well.
    run("perf", "record", "-q", "-a", "-m", "16M", "-o", data, *wanted(), "--",
        *loaded(os.path.join(builddir, "bench/load"), "2", str(ROUNDS), work))
    totals = kinds(imported(data, os.path.join(work, "perf")))
    left_out = int(meta(os.path.join(work, "perf"), "no_memory"))
    twice, requested, allocated = duplicates(data)
    check(twice == int(meta(os.path.join(work, "perf"),
                            "kmalloc_duplicates")), "duplicates", twice,
          meta(os.path.join(work, "perf"), "kmalloc_duplicates"))
    check(twice == 0 or twice >= RESIZES, twice, "of", RESIZES, "duplicates")
    print(f"{twice} large allocations were reported twice")
    slab = run("perf", "kmem", "-i", data, "--slab", "stat")
    pages = run("perf", "kmem", "-i", data, "--page", "stat")
    print(slab, pages[:800], f"{left_out} events of no memory are left out")
    ours = {key: totals["kmalloc"][key] + totals["cache"][key]
            for key in ("bytes_requested", "bytes_allocated", "allocs")}
    # perf kmem counts both events of a large kmalloc().
    theirs = (number(slab, "Total bytes requested") - requested,
              number(slab, "Total bytes allocated") - allocated)
    check((ours["bytes_requested"], ours["bytes_allocated"]) == theirs,
          "bytes of slab", ours, theirs)
    calls = int(re.search(r"Cross CPU allocations: [\d,]+/([\d,]+)",
                          slab).group(1).replace(",", ""))
    # perf kmem counts failed allocations and those of 0 bytes.
    check(0 <= calls - twice - ours["allocs"] <= left_out, "allocations",
          calls, twice, ours)
    for label, key in (("Total allocation requests", "allocs"),
                       ("Total free requests", "frees")):
        check(number(pages, label) == totals["pages"][key], label,
              totals["pages"])
    check(totals["pages"]["allocs"] > 1000 < ours["allocs"],
          "too little to tell anything")
    return data, totals


def script_counts(*paths):
    """Return the number of events of each name that perf script prints."""
    found = collections.Counter()
    for path in paths:
        found += counts_of(run("perf", "script", "-i", path, "-F",
                               "event").splitlines(),
                           r"(?:kmem|percpu|vmalloc):(\w+):")
    return found


def recorded(work, name, options, load):
    """Run perf record with options; return the paths of the files. An empty list:
    perf lacks the options."""
    folder = os.path.join(work, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    data = os.path.join(folder, "perf.data")
    to_pipe = "-o" in options
    with open(data if to_pipe else os.devnull, "wb") as out:
        result = subprocess.run(
            ["perf", "record", "-q", "-a", "-m", "8M", *wanted(), *options,
             *([] if to_pipe else ["-o", data]), "--", *load], stdout=out,
            stderr=subprocess.PIPE, check=False)
    if result.returncode:
        print(f"{name}: skipped: this perf refuses", *options, ":",
              result.stderr.decode()[-300:])
        return []
    return sorted(os.path.join(folder, n) for n in os.listdir(folder))


def test_forms(builddir, work):
    """Each form of a recording has the events that perf script prints."""
    load = loaded(os.path.join(builddir, "bench/load"), "1", "20", work)
    for name, options in (("compressed", ["-z"]), ("pipe", ["-o", "-"]),
                          ("threads", ["--threads"]),
                          ("threads-z", ["--threads", "-z"]),
                          ("callchains", ["-g"]),
                          ("switched", ["--switch-output=1M"])):
        paths = recorded(work, name, options, load)
        if not paths:
            continue
        out = os.path.join(work, "from-" + name)
        report = imported(paths[0], out, *paths[1:])
        judge_counts(report, script_counts(*paths), out, name,
                     duplicates(*paths)[0])
        if name == "callchains":
            test_callchains(paths[0], out, report)


def script_stacks(path):
    """Yield (event, kernel addresses of its callchain) from perf script."""
    name, stack, is_user = None, [], False
    for line in run("perf", "script", "-i", path, "-F",
                    "event,ip").splitlines() + ["x:end:"]:
        found = re.match(r"\s*\w+:(\w+):", line)
        if found:
            if name:
                yield name, stack
            name, stack, is_user = found.group(1), [], False
        elif line.strip():
            address = int(line.split()[0], 16)
            # Addresses after a user address are not valid.
            is_user = is_user or not address >> 63
            if not is_user:
                stack.append(address)


def kernel_part(addresses):
    """Return the addresses up to the first one of user space. The kernel's unwinder
    may continue into a user stack by mistake."""
    return tuple(itertools.takewhile(lambda a: a >> 63, addresses))


def test_callchains(path, out, report):
    """The end of each stack agrees with perf script, and pages have callers."""
    ends = collections.defaultdict(set)
    for name, stack in script_stacks(path):
        for n in range(len(stack)):
            ends[name.startswith("mm_page")].add(tuple(stack[n:]))
    known = ends[True] | ends[False]
    with open(os.path.join(out, "stacks"), encoding="ascii") as f:
        ours = [kernel_part(int(a, 16) for a in line.split()[1].split(","))
                for line in f if not line.startswith("#")]
    check(ours and all(s in known for s in ours), "a stack that perf script "
          "does not print")
    pages = [s for s in report["callsites"] if s["kind"] == "pages"]
    named = [s for s in pages if s["symbol"]]
    inner = [s["symbol"] for s in named
             if re.match("(__)?(alloc|free)_(frozen_)?(pages|unref)", s["symbol"])]
    check(len(named) > 0.9 * len(pages) > 0, "callers of pages", len(named),
          len(pages))
    check(not inner, "call sites within the page allocator", inner[:5])
    print(f"callchains: {len(ours)} stacks, {len(named)} callers of pages")


def test_partial(work):
    """The capture of a partial recording is marked as incomplete."""
    data = os.path.join(work, "partial.data")
    out = os.path.join(work, "partial")
    for options in (["-a", "-c", "10"], ["-a", "-F", "99"], ["-C", "0"], [],
                    ["-a", "--filter", "common_pid != 0"]):
        run("perf", "record", "-q", "-e", "kmem:kfree", *options, "-o", data,
            "--", "ls", "-R", "/usr/include")
        report = imported(data, out)["capture"]
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        check(report["incomplete"] or (options == ["-C", "0"] and cpus == 1),
              options, "is not incomplete")
        check(report["loss"] in ("unknown", "events"), options, report["loss"])
        print(*options, report["incomplete"])


def counts_of(lines, pattern):
    """Count the events of each name in lines of text."""
    found = collections.Counter()
    for line in lines:
        match = re.search(pattern, line)
        if match:
            found[match.group(1)] += 1
    return found


def judge_counts(report, counts, out, what, twice):
    """Compare the number of events of each kind with that of another tool. twice:
    large allocations that the kernel reported twice."""
    totals = kinds(report)
    nothing = int(meta(out, "no_memory"))
    check(int(meta(out, "kmalloc_duplicates")) == twice, what, "duplicates",
          meta(out, "kmalloc_duplicates"), twice)
    expected = {
        ("kmalloc", "allocs"): counts["kmalloc"] + counts["kmalloc_node"] -
        twice,
        # Since Linux 6.4 kfree() also frees objects of caches, which the report
        # counts as frees of cache.
        ("slab", "frees"): counts["kfree"] + counts["kmem_cache_free"],
        ("cache", "allocs"): counts["kmem_cache_alloc"] +
        counts["kmem_cache_alloc_node"],
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
    """Compare perf data convert with the output of babeltrace2."""
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
    judge_counts(report, counts, out, "CTF", duplicates(data)[0])


def cover_function_tracer(empty):
    """Hide the settings of the function tracer in a mount namespace of the new
    process."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.unshare(0x20000)
    libc.mount(None, b"/", None, 0x4000 | 1 << 18, None)
    for name in FUNCTION_TRACER:
        path = os.path.join(TRACEFS, name)
        if os.path.exists(path):
            libc.mount(empty.encode(), path.encode(), None, 0x1000, None)


def put_back(saved):
    """Restore the settings that trace-cmd changes."""
    for name, value in {"events/enable": "0", **saved}.items():
        try:
            with open(os.path.join(TRACEFS, name), "w",
                      encoding="ascii") as f:
                f.write(value)
        except OSError:
            pass


def record_trace_dat(builddir, work, data, rounds, *options):
    """Run trace-cmd record; return whether it could record."""
    empty = os.path.join(work, "empty")
    with open(empty, "wb"):
        pass
    saved = {}
    for name in ("tracing_on", "buffer_size_kb", "options/stacktrace"):
        with open(os.path.join(TRACEFS, name), encoding="ascii") as f:
            saved[name] = f.read().split()[0]
    try:
        result = subprocess.run(
            ["trace-cmd", "record", "-q", *options, "-b", "16384", "-o", data,
             *wanted(), *loaded(os.path.join(builddir, "bench/load"), "2",
                                str(rounds), work)],
            capture_output=True, text=True, check=False,
            preexec_fn=lambda: cover_function_tracer(empty))
    finally:
        put_back(saved)
    if result.returncode or not os.path.exists(data):
        print("trace.dat: skipped: trace-cmd cannot record here:",
              " ".join(result.stderr.split()[-30:]))
        return False
    return True


def test_trace_stacks(builddir, work):
    """With trace-cmd record -T, nearly all events have a stack."""
    data = os.path.join(work, "stacks.dat")
    out = os.path.join(work, "from-stacks-dat")
    if not record_trace_dat(builddir, work, data, 5, "-T"):
        return
    report = imported(data, out)
    with open(os.path.join(out, "stacks"), encoding="ascii") as f:
        text = f.read()
    lost = int((re.findall("# lost: (.*)", text) or ["0"])[0])
    events = report["capture"]["events"]
    check(events > 1000, "too few events", events)
    check(lost < events / 100, lost, "of", events, "events have no stack")
    pages = [s for s in report["callsites"] if s["kind"] == "pages"]
    inner = [s["symbol"] for s in pages if s["symbol"] and re.match(
        "(__)?(alloc|free)_(frozen_)?(pages|unref)|trace_event", s["symbol"])]
    check(pages and not inner, "call sites within the page allocator", inner)
    print(f"trace.dat with stacks: {events} events, {lost} without")


def test_trace_dat(builddir, work):
    """Compare trace.dat with trace-cmd report."""
    data = os.path.join(work, "trace.dat")
    if not shutil.which("trace-cmd"):
        print("trace.dat: skipped: there is no trace-cmd")
        return
    if not record_trace_dat(builddir, work, data, ROUNDS):
        return
    test_trace_stacks(builddir, work)
    out = os.path.join(work, "from-trace-dat")
    report = imported(data, out)
    with subprocess.Popen(["trace-cmd", "report", "-R", "-i", data],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as text:
        counts = counts_of(text.stdout, r"^ .*?\[\d+\] .*?\d: +(\w+): ")
    check(sum(counts.values()) > 1000, "too few events", counts)
    twice = int(meta(out, "kmalloc_duplicates"))
    check(twice == 0 or twice >= RESIZES, twice, "of", RESIZES, "duplicates")
    judge_counts(report, counts, out, "trace.dat", twice)
    inner = [s["symbol"] for s in report["callsites"] if s["symbol"] and
             INNER.match(s["symbol"])]
    check(not inner, "call sites within kmalloc()", inner)
    sites = [s for s in report["callsites"]
             if s["kind"] in ("kmalloc", "cache")]
    named = [s for s in sites if s["symbol"]]
    check(len(named) > 0.99 * len(sites), len(named), "names of", len(sites))


def main():
    """Run all parts that the machine permits."""
    if sys.argv[1] == "--load":
        subprocess.run(sys.argv[3:], check=True)
        resize_pipes(int(sys.argv[2]))
        return
    builddir, work = sys.argv[1:]
    take_tracefs("events/kmem")
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
    test_forms(builddir, work)
    test_partial(work)
    test_ctf(work, data, totals)
    test_trace_dat(builddir, work)


if __name__ == "__main__":
    main()
