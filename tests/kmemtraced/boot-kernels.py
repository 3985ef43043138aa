#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-boot with several kernels, errors, and interruptions."""

import fcntl
import os
import subprocess
import unittest

from boot_case import TIMEOUT_S, Scripts

NEW = "6.19.1-test"
OLD = "6.12.1-test"  # the kernel that runs
UPDATE = "update-initramfs -u -k "
DISABLE = "systemctl --quiet disable kmemtrace-boot.service"


class Kernels(Scripts):
    """A system with two kernels."""

    def setUp(self):
        super().setUp()
        self.kernel(NEW)
        # What remains of a removed kernel.
        os.makedirs(self.path("lib/modules/6.1.1-test"))

    def exists(self, suffix):
        """Return whether the configuration exists, or its old version."""
        return os.path.exists(self.conf + suffix)

    def test_all(self):
        self.boot("enable")
        self.assertEqual(self.included(), [OLD, NEW])
        self.boot("disable")
        self.assertEqual(self.included(), [])

    def test_chosen(self):
        """Only the initramfs of the chosen kernel gets kmemtraced."""
        self.boot("enable", "-k", NEW)
        self.assertEqual(self.included(), [NEW])
        self.assertIn("kernel: " + NEW, self.boot("status"))
        self.boot("enable", "-k", OLD)
        self.assertEqual(self.included(), [OLD])
        self.calls()
        self.boot("disable")
        self.assertEqual(self.included(), [])
        self.assertEqual(self.calls(), [UPDATE + OLD, UPDATE + NEW, DISABLE])

    def test_other_kernel(self):
        """A boot of another kernel does not end the recording."""
        self.boot("enable", "-k", NEW)
        self.begin_boot("2")
        self.calls()
        self.assertIn(f"for kernel {NEW} only",
                      self.boot("save", "--after-boot"))
        self.assertEqual(self.calls(), [])
        self.assertIn("Next boot: recorded", self.boot("status"))
        self.put_program("uname", f"echo {NEW}")
        self.put_capture()
        self.boot("save", "--after-boot")
        self.assertEqual(self.included(), [])

    def test_kdump(self):
        """A kdump kernel does not end the recording."""
        self.boot("enable")
        self.begin_boot("2")
        self.put("proc/vmcore", "")
        self.assertIn("kdump", self.boot("save", "--after-boot"))
        self.assertEqual(self.included(), [OLD, NEW])

    def test_same_boot(self):
        """'save' does not cancel the 'enable' that came after this boot began."""
        self.put_capture()
        self.boot("enable")
        self.boot("save")
        self.assertIn("Next boot: recorded", self.boot("status"))
        self.assertEqual(self.included(), [OLD, NEW])

    def test_enable_fails(self):
        """If one initramfs cannot be rebuilt, no initramfs has kmemtraced."""
        # The initramfs with kmemtraced is too large, the one without is not.
        self.put_program("update-initramfs", """
case $3 in *.19.*) [ ! -e "$ROOT/var/lib/kmemtrace/boot.conf" ] || exit 1 ;; esac
rm -rf "$ROOT/image"
version=$3 DESTDIR=$ROOT/image "$ROOT/scripts/initramfs-tools/kmemtrace"
find "$ROOT/image" -type f >"$ROOT/boot/new" 2>/dev/null
mv "$ROOT/boot/new" "$ROOT/boot/initrd.img-$3"
""")
        output = self.boot("enable", status=1)
        self.assertIn("an initramfs was not rebuilt", output)
        self.assertNotIn("may still contain", output)
        self.assertEqual(self.calls(), [
            "systemctl --quiet enable kmemtrace-boot.service",
            UPDATE + OLD, UPDATE + NEW, UPDATE + OLD, UPDATE + NEW, DISABLE])
        self.assertEqual(self.included(), [])
        self.assertFalse(self.exists("") or self.exists(".old"))

    def test_undo_fails(self):
        """The configuration remains while an initramfs may have kmemtraced."""
        self.put("fail-rebuild-" + NEW, "")
        output = self.boot("enable", status=1)
        self.assertIn("run 'kmemtrace-boot disable'", output)
        self.assertNotIn(DISABLE, self.calls())
        self.assertFalse(self.exists(""))
        self.assertTrue(self.exists(".old"))
        self.assertIn("Next boot: may be recorded", self.boot("status"))
        os.unlink(self.path("fail-rebuild-" + NEW))
        self.boot("disable")
        self.assertIn("Next boot: not recorded", self.boot("status"))

    def test_unit_fails(self):
        self.put_program("systemctl", "exit 1")
        output = self.boot("enable", status=1)
        self.assertIn("systemctl cannot enable", output)
        self.assertFalse(self.exists("") or self.exists(".old"))

    def test_unit_remains(self):
        """A unit that cannot be disabled causes a warning."""
        self.boot("enable")
        self.put_program("systemctl", "exit 1")
        self.assertIn("warning: systemctl cannot disable", self.boot("disable"))
        self.assertEqual(self.included(), [])

    def test_interrupted(self):
        """The unit completes a 'disable' that was interrupted."""
        target = self.path("there")
        self.boot("enable", "-p", "-D", target)
        os.rename(self.conf, self.conf + ".old")
        self.begin_boot("2")
        self.assertIn("may be recorded", self.boot("status"))
        self.put_capture()
        self.calls()
        self.boot("save", "--after-boot")
        self.assertIn("cpu0.out", os.listdir(target))
        self.assertEqual(self.calls()[-1], DISABLE)
        self.assertEqual(self.included(), [])
        self.assertFalse(self.exists(".old"))

    def test_unchanged(self):
        """update-initramfs succeeds, and rebuilds nothing."""
        self.put("skip-rebuild", "")
        self.assertIn("unchanged: is /boot read-only",
                      self.boot("enable", status=1).replace(self.root, ""))
        os.unlink(self.path("skip-rebuild"))
        self.boot("enable")
        self.put("skip-rebuild", "")
        self.assertIn("unchanged", self.boot("disable", status=1))

    def test_no_initramfs(self):
        for version in OLD, NEW:
            os.unlink(self.path("boot/initrd.img-" + version))
        self.assertIn("no kernel has an initramfs",
                      self.boot("enable", status=1))
        self.assertEqual(self.calls(), [])

    def test_lock(self):
        """A command waits until another one has ended, and reads its result."""
        script = self.script("kmemtrace-boot")
        env = dict(os.environ, ROOT=self.root, LOG=self.log,
                   PATH=self.path("bin") + ":" + os.environ["PATH"])
        for command in "enable", "disable", "save":
            with open(self.path("run/kmemtrace-boot.lock"), "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                with subprocess.Popen([script, command], env=env, text=True,
                                      stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL) as process:
                    self.assertIn("waiting until another",
                                  process.stdout.readline())
                    self.assertEqual(self.calls(), [], command)
                    fcntl.flock(file, fcntl.LOCK_UN)
                    process.stdout.read()
                    process.wait(timeout=TIMEOUT_S)
            self.calls()

    def test_stuck(self):
        """If the recorder does not end, its capture stays where the recorder writes,
        and kmemtraced is removed."""
        self.boot("enable")
        self.begin_boot("2")
        self.put_capture()
        self.put("run/kmemtrace-boot/pid", str(os.getpid()))
        self.put(f"proc/{os.getpid()}/comm", "kmemtraced\n")
        script = self.script("kmemtrace-boot")
        with open(script) as file:
            text = file.read()
        with open(script, "w") as file:
            file.write(text.replace("stop_seconds=300", "stop_seconds=1")
                       .replace("kill -INT", "echo kill"))
        env = dict(os.environ, ROOT=self.root, LOG=self.log,
                   PATH=self.path("bin") + ":" + os.environ["PATH"])
        done = subprocess.run([script, "save"], env=env, capture_output=True,
                              text=True, check=False, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has not ended within 1 s", done.stderr)
        self.assertTrue(os.path.exists(os.path.join(self.capture,
                                                    "kmemtrace.meta")))
        self.assertFalse(os.path.exists(self.path("var/lib/kmemtrace/boot")))
        self.assertEqual(self.included(), [])

    def test_status_hidden(self):
        """A user who is not root learns that the state is hidden."""
        self.put_capture()
        self.boot("enable")
        script = self.script("kmemtrace-boot")
        os.chmod(self.root, 0o755)
        for folder in self.run_dir, os.path.dirname(self.conf):
            os.chmod(folder, 0)
            self.addCleanup(os.chmod, folder, 0o700)
        # Root can read everything.
        user = 65534 if os.geteuid() == 0 else None
        done = subprocess.run([script, "status"], capture_output=True,
                              text=True, check=True, user=user)
        self.assertRegex(done.stdout,
                         "This boot: only root.*sudo kmemtrace-boot status.*\n"
                         "Next boot: only root.*sudo kmemtrace-boot status")


if __name__ == "__main__":
    unittest.main(verbosity=2)
