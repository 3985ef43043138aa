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


class Owners(DaemonTest):
    """Root in directories of other users, simulated if the test is not root."""

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
    """Root in directories of other users, on a file system that knows owners."""

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
