#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Source lines and inlined functions of vmlinux, and a vmlinux that is not the
recorded kernel."""

import os
import shutil
import sys

from source_case import BIAS, FILES, ID, OTHER_ID, SourceCase, main, run, tool


class Kernel(SourceCase):
    """The vmlinux of the recorded kernel."""

    def test_moved(self):
        vmlinux = self.build()
        for move in (0, BIAS, 0xffffffff00000000):
            capture = self.capture(vmlinux, move=move)
            for option in ("-k", "--vmlinux"):
                self.assert_kernel(self.sites(vmlinux, option, vmlinux,
                                              capture, move=move))

    def test_older_format(self):
        vmlinux = self.build("-gdwarf-4")
        capture = self.capture(vmlinux)
        self.assert_kernel(self.sites(vmlinux, "-k", vmlinux, capture))

    def test_without_ranges_of_units(self):
        """Some compilers omit the address ranges of units."""
        vmlinux = self.build()
        capture = self.capture(vmlinux)
        tool("objcopy", "--remove-section=.debug_aranges", vmlinux)
        self.assert_kernel(self.sites(vmlinux, "-k", vmlinux, capture))

    def test_text(self):
        vmlinux = self.build()
        done = run("-k", vmlinux, self.capture(vmlinux))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m) make_thing <- make_things <- "
                         r"grow\+0x[0-9a-f]+ include/thing\.h:4$")
        self.assertRegex(done.stdout, r"(?m) kmalloc +start_kernel"
                         r"\+0x[0-9a-f]+ init/main\.c:7$")

    def test_steers_no_terminal(self):
        """A path in the debug information can contain escape sequences."""
        self.write(self.path("linux/mm/grow.c"),
                   '#line 1 "mm/\\033[2J.c"\n' + FILES["mm/grow.c"])
        vmlinux = self.build()
        done = run("-k", vmlinux, self.capture(vmlinux))
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("\033", done.stdout)
        self.assertIn(" mm/?[2J.c:", done.stdout)

    def test_build_folder(self):
        """Paths are relative to the source root, wherever the compiler ran."""
        build = self.path("build", "")
        vmlinux = self.build(build=build)
        capture = self.capture(vmlinux)
        self.assert_kernel(self.sites(vmlinux, "-k", vmlinux, capture))

    def test_without_options(self):
        vmlinux = self.build()
        sites = self.sites(vmlinux, self.capture(vmlinux))
        self.assertEqual(sites["plain"]["symbol"].split("+")[0],
                         "start_kernel")
        for row in sites.values():
            self.assertIsNone(row["source"])
            self.assertIsNone(row["directory"])
            self.assertIsNone(row["module"])
            self.assertEqual(row["inlined"], [])

    def test_no_debug_information(self):
        vmlinux = self.build()
        capture = self.capture(vmlinux)
        tool("strip", "-g", vmlinux)
        self.refused("-k", vmlinux, capture,
                     messages=[vmlinux, "no debug information"])
        self.refused("-k", self.dir + "/nothing", capture,
                     messages=["/nothing", "No such file"])
        self.refused("-k", self.write(self.path("text"), "text"), capture,
                     messages=[self.path("text"), "System.map"])
        self.refused("-k", self.write(self.path("elf"), "\x7fELF"), capture,
                     messages=[self.path("elf"), "cannot be read"])

    def test_stripped(self):
        """The debug information is in a separate file."""
        vmlinux = self.build()
        capture = self.capture(vmlinux)
        stripped = self.path("stripped")
        tool("strip", "-g", "-o", stripped, vmlinux)
        debug = self.path("debug", ".build-id", ID[:2], ID[2:] + ".debug")
        shutil.copy(vmlinux, debug)
        directory = self.path("debug")
        for args in (["-k", stripped, "--debug-dir", directory],
                     ["--debug-dir", directory]):
            self.assert_kernel(self.sites(vmlinux, *args, capture))

    def test_vmlinux_of_a_distribution(self):
        vmlinux = self.build()
        capture = self.capture(vmlinux)
        for place in ("vmlinux", "boot/vmlinux-6.1.0-test",
                      "lib/modules/6.1.0-test/vmlinux"):
            directory = self.path("debug-" + place.replace("/", "-"), "")
            shutil.copy(vmlinux, self.path(directory, place))
            self.assert_kernel(self.sites(vmlinux, "--debug-dir", directory,
                                          capture))


class OtherKernel(SourceCase):
    """A vmlinux of another kernel is refused."""

    def other(self, **options):
        """Build a vmlinux with one more function at the start."""
        path = os.path.join(self.tree, "init", "main.c")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.write(path, text.replace(
            "void grow(void);", "void grow(void);\n"
            "void more(void) { asm volatile(\"nop\"); }"))
        vmlinux = self.build(name="other", **options)
        self.write(path, text)
        return vmlinux

    def test_build_id(self):
        vmlinux = self.build(build_id=OTHER_ID)
        capture = self.capture(vmlinux)
        self.refused("-k", vmlinux, capture, messages=[
            "another kernel", ID, OTHER_ID, "name the vmlinux"])
        # The build id of the capture may be in upper case.
        vmlinux = self.build(build_id="aa" * 20)
        capture = self.capture(vmlinux, build_id="AA" * 20)
        self.assert_kernel(self.sites(vmlinux, "-k", vmlinux, capture))

    def test_symbols_decide_without_an_id(self):
        traced = self.build(build_id=None)
        for captured_id in (None, ID, "../../etc"):
            capture = self.capture(traced, build_id=captured_id)
            self.assert_kernel(self.sites(traced, "-k", traced, capture))
            self.refused("-k", self.other(build_id=None), capture,
                         messages=["another kernel", "name the vmlinux"])
        # An invalid build id counts as missing.
        traced = self.build()
        capture = self.capture(traced, build_id="../../etc")
        self.assert_kernel(self.sites(traced, "-k", traced, capture))
        capture = self.capture(traced, build_id=None)
        self.refused("-k", self.other(), capture,
                     messages=["another kernel", "name the vmlinux"])

    def test_no_symbols(self):
        vmlinux = self.build()
        capture = self.capture(vmlinux, kallsyms=False)
        self.refused("-q", "-k", vmlinux, capture, messages=["--kallsyms"])
        capture = self.capture(vmlinux)
        path = os.path.join(capture, "kallsyms")
        with open(path, encoding="ascii") as f:
            text = f.read()
        self.write(path, "".join(line for line in text.splitlines(True)
                                 if "_stext" not in line))
        self.refused("-k", vmlinux, capture, messages=["_stext"])


if __name__ == "__main__":
    sys.exit(main())
