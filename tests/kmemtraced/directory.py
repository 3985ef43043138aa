#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How kmemtraced replaces a capture with -f, and how it locks the directory."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from files import contents
from kmemtraced_fake import (CHECK, CHUNK, TOP_BUILDDIR, Capture, DaemonTest,
                             main, records, wait_for)
from kmemtraced_tracefs import TracefsTest

REPORT = os.path.join(TOP_BUILDDIR, "report", "kmemtrace-report")
OLD = 77
NEW = 33


class Replacing(DaemonTest):
    """kmemtraced -f keeps the old capture until the new one is complete."""

    def setUp(self):
        super().setUp()
        self.make_kernel(cpus=(0, 1))
        self.kernel.feed(0, records(OLD))
        code, _, err = self.run_to_end()
        self.assertEqual(code, 0, err)
        self.old = contents(self.out)
        self.assertIn("cpu0.out", self.old)
        self.new = os.path.join(self.out, "kmemtrace.new-1")

    def is_old(self):
        """Expect the old capture and no other file."""
        self.assertEqual(contents(self.out), self.old)
        self.assertEqual(sorted(os.listdir(self.out)), sorted(self.old))

    def is_new(self):
        """Expect the new capture and no other file."""
        self.assertEqual(self.capture().cpu(0), records(NEW))
        self.assertEqual(self.capture()["complete"], "true")
        self.assertEqual(self.capture().files, sorted(self.old))

    def test_replaced_when_it_is_complete(self):
        daemon = self.start("-f")
        self.kernel.feed(0, records(NEW))
        self.kernel.wait_read()
        self.assertEqual(contents(self.out).keys() - {"kmemtrace.lock"},
                         self.old.keys())
        self.assertEqual(Capture(self.out).cpu(0), records(OLD))
        out, _ = self.end(daemon)
        self.is_new()
        self.assertIn(f"kmemtrace-report {self.out}\n", out)

    def test_current_directory(self):
        args = ["." if arg == self.out else arg for arg in self.args("-f")]
        self.kernel.feed(0, records(NEW))
        subprocess.run([os.path.join(TOP_BUILDDIR, "kmemtraced/kmemtraced"),
                        *args, "-q"], cwd=self.out, check=True)
        self.is_new()

    def run_without_directory(self, *more):
        """Run kmemtraced in the output directory, without -D; return stderr."""
        args = self.args("-f", *more)
        del args[args.index("-D"):args.index("-D") + 2]
        self.kernel.feed(0, records(NEW))
        done = subprocess.run(
            [os.path.join(TOP_BUILDDIR, "kmemtraced/kmemtraced"), *args],
            cwd=self.out, check=True, capture_output=True, text=True,
            env={**os.environ, **self.notes()})
        self.assertEqual(self.capture().cpu(0), records(NEW))
        return done.stderr

    def test_other_files(self):
        """Without -D, other files in the current directory cause a warning."""
        for name in "kmemtrace.lock", "kmemtrace.meta.tmp":
            self.write(os.path.join(self.out, name), "")
        self.assertNotIn("warning", self.run_without_directory())
        self.write(os.path.join(self.out, "notes"), "")
        said = self.run_without_directory("-q")
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn("kmemtraced: warning: the capture is written into the "
                      "current directory, beside other files such as 'notes'",
                      said)
        self.assertIn("run kmemtraced -D capture\n", said)
        self.kernel.feed(0, records(NEW))
        code, _, said = self.run_to_end("-f")
        self.assertEqual(code, 0)
        self.assertNotIn("warning", said)

    @unittest.skipIf(subprocess.run(["unshare", "-rm", "true"], check=False,
                                    stderr=subprocess.DEVNULL).returncode,
                     "no user namespaces")
    def test_mount_point(self):
        """A mount point cannot be replaced by rename()."""
        new = os.path.join(self.root, "new")
        script = ('mount -t tmpfs -o mode=700 none "$1" && cp -r "$2"/. "$1" && '
                  'cmp "$1"/cpu0.out "$2"/cpu0.out && shift 2 && "$@"')
        copy = os.path.join(self.root, "copy")
        shutil.copytree(self.out, copy)
        self.kernel.feed(0, records(NEW))
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", script + f' && cp -r "$0"/. {new}',
             self.out, self.out, copy,
             os.path.join(TOP_BUILDDIR, "kmemtraced/kmemtraced"),
             *self.args("-f")], check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.is_old()
        os.rename(self.out, self.out + ".old")
        os.rename(new, self.out)
        self.is_new()

    def test_other_cpus(self):
        """Files of the old capture that the new capture lacks are removed."""
        os.unlink(os.path.join(self.kernel.path, "cpu1"))
        self.kernel.feed(0, records(NEW))
        self.assertEqual(self.run_to_end("-f")[0], 0)
        self.assertEqual(self.capture().files,
                         [name for name in sorted(self.old)
                          if name != "cpu1.out"])

    def test_file_system_without_renameat2(self):
        self.kernel.feed(0, records(NEW))
        code, _, err = self.run_to_end("-f", shim={"no_renameat2": 1})
        self.assertEqual(code, 0, err)
        self.is_new()

    def test_command_that_is_not_found(self):
        for argv, status in ((["/nonexistent/program"], 127),
                             ([self.root], 126)):
            code, _, err = self.run_to_end("-f", "--", *argv)
            self.assertEqual(code, status, err)
            self.is_old()

    def test_signal_before_recording(self):
        def interrupted():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            os.kill(os.getpid(), signal.SIGINT)

        code, _, err = self.run_to_end("-f", preexec_fn=interrupted)
        self.assertEqual(code, 1, err)
        self.assertIn("interrupted before recording began; nothing was "
                      "recorded", err)
        self.is_old()

    def test_full_disk_before_recording(self):
        for name in ("kallsyms.tmp", "kmemtrace.meta.tmp"):
            code, _, err = self.run_to_end("-f", shim={
                "write_file": name, "write_limit": 10})
            self.assertEqual(code, 1, err)
            self.assertIn("No space left on device", err)
            self.assertIn("nothing was recorded", err)
            self.assertNotIn("can be read", err)
            self.is_old()

    def test_no_subdirectory(self):
        """A subdirectory cannot be made, as on a read-only file system or without
        free inodes."""
        os.chmod(self.out, 0o500)
        self.addCleanup(os.chmod, self.out, 0o700)
        if os.access(self.out, os.W_OK):
            self.skipTest("root may write anywhere")
        code, _, err = self.run_to_end("-f")
        self.assertEqual(code, 1, err)
        self.assertIn("Permission denied", err)
        self.is_old()

    def is_old_beside_new(self, n):
        """Expect the unchanged old capture and, in a directory beside it, an
        incomplete new capture."""
        self.assertEqual(contents(self.out), self.old)
        new = Capture(self.new)
        self.assertEqual(new["complete"], "false")
        self.assertEqual(new.cpu(0), records(n))
        subprocess.run([CHECK, self.new], check=True, capture_output=True)

    def test_full_disk(self):
        daemon = self.start("-f", shim={"write_file": "cpu0.out",
                                        "write_limit": 10 * 56})
        self.kernel.feed(0, records(3 * CHUNK // 56))
        out, err = self.check_end(daemon, status=1)
        self.assertIn("the records in the capture are complete and can be "
                      "read", err)
        self.assertIn(f"the capture in {self.out} was not replaced; the new "
                      f"one is in {self.new}", err)
        self.assertIn(f"kmemtrace-report {self.new}\n", out)
        self.is_old_beside_new(10)

    def test_disk_that_is_not_waited_for(self):
        fifo, go, shim = self.hang_disk()
        daemon = self.start("-f", shim=shim)
        self.kernel.feed(0, records(1024))
        wait_for(lambda: os.path.exists(fifo + ".waits"), "a write")
        daemon.signal()
        daemon.wait_line("writing the buffered records")
        daemon.signal()
        daemon.wait_line("no longer waiting for the disk")
        os.write(go, b"x")
        self.check_end(daemon, status=1)
        self.is_old_beside_new(1024)

    def kill(self, *args):
        """Start a recording and kill kmemtraced."""
        daemon = self.start(*args)
        self.kernel.feed(0, records(1024))
        wait_for(lambda: os.path.getsize(
            os.path.join(self.new, "cpu0.out")) == 2 * CHUNK, "chunks")
        daemon.signal(signal.SIGKILL)
        self.assertEqual(daemon.finish()[0], -signal.SIGKILL)
        # Tracing continues after the kill; the next tests start with tracing off.
        self.kernel.put("enabled", "0\n")

    def test_killed(self):
        """The incomplete capture of a killed kmemtraced can be analysed, preserved,
        and replaced."""
        self.kill("-f")
        self.old["kmemtrace.lock"] = b""
        wait_for(lambda: contents(self.out) == self.old, "the lock")
        self.is_old_beside_new(1024)
        report = subprocess.run([REPORT, self.out], capture_output=True,
                                text=True, check=True)
        self.assertIn("kmemtrace.new-1 has a newer recording", report.stderr +
                      report.stdout)
        code, _, err = self.run_to_end()
        self.assertEqual(code, 1)
        self.assertIn(f"{self.new} has the records of an earlier run that did "
                      "not complete", err)
        del self.old["kmemtrace.lock"]
        self.is_old_beside_new(1024)
        # The run fails and removes no file.
        code, _, err = self.run_to_end("-f", "--", "/nonexistent")
        self.assertEqual(code, 127)
        self.assertIn(f"{self.new} has the records", err)
        self.is_old_beside_new(1024)
        self.kernel.feed(0, records(NEW))
        code, _, err = self.run_to_end("-f")
        self.assertEqual(code, 0, err)
        self.assertIn(f"{self.new} has the records", err)
        self.is_new()

    def test_killed_and_the_old_one_moved_away(self):
        self.kill("-f")
        for name in self.old:
            os.unlink(os.path.join(self.out, name))
        report = subprocess.run([REPORT, self.out], capture_output=True,
                                text=True, check=False)
        self.assertEqual(report.returncode, 1)
        self.assertIn(f"did not complete is in {self.new}", report.stderr)
        code, _, err = self.run_to_end()
        self.assertEqual(code, 1)
        self.assertIn(f"{self.new} has the records", err)
        self.kernel.feed(0, records(NEW))
        self.assertEqual(self.run_to_end("-f")[0], 0)
        self.is_new()

    def test_left_over_without_records(self):
        """An incomplete capture without records is removed by the next run, even if
        that run fails."""
        os.mkdir(self.new)
        self.write(os.path.join(self.new, "cpu0.out"), records(1))
        mine = os.path.join(self.out, "kmemtrace.new-2")
        os.mkdir(mine)
        self.write(os.path.join(mine, "notes"), "mine")
        self.write(os.path.join(self.out, "kmemtrace.new-x"), "mine")
        self.assertEqual(self.run_to_end("-f", "--", "/nonexistent")[0], 127)
        self.assertEqual(contents(mine), {"notes": b"mine"})
        self.assertFalse(os.path.exists(self.new))
        os.unlink(os.path.join(mine, "notes"))
        self.kernel.feed(0, records(NEW))
        self.assertEqual(self.run_to_end("-f")[0], 0)
        os.unlink(os.path.join(self.out, "kmemtrace.new-x"))
        self.is_new()

    def test_file_that_comes_meanwhile(self):
        """A file that appears meanwhile is preserved, and so are both captures."""
        daemon = self.start("-f")
        self.kernel.feed(0, records(NEW))
        mine = os.path.join(self.out, "stacks")
        self.write(mine, "mine")
        _, err = self.end(daemon, status=1)
        self.assertIn(f"{mine} exists", err)
        self.assertIn("was not replaced; the new one is in " + self.new, err)
        self.assertEqual(contents(self.out), self.old | {"stacks": b"mine"})
        self.assertEqual(Capture(self.new).cpu(0), records(NEW))
        os.unlink(mine)
        self.kernel.feed(0, records(NEW))
        self.assertEqual(self.run_to_end("-f")[0], 0)
        self.is_new()


class Interrupted(Replacing):
    """A replacement is interrupted between any two system calls."""

    def check_directory(self):
        """If kmemtrace.meta exists, all files that it lists exist."""
        found = contents(self.out)
        if "kmemtrace.meta" not in found:
            report = subprocess.run([REPORT, self.out], capture_output=True,
                                    text=True, check=False)
            self.assertEqual(report.returncode, 1, report.stdout)
            self.assertIn("replacement was interrupted", report.stderr)
            return
        capture = Capture(self.out)
        self.assertEqual(capture["complete"], "true")
        for name in capture["files"].strip(";").split(";"):
            self.assertIn(name, found)
        if capture.cpu(0) == records(OLD):
            self.assertEqual({name: found[name] for name in self.old}, self.old)
        else:
            self.assertEqual(capture.cpu(0), records(NEW))

    def end_at(self, function, n):
        """Return whether a replacement was killed at the given call."""
        self.kernel.feed(0, records(NEW))
        code, _, err = self.run_to_end("-f", shim={
            "kill_at": f"{function} {n}"})
        if code == 0:
            self.is_new()
            return False
        self.assertEqual(code, -signal.SIGKILL, err)
        return True

    def test_each_step(self):
        before = self.out + ".before"
        shutil.copytree(self.out, before)
        n_completed = n_kills = 0
        for function in ("unlinkat", "renameat", "renameat2"):
            n = 1
            while self.end_at(function, n):
                n_kills += 1
                self.check_directory()
                # The next run does not replace the existing capture.
                code, _, err = self.run_to_end()
                self.assertEqual(code, 1)
                self.assertIn("there is a capture already", err)
                self.check_directory()
                self.assertIn("kmemtrace.meta", os.listdir(self.out))
                n_completed += "the replacement is now complete" in err
                if Capture(self.out).cpu(0) == records(NEW):
                    self.is_new()
                # Discard the unread records, which belong to the killed run.
                self.kernel.put("enabled", "0\n")
                while self.kernel.unread(0):
                    os.read(self.kernel.fifos[0], 1 << 20)
                shutil.rmtree(self.out)
                shutil.copytree(before, self.out)
                n += 1
            shutil.rmtree(self.out)
            shutil.copytree(before, self.out)
        # The old files are renamed one by one, and then the new files.
        self.assertGreaterEqual(n_completed, 2 * len(self.old), n_kills)

    # The base class has run its own tests.
    for name in dir(Replacing):
        if name.startswith("test_"):
            locals()[name] = None
    del name


class UserFileInside(DaemonTest):
    """A user's file lies in the directory that is replaced."""

    def test_interrupted_replacement(self):
        """The user's file is preserved, and later runs are not refused."""
        self.make_kernel()
        self.kernel.feed(0, records(OLD))
        self.assertEqual(self.run_to_end()[0], 0)
        complete = os.path.join(self.out, "kmemtrace.complete")
        for n in (1, 2):
            self.kernel.feed(0, records(NEW))
            daemon = self.spawn("-f", shim={"kill_at": "renameat2 3"})
            self.assertEqual(daemon.finish()[0], -signal.SIGKILL)
            self.write(os.path.join(complete, "notes"), f"mine {n}")
            self.kernel.feed(0, records(OLD))
            code, _, err = self.run_to_end("-f")
            self.assertEqual(code, 0, err)
            self.assertIn(f"{self.out}/kmemtrace.left-{n}", err)
            self.assertFalse(os.path.exists(complete))
            with open(os.path.join(self.out, f"kmemtrace.left-{n}", "notes"),
                      encoding="ascii") as file:
                self.assertEqual(file.read(), f"mine {n}")
            self.assertEqual(self.capture().cpu(0), records(OLD))


class TwoAtOnce(TracefsTest):
    """Two kmemtraced -f record into one directory."""

    def test_second_is_refused(self):
        self.make_tracefs()
        first = self.start("-f")
        began = time.monotonic()
        second = self.spawn("-f", "-w", "0.1")
        code, _, err = second.finish()
        took = time.monotonic() - began
        self.assertEqual(code, 1, err)
        self.assertIn(f"process {first.process.pid} writes to the directory "
                      f"{self.out}", err)
        first.signal()
        self.check_end(first)
        self.assertLess(took, 30)
        self.assertEqual(Capture(self.out)["kmemtraced_pid"],
                         str(first.process.pid))

    def test_lock_of_a_dead_one(self):
        """The lock file of a process that has ended locks nothing."""
        self.make_tracefs()
        os.mkdir(self.out)
        self.write(os.path.join(self.out, "kmemtrace.lock"), "")
        self.check_end(self.start("-w", "0.1"))
        self.assertNotIn("kmemtrace.lock", os.listdir(self.out))


if __name__ == "__main__":
    main()
