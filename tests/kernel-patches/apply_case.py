# SPDX-License-Identifier: GPL-2.0-or-later
"""Common parts of the tests of kernel-patches/apply."""

import os
import shutil
import subprocess
import tempfile
import unittest

from patch_set import PatchSet, contents, write

GIT_NAME = {
    "GIT_AUTHOR_NAME": "Tester", "GIT_AUTHOR_EMAIL": "tester@example.org",
    "GIT_COMMITTER_NAME": "Tester", "GIT_COMMITTER_EMAIL": "tester@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
}


class ApplyCase(unittest.TestCase):
    """A test with a small set of patches and an unpatched tree for Linux 6.1."""

    def setUp(self):
        for program in ("patch", "git"):
            if not shutil.which(program):
                self.skipTest(f"{program} is missing")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.set = PatchSet(self.path("set"))
        self.tree = self.set.tree(self.path("linux"))
        self.before = contents(self.tree)

    def path(self, name):
        """Return a path in the temporary folder."""
        return os.path.join(self.scratch, name)

    def run_apply(self, *argv, prefix=(), **environment):
        """Run apply and return the result."""
        return subprocess.run(
            [*prefix, "bash", self.set.apply, *argv], capture_output=True, text=True,
            check=False, cwd=self.scratch,
            env={**os.environ, **GIT_NAME, **environment})

    def succeed(self, *argv, **environment):
        """Run apply, which shall succeed without a message, and return its output."""
        result = self.run_apply(*argv, **environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def refuse(self, pattern, *argv, status=1, prefix=(), **environment):
        """Run apply, which shall fail with a message and leave the tree unchanged."""
        before = contents(self.tree)
        result = self.run_apply(*argv, prefix=prefix, **environment)
        self.assertRegex(result.stderr, pattern)
        self.assertEqual(result.returncode, status)
        self.assertEqual(contents(self.tree), before)
        return result

    def replace(self, name, old, new, count=1):
        """Replace text in a file of the tree."""
        path = os.path.join(self.tree, name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.assertIn(old, text)
        mode = os.stat(path).st_mode & 0o777
        write(path, text.replace(old, new, count), mode)

    def git(self, *argv, tree=None):
        """Run git in the tree and return its output."""
        result = subprocess.run(
            ["git", "-C", tree or self.tree, *argv], capture_output=True, text=True,
            check=False, env={**os.environ, **GIT_NAME})
        self.assertEqual((result.returncode, result.stderr), (0, ""), argv)
        return result.stdout

    def commit_all(self):
        """Make the tree a git tree with one commit."""
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")

    def program(self, name, script):
        """Put a program in front of PATH, and return the PATH."""
        write(self.path(f"bin/{name}"), "#!/bin/bash\n" + script, 0o755)
        return self.path("bin") + ":" + os.environ["PATH"]
