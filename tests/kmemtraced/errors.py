#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced when something fails: what it says, and what is still saved."""

import errno
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import unittest

import seeds
from kmemtraced_fake import (CHECK, CHUNK, PROGRAM, TOP_BUILDDIR, RECORD, RECORD_V2, Capture,
                             Daemon, DaemonTest, main, records, records_v2,
                             wait_for)


REPORT = os.path.join(TOP_BUILDDIR, "report", "kmemtrace-report")
ALLOCATOR = os.path.join(TOP_BUILDDIR, "tests", "lib", "preload-malloc.so")


def has_sanitizer():
    """It has an allocator of its own."""
    with open(PROGRAM, "rb") as file:
        return b"__asan_init" in file.read()


class Options(DaemonTest):
    """The command line."""

    def refused(self, *args, text):
        """A mistake that is told before anything is done."""
        code, out, err = self.run_to_end(*args)
        self.assertEqual((code, out), (1, ""))
        self.assertIn(text, err)
        self.assertIn("Try 'kmemtraced --help'", err)
        self.assertFalse(os.path.exists(self.out))

    def test_mistakes(self):
        self.make_kernel()
        self.refused("--wrong", text="--wrong")
        self.refused("make", "-j2", text="'make' is one argument too many: a "
                     "command comes after '--'")
        self.refused("-w", text="-w")
        self.refused("-w1s", text="'1s' is not a time")
        for seconds in ("0", "-1", "x", "1x", "", "nan", "1e10"):
            self.refused("-w", seconds, text=f"'{seconds}' is not a time")

    def test_help_and_version(self):
        for option in ("--help", "-h", "--version", "-V"):
            code, out, err = Daemon([option]).finish()
            self.assertEqual((code, err), (0, ""), option)
            self.assertIn("kmemtraced", out)

    def test_stdout_that_is_full(self):
        for args in (["--version"], ["--help"]):
            with open("/dev/full", "w") as full:
                code, _, _ = Daemon(args, stdout=full).finish()
            self.assertEqual(code, 1, args)

    def test_summary_to_a_full_stdout(self):
        self.make_kernel()
        with open("/dev/full", "w") as full:
            daemon = self.start(stdout=full)
            self.kernel.feed(0, records(2))
            _, err = self.end(daemon, status=1)
        self.assertIn("cannot write the output: No space left", err)
        self.assertEqual(self.capture().cpu(0), records(2))

    def test_summary_to_a_reader_that_is_gone(self):
        self.make_kernel()
        read_end, write_end = os.pipe()
        os.close(read_end)
        daemon = self.start(stdout=write_end)
        os.close(write_end)
        self.kernel.feed(0, records(2))
        _, err = self.end(daemon, status=1)
        self.assertNotIn("output", err)
        self.assertEqual(self.capture().cpu(0), records(2))

    def test_descriptors_that_are_closed(self):
        """What is said must not end up in the capture."""
        kernel = self.make_kernel()
        for arguments, status in (([], 1), (["-q"], 0)):
            kernel.feed(0, records(3))
            done = subprocess.run(
                ["sh", "-c", '"$0" "$@" <&- >&- 2>&-', PROGRAM,
                 *self.args("-f", "-w", "0.1", *arguments)], check=False)
            self.assertEqual(done.returncode, status)
            capture = self.capture()
            self.assertEqual(capture.cpu(0), records(3))
            self.assertEqual(capture.cpu(1), b"")
            self.assertEqual(capture["complete"], "true")

    def test_stdout_that_is_closed(self):
        """What is not written is an error."""
        kernel = self.make_kernel()
        kernel.feed(0, records(3))
        for program in (
                [PROGRAM, *self.args()], [PROGRAM, "--version"],
                [PROGRAM, "--help"], [CHECK, self.out], [REPORT, self.out],
                # In a pipe, records go to a temporary file.
                ["sh", "-c", 'cat "$1" | "$0" -', REPORT,
                 os.path.join(self.out, "cpu0.out")]):
            done = subprocess.run(["sh", "-c", '"$0" "$@" >&-', *program],
                                  stderr=subprocess.PIPE, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1, program)
            self.assertIn("cannot write the output: Bad file descriptor",
                          done.stderr)
        self.assertEqual(self.capture().cpu(0), records(3))

    def test_command_with_closed_descriptors(self):
        """They are closed for the command, too, and no error of kmemtraced's.
        """
        self.make_kernel()
        done = subprocess.run(
            ["sh", "-c", '"$0" "$@" <&- >&-', PROGRAM,
             *self.args("-q", "--", "sh", "-c",
                        "test ! -e /proc/$$/fd/0 -a ! -e /proc/$$/fd/1")],
            check=False)
        self.assertEqual(done.returncode, 0)


class Kernel(DaemonTest):
    """No kernel to record from."""

    def refused(self, *texts, **settings):
        """It ends, says why and what to do, and leaves nothing."""
        code, out, err = self.run_to_end(**settings)
        self.assertEqual((code, out), (1, ""), err)
        for text in texts:
            self.assertIn(text, err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertFalse(os.path.exists(self.out))

    def test_no_debugfs(self):
        self.refused("no debugfs is mounted on", "mount -t debugfs none")
        os.mkdir(os.path.join(self.root, "debug"))
        self.refused("no debugfs is mounted on", "mount -t debugfs none")

    def test_no_kmemtrace_in_this_kernel(self):
        os.mkdir(os.path.join(self.root, "debug"))
        self.refused("there is no kmemtrace in this kernel",
                     "CONFIG_KMEMTRACE=y, or record its tracepoints with -s "
                     "ftrace", shim={"debugfs": 1})

    def test_no_permission(self):
        self.make_kernel()
        for name in ("kmemtrace", "abi_version", "enabled"):
            self.refused("Permission denied", "run kmemtraced as root",
                         shim={"open_file": name,
                               "open_errno": errno.EACCES})

    def test_lockdown(self):
        self.make_kernel()
        self.refused("Operation not permitted", "locked down",
                     shim={"open_file": "/kmemtrace",
                           "open_errno": errno.EPERM})

    def test_other_abi_version(self):
        self.make_kernel(abi_version=3)
        self.refused("records of version 3, but kmemtraced",
                     "takes versions 1 to 2", "belongs to this kernel")
        self.kernel.put("abi_version", "0\n")
        self.refused("records of version 0, but kmemtraced")
        self.kernel.put("abi_version", "one\n")
        self.refused("abi_version: 'one' is not a number")

    def test_other_record_size(self):
        kernel = self.make_kernel(abi_version=2, record=80)
        self.refused("records of 80 bytes, which version 2 does not have")
        kernel.put("record_size", "64 bytes\n")
        self.refused("record_size: '64 bytes' is not a number")
        kernel.put("abi_version", "1\n")
        kernel.put("record_size", "72\n")
        self.refused("records of 72 bytes, which version 1 does not have")

    def test_control_files_without_sense(self):
        kernel = self.make_kernel()
        for name, text, said in (
                ("enabled", "2", "'2' is neither 0 nor 1"),
                ("subbufs", "many", "'many' is not a number"),
                ("subbuf_size", "", "'' is not a number"),
                ("consumed", "cpu0", "'cpu0' is not a CPU and a number"),
                ("consumed", "0 1", "'0' is not a CPU and a number"),
                ("consumed", "cpu0 x", "'x' is not a number")):
            right = kernel.get(name)
            kernel.put(name, text)
            self.refused(name, said)
            kernel.put(name, right)
        os.unlink(os.path.join(kernel.path, "total_overruns"))
        self.refused("total_overruns: No such file")

    def test_no_cpu_file(self):
        self.make_kernel(cpus=())
        self.refused("there is no cpu<n> in")
        self.assertEqual(self.kernel.get("enabled"), "0")

    def test_cannot_enable(self):
        self.make_kernel()
        self.refused("cannot switch tracing on", "Cannot allocate memory",
                     "kmemtrace.subbufs",
                     shim={"enable_errno": errno.ENOMEM})

    def test_cpu_file_that_cannot_be_opened(self):
        self.make_kernel()
        self.refused("cannot open cpu1 in debugfs: Input/output error",
                     shim={"open_file": "cpu1", "open_errno": errno.EIO})

    def test_two_at_once(self):
        self.make_kernel()
        first = self.start(out=os.path.join(self.root, "first"))
        self.refused("another kmemtraced is running "
                     f"(process {first.process.pid})", "end that one first")
        # The second has not taken the lock away from the first.
        self.refused(f"process {first.process.pid}")
        self.end(first)

    def test_cannot_disable(self):
        kernel = self.make_kernel()
        daemon = self.start(shim={"disable_errno": errno.EIO})
        kernel.feed(0, records(10))
        kernel.wait_read()
        daemon.signal()
        code, _, err = daemon.finish()
        self.assertEqual(code, 1)
        self.assertIn("cannot switch tracing off", err)
        self.assertIn("echo 0 >", err)
        self.assertEqual(self.capture().cpu(0), records(10))
        self.assertEqual(self.capture()["complete"], "false")

    def test_overruns_that_cannot_be_read(self):
        kernel = self.make_kernel()
        daemon = self.start()
        kernel.feed(0, records(10))
        kernel.put("overruns", "nonsense\n")
        out, err = self.end(daemon, status=1)
        self.assertIn("'nonsense' is not a CPU", err)
        self.assertIn("events lost unknown", out)
        capture = self.capture()
        self.assertEqual(capture["complete"], "false")
        self.assertNotIn("overruns", capture.meta["capture"])
        self.assertNotIn("overruns", capture.meta["cpu0"])

    def test_read_error(self):
        """One CPU is lost; the others go on."""
        kernel = self.make_kernel()
        daemon = self.start(shim={"read_file": "kmemtrace/cpu0",
                                  "read_errno": errno.EIO,
                                  "on_enable": "exit 0"})
        daemon.wait_line("warning: cannot read the records of CPU 0")
        kernel.feed(1, records(600, cpu=1))
        _, err = self.end(daemon, status=1)
        self.assertIn("cannot read the records of CPU 0 (cpu0): "
                      "Input/output error", err)
        self.assertEqual(self.capture().cpu(0), b"")
        self.assertEqual(self.capture().cpu(1), records(600, cpu=1))
        self.assertEqual(self.capture()["complete"], "false")

    def test_cpu_file_that_hangs_up(self):
        kernel = self.make_kernel()
        daemon = self.start()
        kernel.feed(0, records(11))
        kernel.wait_read()
        kernel.hang_up(0)
        daemon.wait_line("CPU 0: its file cpu0 in debugfs went away")
        self.assertEqual(kernel.get("enabled"), "1")
        kernel.feed(1, records(12))
        _, err = self.end(daemon, status=1)
        self.assertIn("went away; record again without unloading kmemtrace; "
                      "what was read before is saved", err)
        self.assertEqual(self.capture().cpu(0), records(11))
        self.assertEqual(self.capture().cpu(1), records(12))

    def test_cpu_file_whose_name_goes(self):
        kernel = self.make_kernel()
        daemon = self.start()
        kernel.feed(0, records(11))
        kernel.wait_read()
        os.unlink(os.path.join(kernel.path, "cpu0"))
        daemon.wait_line("CPU 0: its file cpu0 in debugfs went away")
        self.end(daemon, status=1)
        self.assertEqual(self.capture().cpu(0), records(11))

    def test_all_cpu_files_go(self):
        """There is nothing to wait for any more."""
        kernel = self.make_kernel()
        daemon = self.start()
        kernel.feed(0, records(1))
        kernel.wait_read()
        kernel.hang_up(0)
        kernel.hang_up(1)
        self.check_end(daemon, status=1)
        self.assertEqual(self.capture().cpu(0), records(1))

    def test_part_of_a_record(self):
        kernel = self.make_kernel()
        daemon = self.start()
        kernel.feed(0, records(5) + b"part")
        _, err = self.end(daemon, status=1)
        self.assertIn("the kernel gave a part of a record", err)
        self.assertEqual(self.capture().cpu(0), records(5))


class Directory(DaemonTest):
    """No place for the capture."""

    def refused(self, *texts, args=(), out=None, **settings):
        """It ends, says why and what to do; tracing stays off."""
        code, stdout, err = self.run_to_end(*args, out=out, **settings)
        self.assertEqual((code, stdout), (1, ""), err)
        for text in texts:
            self.assertIn(text, err)
        self.assertEqual(self.kernel.get("enabled"), "0")

    def test_parent_that_is_missing(self):
        self.make_kernel()
        self.refused("cannot make the directory", "No such file",
                     out=os.path.join(self.root, "a", "b"))

    def test_file_in_its_place(self):
        self.make_kernel()
        self.write(self.out, "")
        self.refused("cannot open the directory", "Not a directory")

    def test_capture_that_is_there(self):
        self.make_kernel()
        os.makedirs(self.out)
        path = os.path.join(self.out, "kmemtrace.meta")
        for text, cut_off in (("old", ""),
                              ("[capture]\ncomplete=false\n",
                               ", which was cut off")):
            self.write(path, text)
            self.refused(f"there is a capture already{cut_off}: {path} exists",
                         "replace that capture with -f")
            self.assertEqual(os.listdir(self.out), ["kmemtrace.meta"])

    def test_capture_of_its_own(self):
        self.make_kernel()
        daemon = self.start()
        self.kernel.feed(0, records(3))
        self.end(daemon)
        self.refused("kmemtrace.meta exists")
        self.assertEqual(self.capture().cpu(0), records(3))

    def test_force(self):
        self.make_kernel()
        os.mkdir(self.out)
        tables = ("kallsyms", "modules", "info", "caches", "tasks", "marks",
                  "stacks", "kmemtrace.meta")
        for name in ("cpu0.out", "cpu9.out"):
            self.write(os.path.join(self.out, name), "old")
        for name in tables:
            text = {"kallsyms": "ffffffff81000000 T _text\n",
                    "modules": "ext4 1024 1 - Live 0x0000000000000000\n"
                    }.get(name, f"# kmemtrace: {name}\n")
            self.write(os.path.join(self.out, name), text)
            self.write(os.path.join(self.out, name + ".tmp"), text[:5])
        os.unlink(os.path.join(self.proc, "modules"))
        daemon = self.start("-f")
        self.kernel.feed(1, records(3))
        self.end(daemon)
        capture = self.capture()
        self.assertEqual(capture.files, ["cpu0.out", "cpu1.out", "kallsyms",
                                         "kmemtrace.meta"])
        self.assertEqual(capture.cpu(0), b"")
        self.assertEqual(capture.cpu(1), records(3))

    def test_force_does_not_follow_links(self):
        self.make_kernel()
        os.mkdir(self.out)
        precious = os.path.join(self.root, "precious")
        self.write(precious, "mine")
        self.write(os.path.join(self.out, "kmemtrace.meta"), "old")
        os.symlink(precious, os.path.join(self.out, "cpu0.out"))
        self.end(self.start("-f"))
        self.assertEqual(open(precious).read(), "mine")

    def test_force_that_cannot_remove(self):
        self.make_kernel()
        os.makedirs(os.path.join(self.out, "cpu0.out"))
        self.write(os.path.join(self.out, "kmemtrace.meta"), "old")
        self.refused("cpu0.out exists", args=["-f"])

    def test_force_removes_nothing_when_there_is_no_kernel(self):
        os.mkdir(self.out)
        self.write(os.path.join(self.out, "cpu0.out"), "old")
        code, _, _ = self.run_to_end("-f")
        self.assertEqual(code, 1)
        self.assertEqual(Capture(self.out).cpu(0), b"old")

    def test_directory_in_use(self):
        self.make_kernel()
        os.mkdir(self.out)
        fd = os.open(self.out, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        self.refused("another program writes to the directory")
        os.close(fd)

    def test_directory_that_becomes_free(self):
        self.make_kernel()
        os.mkdir(self.out)
        fd = os.open(self.out, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        log, lines = self.make_log()
        daemon = self.spawn(shim={"log": log})
        wait_for(lambda: lines().count("flock") >= 2, "the lock is tried again")
        self.assertEqual(os.listdir(self.out), [])
        os.close(fd)
        daemon.wait_line("recording")
        self.end(daemon)

    def test_files_that_cannot_be_made(self):
        self.make_kernel()
        for name in ("cpu1.out", "kallsyms.tmp", "kmemtrace.meta.tmp"):
            self.refused(name.replace(".tmp", ""), "No space left on device",
                         shim={"open_file": name,
                               "open_errno": errno.ENOSPC})
            self.assertFalse(os.path.exists(self.out))

    def test_full_before_it_began(self):
        self.make_kernel()
        for name in ("kallsyms.tmp", "kmemtrace.meta.tmp"):
            self.refused("cannot write", "No space left on device",
                         "another file system with -D",
                         "nothing was recorded",
                         shim={"write_file": name, "write_limit": 10})
            self.assertFalse(os.path.exists(self.out))

    def test_no_room_for_the_tables_of_a_trace_from_boot(self):
        """What was traced goes first, and is kept."""
        kernel = self.make_kernel(enabled=1)
        kernel.feed(0, records(9))
        daemon = self.spawn(shim={"write_file": "kallsyms.tmp",
                                  "write_limit": 10})
        _, err = self.check_end(daemon, status=1)
        self.assertIn("kallsyms: No space left on device", err)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), records(9))
        self.assertEqual(capture["complete"], "false")
        self.assertNotIn("kallsyms", capture.files)

    def test_no_room_for_the_tables_of_the_records(self):
        kernel = self.make_kernel(abi_version=2)
        kernel.put("caches", "a table\n")
        daemon = self.spawn(shim={"write_file": "caches.tmp",
                                  "write_limit": 3})
        code, _, err = daemon.finish()
        self.assertEqual(code, 1)
        self.assertIn("caches: No space left on device", err)
        self.assertNotIn("caches", self.capture().files)

    def test_tables_of_the_records_that_cannot_be_read(self):
        kernel = self.make_kernel(abi_version=2)
        kernel.put("caches", "a table\n")
        kernel.put("tasks", "another\n")
        daemon = self.start(shim={"read_file": "kmemtrace/caches"})
        _, err = self.end(daemon)
        self.assertIn("kmemtrace/caches: ", err)
        self.assertIn("the capture goes without it", err)
        capture = self.capture()
        self.assertNotIn("caches", capture.files)
        self.assertEqual(capture.read("tasks"), b"another\n")

    def test_kallsyms_that_cannot_be_read(self):
        self.make_kernel()
        daemon = self.start(shim={"read_file": "proc/kallsyms"})
        self.kernel.feed(0, records(3))
        _, err = self.end(daemon)
        self.assertIn("warning: cannot read", err)
        self.assertIn("the capture goes without it", err)
        self.assertNotIn("kallsyms", self.capture().files)
        self.assertEqual(self.capture()["complete"], "true")


class Disk(DaemonTest):
    """The disk fails while recording."""

    def fail(self, shim, fed, *texts, **settings):
        """CPU 1 cannot write what is fed; CPU 0 can."""
        kernel = self.make_kernel()
        daemon = self.start(shim={"write_file": "cpu1.out", **shim},
                            **settings)
        kernel.feed(0, records(700))
        kernel.feed(1, fed)
        out, err = self.check_end(daemon, status=1)
        for text in texts:
            self.assertIn(text, err)
        capture = self.capture()
        self.assertEqual(capture["complete"], "false")
        self.assertEqual(capture["overruns"], "0")
        self.assertEqual(capture.cpu(0), records(700)[:len(capture.cpu(0))])
        self.assertEqual(capture.cpu(1), fed[:len(capture.cpu(1))])
        self.assertEqual(capture.meta["cpu1"]["bytes"],
                         str(len(capture.cpu(1))))
        self.assertIn(f"kmemtrace-report {self.out}", out)
        return capture, err

    def test_full(self):
        """It ends by itself; the message tells what was missing."""
        limit = CHUNK + 1000
        fed = records(3 * CHUNK // RECORD)
        capture, err = self.fail(
            {"write_limit": limit}, fed,
            f"cannot write {self.out}/cpu1.out (",
            "No space left on device; make room there")
        whole = limit - limit % RECORD
        self.assertEqual(len(capture.cpu(1)), whole)
        self.assertIn(f"({len(fed) - whole} bytes of trace found no room)",
                      err)

    def test_full_at_each_place(self):
        """Wherever in a record or a block it ends."""
        for limit in (0, 1, 55, 56, 57, 4095, 4096, 4097, CHUNK - 1, CHUNK,
                      CHUNK + 1, 2 * CHUNK - 4096):
            with self.subTest(limit):
                self.setUp()
                fed = records(2 * CHUNK // RECORD)
                capture, _ = self.fail({"write_limit": limit}, fed,
                                       "No space left")
                self.assertEqual(len(capture.cpu(1)), limit - limit % RECORD)

    def test_full_for_the_rest(self):
        """There is room but for what is written last."""
        kernel = self.make_kernel()
        daemon = self.start(shim={"write_file": "cpu1.out",
                                  "write_limit": CHUNK + 60})
        kernel.feed(1, records(CHUNK // RECORD + 10))
        _, err = self.end(daemon, status=1)
        self.assertIn(f"({9 * RECORD} bytes of trace found no room)", err)
        self.assertEqual(self.capture().cpu(1), records(CHUNK // RECORD + 1))

    def test_full_and_much_more_to_come(self):
        """The kernel's buffers are emptied, or the next kmemtraced would take
        them for a trace that somebody left for it."""
        kernel = self.make_kernel()
        more = records(MANY_MORE)
        self.write(os.path.join(self.root, "more"), more)
        daemon = self.start(shim={
            "write_file": "cpu1.out", "write_limit": 0,
            "on_disable": f"cat {self.root}/more > {kernel.path}/cpu1"})
        kernel.feed(1, records(2 * CHUNK // RECORD))
        _, err = self.check_end(daemon, status=1)
        self.assertEqual(kernel.unread(1), 0)
        self.assertIn(f"({2 * CHUNK + len(more)} bytes", err)

    def test_quota_and_limits(self):
        for number in (errno.EDQUOT, errno.EFBIG):
            with self.subTest(number):
                self.setUp()
                self.fail({"write_limit": 0, "write_errno": number},
                          records(2 * CHUNK // RECORD),
                          os.strerror(number), "room")

    def test_size_limit_of_the_shell(self):
        """ulimit -f, which sends a signal too."""
        kernel = self.make_kernel(cpus=(0,))
        limit = 3 * 4096
        daemon = self.start(preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, limit)))
        kernel.feed(0, records(2 * CHUNK // RECORD))
        _, err = self.check_end(daemon, status=1)
        self.assertIn("File too large", err)
        self.assertEqual(self.capture().cpu(0),
                         records(limit // RECORD))

    def test_io_error(self):
        self.fail({"write_limit": 100, "write_errno": errno.EIO},
                  records(2 * CHUNK // RECORD),
                  "Input/output error; choose a directory on another file")

    def test_sync_error(self):
        kernel = self.make_kernel()
        os.unlink(os.path.join(self.proc, "kallsyms"))
        os.unlink(os.path.join(self.proc, "modules"))
        daemon = self.start(shim={"fsync_file": ".out",
                                  "fsync_errno": errno.EIO})
        kernel.feed(0, records(3))
        _, err = self.end(daemon, status=1)
        self.assertIn("cpu0.out", err)
        self.assertEqual(self.capture()["complete"], "false")

    def test_meta_on_a_full_disk(self):
        """The old one stays, and says that the capture is not complete."""
        kernel = self.make_kernel()
        go = os.path.join(self.root, "go")
        daemon = self.start(shim={"write_file": "kmemtrace.meta.tmp",
                                  "write_limit": 10, "write_if": go})
        kernel.feed(0, records(3))
        self.write(go, "")
        _, err = self.end(daemon, status=1)
        self.assertIn("kmemtrace.meta: No space left on device", err)
        capture = self.capture()
        self.assertEqual(capture["complete"], "false")
        self.assertEqual(capture["record_size"], "56")
        self.assertNotIn("overruns", capture.meta["capture"])
        self.assertNotIn("kmemtrace.meta.tmp", capture.files)
        self.assertEqual(capture.cpu(0), records(3))

    def test_table_that_cannot_be_renewed(self):
        """A capture with an old table does not claim to be complete."""
        kernel = self.make_kernel()
        kernel.put("info", "# kmemtrace: info\nmode discard\n")
        go = os.path.join(self.root, "go")
        daemon = self.start(shim={"write_file": "info.tmp", "write_limit": 0,
                                  "write_if": go})
        kernel.feed(0, records(3))
        kernel.wait_read()
        self.write(go, "")
        _, err = self.end(daemon, status=1)
        self.assertIn("info: No space left on device", err)
        self.assertEqual(Capture(self.out)["complete"], "false")

    def test_room_for_meta_is_set_aside(self):
        self.make_kernel()
        daemon = self.start()
        path = os.path.join(self.out, "kmemtrace.meta.tmp")
        self.assertGreaterEqual(os.stat(path).st_blocks * 512, 4096)
        self.end(daemon)
        self.assertNotIn("kmemtrace.meta.tmp", self.capture().files)

    def test_second_signal_does_not_wait_for_the_disk(self):
        kernel = self.make_kernel()
        fifo, go, shim = self.hang_disk()
        daemon = self.start(shim=shim)
        more = records(3000, start=1100)
        kernel.feed(0, records(1100))
        wait_for(lambda: os.path.exists(fifo + ".waits"), "a write")
        kernel.feed(0, more)
        daemon.signal()
        daemon.wait_line("writing what is buffered")
        daemon.signal()
        daemon.wait_line("not waiting for the disk")
        os.write(go, b"x") # lets a single write through
        _, err = self.check_end(daemon, status=1)
        self.assertIn("ended before all was written", err)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), records(2 * CHUNK // RECORD))
        self.assertEqual(capture["complete"], "false")
        self.assertEqual(kernel.unread(0), 0)

    def start_on_slow_disk(self, **more):
        """All was read, and waits to be written: kmemtraced, what to let go."""
        _, go, shim = self.hang_disk()
        kernel = self.make_kernel()
        daemon = self.start(shim={**shim, **more})
        kernel.feed(0, records(1100))
        kernel.wait_read()
        return daemon, go

    def test_first_signal_after_the_end_gives_nothing_up(self):
        """Somebody else ended it, which the user may not have seen yet."""
        daemon, go = self.start_on_slow_disk()
        self.kernel.put("enabled", "0\n")
        daemon.wait_line("switched off by somebody else")
        daemon.signal()
        daemon.wait_line("writing what is buffered")
        os.write(go, b"x" * 100)
        _, err = self.check_end(daemon)
        self.assertNotIn("not waiting", err)
        self.assertEqual(self.capture().cpu(0), records(1100))

    def test_third_signal_ends_it(self):
        clock = self.make_clock()
        daemon, _ = self.start_on_slow_disk(clock=clock)
        daemon.signal()

        def later():
            clock.pass_by(2)
            daemon.signal(signal.SIGCHLD) # only wakes it
        daemon.wait_line("writing what is buffered", later)
        daemon.signal()
        daemon.wait_line("not waiting for the disk")
        clock.pass_by(2)
        daemon.signal()
        self.check_end(daemon, status=1)
        self.assertEqual(self.capture()["complete"], "false")


MANY_MORE = 15000


class Killed(DaemonTest):
    """SIGKILL, at any moment."""

    def wait_guard(self):
        """Until nobody holds the directory."""
        fd = os.open(self.out, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        os.close(fd)

    def killed(self, daemon):
        """After its end by SIGKILL: what it left."""
        code, _, _ = daemon.finish()
        self.assertEqual(code, -signal.SIGKILL)
        self.wait_guard()
        capture = self.capture()
        self.assertEqual(capture["complete"], "false")
        self.assertNotIn("overruns", capture.meta["capture"])
        return capture

    def test_within_a_write(self):
        for at in (1, 56, 4096, CHUNK + 4096, 3 * CHUNK + 57):
            with self.subTest(at):
                self.setUp()
                kernel = self.make_kernel(cpus=(0,))
                daemon = self.start(shim={"write_file": "cpu0.out",
                                          "write_kill": at})
                fed = records(5 * CHUNK // RECORD)
                kernel.feed(0, fed)
                capture = self.killed(daemon)
                self.assertEqual(capture.cpu(0), fed[:at - at % RECORD])
                self.assertEqual(capture.read("kallsyms").decode(),
                                 self.KALLSYMS)
                # The kernel is as before; the next one takes the rest.
                self.assertEqual(kernel.get("enabled"), "0")

    def test_within_a_write_of_version_2(self):
        kernel = self.make_kernel(cpus=(0,), abi_version=2)
        kernel.put("caches", "of the start\n")
        daemon = self.start(shim={"write_file": "cpu0.out",
                                  "write_kill": 4096 + 56})
        wait_for(lambda: os.path.exists(f"{self.out}/caches"),
                 "the tables are copied")
        fed = records_v2(5 * CHUNK // RECORD_V2)
        kernel.feed(0, fed)
        capture = self.killed(daemon)
        self.assertEqual(capture.cpu(0), fed[:4096])
        self.assertEqual(capture.read("caches"), b"of the start\n")

    def test_at_any_time(self):
        """No write goes past the page cache, where a kill may cut it."""
        kernel = self.make_kernel()
        rng = seeds.generator("test_at_any_time")
        fed = {0: b"", 1: b""}
        for _ in range(10):
            # Without a capture there, it writes into the directory itself.
            shutil.rmtree(self.out, ignore_errors=True)
            daemon = self.start("-f", shim={"direct": "refuse"})
            for cpu in (0, 1):
                fed[cpu] = records(rng.randrange(20000), cpu=cpu)
                kernel.feed(cpu, fed[cpu][:1 << 19])
            # The kill falls behind a write that is chosen at random.
            whole = min(len(fed[0]), 1 << 19) // CHUNK
            size = rng.randint(0, max(whole - 1, 0)) * CHUNK
            path = os.path.join(self.out, "cpu0.out")
            wait_for(lambda: os.path.getsize(path) >= size,
                     f"{size} bytes are written")
            daemon.signal(signal.SIGKILL)
            capture = self.killed(daemon)
            for cpu in (0, 1):
                self.assertTrue(fed[cpu].startswith(capture.cpu(cpu)))
                # What was not read is the next one's, not this test's.
                if kernel.unread(cpu):
                    os.read(kernel.fifos[cpu], 1 << 20)

    def test_started_again(self):
        """The next one continues, and says so."""
        kernel = self.make_kernel(enabled=1)
        daemon = self.start()
        kernel.feed(0, records(1024))
        kernel.wait_read()
        wait_for(lambda: os.stat(f"{self.out}/cpu0.out").st_size == 2 * CHUNK,
                 "chunks are written")
        daemon.signal(signal.SIGKILL)
        self.assertEqual(self.killed(daemon).cpu(0), records(1024))
        kernel.set_consumed({0: 2 * CHUNK, 1: 0})
        kernel.feed(0, records(100, start=1024))
        self.out = os.path.join(self.root, "second")
        self.end(self.start())
        capture = self.capture()
        self.assertEqual(capture.cpu(0), records(100, start=1024))
        self.assertEqual(capture["continues"], "true")
        self.assertEqual(capture["complete"], "true")

    def test_guard_is_not_killed_by_name(self):
        self.make_kernel()
        daemon = self.start()
        pid = daemon.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = file.read().split()
        self.assertEqual(len(children), 1)
        with open(f"/proc/{children[0]}/comm") as file:
            self.assertEqual(file.read(), "kmemtrace-guard\n")
        self.end(daemon)
        self.assertFalse(os.path.exists(f"/proc/{children[0]}"))


@unittest.skipIf(has_sanitizer(), "built with a sanitizer")
class Memory(DaemonTest):
    """Memory runs out while kmemtraced records."""

    def run_out(self, *more, status):
        """What was recorded before is there, and tracing is off."""
        self.make_kernel()
        flag = os.path.join(self.root, "no-memory")
        daemon = self.start(*more, env={"LD_PRELOAD": ALLOCATOR,
                                        "PRELOAD_FAIL_IF": flag})
        fed = records(2 * CHUNK // RECORD)
        self.kernel.feed(0, fed)
        wait_for(lambda: os.path.getsize(os.path.join(self.out, "cpu0.out"))
                 == len(fed), "the records are written")
        self.write(flag, "")
        code, _, err = daemon.finish()
        self.assertEqual(code, status, err)
        self.assertIn("kmemtraced: out of memory: ", err)
        wait_for(lambda: self.kernel.get("enabled") == "0",
                 "the cleanup process switches tracing off")
        os.unlink(flag)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), fed)
        self.assertEqual(capture["complete"], "false")

    def test_runs_out(self):
        self.run_out(status=1)

    def test_runs_out_beside_a_command(self):
        fifo = os.path.join(self.root, "go")
        os.mkfifo(fifo)
        self.run_out("--", "sh", "-c", f"exec >/dev/null 2>&1; read x <{fifo}",
                     status=125)
        with open(fifo, "w"):
            pass


if __name__ == "__main__":
    main()
