#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kernel-patches/apply: choose a series, apply, check, reverse, and commit it."""

import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
from apply_case import ApplyCase
from patch_set import contents, with_line, write


class Apply(ApplyCase):
    """Trees that a series fits."""

    def expected(self):
        """Return the files of the patched tree."""
        files = {name: list(lines) for name, lines in self.set.files.items()}
        for name, after, text in (
                ("mm/Makefile", "line 5", "obj\n"),
                ("mm/slab.c", "line 10\n", "kmemtrace_free(x);\n"),
                ("mm/slab.c", "line 30\n", "kmemtrace_alloc(x);\n"),
                ("mm/page_alloc.c", "line 20\n", "pages\n"),
                ("mm/page_alloc.c", "pages\n", "more\n"),
                ("kernel/exit.c", "line 7\n", "task\n")):
            files[name] = with_line(files[name], after, text)
        want = {name: "".join(lines) for name, lines in files.items()}
        want.update(self.set.core)
        for name in ("kmemtrace_abi.h", "kmemtrace_ioctl.h"):
            want["include/uapi/linux/" + name] = f"/* {name} */\n"
        return want

    def test_apply_and_reverse(self):
        """The patches of a series build on each other, and --reverse undoes all."""
        said = self.succeed(self.tree)
        self.assertEqual(said, f"kmemtrace is in {self.tree}; "
                               "configure it with CONFIG_KMEMTRACE=y\n")
        after = contents(self.tree)
        for name, text in self.expected().items():
            mode = 0o100600 if name == "kernel/exit.c" else 0o100644
            self.assertEqual(after.pop(name), (mode, text.encode()), name)
        untouched = {name: value for name, value in self.before.items()
                     if name in after}
        new_folders = {"mm/kmemtrace": None, "include/uapi": None,
                       "include/uapi/linux": None}
        self.assertEqual(after, untouched | new_folders)
        self.assertEqual(self.succeed("--check", self.tree),
                         f"{self.tree} has exactly this kmemtrace (Linux 6.1)\n")
        self.assertEqual(self.succeed("--reverse", self.tree),
                         f"kmemtrace is no longer in {self.tree}\n")
        self.assertEqual(contents(self.tree), self.before)

    def test_offsets(self):
        """A shifted hunk is accepted and printed, and can be reversed."""
        self.replace("mm/slab.c", "slab line 20\n", "slab line 20\nnew\nnew\n")
        self.replace("kernel/exit.c", "exit line 1\n", "")
        before = contents(self.tree)
        said = self.succeed(self.tree)
        self.assertEqual(re.findall("^offset: .*", said, re.M), [
            "offset: mm/slab.c: hunk 2 of slab-6.1.patch fits at line 31, "
            "shifted by 2 lines",
            "offset: kernel/exit.c: hunk 1 of pages.patch fits at line 4, "
            "shifted by -1 line"])
        self.succeed("--check", self.tree)
        self.succeed("--reverse", self.tree)
        self.assertEqual(contents(self.tree), before)

    def test_fuzz(self):
        """A hunk that fits only with fuzz is refused."""
        self.replace("mm/slab.c", "slab line 8\n", "slab line eight\n")
        fuzzy = subprocess.run(
            ["patch", "-p1", "-F2", "--dry-run", "-d", self.tree, "-i",
             os.path.join(self.set.hooks, "slab-6.1.patch")],
            capture_output=True, text=True, check=False)
        self.assertIn("with fuzz", fuzzy.stdout)
        self.assertEqual(fuzzy.returncode, 0)
        self.refuse("slab-6.1.patch: hunk 1 does not fit mm/slab.c at line 8",
                    self.tree)

    def test_series_by_content(self):
        """The content of the tree, not the version in its Makefile, decides."""
        for version, content in (("6.12", "6.12"), ("6.1", "6.12"), ("6.12", "6.1"),
                                 ("5.10", "6.12"), ("9.9", "6.1")):
            with self.subTest(version=version, content=content):
                tree = self.set.tree(self.path(version + content), version, content)
                before = contents(tree)
                said = self.succeed(tree)
                note = f"is Linux {version}, and all hunks of the series for {content}"
                self.assertEqual(note in said, version != content)
                self.assertIn(f"(Linux {content})", self.succeed("--check", tree))
                self.succeed("--reverse", tree)
                self.assertEqual(contents(tree), before)

    def test_nearest_series(self):
        """Of several series that fit, that of the nearest version is taken."""
        for version in ("6.4", "6.8"):
            self.set.series(version, "core slab-6.1 pages pages-more documentation")
        for version, nearest in (("6.1", "6.1"), ("6.8", "6.8"), ("6.5", "6.4"),
                                 ("6.6", "6.8"), ("7.0", "6.8"), ("5.19", "6.1"),
                                 ("6.3", "6.4")):
            with self.subTest(version=version):
                tree = self.set.tree(self.path(version), version, "6.1")
                said = self.succeed(tree)
                note = f"all hunks of the series for {nearest} fit"
                self.assertEqual(note in said, version != nearest, said)

    def test_hard_links(self):
        """Hard links of the tree's files in another tree keep their content."""
        other = self.path("other")
        subprocess.run(["cp", "-al", self.tree, other], check=True)
        self.succeed(self.tree)
        self.assertEqual(contents(other), self.before)

    def test_series(self):
        """--series writes one patch per line of the series file."""
        out = self.path("series")
        self.assertEqual(self.succeed("--series", out, "6.12"),
                         f"5 patches for Linux 6.12 in {out}\n")
        self.assertEqual(sorted(os.listdir(out)), [
            "0001-core.patch", "0002-slab-6.12.patch", "0003-pages.patch",
            "0004-pages-more.patch", "0005-documentation.patch"])
        self.refuse("is not empty", "--series", out)
        self.refuse("no hooks for Linux 6.2; there are hooks for: 6.1 6.12",
                    "--series", self.path("other"), "6.2")

    def test_help(self):
        """--help and mistakes on the command line."""
        said = self.succeed("--help")
        self.assertRegex(said, r"default: 6\.12\), one of: 6\.1 6\.12")
        for option in ("--commit", "--check", "--reverse", "--series", "Exit status"):
            self.assertIn(option, said)
        for argv in ((), ("--check",), ("--commit", "a", "b"), ("--nonsense", "a"),
                     ("--series",), ("a", "b")):
            self.refuse("Try 'apply --help'", *argv)


class Commit(ApplyCase):
    """One commit per patch."""

    def setUp(self):
        super().setUp()
        self.commit_all()

    def trees(self, tree):
        """Return the trees of the commits after the first one, oldest first."""
        return self.git("log", "--format=%T", "--reverse", tree=tree).split()[1:]

    def test_commits(self):
        """The commits equal those of --series, and the last one equals apply."""
        write(os.path.join(self.tree, "untracked"), "")
        applied, mailed = self.path("applied"), self.path("mailed")
        for clone in (applied, mailed):
            self.git("clone", "-q", self.tree, clone)
        self.assertRegex(self.succeed("--commit", self.tree),
                         "^5 commits for Linux 6.1 are in .*, from [0-9a-f]+ to ")
        self.assertEqual(self.git("status", "--porcelain"), "?? untracked\n")
        self.assertEqual(self.git("log", "--format=%s|%an|%ae").splitlines()[:5], [
            "Documentation: describe kmemtrace|Tester|tester@example.org",
            "mm: record more pages|Tester|tester@example.org",
            "mm: record pages|Tester|tester@example.org",
            "mm: record slab objects|Tester|tester@example.org",
            "mm: add the core|Tester|tester@example.org"])
        self.assertEqual(
            self.git("log", "-1", "--format=%B", "HEAD~2").strip(),
            "mm: record pages\n\nThe reason for: mm: record pages.\n\n"
            "Signed-off-by: Tester <tester@example.org>")
        # A list of files names only the files that have arrived.
        self.assertEqual(self.git("show", "HEAD~3:mm/kmemtrace/Makefile"),
                         "obj-y += one.o\n")
        self.assertNotEqual(self.git("show", "HEAD~2:mm/kmemtrace/Makefile"),
                            "obj-y += one.o\n")
        self.succeed("--check", self.tree)
        self.succeed("--series", self.path("series"), "6.1")
        mails = [self.path("series/" + name)
                 for name in sorted(os.listdir(self.path("series")))]
        self.git("am", "-q", *mails, tree=mailed)
        self.assertEqual(len(self.trees(self.tree)), 5)
        self.assertEqual(self.trees(self.tree), self.trees(mailed))
        self.assertEqual(self.git("log", "--format=%B"),
                         self.git("log", "--format=%B", tree=mailed))
        self.succeed(applied)
        os.unlink(os.path.join(self.tree, "untracked"))
        self.assertEqual({name: value[1] if value else None
                          for name, value in contents(self.tree).items()},
                         {name: value[1] if value else None
                          for name, value in contents(applied).items()})

    def test_offsets(self):
        """A commit takes a shifted hunk where apply puts it."""
        self.replace("mm/slab.c", "slab line 20\n", "slab line 20\nnew\n")
        self.git("commit", "-q", "-a", "-m", "shift")
        applied = self.path("applied")
        self.git("clone", "-q", self.tree, applied)
        self.assertIn("offset: mm/slab.c: hunk 2", self.succeed("--commit", self.tree))
        self.succeed(applied)
        self.git("add", "-A", tree=applied)
        self.assertEqual(self.git("write-tree", tree=applied), self.git("write-tree"))

    def test_local_changes(self):
        """Local changes prevent commits, and the message names them."""
        head = self.git("rev-parse", "HEAD")
        self.replace("include/linux/mm.h", "mm", "changed")
        self.refuse("(?s)has local changes, so nothing was committed.*git stash.*"
                    "M include/linux/mm.h", "--commit", self.tree)
        self.git("add", "-A")
        self.refuse("has local changes", "--commit", self.tree)
        self.assertEqual(self.git("rev-parse", "HEAD"), head)

    def test_no_name(self):
        """The sign-off needs a name."""
        self.refuse("git has no name for the sign-off: set user.name and user.email",
                    "--commit", self.tree, GIT_AUTHOR_NAME="", HOME=self.scratch)

    def test_no_fit(self):
        """Where no series fits there is no commit."""
        self.replace("mm/slab.c", "slab line 10\n", "x\n")
        self.git("commit", "-q", "-a", "-m", "other")
        head = self.git("rev-parse", "HEAD")
        self.refuse("no series fits", "--commit", self.tree)
        self.assertEqual(self.git("rev-parse", "HEAD"), head)

    def test_git_fails(self):
        """The message and the status tell whether git has changed the tree, and what
        restores the tree."""
        real = shutil.which("git")
        git = self.program("git", "[[ $* != *' reset '* ]] || exit 128\n"
                           f'exec {real} "$@"\n')
        self.refuse("git cannot move .*linux to the new commits.*nothing was changed",
                    "--commit", self.tree, PATH=git)
        head = self.git("rev-parse", "HEAD")
        git = self.program(
            "git", "if [[ $* = *' reset '* ]]; then cd $2 || exit 1\n"
            f"for f in mm/kmemtrace/one.c mm/slab.c; do {real} show ${{!#}}:$f >$f; "
            f'done; exit 128; fi\nexec {real} "$@"\n')
        os.mkdir(os.path.join(self.tree, "mm/kmemtrace"))
        result = self.run_apply("--commit", self.tree, PATH=git)
        self.assertRegex(result.stderr, "could move only a part of .*linux to the new "
                         "commits: 'git reset --hard' and then 'apply --reverse'")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(self.git("rev-parse", "HEAD"), head)
        self.git("reset", "-q", "--hard")
        self.succeed("--reverse", self.tree)
        self.assertEqual(self.git("status", "--porcelain"), "")

    def test_untracked_file_in_the_way(self):
        """A file of kmemtrace that git does not track counts as a part."""
        write(os.path.join(self.tree, "mm/kmemtrace/one.c"), "int one;\n")
        self.refuse("only a part of kmemtrace", "--commit", self.tree)

    def test_not_git(self):
        """--commit needs the top folder of a git tree with a commit."""
        inner = self.set.tree(os.path.join(self.tree, "inner"))
        self.refuse("is not the top folder of its git tree", "--commit", inner)
        plain = self.set.tree(self.path("plain"))
        self.refuse("--commit needs a git tree, and git refuses .*plain "
                    r"\(fatal: not a git repository", "--commit", plain)
        self.git("init", "-q", tree=plain)
        self.refuse("has no commit yet", "--commit", plain)
        self.git("add", "-A", tree=plain)
        self.refuse("has no commit yet", "--commit", plain)


if __name__ == "__main__":
    unittest.main()
