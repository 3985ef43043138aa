#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts of kmemtraced/boot that run in an initramfs or include files in one."""

import os
import shutil
import subprocess
import unittest

from boot_case import Scripts, text_of


class Start(Scripts):
    """The script that starts kmemtraced in an initramfs."""

    def start(self, conf="mode=once\n", cmdline=""):
        """Run the script; return the arguments of kmemtraced and mount."""
        shutil.rmtree(self.run_dir, ignore_errors=True)
        if conf is not None:
            self.put("etc/kmemtrace-boot.conf", conf)
        self.put("proc/cmdline", f"root=/dev/vda * {cmdline}\n")
        self.assertEqual(self.call("start"), "")
        return self.calls()

    def arguments(self, source=""):
        """Return the expected arguments of kmemtraced."""
        return (f"kmemtraced -q --initramfs={self.run_dir}/pid -D "
                f"{self.capture}{source}")

    def test_start(self):
        self.assertEqual(self.start(), [
            "mount -t tmpfs -o size=25%,mode=0700,nosuid,nodev,noexec "
            f"kmemtrace-boot {self.capture}", self.arguments()])
        self.assertEqual(os.stat(self.run_dir).st_mode & 0o777, 0o700)
        mount, daemon = self.start("mode=once\nsource=ftrace\nsize=1g\n")
        self.assertIn("size=1g,", mount)
        self.assertEqual(daemon, self.arguments(" -s ftrace"))
        self.assertEqual(self.start("mode=once\nsource=\ncompress=3\n")[-1],
                         self.arguments(" --compress=3"))
        self.assertEqual(self.start("mode=once\nsource=bpf\ncompress=\n")[-1],
                         self.arguments(" -s bpf"))

    def test_not_included(self):
        self.assertEqual(self.start(conf=None), [])
        self.assertFalse(os.path.exists(self.run_dir))

    def test_parameters(self):
        parameter = "mode=parameter\nsource=\n"
        for words in "rd.kmemtrace=0", "rd.kmemtrace=no":
            self.assertEqual(self.start(cmdline=words), [])
        self.assertEqual(self.start(parameter), [])
        self.assertEqual(self.start(parameter, "rd.kmemtrace=2"), [])
        for words in "rd.kmemtrace=1", "quiet rd.kmemtrace", "rd.kmemtrace=yes":
            self.assertEqual(self.start(parameter, words)[-1],
                             self.arguments())
        self.assertEqual(self.start("source=bpf\n", "rd.kmemtrace=ftrace")[-1],
                         self.arguments(" -s ftrace"))

    def test_kdump(self):
        """A kdump kernel is recorded only if its parameters request that."""
        self.put("proc/vmcore", "")
        self.assertEqual(self.start(), [])
        self.assertEqual(self.start(cmdline="rd.kmemtrace=1")[-1],
                         self.arguments())
        self.assertEqual(self.start(cmdline="rd.kmemtrace=bpf")[-1],
                         self.arguments(" -s bpf"))

    def test_failures(self):
        """The script succeeds whatever fails, because the boot must continue."""
        self.put("fail-daemon", "")
        self.assertEqual(len(self.start()), 2)
        self.put("fail-mount", "")
        self.assertEqual(len(self.start()), 1)
        self.assertIn("no tmpfs",
                      text_of(os.path.join(self.run_dir, "log")))
        os.unlink(self.path("bin/kmemtraced"))
        os.unlink(self.path("fail-mount"))
        self.assertEqual(len(self.start()), 1)
        shutil.rmtree(self.path("run"))
        self.put("run", "not a directory")
        self.assertEqual(self.call("start").count("mkdir"), 1)


class Hook(Scripts):
    """The hook of initramfs-tools."""

    def setUp(self):
        super().setUp()
        self.image = self.path("image")
        os.makedirs(self.image)
        self.put("usr/share/initramfs-tools/hook-functions",
                 "copy_exec() { echo copy_exec \"$1\" >>\"$LOG\"; }\n")

    def hook(self, *args, **variables):
        """Run the hook; return the files of the image. The paths in the image are
        below this test's directory, too."""
        self.call("initramfs-tools/kmemtrace", *args, DESTDIR=self.image,
                  **variables)
        return sorted(os.path.relpath(os.path.join(folder, name),
                                      self.image + self.root)
                      for folder, _, names in os.walk(self.image)
                      for name in names)

    def test_disabled(self):
        self.assertEqual(self.hook(), [])
        self.assertEqual(self.calls(), [])

    def test_enabled(self):
        self.put("var/lib/kmemtrace/boot.conf", "mode=once\n")
        start = self.put("libexec/kmemtrace/boot/start", "a script")
        os.chmod(start, 0o755)
        self.assertEqual(self.hook(), ["etc/kmemtrace-boot.conf",
                                       "usr/lib/kmemtrace/start"])
        self.assertTrue(os.access(os.path.join(
            self.image + self.root, "usr/lib/kmemtrace/start"), os.X_OK))
        self.assertEqual(self.calls(), ["copy_exec " + self.path("bin/kmemtraced")])

    def test_compress(self):
        """The image contains the library that kmemtraced loads."""
        self.put("libexec/kmemtrace/boot/start", "a script")
        self.put("var/lib/kmemtrace/boot.conf",
                 "mode=once\ncompress=1\nlibrary=/lib/one/libzstd.so.1\n")
        self.hook()
        self.assertEqual(self.calls(), ["copy_exec " + self.path("bin/kmemtraced"),
                                        "copy_exec /lib/one/libzstd.so.1"])

    def test_kernel(self):
        """An initramfs of another kernel does not get kmemtraced."""
        self.put("var/lib/kmemtrace/boot.conf", "mode=once\nkernel=6.12.1-test\n")
        self.put("libexec/kmemtrace/boot/start", "a script")
        self.assertEqual(self.hook(version="6.12.1"), [])
        self.assertEqual(self.calls(), [])
        self.assertEqual(len(self.hook(version="6.12.1-test")), 2)

    def test_prerequisites(self):
        self.put("var/lib/kmemtrace/boot.conf", "")
        self.assertEqual(self.hook("prereqs"), [])


class Dracut(Scripts):
    """The module of dracut."""

    def check(self, status, kernel="6.12.1-test"):
        """Call the function check() of the module as dracut does."""
        module = self.script("dracut/module-setup.sh")
        done = subprocess.run(["bash", "-c", f". {module}; check"], check=False,
                              env=dict(os.environ, kernel=kernel))
        self.assertEqual(done.returncode, status)

    def test_check(self):
        self.check(255)
        self.put("var/lib/kmemtrace/boot.conf", "mode=once\nkernel=\n")
        self.check(0)

    def test_compress(self):
        """The image contains the library that kmemtraced loads."""
        conf = self.put("var/lib/kmemtrace/boot.conf", "mode=once\nlibrary=\n")
        functions = "".join(f"{name}() {{ echo {name} $*; }}\n" for name in (
            "inst_multiple", "inst_simple", "inst_hook", "inst_library"))
        install = ["bash", "-c",
                   f"{functions} . {self.script('dracut/module-setup.sh')}; install"]
        self.assertNotIn("inst_library", subprocess.check_output(
            install, text=True))
        self.put("var/lib/kmemtrace/boot.conf",
                 "mode=once\ncompress=1\nlibrary=/lib/one/libzstd.so.1\n")
        output = subprocess.check_output(install, text=True).splitlines()
        self.assertIn("inst_library /lib/one/libzstd.so.1", output)
        self.assertTrue(any(line.startswith(f"inst_simple {conf} ")
                            for line in output))

    def test_kernel(self):
        """An initramfs of another kernel does not get kmemtraced."""
        self.put("var/lib/kmemtrace/boot.conf", "mode=once\nkernel=6.12.1-test\n")
        self.check(0)
        self.check(255, "6.12.1")


if __name__ == "__main__":
    unittest.main(verbosity=2)
