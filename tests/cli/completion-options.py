#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of completions has the options and the words of --help."""

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import unittest

TOP = os.path.abspath(os.environ.get("top_srcdir", "."))
BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
TABLE = os.path.join(TOP, "completions", "options.list")
GENERATE = os.path.join(TOP, "completions", "generate")
# The command of each program that the table must have.
PROGRAMS = {
    "kmemtrace-boot": ["sh", "kmemtraced/boot/kmemtrace-boot"],
    "kmemtrace-check": ["check/kmemtrace-check"],
    "kmemtrace-gate": ["gate/kmemtrace-gate"],
    "kmemtrace-import": ["import/kmemtrace-import"],
    "kmemtrace-report": ["report/kmemtrace-report"],
    "kmemtrace-top": ["top/kmemtrace-top"],
    "kmemtraced": ["kmemtraced/kmemtraced"],
}
OPTION = re.compile(r"^ +(?:(-\w), )?(--[\w-]+)(\[?=\S+)?(?: |$)", re.MULTILINE)


def load_generator():
    """Return the generator as a module."""
    loader = importlib.machinery.SourceFileLoader("generate", GENERATE)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("generate", loader))
    loader.exec_module(module)
    return module


def run(program, *args):
    """Return the output and the messages of a program."""
    command = list(PROGRAMS[program])
    command[-1] = os.path.join(BUILD, command[-1])
    done = subprocess.run([*command, *args], capture_output=True, text=True,
                          check=False)
    return done.stdout + done.stderr


class Table(unittest.TestCase):
    """completions/options.list."""

    def setUp(self):
        with open(TABLE, encoding="ascii") as file:
            self.table = load_generator().parse(file)

    def words(self, program, name):
        """Return the words of an option."""
        return next(option.words for option in self.table[program]
                    if name in option.names)

    def test_programs(self):
        self.assertEqual(set(self.table), set(PROGRAMS))

    def test_options(self):
        """The names of all options, and whether they take a value."""
        for program, options in self.table.items():
            have = {name: option.kind != "-" for option in options
                    for name in option.names if name != "operand"}
            want = {}
            for short, name, value in OPTION.findall(run(program, "--help")):
                want[name] = bool(value)
                if short:
                    want[short] = bool(value)
            self.assertEqual(have, want, program)
            self.assertEqual(sum(option.names == ["operand"]
                                 for option in options), 1, program)

    def test_descriptions(self):
        for program, options in self.table.items():
            for option in options:
                self.assertRegex(option.description, r"^[A-Z].{3,54}[^.]$",
                                 (program, option.names))

    def test_words_of_help(self):
        text = run("kmemtrace-report", "--help")
        for title, name in (("By", "--by"), ("Fields", "--fields"),
                            ("Sort keys", "--sort")):
            listed = re.search(f"^{title}: (.*)[.]$", text, re.MULTILINE)
            self.assertEqual(self.words("kmemtrace-report", name),
                             listed.group(1).split(", "))
        self.assertEqual(self.words("kmemtrace-report", "--histogram"),
                         re.search(r"--histogram=(\S+)", text).group(1)
                         .split("|"))

    def test_words_of_messages(self):
        """An unknown value is refused with the list of all words."""
        for program, name in (("kmemtrace-report", "--kind"),
                              ("kmemtrace-report", "--layout"),
                              ("kmemtrace-report", "--color"),
                              ("kmemtrace-import", "--color"),
                              ("kmemtrace-check", "--layout"),
                              ("kmemtrace-check", "--color"),
                              ("kmemtraced", "--color"),
                              ("kmemtraced", "--reader")):
            text = run(program, name, "nonsense").split("\n", 1)[0]
            text = re.sub(r"^.*'nonsense'", "", text)
            for word in self.words(program, name):
                self.assertIn(f" {word}", text)

    def test_generated(self):
        """There is a file for each program and shell, and bash can parse it."""
        for program in PROGRAMS:
            for path in (f"bash/{program}", f"zsh/_{program}",
                         f"fish/{program}.fish"):
                path = os.path.join(BUILD, "completions", path)
                with open(path, encoding="ascii") as file:
                    self.assertNotRegex(file.read(), "@[A-Z]+@")
                if "/bash/" in path:
                    subprocess.run(["bash", "-n", path], check=True)


if __name__ == "__main__":
    unittest.main()
