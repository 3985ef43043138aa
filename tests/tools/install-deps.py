#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/install-deps with fake programs of Debian."""

import os
import stat
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.abspath(os.environ.get("top_srcdir", ".")),
                      "scripts", "install-deps")
# A package is installed if a file has its name.
DPKG_QUERY = """#!/bin/sh
eval package=\\${$#}
[ ! -e "$FAKE/$package" ] || echo installed
"""
# Fails if another one runs, as apt-get does without a lock.
APT_GET = """#!/bin/sh
mkdir "$FAKE/running" || exit 100
echo "$*" >>"$FAKE/log"
sleep 0.3
for package; do
    case $package in
    zsh) : >"$FAKE/$package" ;;
    esac
done
rmdir "$FAKE/running"
"""


class InstallDeps(unittest.TestCase):
    """Two runs of the script at once."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET),
                           ("sudo", '#!/bin/sh\nexec "$@"\n')):
            path = os.path.join(self.dir, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, stat.S_IRWXU)
        for package in "bash", "fish":
            with open(os.path.join(self.dir, package), "w",
                      encoding="ascii"):
                pass
        self.env = {**os.environ, "FAKE": self.dir, "TMPDIR": self.dir,
                    "PATH": self.dir + os.pathsep + os.environ["PATH"]}

    def start(self, group="shells"):
        """Start the script."""
        return subprocess.Popen([SCRIPT, group], env=self.env, text=True,
                                stderr=subprocess.PIPE)

    def test_at_once(self):
        """The second run waits, and then has nothing to install."""
        both = [self.start(), self.start()]
        for process in both:
            _, err = process.communicate()
            self.assertEqual(process.returncode, 0, err)
        with open(os.path.join(self.dir, "log"), encoding="ascii") as file:
            log = file.read().splitlines()
        self.assertEqual(len(log), 1, log)
        self.assertRegex(log[0], " install .* zsh$")

    def test_unknown_group(self):
        process = self.start("nonsense")
        _, err = process.communicate()
        self.assertEqual(process.returncode, 1)
        self.assertIn("unknown group nonsense", err)


if __name__ == "__main__":
    unittest.main()
