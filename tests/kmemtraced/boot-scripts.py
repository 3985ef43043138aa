#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-boot, and the scripts that it includes in an initramfs.

The scripts run with their absolute paths replaced by paths in a temporary directory.
Programs such as update-initramfs and kmemtraced are scripts that log their arguments.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

TOP_BUILDDIR = os.path.abspath(os.environ.get("top_builddir", "."))
TOP_SRCDIR = os.path.abspath(os.environ.get("top_srcdir", "."))
BUILT = os.path.join(TOP_BUILDDIR, "kmemtraced", "boot")
TIMEOUT_S = 60


def text_of(path):
    """Return the text of a file."""
    with open(path) as file:
        return file.read()


class Scripts(unittest.TestCase):
    """A directory with the files of a system."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="kmemtrace-boot-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.log = self.path("log")
        self.conf = self.path("var/lib/kmemtrace/boot.conf")
        self.run_dir = self.path("run/kmemtrace-boot")
        self.capture = os.path.join(self.run_dir, "capture")
        os.makedirs(self.path("var/lib"))
        os.makedirs(self.path("run"))
        self.put("proc/cmdline", "root=/dev/vda ro quiet\n")
        self.put("usr/share/initramfs-tools/hooks/kmemtrace", "")
        os.makedirs(self.path("lib/modules/6.12.1-test"))
        self.put("log", "")
        self.put_program("update-initramfs", "[ ! -e \"$ROOT/fail-rebuild\" ]")
        self.put_program("systemctl", "")
        self.put_program("umount", "rm -rf \"$1\"")
        self.put_program("mount", "[ ! -e \"$ROOT/fail-mount\" ]")
        self.put_program("id", "echo 0")
        self.put_program("kmemtraced", "[ ! -e \"$ROOT/fail-daemon\" ]")

    def path(self, name):
        """Return a path below the directory of this test."""
        return os.path.join(self.root, name)

    def put(self, name, text):
        """Write a file, and make the directories above it."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def put_program(self, name, body):
        """Write a program that logs its arguments before it runs the body."""
        path = self.put(f"bin/{name}", "#!/bin/sh\n"
                        f"echo {name} \"$*\" >>\"$LOG\"\n{body}\n")
        os.chmod(path, 0o755)

    def script(self, name):
        """Copy a script of the build, with paths of this test."""
        text = text_of(os.path.join(BUILT, name))
        text = re.sub(r"(?<![\w$}])/(run|proc|etc|usr/share|usr/lib|lib/modules)\b",
                      lambda match: f"{self.root}/{match[1]}", text)
        text = re.sub(r"/[\w/.-]*/lib/kmemtrace\b(?!/start)",
                      self.path("var/lib/kmemtrace"), text)
        text = re.sub(r"/\S*/kmemtrace(?=/boot/start)",
                      self.path("libexec/kmemtrace"), text)
        # By its path: PATH may have the real one.
        text = re.sub(r"\S*/kmemtraced\b", self.path("bin/kmemtraced"), text)
        path = self.put(f"scripts/{name}", text)
        os.chmod(path, 0o755)
        return path

    def call(self, name, *args, status=0, **variables):
        """Run a script; return its output."""
        env = dict(os.environ, ROOT=self.root, LOG=self.log,
                   PATH=self.path("bin") + ":" + os.environ["PATH"],
                   **variables)
        done = subprocess.run([self.script(name), *args], env=env,
                              capture_output=True, text=True, check=False,
                              timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def boot(self, *args, status=0):
        """Run kmemtrace-boot."""
        return self.call("kmemtrace-boot", *args, status=status)

    def calls(self):
        """Return the programs that ran since the last call of this function."""
        lines = [line for line in text_of(self.log).splitlines()
                 if not line.startswith("id ")]
        self.put("log", "")
        return lines

    def values(self):
        """Return the contents of boot.conf."""
        return dict(line.split("=", 1)
                    for line in text_of(self.conf).splitlines())

    def put_capture(self, complete="true"):
        """Write the capture of a kmemtraced that has ended."""
        self.put("run/kmemtrace-boot/capture/kmemtrace.meta",
                 f"[capture]\ncomplete={complete}\n")
        self.put("run/kmemtrace-boot/capture/cpu0.out", "records")
        self.put("run/kmemtrace-boot/log", "kmemtraced: warning: a message\n")


class Command(Scripts):
    """kmemtrace-boot."""

    def test_enable(self):
        self.boot("enable")
        self.assertEqual(self.values(), {
            "mode": "once", "source": "", "wait": "0", "size": "25%",
            "directory": self.path("var/lib/kmemtrace/boot"), "kernel": ""})
        self.assertEqual(self.calls(), [
            "systemctl --quiet enable kmemtrace-boot.service",
            "update-initramfs -u -k all"])
        self.assertIn("Next boot: recorded\n", self.boot("status"))

    def test_options(self):
        for options in (
                ["-s", "bpf", "-D", "/a/new one", "-w", "60", "-m", "1g", "-k",
                 "6.12.1-test", "-p"],
                ["--source=bpf", "--directory=/a/new one", "--wait=60",
                 "--size=1g", "--kernel=6.12.1-test", "--parameter"]):
            self.boot("enable", *options)
            self.assertEqual(self.values(), {
                "mode": "parameter", "source": "bpf", "wait": "60",
                "size": "1g", "directory": "/a/new one",
                "kernel": "6.12.1-test"})
            self.assertEqual(self.calls()[-1],
                             "update-initramfs -u -k 6.12.1-test")
            status = self.boot("status")
            self.assertIn("source: bpf", status)
            self.assertIn("rd.kmemtrace=1", status)

    def test_refused(self):
        """Invalid options change nothing."""
        os.makedirs(self.path("full/x"))
        for options, message in (
                (["-s", "perf"], "neither relay, bpf nor ftrace"),
                (["-w", "soon"], "not a number of seconds"),
                (["-w"], "needs a value"), (["--wait"], "needs a value"),
                (["-m", "1t"], "not a number with"),
                (["-m", "%"], "not a number with"),
                (["-D", "here"], "not an absolute path"),
                (["-D", self.path("full")], "not an empty directory"),
                (["-k", "5.0"], "there is no"), (["-x"], "unknown option"),
                (["now"], "unknown option")):
            output = self.boot("enable", *options, status=1)
            self.assertIn(message, output)
            self.assertFalse(os.path.exists(self.conf))
            self.assertEqual(self.calls(), [])
        self.assertIn("unknown command", self.boot("start", status=1))
        self.assertIn("name a command", self.boot(status=1))
        self.assertIn("takes no options", self.boot("status", "x", status=1))

    def test_not_root(self):
        self.put_program("id", "echo 1000")
        for command in "enable", "disable", "save":
            self.assertIn("not root", self.boot(command, status=1))
        self.assertIn("Next boot: not recorded", self.boot("status"))

    def test_no_hook(self):
        os.unlink(self.path("usr/share/initramfs-tools/hooks/kmemtrace"))
        self.assertIn("initramfs-tools has no hook",
                      self.boot("enable", status=1))
        self.assertEqual(self.calls(), [])

    def test_enable_fails(self):
        """If the initramfs cannot be rebuilt, nothing is enabled."""
        self.put("fail-rebuild", "")
        self.assertIn("was not rebuilt", self.boot("enable", status=1))
        self.assertFalse(os.path.exists(self.conf))
        self.assertEqual(self.calls()[-1],
                         "systemctl --quiet disable kmemtrace-boot.service")

    def test_disable(self):
        self.boot("enable", "-k", "6.12.1-test")
        self.calls()
        self.boot("disable")
        self.assertEqual(self.calls(), [
            "systemctl --quiet disable kmemtrace-boot.service",
            "update-initramfs -u -k 6.12.1-test"])
        self.assertFalse(os.path.exists(self.path("var/lib/kmemtrace")))
        self.boot("disable")
        self.assertEqual(self.calls(), [
            "systemctl --quiet disable kmemtrace-boot.service"])

    def test_hook_order(self):
        """The hooks find boot.conf while it is enabled, and not afterwards."""
        self.put_program("update-initramfs",
                         f"echo conf $(ls {self.conf} 2>/dev/null) >>\"$LOG\"")
        self.boot("enable")
        self.assertEqual(self.calls()[-1], f"conf {self.conf}")
        self.boot("disable")
        self.assertEqual(self.calls()[-1], "conf")

    def test_disable_fails(self):
        """A failed rebuild can be repeated."""
        self.boot("enable")
        self.put("fail-rebuild", "")
        self.assertIn("rd.kmemtrace=0", self.boot("disable", status=1))
        self.assertIn("Next boot: recorded", self.boot("status"))
        os.unlink(self.path("fail-rebuild"))
        self.boot("disable")
        self.assertIn("Next boot: not recorded", self.boot("status"))

    def test_save(self):
        """The capture is moved, and the next boot is not recorded."""
        self.boot("enable", "-D", self.path("saved/here"))
        self.put_capture()
        self.calls()
        output = self.boot("save", "--after-boot")
        self.assertIn("warning: a message", output)
        self.assertNotIn("ended early", output)
        self.assertEqual(sorted(os.listdir(self.path("saved/here"))),
                         ["cpu0.out", "kmemtrace.meta"])
        self.assertEqual(self.calls(), [
            f"umount {self.capture}",
            "systemctl --quiet disable kmemtrace-boot.service",
            "update-initramfs -u -k all"])
        status = self.boot("status")
        self.assertIn("the capture is in " + self.path("saved/here"), status)
        self.assertIn("Next boot: not recorded", status)
        self.assertIn("already saved", self.boot("save", status=1))

    def test_save_twice(self):
        """No capture is replaced."""
        for name in "boot", "boot.2", "boot.3":
            self.boot("enable")
            if name != "boot":
                self.put("var/lib/kmemtrace/boot/mine", "")
            self.put_capture()
            self.boot("save")
            self.assertEqual(
                text_of(self.path(f"var/lib/kmemtrace/{name}/cpu0.out")),
                "records")
            os.unlink(os.path.join(self.run_dir, "saved"))
            if name == "boot":
                shutil.rmtree(self.path("var/lib/kmemtrace/boot"))
            else:
                os.unlink(self.path("var/lib/kmemtrace/boot/mine"))

    def test_save_incomplete(self):
        self.put_capture(complete="false")
        self.assertIn("ended early", self.boot("save"))

    def test_save_fails(self):
        """A capture that cannot be copied stays, and can be saved elsewhere."""
        self.boot("enable")
        self.put_capture()
        self.put_program("cp", "exit 1")
        self.assertIn("save -D DIR", self.boot("save", status=1))
        self.assertIn("is in " + self.capture, self.boot("status"))
        self.assertIn("Next boot: not recorded", self.boot("status"))
        self.assertFalse(os.path.exists(self.path("var/lib/kmemtrace")))
        os.unlink(self.path("bin/cp"))
        self.boot("save", "-D", self.path("elsewhere"))
        self.assertEqual(text_of(self.path("elsewhere/cpu0.out")), "records")

    def test_save_nothing(self):
        """A boot that was not recorded cancels the recording of the next one."""
        self.boot("enable")
        self.assertIn("does not contain kmemtraced", self.boot("save", status=1))
        self.assertIn("Next boot: not recorded", self.boot("status"))
        self.boot("enable")
        self.put("run/kmemtrace-boot/log", "kmemtraced: no source\n")
        output = self.boot("save", status=1)
        self.assertIn("kmemtraced: no source", output)
        self.assertIn("kmemtraced failed", output)
        self.assertIn("Next boot: not recorded", self.boot("status"))

    def test_save_parameter(self):
        """With -p, further boots are recorded."""
        self.boot("enable", "-p")
        self.assertIn("rd.kmemtrace=1 was not given", self.boot("save"))
        self.put_capture()
        self.calls()
        self.boot("save")
        self.assertEqual(self.calls(), [f"umount {self.capture}"])
        self.assertIn("Next boot: recorded if", self.boot("status"))

    def test_help(self):
        for option in "-h", "--help":
            self.assertIn("Usage: kmemtrace-boot", self.boot(option))
            self.assertIn("Usage: kmemtrace-boot", self.boot("enable", option))
        self.assertRegex(self.boot("--version"), r"^kmemtrace-boot [\d.]+\n$")
        page = text_of(os.path.join(TOP_SRCDIR, "man", "kmemtrace-boot.8"))
        for long in re.findall(r"--([a-z]+)=", self.boot("--help")):
            self.assertRegex(page, rf"(?m)^\.It .*Fl -{long} Ns = ")


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

    def test_failures(self):
        """The script succeeds whatever fails, because the boot must continue."""
        self.put("fail-daemon", "")
        self.assertEqual(len(self.start()), 2)
        self.put("fail-mount", "")
        self.assertEqual(len(self.start()), 1)
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

    def hook(self, *args):
        """Run the hook; return the files of the image. The paths in the image are
        below this test's directory, too."""
        self.call("initramfs-tools/kmemtrace", *args, DESTDIR=self.image)
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

    def test_prerequisites(self):
        self.put("var/lib/kmemtrace/boot.conf", "")
        self.assertEqual(self.hook("prereqs"), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
