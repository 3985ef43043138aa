#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Source lines, inlined functions and directories: of a kernel of a few lines
that is compiled here, and a capture as it would have made, moved by KASLR."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import mkcapture

PROGRAM = os.path.abspath(os.path.join(os.environ.get("top_builddir", "."),
                                       "report", "kmemtrace-report"))
TOOLS = ("gcc", "ld", "nm", "objcopy", "strip")
BIAS = 0x12345000
MODULE = 0xffffffffc0500000
MODULE_INIT = 0xffffffffc0700000
ID = "00112233445566778899aabbccddeeff00112233"
OTHER_ID = "ffeeddccbbaa99887766554433221100ffeeddcc"
FLAGS = ["-g", "-O2", "-ffreestanding", "-fno-pie", "-falign-functions=1",
         "-fno-reorder-functions", "-fno-toplevel-reorder",
         "-fno-asynchronous-unwind-tables"]
# SITE(x): an instruction, and the label site_x of the one behind it, as a
# return address is.
SITE = """
#define SITE(x) asm volatile("nop\\n.globl site_" #x "\\nsite_" #x ":")
#define noinline __attribute__((noinline))
#define always_inline inline __attribute__((always_inline))
"""
FILES = {
    "include/site.h": SITE,
    "include/thing.h": """
static always_inline void make_thing(void)
{
	SITE(inlined); /* line 4 */
}
static always_inline void make_things(void)
{
	make_thing();
}
""",
    "init/main.c": """
#include "site.h"
asm(".text\\n.globl _stext\\n_stext:");
void grow(void);
noinline void start_kernel(void)
{
	SITE(plain); /* line 7 */
	grow();
}
""",
    "mm/grow.c": """
#include "site.h"
#include "thing.h"
static noinline void never_returns(void)
{
	SITE(end); /* line 6 */
	__builtin_unreachable();
}
noinline void grow(void)
{
	int volatile n = 0;

	make_things(); /* line 13 */
	n++;
	if (n == 7)
		never_returns();
	n--;
}
""",
    "drivers/net/card/card.c": """
#include "site.h"
#include "thing.h"
static noinline void card_probe(void)
{
	make_things();
	asm volatile("nop");
}
static noinline void card_twin(void)
{
	SITE(twin); /* line 11 */
	asm volatile("nop");
}
noinline void card_open(void)
{
	card_probe();
	card_twin();
	SITE(open); /* line 18 */
	asm volatile("nop");
}
noinline __attribute__((section(".init.text"))) void card_init(void)
{
	SITE(init); /* line 23 */
	asm volatile("nop");
}
""",
    "drivers/net/card/more.c": """
#include "site.h"
static noinline void card_twin(void)
{
	SITE(more); /* line 5 */
	asm volatile("nop");
}
noinline void card_close(void)
{
	card_twin();
	asm volatile("nop");
}
""",
}


def tool(*args, cwd=None):
    """Runs a tool of the compiler; what it prints."""
    return subprocess.run(args, check=True, cwd=cwd, text=True,
                          stdout=subprocess.PIPE).stdout


def symbols(path):
    """(name, address, type) of a file."""
    lines = (line.split() for line in tool("nm", path).splitlines())
    return [(words[2], int(words[0], 16), words[1]) for words in lines
            if len(words) == 3]


def run(*args):
    """Runs kmemtrace-report."""
    return subprocess.run([PROGRAM, *args], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class SourceCase(unittest.TestCase):
    """A source tree, built; what it takes to make captures of it."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = os.path.realpath(holder.name)
        self.tree = os.path.join(self.dir, "linux")
        for name, text in FILES.items():
            self.write(os.path.join(self.tree, name), text)

    @staticmethod
    def write(path, text):
        """A file, in folders that need not exist."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def path(self, *parts):
        """A path in the folder of this test; its folder is made."""
        path = os.path.join(self.dir, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def build(self, *flags, build=None, build_id=ID, name="vmlinux"):
        """A vmlinux; build: the folder to compile in, not that of the source.
        """
        objects = []
        for unit in ("init/main", "mm/grow"):
            out = self.path("objects", unit.replace("/", "-") + ".o")
            source = unit + ".c"
            if build:
                source = os.path.join(self.tree, source)
            tool("gcc", *FLAGS, *flags, "-I", self.tree + "/include", "-c",
                 source, "-o", out, cwd=build or self.tree)
            objects.append(out)
        path = self.path(name)
        tool("gcc", "-nostdlib", "-static", "-no-pie", "-Wl,-e,start_kernel",
             "-Wl,--build-id=" + ("0x" + build_id if build_id else "none"),
             *objects, "-o", path)
        return path

    def build_module(self, path, units=("card", "more")):
        """card.ko, of two files with a static function of the same name."""
        objects = []
        for unit in units:
            objects.append(self.path("objects", unit + ".o"))
            tool("gcc", *FLAGS, "-I", self.tree + "/include", "-c",
                 f"drivers/net/card/{unit}.c", "-o", objects[-1],
                 cwd=self.tree)
        tool("ld", "-r", "--build-id=0x" + OTHER_ID, *objects, "-o", path)
        return path

    def capture(self, vmlinux, module=None, build_id=ID, move=BIAS,
                kallsyms=True, name="capture"):
        """What vmlinux, and a module, moved, would have recorded."""
        lines, modules, sites = [], "", []
        for symbol, address, kind in symbols(vmlinux):
            if symbol.startswith("site_"):
                sites.append(address + move)
            elif kind in "tT":
                lines.append((address + move, f"{kind} {symbol}"))
        for symbol, address, kind in symbols(module) if module else ():
            base = MODULE_INIT if "init" in symbol else MODULE
            if symbol.startswith("site_"):
                sites.append(address + base)
            elif kind in "tT":
                lines.append((address + base, f"{kind} {symbol}\t[card]"))
            modules = f"card 65536 0 - Live {MODULE:#x}\n"
        capture = mkcapture.Capture()
        for i, site in enumerate(sites):
            capture.add(0, mkcapture.alloc(i, 0x1000 + i * 128, site=site))
        capture.texts["kmemtrace.meta"] = "[capture]\n" + (
            f"build_id={build_id}\n" if build_id else "") + \
            "kernel_release=6.1.0-test\ncomplete=true\noverruns=0\n"
        if kallsyms:
            capture.texts["kallsyms"] = "".join(
                f"{address:016x} {rest}\n" for address, rest in sorted(lines))
        capture.texts["modules"] = modules
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        capture.write(path)
        return path

    def sites(self, vmlinux, *args, module=None, move=BIAS):
        """Name of the site -> what the report says of it."""
        done = run("--json", *args)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = {int(r["address"], 16): r
                for r in json.loads(done.stdout)["callsites"]}
        found = {}
        for name, address, _ in symbols(vmlinux):
            if name.startswith("site_"):
                found[name[5:]] = rows[address + move]
        for name, address, _ in symbols(module) if module else ():
            base = MODULE_INIT if "init" in name else MODULE
            if name.startswith("site_"):
                found["card_" + name[5:]] = rows[address + base]
        return found

    def refused(self, *args, messages):
        """A run that must fail, and say so in one line."""
        done = run(*args)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done)
        for message in messages:
            self.assertIn(message, done.stderr)

    def assert_site(self, row, function, file, line, inlined=(),
                    directory=None):
        """What is said of a site."""
        self.assertEqual(row["symbol"].split("+")[0], function)
        self.assertEqual(row["source"], {"file": file, "line": line})
        self.assertEqual(row["inlined"], list(inlined))
        self.assertEqual(row["directory"],
                         directory or os.path.dirname(file))

    def assert_kernel(self, sites):
        """The sites of vmlinux are told as they are."""
        self.assert_site(sites["plain"], "start_kernel", "init/main.c", 7)
        self.assert_site(sites["inlined"], "grow", "include/thing.h", 4,
                         ["make_thing", "make_things"], "mm")
        # The address is that of the next function already.
        self.assert_site(sites["end"], "never_returns", "mm/grow.c", 6)


class Kernel(SourceCase):
    """vmlinux alone."""

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
        """As some compilers leave them out."""
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
        """A path is what the compiler was told."""
        self.write(self.path("linux/mm/grow.c"),
                   '#line 1 "mm/\\033[2J.c"\n' + FILES["mm/grow.c"])
        vmlinux = self.build()
        done = run("-k", vmlinux, self.capture(vmlinux))
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("\033", done.stdout)
        self.assertIn(" mm/?[2J.c:", done.stdout)

    def test_build_folder(self):
        """Paths are from the source's root wherever the compiler ran."""
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
        """The debug information is in a file of its own."""
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
    """What must not be believed."""

    def other(self, **options):
        """A vmlinux with one more function, at the front."""
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
        # Which is written as somebody pleases.
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
        # What is no id is none.
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


class Modules(SourceCase):
    """Modules' debug files."""

    def assert_module(self, sites):
        """The sites of the module are told as they are."""
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
        """A module as it is installed; what was stripped is elsewhere."""
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
        """Then 'modules' tells where the module was."""
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
        """The one that fits is found, wherever it lies."""
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
        self.assertIn("other builds only of modules: card\n", done.stderr)
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
        # Nobody asked for those of modules.
        sites = self.sites(vmlinux, "-k", vmlinux, capture, module=module)
        self.assert_kernel(sites)
        self.assertIsNone(sites["card_open"]["source"])
        self.assertEqual(sites["card_open"]["module"], "card")


class Tree(SourceCase):
    """Directories from the object files of a built tree."""

    def compile(self, name, text, command=""):
        """An object in the built tree, with kbuild's command beside it."""
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
        # The same name again, where it does not count.
        self.compile("scripts/mod/tool", "void only_here(void) {}")
        self.compile("arch/x86/boot/printf", "void only_here(void) {}")
        self.compile("drivers/a/card", "void also(void) {}\n"
                     "void probe(void) {}", module % "card")
        self.compile("drivers/b/other", "void probe(void) {}",
                     module % "other")
        self.compile("fs/bare", "void bare(void) {}", None)
        # Linked, of what is read by itself; this one has no command.
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


def main():
    """Skipped where the program was built without libdw, or nothing is there
    to compile with."""
    for name in TOOLS:
        if not shutil.which(name):
            print(f"no {name}: nothing to test with")
            return 77
    with tempfile.TemporaryDirectory() as directory:
        capture = mkcapture.Capture()
        capture.add(0, mkcapture.alloc(1, 64))
        capture.write(directory)
        if "without libdw" in run("--source", directory, directory).stderr:
            print("built without libdw")
            return 77
    return unittest.main(verbosity=2)


if __name__ == "__main__":
    sys.exit(main())
