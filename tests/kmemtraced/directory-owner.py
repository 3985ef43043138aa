#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Foreign files in the directory of a capture, and directories of other users."""

import os
import shutil
import signal
import stat
import unittest

from kmemtraced_fake import Capture, DaemonTest, main, records

OLD = 77
NEW = 33


class Foreign(DaemonTest):
    """Files of the user that are named like files of a capture."""

    def setUp(self):
        super().setUp()
        self.make_kernel()
        os.mkdir(self.out)

    def refused(self, *args, text, foreign):
        """Expect a refusal that writes and removes no file."""
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
                             text="exists and does not belong to a capture "
                             "that can be replaced: there is no kmemtrace.meta")
            with open(path, encoding="ascii") as file:
                self.assertEqual(file.read(), "mine")
            os.unlink(path)

    def test_beside_a_capture(self):
        """The capture itself has no such file."""
        self.kernel.feed(0, records(1))
        self.assertEqual(self.run_to_end()[0], 0)
        for name in ("tasks", "info", "cpu5.out"):
            path = os.path.join(self.out, name)
            self.write(path, "mine")
            self.refused("-f", foreign=name, text="exists and does not "
                         "belong to a capture that can be replaced")
            os.unlink(path)

    def symbol_tables(self):
        """The copies of /proc/kallsyms and /proc/modules, complete and truncated."""
        return [("kallsyms", self.KALLSYMS), ("modules", self.MODULES),
                ("kallsyms.tmp", self.KALLSYMS[:19]),
                ("modules.tmp", self.MODULES[:9])]

    def test_symbol_tables_of_the_user(self):
        """Files that have the name of a table but another format."""
        for name in ("kallsyms", "modules", "kallsyms.tmp", "modules.tmp"):
            path = os.path.join(self.out, name)
            for text in ("My notes on kallsyms\n", "# list\n",
                         "ffffffff81000000 T\n" if "sym" in name else
                         "ext4 vfat\n", b"\0\0\xff\n", "x" * 5000):
                self.write(path, text)
                self.write(os.path.join(self.out, "kmemtrace.meta"),
                           "[capture]\nformat=1\n")
                with self.subTest(name=name, text=text[:30]):
                    self.refused("-f", foreign=name, text="exists and does not "
                                 "belong to a capture that can be replaced")
                    self.assertTrue(os.path.exists(path))
            os.unlink(path)

    def test_capture_without_a_list(self):
        """A truncated capture, or one of an earlier version, has no list of its
        files: its tables are distinguished from the user's files by their first
        line."""
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
                    self.refused("-f", foreign=name, text="exists and does not "
                                 "belong to a capture that can be replaced")
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
        """kmemtraced neither waits for a FIFO nor follows a link."""
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
        """The cleanup process does not wait for the FIFO either."""
        daemon = self.start()
        os.unlink(os.path.join(self.out, "cpu0.out"))
        os.mkfifo(os.path.join(self.out, "cpu0.out"))
        daemon.signal(signal.SIGKILL)
        # The cleanup process has the pipes open, so finish() waits for its end.
        self.assertEqual(daemon.finish()[0], -signal.SIGKILL)

    def test_hard_link_when_it_is_killed(self):
        """The cleanup process does not truncate a file that has another name."""
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
        """kmemtrace.meta is written first, so that -f can replace what a killed
        kmemtraced left."""
        daemon = self.spawn(shim={"kill_at": "renameat 2"})
        self.assertEqual(daemon.finish()[0], -signal.SIGKILL)
        self.assertIn("cpu0.out", os.listdir(self.out))
        self.kernel.feed(0, records(NEW))
        self.assertEqual(self.run_to_end("-f")[0], 0)
        self.assertEqual(self.capture().cpu(0), records(NEW))


class Owners(DaemonTest):
    """Root in directories of other users, simulated if the test is not root."""

    def setUp(self):
        super().setUp()
        self.make_kernel()
        self.kernel.feed(0, records(NEW))
        self.log = os.path.join(self.root, "chown")
        self.user = os.geteuid() or 12345

    def make(self, path, mode):
        """Make a directory of an ordinary user."""
        os.mkdir(path)
        os.chmod(path, mode)
        if os.geteuid() == 0:
            os.chown(path, self.user, -1)

    def run_as_root(self, *args, sudo=None, **settings):
        """Run kmemtraced as root; sudo is the id of the user who called sudo."""
        env = {"SUDO_UID": str(sudo), "SUDO_GID": "4711"} if sudo else {}
        return self.run_to_end(*args, env=env, **settings,
                               shim={"euid": 0, "chown": self.log})

    def refused(self, text, path=None, **settings):
        """Expect a refusal that creates no file."""
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
        """Any component of the path may be a symbolic link of another user."""
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
        """Return the paths whose owner was changed to the user."""
        with open(self.log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        for line in lines:
            self.assertTrue(line.startswith(f"{self.user} 4711 "), line)
        return {line.split(" ", 2)[2] for line in lines}

    def test_sudo(self):
        """All created files get the caller of sudo as their owner."""
        code, _, err = self.run_as_root(sudo=self.user)
        self.assertEqual(code, 0, err)
        self.assertLessEqual(
            {self.out} | {os.path.join(self.out, name)
                          for name in ("cpu0.out", "cpu1.out")} |
            {os.path.join(self.out, name + ".tmp")
             for name in ("kallsyms", "modules", "kmemtrace.meta")},
            self.given())
        # The directory now belongs to the caller, whose id this test chose.
        if os.geteuid() == 0:
            os.chown(self.out, self.user, -1)
        self.kernel.feed(0, records(OLD))
        code, _, err = self.run_as_root("-f", sudo=self.user)
        self.assertEqual(code, 0, err)
        self.assertEqual(self.capture().cpu(0), records(OLD))
        self.assertIn(os.path.join(self.out, "kmemtrace.new-1"), self.given())

    def make_foreign(self):
        """Make a directory that must not get the caller of sudo as its owner."""
        foreign = os.path.join(self.root, "foreign")
        os.mkdir(foreign)
        os.chmod(foreign, 0o755)
        return foreign

    def check_foreign(self, foreign):
        """Expect the mode, owner and contents of the directory to be unchanged."""
        self.assertEqual(stat.S_IMODE(os.stat(foreign).st_mode), 0o755)
        self.assertEqual(os.listdir(foreign), [])
        if os.path.exists(self.log):
            self.assertNotIn(foreign, self.given())

    def test_new_directory_is_swapped_for_a_link(self):
        """The caller of sudo may replace the new directory by a link before
        kmemtraced opens it."""
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
        """kmemtraced does not change a directory that root does not own."""
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
            # Any other user; the id 4711 is an example.
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
        """Without sudo no owner is changed, whatever the value of SUDO_UID."""
        for sudo in (None, "0", "root", "-1", "4294967295"):
            code, _, err = self.run_as_root("-f", sudo=sudo)
            self.assertFalse(os.path.exists(self.log))
            self.assertEqual(code, 0, err)
            shutil.rmtree(self.out, ignore_errors=True)
            self.kernel.feed(0, records(NEW))

    @unittest.skipIf(os.geteuid() == 0, "for users other than root")
    def test_not_root(self):
        """An ordinary user may use every directory that the kernel allows."""
        self.make(self.out, 0o777)
        code, _, err = self.run_to_end(env={"SUDO_UID": "12345"},
                                       shim={"chown": self.log})
        self.assertEqual(code, 0, err)
        self.assertFalse(os.path.exists(self.log))


class ReallyRoot(DaemonTest):
    """Root in directories of other users, on a file system that stores owners."""

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
