# SPDX-License-Identifier: GPL-2.0-or-later
"""Compile a kernel of a few lines, and write the capture that this kernel would
write after KASLR moved it."""

import json
import os
import shutil
import subprocess
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
# SITE(x): an instruction, and the label site_x of the next instruction, which is a
# return address.
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
    """Run a tool of the compiler; return its output."""
    return subprocess.run(args, check=True, cwd=cwd, text=True,
                          stdout=subprocess.PIPE).stdout


def symbols(path):
    """Return (name, address, type) of each symbol of a file."""
    lines = (line.split() for line in tool("nm", path).splitlines())
    return [(words[2], int(words[0], 16), words[1]) for words in lines
            if len(words) == 3]


def run(*args):
    """Run kmemtrace-report."""
    return subprocess.run([PROGRAM, *args], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class SourceCase(unittest.TestCase):
    """A source tree with its objects, and captures of it."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = os.path.realpath(holder.name)
        self.tree = os.path.join(self.dir, "linux")
        for name, text in FILES.items():
            self.write(os.path.join(self.tree, name), text)

    @staticmethod
    def write(path, text):
        """Write a file, and make the directories above it."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def path(self, *parts):
        """Return a path in the directory of this test, and make its directory."""
        path = os.path.join(self.dir, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def build(self, *flags, build=None, build_id=ID, name="vmlinux"):
        """Build a vmlinux. build: directory of the objects, if not the source
        directory."""
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
        """Build card.ko of two files with a static function of the same name."""
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
        """Write the capture that a relocated vmlinux, and a module, would record."""
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
        """Return {name of the site: the row of the report}."""
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
        """Check that a run fails with a message of one line."""
        done = run(*args)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done)
        for message in messages:
            self.assertIn(message, done.stderr)

    def assert_site(self, row, function, file, line, inlined=(),
                    directory=None):
        """Check the name and the source location of a site."""
        self.assertEqual(row["symbol"].split("+")[0], function)
        self.assertEqual(row["source"], {"file": file, "line": line})
        self.assertEqual(row["inlined"], list(inlined))
        self.assertEqual(row["directory"],
                         directory or os.path.dirname(file))

    def assert_kernel(self, sites):
        """Check the sites of vmlinux."""
        self.assert_site(sites["plain"], "start_kernel", "init/main.c", 7)
        self.assert_site(sites["inlined"], "grow", "include/thing.h", 4,
                         ["make_thing", "make_things"], "mm")
        # The address belongs to the next function.
        self.assert_site(sites["end"], "never_returns", "mm/grow.c", 6)


def main():
    """Run the tests; skip them without libdw in the program or without a compiler."""
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
