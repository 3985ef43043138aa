#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of tasks and caches that kmemtraced -s ftrace records, and the description
of events that tracepoints do not show."""

import errno
import json
import os
import signal
import subprocess
import unittest

from kmemtraced_fake import TOP_BUILDDIR, main, wait_for
from kmemtraced_tracefs import (SOURCE_READY, TASK_POINTS, TRACEPOINTS,
                                TracefsTest, event, format_text, newtask, page,
                                rename)

REPORT = os.path.join(TOP_BUILDDIR, "report", "kmemtrace-report")
PAGES = (page(5000, event("kmalloc", 0, 0x1000), event("kfree", 7, 0x1000)) +
         page(9000, event("kmem_cache_alloc", 1, 0x2000)),
         page(7000, event("kmem_cache_free", 0, 0x2000)))


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Names(TracefsTest):
    """The table of tasks, which kmemtraced writes because the kernel has none."""

    # Events of two CPUs, not ordered by time: task 12 exists throughout, 14 ends
    # and its pid is used again, 15 is renamed without an earlier event, and 20
    # starts and is renamed twice.
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
        """Add a task to the fake /proc."""
        self.put(os.path.join(self.proc, str(pid), "task", str(tid or pid),
                              "comm"), comm + "\n")

    def put_tasks(self):
        """Add the tasks that exist at the start."""
        self.put_task(12, "cat")
        self.put_task(12, "cat-thread", tid=13)
        self.put_task(14, "first")

    def table(self, *about):
        """Expect lines about the table at its start; return the other lines."""
        lines = self.capture().read("tasks").decode().splitlines()
        self.assertEqual(lines[:2 + len(about)],
                         ["# kmemtrace: tasks", "# columns: pid until name",
                          *about])
        return lines[2 + len(about):]

    def record(self, *args, during=None, status=0, **settings):
        """Record for a moment, without a warning."""
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
        """Return the number of allocations by task name, from a report."""
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
        # Task events are neither records nor losses, and cause no warning.
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
        """/proc has longer names of kernel threads than the tracepoints."""
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
        """Since Linux 6.15 task_rename has no pid: the current task is renamed."""
        number, fields = TASK_POINTS["task_rename"]
        self.put_tasks()
        self.make_tracefs(pages=self.PAGES)
        self.put(os.path.join(self.tracefs, "events/task/task_rename/format"),
                 format_text("task_rename", number, fields[1:]))
        self.record()
        self.assertEqual(self.table(), self.TABLE)

    def from_proc(self, **settings):
        """If a tracepoint of tasks is missing, all names come from /proc."""
        def change():
            self.put_task(14, "later")
            self.put_task(15, "came")
        self.put_tasks()
        self.record("-f", during=change, **settings)
        self.assertEqual(
            self.table("# dropped: 1", "# exact_after: 7003"),
            ["12 - cat", "13 - cat-thread", "14 - later", "15 - came"])
        self.assertEqual(self.capture()["task_names"], "proc")

    # Events without a change of names.
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
        """Lost events may have included changes of names."""
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
        """Without a loss the tracepoints are exact, and a later /proc does not
        override them."""
        self.put_tasks()
        self.make_tracefs(pages=self.OTHERS)
        self.record(during=lambda: self.put_task(14, "later"))
        self.assertEqual(self.table(), ["12 - cat", "13 - cat-thread",
                                        "14 - first"])

    def test_cut_off(self):
        """The capture of a killed kmemtraced has the names of the start."""
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


if __name__ == "__main__":
    main()
