# SPDX-License-Identifier: GPL-2.0-or-later
"""Common code of the benchmarks that count instructions in a guest."""

import collections
import os
import re
import subprocess

from benchlib import BenchError

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Fragments of the kernels for the scenario cost.
COST_FRAGMENTS = ("slub", "ftrace", "cost", "debuginfo")
ARCHITECTURES = ("x86_64", "arm64")
# The instruction by which modules read the counter, and the addresses of modules.
COUNTERS = {"x86_64": ("rdtsc", "ffffffffa0000000-ffffffffff000000"),
            "arm64": ("cntvct_el0", "ffff800000000000-ffff800008000000")}
# Columns and rows of the scenario cost.
TRACERS = ("off", "kmemtrace", "ftrace", "ftrace_stacks")


def add_kernel_options(parser):
    """Add the options that select a kernel of vm/build."""
    parser.add_argument("--linux", metavar="VERSION", default="6.1",
                        help="version of the kernel: 6.1, 6.12, or newest "
                        "(default: 6.1)")
    parser.add_argument("--arch", choices=ARCHITECTURES, default="x86_64",
                        help="architecture of the kernel (default: x86_64)")


def call(argv, what):
    """Run a script of vm/ and return its stdout."""
    result = subprocess.run(argv, stdout=subprocess.PIPE, text=True,
                            check=False)
    if result.returncode:
        raise BenchError(f"{what} failed with status {result.returncode}: "
                         "see above")
    return result.stdout


def build(linux, arch, *fragments, modules=()):
    """Build a kernel and return its folder."""
    argv = [os.path.join(TOP, "vm/build"), "--linux", linux, "--arch", arch]
    for module in modules:
        argv += ["--module", os.path.join(TOP, "vm", module)]
    return call(argv + list(fragments), "vm/build").strip()


def release(kernel, suffix=False):
    """Return the release of a kernel that vm/build has built, such as 6.1.192, or
    with its suffix as uname prints it."""
    path = os.path.join(kernel, "include/config/kernel.release")
    try:
        with open(path, encoding="utf-8") as f:
            name = f.read().strip()
    except OSError as e:
        raise BenchError(f"cannot read {path}: {e.strerror}: name a directory "
                         "that vm/build printed") from e
    return name if suffix else name.partition("-")[0]


def boot(kernel, scenario, append="", options=(), timeout=900, arch="x86_64"):
    """Boot a kernel with --icount, run a scenario of vm/scenarios, and return the
    console."""
    if arch != "x86_64":
        options = ["--arch", arch, *options]
    result = subprocess.run(
        [os.path.join(TOP, "vm/run"), "--icount", "--verbose", "--timeout",
         str(timeout), "--kernel", kernel, "--append",
         "kmemtrace.enable=no " + append, *options,
         os.path.join(TOP, "vm/scenarios", scenario)],
        stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise BenchError(f"vm/run failed with status {result.returncode}: "
                         f"{result.stderr[-2000:]}")
    return result.stderr


def plugin_version():
    """Return the version of the plugin interface that QEMU supports."""
    text = subprocess.run(["qemu-system-x86_64", "--version"],
                          capture_output=True, text=True, check=False).stdout
    match = re.search(r"version (\d+)", text)
    major = int(match[1]) if match else 0
    return 1 if major < 9 else 2 if major == 9 else 4


def compile_plugin(scratch):
    """Compile the plugin and return its path."""
    path = scratch.join("profile.so")
    source = os.path.join(TOP, "bench/profile.c")
    call(["cc", "-O2", "-shared", "-fPIC", f"-DPLUGIN_VERSION={plugin_version()}",
          "-o", path, source], "cc")
    return path


def plugin_option(scratch, out, rounds, arch):
    """Compile bench/profile.c, and return the option of QEMU that loads it."""
    name, modules = COUNTERS[arch]
    return (f"-plugin {compile_plugin(scratch)},out={out},rounds={rounds},"
            f"counter={name},modules={modules}")


def read_counts(path):
    """Return {run: Counter of executions by address} from a file of the plugin."""
    runs = collections.defaultdict(collections.Counter)
    with open(path, encoding="utf-8") as f:
        for line in f:
            run, address, n = line.split()
            runs[int(run)][int(address, 16)] = int(n)
    return runs


def parse_costs(console, tracers=TRACERS):
    """Return the size of a record (None without kmemtrace) and the figures
    {(tracer, workload): (instructions, events)} of the scenario cost, or of another
    one with these tracers."""
    figures = {}
    record = None
    for line in console.splitlines():
        match = re.match(r"cost: (\w+) (\w+) (\d+) (\d+)\s*$", line)
        if match and match[1] in tracers:
            figures[match[1], match[2]] = int(match[3]), int(match[4])
        match = re.match(r"cost: record (\d+)\s*$", line)
        if match:
            record = int(match[1])
    if not figures:
        raise BenchError("the guest printed no figures")
    return record, figures


def costs(figures, tracer, base=None):
    """Return {workload: instructions per event} above the same workload without
    tracing, or above the instructions in base."""
    base = base or {w: ticks for (t, w), (ticks, _) in figures.items()
                    if t == "off"}
    return {w: (ticks - base[w]) / events
            for (t, w), (ticks, events) in figures.items()
            if t == tracer and events}


def mean(values):
    """Return the mean over the workloads with equal weights."""
    return sum(values.values()) / len(values)
