#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-boot."""

import os
import re
import shutil
import unittest

from boot_case import Scripts, text_of

TOP_SRCDIR = os.path.abspath(os.environ.get("top_srcdir", "."))


class Command(Scripts):
    """kmemtrace-boot."""

    def test_enable(self):
        self.boot("enable")
        self.assertEqual(self.values(), {
            "mode": "once", "source": "", "wait": "0", "size": "25%",
            "directory": self.path("var/lib/kmemtrace/boot"), "kernel": "",
            "compress": "", "library": "", "boot": "1"})
        self.assertEqual(self.calls(), [
            "systemctl --quiet enable kmemtrace-boot.service",
            "update-initramfs -u -k 6.12.1-test"])
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
                "kernel": "6.12.1-test", "compress": "", "library": "",
                "boot": "1"})
            self.assertEqual(self.calls()[-1],
                             "update-initramfs -u -k 6.12.1-test")
            status = self.boot("status")
            self.assertIn("source: bpf", status)
            self.assertIn("rd.kmemtrace=1", status)

    def test_compress(self):
        """The level and the path of libzstd are for the scripts of the initramfs."""
        self.put_program("ldconfig", """cat <<END
2 libs found in cache
	libzstd.so.1 (libc6,x86-64) => /lib/one/libzstd.so.1
	libzstd.so.1 (libc6) => /lib/other/libzstd.so.1
	libzstd.so (libc6,x86-64) => /lib/one/libzstd.so
END""")
        for option, level in (("--compress", "1"), ("--compress=", "1"),
                              ("--compress=19", "19")):
            self.boot("enable", option)
            self.assertEqual(self.values()["compress"], level)
            self.assertEqual(self.values()["library"], "/lib/one/libzstd.so.1")
            self.assertIn(f"compression: zstd, level {level}\n",
                          self.boot("status"))
        self.boot("disable")
        for level in "0", "20", "fast", "-1", "1 ":
            self.assertIn("not a level from 1 to 19", self.boot(
                "enable", "--compress=" + level, status=1))
        self.put_program("ldconfig", "echo '	libz.so.1 (libc6) => /lib/libz.so.1'")
        self.assertIn("there is no libzstd.so.1",
                      self.boot("enable", "--compress", status=1))
        self.have_zstd = "no"
        self.assertIn("kmemtraced was built without libzstd",
                      self.boot("enable", "--compress", status=1))
        self.put_program("id", "echo 1000")
        self.assertIn("not root", self.boot("enable", "--compress", status=1))
        self.assertFalse(os.path.exists(self.conf))

    def test_refused(self):
        """Invalid options change nothing."""
        os.makedirs(self.path("full/x"))
        os.symlink("nowhere", self.path("link"))
        for options, message in (
                (["-s", "perf"], "neither relay, bpf nor ftrace"),
                (["-w", "soon"], "not a number of seconds"),
                (["-w"], "needs a value"), (["--wait"], "needs a value"),
                (["-m", "1t"], "not a number with"),
                (["-m", "%"], "not a percentage"),
                (["-m", "0%"], "not a percentage"),
                (["-m", "91%"], "not a percentage"),
                (["-m", "100%"], "not a percentage"),
                (["-m", "0"], "not a number from 1"),
                (["-m", "0g"], "not a number from 1"),
                (["-m", "1234567890g"], "not a number from 1"),
                (["-m", "25"], "has no unit"),
                (["-m", "k"], "not a number with"),
                (["-D", self.path("link")], "symbolic link"),
                (["-D", self.path("link/")], "symbolic link"),
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

    def test_disable(self):
        self.boot("enable", "-k", "6.12.1-test")
        self.calls()
        self.boot("disable")
        self.assertEqual(self.calls(), [
            "update-initramfs -u -k 6.12.1-test",
            "systemctl --quiet disable kmemtrace-boot.service"])
        self.assertFalse(os.path.exists(self.path("var/lib/kmemtrace")))
        self.boot("disable")
        self.assertEqual(self.calls(), [
            "systemctl --quiet disable kmemtrace-boot.service"])

    def test_hook_order(self):
        """The hooks find boot.conf while it is enabled, and not afterwards."""
        self.boot("enable")
        self.assertEqual(self.included(), ["6.12.1-test"])
        self.boot("disable")
        self.assertEqual(self.included(), [])

    def test_disable_fails(self):
        """A failed rebuild can be repeated."""
        self.boot("enable")
        self.put("fail-rebuild", "")
        self.calls()
        self.assertIn("rd.kmemtrace=0", self.boot("disable", status=1))
        self.assertEqual(self.calls(), ["update-initramfs -u -k 6.12.1-test"])
        self.assertIn("Next boot: may be recorded", self.boot("status"))
        os.unlink(self.path("fail-rebuild"))
        self.boot("disable")
        self.assertIn("Next boot: not recorded", self.boot("status"))

    def test_save(self):
        """The capture is moved, and the next boot is not recorded."""
        self.boot("enable", "-D", self.path("saved/here"))
        self.begin_boot("2")
        self.put_capture()
        self.calls()
        output = self.boot("save", "--after-boot")
        self.assertIn("warning: a message", output)
        self.assertNotIn("ended early", output)
        self.assertEqual(sorted(os.listdir(self.path("saved/here"))),
                         ["cpu0.out", "kmemtrace.meta"])
        self.assertEqual(self.calls(), [
            f"umount {self.capture}",
            "update-initramfs -u -k 6.12.1-test",
            "systemctl --quiet disable kmemtrace-boot.service"])
        status = self.boot("status")
        self.assertIn("the capture is in " + self.path("saved/here"), status)
        self.assertIn("Next boot: not recorded", status)
        self.assertIn("already saved", self.boot("save", status=1))

    def test_save_twice(self):
        """No capture is replaced."""
        for name in "boot", "boot.2", "boot.3":
            self.boot("enable")
            self.begin_boot(name)
            if name != "boot":
                self.put("var/lib/kmemtrace/boot/mine", "")
            self.put_capture()
            self.boot("save")
            self.assertEqual(
                text_of(self.path(f"var/lib/kmemtrace/{name}/cpu0.out")),
                "records")
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
        self.begin_boot("2")
        self.put_capture()
        self.put_program("cp", "exit 1")
        self.assertIn("save -D DIR", self.boot("save", status=1))
        self.assertIn("is in " + self.capture, self.boot("status"))
        self.assertIn("Next boot: not recorded", self.boot("status"))
        self.assertFalse(os.path.exists(self.path("var/lib/kmemtrace")))
        os.unlink(self.path("bin/cp"))
        self.boot("save", "-D", self.path("elsewhere"))
        self.assertEqual(text_of(self.path("elsewhere/cpu0.out")), "records")

    def test_sizes(self):
        for size in "1%", "90%", "1k", "999999999m":
            self.boot("enable", "-m", size)
            self.assertEqual(self.values()["size"], size)

    def test_empty_directory(self):
        """An empty directory is kept until the capture replaces it."""
        target = self.path("empty")
        os.mkdir(target)
        self.boot("enable", "-D", target + "/")
        self.assertEqual(self.values()["directory"], target)
        self.assertTrue(os.path.isdir(target))
        self.put_capture()
        self.boot("save", "--directory", target)
        self.assertIn("cpu0.out", os.listdir(target))

    def test_no_room(self):
        """A capture that the file system has no room for is not copied."""
        self.put_capture()
        self.put_program("du", "printf '4000000\\tcapture\\n'")
        self.put_program("df", "printf '  Avail\\n3999999\\n'")
        self.put_program("cp", "")
        output = self.boot("save", status=1)
        self.assertIn("has 3907 MB", output)
        self.assertIn("only 3906 MB free", output)
        self.assertFalse([call for call in self.calls() if "cp" in call])
        self.assertIn("is in " + self.capture, self.boot("status"))

    def test_planted_link(self):
        """A link of another user in the place of the copy is not followed."""
        self.put_capture()
        target = self.path("tmp/here")
        os.makedirs(self.path("tmp"))
        os.makedirs(self.path("elsewhere"))
        # The other user is faster than kmemtrace-boot.
        self.put_program("df", f"ln -s {self.path('elsewhere')} "
                         f"{target}.partial; printf 'Avail\\n9999999\\n'")
        self.boot("save", "-D", target, status=1)
        self.assertEqual(os.listdir(self.path("elsewhere")), [])
        os.unlink(target + ".partial")
        os.unlink(self.path("bin/df"))
        self.boot("save", "-D", target)
        self.assertIn("cpu0.out", os.listdir(target))

    def test_save_nothing(self):
        """A boot that was not recorded cancels the recording of the next one."""
        self.boot("enable")
        self.begin_boot("2")
        self.assertIn("does not contain kmemtraced", self.boot("save", status=1))
        self.assertIn("Next boot: not recorded", self.boot("status"))
        self.boot("enable")
        self.begin_boot("3")
        self.put("run/kmemtrace-boot/log", "kmemtraced: no source\n")
        output = self.boot("save", status=1)
        self.assertIn("kmemtraced: no source", output)
        self.assertIn("kmemtraced failed", output)
        self.assertIn("Next boot: not recorded", self.boot("status"))

    def test_save_parameter(self):
        """With -p, further boots are recorded."""
        self.boot("enable", "-p")
        self.begin_boot("2")
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
