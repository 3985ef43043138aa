#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Source lines of modules."""

import os
import sys

from source_case import FILES, OTHER_ID, SourceCase, main, run, tool


class Modules(SourceCase):
    """Debug files of modules."""

    def assert_module(self, sites):
        """Expect the source locations of the module's call sites."""
        file = "drivers/net/card/card.c"
        self.assert_site(sites["card_open"], "card_open", file, 18)
        self.assert_site(sites["card_init"], "card_init", file, 23)
        self.assert_site(sites["card_twin"], "card_twin", file, 11)
        self.assert_site(sites["card_more"], "card_twin",
                         "drivers/net/card/more.c", 5)
        self.assert_site(sites["card_inlined"], "card_probe",
                         "include/thing.h", 4, ["make_thing", "make_things"],
                         "drivers/net/card")
        for name, row in sites.items():
            self.assertEqual(row["module"],
                             "card" if name.startswith("card_") else None)

    def test_files(self):
        vmlinux = self.build()
        for number, name in enumerate(("card.ko", "card.ko.debug")):
            directory = self.path(f"debug{number}", "")
            module = self.build_module(
                self.path(directory, "lib", "kernel", name))
            capture = self.capture(vmlinux, module)
            sites = self.sites(vmlinux, "-k", vmlinux, "--debug-dir",
                               directory, capture, module=module)
            self.assert_kernel(sites)
            self.assert_module(sites)

    def test_only_debug_information(self):
        vmlinux = self.build()
        module = self.build_module(self.path("card.ko"))
        directory = self.path("debug", "")
        tool("objcopy", "--only-keep-debug", module,
             self.path(directory, "card.ko.debug"))
        capture = self.capture(vmlinux, module)
        self.assert_module(self.sites(vmlinux, "-k", vmlinux, "--debug-dir",
                                      directory, capture, module=module))

    def test_stripped(self):
        """A stripped module, with the debug information in another file."""
        vmlinux = self.build()
        directory = self.path("debug", "")
        module = self.build_module(self.path(
            directory, ".build-id", OTHER_ID[:2], OTHER_ID[2:] + ".debug"))
        tool("strip", "-g", "-o", self.path(directory, "kernel", "card.ko"),
             module)
        capture = self.capture(vmlinux, module)
        self.assert_module(self.sites(vmlinux, "-k", vmlinux, "--debug-dir",
                                      directory, capture, module=module))

    def test_no_name_is_of_one_function_only(self):
        """If no name belongs to exactly one function, 'modules' gives the module's
        address."""
        text = ("#include \"site.h\"\n"
                "static noinline __attribute__((used)) void card_twin(void)\n"
                "{ SITE(%s); }\n")
        for name in ("one", "two"):
            self.write(self.path("linux/drivers/net/card", name + ".c"),
                       text % name)
        vmlinux = self.build()
        directory = self.path("debug", "")
        module = self.build_module(self.path(directory, "card.ko"),
                                   ("one", "two"))
        capture = self.capture(vmlinux, module)
        sites = self.sites(vmlinux, "-k", vmlinux, "--debug-dir", directory,
                           capture, module=module)
        for name in ("one", "two"):
            self.assert_site(sites["card_" + name], "card_twin",
                             f"drivers/net/card/{name}.c", 3)

    def test_several_releases(self):
        """The module of the recorded release is found in any directory."""
        vmlinux = self.build()
        directory = self.path("debug", "")
        module = self.build_module(self.path(directory, "z", "card.ko"))
        capture = self.capture(vmlinux, module)
        path = os.path.join(self.tree, "drivers/net/card/card.c")
        text = FILES["drivers/net/card/card.c"]
        self.write(path, text.replace("SITE(open)", 'asm("nop"); SITE(open)')
                   .replace("make_things();", 'make_things(); asm("nop");'))
        self.build_module(self.path(directory, "a", "card.ko"))
        self.assert_module(self.sites(vmlinux, "-k", vmlinux, "--debug-dir",
                                      directory, capture, module=module))
        os.unlink(module)
        done = run("-k", vmlinux, "--debug-dir", directory, capture)
        self.assertEqual(done.returncode, 0)
        self.assertIn("only debug files of other builds of modules: card\n",
                      done.stderr)
        self.assertNotIn("card.c:", done.stdout)

    def test_missing(self):
        vmlinux = self.build()
        module = self.build_module(self.path("card.ko"))
        capture = self.capture(vmlinux, module)
        directory = self.path("debug", "")
        done = run("--debug-dir", directory, capture)
        self.assertEqual(done.returncode, 0)
        self.assertIn("no vmlinux in", done.stderr)
        self.assertIn("no debug files of modules: card\n", done.stderr)
        self.refused("--debug-dir", self.path("nowhere"), capture,
                     messages=["nowhere"])
        # Source lines of modules were not requested.
        sites = self.sites(vmlinux, "-k", vmlinux, capture, module=module)
        self.assert_kernel(sites)
        self.assertIsNone(sites["card_open"]["source"])
        self.assertEqual(sites["card_open"]["module"], "card")


if __name__ == "__main__":
    sys.exit(main())
