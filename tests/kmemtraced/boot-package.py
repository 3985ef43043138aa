#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts of the Debian package that remove kmemtrace-boot."""

import os
import re
import subprocess
import unittest

from boot_case import TIMEOUT_S, Scripts, text_of

TOP_SRCDIR = os.path.abspath(os.environ.get("top_srcdir", "."))
STOP = "deb-systemd-invoke stop kmemtrace-boot.service"


class Removal(Scripts):
    """The removal of the package."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("run/systemd/system"))
        self.put_program("deb-systemd-invoke", "")
        self.put_program("kmemtrace-boot", "[ ! -e \"$ROOT/fail-$1\" ]")

    def run_script(self, name, action="remove", status=0):
        """Run a script of the package with paths of this test."""
        text = text_of(os.path.join(TOP_SRCDIR, "debian", "kmemtrace." + name))
        text = re.sub(r"(?<![\w$}])/(run|var/lib)\b",
                      lambda match: f"{self.root}/{match[1]}", text)
        script = self.put(name, text)
        env = dict(os.environ, ROOT=self.root, LOG=self.log,
                   PATH=self.path("bin") + ":" + os.environ["PATH"])
        done = subprocess.run(["sh", script, action], env=env, check=False,
                              timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, status)
        return self.calls()

    def test_nothing(self):
        self.assertEqual(self.run_script("prerm"),
                         [STOP, "kmemtrace-boot disable"])
        self.assertEqual(self.run_script("prerm", "upgrade"), [])

    def test_recording(self):
        """A recording is saved before it is disabled, also if saving fails."""
        self.put("run/kmemtrace-boot/pid", "1")
        expected = [STOP, "kmemtrace-boot save", "kmemtrace-boot disable"]
        self.assertEqual(self.run_script("prerm"), expected)
        self.put("fail-save", "")
        self.assertEqual(self.run_script("prerm"), expected)
        self.put("run/kmemtrace-boot/saved", "")
        self.assertNotIn("kmemtrace-boot save", self.run_script("prerm"))

    def test_no_systemd(self):
        os.rmdir(self.path("run/systemd/system"))
        self.assertEqual(self.run_script("prerm"), ["kmemtrace-boot disable"])

    def test_disable_fails(self):
        """The package is not removed while an initramfs has kmemtraced."""
        self.put("fail-disable", "")
        self.run_script("prerm", status=1)

    def test_remains(self):
        """Captures remain, and incomplete copies do not."""
        self.put("var/lib/kmemtrace/boot/kmemtrace.meta", "")
        self.put("var/lib/kmemtrace/boot.2.partial/cpu0.out", "")
        self.assertEqual(self.run_script("postrm"), ["systemctl daemon-reload"])
        self.assertEqual(os.listdir(self.path("var/lib/kmemtrace")), ["boot"])
        self.run_script("postrm", "upgrade")


if __name__ == "__main__":
    unittest.main(verbosity=2)
