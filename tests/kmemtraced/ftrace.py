#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced -s ftrace on a fake tracefs: the records, and interference of other
programs with the instance."""

import errno
import os
import signal
import struct
import subprocess
import unittest

from kmemtraced_fake import TOP_BUILDDIR, acting, main, wait_for
from kmemtraced_tracefs import (SOURCE_READY, TRACEPOINTS, TracefsTest, event,
                                page)
from target import ORDER

REPORT = os.path.join(TOP_BUILDDIR, "report", "kmemtrace-report")
RECORD = struct.Struct(ORDER + "BBHiQQQQQqIHH")
PAGES = (page(5000, event("kmalloc", 0, 0x1000), event("kfree", 7, 0x1000)) +
         page(9000, event("kmem_cache_alloc", 1, 0x2000)),
         page(7000, event("kmem_cache_free", 0, 0x2000)))


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Recording(TracefsTest):
    """The records of a capture, and kmemtrace.meta."""

    def record(self, *args, **settings):
        """Record for 0.3 seconds."""
        daemon = self.spawn("-w", "0.3", *args, **settings)
        return self.check_end(daemon)

    def times(self, cpu):
        """Return the times of the records of a CPU."""
        return [fields[9] for fields in
                RECORD.iter_unpack(self.capture().cpu(cpu))]

    def test_records(self):
        self.make_tracefs(pages=PAGES)
        out, err = self.record()
        self.assertIn("4 events, 256 bytes", out)
        self.assertIn("0 events lost", out)
        self.assertIn("source ftrace, clock local", err)
        capture = self.capture()
        self.assertEqual(self.times(0), [5000, 5007, 9001])
        self.assertEqual(self.times(1), [7000])
        first, free, cache = RECORD.iter_unpack(capture.cpu(0))
        self.assertEqual(first, (1, 0, 64, -1, 0xffffffff81000010, 0x1000, 100,
                                 128, 0xcc0, 5000, 1, 0, 0))
        self.assertEqual(free, (2, 0, 64, -1, 0xffffffff81000010, 0x1000, 0, 0,
                                0, 5007, 1, 0, 0))
        self.assertEqual(cache[:2], (1, 1))
        for key, value in (("source", "ftrace"), ("clock", "local"),
                           ("complete", "true"), ("overruns", "0"),
                           ("events", "4"), ("own_events", "0"),
                           ("slab_at_start", str(1234 * 1024))):
            self.assertEqual(capture[key], value, key)
        self.assertEqual(set(capture["tracepoints"].split(";")),
                         set(TRACEPOINTS) | {""})
        self.assertIn("kfree_rcu", capture["not_seen"])

    def test_without_buffer_percent(self):
        """Kernels before 5.0 have no buffer_percent."""
        self.make_tracefs(pages=PAGES, percent=False)
        self.record()
        self.assertEqual(self.times(0), [5000, 5007, 9001])

    def test_lost_events(self):
        self.make_tracefs(
            pages=(page(5000, event("kmalloc", 0, 0x1000)) +
                   page(8000, event("kmalloc", 1, 0x2000),
                        event("kmalloc", 5, 0x3000), missed=True), b""),
            lost=((4, 2, 1), (0, 0, 0)))
        _, err = self.record("-b", "1")
        self.assertRegex(err, r"-b 16 KB \(now 8\)")
        self.assertEqual(self.capture()["subbufs"], "2")
        out, err = self.record("-f", "-b", "1024")
        self.assertIn("7 events lost", out)
        self.assertRegex(err, r"7 events were lost .*of them on CPU 0.*"
                         r"-b 2048 KB \(now 1024\)")
        meta = self.capture().meta
        self.assertEqual(meta["capture"]["overruns"], "7")
        self.assertEqual(meta["cpu0"]["overruns"], "7")
        self.assertEqual(meta["cpu0"]["lost_from"], "5000")
        self.assertEqual(meta["cpu0"]["lost_until"], "8001")
        self.assertNotIn("lost_from", meta["cpu1"])

    def test_other_clocks(self):
        for top, chosen in (("local [global] mono", "mono"),
                            ("local [global]", "global"),
                            ("local global [x86-tsc] mono", "mono")):
            self.make_tracefs(clock=top)
            self.record("-f")
            self.assertEqual(self.capture()["clock"], chosen)
            os.system(f"rm -r {self.tracefs} {self.template}")

    def test_pages_without_sense(self):
        self.make_tracefs(pages=(page(5000, event("kmalloc", 0, 0x1000)) +
                                 b"\xff" * 4096, b""))
        daemon = self.spawn("-w", "0.3")
        _, err = self.check_end(daemon, status=1)
        self.assertIn("ring buffer returned 1 malformed pages or events",
                      err)
        self.assertEqual(self.times(0), [5000])
        self.assertEqual(self.capture()["complete"], "false")

    def test_processes(self):
        self.make_tracefs()
        for tid in ("12", "15"):
            os.makedirs(os.path.join(self.proc, "12/task", tid))
        daemon = self.spawn("-p", "12", "-c")
        self.addCleanup(daemon.process.kill)
        daemon.wait_line("recording")
        made = os.path.join(self.instances, "kmemtrace")
        with open(os.path.join(made, "set_event_pid")) as file:
            self.assertEqual(set(file.read().split()), {"12", "15"})
        with open(os.path.join(made, "options/event-fork")) as file:
            self.assertEqual(file.read(), "1")
        daemon.signal()
        self.check_end(daemon)
        self.assertEqual(self.capture()["pids"], "12;")
        self.assertEqual(self.capture()["children"], "true")
        self.assertIn("other processes", self.capture()["not_seen"])

    def test_cpus_that_come(self):
        self.make_tracefs(pages=PAGES)
        online = os.path.join(self.sys, "devices/system/cpu/online")
        self.write(online, "0\n")
        daemon = self.spawn()
        self.addCleanup(daemon.process.kill)
        daemon.wait_line("recording 1 CPU")
        self.write(online, "1\n")
        wait_for(lambda: os.path.exists(os.path.join(self.out, "cpu1.out")),
                 "cpu1.out")
        daemon.signal()
        self.check_end(daemon)
        self.assertEqual(self.times(0), [5000, 5007, 9001])
        self.assertEqual(self.times(1), [7000])

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.make_tracefs(pages=PAGES)
            daemon = self.spawn("-f", preexec_fn=acting([number]))
            self.addCleanup(daemon.process.kill)
            daemon.wait_line("recording")
            daemon.signal(number)
            self.check_end(daemon)
            self.assertEqual(self.times(1), [7000])
            os.system(f"rm -r {self.tracefs} {self.template}")

    def test_killed(self):
        """The cleanup process removes the instance."""
        self.make_tracefs(pages=PAGES)
        daemon = self.spawn()
        daemon.wait_line("recording")
        daemon.signal(signal.SIGKILL)
        daemon.process.wait()
        wait_for(lambda: not os.listdir(self.instances), "its removal")
        daemon.finish()

    def test_instance_that_is_left(self):
        self.make_tracefs(pages=PAGES)
        os.makedirs(os.path.join(self.instances, "kmemtrace/per_cpu"))
        _, err = self.record()
        self.assertIn("removed the tracefs instance of a killed kmemtraced",
                      err)
        self.assertEqual(self.times(1), [7000])


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Interference(TracefsTest):
    """Another program changes the instance during the recording."""

    def start_recording(self, *args, **settings):
        """Start a recording and wait until kmemtraced watches the instance."""
        self.make_tracefs(pages=PAGES)
        daemon = self.spawn(*args, **settings)
        self.addCleanup(daemon.process.kill)
        # kmemtraced copies the tables after it has begun to watch.
        daemon.wait_line("recording")
        return daemon

    def change(self, name, text):
        """Write to a file of the instance as a root shell does."""
        path = os.path.join(self.instances, "kmemtrace", name)
        self.assertTrue(os.path.exists(path), path)
        before = open(path).read()
        self.write(path, text)
        return path, before

    def expect_warning(self, daemon, *names, **meta):
        """End the recording; expect the names of the changed files in the warning
        and in the capture."""
        _, err = self.check_end(daemon, status=1)
        self.assertIn("another program changed", err)
        self.assertIn("leave that directory alone", err)
        capture = self.capture()
        self.assertEqual(capture["complete"], "false")
        self.assertEqual(set(capture["interference"].split(";")),
                         {*names, ""})
        self.assertIn("another program had changed", capture["not_seen"])
        for key in ("events_off", "filter", "filter_changed"):
            self.assertEqual(capture.meta["capture"].get(key), meta.get(key),
                             key)

    def test_nothing(self):
        daemon = self.start_recording()
        daemon.signal()
        _, err = self.check_end(daemon)
        self.assertNotIn("another program", err)
        self.assertEqual(self.capture()["complete"], "true")
        self.assertNotIn("interference", self.capture().meta["capture"])

    def changed(self, name, text, taken_back=False, shim=None, **meta):
        """Change one file during a recording. taken_back: restore the value soon
        after."""
        with self.subTest(name=name, taken_back=taken_back, shim=shim):
            self.setUp()
            daemon = self.start_recording(shim=shim)
            path, before = self.change(name, text)
            if taken_back:
                self.write(path, before)
            daemon.signal()
            self.expect_warning(daemon, name, **meta)

    CHANGES = (
        ("events/kmem/kfree/enable", "0\n", {"events_off": "kfree;"}),
        ("events/kmem/mm_page_alloc/enable", "0\n",
         {"events_off": "page_alloc;"}),
        ("events/task/task_rename/enable", "0\n", {}),
        ("tracing_on", "0\n", {}),
        ("trace_clock", "global\n", {}),
        ("buffer_size_kb", "1\n", {}),
        ("events/kmem/kmalloc/filter", "bytes_req > 7\n",
         {"filter": "events/kmem/kmalloc/filter=bytes_req > 7",
          "filter_changed": "true"}),
        ("set_event_pid", "1\n2\n", {"filter": "set_event_pid=1 2",
                                     "filter_changed": "true"}),
        ("tracing_cpumask", "1\n", {"filter": "tracing_cpumask=1",
                                    "filter_changed": "true"}))

    def test_settings(self):
        for name, text, meta in self.CHANGES:
            self.changed(name, text, **meta)

    def test_settings_without_inotify(self):
        """Without inotify, the values at the end of the recording show the change."""
        for name, text, meta in self.CHANGES:
            self.changed(name, text, shim={"no_inotify": 1}, **meta)

    def test_taken_back_at_once(self):
        for name, text, meta in self.CHANGES:
            if "filter" not in meta:
                self.changed(name, text, taken_back=True, **meta)
        for name in ("set_event_pid", "tracing_cpumask"):
            self.setUp()
            daemon = self.start_recording()
            path, before = self.change(name, "1\n")
            self.write(path, before)
            daemon.signal()
            _, err = self.check_end(daemon, status=1)
            self.assertIn(f"changed {name} in", err)
            self.assertEqual(self.capture()["filter_changed"], "true")

    def test_writes(self):
        """Writes to files that have no persistent value are detected."""
        for name in ("trace", "set_event", "events/enable"):
            self.changed(name, "0\n")

    def test_children_that_come(self):
        """The kernel adds child processes to set_event_pid without a write, which
        is no interference."""
        for args, status in (([], 1), (["-c"], 0)):
            self.setUp()
            os.makedirs(os.path.join(self.proc, "12/task/12"))
            daemon = self.start_recording("-p", "12", *args,
                                          shim={"no_inotify": 1})
            self.change("set_event_pid", "12\n13\n")
            daemon.signal()
            self.check_end(daemon, status)

    def test_change_when_tracing_begins(self):
        """A change between the start of tracing and the start of watching is
        detected."""
        for no_inotify in ({}, {"no_inotify": 1}):
            self.setUp()
            path = os.path.join(self.instances, "kmemtrace/tracing_cpumask")
            daemon = self.start_recording(
                shim={"on_tracing": f"echo 1 >{path}", **no_inotify})
            daemon.signal()
            self.expect_warning(daemon, "tracing_cpumask",
                      filter="tracing_cpumask=1", filter_changed="true")

    def test_values_that_cannot_be_read(self):
        """A lack of descriptors or memory does not count as a change."""
        for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            self.setUp()
            flag = os.path.join(self.root, "lack")
            daemon = self.start_recording(shim={
                "open_file": "tracing_cpumask", "open_errno": number,
                "open_if": flag})
            self.write(flag, "")
            daemon.signal()
            self.check_end(daemon)
            self.assertEqual(self.capture()["complete"], "true")

    def test_value_that_is_gone(self):
        daemon = self.start_recording()
        os.unlink(os.path.join(self.instances, "kmemtrace/tracing_cpumask"))
        daemon.signal()
        self.check_end(daemon, 1)

    def test_write_that_changes_nothing(self):
        daemon = self.start_recording()
        self.change("trace_marker", "hello\n")
        daemon.signal()
        self.check_end(daemon)
        self.assertEqual(self.capture()["complete"], "true")

    def test_cleared_or_read_by_others(self):
        """The kernel counts fewer or more events than kmemtraced has read."""
        for n in (0, 2, 4):
            with self.subTest(n):
                self.setUp()
                daemon = self.start_recording(shim={"no_inotify": 1})
                stats = os.path.join(self.instances,
                                     "kmemtrace/per_cpu/cpu0/stats")
                with open(stats) as file:
                    text = file.read()
                self.assertIn("read events: 3\n", text)
                self.write(stats, text.replace("read events: 3",
                                               f"read events: {n}"))
                daemon.signal()
                self.expect_warning(daemon, "trace")

    def test_seen_by_the_others(self):
        """kmemtrace-check and kmemtrace-report treat the missing events as lost."""
        daemon = self.start_recording()
        self.change("events/kmem/kmem_cache_free/enable", "0\n")
        daemon.signal()
        self.expect_warning(daemon, "events/kmem/kmem_cache_free/enable",
                  events_off="cache_free;")
        shown = subprocess.run([REPORT, self.out], check=True,
                               capture_output=True, text=True).stdout
        self.assertIn("Switched off:  cache_free, at least at times", shown)


if __name__ == "__main__":
    main()
