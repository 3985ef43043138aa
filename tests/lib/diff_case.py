# SPDX-License-Identifier: GPL-2.0-or-later
"""Make captures of several builds, compare them, and read the lists."""

import collections
import re

import report_case

# A call site: COUNT allocations of REQ bytes in blocks of ALLOC bytes, of which the
# first FREED are freed again.
Site = collections.namedtuple("Site", "function offset count req alloc kind freed")
KERNEL = 0xffffffff81000000
MODULE = 0xffffffffa0000000
SPACING = 0x1000
PATTERN = re.compile(r"(\S+)(?: \[(\S+)\])?$")
META = """meta
  [capture]
  format=1
  abi_version=2
  record_size=64
  byte_order=little
  complete=true
  overruns={lost}
  kernel_release={release}
{build}  [cpu0]
  overruns={lost}
marks
  : # kmemtrace: marks
  : # columns: number appeared went module types name format
  : # unnumbered: 0
  1 0 - - s marker %s
  2 0 - - i round round %d
"""


def site(function, offset=0x10, count=1, req=100, alloc=128, kind="kmalloc",
         freed=0):
    """Return a call site; FUNCTION may be "name [module]"."""
    return Site(function, offset, count, req, alloc, kind, freed)


def address_table(sites, kaslr):
    """Return the address of each function, in the order of their first call sites."""
    functions = []
    for each in sites:
        if each.function not in functions:
            functions.append(each.function)
    table = {}
    for i, name in enumerate(functions):
        start = MODULE if name.endswith("]") else KERNEL
        table[name] = start + kaslr + (i + 1) * SPACING
    return table


def records(sites, table, step, marks):
    """Return the statements of the records, in steps of STEP ns."""
    lines = []
    time = step
    pointer = 0xffff888000000000
    for each in sites:
        address = table.get(each.function, KERNEL * 2) + each.offset
        blocks = []
        for _ in range(each.count):
            pointer += 0x10000
            blocks.append(pointer)
            lines.append(f"alloc {each.kind} t={time} site={address:#x} "
                         f"ptr={pointer:#x} req={each.req} alloc={each.alloc} "
                         "pid=1 cache=0 flags=0")
            time += step
        for block in blocks[:each.freed]:
            lines.append(f"free {each.kind} t={time} site={address:#x} "
                         f"ptr={block:#x} pid=1 cache=0 flags=0")
            time += step
    for number, value in marks:
        lines.append(f"mark t={time} number={number} {value} pid=1")
        time += step
    return lines


def fixture(sites, build="aaaa", release="6.1.0", lost=0, step=1000000, kaslr=0,
            marks=(), names=True):
    """Return the text of a capture; without NAMES, it has no symbols."""
    table = address_table(sites, kaslr)
    text = META.format(lost=lost, release=release,
                       build=f"  build_id={build}\n" if build else "")
    if names:
        text += f"kallsyms\n  {KERNEL + kaslr:x} T _stext\n"
        for name, address in table.items():
            function, module = PATTERN.match(name).groups()
            text += f"  {address:x} t {function}"
            text += f"\t[{module}]\n" if module else "\n"
    text += "cpu 0 little size=64\n"
    return text + "\n".join(records(sites, table, step, marks)) + "\n"


class DiffCase(report_case.ReportCase):
    """Comparisons of captures in a temporary directory."""

    def setUp(self):
        super().setUp()
        self.count = 0

    def capture(self, *sites, **options):
        """Write a capture of these call sites; return its directory."""
        self.count += 1
        return self.compiled(fixture(sites, **options), f"capture{self.count}")

    def diff(self, base, new, *options):
        """Return the text of a comparison of one capture or lists of captures."""
        bases = base if isinstance(base, list) else [base]
        news = new if isinstance(new, list) else [new]
        done = report_case.run("-q", *(f"--diff={path}" for path in bases),
                               *options, *news)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def rows(self, text, title):
        """Return the lines of a list as texts with single blanks; the first one
        is the heading."""
        self.assertIn(f"\n{title}\n", text)
        part = text.split(f"\n{title}\n", 1)[1].split("\n\n", 1)[0]
        return [" ".join(line.split()) for line in part.split("\n") if line]

    def live(self, base, new, *options):
        """Return the lines of the list of live bytes, without its heading."""
        text = self.diff(base, new, "--fields", "live", "--lines", "0", *options)
        return self.rows(text, "LIVE BY CALL SITE")[1:]
