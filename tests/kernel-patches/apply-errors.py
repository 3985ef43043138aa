#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kernel-patches/apply: trees that it refuses, and changes that are interrupted."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
from apply_case import ApplyCase
from patch_set import contents, write

PENDING = ".kmemtrace-apply"


class Unfit(ApplyCase):
    """Trees that no series fits."""

    def test_no_series(self):
        """The message has the failing hunks of each series and the first of the best."""
        self.replace("kernel/exit.c", "exit line 6\n", "other\n")
        result = self.refuse(
            r"no series fits .*linux \(Linux 6\.1\); nothing was changed\n"
            r"  6\.1: 1 of 6 hunks fail\n  6\.12: 3 of 6 hunks fail\n"
            r"  first failure of 6\.1: pages.patch: hunk 1 does not fit kernel/exit.c "
            r"at line 5\napply: take unmodified sources of Linux 6\.1, 6\.12, or port",
            self.tree)
        self.assertEqual(result.stdout, "")

    def test_missing_file(self):
        """A file that the tree lacks counts with all hunks."""
        os.unlink(os.path.join(self.tree, "mm/slab.c"))
        self.refuse(r"(?s)6\.1: 2 of 6 hunks fail.*"
                    r"first failure of 6\.1: slab-6.1.patch: there is no file mm/slab.c",
                    self.tree)

    def test_try(self):
        """--try lists the hunks of one series that do not fit or are shifted."""
        self.assertEqual(self.succeed("--try", "6.1", self.tree),
                         f"all 6 hunks of the series for 6.1 fit {self.tree}\n")
        self.replace("mm/Makefile", "make line 1\n", "")
        os.unlink(os.path.join(self.tree, "kernel/exit.c"))
        result = self.refuse("^$", "--try", "6.12", self.tree)
        self.assertEqual(result.stdout, (
            "offset: mm/Makefile: hunk 1 of core.patch fits at line 2, shifted by -1 line\n"
            "slab-6.12.patch: hunk 1 does not fit mm/slab.c at line 8\n"
            "slab-6.12.patch: hunk 2 does not fit mm/slab.c at line 28\n"
            "pages.patch: there is no file kernel/exit.c\n"
            f"3 of 6 hunks of the series for 6.12 do not fit {self.tree}\n"))
        self.refuse("no hooks for Linux 6.2; there are", "--try", "6.2", self.tree)
        write(os.path.join(self.tree, "mm/kmemtrace/one.c"), "int one;\n")
        result = self.refuse("^$", "--try", "6.12", self.tree)
        self.assertIn("already has files of kmemtrace", result.stdout)
        write(os.path.join(self.tree, ".kmemtrace-apply/ready"), "")
        self.refuse("a change of .* was interrupted", "--try", "6.12", self.tree)
        self.refuse("--try needs a version and a kernel tree", "--try", self.tree)

    def test_local_changes(self):
        """In a git tree the message names the local changes that are the reason."""
        self.commit_all()
        self.replace("mm/slab.c", "slab line 10\n", "x\n")
        self.replace("include/linux/mm.h", "mm", "unrelated")
        self.refuse("the local changes of .* are the reason: the series for 6.1 fits "
                    "without them; .*git stash.*: mm/slab.c$", self.tree)
        # The reason is not the local change if the committed file does not fit either.
        self.git("commit", "-q", "-a", "-m", "other")
        self.replace("mm/page_alloc.c", "page line 1\n", "y\n")
        result = self.refuse("take unmodified sources", self.tree)
        self.assertNotIn("local changes", result.stderr)
        # A local change that no hunk touches is kept.
        self.git("reset", "-q", "--hard", "HEAD~1")
        self.replace("mm/page_alloc.c", "page line 1\n", "y\n")
        self.succeed(self.tree)
        with open(os.path.join(self.tree, "mm/page_alloc.c"), encoding="utf-8") as f:
            self.assertEqual(f.readline(), "y\n")


class Parts(ApplyCase):
    """Trees that have kmemtrace or a part of it."""

    def setUp(self):
        super().setUp()
        self.succeed(self.tree)

    def restore(self, *names):
        """Undo the patches of some files."""
        for name in names:
            mode, text = self.before[name]
            write(os.path.join(self.tree, name), text.decode(), mode & 0o777)

    def test_already(self):
        """A patched tree is refused."""
        for argv in ((self.tree,), ("--commit", self.tree)):
            if "--commit" in argv:
                self.commit_all()
            self.refuse(r"has this kmemtrace already \(Linux 6\.1\); nothing was "
                        "changed: 'apply --reverse' removes it", *argv)

    def test_hooks_only(self):
        """Hooks without the core files are a part, which --reverse removes."""
        for name in (*self.set.core, "include/uapi/linux/kmemtrace_abi.h"):
            os.unlink(os.path.join(self.tree, name))
        self.refuse("has only a part of kmemtrace: 4 of 4 hook patches for Linux 6.1, "
                    "and 1 of 6 files; nothing was changed: remove the part with "
                    "'apply --reverse'", self.tree)
        os.unlink(os.path.join(self.tree, "include/uapi/linux/kmemtrace_ioctl.h"))
        self.refuse("4 of 4 hook patches for Linux 6.1, and 0 of 6 files", self.tree)
        os.rmdir(os.path.join(self.tree, "mm/kmemtrace"))
        shutil.rmtree(os.path.join(self.tree, "include/uapi"))
        self.succeed("--reverse", self.tree)
        self.assertEqual(contents(self.tree), self.before)

    def test_core_only(self):
        """The core files without hooks are a part, which --reverse removes."""
        self.restore(*self.set.files)
        self.refuse("0 of 4 hook patches for Linux 6.1, and 6 of 6 files", self.tree)
        result = self.run_apply("--check", self.tree)
        self.assertEqual((result.returncode, sorted(result.stdout.splitlines())), (1, [
            "not applied: core.patch", "not applied: pages-more.patch",
            "not applied: pages.patch", "not applied: slab-6.1.patch"]))
        self.succeed("--reverse", self.tree)
        self.assertEqual(contents(self.tree), self.before)

    def test_some_hooks(self):
        """A tree with some of the patches is a part, which --reverse removes."""
        self.restore("mm/slab.c")
        self.refuse("3 of 4 hook patches for Linux 6.1, and 6 of 6 files", self.tree)
        self.succeed("--reverse", self.tree)
        self.assertEqual(contents(self.tree), self.before)

    def test_changed_hook(self):
        """A hook that was changed prevents --reverse, with the place."""
        self.replace("mm/slab.c", "kmemtrace_free(x)", "kmemtrace_free(y)")
        self.refuse("part of kmemtrace: 3 of 4 .* cannot remove the part .slab-6.1.patch: "
                    "hunk 1 does not fit mm/slab.c at line 8", self.tree)
        self.refuse("the hooks in .* differ from this version: slab-6.1.patch: hunk 1 "
                    "does not fit mm/slab.c at line 8; nothing was changed",
                    "--reverse", self.tree)
        result = self.run_apply("--check", self.tree)
        self.assertEqual((result.returncode, result.stdout),
                         (1, "not applied: slab-6.1.patch\n"))

    def test_changed_core(self):
        """Core files that differ are neither overwritten nor removed."""
        self.replace("mm/kmemtrace/two.c", "two", "three")
        self.refuse("has another version of kmemtrace, or files of it were changed: it "
                    "has 4 of 4 hook patches for Linux 6.1, and 5 of 6 files, and "
                    "mm/kmemtrace/two.c differs; nothing was changed", self.tree)
        self.refuse("mm/kmemtrace/two.c in .* differs from this version; nothing was "
                    "changed", "--reverse", self.tree)
        result = self.run_apply("--check", self.tree)
        self.assertEqual((result.returncode, result.stdout),
                         (1, "differs: mm/kmemtrace/two.c\n"))

    def test_no_kmemtrace(self):
        """--reverse of an unpatched tree is refused, and --check lists all."""
        self.succeed("--reverse", self.tree)
        self.refuse("has no kmemtrace; nothing was changed", "--reverse", self.tree)
        result = self.run_apply("--check", self.tree)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stdout.splitlines()), 10)


class Environment(ApplyCase):
    """Folders, permissions, and programs."""

    def test_no_kernel_tree(self):
        """Folders that are no kernel trees."""
        self.refuse("nowhere is not a folder: name the top", self.path("nowhere"))
        self.refuse("is not a folder", os.path.join(self.tree, "Makefile"))
        self.refuse("is not a kernel tree, because it lacks Makefile or mm/",
                    os.path.join(self.tree, "mm"))
        for argv in (("--check",), ("--reverse",), ("--commit",), ()):
            self.refuse("is not a kernel tree", *argv, self.scratch)
        write(os.path.join(self.tree, "Makefile"), "all:\n")
        self.refuse("its Makefile has no VERSION and PATCHLEVEL", self.tree)

    def test_symbolic_link(self):
        """A link in place of a file is not followed."""
        os.rename(os.path.join(self.tree, "mm/slab.c"), self.path("slab.c"))
        os.symlink(self.path("slab.c"), os.path.join(self.tree, "mm/slab.c"))
        self.refuse("mm/slab.c is a symbolic link, .*: replace it by a copy", self.tree)

    def test_programs(self):
        """patch is missing or is another program; git is missing."""
        tools = self.path("tools")
        os.mkdir(tools)
        for folder in ("/bin", "/usr/bin"):
            for name in os.listdir(folder):
                if name not in ("patch", "git") and \
                        not os.path.lexists(os.path.join(tools, name)):
                    os.symlink(os.path.join(folder, name), os.path.join(tools, name))
        self.refuse("^apply: patch is missing: install the package patch$", self.tree,
                    PATH=tools)
        self.refuse("GNU patch is needed, and .*/bin/patch is another one", self.tree,
                    PATH=self.program("patch", "echo 'patch 2.0-busybox'\n"))
        os.unlink(self.path("bin/patch"))
        os.symlink(shutil.which("patch"), os.path.join(tools, "patch"))
        for argv in (("--commit", self.tree), ("--series", self.path("out"))):
            self.refuse("git is missing: install the package git", *argv, PATH=tools)
        self.succeed(self.tree, PATH=tools)

    def as_other_user(self):
        """Return the words that run a command without root's permissions."""
        if os.getuid():
            return ()
        words = ("setpriv", "--reuid=65534", "--clear-groups", "--")
        os.chmod(self.scratch, 0o755)
        if subprocess.run([*words, "cat", self.set.apply], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("cannot stop being root")
        return words

    def test_permissions(self):
        """What cannot be read or written is named."""
        user = self.as_other_user()
        if user:
            for folder, _, files in os.walk(self.tree):
                for path in (folder, *(os.path.join(folder, f) for f in files)):
                    os.chown(path, 65534, -1)
        slab = os.path.join(self.tree, "mm/slab.c")
        for path, mode, pattern in (
                (slab, 0, "cannot read .*linux/mm/slab.c: change its permissions"),
                (os.path.dirname(slab), 0, "cannot read the folder .*linux/mm: change"),
                (os.path.join(self.tree, "Makefile"), 0, "cannot read .*/Makefile"),
                (self.tree, 0, "cannot read the folder .*linux: change"),
                (self.tree, 0o555, "cannot write to .*linux: check its permissions"),
                (os.path.dirname(slab), 0o555, "cannot change the files in .*linux: "
                                               "check its permissions")):
            with self.subTest(path=path, mode=mode):
                before = os.stat(path).st_mode
                os.chmod(path, mode)
                result = self.run_apply(self.tree, prefix=user)
                os.chmod(path, before)
                self.assertRegex(result.stderr, pattern)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(contents(self.tree), self.before)
        # Reading is sufficient for a check.
        self.succeed(self.tree)
        os.chmod(self.tree, 0o555)
        os.chmod(os.path.dirname(slab), 0o555)
        result = self.run_apply("--check", self.tree, prefix=user)
        os.chmod(self.tree, 0o755)
        os.chmod(os.path.dirname(slab), 0o755)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_two_at_once(self):
        """A tree that another apply is changing is left alone."""
        lock = os.open(self.tree, os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for argv in ((), ("--reverse",), ("--commit",)):
            self.refuse("another apply is changing .*linux: wait", *argv, self.tree)


class Interrupted(ApplyCase):
    """A change that ends early leaves the tree as it was, or complete."""

    n_moves = 10  # 4 files are patched and 6 are added.

    def mv(self, script):
        """Replace mv by a script in which $n counts the calls."""
        path = shutil.which("mv")
        count = self.path("count")
        write(count, "0\n")
        return self.program("mv", f"n=$(($(cat {count}) + 1))\necho $n >{count}\n"
                                  f"{script}\nexec {path} \"$@\"\n")

    def test_killed(self):
        """After SIGKILL the next apply undoes the change and starts again."""
        for n in (1, 3, self.n_moves):
            for argv in ((), ("--reverse",)):
                with self.subTest(n=n, argv=argv):
                    self.set.tree(self.tree)
                    kill = self.mv(f"[ $n != {n} ] || kill -KILL $PPID")
                    result = self.run_apply(self.tree, PATH=kill)
                    self.assertEqual(result.returncode, -signal.SIGKILL)
                    self.assertTrue(os.path.exists(
                        os.path.join(self.tree, PENDING, "ready")))
                    if n > 1:
                        # The test would show nothing if mv had not changed the tree.
                        self.assertNotEqual(
                            {k: v for k, v in contents(self.tree).items()
                             if not k.startswith(PENDING)}, self.before)
                    check = self.run_apply("--check", self.tree)
                    self.assertIn("was interrupted: run apply", check.stderr)
                    result = self.run_apply(*argv, self.tree)
                    self.assertIn("undid a change of", result.stdout)
                    if argv:
                        self.assertIn("has no kmemtrace", result.stderr)
                    else:
                        self.assertEqual(result.returncode, 0)
                        self.succeed("--check", self.tree)
                        self.succeed("--reverse", self.tree)
                    self.assertEqual(contents(self.tree), self.before)

    def test_killed_reverse(self):
        """A killed --reverse is undone in the same way."""
        self.succeed(self.tree)
        kill = self.mv("[ $n != 3 ] || kill -KILL $PPID")
        result = self.run_apply("--reverse", self.tree, PATH=kill)
        self.assertEqual(result.returncode, -signal.SIGKILL)
        result = self.run_apply(self.tree)
        self.assertIn("undid a change of", result.stdout)
        self.assertIn("has this kmemtrace already", result.stderr)
        self.succeed("--check", self.tree)

    def test_failing_move(self):
        """If a rename fails, the renames before it are undone."""
        for n in (1, 4, self.n_moves):
            fail = self.mv(f"[ $n != {n} ] || exit 1")
            self.refuse("cannot change the files in .*; nothing was changed", self.tree,
                        PATH=fail)
        self.succeed(self.tree)
        for n in (1, 4):
            fail = self.mv(f"[ $n != {n} ] || exit 1")
            self.refuse("cannot change the files in .*; nothing was changed",
                        "--reverse", self.tree, PATH=fail)

    def test_failing_undo(self):
        """If undoing fails, too, the message says so, and the next apply undoes."""
        fail = self.mv("[ $n -lt 4 ] || exit 1")
        result = self.run_apply(self.tree, PATH=fail)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "cannot undo the change of .*: when the cause is "
                                        "removed, run apply again")
        result = self.run_apply("--reverse", self.tree)
        self.assertIn("undid a change of", result.stdout)
        self.assertEqual(contents(self.tree), self.before)

    def test_signals(self):
        """SIGTERM ends apply before the renames; during the renames it waits."""
        term = self.mv("[ $n != 2 ] || kill -TERM $PPID")
        self.succeed(self.tree, PATH=term)
        self.succeed("--check", self.tree)
        self.succeed("--reverse", self.tree)
        for program, n in (("patch", 3), ("ln", 2)):
            with self.subTest(program=program):
                path = shutil.which(program)
                count = self.path("count")
                write(count, "0\n")
                term = self.program(
                    program, f"n=$(($(cat {count}) + 1))\necho $n >{count}\n"
                             f"[ $n != {n} ] || kill -TERM $PPID\nexec {path} \"$@\"\n")
                result = self.run_apply(self.tree, PATH=term)
                os.unlink(self.path("bin/" + program))
                self.assertNotEqual(result.returncode, 0)
                self.assertEqual(contents(self.tree), self.before)

    def test_leftover(self):
        """A change that was killed before its first rename leaves nothing behind."""
        path = shutil.which("ln")
        kill = self.program("ln", f"{path} \"$@\"\nkill -KILL $PPID\n")
        result = self.run_apply(self.tree, PATH=kill)
        self.assertEqual(result.returncode, -signal.SIGKILL)
        self.assertTrue(os.path.isdir(os.path.join(self.tree, PENDING)))
        os.unlink(self.path("bin/ln"))
        self.assertNotIn("undid", self.succeed(self.tree))
        self.succeed("--reverse", self.tree)
        self.assertEqual(contents(self.tree), self.before)

    def test_full_disk(self):
        """If the files cannot be prepared, nothing changes."""
        path = shutil.which("cp")
        full = self.program("cp", f"case $* in *{PENDING}/new) exit 1 ;; esac\n"
                                  f"exec {path} \"$@\"\n")
        self.refuse("cannot write to .*linux: check its permissions and the free space",
                    self.tree, PATH=full)

    def test_temporary_files(self):
        """No temporary file remains after success, failure, or a signal."""
        scratch = self.path("scratch")
        os.mkdir(scratch)
        self.succeed(self.tree, TMPDIR=scratch)
        self.run_apply(self.tree, TMPDIR=scratch)
        path = shutil.which("patch")
        term = self.program("patch", f"kill -TERM $PPID\nexec {path} \"$@\"\n")
        self.run_apply("--check", self.tree, TMPDIR=scratch, PATH=term)
        deadline = time.monotonic() + 10
        while os.listdir(scratch) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(os.listdir(scratch), [])


if __name__ == "__main__":
    unittest.main()
