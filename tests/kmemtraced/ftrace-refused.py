#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Conditions in which kmemtraced -s ftrace refuses to record, and its messages."""

import errno
import fcntl
import os
import unittest

from kmemtraced_fake import Daemon, main
from kmemtraced_tracefs import (SOURCE_READY, TRACEPOINTS, TracefsTest,
                                format_text)


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Refused(TracefsTest):
    """A kernel or an option that does not allow recording."""

    def refused(self, *texts, args=(), **settings):
        """Expect an error message with a cause and an action; no instance remains."""
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
        self.refused("another kmemtraced uses", "end that one first")
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
        self.refused("there is no process 2147483647",
                     "numbers of running processes",
                     args=["-p", "2147483647"])

    def test_mistakes(self):
        for args, text in (
                (["-s", "lttng"], "there is no source 'lttng'"),
                (["-s", "ftrace", "-F", "size=8"], "no filter but -p"),
                (["-s", "ftrace", "--stacks"], "ftrace records no stacks"),
                (["--stacks", "5", "-s", "ftrace"], "ftrace records no stacks"),
                (["-s", "relay", "-b", "8"], "kmemtrace.subbufs=")):
            self.refused(text, "sources are 'relay'", args=args)
        # The advice depends on whether the programs of BPF were built.
        self.refused("the source bpf", args=["-s", "bpf", "-R", "mmap"])
        for args, text in ((["-b", "x"], "-b 'x' is not"),
                           (["-b", "0"], "-b '0' is not"),
                           (["-p", "1,x"], "-p 'x' is not"),
                           (["-p", "-1"], "-p '-1' is not"),
                           (["-p", "0"], "-p '0' is not"),
                           (["--stacks=0"], "--stacks '0' is not"),
                           (["--stacks=65"], "--stacks '65' is not"),
                           (["--stacks", "65"], "--stacks '65' is not"),
                           (["--stacks", "x"], "'x' is one argument too"),
                           (["-c"], "-c needs -p or a")):
            code, _, err = Daemon(args).finish()
            self.assertEqual(code, 1)
            self.assertIn(text, err)
            self.assertIn("--help", err)


@unittest.skipIf(SOURCE_READY, "built with libtraceevent")
class NoLibrary(TracefsTest):
    """The message of a build without libtraceevent names the library."""

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
