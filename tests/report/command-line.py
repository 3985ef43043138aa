#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report: options, messages, terminals and exit status."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import terminal
from report_case import PROGRAM, SRCDIR, ReportCase, run
from target import EMULATED


class Options(ReportCase):
    """Options and operands."""

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
        # Options may follow operands, and a value may follow its letter directly.
        self.assertEqual(run("-qsptr", "-l2", capture).stdout,
                         run("-q", "-s", "ptr", "-l", "2", capture).stdout)
        self.assertEqual(run("-s", "-live", "--sort", "-live", capture).stdout,
                         run("-s", "live", capture).stdout)
        self.refused("--", "-l2", message="cannot open -l2")
        self.assertEqual(run(capture, "-s", "ptr").stdout,
                         run("-s", "ptr", capture).stdout)

    @unittest.skipIf(EMULATED, "nobody cannot read the libraries in the cache")
    def test_no_permission(self):
        """The message contains the path once and names an action."""
        closed = os.path.join(self.dir, "closed")
        os.mkdir(closed, 0)
        user = {"user": 65534, "group": 65534} if os.getuid() == 0 else {}
        os.chmod(self.dir, 0o755)
        # The user may not have access to the build directory either.
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
        junk = self.write("junk", "no symbol\nat all\n0012 T\nxyz T name\n")
        self.refused(os.path.join(SRCDIR, "README.md"),
                     message="no record can be used")
        self.refused("--kallsyms", junk, capture, message="no symbols in")
        hidden = self.write("hidden", "0000000000000000 T _stext\n")
        self.refused("--kallsyms", hidden, capture, message="kptr_restrict")


class Output(ReportCase):
    """Standard output: terminals, pipes and errors."""

    def test_separators_on_a_terminal_only(self):
        capture = self.fixture("report-summary")
        status, text = terminal.run([PROGRAM, "-q", "--no-pager", capture],
                                    LC_ALL="C", NO_COLOR="1")
        self.assertEqual(status, 0)
        self.assertIn("12,288", text)
        self.assertNotIn("12288", text)
        plain = run(capture).stdout
        self.assertNotIn(",288", plain)
        text = re.sub(r"[#,]", "", text)
        self.assertEqual(re.sub(r" +", " ", text),
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
        # Sums below zero, and above the range of a signed 64-bit integer.
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

    def test_memory_from_before(self):
        """The slab memory that was in use at the start is in both documents."""
        for meta, expected in (("slab_at_start=4096", 4096), ("", None)):
            capture = self.compiled("meta\n\t[capture]\n\tcomplete=true\n"
                                    f"\t{meta}\ncpu 0 little\n"
                                    "alloc kmalloc t=1\n")
            self.assertEqual("Before:        4096 bytes of slab were in use at "
                             "the start." in run(capture).stdout,
                             expected is not None)
            self.assertEqual(self.report(capture)["capture"].get("slab_at_start"),
                             expected)

    def test_what_to_do_about_loss(self):
        """The text and the JSON document give the same advice, which fits the
        source."""
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
                             ("source=bpf\nskipped_events=179999\n",
                              "trace again with a larger buffer: kmemtraced "
                              "-b KB"),
                             ("source=bpf\nskipped_events=180000\n",
                              "larger buffers do not help, because the kernel "
                              "skipped these events"),
                             ("source=import\n", "trace again with larger "
                              "buffers of the recorder, as perf record -m or "
                              "trace-cmd record -b")):
            capture = self.compiled(
                "meta\n" + "".join(f"\t{line}\n" for line in (
                    "[capture]\ncomplete=true\noverruns=180000\n" + meta +
                    "[cpu0]\noverruns=180000").split("\n") if line) +
                "cpu 0 little\nalloc kmalloc t=1\n")
            self.assertIn(advice[0].upper() + advice[1:] + ".\n",
                          run(capture).stdout)
            self.assertIn(advice, self.report(capture)["warnings"][-1])


if __name__ == "__main__":
    sys.exit(unittest.main())
