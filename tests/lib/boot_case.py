# SPDX-License-Identifier: GPL-2.0-or-later
"""A directory with the files of a system, for the scripts of kmemtraced/boot.

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
        self.have_zstd = "yes"  # whether kmemtraced is built with libzstd
        self.run_dir = self.path("run/kmemtrace-boot")
        self.capture = os.path.join(self.run_dir, "capture")
        os.makedirs(self.path("var/lib"))
        os.makedirs(self.path("run"))
        self.put("proc/cmdline", "root=/dev/vda ro quiet\n")
        self.put("usr/share/initramfs-tools/hooks/kmemtrace", "")
        self.kernel("6.12.1-test")
        self.begin_boot("1")
        self.put("log", "")
        self.put_program("update-initramfs", """
[ ! -e "$ROOT/fail-rebuild" ] && [ ! -e "$ROOT/fail-rebuild-$3" ] || exit 1
[ ! -e "$ROOT/skip-rebuild" ] || exit 0
rm -rf "$ROOT/image"
version=$3 DESTDIR=$ROOT/image "$ROOT/scripts/initramfs-tools/kmemtrace"
find "$ROOT/image" -type f >"$ROOT/boot/initrd.img-$3.new" 2>/dev/null
mv "$ROOT/boot/initrd.img-$3.new" "$ROOT/boot/initrd.img-$3"
""")
        self.put_program("uname", "echo 6.12.1-test")
        self.put("usr/share/initramfs-tools/hook-functions",
                 "copy_exec() { :; }\n")
        self.put("libexec/kmemtrace/boot/start", "")
        self.script("initramfs-tools/kmemtrace")
        self.put_program("systemctl", "")
        self.put_program("umount", "rm -rf \"$1\"")
        self.put_program("mount", "[ ! -e \"$ROOT/fail-mount\" ] || "
                         "{ echo mount: no tmpfs >&2; exit 1; }")
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

    def kernel(self, version):
        """Install a kernel with an initramfs."""
        self.put(f"lib/modules/{version}/modules.dep", "")
        self.put(f"boot/initrd.img-{version}", "")

    def included(self):
        """Return the versions of the kernels whose initramfs has kmemtraced."""
        return sorted(name.removeprefix("initrd.img-")
                      for name in os.listdir(self.path("boot"))
                      if "kmemtrace/start" in text_of(self.path("boot/" + name)))

    def begin_boot(self, number):
        """Begin another boot, which is not recorded yet."""
        self.put("proc/sys/kernel/random/boot_id", number + "\n")
        shutil.rmtree(self.run_dir, ignore_errors=True)

    def put_program(self, name, body):
        """Write a program that logs its arguments before it runs the body."""
        path = self.put(f"bin/{name}", "#!/bin/sh\n"
                        f"echo {name} \"$*\" >>\"$LOG\"\n{body}\n")
        os.chmod(path, 0o755)

    def script(self, name):
        """Copy a script of the build, with paths of this test."""
        text = text_of(os.path.join(BUILT, name))
        text = re.sub(r"(?<![\w$}])/(run|proc|etc|boot|usr/share|usr/lib|lib/modules)\b",
                      lambda match: f"{self.root}/{match[1]}", text)
        text = re.sub(r"/[\w/.-]*/lib/kmemtrace\b(?!/start)",
                      self.path("var/lib/kmemtrace"), text)
        text = re.sub(r"/\S*/kmemtrace(?=/boot/start)",
                      self.path("libexec/kmemtrace"), text)
        text = re.sub(r"(?m)^have_zstd=\w+$", f"have_zstd={self.have_zstd}", text)
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
                 if line.split()[0] not in ("id", "uname")]
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
