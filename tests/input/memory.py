#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory and time that large captures need, and the behaviour of the programs
when memory is exhausted."""

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

import large_captures
from import_case import PROGRAM as IMPORT
from import_events import USUAL
from perf_files import perf_data, perf_sample
from target import EMULATED

BUILD = os.environ.get("top_builddir", ".")
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")
WRAPPERS = os.path.join(os.environ.get("top_srcdir", "."), "lib", "symbols",
                        "wrappers.list")
MB = 1 << 20
# Memory that a program may use besides the part that grows with the capture. The
# documented limit is 200 MB; the programs need less here.
BASE = 64 * MB
TIMES = 4
# Limit of CPU time, far above the time of each run; quadratic time would exceed it.
SECONDS = 120

FORMS = [
    ("sites", ""), ("sites", "--leaks"), ("sites", "--histogram size"),
    ("sites", "--fields lifetime-p99"), ("sites", "--windows 1000"),
    ("sites", "--windows 1000 --json"), ("sites", "--leaks --json"),
    ("sites", "--lines 0"), ("sites", "--csv --by function,callsite,size"),
    ("stacks", "--by stack --json"), ("stacks", "--by stack --folded"),
    ("stacks", "--by stack --lines 0"), ("stacks", "--by owner,pid"),
    ("comm", "--by comm,callsite"), ("comm", "--by comm,callsite --json"),
    ("tasks", "--by comm"), ("cpus", "--cross-cpu --json"),
    ("windows", "--windows 20000"), ("windows", "--leaks --windows 100000"),
    ("windows", "--jobs 256"), ("sites", "--advise --json"),
    ("windows", "--advise"), ("cpus", "--advise"),
]

# Sizes that suffice to show the growth.
LARGE = {"sites": 50000, "stacks": 3000, "windows": 50000}
# Few MB with all large parts, so that each allocation can fail.
SMALL = {"sites": 20000, "stacks": 300, "tasks": 50000, "windows": 20000}
LIMITED = [
    ("sites", REPORT, ""), ("sites", REPORT, "--leaks --json --cross-cpu"),
    ("sites", REPORT, "--csv --by function,cache --fields lifetime-p99"),
    ("stacks", REPORT, "--by stack --json"),
    ("stacks", REPORT, "--by owner --folded"),
    ("tasks", REPORT, "--by comm,pid,gfp --jobs 4"),
    ("windows", REPORT, "--windows 20000"), ("windows", REPORT, "--advise"),
    ("sites", CHECK, ""),
    ("stacks", CHECK, "--json"),
]
ALLOCATOR = os.path.join(os.path.abspath(BUILD), "tests", "lib",
                         "preload-malloc.so")
# Limits for each; more find more.
STEPS = int(os.environ.get("STEPS", "6"))


def has_sanitizer():
    """Return whether AddressSanitizer is linked, which needs memory of its own."""
    with open(REPORT, "rb") as f:
        return b"__asan_init" in f.read()


def run(program, options, operands, limit=None):
    """Return (status, bytes of memory, messages). limit: bytes of address space."""
    def set_limit():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    with subprocess.Popen([program, *options.split(), *operands],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          preexec_fn=set_limit,  # pylint: disable=W1509
                          env={**os.environ, "KMEMTRACE_WRAPPERS": WRAPPERS}
                          ) as process:
        messages = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024, messages


class Memory(unittest.TestCase):
    """Limits of memory and time for each kind of large capture."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.sizes = {}

    def capture(self, kind, n=None):
        """Return the directory of a capture."""
        directory = os.path.join(self.folder, kind)
        if kind not in self.sizes:
            self.sizes[kind] = large_captures.make(kind, directory, n)
        return directory

    @unittest.skipIf(has_sanitizer(), "built with a sanitizer")
    @unittest.skipIf(EMULATED, "the memory of QEMU would count")
    def test_bound(self):
        """No form of output needs more memory than TIMES the size of the capture."""
        for kind, options in FORMS:
            with self.subTest(kind=kind, options=options):
                status, memory, said = run(REPORT, "-q " + options,
                                           [self.capture(kind, LARGE.get(kind))])
                self.assertEqual(status, 0, said)
                most = BASE + TIMES * self.sizes[kind]
                self.assertLess(memory, most,
                                f"{memory // MB} MB of {most // MB}")

    def expect_message(self, result, least):
        """Expect a message and exit status 1, or success."""
        status, _, said = result
        if status == -signal.SIGABRT:
            # GLib aborts while it is loaded, before the program begins.
            self.assertRegex(said, "glib.*failed to allocate")
        elif status:
            self.assertEqual(status, 1, said)
            self.assertRegex(said, "memory|cannot allocate|cannot map|"
                             "cannot be loaded|error while loading")
        least.append("out of memory: raise the limit" in said)

    @unittest.skipIf(has_sanitizer(), "built with a sanitizer")
    @unittest.skipIf(EMULATED, "a limit of RLIMIT_AS ends QEMU")
    def test_limit(self):
        """Whichever allocation fails, a message is printed."""
        for kind, program, options in LIMITED:
            directory = self.capture(kind, SMALL[kind])
            low, high = 8 * MB, 16 * MB
            while run(program, options, [directory], high)[0]:
                low, high = high, 2 * high
            # Limits between the loading of the libraries and success.
            met = []
            for i in range(STEPS):
                limit = low // 2 + (high - low // 2) * i // STEPS
                with self.subTest(program=program, kind=kind, options=options,
                                  limit=limit):
                    result = run(program, options, [directory], limit)
                    # The dynamic linker prints messages of its own.
                    if result[0] == 127:
                        continue
                    self.expect_message(result, met)
            self.assertTrue(any(met), f"{program} {options}: never out of "
                            f"memory from {low // 2} to {high}")

    @unittest.skipIf(has_sanitizer(), "built with a sanitizer")
    @unittest.skipIf(EMULATED, "a limit of RLIMIT_AS ends QEMU")
    def test_import(self):
        """A failed import leaves no record."""
        path = os.path.join(self.folder, "perf.data")
        with open(path, "wb") as f:
            f.write(perf_data(b"".join(perf_sample(e) for e in USUAL) * 2000))
        met = []
        for limit in range(8 * MB, 40 * MB, MB // 2):
            out = os.path.join(self.folder, f"out{limit}")
            result = run(IMPORT, "-q", [path, out], limit)
            with self.subTest(limit=limit):
                if result[0] != 127:
                    self.expect_message(result, met)
                left = os.listdir(out) if os.path.exists(out) else []
                self.assertEqual("cpu0.out" in left, not result[0])
        self.assertTrue(any(met), "never out of memory")

    @unittest.skipIf(has_sanitizer(), "built with a sanitizer")
    def test_preloaded_allocator(self):
        """One allocator serves the whole process."""
        capture = self.capture("sites", 100)
        for program, *options in ([REPORT, "--json", "--leaks"], [CHECK]):
            plain, preloaded = (subprocess.run(
                [program, *options, capture], capture_output=True, check=False,
                env={**os.environ, "KMEMTRACE_WRAPPERS": WRAPPERS, **env})
                for env in ({}, {"LD_PRELOAD": ALLOCATOR}))
            self.assertEqual((preloaded.returncode, preloaded.stderr),
                             (plain.returncode, plain.stderr))
            self.assertEqual(preloaded.stdout, plain.stdout)

    def test_symbols_without_end(self):
        """A file or a pipe that is too large for a table of symbols."""
        large = os.path.join(self.folder, "kallsyms")
        with open(large, "wb") as f:
            f.truncate((64 << 20) + 1)
        for path in (large, "/dev/zero"):
            status, memory, said = run(REPORT, "-q --kallsyms " + path,
                                       [self.capture("cpus", 2)])
            self.assertEqual(status, 1)
            self.assertIn("is too large to be a kallsyms", said)
            if not has_sanitizer():
                self.assertLess(memory, 200 * MB)

    def test_windows(self):
        """The number of windows that the message names is accepted; one more is
        refused."""
        for kind, size in (("cpus", 2), ("windows", 400000)):
            capture = self.capture(kind, size)
            status, _, said = run(REPORT, "-q --windows 4000000", [capture])
            self.assertEqual(status, 1)
            room = re.search(r"--windows '4000000': .* room for (\d+) windows",
                             said)
            self.assertTrue(room, said)
            most = int(room[1])
            self.assertGreater(most, 100000)
            status, _, said = run(REPORT, f"--windows {most + 1}", [capture])
            self.assertEqual(status, 1)
            self.assertIn("choose fewer", said)
            status, memory, said = run(REPORT, f"-q --windows {most} --json",
                                       [capture])
            self.assertEqual(status, 0, said)
            self.assertLess(memory, 200 * MB + TIMES * self.sizes[kind])
        self.assertGreater(most, 200000, "the capture's size counts, too")
        status, _, said = run(REPORT, "--windows 4294967296", [capture])
        self.assertEqual(status, 1)
        self.assertIn("not a number from 1 to 4294967294", said)


if __name__ == "__main__":
    sys.exit(unittest.main())
