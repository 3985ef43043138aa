#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced and its directory: what -f replaces and when, locks, and owners."""

import errno
import os
import shutil
import signal
import stat
import subprocess
import time
import unittest

from kmemtraced_fake import (CHECK, CHUNK, TOP_BUILDDIR, Capture, DaemonTest,
                             main, records, wait_for)
from kmemtraced_tracefs import TracefsTest

REPORT = os.path.join(TOP_BUILDDIR, "report", "kmemtrace-report")
OLD = 77
NEW = 33


def contents(path):
    """The bytes of all files of a directory, by name."""
    found = {}
    for name in sorted(os.listdir(path)):
        file = os.path.join(path, name)
        if os.path.isfile(file):
            with open(file, "rb") as opened:
                found[name] = opened.read()
    return found


class Replacing(DaemonTest):
    """A directory with a capture, which stays until the next one is complete."""

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
        """The old capture is there and nothing else is."""
        self.assertEqual(contents(self.out), self.old)
        self.assertEqual(sorted(os.listdir(self.out)), sorted(self.old))

    def is_new(self):
        """The new capture is in place and nothing else is."""
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

    @unittest.skipIf(subprocess.run(["unshare", "-rm", "true"], check=False,
                                    stderr=subprocess.DEVNULL).returncode,
                     "no user namespaces")
    def test_mount_point(self):
        """Nothing can be renamed over it."""
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
        """Files that the new capture does not have go with the old one."""
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
        """A read-only file system, or no inodes."""
        os.chmod(self.out, 0o500)
        self.addCleanup(os.chmod, self.out, 0o700)
        if os.access(self.out, os.W_OK):
            self.skipTest("root may write anywhere")
        code, _, err = self.run_to_end("-f")
        self.assertEqual(code, 1, err)
        self.assertIn("Permission denied", err)
        self.is_old()

    def is_old_beside_new(self, n):
        """The old capture is untouched, the new one beside it is not complete.
        """
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
        self.assertIn("what was written is whole and can be read", err)
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
        daemon.wait_line("writing what is buffered")
        daemon.signal()
        daemon.wait_line("not waiting for the disk")
        os.write(go, b"x")
        self.check_end(daemon, status=1)
        self.is_old_beside_new(1024)

    def kill(self, *args):
        """A recording that is killed."""
        daemon = self.start(*args)
        self.kernel.feed(0, records(1024))
        wait_for(lambda: os.path.getsize(
            os.path.join(self.new, "cpu0.out")) == 2 * CHUNK, "chunks")
        daemon.signal(signal.SIGKILL)
        self.assertEqual(daemon.finish()[0], -signal.SIGKILL)
        # Tracing goes on after that.  The tests that follow begin anew.
        self.kernel.put("enabled", "0\n")

    def test_killed(self):
        """What it saved can be found, used, kept, and replaced."""
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
        self.assertIn(f"{self.new} has what an earlier run recorded that did "
                      "not complete", err)
        del self.old["kmemtrace.lock"]
        self.is_old_beside_new(1024)
        # It fails: nothing is removed.
        code, _, err = self.run_to_end("-f", "--", "/nonexistent")
        self.assertEqual(code, 127)
        self.assertIn(f"{self.new} has what", err)
        self.is_old_beside_new(1024)
        self.kernel.feed(0, records(NEW))
        code, _, err = self.run_to_end("-f")
        self.assertEqual(code, 0, err)
        self.assertIn(f"{self.new} has what", err)
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
        self.assertIn(f"{self.new} has what", err)
        self.kernel.feed(0, records(NEW))
        self.assertEqual(self.run_to_end("-f")[0], 0)
        self.is_new()

    def test_left_over_without_records(self):
        """It goes with the next run, whatever that does."""
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
        """The user's file stays, and both captures do."""
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
    """A replacement that ends between any two of its steps."""

    def check_directory(self):
        """The kmemtrace.meta there is has all files that it lists."""
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
        """Whether a replacement was killed at that call."""
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
                # Another run, which does not replace what is there.
                code, _, err = self.run_to_end()
                self.assertEqual(code, 1)
                self.assertIn("there is a capture already", err)
                self.check_directory()
                self.assertIn("kmemtrace.meta", os.listdir(self.out))
                n_completed += "its capture is in place now" in err
                if Capture(self.out).cpu(0) == records(NEW):
                    self.is_new()
                # What was not read is this test's no more.
                self.kernel.put("enabled", "0\n")
                while self.kernel.unread(0):
                    os.read(self.kernel.fifos[0], 1 << 20)
                shutil.rmtree(self.out)
                shutil.copytree(before, self.out)
                n += 1
            shutil.rmtree(self.out)
            shutil.copytree(before, self.out)
        # The old files go one by one, and the new ones come one by one.
        self.assertGreaterEqual(n_completed, 2 * len(self.old), n_kills)

    # Those of the base class have run there.
    for name in dir(Replacing):
        if name.startswith("test_"):
            locals()[name] = None
    del name


class UserFileInside(DaemonTest):
    """A file of the user's in the directory of a replacement."""

    def test_interrupted_replacement(self):
        """The file is kept, and later runs are not refused."""
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


class Foreign(DaemonTest):
    """Files with names of a capture's that are the user's."""

    def setUp(self):
        super().setUp()
        self.make_kernel()
        os.mkdir(self.out)

    def refused(self, *args, text, foreign):
        """Nothing is written or removed."""
        before = sorted(os.listdir(self.out))
        code, out, err = self.run_to_end(*args)
        self.assertEqual((code, out), (1, ""), err)
        self.assertIn(f"{self.out}/{foreign} {text}", err)
        self.assertEqual(sorted(os.listdir(self.out)), before)
        self.assertEqual(self.kernel.get("enabled"), "0")

    def test_names_of_tables(self):
        for name in ("tasks", "info", "marks", "tasks.tmp", "cpu3.out",
                     "cpu3.out.gz"):
            path = os.path.join(self.out, name)
            self.write(path, "mine")
            for args in ([], ["-f"]):
                self.refused(*args, foreign=name,
                             text="exists and is not of a capture that could "
                             "be replaced: there is no kmemtrace.meta")
            with open(path, encoding="ascii") as file:
                self.assertEqual(file.read(), "mine")
            os.unlink(path)

    def test_beside_a_capture(self):
        """It has no such file itself."""
        self.kernel.feed(0, records(1))
        self.assertEqual(self.run_to_end()[0], 0)
        for name in ("tasks", "info", "cpu5.out"):
            path = os.path.join(self.out, name)
            self.write(path, "mine")
            self.refused("-f", foreign=name, text="exists and is not of a "
                         "capture that could be replaced")
            os.unlink(path)

    def symbol_tables(self):
        """The copies of /proc/kallsyms and /proc/modules, whole and cut off."""
        return [("kallsyms", self.KALLSYMS), ("modules", self.MODULES),
                ("kallsyms.tmp", self.KALLSYMS[:19]),
                ("modules.tmp", self.MODULES[:9])]

    def test_symbol_tables_of_the_user(self):
        """Files that have the name of a table and not its form."""
        for name in ("kallsyms", "modules", "kallsyms.tmp", "modules.tmp"):
            path = os.path.join(self.out, name)
            for text in ("My notes on kallsyms\n", "# list\n",
                         "ffffffff81000000 T\n" if "sym" in name else
                         "ext4 vfat\n", b"\0\0\xff\n", "x" * 5000):
                self.write(path, text)
                self.write(os.path.join(self.out, "kmemtrace.meta"),
                           "[capture]\nformat=1\n")
                with self.subTest(name=name, text=text[:30]):
                    self.refused("-f", foreign=name, text="exists and is not "
                                 "of a capture that could be replaced")
                    self.assertTrue(os.path.exists(path))
            os.unlink(path)

    def test_capture_without_a_list(self):
        """It was cut off, or is of an earlier version: tables are told from
        files of the user's by their first line."""
        for meta in ("[capture]\nformat=1\n", "nonsense", ""):
            self.write(os.path.join(self.out, "cpu7.out"), "old")
            for name, text in self.symbol_tables():
                self.write(os.path.join(self.out, name), text)
            for name in ("tasks", "info"):
                path = os.path.join(self.out, name)
                self.write(path + ".tmp", "# kmem")
                for text in ("mine\n", "", f"# kmemtrace: {name}"):
                    self.write(path, text)
                    self.write(os.path.join(self.out, "kmemtrace.meta"), meta)
                    self.refused("-f", foreign=name, text="exists and is not "
                                 "of a capture that could be replaced")
                self.write(path, f"# kmemtrace: {name}\n")
            self.write(os.path.join(self.out, "notes"), "mine")
            self.write(os.path.join(self.out, "kmemtrace.meta"), meta)
            self.kernel.feed(0, records(NEW))
            self.assertEqual(self.run_to_end("-f")[0], 0)
            self.assertEqual(self.capture().files, [
                "cpu0.out", "cpu1.out", "kallsyms", "kmemtrace.meta",
                "modules", "notes"])
            os.unlink(os.path.join(self.out, "notes"))

    def test_not_files(self):
        """Nothing is waited for, and nothing is followed."""
        precious = os.path.join(self.root, "precious")
        self.write(precious, "mine")
        for name in ("kmemtrace.meta", "kmemtrace.meta.tmp", "cpu0.out",
                     "kallsyms"):
            path = os.path.join(self.out, name)
            for make in (os.mkfifo, os.mkdir,
                         lambda path: os.symlink(precious, path)):
                make(path)
                self.refused("-f", foreign=name, text="exists")
                (os.rmdir if stat.S_ISDIR(os.lstat(path).st_mode)
                 else os.unlink)(path)
        os.mkfifo(os.path.join(self.out, "kmemtrace.lock"))
        self.kernel.feed(0, records(NEW))
        self.assertEqual(self.run_to_end()[0], 0)
        self.assertNotIn("kmemtrace.lock", self.capture().files)

    def test_fifo_when_it_is_killed(self):
        """The cleanup process does not wait for it either."""
        daemon = self.start()
        os.unlink(os.path.join(self.out, "cpu0.out"))
        os.mkfifo(os.path.join(self.out, "cpu0.out"))
        daemon.signal(signal.SIGKILL)
        # Its pipes are closed when the cleanup process has ended.
        self.assertEqual(daemon.finish()[0], -signal.SIGKILL)

    def test_hard_link_when_it_is_killed(self):
        """The cleanup process does not cut off a file with another name."""
        daemon = self.start()
        precious = os.path.join(self.root, "precious")
        self.write(precious, "mine")
        os.unlink(os.path.join(self.out, "cpu0.out"))
        os.link(precious, os.path.join(self.out, "cpu0.out"))
        daemon.signal(signal.SIGKILL)
        self.assertEqual(daemon.finish()[0], -signal.SIGKILL)
        with open(precious, encoding="ascii") as file:
            self.assertEqual(file.read(), "mine")

    def test_killed_before_there_are_records(self):
        """kmemtrace.meta is first, so that -f replaces what is left."""
        daemon = self.spawn(shim={"kill_at": "renameat 2"})
        self.assertEqual(daemon.finish()[0], -signal.SIGKILL)
        self.assertIn("cpu0.out", os.listdir(self.out))
        self.kernel.feed(0, records(NEW))
        self.assertEqual(self.run_to_end("-f")[0], 0)
        self.assertEqual(self.capture().cpu(0), records(NEW))


class TwoAtOnce(TracefsTest):
    """Two kmemtraced -f for one directory."""

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
        """The file that it left locks nothing."""
        self.make_tracefs()
        os.mkdir(self.out)
        self.write(os.path.join(self.out, "kmemtrace.lock"), "")
        self.check_end(self.start("-w", "0.1"))
        self.assertNotIn("kmemtrace.lock", os.listdir(self.out))


class Owners(DaemonTest):
    """Root in directories of other users; tests that are not root pretend."""

    def setUp(self):
        super().setUp()
        self.make_kernel()
        self.kernel.feed(0, records(NEW))
        self.log = os.path.join(self.root, "chown")
        self.user = os.geteuid() or 12345

    def make(self, path, mode):
        """A directory of an ordinary user."""
        os.mkdir(path)
        os.chmod(path, mode)
        if os.geteuid() == 0:
            os.chown(path, self.user, -1)

    def run_as_root(self, *args, sudo=None, **settings):
        """kmemtraced by root, by sudo of a user if that is given."""
        env = {"SUDO_UID": str(sudo), "SUDO_GID": "4711"} if sudo else {}
        return self.run_to_end(*args, env=env, **settings,
                               shim={"euid": 0, "chown": self.log})

    def refused(self, text, path=None, **settings):
        """Nothing is created."""
        before = os.listdir(self.out)
        code, _, err = self.run_as_root(out=path, **settings)
        self.assertEqual(code, 1, err)
        self.assertIn(text, err)
        self.assertIn("choose a directory of your own", err)
        self.assertEqual(os.listdir(self.out), before)

    def test_directory_of_another_user(self):
        self.make(self.out, 0o700)
        text = f"belongs to another user (uid {self.user})"
        self.refused(text)
        self.refused(text, sudo=self.user + 1)

    def test_directory_that_others_can_write_to(self):
        for mode in (0o720, 0o702, 0o1777, 0o775):
            self.make(self.out, mode)
            self.refused("other users can write to the directory",
                         sudo=self.user)
            os.rmdir(self.out)

    def test_link_of_another_user(self):
        self.make(self.out, 0o700)
        link = os.path.join(self.root, "link")
        os.symlink(self.out, link)
        os.chown(link, self.user, -1, follow_symlinks=False)
        for path in (link, link + "/"):
            self.refused("is a symbolic link of another user", path=path)
        again = os.path.join(self.root, "again")
        os.symlink("link", again)
        os.chown(again, self.user, -1, follow_symlinks=False)
        code, _, err = self.run_as_root(out=again, sudo=self.user)
        self.assertEqual(code, 0, err)
        self.assertEqual(self.capture().cpu(0), records(NEW))

    def test_link_on_the_way(self):
        """Any component of the path may be a link of another user."""
        real = os.path.join(self.root, "real")
        os.mkdir(real, 0o700)
        for target in (real, "real", "../" + os.path.basename(self.root) +
                       "/real"):
            link = os.path.join(self.root, "way")
            os.symlink(target, link)
            os.chown(link, self.user, -1, follow_symlinks=False)
            os.mkdir(self.out, 0o700)
            for path in (link + "/capture", link + "/./capture/",
                         real + "/../way/capture"):
                self.refused("is a symbolic link of another user", path=path)
            self.assertEqual(os.listdir(real), [])
            code, _, err = self.run_as_root(out=link + "/capture",
                                            sudo=self.user)
            self.assertEqual(code, 0, err)
            self.assertEqual(Capture(real + "/capture")["complete"], "true")
            shutil.rmtree(real + "/capture")
            os.rmdir(self.out)
            os.unlink(link)
            self.kernel.feed(0, records(NEW))

    def test_links_without_end(self):
        for name, target in (("a", "b/x"), ("b", "a/x")):
            os.symlink(target, os.path.join(self.root, name))
            os.chown(os.path.join(self.root, name), self.user, -1,
                     follow_symlinks=False)
        os.mkdir(self.out, 0o700)
        self.refused("is a symbolic link of another user, or leads to one",
                     path=os.path.join(self.root, "a/capture"),
                     sudo=self.user)

    def given(self):
        """Paths that were given to the user."""
        with open(self.log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        for line in lines:
            self.assertTrue(line.startswith(f"{self.user} 4711 "), line)
        return {line.split(" ", 2)[2] for line in lines}

    def test_sudo(self):
        """All that is created is given to the caller."""
        code, _, err = self.run_as_root(sudo=self.user)
        self.assertEqual(code, 0, err)
        self.assertLessEqual(
            {self.out} | {os.path.join(self.out, name)
                          for name in ("cpu0.out", "cpu1.out")} |
            {os.path.join(self.out, name + ".tmp")
             for name in ("kallsyms", "modules", "kmemtrace.meta")},
            self.given())
        # Now it is the caller's, whoever that is in this test.
        if os.geteuid() == 0:
            os.chown(self.out, self.user, -1)
        self.kernel.feed(0, records(OLD))
        code, _, err = self.run_as_root("-f", sudo=self.user)
        self.assertEqual(code, 0, err)
        self.assertEqual(self.capture().cpu(0), records(OLD))
        self.assertIn(os.path.join(self.out, "kmemtrace.new-1"), self.given())

    def make_foreign(self):
        """A directory that the caller of sudo must not get."""
        foreign = os.path.join(self.root, "foreign")
        os.mkdir(foreign)
        os.chmod(foreign, 0o755)
        return foreign

    def check_foreign(self, foreign):
        """Neither its mode, its owner nor its contents have changed."""
        self.assertEqual(stat.S_IMODE(os.stat(foreign).st_mode), 0o755)
        self.assertEqual(os.listdir(foreign), [])
        if os.path.exists(self.log):
            self.assertNotIn(foreign, self.given())

    def test_new_directory_is_swapped_for_a_link(self):
        """The caller of sudo may do that before kmemtraced opens it."""
        foreign = self.make_foreign()
        swap = f"mv {self.out} {self.root}/away; ln -s {foreign} {self.out}"
        if os.geteuid() == 0:
            swap += f"; chown -h {self.user} {self.out}"
        code, _, err = self.run_to_end(
            env={"SUDO_UID": str(self.user), "SUDO_GID": "4711"},
            shim={"euid": 0, "chown": self.log, "on_mkdir": swap})
        self.check_foreign(foreign)
        self.assertEqual(code, 1, err)
        self.assertIn(f"cannot open the directory {self.out}", err)

    def test_new_directory_is_swapped_for_another(self):
        """A directory that is not root's own is not changed."""
        foreign = self.make_foreign()
        if os.geteuid() == 0:
            os.chown(foreign, self.user, -1)
        for name in ("", "kmemtrace.new-1"):
            path = os.path.join(self.out, name).rstrip("/")
            swap = f"mv {path} {self.root}/away{name}; mv {foreign} {path}"
            if name:
                shutil.rmtree(self.out)
                foreign = self.make_foreign()
                if os.geteuid() == 0:
                    os.chown(foreign, self.user, -1)
                os.mkdir(self.out, 0o700)
                self.write(os.path.join(self.out, "kmemtrace.meta"),
                           "[capture]\nformat=1\n")
            # Any other user's; 4711 stands for one.
            if os.path.exists(self.log):
                os.unlink(self.log)
            self.kernel.feed(0, records(NEW))
            code, _, err = self.run_to_end(
                "-f", env={"SUDO_UID": str(self.user), "SUDO_GID": "4711"},
                shim={"euid": 0, "chown": self.log, "on_mkdir": swap})
            self.assertEqual(code, 0, err)
            self.assertNotIn(path, self.given())
            if not name:
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o755)

    def test_root_without_sudo(self):
        """Nothing is given away, whatever the variable says."""
        for sudo in (None, "0", "root", "-1", "4294967295"):
            code, _, err = self.run_as_root("-f", sudo=sudo)
            self.assertFalse(os.path.exists(self.log))
            self.assertEqual(code, 0, err)
            shutil.rmtree(self.out, ignore_errors=True)
            self.kernel.feed(0, records(NEW))

    @unittest.skipIf(os.geteuid() == 0, "for users other than root")
    def test_not_root(self):
        """What the kernel allows is allowed."""
        self.make(self.out, 0o777)
        code, _, err = self.run_to_end(env={"SUDO_UID": "12345"},
                                       shim={"chown": self.log})
        self.assertEqual(code, 0, err)
        self.assertFalse(os.path.exists(self.log))


class ReallyRoot(DaemonTest):
    """The same with a kernel that knows owners."""

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_sudo(self):
        self.make_kernel()
        self.kernel.feed(0, records(NEW))
        code, _, err = self.run_to_end(env={"SUDO_UID": "12345",
                                            "SUDO_GID": "4711"})
        self.assertEqual(code, 0, err)
        for path in (self.out, *(os.path.join(self.out, name)
                                 for name in os.listdir(self.out))):
            st = os.stat(path)
            self.assertEqual((st.st_uid, st.st_gid), (12345, 4711), path)
            self.assertEqual(st.st_mode & 0o77, 0, path)


if __name__ == "__main__":
    main()
