#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on valid and invalid CTF, and its options for any input."""

import os
import re
import struct
import subprocess
import unittest

from ctf_files import ctf_metadata, ctf_metadata_packets, ctf_packet
from import_case import (CHECK, PROGRAM, TOP_SRCDIR, ImportTest,
                         has_address_sanitizer, lacks, main)
from import_events import (A, MORE, TRACEPOINTS, USUAL, Event, Field,
                           more_records, of_cpu)
from perf_files import perf_data, perf_sample
from target import EMULATED


def kfree(when, ptr=0xffff888000009000):
    """Return a free."""
    return Event("kfree", 0, when, {"call_site": A, "ptr": ptr})


class Ctf(ImportTest):
    """A directory of CTF."""

    def trace(self, streams, name="ctf", metadata=None, **settings):
        """Write a CTF trace directory and return its path. streams: the bytes of
        each stream."""
        self.write(f"{name}/metadata", ctf_metadata(TRACEPOINTS, **settings)
                   if metadata is None else metadata)
        for number, stream in enumerate(streams):
            self.write(f"{name}/stream{number}", stream)
        return self.path(name)

    def usual(self, **settings):
        """Return a stream for each CPU."""
        return [ctf_packet(of_cpu(USUAL, cpu), TRACEPOINTS, cpu, **settings)
                for cpu in (0, 1)]

    def test_usual(self):
        """Event names in the forms of perf and of LTTng."""
        for prefix in ("{system}:", "{system}_", ""):
            said = self.imported(self.trace(self.usual(), prefix=prefix), "-f")
            self.assert_usual()
            self.assertIn("7 events of 2 CPUs, 0 lost", said)
            self.assertIn("--kallsyms", said)
            meta = self.meta()
            self.assertEqual((meta["imported_from"], meta["clock"]),
                             ("CTF", "CTF"))
            self.assertIn("7 - :7\n", self.text("tasks"))

    def test_byte_orders(self):
        """The packets have either byte order; the records have this machine's."""
        for order in "<>":
            self.imported(self.trace(self.usual(order=order), order=order),
                          "-f")
            self.assert_usual()

    def test_percpu_and_vmalloc(self):
        """The trace does not contain the number of CPUs."""
        path = self.trace([ctf_packet(MORE, TRACEPOINTS)])
        self.imported(path)
        self.assertEqual(self.records(0), more_records(100))
        self.assertIn("--cpus", self.meta()["not_seen"])
        self.imported(path, "-f", "--cpus", "2")
        self.assertEqual(self.records(0), more_records(48))
        self.assertNotIn("--cpus", self.meta()["not_seen"])

    def test_below(self):
        """The directory of a session contains the directories of its traces."""
        self.trace(self.usual(), "session/kernel/one")
        self.imported(self.path("session"))
        self.assert_usual()

    def test_links(self):
        """A trace that has two names is read once."""
        self.trace(self.usual(), "session/one")
        os.symlink("one", self.path("session/latest"))
        os.symlink(".", self.path("session/again"))
        os.symlink("nowhere", self.path("session/gone"))
        self.imported(self.path("session"))
        self.assert_usual()

    def test_trace_in_a_trace(self):
        """A directory with a file metadata is one trace; directories below are
        ignored."""
        path = self.trace(self.usual(), "session/one")
        self.trace(self.usual(), "session/one/index")
        self.assertIn("7 events of 2 CPUs",
                      self.imported(self.path("session"), "-f"))
        self.assert_usual()
        self.imported(path, "-f")
        self.assert_usual()

    def test_lttng(self):
        """LTTng stores the pid and name of a task in a context."""
        fields = {"common_type", "common_flags", "common_preempt_count",
                  "common_pid"}
        context = " event.context := struct { s32 _tid; string _procname; };"
        given = struct.pack("<i", 9) + b"a name\0"
        stream = ctf_packet([kfree(10)], TRACEPOINTS, without=fields,
                            context=given)
        path = self.trace([stream], prefix="kmem_", context=context,
                          without=fields)
        self.imported(path)
        self.assertEqual(self.records(0)[0][10], 9)
        self.assertIn("9 - a name\n", self.text("tasks"))
        self.assertNotIn("which task", self.meta()["not_seen"])
        bare = self.trace([ctf_packet([kfree(10)], TRACEPOINTS,
                                      without=fields)], "bare",
                          without=fields)
        self.imported(bare, "-f")
        self.assertIn("the task of each event", self.meta()["not_seen"])

    def test_loss(self):
        """The stream counts its lost events."""
        stream = (ctf_packet([kfree(10)], TRACEPOINTS, 3) +
                  ctf_packet([kfree(50, 0x9000)], TRACEPOINTS, 3, discarded=6))
        self.assertIn("6 lost", self.imported(self.trace([stream])))
        self.assertEqual([r[0] for r in self.records(3)], [2, 3, 2])
        meta = self.meta()
        self.assertEqual((meta["overruns"], meta["cpu3.overruns"]),
                         ("6", "6"))

    def test_machine(self):
        """Environment fields of perf, which does not record its losses, and of
        LTTng, which does."""
        for env, lost in (({"release": "6.9", "machine": "riscv64",
                            "tracer_name": "perf"},
                           "whether events were lost is not known"),
                          ({"kernel_release": "6.9", "machine": "riscv64",
                            "tracer_name": "lttng-modules"}, "0 lost")):
            said = self.imported(self.trace(self.usual(), env=env), "-f")
            self.assertTrue(self.records(0))
            self.assertIn(lost, said)
            meta = self.meta()
            self.assertEqual(
                [meta[key] for key in ("kernel_release", "machine",
                                       "recorded_by")],
                ["6.9", "riscv64", env["tracer_name"]])
            self.assertEqual("overruns" in meta, lost == "0 lost")
            self.assertEqual(meta.get("losses"), None if lost == "0 lost"
                             else "not_reported")
            checked = subprocess.run([CHECK, self.out], capture_output=True,
                                     text=True, check=True).stdout
            self.assertEqual("the recorder does not report losses" in checked,
                             lost != "0 lost")

    def test_old_pages(self):
        """Linux before 4.1 records the address of struct page: slab events are
        imported, and pages are reported as missing."""
        old = Field("struct page *", "page", 8, 8, 0)
        points = dict(TRACEPOINTS)
        for name in ("mm_page_alloc", "mm_page_free"):
            system, number, fields = points[name]
            points[name] = (system, number, (old, *fields[1:]))
        self.imported(self.trace([ctf_packet(of_cpu(USUAL, cpu), points, cpu)
                                  for cpu in (0, 1)],
                                 metadata=ctf_metadata(points)))
        self.assertEqual({r[1] for cpu in (0, 1) for r in self.records(cpu)},
                         {0, 1})
        self.assertIn("kmem:mm_page_alloc, which has the address of struct "
                      "page", self.meta()["not_seen"])

    def test_no_cpu(self):
        path = self.trace([ctf_packet([kfree(10)], TRACEPOINTS,
                                      has_cpu=False)], cpu="")
        self.refused(path, "its events have no CPU")

    def test_cut(self):
        """Truncated within a packet, within the metadata, and without metadata or
        streams."""
        stream = self.usual()[0]
        for end in (4, 30, 60, len(stream) - 1):
            with self.subTest(end=end):
                self.refused(self.trace([stream[:end]]),
                             "libbabeltrace2 cannot read it", "cut off")
        metadata = ctf_metadata(TRACEPOINTS)
        for end in (30, len(metadata) // 2, len(metadata) - 4):
            with self.subTest(metadata=end):
                self.refused(self.trace([stream], metadata=metadata[:end]),
                             "libbabeltrace2 cannot read it")
        os.mkdir(self.path("empty"))
        self.refused(self.path("empty"), "neither a CTF trace", "metadata")
        self.refused(self.trace([], "nothing"), "no memory event")

    def test_metadata_packets(self):
        """Metadata in packets in either byte order, complete and truncated at any
        byte, where libbabeltrace2 alone would never return."""
        text = ctf_metadata(TRACEPOINTS)
        for order in "<>":
            data = ctf_metadata_packets(text, order=order)
            self.imported(self.trace(self.usual(), metadata=data), "-f")
            self.assert_usual()
        subprocess.run(["rm", "-r", self.out], check=True)
        data = ctf_metadata_packets(text)
        size = 400 + 37 + 16
        for end in (*range(4, size, 40), size - 1, size + 3, size + 36,
                    2 * size + 100, len(data) - 1):
            with self.subTest(end=end):
                self.refused(self.trace(self.usual(), metadata=data[:end]),
                             "metadata is cut off or damaged", timeout=20)
        for name, at, value in (("magic", size, b"\0"), ("size", 28, b"\7"),
                                ("no size", size + 28, bytes(4)),
                                ("beyond", 31, b"\x7f"),
                                ("content", 24, b"\xff\xff"),
                                ("compressed", 32, b"\1"),
                                ("version", 35, b"\2")):
            with self.subTest(damage=name):
                bad = data[:at] + value + data[at + len(value):]
                self.refused(self.trace(self.usual(), metadata=bad),
                             "metadata is cut off or damaged", timeout=20)

    def test_several(self):
        """The message about several operands contains a command that works."""
        paths = [self.trace([stream], f"cpu{cpu}")
                 for cpu, stream in enumerate(self.usual())]
        result = self.run_import(paths[0], paths[1])
        self.assertEqual(result.returncode, 1)
        command = re.search(r": (mkdir all && cp -r .*) && kmemtrace-import "
                            r"all OUTDIR$", result.stderr.strip())
        self.assertTrue(command, result.stderr)
        subprocess.run(["sh", "-ec", command[1]], check=True,
                       cwd=self.scratch)
        self.imported(self.path("all"))
        self.assert_usual()

    def test_fifo(self):
        """A FIFO in the directory would block libbabeltrace2 forever."""
        path = self.trace(self.usual())
        os.mkfifo(os.path.join(path, "fifo"))
        self.refused(path, "fifo is no regular file", timeout=20)

    @unittest.skipIf(has_address_sanitizer(),
                     "AddressSanitizer needs all addresses")
    @unittest.skipIf(EMULATED, "QEMU does not enforce RLIMIT_AS")
    def test_memory(self):
        """A field with a billion numbers: the memory limit stops the reader."""
        metadata = ctf_metadata(TRACEPOINTS).replace(
            "fields := struct {", "fields := struct { u8 _big[1000000000];")
        result = self.run_import(self.trace(self.usual(), metadata=metadata),
                                 timeout=100)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, "more than the 10[0-9][0-9] MB that "
                         "the import allows itself")
        self.assertNotIn("ulimit", result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertFalse(os.path.exists(self.out), "something is left")

    def test_fields(self):
        gap = ("ptr",)
        self.refused(self.trace([ctf_packet([kfree(10)], TRACEPOINTS,
                                            without=gap)], without=gap),
                     "kmem:", "no integer field 'ptr'", "newer")
        only = [ctf_packet([Event("sched_switch", 0, 10)], TRACEPOINTS)]
        self.refused(self.trace(only, "other"), "no memory event")


class Options(ImportTest):
    """Options of kmemtrace-import."""

    def run_with(self, *argv):
        """Run kmemtrace-import without further arguments."""
        return subprocess.run([PROGRAM, *argv], capture_output=True, text=True,
                              check=False)

    def test_mistakes(self):
        for argv, words in (((), "no file to import"),
                            (("a",), "OUTDIR is missing"),
                            (("--abi", "3", "a", "b"), "--abi"),
                            (("--cpus", "x", "a", "b"), "--cpus"),
                            (("--what", "a", "b"), "--what")):
            result = self.run_with(*argv)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(words, result.stderr)
            self.assertIn("Try 'kmemtrace-import --help'", result.stderr)
        result = self.run_with("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, "^kmemtrace-import [0-9]")

    def test_stuck(self):
        """A reader that makes no progress is stopped."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        # The FIFO is open for writing, but no byte is written.
        held = os.open(fifo, os.O_RDWR)
        self.addCleanup(os.close, held)
        self.refused(fifo, "made no progress and was stopped",
                     options=("--stall", "1"), timeout=60)

    def test_manual(self):
        """The manual page and --help list the same options."""
        shown = self.run_with("--help")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        options = set(re.findall(r"^  (?:-\w, )?--([\w-]+)", shown.stdout, re.M))
        path = os.path.join(TOP_SRCDIR, "man", "kmemtrace-import.1")
        with open(path, encoding="ascii") as f:
            page = f.read()
        described = set(re.findall(r"^\.It Fl (?:\w(?: Ar \w+)? , Fl )?-([\w-]+)",
                                   page, re.M))
        self.assertEqual(options, described)
        self.assertGreater(len(options), 6)

    def test_meta_is_described(self):
        """Every key that kmemtrace-import writes is described in kmemtrace(5)."""
        if lacks("libtraceevent", b"PERFILE2" + bytes(200)):
            self.skipTest("no libtraceevent")
        self.imported(self.write("perf.data", perf_data(
            b"".join(perf_sample(e) for e in USUAL))))
        path = os.path.join(TOP_SRCDIR, "man", "kmemtrace.5")
        with open(path, encoding="ascii") as f:
            page = f.read()
        described = {key for line in re.findall(r"^\.It Va (.*)$", page, re.M)
                     for key in line.split(" , ")}
        for key in self.meta():
            self.assertIn(key.split(".")[-1], described)


if __name__ == "__main__":
    if lacks("libbabeltrace2", None):
        del Ctf
    main()
