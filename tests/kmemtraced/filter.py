#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters in the kernel, and how kmemtrace.meta describes them."""

import os

from kmemtraced_fake import DaemonTest, main, records_v2, wait_for

INFO = """\
# kmemtrace: info
# abi_version: 2
# session: {session}
# filter: {filter}
# filtered: {filtered}
# sample: {sample}
# frees: {frees}
record 1 alloc
field event_id u8 0 1 unsigned
type 0 kmalloc
event kmalloc 1 0 on whole
event kfree 2 0 {kfree}
event page_alloc 1 2 on {page_alloc} and more
event phase 4 0 off missed
"""


class Filter(DaemonTest):
    """A kernel with the files info and filter."""

    def make(self, **settings):
        """Make the fake kernel, without a filter."""
        kernel = self.make_kernel(cpus=(0,), abi_version=2, **settings)
        kernel.put("filter", "none\n")
        self.info(kernel)
        for pid in (12, 34):
            os.makedirs(os.path.join(self.proc, str(pid)))
        return kernel

    def info(self, kernel, **words):
        """Set lines of the file info."""
        said = {"session": 1, "filter": "none", "filtered": "no", "sample": 1,
                "frees": "exact", "kfree": "on whole", "page_alloc": "whole"}
        kernel.put("info", INFO.format(**{**said, **words}))

    def record(self, kernel, *args, end=None, status=0):
        """Record some events. end: lines of info at the end."""
        daemon = self.start(*args)
        kernel.feed(0, records_v2(100))
        kernel.wait_read()
        filtered = kernel.get("filter")
        if end:
            self.info(kernel, **end)
        _, err = self.end(daemon, status)
        return filtered, err

    def test_nothing_left_out(self):
        kernel = self.make()
        self.record(kernel)
        capture = self.capture()
        self.assertEqual(capture.read("info").decode(),
                         kernel.get("info") + "\n")
        for key in ("events_off", "filter", "filter_changed", "filter_frees",
                    "sample"):
            self.assertNotIn(key, capture.meta["capture"])

    def test_no_stacks(self):
        """Stacks that were requested and are missing cause a warning."""
        kernel = self.make()
        info = kernel.get("info")
        for stacks, warns in (("", False), ("\n# stacks: on", False),
                              ("\n# stacks: off, the depot is off: x", True)):
            kernel.put("info", info.replace("\n# filter:", stacks + "\n# filter:"))
            daemon = self.start("-f")
            kernel.feed(0, records_v2(100))
            kernel.wait_read()
            _, err = self.end(daemon)
            self.assertEqual(
                "kmemtraced: warning: the records have no stacks, although the kernel "
                "was booted with kmemtrace.stacks=yes: the depot is off: x\n" in err,
                warns, err)

    def test_switched_off(self):
        kernel = self.make()
        self.record(kernel, end={"kfree": "off missed",
                                 "page_alloc": "missed"})
        self.assertEqual(self.capture()["events_off"], "kfree;page_alloc;")

    def test_filter_of_somebody_else(self):
        kernel = self.make()
        kernel.put("filter", "pid=3\n")
        filtered, _ = self.record(kernel, end={
            "filter": "size=9-", "filtered": "changed", "sample": 0,
            "frees": "all"})
        self.assertEqual((filtered, kernel.get("filter")), ("pid=3", "pid=3"))
        capture = self.capture()
        self.assertEqual(
            [capture[key] for key in ("filter", "filter_changed",
                                      "filter_frees", "sample")],
            ["size=9-", "true", "all", "0"])

    def test_filter(self):
        kernel = self.make()
        kernel.put("filter", "cache=dentry,inode* sample=4\n")
        filtered, _ = self.record(
            kernel, "-F", "cache=bio-1 sample=10", end={
                "filter": "cache=bio-1 sample=10", "filtered": "yes",
                "sample": 10, "frees": "all"})
        self.assertEqual(filtered, "cache=bio-1 sample=10")
        self.assertEqual(kernel.get("filter"), "cache=dentry,inode* sample=4")
        capture = self.capture()
        self.assertEqual(capture["sample"], "10")
        self.assertNotIn("filter_changed", capture.meta["capture"])

    def test_killed(self):
        """The meta file of an incomplete capture describes the filter that was in
        effect."""
        kernel = self.make()
        self.info(kernel, kfree="off whole")
        daemon = self.start("-F", "sample=7", "-p", "12")
        kernel.feed(0, records_v2(10))
        kernel.wait_read()
        daemon.process.kill()
        daemon.finish()
        wait_for(lambda: len(self.capture().cpu(0)) % 64 == 0, "the guard")
        capture = self.capture()
        self.assertEqual([capture[key] for key in ("complete", "filter",
                                                   "sample", "events_off")],
                         ["false", "sample=7 pid=12", "7", "kfree;"])
        wait_for(lambda: kernel.get("filter") == "none", "the guard")
        self.assertEqual(kernel.get("enabled"), "0")

    def test_killed_while_others_trace(self):
        """Tracing by another program continues without the filter that kmemtraced
        had set."""
        kernel = self.make()
        kernel.put("enabled", "1\n")
        daemon = self.start("-F", "sample=7")
        self.assertEqual(kernel.get("filter"), "sample=7")
        daemon.process.kill()
        daemon.finish()
        wait_for(lambda: kernel.get("filter") == "none", "the guard")
        self.assertEqual(kernel.get("enabled"), "1")

    def test_processes(self):
        kernel = self.make()
        filtered, _ = self.record(kernel, "-p", "12,34", "-c")
        self.assertEqual(filtered, "pid=12,34 children")
        self.assertEqual(kernel.get("filter"), "none")
        self.assertEqual(self.capture()["source"], "relay")

    def test_tracing_that_is_on(self):
        kernel = self.make(enabled=1)
        filtered, _ = self.record(kernel, "-F", "size=8")
        self.assertEqual((filtered, kernel.get("filter")), ("size=8", "none"))

    def test_trace_that_was_left(self):
        """Events of an earlier session were recorded with another filter, or with
        none."""
        kernel = self.make()
        kernel.feed(0, records_v2(5))
        self.info(kernel, filter="size=1", filtered="yes")
        code, _, err = self.run_to_end("-F", "size=8")
        self.assertEqual(code, 0)
        self.assertIn("did not switch tracing on", err)
        self.assertEqual(kernel.get("filter"), "none")
        self.assertEqual(self.capture()["filter"], "size=1")

    def test_session_of_somebody_else(self):
        kernel = self.make()
        _, err = self.record(kernel, end={"session": 2}, status=1)
        self.assertIn("another program began a new session", err)
        self.assertIn("leave 'enabled' and 'reset'", err)
        self.assertEqual(self.capture()["complete"], "false")

    def refused(self, *args, text, **settings):
        """Expect an error before any event is recorded."""
        code, _, err = self.run_to_end(*args, **settings)
        self.assertEqual(code, 1)
        self.assertIn(text, err)
        self.assertEqual(self.kernel.get("enabled"), "0")
        self.assertFalse(os.path.exists(self.out) and os.listdir(self.out))

    def test_refused(self):
        kernel = self.make()
        self.refused("-F", "size=x", text="filter to 'size=x': Invalid",
                     shim={"write_file": "/filter", "write_limit": 0,
                           "write_errno": 22})
        kernel.put("filter", "none\n")
        self.refused("-s", "relay", "-p", "99", text="no process 99")
        self.assertEqual(kernel.get("filter"), "none")

    def test_kernel_without_filter(self):
        self.make_kernel(cpus=(0,), abi_version=2)
        self.refused("-F", "size=1", text="has no filter")
        self.refused("-s", "relay", "-p", "1",
                     text="cannot select processes")


if __name__ == "__main__":
    main()
