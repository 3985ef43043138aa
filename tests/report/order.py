#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report: the order of its tables, and omitted lines."""

import os
import subprocess
import sys
import unittest

from report_case import ReportCase, run, table


class Order(ReportCase):
    """Sorting, and the lines that --lines omits."""

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

    # Sort key: the value of a row to compare, and whether the order is ascending.
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
        """Make the capture that the tests sort."""
        path = self.compiled(self.TEXT)
        with open(os.path.join(path, "kallsyms"), "w", encoding="ascii") as f:
            f.write(self.SYMBOLS)
        return path

    @staticmethod
    def tie(row):
        """Return the final sort key, which is always ascending."""
        return (row["address"],
                ["kmalloc", "cache", "pages"].index(row["kind"]))

    def check_order(self, capture, rows, keys):
        """Expect the rows of -s KEYS in the order of the keys."""
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
        """Return the sums of the columns that have sums, separately for slab and
        pages."""
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
        """More call sites than the initial table has entries."""
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


if __name__ == "__main__":
    sys.exit(unittest.main())
