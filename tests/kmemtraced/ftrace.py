#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced on the tracepoints of a kernel without kmemtrace."""

import errno
import fcntl
import json
import os
import signal
import struct
import subprocess
import unittest

from kmemtraced_fake import TOP_BUILDDIR, Daemon, acting, main, wait_for
from kmemtraced_tracefs import (SOURCE_READY, TASK_POINTS, TRACEPOINTS,
                                TracefsTest, event, format_text, newtask, page,
                                rename)

REPORT = os.path.join(TOP_BUILDDIR, "report", "kmemtrace-report")
RECORD = struct.Struct("=BBHiQQQQQqIHH")
PAGES = (page(5000, event("kmalloc", 0, 0x1000), event("kfree", 7, 0x1000)) +
         page(9000, event("kmem_cache_alloc", 1, 0x2000)),
         page(7000, event("kmem_cache_free", 0, 0x2000)))


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Recording(TracefsTest):
    """What is saved, and what is told of it."""

    def record(self, *args, **settings):
        """For a moment."""
        daemon = self.spawn("-w", "0.3", *args, **settings)
        return self.check_end(daemon)

    def times(self, cpu):
        """Of the records of a CPU."""
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
                           ("events", "4"), ("own_events", "0")):
            self.assertEqual(capture[key], value, key)
        self.assertEqual(set(capture["tracepoints"].split(";")),
                         set(TRACEPOINTS) | {""})
        self.assertIn("kfree_rcu", capture["not_seen"])

    def test_without_buffer_percent(self):
        """Kernels before 5.0."""
        self.make_tracefs(pages=PAGES, percent=False)
        self.record()
        self.assertEqual(self.times(0), [5000, 5007, 9001])

    def test_lost_events(self):
        self.make_tracefs(
            pages=(page(5000, event("kmalloc", 0, 0x1000)) +
                   page(8000, event("kmalloc", 1, 0x2000), missed=True), b""),
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
        self.assertIn("ring buffer gave 1 pages or events that make no sense",
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
        """The guard takes the instance away."""
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
        self.assertIn("removed what a kmemtraced that was killed had left",
                      err)
        self.assertEqual(self.times(1), [7000])


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Interference(TracefsTest):
    """Somebody else changes the instance while it is recorded."""

    def start_recording(self, *args, **settings):
        """Once there are records."""
        self.make_tracefs(pages=PAGES)
        daemon = self.spawn(*args, **settings)
        self.addCleanup(daemon.process.kill)
        # When it watches: the tables are copied afterwards.
        daemon.wait_line("recording")
        return daemon

    def change(self, name, text):
        """As root would, by a shell."""
        path = os.path.join(self.instances, "kmemtrace", name)
        self.assertTrue(os.path.exists(path), path)
        before = open(path).read()
        self.write(path, text)
        return path, before

    def told(self, daemon, *names, **meta):
        """The end: which files changed, and what the capture says of it."""
        _, err = self.check_end(daemon, status=1)
        self.assertIn("somebody else changed", err)
        self.assertIn("leave that directory alone", err)
        capture = self.capture()
        self.assertEqual(capture["complete"], "false")
        self.assertEqual(set(capture["interference"].split(";")),
                         {*names, ""})
        self.assertIn("somebody else had changed", capture["not_seen"])
        for key in ("events_off", "filter", "filter_changed"):
            self.assertEqual(capture.meta["capture"].get(key), meta.get(key),
                             key)

    def test_nothing(self):
        daemon = self.start_recording()
        daemon.signal()
        _, err = self.check_end(daemon)
        self.assertNotIn("somebody", err)
        self.assertEqual(self.capture()["complete"], "true")
        self.assertNotIn("interference", self.capture().meta["capture"])

    def changed(self, name, text, taken_back=False, shim=None, **meta):
        """One file; taken_back: it soon is as before."""
        with self.subTest(name=name, taken_back=taken_back, shim=shim):
            self.setUp()
            daemon = self.start_recording(shim=shim)
            path, before = self.change(name, text)
            if taken_back:
                self.write(path, before)
            daemon.signal()
            self.told(daemon, name, **meta)

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
        """The values of the end are enough."""
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
        """Files whose value says nothing."""
        for name in ("trace", "set_event", "events/enable"):
            self.changed(name, "0\n")

    def test_children_that_come(self):
        """The kernel keeps set_event_pid, without a write."""
        for args, status in (([], 1), (["-c"], 0)):
            self.setUp()
            os.makedirs(os.path.join(self.proc, "12/task/12"))
            daemon = self.start_recording("-p", "12", *args,
                                          shim={"no_inotify": 1})
            self.change("set_event_pid", "12\n13\n")
            daemon.signal()
            self.check_end(daemon, status)

    def test_change_when_tracing_begins(self):
        """No moment is left between switching on and watching."""
        for no_inotify in ({}, {"no_inotify": 1}):
            self.setUp()
            path = os.path.join(self.instances, "kmemtrace/tracing_cpumask")
            daemon = self.start_recording(
                shim={"on_tracing": f"echo 1 >{path}", **no_inotify})
            daemon.signal()
            self.told(daemon, "tracing_cpumask",
                      filter="tracing_cpumask=1", filter_changed="true")

    def test_values_that_cannot_be_read(self):
        """A lack of descriptors or memory is no change."""
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
        """The kernel has counted fewer or more events than were read."""
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
                self.told(daemon, "trace")

    def test_seen_by_the_others(self):
        """The check and the report take what is missing for lost."""
        daemon = self.start_recording()
        self.change("events/kmem/kmem_cache_free/enable", "0\n")
        daemon.signal()
        self.told(daemon, "events/kmem/kmem_cache_free/enable",
                  events_off="cache_free;")
        shown = subprocess.run([REPORT, self.out], check=True,
                               capture_output=True, text=True).stdout
        self.assertIn("Switched off:  cache_free, at least at times", shown)


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Names(TracefsTest):
    """The table of tasks, which the kernel does not keep."""

    # Of each CPU, and not in the order of the time: 12 was there and stays, 14
    # ends and its pid is used again, 15 is renamed without having been seen,
    # 20 comes and is renamed twice.
    PAGES = (
        page(5000, event("kmalloc", 0, 0x1000, pid=12),
             event("kmalloc", 1, 0x2000, pid=14),
             rename(1, 20, "sh", "ls"),
             event("kmalloc", 1, 0x3000, pid=20),
             event("kmalloc", 2000, 0x4000, pid=14),
             rename(1, 20, "ls", "ls, done"),
             event("kmalloc", 1, 0x5000, pid=20)),
        page(4000, newtask(0, 20, "sh", parent=12),
             event("kmalloc", 500, 0x6000, pid=20),
             event("kmalloc", 1, 0x7000, pid=15),
             rename(0, 15, "early", "a\\b\nc"),
             newtask(1500, 14, "second"),
             event("kmalloc", 100, 0x8000, pid=15)))
    TABLE = ["15 4501 early", "20 5002 sh", "14 6001 first", "20 7004 ls",
             "12 - cat", "13 - cat-thread", "14 - second",
             "15 - a\\134b\\012c", "20 - ls, done"]

    def put_task(self, pid, comm, tid=None):
        """A task in /proc."""
        self.put(os.path.join(self.proc, str(pid), "task", str(tid or pid),
                              "comm"), comm + "\n")

    def put_tasks(self):
        """Those that are there at the start."""
        self.put_task(12, "cat")
        self.put_task(12, "cat-thread", tid=13)
        self.put_task(14, "first")

    def table(self, *about):
        """Its lines; those that are about it have to be these."""
        lines = self.capture().read("tasks").decode().splitlines()
        self.assertEqual(lines[:2 + len(about)],
                         ["# kmemtrace: tasks", "# columns: pid until name",
                          *about])
        return lines[2 + len(about):]

    def record(self, *args, during=None, status=0, **settings):
        """Records for a moment; no warning."""
        daemon = self.spawn(*args, **settings)
        self.addCleanup(daemon.process.kill)
        daemon.wait_line("recording")
        if during:
            during()
        daemon.signal()
        out, err = self.check_end(daemon, status)
        self.assertNotIn("warning", err)
        return out

    def commands(self):
        """Who made how many allocations, by the report."""
        done = subprocess.run([REPORT, "--json", "--by", "comm", self.out],
                              check=True, capture_output=True, text=True)
        self.assertNotIn("commands are known", done.stderr)
        return {group["comm"]: group["allocs"]
                for group in json.loads(done.stdout)["groups"]}

    def test_names(self):
        self.put_tasks()
        self.make_tracefs(pages=self.PAGES)
        out = self.record()
        self.assertEqual(self.table(), self.TABLE)
        self.assertEqual(self.commands(), {
            "cat": 1, "first": 1, "second": 1, "early": 1, "a\\b?c": 1,
            "sh": 1, "ls": 1, "ls, done": 1})
        # They are no records, no losses, and nothing strange.
        self.assertIn("8 events, 512 bytes", out)
        capture = self.capture()
        for key, value in (("events", "8"), ("overruns", "0"),
                           ("own_events", "0"), ("complete", "true"),
                           ("task_names", "tracepoints")):
            self.assertEqual(capture[key], value, key)
        self.assertEqual(set(capture["tracepoints"].split(";")),
                         set(TRACEPOINTS) | {""})
        for cpu in ("cpu0", "cpu1"):
            self.assertNotIn("lost_from", capture.meta[cpu])

    def test_only_some_processes(self):
        self.put_tasks()
        self.make_tracefs(pages=self.PAGES)
        self.record("-p", "12", "-c")
        self.assertEqual(self.table(), self.TABLE)

    def test_switched_on_and_off(self):
        self.make_tracefs()

        def enabled():
            values = set()
            for name in TASK_POINTS:
                with open(os.path.join(self.instances, "kmemtrace/events/task",
                                       name, "enable")) as file:
                    values.add(file.read().strip())
            self.assertEqual(values, {"1"})
        self.record(during=enabled)
        self.assertNotIn("tasks", self.capture().files)

    def test_kernel_threads(self):
        """/proc says more than the tracepoints do."""
        self.put_task(2, "kworker/u8:3-events_unbound")
        self.put_task(3, "kworker/0:1H+kblockd")
        self.put_task(4, "kworker/R-mm_percpu_wq")
        self.put_task(5, "jbd2/nvme0n1p2-8")
        self.put_task(6, "")
        self.make_tracefs(pages=PAGES)
        self.record()
        self.assertEqual(self.table(), [
            "2 - kworker/u8:3", "3 - kworker/0:1H", "4 - kworker/R-mm_pe",
            "5 - jbd2/nvme0n1p2-", "6 - "])

    def test_rename_without_pid(self):
        """Kernels since 6.15: it is the task that runs."""
        number, fields = TASK_POINTS["task_rename"]
        self.put_tasks()
        self.make_tracefs(pages=self.PAGES)
        self.put(os.path.join(self.tracefs, "events/task/task_rename/format"),
                 format_text("task_rename", number, fields[1:]))
        self.record()
        self.assertEqual(self.table(), self.TABLE)

    def from_proc(self, **settings):
        """Without one of the tracepoints: what /proc has is all there is."""
        def change():
            self.put_task(14, "later")
            self.put_task(15, "came")
        self.put_tasks()
        self.record("-f", during=change, **settings)
        self.assertEqual(
            self.table("# dropped: 1", "# exact_after: 7003"),
            ["12 - cat", "13 - cat-thread", "14 - later", "15 - came"])
        self.assertEqual(self.capture()["task_names"], "proc")

    # No event is of a name.
    OTHERS = (page(5000, event("kmalloc", 2003, 0x1000, pid=14)), b"")

    def test_missing_field(self):
        for name, field in (("task_newtask", "pid"),
                            ("task_newtask", "comm[16]"),
                            ("task_rename", "newcomm[16]"),
                            ("task_rename", "oldcomm[16]")):
            number, fields = TASK_POINTS[name]
            self.make_tracefs(pages=self.OTHERS)
            self.put(os.path.join(self.tracefs, "events/task", name, "format"),
                     format_text(name, number,
                                 [f for f in fields if f[1] != field]))
            with self.subTest(f"{name} {field}"):
                self.from_proc()
            os.system(f"rm -r {self.tracefs} {self.template} {self.proc}/1?")

    def test_no_tracepoint(self):
        for missing in (("task_newtask",), ("task_rename",),
                        tuple(TASK_POINTS)):
            self.make_tracefs(pages=self.OTHERS, without=missing)
            self.from_proc()
            os.system(f"rm -r {self.tracefs} {self.template} {self.proc}/1?")

    def test_tracepoint_that_is_refused(self):
        for name in ("task_newtask/enable", "task_rename/enable",
                     "task/task_rename/format"):
            self.make_tracefs(pages=self.OTHERS)
            self.from_proc(shim={"open_file": name,
                                 "open_errno": errno.EACCES})
            os.system(f"rm -r {self.tracefs} {self.template} {self.proc}/1?")

    def test_lost_events(self):
        """Some may have been of names."""
        self.put_tasks()
        self.make_tracefs(pages=self.OTHERS, lost=((3, 0, 0), (0, 0, 0)))
        daemon = self.spawn()
        self.addCleanup(daemon.process.kill)
        daemon.wait_line("recording")
        self.put_task(14, "later")
        daemon.signal()
        self.check_end(daemon)
        self.assertEqual(self.table("# dropped: 1", "# exact_after: 7003"),
                         ["12 - cat", "13 - cat-thread", "14 - later"])

    def test_changed_after_the_end(self):
        """Without a loss the tracepoints are right, and /proc is later."""
        self.put_tasks()
        self.make_tracefs(pages=self.OTHERS)
        self.record(during=lambda: self.put_task(14, "later"))
        self.assertEqual(self.table(), ["12 - cat", "13 - cat-thread",
                                        "14 - first"])

    def test_cut_off(self):
        """The names of the start are there."""
        self.put_tasks()
        self.make_tracefs()
        daemon = self.spawn()
        daemon.wait_line("recording")
        wait_for(lambda: os.path.exists(os.path.join(self.out, "tasks")),
                 "the table")
        daemon.signal(signal.SIGKILL)
        daemon.process.wait()
        wait_for(lambda: not os.listdir(self.instances), "its removal")
        daemon.finish()
        self.assertEqual(self.table(), ["12 - cat", "13 - cat-thread",
                                        "14 - first"])


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Refused(TracefsTest):
    """What cannot be recorded."""

    def refused(self, *texts, args=(), **settings):
        """It ends, says why and what to do, and leaves nothing."""
        code, out, err = self.run_to_end("-w", "5", *args, **settings)
        self.assertEqual((code, out), (1, ""), err)
        for text in texts:
            self.assertIn(text, err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertFalse(os.path.exists(self.out))
        if os.path.exists(self.instances):
            self.assertEqual(os.listdir(self.instances), [])

    def test_no_tracefs(self):
        self.refused("no tracefs is mounted on", "mount -t tracefs none")
        os.mkdir(self.tracefs)
        self.refused("no tracefs is mounted on", "mount -t tracefs none")

    def test_nothing_at_all(self):
        debugfs = os.path.join(self.root, "debug")
        self.refused("cannot record from kmemtrace: no debugfs is mounted on",
                     ", nor from the kernel's tracepoints: no tracefs is "
                     "mounted on", args=["-r", debugfs])

    def test_no_permission(self):
        self.make_tracefs()
        for name in ("instances", "tracing_on", "cpu1/trace_pipe_raw",
                     "kmem/kfree/enable"):
            self.refused("Permission denied", "run kmemtraced as root",
                         shim={"open_file": name,
                               "open_errno": errno.EACCES})
        self.refused("Operation not permitted", "locked down",
                     shim={"open_file": "kmem/kfree/format",
                           "open_errno": errno.EPERM})

    def test_no_tracepoint(self):
        self.make_tracefs(without=("mm_page_free",))
        self.refused("this kernel has no tracepoint kmem:mm_page_free",
                     "CONFIG_EVENT_TRACING")

    def test_missing_field(self):
        self.make_tracefs()
        number, fields = TRACEPOINTS["kfree"]
        self.put(os.path.join(self.tracefs, "events/kmem/kfree/format"),
                 format_text("kfree", number, fields[:1]))
        self.refused("kmem:kfree has no field 'ptr'",
                     "newer kmemtraced")

    def test_buffer_that_is_too_large(self):
        self.make_tracefs()
        self.refused("Cannot allocate memory", "free some memory",
                     args=["-b", "999999999"],
                     shim={"open_file": "buffer_size_kb",
                           "open_errno": errno.ENOMEM})

    def test_tracepoint_that_cannot_be_enabled(self):
        self.make_tracefs()
        self.refused("events/kmem/mm_page_free/enable: Invalid argument",
                     "dmesg", shim={"open_file": "mm_page_free/enable",
                                    "open_errno": errno.EINVAL})

    def test_two_at_once(self):
        self.make_tracefs()
        fd = os.open(self.instances, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        self.refused("another kmemtraced records by", "end that one first")
        os.close(fd)

    def test_instance_that_stays(self):
        self.make_tracefs()
        path = os.path.join(self.instances, "kmemtrace")
        os.mkdir(path)
        code, _, err = self.run_to_end(shim={"rmdir_errno": errno.EBUSY})
        self.assertEqual(code, 1)
        self.assertIn(f"cannot remove {path}, which an earlier kmemtraced left",
                      err)
        self.assertIn("rmdir", err)

    def test_process_that_is_not_there(self):
        self.make_tracefs()
        self.refused("there is no process 2147483647", "processes that run",
                     args=["-p", "2147483647"])

    def test_mistakes(self):
        for args, text in (
                (["-s", "lttng"], "there is no source 'lttng'"),
                (["-s", "ftrace", "-F", "size=8"], "no filter but -p"),
                (["-s", "relay", "-b", "8"], "kmemtrace.subbufs=")):
            self.refused(text, "sources are 'relay'", args=args)
        for args, text in ((["-b", "x"], "-b 'x' is not"),
                           (["-b", "0"], "-b '0' is not"),
                           (["-p", "1,x"], "-p 'x' is not"),
                           (["-p", "-1"], "-p '-1' is not"),
                           (["-p", "0"], "-p '0' is not"),
                           (["-c"], "-c says nothing without -p or a")):
            code, _, err = Daemon(args).finish()
            self.assertEqual(code, 1)
            self.assertIn(text, err)
            self.assertIn("--help", err)


@unittest.skipIf(SOURCE_READY, "built with libtraceevent")
class NoLibrary(TracefsTest):
    """It says what is missing, whatever the kernel has."""

    def test_message(self):
        self.make_tracefs()
        for args in ([], ["-s", "ftrace"],
                     ["-r", os.path.join(self.root, "debug")]):
            code, _, err = self.run_to_end("-w", "1", *args)
            self.assertEqual(code, 1)
            self.assertIn("built without libtraceevent", err)
            self.assertIn("install libtraceevent-dev", err)
            self.assertEqual(os.listdir(self.instances), [])


if __name__ == "__main__":
    main()
