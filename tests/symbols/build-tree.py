#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Directories and source lines from a build tree."""

import json
import os
import sys

import mkcapture
from source_case import SourceCase, main, run, tool


class Tree(SourceCase):
    """Directories from the object files of a built tree."""

    def compile(self, name, text, command=""):
        """Compile an object in the build tree, with the .cmd file of kbuild."""
        source = self.write(self.path("built", name + ".c"), text)
        folder, base = os.path.split(name)
        tool("gcc", "-O0", "-c", source, "-o", self.path("built", name + ".o"))
        if command is not None:
            self.write(self.path("built", folder, f".{base}.o.cmd"),
                       f"cmd_{name}.o := gcc {command} -c x\n\n"
                       f"source_{name}.o := ../{name}.c\n\ndeps_x := a b\n")

    def test_directories(self):
        module = " -DMODULE  -DKBUILD_MODNAME='\"%s\"'"
        self.compile("mm/slub", "void only_here(void) {}\n"
                     "static void twice(void) {}\n"
                     "static void same(void) {}\n"
                     "static void also(void) {}\n"
                     "void strong(void) {}\n"
                     "void use(void) { twice(); same(); also(); }",
                     "-DKBUILD_MODNAME='\"slub\"'")
        self.compile("net/core/dev", "static void twice(void) {}\n"
                     "__attribute__((weak)) void strong(void) {}\n"
                     "void use_dev(void) { twice(); }")
        self.compile("mm/slab", "void same(void) {}")
        # The same name in folders that are ignored.
        self.compile("scripts/mod/tool", "void only_here(void) {}")
        self.compile("arch/x86/boot/printf", "void only_here(void) {}")
        self.compile("drivers/a/card", "void also(void) {}\n"
                     "void probe(void) {}", module % "card")
        self.compile("drivers/b/other", "void probe(void) {}",
                     module % "other")
        self.compile("fs/bare", "void bare(void) {}", None)
        # A linked object without a .cmd file; its parts are read instead.
        tool("ld", "-r", self.path("built/fs/bare.o"), "-o",
             self.path("built/vmlinux.o"))
        tool("ld", "-r", self.path("built/mm/slub.o"), "-o",
             self.path("built/fs/linked.o"))
        self.write(self.path("built/fs/.linked.o.cmd"),
                   "cmd_fs/linked.o := ld -r -o fs/linked.o\n")
        wanted = {
            "only_here": ("", "mm"), "twice": ("", "(ambiguous)"),
            "same": ("", "mm"), "also": ("", "mm"),
            "strong": ("", "mm"),
            "also_in_card": ("card", "drivers/a"),
            "probe_a": ("card", "drivers/a"),
            "probe_b": ("other", "drivers/b"),
            "probe_c": ("third", "(ambiguous)"), "nowhere": ("", None),
            "bare": ("", "fs")}
        capture = mkcapture.Capture()
        kallsyms = ""
        for i, (name, (owner, _)) in enumerate(wanted.items()):
            address = 0xffffffff81000000 + i * 256
            name = "probe" if name.startswith("probe") else name
            name = "also" if name.startswith("also") else name
            kallsyms += f"{address:016x} t {name}"
            kallsyms += f"\t[{owner}]\n" if owner else "\n"
            capture.add(0, mkcapture.alloc(i, 64 * i + 64, site=address + 8))
        capture.texts["kallsyms"] = kallsyms
        capture.write(self.path("capture"))
        done = run("--json", "--source", self.path("built"),
                   self.path("capture"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = {int(r["address"], 16): r["directory"]
                for r in json.loads(done.stdout)["callsites"]}
        for i, (name, (_, directory)) in enumerate(wanted.items()):
            self.assertEqual(rows[0xffffffff81000008 + i * 256], directory,
                             name)

    def test_not_built(self):
        capture = mkcapture.Capture()
        capture.add(0, mkcapture.alloc(1, 64))
        capture.write(self.path("capture"))
        self.refused("-q", "--source", self.tree, self.path("capture"),
                     messages=["no object files", self.tree])
        self.refused("-q", "--source", self.path("nowhere"),
                     self.path("capture"), messages=["nowhere"])


if __name__ == "__main__":
    sys.exit(main())
