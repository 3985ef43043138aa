#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each Python test runs all of its cases.

A file with cases must call a function main() when it is run, and no class may
have two methods of the same name, because the second one hides the first."""

import ast
import glob
import os
import unittest

TOP = os.environ.get("top_srcdir", ".")


def cases(tree):
    """Return the classes of a module that have cases."""
    return [node for node in tree.body if isinstance(node, ast.ClassDef)
            and any(isinstance(item, ast.FunctionDef)
                    and item.name.startswith("test_") for item in node.body)]


def calls_main(tree):
    """Return whether the module calls main(), at its top level or in an if."""
    for node in tree.body:
        for call in ast.walk(node) if isinstance(node, (ast.Expr, ast.If)) else ():
            if isinstance(call, ast.Call) and "main" in (
                    getattr(call.func, "id", ""), getattr(call.func, "attr", "")):
                return True
    return False


def repeated(node):
    """Return the names of a class that two methods have."""
    names = [item.name for item in node.body if isinstance(item, ast.FunctionDef)
             and not item.decorator_list]
    return sorted({name for name in names if names.count(name) > 1})


class PythonTests(unittest.TestCase):
    """The tests in tests/, without the modules of tests/lib."""

    def test_all(self):
        """Every file with cases runs them."""
        paths = [path for path in glob.glob(os.path.join(TOP, "tests", "*", "*.py"))
                 if os.path.basename(os.path.dirname(path)) != "lib"]
        self.assertTrue(paths)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                tree = ast.parse(file.read(), path)
            with self.subTest(path):
                self.assertTrue(not cases(tree) or calls_main(tree),
                                "does not call main()")
                for node in cases(tree):
                    self.assertEqual(repeated(node), [], node.name)

    def test_faults(self):
        """The checks find what they are for."""
        tree = ast.parse("class T:\n def test_a(self): pass\n"
                         " def test_a(self): pass\n")
        self.assertFalse(calls_main(tree))
        self.assertEqual(repeated(cases(tree)[0]), ["test_a"])


if __name__ == "__main__":
    unittest.main()
