#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The template of kmemtrace-report --html: its content security policy permits exactly
its own scripts and styles, it loads nothing, and its code makes no markup from text."""

import base64
import glob
import hashlib
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.abspath(os.environ.get("top_srcdir", "."))
BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
HTML = os.path.join(TOP, "report", "html")
# What would turn a text into markup or code.
SINKS = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment"
                   r"|\beval\(|new Function|DOMParser|srcdoc|javascript:"
                   r"|setAttribute\(\"(style|on)")


def built(name):
    """Return a file of the build folder, or of the tree of a release."""
    for folder in (BUILD, TOP):
        path = os.path.join(folder, "report", "html", name)
        if os.path.exists(path):
            return path
    return None


def text_of(path):
    """Return the text of a file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


class Page(html.parser.HTMLParser):
    """The elements of a page: tags with attributes, and texts of scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.elements = []
        self.texts = {"script": [], "style": []}
        self.open = None
        self.comments = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in self.texts:
            self.open = tag
            self.texts[tag].append("")

    def handle_endtag(self, tag):
        if tag == self.open:
            self.open = None

    def handle_data(self, data):
        if self.open:
            self.texts[self.open][-1] += data

    def handle_comment(self, data):
        self.comments.append(data)


class Template(unittest.TestCase):
    """The assembled template."""

    def setUp(self):
        path = built("template.html")
        if path is None:
            self.skipTest("the build is without the HTML report")
        self.text = text_of(path)
        self.page = Page(self.text)
        policy = [attributes["content"] for tag, attributes in self.page.elements
                  if attributes.get("http-equiv") == "Content-Security-Policy"]
        self.assertEqual(len(policy), 1)
        self.policy = dict(part.strip().split(" ", 1) for part in policy[0].split(";"))

    def test_policy_permits_the_parts_only(self):
        """Each hash belongs to a part, and nothing else is permitted."""
        for tag in ("script", "style"):
            hashes = {"'sha256-" + base64.b64encode(
                hashlib.sha256(text.encode()).digest()).decode() + "'"
                for text in self.page.texts[tag]}
            self.assertTrue(hashes)
            self.assertEqual(set(self.policy[tag + "-src"].split()), hashes)
        self.assertEqual(self.policy["default-src"], "'none'")
        self.assertEqual(self.policy["base-uri"], "'none'")
        self.assertEqual(self.policy["form-action"], "'none'")
        self.assertEqual(self.policy["img-src"], "data:")
        self.assertEqual(self.policy["require-trusted-types-for"], "'script'")

    def test_policy_precedes_what_it_governs(self):
        """A policy does not govern elements that come before it."""
        tags = [tag for tag, _ in self.page.elements]
        at = next(i for i, (_, attributes) in enumerate(self.page.elements)
                  if "http-equiv" in attributes)
        self.assertLess(at, min(tags.index("script"), tags.index("style")))

    def test_loads_nothing(self):
        """No element refers to another file, and none has code in an attribute."""
        for tag, attributes in self.page.elements:
            self.assertNotIn(tag, ("link", "iframe", "object", "embed", "base"))
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on"), (tag, name))
                self.assertNotIn(name, ("src", "style", "srcset", "action"))
                if name == "href":
                    self.assertTrue(value.startswith("#"), (tag, value))
        for style in self.page.texts["style"]:
            self.assertNotRegex(style, r"@import|url\(")

    def test_code_makes_no_markup(self):
        """Neither our code nor that of a library makes markup or code from a text."""
        for script in self.page.texts["script"]:
            self.assertIsNone(SINKS.search(script))

    def test_place_of_the_data(self):
        """kmemtrace-report replaces the marker, which is before all scripts."""
        self.assertEqual(self.text.count("<!--KMT-DATA-->"), 1)
        self.assertLess(self.text.index("<!--KMT-DATA-->"), self.text.index("<script"))

    def test_licences(self):
        """The page contains the licence of each library."""
        licence = text_of(built("libraries/uPlot.LICENSE"))
        self.assertIn("MIT", licence)
        self.assertIn(licence.strip(), self.text)

    def test_libraries_are_readable(self):
        """The page and a release contain sources, not minified code."""
        library = text_of(built("libraries/uPlot.iife.js"))
        self.assertIn(library, self.text)
        self.assertLess(max(map(len, library.split("\n"))), 500)


class Assembly(unittest.TestCase):
    """assemble.py."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        """Write a part and return its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path

    def run_assembly(self, *args):
        """Run assemble.py; return its exit status, its messages, and the output."""
        output = os.path.join(self.folder, "out.html")
        done = subprocess.run(
            [sys.executable, os.path.join(HTML, "assemble.py"), "--output", output, *args],
            capture_output=True, text=True, check=False)
        return done.returncode, done.stderr, \
            text_of(output) if os.path.exists(output) else None

    def page(self):
        """Return the options for a small page."""
        return ["--page", os.path.join(HTML, "page.html"),
                "--style", self.write("a.css", "b { color: red }\n")]

    def test_result_depends_on_contents_only(self):
        """The same parts in other files give the same template."""
        first = self.run_assembly(*self.page(), "--script", self.write("a.js", "let a;\n"))
        second = self.run_assembly(*self.page(), "--script", self.write("b.js", "let a;\r\n"))
        self.assertEqual(first[0], 0, first[1])
        self.assertEqual(first, second)

    def test_dangerous_parts_are_refused(self):
        """A part must not end its element."""
        for text in ("x = '</script>';", "x = '</SCRIPT';", "// <!--", "x = '<script>';"):
            status, messages, output = self.run_assembly(
                *self.page(), "--script", self.write("a.js", text))
            self.assertEqual(status, 1)
            self.assertIn("a.js", messages)
            self.assertIsNone(output)

    def test_marker_must_exist_once(self):
        """A page without the place of the data is refused."""
        page = text_of(os.path.join(HTML, "page.html"))
        for text in (page.replace("<!--KMT-DATA-->", ""), page + "<!--KMT-DATA-->"):
            status, messages, _ = self.run_assembly("--page", self.write("page.html", text))
            self.assertEqual(status, 1)
            self.assertIn("KMT-DATA", messages)

    def test_missing_part(self):
        """A part that cannot be read is an error."""
        status, messages, output = self.run_assembly(*self.page(), "--script", "/missing.js")
        self.assertEqual(status, 1)
        self.assertIn("/missing.js", messages)
        self.assertIsNone(output)


class Sources(unittest.TestCase):
    """The files of report/html."""

    def test_each_file_is_part_of_the_template(self):
        """local.mk lists each script and style sheet once."""
        makefile = text_of(os.path.join(HTML, "local.mk"))
        for pattern in ("js/*.js", "css/*.css"):
            for path in glob.glob(os.path.join(HTML, pattern)):
                name = os.path.relpath(path, TOP)
                self.assertEqual(len(re.findall(re.escape(name) + r"\b", makefile)), 1, name)

    def test_scripts_make_no_markup(self):
        """This holds also if the template is not built."""
        for path in glob.glob(os.path.join(HTML, "js", "*.js")):
            self.assertIsNone(SINKS.search(text_of(path)), path)

    def test_libraries_are_pinned(self):
        """Each package has an exact version and a hash, and no registry is named."""
        for path in glob.glob(os.path.join(TOP, "*", "*", "package.json")):
            package = json.loads(text_of(path))
            lock = json.loads(text_of(path.replace("package.json", "package-lock.json")))
            wanted = {**package.get("dependencies", {}), **package.get("devDependencies", {})}
            for name, version in wanted.items():
                self.assertRegex(version, r"^\d+\.\d+\.\d+$", name)
                self.assertEqual(lock["packages"]["node_modules/" + name]["version"], version)
            for name, entry in lock["packages"].items():
                if name:
                    self.assertRegex(entry["integrity"], "^sha512-", name)
                self.assertNotIn("resolved", entry)


if __name__ == "__main__":
    unittest.main()
