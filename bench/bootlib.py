# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of many boots of one kernel, with and without a regression that the module
of vm/regress plants."""

import os
import shutil
import subprocess

import guestlib
from benchlib import BenchError

SIDES = ("base", "regressed")
# The table of the module has this number of entries. The regression doubles the size
# of an entry, which adds 1 % to the 7 MB of slab memory that are live at the marker line
# "booted".
ENTRIES = 138
ENTRY_BYTES = {"base": 512, "regressed": 1024}
GUEST_SECONDS = 600
# A guest may die on a machine without memory. More failures in a row than this are an
# error of the kernel or the scenario.
MAX_FAILURES = 3


class Boots:
    """A folder of captures: base-001.tar.zst, regressed-001.tar.zst, and so on. All boots
    use the copies of the kernel and the daemon in the folder, so that the files in the
    guest are equal even if the originals are built again."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        os.makedirs(self.folder, exist_ok=True)

    def path(self, *names):
        """Return a path in the folder."""
        return os.path.join(self.folder, *names)

    def capture(self, side, number):
        """Return the path of the capture of a boot."""
        return self.path(f"{side}-{number:03}.tar.zst")

    def unpack(self, wanted, folder):
        """Unpack the first captures of each side into a folder, and return {side: [path of
        each capture]}."""
        found = {side: [] for side in SIDES}
        for side in SIDES:
            for number in range(1, wanted + 1):
                target = os.path.join(folder, f"{side}-{number:03}")
                os.mkdir(target)
                packed = self.capture(side, number)
                if subprocess.run(["tar", "-C", target, "-xf", packed],
                                  check=False).returncode:
                    raise BenchError(f"tar cannot unpack {packed} into {target}: see above")
                found[side].append(os.path.join(target, "capture"))
        return found

    def kernel_tree(self):
        """Return the build directory of the kernel, for --source and --vmlinux."""
        return guestlib.build("6.1", "x86_64", "slub", modules=("regress",))

    def prepare(self, builddir):
        """Copy the kernel, its module, and kmemtraced into the folder."""
        if os.path.exists(self.path("kernel")):
            return
        built = self.kernel_tree()
        new = self.path("kernel.new")
        shutil.rmtree(new, ignore_errors=True)
        for name in (".arch", ".config", "arch/x86/boot/bzImage",
                     "modules/kmt_regress.ko"):
            os.makedirs(os.path.dirname(os.path.join(new, name)), exist_ok=True)
            shutil.copy(os.path.join(built, name), os.path.join(new, name))
        os.makedirs(self.path("programs/kmemtraced"), exist_ok=True)
        shutil.copy(os.path.join(builddir, "kmemtraced/kmemtraced"),
                    self.path("programs/kmemtraced"))
        os.rename(new, self.path("kernel"))

    def boot(self, side, out):
        """Boot a guest, and return whether it recorded a capture in out."""
        append = ("kmemtrace.enable=yes kmemtrace.subbufs=60 "
                  f"kmt_regress.entries={ENTRIES} "
                  f"kmt_regress.size={ENTRY_BYTES[side]}")
        argv = [os.path.join(guestlib.TOP, "vm/run"), "-q",
                "--kernel", self.path("kernel"),
                "--builddir", self.path("programs"), "--out", out,
                "--disk-size", "300", "--timeout", str(GUEST_SECONDS),
                "--append", append,
                os.path.join(guestlib.TOP, "vm/scenarios/regress.sh")]
        return subprocess.run(argv, stdin=subprocess.DEVNULL, check=False).returncode == 0

    def record(self, side, number):
        """Record a boot, and return whether it succeeded."""
        target = self.capture(side, number)
        out = self.path("guest")
        shutil.rmtree(out, ignore_errors=True)
        if not self.boot(side, out):
            return False
        packed = subprocess.run(["tar", "-C", out, "--zstd", "-cf", target + ".new",
                                 "capture"], check=False)
        if packed.returncode:
            raise BenchError(f"tar cannot write {target}.new: see above")
        os.rename(target + ".new", target)
        shutil.rmtree(out)
        return True

    def record_all(self, wanted, builddir, progress):
        """Record boots until each side has the wanted number of captures. The sides take
        turns, so that a change of the machine's load affects both. Call progress(side,
        number) before each boot."""
        self.prepare(builddir)
        failures = 0
        for number in range(1, wanted + 1):
            for side in SIDES:
                if os.path.exists(self.capture(side, number)):
                    continue
                progress(side, number)
                while not self.record(side, number):
                    failures += 1
                    if failures > MAX_FAILURES:
                        raise BenchError(f"{failures} boots failed: see above")
