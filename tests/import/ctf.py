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
