#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-gate: JUnit XML and Markdown, also with hostile names."""

import html
import os
import re
import unittest
import xml.etree.ElementTree as ElementTree

from gate_case import Alloc, GateCase

RULES = """# a comment
live by function, grows by at most 1 %
named: live below 1 KiB
live by module typo below 1 KiB
no new leak candidate
"""
HOSTILE = ["a]]>b", "a|b", "a\\|b", "a`b`", "<script>x</script>", "@octocat",
           "#1", "[x](https://example.org)", "**bold**", "a&amp;b", "&#124;",
           "<!--", "a'b\"c", "~~x~~", "https://example.org/"]


class Junit(GateCase):
    """--junit."""

    def junit(self, rules, base, new, *options):
        """Return the exit status and the root element."""
        path = self.path("junit.xml")
        done = self.gate(rules, base, new, f"--junit={path}", *options)
        return done.returncode, ElementTree.parse(path).getroot()

    def test_elements(self):
        base = self.live("base", alpha=100, beta=10)
        new = self.live("new", alpha=200, gamma=10)
        status, root = self.junit(RULES, base, new)
        self.assertEqual((status, root.tag), (2, "testsuites"))
        suite, = root
        for element in (root, suite):
            self.assertEqual([element.get(name) for name in
                              ("tests", "failures", "errors", "skipped")],
                             ["4", "1", "1", "0"])
        properties = {p.get("name"): p.get("value")
                      for p in suite.find("properties")}
        self.assertEqual(properties["base"], "1 capture of Linux 6.1.0")
        self.assertEqual(properties["base capture"], base)
        self.assertEqual(properties["new capture"], new)
        self.assertIn("unknown, because a side", properties["noise"])
        cases = suite.findall("testcase")
        self.assertEqual([case.get("name") for case in cases],
                         ["live by function, grows by at most 1 %", "named",
                          "live by module typo below 1 KiB",
                          "no new leak candidate"])
        self.assertEqual([case.get("line") for case in cases],
                         ["2", "3", "4", "5"])
        self.assertEqual({case.get("file") for case in cases},
                         {self.path("rules")})
        failure = cases[0].find("failure")
        self.assertEqual(failure.get("type"), "exceeded")
        self.assertEqual(failure.get("message"), "2 of 3 lines exceed")
        self.assertEqual(failure.text.splitlines()[0],
                         "slab alpha: 100 B -> 200 B (+100 B, +100.00 %), "
                         "limit 101 B")
        error = cases[2].find("error")
        self.assertEqual(error.get("type"), "cannot be decided")
        self.assertIn("selects no line", error.text)
        for case in (cases[1], cases[3]):
            self.assertEqual([e.tag for e in case], ["system-out"])
        self.assertIn("live below 1 KiB", cases[1].find("system-out").text)

    def test_lines(self):
        names = [f"f{i}" for i in range(30)]
        base = self.record("base", functions=names)
        new = self.record("new", *(Alloc(name, 8) for name in names),
                          functions=names)
        rule = "live by function below 8"
        for options, n in (([], 11), (["-l", "3"], 4), (["--lines=0"], 30)):
            _, root = self.junit(rule, base, new, *options)
            lines = root.find(".//failure").text.splitlines()
            self.assertEqual(len(lines), n)
            if n < 30:
                self.assertEqual(lines[-1], f"and {31 - n} more")

    def test_hostile_names(self):
        functions = [name.replace(" ", "") for name in HOSTILE]
        base = self.record("base", Alloc(functions[0], 1), functions=functions)
        new = self.record("new<&\"'\x01", *(Alloc(name, 100)
                                           for name in functions),
                          functions=functions)
        rule = 'live by function grows by at most 1 % or 1\n' \
               '"<&\'>": live below 1\nlive by function "]]>*" below 1\n'
        status, root = self.junit(rule.replace('"<&\'>":', "<&'>:"), base, new,
                                  "-l", "0")
        self.assertEqual(status, 2)
        text = root.find(".//failure").text
        for name in functions:
            self.assertIn(f"slab {name}", text)
        names = {case.get("name") for case in root.iter("testcase")}
        self.assertIn("<&'>", names)
        self.assertIn("live by function \"]]>*\" below 1", names)
        self.assertIn(self.path("new<&\"'?"),
                      [p.get("value") for p in root.iter("property")])


class Markdown(GateCase):
    """--markdown."""

    def markdown(self, rules, base, new, *options):
        """Return the exit status and the text."""
        path = self.path("gate.md")
        done = self.gate(rules, base, new, "--markdown", path, *options)
        with open(path, encoding="utf-8") as file:
            return done.returncode, file.read()

    def rows(self, text):
        """Return the rows of all tables as lists of cells, as text."""
        tables, last = [], ""
        for line in text.splitlines():
            if not line.startswith("|"):
                last = ""
                continue
            if not last:
                tables.append([])
            last = line
            self.assertTrue(line.endswith("|"), line)
            tables[-1].append([
                html.unescape(re.sub(r"^<code>(.*)</code>$", r"\1",
                                     cell.strip()))
                for cell in line[1:-1].split("|")])
        for table in tables:
            self.assertEqual({len(row) for row in table}, {len(table[0])})
            self.assertEqual(set(table[1]), {"---"})
        return [[table[0], *table[2:]] for table in tables]

    def test_structure(self):
        base = self.live("base", alpha=100, beta=10)
        new = self.live("new", alpha=200, gamma=10)
        status, text = self.markdown(RULES, base, new)
        self.assertEqual(status, 2)
        rules, lines = self.rows(text)
        self.assertEqual(rules[0], ["Verdict", "Rule", "Result"])
        self.assertEqual([row[:2] for row in rules[1:]], [
            ["**exceeded**", "live by function, grows by at most 1 %"],
            ["passed", "named"],
            ["**cannot be decided**", "live by module typo below 1 KiB"],
            ["passed", "no new leak candidate"]])
        self.assertEqual(lines[0],
                         ["Line", "Base", "New", "Change", "Limit", "p"])
        self.assertEqual(lines[1], ["slab alpha", "100 B", "200 B",
                                    "+100 B, +100.00 %", "101 B", "unknown"])
        self.assertEqual(lines[2][:3], ["slab gamma (added)", "0 B", "10 B"])
        plain = html.unescape(text)
        self.assertTrue(plain.startswith("## Kernel memory\n\n4 rules: 2 passed,"
                                         " 1 exceeded, 1 cannot be decided\n"))
        self.assertIn("\n- the rule selects no line of any capture\n", plain)
        self.assertIn("\nBase: 1 capture of Linux 6.1.0<br>\n", plain)
        self.assertIn("\nNoise: unknown, because a side has one capture", plain)

    def test_limit_of_new_side(self):
        """No test applies to a limit of the new captures alone."""
        base = self.live("base", alpha=100)
        new = self.live("new", alpha=200)
        _, text = self.markdown("live of slab below 1\n", base, new)
        self.assertEqual(self.rows(text)[1][1], [
            "slab", "100 B", "200 B", "+100 B, +100.00 %", "1 B", "-"])

    def test_hostile_names(self):
        functions = [name.replace(" ", "") for name in HOSTILE]
        base = self.record("base", functions=functions)
        new = self.record("new", *(Alloc(name, 100) for name in functions),
                          functions=functions)
        status, text = self.markdown("live by function below 1\n", base, new,
                                     "-l0")
        self.assertEqual(status, 2)
        _, lines = self.rows(text)
        self.assertEqual({row[0] for row in lines[1:]},
                         {f"slab {name} (added)"
                          for name in functions})
        # Nothing is markup except the program's own.
        for word in ("<code>", "</code>", "<br>", "| --- ", "**exceeded**"):
            text = text.replace(word, "")
        text = re.sub(r"&#\d+;", "", text)
        self.assertNotRegex(text, r"[<>&`*_\[\]@~!\\]")
        self.assertNotRegex(text, r"(?m)(?<!^)(?<!^#)(?<!^##)#")


class Files(GateCase):
    """The options that write."""

    def test_standard_output(self):
        base = self.live("base", alpha=100)
        rules = "live does not grow"
        done = self.gate(rules, base, base, "--junit=-")
        self.assertTrue(done.stdout.startswith("<?xml"), done)
        self.assertEqual(done.returncode, 0)
        done = self.gate(rules, base, base, "--markdown=-",
                         "--junit", self.path("x"))
        self.assertTrue(done.stdout.startswith("## Kernel memory"), done)
        ElementTree.parse(self.path("x"))
        done = self.gate(rules, base, base, "--markdown=-", "--junit=-")
        self.assertEqual(done.returncode, 1)
        self.assertIn("only one can be written to standard", done.stderr)

    def test_quiet(self):
        base = self.live("base", alpha=100)
        new = self.live("new", alpha=200)
        path = self.path("out.xml")
        done = self.gate("live does not grow", base, new, "-q", "--junit", path)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (2, "", ""))
        self.assertTrue(os.path.getsize(path))

    def test_old_file_stays(self):
        """An error leaves the old file."""
        path = self.write("out.md", "old")
        done = self.gate("live does not grow", self.path("missing"),
                         self.path("missing"), "--markdown", path)
        self.assertEqual(done.returncode, 1)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def test_errors(self):
        base = self.live("base", alpha=100)
        rules = "live does not grow"
        done = self.gate(rules, base, base, "--junit",
                         self.path("missing/out.xml"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("--junit", done.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:
            from gate_case import PROGRAM
            import subprocess
            status = subprocess.run(
                [PROGRAM, self.write("rules", rules), base, "--", base],
                stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(status.returncode, 1)


if __name__ == "__main__":
    unittest.main()
