#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report as its user meets it: options, order, what is left out,
names, terminals, messages, exit status."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import mkcapture

SRCDIR = os.path.abspath(os.environ.get("top_srcdir", "."))
PROGRAM = os.path.abspath(os.path.join(os.environ.get("top_builddir", "."),
                                       "report", "kmemtrace-report"))
FIXTURES = os.path.join(SRCDIR, "tests", "report", "fixtures")
ADDRESS = re.compile(r"^0x[0-9a-f]{16}$")


def run(*args, **kwargs):
    """Runs the program; text is captured."""
    kwargs.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([PROGRAM, *args], stderr=subprocess.PIPE, text=True,
                          check=False, **kwargs)


def table(text, title):
    """The lines of a table, without its header, split at blanks."""
    lines = text.split("\n" + title, 1)[1].split("\n\n", 1)[0].split("\n")
    return [line.split() for line in lines[2:] if line]


class ReportCase(unittest.TestCase):
    """Makes captures in a directory that goes away."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name

    def fixture(self, name):
        """A compiled fixture's directory."""
        path = os.path.join(self.dir, name)
        mkcapture.compile_fixture(os.path.join(FIXTURES, name + ".txt"), path)
        return path

    def compiled(self, text, name="capture"):
        """Likewise, of a text."""
        path = os.path.join(self.dir, name)
        mkcapture.compile_text(text).write(path)
        return path

    def write(self, name, text):
        """A file's path."""
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def report(self, *args):
        """The JSON of a run that must succeed."""
        done = run("--json", "-q", *args)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return json.loads(done.stdout)

    def refused(self, *args, message, usage=False, **kwargs):
        """A run that must fail, and say so in one line."""
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, 1, done)
        self.assertTrue(done.stderr.startswith("kmemtrace-report: "), done)
        self.assertIn(message, done.stderr)
        self.assertEqual("Try 'kmemtrace-report --help'" in done.stderr, usage)
        self.assertEqual(done.stderr.count("\n"), 2 if usage else 1)
        if done.stdout:
            self.fail(f"output in spite of an error: {done.stdout}")


class Options(ReportCase):
    """What is given on the command line."""

    def test_k_takes_a_system_map(self):
        capture = self.fixture("report-summary")
        path = self.write("System.map", "ffffffff81000100 T everything\n"
                          "ffffffff82000000 T end\n")
        for option in (["-k", path], ["--system-map", path]):
            done = run("-q", *option, capture)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("everything+0x", done.stdout)

    def test_help_and_manual_agree(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        in_help = set(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", done.stdout))
        path = os.path.join(SRCDIR, "man", "kmemtrace-report.1")
        with open(path, encoding="utf-8") as f:
            manual = f.read()
        items = re.findall(r"^\.It (Fl .*)$", manual, re.M)
        in_manual = set(re.findall(r" -([a-z][a-z-]+)", "\n".join(items)))
        self.assertGreater(len(in_help), 8)
        self.assertEqual(in_help, in_manual)
        shorts = set(re.findall(r"^  -(\w),", done.stdout, re.M))
        self.assertEqual(shorts, set(re.findall(r"Fl (\w) ,", manual)))
        for word, section in (("By", "DIMENSIONS"), ("Fields", "FIELDS")):
            names = re.search(rf"^{word}: (.*)\.$", done.stdout, re.M)
            listed = manual.split(".Sh " + section)[1].split(".Sh ")[0]
            named = re.findall(r"[\w-]+", " ".join(
                re.findall(r"^\.It Cm (.*)$", listed, re.M)))
            aliases = {"bytes", "hit", "pingpong", "callsite", "ptr"}
            if word == "Fields":
                keys = re.search(r"^Sort keys: (.*)\.$", done.stdout, re.M)
                self.assertEqual(set(keys.group(1).split(", ")), set(named))
            self.assertEqual(set(names.group(1).split(", ")) | aliases,
                             set(named) | aliases)

    def test_json_keys_are_in_the_manual(self):
        path = os.path.join(SRCDIR, "man", "kmemtrace-report.1")
        with open(path, encoding="utf-8") as f:
            manual = f.read()
        done = run("--json", "-q", "-l", "1", self.fixture("report-findings"))
        for key in set(re.findall(r'"(\w+)" :', done.stdout)):
            self.assertRegex(manual, rf'("{key}"|\.Ar {key}\b)')

    def test_version(self):
        for option in ("-V", "--version"):
            done = run(option)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, r"^kmemtrace-report \d+\.\d+\S*\n$")

    def test_wrong_options(self):
        capture = self.fixture("report-summary")
        self.refused("--nonsense", message="--nonsense", usage=True)
        self.refused("-l", "-1", capture, message="--lines '-1'", usage=True)
        self.refused("-l", "x", capture, message="--lines 'x'", usage=True)
        self.refused("-lx", capture, message="--lines 'x'", usage=True)
        self.refused(capture, "-l", message="Missing argument for -l",
                     usage=True)
        self.refused("-l", "", capture, message="--lines ''", usage=True)
        self.refused("-l", "99999999999", capture, message="99999999999",
                     usage=True)
        self.refused("--clock-tolerance", "1s", capture,
                     message="--clock-tolerance '1s'", usage=True)
        for keys in ("", "nonsense", "wasted,", "+", "--hit"):
            self.refused("-s", keys, capture, usage=True,
                         message="cannot sort by '")
        self.refused("--kallsyms", "a", "--system-map", "b", capture, usage=True,
                     message="only one")

    def test_operands(self):
        capture = self.fixture("report-summary")
        whole = self.report(capture)
        self.assertEqual(whole["capture"]["directory"], capture)
        here = json.loads(run("--json", cwd=capture).stdout)
        self.assertEqual(here["kinds"], whole["kinds"])
        files = [os.path.join(capture, f"cpu{c}.out") for c in (1, 0)]
        single = self.report(*files)
        self.assertIsNone(single["capture"]["directory"])
        self.assertEqual(single["kinds"], whole["kinds"])
        self.assertEqual(single["callsites"], whole["callsites"])
        one = self.report(files[1])
        self.assertEqual(one["kinds"]["kmalloc"]["allocs"], 3)
        text = run(*files).stdout
        self.assertIn("Capture:       (single files)\n", text)
        # Options may follow operands, and values their letter.
        self.assertEqual(run("-qsptr", "-l2", capture).stdout,
                         run("-q", "-s", "ptr", "-l", "2", capture).stdout)
        self.assertEqual(run("-s", "-live", "--sort", "-live", capture).stdout,
                         run("-s", "live", capture).stdout)
        self.refused("--", "-l2", message="cannot open -l2")
        self.assertEqual(run(capture, "-s", "ptr").stdout,
                         run("-s", "ptr", capture).stdout)

    def become_nobody_and_read(self, closed):
        """The message has the path once and says what to do."""
        user = {"user": 65534, "group": 65534} if os.getuid() == 0 else {}
        os.chmod(self.dir, 0o755)
        # Where it was built may be closed to him too.
        program = shutil.copy(PROGRAM, self.dir)

        def read_closed():
            return subprocess.run([program, closed], cwd="/", check=False,
                                  capture_output=True, text=True, **user)
        done = read_closed()
        self.assertEqual((done.returncode, done.stderr), (
            1, f"kmemtrace-report: cannot open the directory {closed}: "
            "Permission denied; use sudo, or sudo chown to make it yours\n"))
        os.chmod(closed, 0o755)
        file = os.path.join(closed, "cpu0.out")
        with open(file, "wb") as f:
            os.fchmod(f.fileno(), 0)
        done = read_closed()
        self.assertEqual((done.returncode, done.stderr), (
            1, f"kmemtrace-report: cannot open {file}: Permission denied; use "
            "sudo, or sudo chown to make it yours\n"))

    def test_unreadable(self):
        self.refused(os.path.join(self.dir, "none"), message="none")
        self.refused(self.dir, message=self.dir)
        capture = self.fixture("report-summary")
        missing = os.path.join(self.dir, "none")
        self.refused("--kallsyms", missing, capture, message=missing)
        self.refused("--system-map", missing, capture, message=missing)
        closed = os.path.join(self.dir, "closed")
        os.mkdir(closed, 0)
        self.become_nobody_and_read(closed)
        junk = self.write("junk", "no symbol\nat all\n0012 T\nxyz T name\n")
        self.refused(os.path.join(SRCDIR, "README.md"),
                     message="no record can be used")
        self.refused("--kallsyms", junk, capture, message="no symbols in")
        hidden = self.write("hidden", "0000000000000000 T _stext\n")
        self.refused("--kallsyms", hidden, capture, message="kptr_restrict")


class Order(ReportCase):
    """Sorting, and what --lines leaves out."""

    TEXT = """
meta
    [capture]
    complete=true
    overruns=0
cpu 0 little
# site 1: 2 allocs, 300 in 512, 1 freed elsewhere; waste 212
alloc kmalloc t=10 site=0x10010 ptr=0x1000 req=100 alloc=256
alloc kmalloc t=20 site=0x10010 ptr=0x2000 req=200 alloc=256
# site 2: 3 allocs, 300 in 300; waste 0; all freed
alloc cache t=30 site=0x10020 ptr=0x3000 req=100 alloc=100
alloc cache t=40 site=0x10020 ptr=0x4000 req=100 alloc=100
alloc cache t=50 site=0x10020 ptr=0x5000 req=100 alloc=100
free cache t=60 site=0x10099 ptr=0x3000
free cache t=70 site=0x10099 ptr=0x4000
free cache t=80 site=0x10099 ptr=0x5000
# site 3: the same address in two kinds, equal in all numbers
alloc cache t=90 site=0x10030 ptr=0x6000 req=8 alloc=16
alloc kmalloc t=100 site=0x10030 ptr=0x7000 req=8 alloc=16
alloc pages t=110 site=0x10005 ptr=0x7000 req=4096 alloc=8192
alloc pages t=120 site=0x10006 ptr=0x8000 req=4096 alloc=4096
cpu 1 little
free kmalloc t=95 site=0x10099 ptr=0x1000
free pages t=130 site=0x10099 ptr=0x8000
"""
    SYMBOLS = """ffffffff81000000 T other
0000000000010000 T _stext
0000000000010000 T zebra
0000000000010008 T monkey
0000000000010018 T ape
0000000000010028 t cat
0000000000020000 T _etext
"""

    # Key: the value of a row by which it sorts, and whether upwards.
    KEYS = {
        "wasted": (lambda r: r["bytes_wasted"], False),
        "requested": (lambda r: r["bytes_requested"], False),
        "allocated": (lambda r: r["bytes_allocated"], False),
        "bytes": (lambda r: r["bytes_allocated"], False),
        "hit": (lambda r: r["allocs"], False),
        "allocs": (lambda r: r["allocs"], False),
        "frees": (lambda r: r["frees"], False),
        "live": (lambda r: r["live_bytes_allocated"], False),
        "peak": (lambda r: r["peak_bytes_allocated"], False),
        "frag": (lambda r: r["fragmentation"], False),
        "pingpong": (lambda r: r["cross_cpu_frees"], False),
        "callsite": (lambda r: (r["symbol"].split("+")[0],
                                int(r["symbol"].split("+")[1], 16)), True),
        "ptr": (lambda r: r["address"], True),
    }

    def capture(self):
        """The capture that these tests sort."""
        path = self.compiled(self.TEXT)
        with open(os.path.join(path, "kallsyms"), "w", encoding="ascii") as f:
            f.write(self.SYMBOLS)
        return path

    @staticmethod
    def tie(row):
        """What decides in the end, upwards always."""
        return (row["address"],
                ["kmalloc", "cache", "pages"].index(row["kind"]))

    def check_order(self, capture, rows, keys):
        """The rows of -s KEYS are the rows sorted by them."""
        want = sorted(rows, key=self.tie)
        for key in reversed(keys.split(",")):
            value, upwards = self.KEYS[key.lstrip("+-")]
            if key[0] in "+-":
                upwards = key[0] == "+"
            want.sort(key=value, reverse=not upwards)
        for flag in (["-s", keys], [f"--sort={keys}"]):
            got = self.report(*flag, capture)["callsites"]
            self.assertEqual([self.tie(r) for r in got],
                             [self.tie(r) for r in want], keys)

    def test_every_key_both_ways(self):
        capture = self.capture()
        rows = self.report(capture)["callsites"]
        self.assertEqual(len(rows), 6)
        for key in self.KEYS:
            for sign in ("", "+", "-"):
                self.check_order(capture, rows, sign + key)
        for keys in ("hit,wasted", "-hit,+wasted", "+frees,-callsite",
                     "+pingpong,frag,-ptr"):
            self.check_order(capture, rows, keys)
        self.check_order(capture, rows, "wasted")
        self.assertEqual(rows, self.report("-s", "wasted",
                                           capture)["callsites"])

    def test_kinds(self):
        capture = self.capture()

        def kinds(*args):
            return {r["kind"] for r in self.report(*args, capture)["callsites"]}
        self.assertEqual(kinds("--slab"), {"kmalloc", "cache"})
        self.assertEqual(kinds("--page"), {"pages"})
        self.assertEqual(kinds("--page", "--slab"),
                         {"kmalloc", "cache", "pages"})
        text = run("--page", capture).stdout
        self.assertEqual([r[-2] for r in table(text, "CALL SITES")],
                         ["pages", "pages"])
        self.assertEqual([r[-2] for r in table(text, "CROSS-CPU FREES")],
                         ["pages"])

    def test_left_out_adds_up(self):
        capture = self.capture()
        full = run("-l", "0", capture).stdout
        want = self.column_sums(table(full, "CALL SITES"))
        for n in range(1, 8):
            rows = table(run("-l", str(n), capture).stdout, "CALL SITES")
            self.assertEqual(self.column_sums(rows), want, n)
            shown = [r for r in rows if "more" not in r]
            self.assertEqual(len(shown), min(n, 6))
            if n == 1:
                self.assertEqual([r[9] for r in rows[1:]], ["slab", "pages"])
            self.assertEqual(sum(int(r[r.index("more") - 1].strip("("))
                                 for r in rows if "more" in r),
                             6 - len(shown))
            document = self.report("-l", str(n), capture)
            self.assertEqual(len(document["callsites"]), min(n, 6))
            self.assertEqual(
                sum(t["callsites"]
                    for t in document["callsites_left_out"].values()),
                6 - len(shown))
            for layer in ("slab", "pages"):
                for key in ("allocs", "bytes_allocated", "live_objects",
                            "cross_cpu_frees", "bytes_wasted"):
                    total = sum(r[key] for r in document["callsites"]
                                if (r["kind"] == "pages") == (layer == "pages"))
                    total += document["callsites_left_out"].get(
                        layer, {key: 0})[key]
                    self.assertEqual(total, document["kinds"][layer][key])

    @staticmethod
    def column_sums(rows):
        """Sums of the columns that have sums, slab and pages apart."""
        sums = {}
        for row in rows:
            layer = "pages" if row[9] == "pages" else "slab"
            figures = [int(row[i]) for i in (0, 2, 3, 4, 5, 6, 8)]
            sums[layer] = [a + b for a, b in zip(
                sums.get(layer, [0] * len(figures)), figures)]
        return sums

    def test_twenty_lines_of_text(self):
        sites = "".join(
            f"alloc kmalloc t={i} site={0x1000 + i} ptr={0x8000 + i * 64} "
            f"req=10 alloc={10 + i}\n" for i in range(1, 31))
        capture = self.compiled("cpu 0 little\n" + sites)
        rows = table(run(capture).stdout, "CALL SITES")
        self.assertEqual(len(rows), 21)
        self.assertEqual(rows[20][10:], ["(10", "more", "call", "sites)"])
        self.assertEqual(rows[20][0], str(sum(range(1, 11))))
        self.assertEqual(len(self.report(capture)["callsites"]), 30)

    def test_many_sites(self):
        """More than the table of sites is made for at first."""
        sites = [0xffffffff81000000 + i * 16 for i in range(9000)]
        capture = self.compiled("cpu 0 little\n" + "".join(
            f"alloc {'cache' if i % 3 else 'pages'} t={i} site={site} "
            f"ptr={0x10000 + i * 8} req={i + 1} alloc={i + 1}\n"
            for i, site in enumerate(sites)) + "".join(
                f"alloc {'cache' if i % 3 else 'pages'} t=9000 site={site} "
                f"ptr={0x1000000 + i * 8} req=1 alloc=1\n"
                for i, site in enumerate(sites)))
        rows = self.report("-s", "ptr", capture)["callsites"]
        self.assertEqual([int(r["address"], 16) for r in rows], sites)
        self.assertEqual([r["bytes_allocated"] for r in rows],
                         list(range(2, 9002)))

    def test_survives_sort_g(self):
        capture = self.capture()
        text = run("-s", "callsite", "-l", "0", capture).stdout
        lines = text.split("CALL SITES (bytes)\n")[1].split("\n\n")[0]
        done = subprocess.run(["sort", "-gr", "-s"], input=lines, text=True,
                              capture_output=True, check=True)
        order = [int(x.split()[0]) for x in done.stdout.splitlines()
                 if x.split()[0] != "wasted"]
        self.assertEqual(order, sorted(order, reverse=True))
        self.assertEqual(len(order), 6)
        self.assertEqual(order[0], 4096)


class Names(ReportCase):
    """Functions."""

    SITES = (0x81000010, 0x81000100, 0x81000101, 0x81000fff, 0x81001000,
             0x81001001, 0x81005010, 0x81006001, 0xa0000020, 0xa0001800,
             0xa0002001, 0xa0004010)
    KALLSYMS = """
0000000000000100 A percpu_thing
ffffffff81000000 T _stext
ffffffff81000000 W weak_alias
ffffffff81000000 t __start_of_it
ffffffff81000000 T _under
ffffffff81000000 T first
ffffffff81000100 T second
ffffffff81001000 T _etext
ffffffff81002000 D some_data
ffffffff81005000 T _sinittext
ffffffff81005000 t init_thing
ffffffff81006000 T _einittext
ffffffffa0000000 t mod_a\t[mod]
ffffffffa0000800 d mod_data\t[mod]
ffffffffa0001000 t mod_b\t[mod]
ffffffffa0004000 t mod_c\t[other]
"""
    MODULES = "mod 8192 0 - Live 0xffffffffa0000000\nbroken line\n"

    def capture(self, kallsyms, modules=MODULES):
        """A capture with a call site at each of SITES."""
        records = "".join(
            f"alloc kmalloc t={i} site=0xffffffff{site:08x} ptr={i * 64 + 64} "
            "req=8 alloc=8\n" for i, site in enumerate(self.SITES))
        path = self.compiled("cpu 0 little\n" + records)
        for name, text in (("kallsyms", kallsyms), ("modules", modules)):
            if text is not None:
                with open(os.path.join(path, name), "w",
                          encoding="utf-8") as f:
                    f.write(text)
        return path

    def names(self, *args):
        """Call site -> name."""
        return {int(r["address"], 16) & 0xffffffff: r["symbol"]
                for r in self.report(*args)["callsites"]}

    def test_lookup(self):
        got = self.names(self.capture(self.KALLSYMS))
        self.assertEqual(got, {
            0x81000010: "first+0x10",
            # A return address: the call was the last of 'first'.
            0x81000100: "first+0x100",
            0x81000101: "second+0x1",
            0x81000fff: "second+0xeff",
            0x81001000: "second+0xf00",
            # Behind _etext; and between the sections.
            0x81001001: None,
            0x81005010: "init_thing+0x10",
            0x81006001: None,
            0xa0000020: "mod_a+0x20 [mod]",
            0xa0001800: "mod_b+0x800 [mod]",
            # Behind the end of the module, as 'modules' tells.
            0xa0002001: None,
            0xa0004010: "mod_c+0x10 [other]"})

    def test_first_symbol(self):
        """Nothing is before it, so it cannot be the end of another one."""
        capture = self.compiled("cpu 0 little\nalloc kmalloc t=1 "
                                "site=0xffffffff81000000\n")
        with open(os.path.join(capture, "kallsyms"), "w",
                  encoding="ascii") as f:
            f.write(self.KALLSYMS)
        self.assertEqual(self.names(capture), {0x81000000: "first+0x0"})

    def test_best_of_several_names(self):
        """Strong before weak, functions before labels of the linker, few
        underscores before many, then the first; data never."""
        address = "ffffffff81000000"
        symbols = ["T _b", "T _a", "T ___c", "T __stop_xyz", "T __end_xyz",
                   "T __start_xyz", "T __xyz_start", "T __xyz_end",
                   "W weak"]
        for i, symbol in enumerate(symbols):
            # What was the best is gone in the next round.
            left = symbols[i:]
            want = symbol.split()[1]
            for lines in (left, left[:1] + ["D data"] + left[1:]):
                if i < 3:
                    lines = lines[1:] + lines[:1] if i else lines
                text = "".join(f"{address} {line}\n" for line in lines)
                text += "ffffffff81001000 T end\n"
                got = self.names(self.capture(text))
                self.assertEqual(got[0x81000010], want + "+0x10", lines)

    def test_damaged_lines_are_left_out(self):
        text = self.KALLSYMS.replace(
            "ffffffff81002000 D some_data",
            "ffffffff81000105 T esc\x1b[2J\nffffffff81000105\n\n\0\0\n"
            "12345678901234567 T too_long\nzz T zz\nffffffff81000105 TT two\n"
            "ffffffff81002000 D some_data\r")
        self.assertEqual(self.names(self.capture(text)),
                         self.names(self.capture(self.KALLSYMS)))

    def test_no_modules_file(self):
        got = self.names(self.capture(self.KALLSYMS, modules=None))
        self.assertEqual(got[0xa0002001], "mod_b+0x1001 [mod]")

    def test_text_has_the_names(self):
        text = run("-q", self.capture(self.KALLSYMS)).stdout
        self.assertIn("kmalloc  mod_b+0x800 [mod]\n", text)
        self.assertIn("kmalloc  0xffffffff81001001\n", text)

    def test_raw_ip(self):
        capture = self.capture(self.KALLSYMS)
        self.assertEqual(set(self.names("--raw-ip", capture).values()), {None})
        done = run("--raw-ip", capture)
        self.assertEqual(done.stderr, "")
        for row in table(done.stdout, "CALL SITES"):
            self.assertRegex(row[10], ADDRESS)

    def warned(self, message, *args):
        """A run that succeeds with one warning; -q is silent."""
        done = run(*args)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("kmemtrace-report: warning: "))
        self.assertIn(message, done.stderr)
        quiet = run("-q", *args)
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ""))
        self.assertEqual(quiet.stdout, done.stdout)
        document = self.report(*args)
        self.assertEqual(len(document["warnings"]), 1)
        self.assertIn(message, document["warnings"][0])
        return done.stdout

    def test_warnings(self):
        zero = re.sub(r"^\w{16}", "0" * 16, self.KALLSYMS.strip(), flags=re.M)
        text = self.warned("kptr_restrict", self.capture(zero))
        for row in table(text, "CALL SITES"):
            self.assertRegex(row[10], ADDRESS)
        self.warned("the capture has no kallsyms that can be read",
                    self.compiled("cpu 0 little\nalloc kmalloc t=1\n", "bare"))
        self.warned("no symbols in", self.capture("nothing\n"))

    def test_kallsyms_option(self):
        capture = self.capture("ffffffff81000000 T captured\n")
        given = self.write("given", self.KALLSYMS)
        got = self.names("--kallsyms", given, capture)
        self.assertEqual(got[0x81000010], "first+0x10")
        # The captured 'modules' still tells where a module ends.
        self.assertIsNone(got[0xa0002001])

    def test_system_map(self):
        fits = self.write("System.map", self.KALLSYMS.split(
            "ffffffffa0000000")[0])
        # As nm sorts it: the names of one address by name.
        capture = self.capture(self.KALLSYMS)
        got = self.names("--system-map", fits, capture)
        self.assertEqual(got[0x81000010], "first+0x10")
        self.assertIsNone(got[0xa0000020])
        done = run("--system-map", fits, capture)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_moved_kernel(self):
        moved = self.KALLSYMS.split("ffffffffa0000000")[0].replace(
            "ffffffff81", "ffffffff91")
        system_map = self.write("System.map", moved)
        capture = self.capture(self.KALLSYMS)
        done = run("--system-map", system_map, capture)
        self.assertEqual(done.returncode, 0)
        self.assertIn("_stext was 0xffffffff81000000, not "
                      "0xffffffff91000000", done.stderr)
        self.assertIn("12 of 12 call sites lie in no function", done.stderr)
        # Without a captured kallsyms the call sites alone tell.
        self.warned("12 of 12 call sites lie in no function", "--system-map",
                    system_map, self.capture_without_kallsyms())

    def capture_without_kallsyms(self):
        """As capture(), but of the records alone."""
        path = self.capture("")
        os.unlink(os.path.join(path, "kallsyms"))
        return path


class Output(ReportCase):
    """Where the report goes."""

    def test_separators_on_a_terminal_only(self):
        capture = self.fixture("report-summary")
        main, other = pty.openpty()
        with subprocess.Popen([PROGRAM, capture], stdout=other) as process:
            os.close(other)
            text = b""
            while True:
                try:
                    chunk = os.read(main, 65536)
                except OSError:
                    break
                if not chunk:
                    break
                text += chunk
        os.close(main)
        self.assertEqual(process.returncode, 0)
        text = text.decode().replace("\r\n", "\n")
        self.assertIn("12,288", text)
        self.assertNotIn("12288", text)
        plain = run(capture).stdout
        self.assertNotIn(",288", plain)
        self.assertEqual(re.sub(r" +", " ", text.replace(",", "")),
                         re.sub(r" +", " ", plain.replace(",", "")))

    def test_locale_changes_nothing(self):
        capture = self.fixture("report-summary")
        want = run(capture).stdout
        for locale in ("C", "C.UTF-8", "de_DE.UTF-8", "fr_FR.UTF-8"):
            env = dict(os.environ, LC_ALL=locale)
            self.assertEqual(run(capture, env=env).stdout, want)

    def test_full_disk(self):
        capture = self.fixture("report-summary")
        for args in (["--help"], ["--version"], [capture], ["--json", capture]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                self.refused(*args, stdout=full,
                             message="cannot write the output: No space left")

    def test_closed_output(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" "$1" >&-', PROGRAM,
                               self.fixture("report-summary")],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write the output", done.stderr)

    def test_reader_goes_away(self):
        capture = self.fixture("report-summary")
        for ignored in (False, True):
            read_end, write_end = os.pipe()
            os.close(read_end)
            done = run(capture, stdout=write_end, restore_signals=not ignored)
            os.close(write_end)
            self.assertEqual((done.returncode, done.stderr), (1, ""))

    def test_large_numbers(self):
        for req, alloc in ((2**63 - 1, 2**63), (2**64 - 2, 2**64 - 1)):
            capture = self.compiled(
                f"cpu 0 little\nalloc kmalloc t=1 req={req} alloc={alloc}\n")
            done = run("--json", capture)
            row = json.loads(done.stdout)["callsites"][0]
            self.assertEqual(row["bytes_requested"], req)
            self.assertEqual(row["bytes_allocated"], alloc)
            self.assertEqual(row["peak_bytes_allocated"], alloc)
            self.assertEqual(row["bytes_wasted"], 1)
            self.assertFalse(
                json.loads(done.stdout)["findings"]["sums_overflowed"])
        # Below zero, and beyond what 64 bits with a sign hold.
        capture = self.compiled(
            f"cpu 0 little\nalloc kmalloc t=1 req={2**64 - 1} alloc=1\n")
        row = self.report(capture)["callsites"][0]
        self.assertEqual(row["bytes_wasted"], 2 - 2**64)
        self.assertEqual(row["fragmentation"], 0)

    def test_overflow_is_told(self):
        capture = self.compiled(
            "cpu 0 little\n"
            f"alloc kmalloc t=1 ptr=64 req=1 alloc={2**63}\n"
            f"alloc cache t=2 ptr=128 req=1 alloc={2**63}\n")
        self.assertTrue(self.report(capture)["findings"]["sums_overflowed"])
        self.assertIn("Sums:          WRONG", run(capture).stdout)

    def test_extreme_times(self):
        capture = self.compiled(
            f"cpu 0 little\nalloc kmalloc t={-2**63}\n"
            f"cpu 1 little\nalloc pages t={2**63 - 1}\n")
        document = self.report(capture)["capture"]
        self.assertEqual(document["first_timestamp"], -2**63)
        self.assertEqual(document["last_timestamp"], 2**63 - 1)
        text = run(capture).stdout
        self.assertIn("; the first at -9223372036.854 s of", text)
        self.assertRegex(text, r"\npeak at, s .* 18446744073\.709551615\n")

    def test_what_to_do_about_loss(self):
        """The same in text and for programs, and fit for the source."""
        for meta, advice in (("subbufs=20\nsubbuf_size=458752\n",
                              "trace again with kmemtrace.subbufs=42 or more "
                              "(it was 20)"),
                             ("", "trace again with a larger "
                              "kmemtrace.subbufs"),
                             ("source=ftrace\n", "trace again with a larger "
                              "buffer: kmemtraced -b KB"),
                             ("mode=overwrite\nsubbufs=20\n"
                              "subbuf_size=458752\n", "trace again with "
                              "larger buffers (kmemtrace.subbufs), which reach "
                              "back further"),
                             ("source=import\n", "trace again with larger "
                              "buffers of the recorder, as perf record -m or "
                              "trace-cmd record -b")):
            capture = self.compiled(
                "meta\n" + "".join(f"\t{line}\n" for line in (
                    "[capture]\ncomplete=true\noverruns=180000\n" + meta +
                    "[cpu0]\noverruns=180000").split("\n") if line) +
                "cpu 0 little\nalloc kmalloc t=1\n")
            self.assertIn("T" + advice[1:] + ".\n", run(capture).stdout)
            self.assertIn(advice, self.report(capture)["warnings"][-1])


if __name__ == "__main__":
    sys.exit(unittest.main())
