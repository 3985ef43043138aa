# SPDX-License-Identifier: GPL-2.0-or-later
"""A small kernel tree and a small set of patches for kernel-patches/apply."""

import difflib
import os
import shutil

SRC = os.environ.get("top_srcdir", ".")


def numbered(name, count=40):
    """Return a file of count different lines."""
    return [f"{name} line {i}\n" for i in range(1, count + 1)]


def with_line(lines, after, text):
    """Return lines with text after the line that contains after."""
    at = next(i for i, line in enumerate(lines) if after in line)
    return lines[:at + 1] + [text] + lines[at + 1:]


def write(path, text, mode=0o644):
    """Write a file and the folders above it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


def patch_text(subject, core, files):
    """Return a patch in the form of hooks/: files maps paths to old and new lines."""
    text = ("# SPDX-License-Identifier: GPL-2.0-only\n"
            f"Subject: {subject}\n\nThe reason for: {subject}.\n")
    if core:
        text += f"\nCore-files: {core}\n"
    text += "---\n"
    for path, (old, new) in files.items():
        text += f"diff --git a/{path} b/{path}\n"
        text += "".join(difflib.unified_diff(old, new, "a/" + path, "b/" + path))
    return text


class PatchSet:
    """A copy of apply with patches for Linux 6.1 and 6.12, which differ in mm/slab.c.

    slab-more.patch changes a line that slab-VERSION.patch adds, so it fits only the
    files that this patch has changed.
    """

    core = {
        "mm/kmemtrace/Makefile": "obj-y += one.o\nobj-y += two.o\n",
        "mm/kmemtrace/one.c": "int one;\n",
        "mm/kmemtrace/two.c": "int two;\n",
        "Documentation/mm/kmemtrace.rst": "kmemtrace\n",
    }

    def __init__(self, folder):
        self.folder = folder
        self.apply = os.path.join(folder, "kernel-patches", "apply")
        self.hooks = os.path.join(folder, "kernel-patches", "hooks")
        source = os.path.join(SRC, "kernel-patches")
        os.makedirs(self.hooks)
        shutil.copy(os.path.join(source, "apply"), self.apply)
        shutil.copytree(os.path.join(source, "lib"),
                        os.path.join(folder, "kernel-patches", "lib"))
        for path, text in self.core.items():
            write(os.path.join(folder, "kernel-patches", "core", path), text)
        for name in ("kmemtrace_abi.h", "kmemtrace_ioctl.h"):
            write(os.path.join(folder, "abi", name), f"/* {name} */\n")
        self._write_hooks()

    def _write_hooks(self):
        self.files = {
            "mm/Makefile": numbered("make", 10),
            "mm/slab.c": numbered("slab"),
            "mm/page_alloc.c": numbered("page"),
            "kernel/exit.c": numbered("exit"),
        }
        self.files_612 = dict(self.files)
        self.files_612["mm/slab.c"] = numbered("slub")
        make = self.files["mm/Makefile"]
        self.patch("core.patch", "mm: add the core",
                   "mm/kmemtrace/Makefile mm/kmemtrace/one.c include/uapi/linux",
                   {"mm/Makefile": (make, with_line(make, "line 5", "obj\n"))})
        for version, files in (("6.1", self.files), ("6.12", self.files_612)):
            old = files["mm/slab.c"]
            new = with_line(with_line(old, "line 10\n", "kmemtrace_free(x);\n"),
                            "line 30\n", "kmemtrace_alloc(x);\n")
            self.patch(f"slab-{version}.patch", "mm: record slab objects", "",
                       {"mm/slab.c": (old, new)})
        page = self.files["mm/page_alloc.c"]
        task = self.files["kernel/exit.c"]
        self.patch("pages.patch", "mm: record pages", "mm/kmemtrace/two.c",
                   {"mm/page_alloc.c": (page, with_line(page, "line 20\n", "pages\n")),
                    "kernel/exit.c": (task, with_line(task, "line 7\n", "task\n"))})
        # Its context has the line that pages.patch adds.
        new = with_line(page, "line 20\n", "pages\n")
        self.patch("pages-more.patch", "mm: record more pages", "",
                   {"mm/page_alloc.c": (new, with_line(new, "pages\n", "more\n"))})
        self.patch("documentation.patch", "Documentation: describe kmemtrace",
                   "Documentation", {})
        self.series("6.1", "core slab-6.1 pages pages-more documentation")
        self.series("6.12", "core slab-6.12 pages pages-more documentation")

    def patch(self, name, subject, core, files):
        """Write a patch to hooks/."""
        write(os.path.join(self.hooks, name), patch_text(subject, core, files))

    def series(self, version, names):
        """Write the series file of a version."""
        lines = "".join(f"{name}.patch\n" for name in names.split())
        write(os.path.join(self.hooks, "series-" + version),
              "# SPDX-License-Identifier: GPL-2.0-only\n\n" + lines)

    def tree(self, path, version="6.1", content=None):
        """Make an unpatched kernel tree with the content that a version has."""
        files = self.files_612 if (content or version) == "6.12" else self.files
        major, minor = version.split(".")
        write(os.path.join(path, "Makefile"),
              f"VERSION = {major}\nPATCHLEVEL = {minor}\nSUBLEVEL = 7\n")
        write(os.path.join(path, "Documentation", "mm", "index.rst"), "index\n")
        write(os.path.join(path, "include", "linux", "mm.h"), "mm\n")
        for name, lines in files.items():
            write(os.path.join(path, name), "".join(lines))
        os.chmod(os.path.join(path, "kernel", "exit.c"), 0o600)
        return path


def contents(tree):
    """Return all files of a tree with mode and content, and its folders."""
    found = {}
    for folder, folders, files in os.walk(tree):
        folders[:] = [f for f in folders if f != ".git"]
        found[os.path.relpath(folder, tree)] = None
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, tree)] = (os.stat(path).st_mode, f.read())
    return found
