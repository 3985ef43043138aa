#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced with wrong options, and with kernels that it cannot record: messages,
exit status, and the records that are saved nevertheless."""

import errno
import os
import subprocess

from kmemtraced_fake import (CHECK, PROGRAM, TOP_BUILDDIR, Daemon, DaemonTest,
                             main, records)

REPORT = os.path.join(TOP_BUILDDIR, "report", "kmemtrace-report")


class Options(DaemonTest):
    """Wrong options, and standard output that cannot be written."""

    def refused(self, *args, text):
        """Expect an error before kmemtraced changes anything."""
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

    def test_cgroups(self):
        """Globs that match no path, and sources that cannot select cgroups."""
        self.make_kernel()
        for glob in ("", "system.slice", "/a,/b", "/a b"):
            self.refused("--cgroup", glob, text=f"--cgroup '{glob}' does not match "
                         "paths: a glob begins with '/'")
        self.refused("-S", "--cgroup", "/a", text="-S saves a snapshot")
        for source, text in (("relay", "this kernel's kmemtrace cannot select"),
                             ("ftrace", "the source ftrace has no filter but -p")):
            code, _, err = self.run_to_end("-s", source, "--cgroup", "/a")
            self.assertEqual(code, 1)
            self.assertIn(text, err)

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
        """Messages must not be written into the capture if stderr is closed."""
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
        """A failure to write to stdout is an error."""
        kernel = self.make_kernel()
        kernel.feed(0, records(3))
        for program in (
                [PROGRAM, *self.args()], [PROGRAM, "--version"],
                [PROGRAM, "--help"], [CHECK, self.out], [REPORT, self.out],
                # Records from a pipe are copied to a temporary file.
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
        """Closed descriptors remain closed for the command, and are no error."""
        self.make_kernel()
        done = subprocess.run(
            ["sh", "-c", '"$0" "$@" <&- >&-', PROGRAM,
             *self.args("-q", "--", "sh", "-c",
                        "test ! -e /proc/$$/fd/0 -a ! -e /proc/$$/fd/1")],
            check=False)
        self.assertEqual(done.returncode, 0)


class Kernel(DaemonTest):
    """Control files and buffers that are missing, damaged or refused."""

    def refused(self, *texts, args=(), **settings):
        """Expect an error message with a cause and an action; no capture remains."""
        code, out, err = self.run_to_end(*args, **settings)
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
                     "CONFIG_KMEMTRACE=y, or record with -s bpf or -s ftrace", shim={"debugfs": 1})

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
        self.make_kernel(abi_version=4)
        self.refused("records of version 4, but kmemtraced",
                     "supports versions 1 to 3", "belongs to this kernel")
        self.kernel.put("abi_version", "0\n")
        self.refused("records of version 0, but kmemtraced")
        self.kernel.put("abi_version", "one\n")
        self.refused("abi_version: 'one' is not a number")

    def test_stacks(self):
        kernel = self.make_kernel(abi_version=3)
        self.refused("this kernel's kmemtrace records no stacks: boot it with "
                     "kmemtrace.stacks=yes", args=["--stacks"])
        kernel.put("record_size", "72\n")
        self.refused("from its parameter kmemtrace.stack_depth=",
                     args=["--stacks=8"])
        code, _, err = self.run_to_end("-w", "0.1", "--stacks")
        self.assertEqual(code, 0, err)

    def test_buffer_size(self):
        self.make_kernel()
        code, _, err = self.run_to_end("-w", "0.1", "-b", "64", "-t", self.root)
        self.assertEqual(code, 0, err)
        self.assertIn("-b has no effect: the buffers of the source relay are "
                      "made at boot", err)

    def test_other_record_size(self):
        kernel = self.make_kernel(abi_version=3, record=80)
        self.refused("records of 80 bytes, which version 3 does not have")
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
        # The second kmemtraced has not released the first one's lock.
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

    def start_with(self, number):
        """Start a recording that has read this number of records of CPU 0."""
        kernel = self.make_kernel()
        daemon = self.start()
        kernel.feed(0, records(number))
        kernel.wait_read()
        return kernel, daemon

    def test_cpu_file_that_hangs_up(self):
        kernel, daemon = self.start_with(11)
        kernel.hang_up(0)
        daemon.wait_line("CPU 0: its file cpu0 in debugfs disappeared")
        self.assertEqual(kernel.get("enabled"), "1")
        kernel.feed(1, records(12))
        _, err = self.end(daemon, status=1)
        self.assertIn("disappeared; record again without unloading kmemtrace; "
                      "the records read before are saved", err)
        self.assertEqual(self.capture().cpu(0), records(11))
        self.assertEqual(self.capture().cpu(1), records(12))

    def test_cpu_file_whose_name_goes(self):
        kernel, daemon = self.start_with(11)
        os.unlink(os.path.join(kernel.path, "cpu0"))
        daemon.wait_line("CPU 0: its file cpu0 in debugfs disappeared")
        self.end(daemon, status=1)
        self.assertEqual(self.capture().cpu(0), records(11))

    def test_all_cpu_files_go(self):
        """The recording ends when the last cpu file disappears. Each is reported
        once."""
        kernel, daemon = self.start_with(1)
        kernel.hang_up(0)
        daemon.wait_line("warning: CPU 0: its file cpu0 in debugfs disappeared")
        kernel.hang_up(1)
        _, err = self.check_end(daemon, status=1)
        self.assertEqual(err.count("warning: CPU 0"), 1)
        self.assertEqual(err.count("warning: CPU 1"), 1)
        self.assertEqual(self.capture().cpu(0), records(1))

    def test_part_of_a_record(self):
        kernel = self.make_kernel()
        daemon = self.start()
        kernel.feed(0, records(5) + b"part")
        _, err = self.end(daemon, status=1)
        self.assertIn("the kernel returned an incomplete record", err)
        self.assertEqual(self.capture().cpu(0), records(5))


class ReadError(DaemonTest):
    """The recording continues without the CPU whose file cannot be read."""

    def test_read_error(self):
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


class MappedReadError(ReadError):
    """The same case with the mapped reader."""
    mapped = True


if __name__ == "__main__":
    main()
