#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One capture in all the forms that it may come in: pipes, compressed files,
tars, either byte order, older layouts.  The report is the same, or says why it
is not."""

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest

import mkcapture
import seeds

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")
with open(os.path.join(BUILD, "config.h"), encoding="utf-8") as config:
    HAS_ARCHIVES = "#define HAVE_LIBARCHIVE 1" in config.read()
NEEDS_ARCHIVES = unittest.skipUnless(HAS_ARCHIVES, "built without libarchive")
HAS_ZSTD = shutil.which("zstd") is not None
META = ("[capture]\nformat=1\ncomplete=%s\noverruns=0\nkernel_release=6.1.0\n"
        "boot_id=one\n[cpu0]\nnode=0\n[cpu1]\nnode=1\n")
KALLSYMS = "".join(f"ffffffff8100{i:x}000 T function_{i}\n" for i in range(8))
SECOND = 10 ** 9
N = 3000


def run(program, *args, **kwargs):
    """Its result, in text; one that waits is an error."""
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([program, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8",
                          check=False, timeout=60, **kwargs)


def make_events(narrow=False):
    """(cpu, fields) in order of time, with all that a report tells of."""
    rng = seeds.generator("make_events()")
    base = 0xc0000000 if narrow else 0xffff888000000000
    sites = 0xc1000000 if narrow else 0xffffffff81000000
    live, events, t = {}, [], 0
    for _ in range(N):
        t += rng.randint(2, 10 ** 6)
        cpu = rng.randrange(2)
        ptr = base + 0x1000 * rng.randrange(300)
        site = sites + 0x1000 * rng.randrange(8) + 5
        if ptr in live or rng.random() < .02:
            events.append((cpu, {"event_id": mkcapture.FREE, "t": t,
                                 "type_id": live.pop(ptr, 0), "ptr": ptr,
                                 "site": site, "req": 0, "alloc": 0, "gfp": 0}))
        else:
            live[ptr] = rng.choice([0, 0, 1, 2])
            req = rng.randint(1, 3000)
            events.append((cpu, {
                "event_id": mkcapture.ALLOC, "t": t, "type_id": live[ptr],
                "ptr": ptr, "site": site, "req": req, "gfp": 0xcc0,
                "alloc": req + rng.randint(0, 99),
                "node": rng.choice([-1, -1, 0, 1])}))
    return events


def write(path, data):
    """A file."""
    with open(path, "wb") as f:
        f.write(data)
    return path


def zstd(data):
    """Compressed, in frames, with blocks that come out one by one."""
    return b"".join(
        subprocess.run(["zstd", "-q", "-c"], input=data[i:i + 20000],
                       stdout=subprocess.PIPE, check=True).stdout
        for i in range(0, max(len(data), 1), 20000))


class InputCase(unittest.TestCase):
    """A capture in a directory that goes away."""

    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name
        self.events = make_events()
        self.plain = self.directory("plain", self.files())
        self.document = self.report(self.plain)

    def files(self, complete="true", order="little"):
        """Names and contents of a capture."""
        files = {"kmemtrace.meta": (META % complete).encode(),
                 "kallsyms": KALLSYMS.encode()}
        for cpu in range(2):
            files[f"cpu{cpu}.out"] = b"".join(
                mkcapture.event(order=order, **fields)
                for c, fields in self.events if c == cpu)
        return files

    def directory(self, name, files):
        """Written."""
        path = os.path.join(self.dir, name)
        os.mkdir(path)
        for key, data in files.items():
            write(os.path.join(path, key), data)
        return path

    def path(self, name):
        """In the directory."""
        return os.path.join(self.dir, name)

    def report(self, *args, warning=None, **kwargs):
        """Its document, without what paths are in."""
        done = run(REPORT, "--json", *args, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        if warning is not None:
            self.assertIn(warning, done.stderr)
        else:
            self.assertEqual(done.stderr, "")
        document = json.loads(done.stdout)
        del document["capture"]["directory"], document["capture"]["symbols"]
        return document

    def refused(self, *args, message, program=REPORT, **kwargs):
        """A run that must fail, in one line; options have another one."""
        done = run(program, *args, **kwargs)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertRegex(done.stderr, message)
        self.assertLessEqual(done.stderr.count("\n"), 2)

    def feed(self, path, data, pause=0):
        """A thread that writes to a pipe, in steps that fit no record.

        Returns the event that it has opened the pipe.
        """
        def feed_it():
            try:
                with open(path, "wb", buffering=0) as f:
                    opened.set()
                    for i in range(0, len(data), 10007):
                        f.write(data[i:i + 10007])
                        time.sleep(pause)
            except BrokenPipeError:  # refused
                pass
        opened = threading.Event()
        thread = threading.Thread(target=feed_it)
        thread.start()
        self.addCleanup(thread.join)
        return opened

    def tar(self, name, files, mode="w", folder="capture/"):
        """A tar's path."""
        path = self.path(name)
        with tarfile.open(path, mode) as tar:
            for key, data in files.items():
                info = tarfile.TarInfo(folder + key)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return path


class Pipes(InputCase):
    """What cannot be seeked."""

    def test_named_pipes(self):
        """Beside them may be what belongs to them.  Writers may be slow."""
        path = self.directory("pipes", {k: v for k, v in self.files().items()
                                        if k[:3] != "cpu"})
        pipes = []
        for cpu in range(2):
            pipes.append(os.path.join(path, f"cpu{cpu}.out"))
            os.mkfifo(pipes[-1])
            self.feed(pipes[-1], self.files()[f"cpu{cpu}.out"], .003)
        self.assertEqual(self.report(*pipes), self.document)

    def test_cut_off(self):
        """Where the records end is known before, as of files."""
        files = self.files(complete="false")
        files["cpu1.out"] = files["cpu1.out"][:-5600]
        document = self.report(self.directory("cut", files),
                               warning="cut off")
        os.rename(self.path("cut"), self.path("whole"))
        path = self.directory("cut", {"kmemtrace.meta":
                                      files["kmemtrace.meta"],
                                      "kallsyms": files["kallsyms"]})
        pipes = [os.path.join(path, f"cpu{c}.out") for c in range(2)]
        for pipe in pipes:
            os.mkfifo(pipe)
            self.feed(pipe, files[os.path.basename(pipe)])
        self.assertEqual(self.report(*pipes, warning="cut off"), document)
        self.assertTrue(document["capture"]["not_exact"])

    def test_stdin(self):
        """As - and by its name; a file, also from its middle, or a pipe."""
        data = self.files()["cpu0.out"]
        path = write(self.path("cpu0.out"), data)
        plain = self.report(path, warning="no kallsyms")
        for name in ("-", "/dev/stdin"):
            with open(path, "rb") as f:
                self.assertEqual(self.report(name, stdin=f, warning=""),
                                 plain)
            read, write_end = os.pipe()
            self.feed(f"/proc/self/fd/{write_end}", data).wait()
            os.close(write_end)
            with open(read, "rb") as f:
                self.assertEqual(self.report(name, stdin=f, warning=""),
                                 plain)
        half = write(self.path("half"), data[56 * 700:])
        with open(path, "rb", buffering=0) as f:
            f.read(56 * 700)
            self.assertEqual(self.report("-", stdin=f, warning=""),
                             self.report(half, warning=""))

    def test_sizes_and_orders(self):
        """Guessed from the first bytes; newer records are longer."""
        for order in ("little", "big"):
            for size in (56, 64, 73):
                data = b"".join(
                    mkcapture.event(order=order, event_size=size, **f) +
                    b"\xee" * (size - 56) for _, f in self.events)
                path = write(self.path("file"), data + b"\1\0")
                pipe = self.path(f"pipe-{order}{size}")
                os.mkfifo(pipe)
                self.feed(pipe, data + b"\1\0", .001)
                document = self.report(pipe, warning="")
                self.assertEqual(document, self.report(path, warning=""))
                self.assertEqual(document["capture"]["record_size"], size)
                self.assertEqual(document["capture"]["byte_order"], order)
                self.assertEqual(document["findings"]["truncated_bytes"], 2)

    def test_some_of_it(self):
        """What ends early, or is divided, counts all records as of files."""
        # Longer than what is read at a time.
        data = self.files()["cpu0.out"] + b"".join(
            mkcapture.alloc(100 * SECOND + i, 0x1000 * (i + 1))
            for i in range(9000))
        path = write(self.path("file"), data)
        for option in (["--time", "0,0.3"], ["--windows", "5"], ["--leaks"],
                       ["--time", "peak"], ["--histogram", "lifetime"]):
            pipe = self.path("pipe-" + "".join(option).replace(".", ""))
            os.mkfifo(pipe)
            self.feed(pipe, data)
            self.assertEqual(self.report(*option, pipe, warning=""),
                             self.report(*option, path, warning=""))

    def test_no_pipe(self):
        """What is neither file nor pipe."""
        self.refused("/dev/null", message="/dev/null: neither a regular file")
        self.refused("-", message="neither a regular file nor a pipe")
        with open(os.devnull, "rb") as f:
            self.refused("-", stdin=f, message="neither")
        self.refused(self.path("none"), self.plain, message="cannot open")

    def test_twice(self):
        """One pipe has its records once."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        self.feed(pipe, bytes(10 ** 7))
        self.refused(pipe, pipe, message="are the same file")


@NEEDS_ARCHIVES
class Packed(InputCase):
    """Compressed files, and tars."""

    def packers(self):
        """Suffix and function."""
        yield ".gz", gzip.compress
        if HAS_ZSTD:
            yield ".zst", zstd

    def test_files(self):
        for suffix, pack in self.packers():
            files = {k + suffix * (k[:3] == "cpu"): pack(v)
                     if k[:3] == "cpu" else v for k, v in self.files().items()}
            path = self.directory("packed" + suffix, files)
            self.assertEqual(self.report(path), self.document)
            names = [os.path.join(path, f"cpu{c}.out{suffix}")
                     for c in (1, 0)]
            self.assertEqual(self.report(*names), self.document)
            plain, other = run(CHECK, self.plain), run(CHECK, path)
            self.assertEqual(
                other.stdout.replace(path, "").replace(suffix, ""),
                plain.stdout.replace(self.plain, ""))
            self.assertEqual(other.returncode, plain.returncode)
            # By contents: a pipe has no name.
            with open(names[1], "rb") as f:
                packed = subprocess.run(["cat"], stdin=f,
                                        stdout=subprocess.PIPE, check=True)
            self.assertEqual(
                run(REPORT, "--json", "-",
                    stdin=self.piped(packed.stdout)).stdout,
                run(REPORT, "--json", "-", stdin=self.piped(
                    self.files()["cpu0.out"])).stdout)

    def piped(self, data):
        """The end of a pipe that is fed."""
        read, write_end = os.pipe()

        def feed_it():
            with open(write_end, "wb") as f:
                f.write(data)
        thread = threading.Thread(target=feed_it)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(os.close, read)
        return read

    def test_without_the_library(self):
        """libarchive is loaded when it is needed; it may not be there."""
        tar = self.tar("c.tar", self.files())
        packed = write(self.path("cpu0.out.gz"),
                       gzip.compress(self.files()["cpu0.out"]))
        library = os.path.join(self.directory("lib", {}), "libarchive.so.13")
        with open("/proc/self/maps", encoding="utf-8") as maps:
            other = re.search(r"/\S*/libc[.-]\S*so\S*", maps.read())[0]
        env = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(library)}
        write(library, b"no library")
        self.refused(tar, env=env, message="c.tar: it is a tar, and "
                     "libarchive cannot be loaded: .*; install libarchive, or")
        os.remove(library)
        os.symlink(other, library)
        self.refused(packed, env=env, message="cpu0.out.gz: it is compressed, "
                     "and libarchive is too old: .*archive_.*; install")
        self.assertEqual(self.report(self.plain, env=env), self.document)

    def test_cut_off(self):
        """A capture that was cut off is one when it is packed, too."""
        files = self.files(complete="false")
        files["cpu1.out"] = files["cpu1.out"][:-5600]
        plain = self.report(self.directory("cut", files), warning="cut off")
        packed = {k + ".gz" * (k[:3] == "cpu"): gzip.compress(v)
                  if k[:3] == "cpu" else v for k, v in files.items()}
        self.assertEqual(self.report(self.directory("packed", packed),
                                     warning="cut off"), plain)

    def test_tars(self):
        tar = self.tar("c.tar", self.files())
        with open(tar, "rb") as f:
            data = f.read()
        paths = [tar, self.tar("flat.tar", self.files(), folder=""),
                 self.tar("deep.tar", self.files(), folder="./a/b/"),
                 self.tar("umlaut.tar", self.files(), folder="gr\u00f6\u00dfe/"),
                 write(self.path("c.tar.gz"), gzip.compress(data)),
                 write(self.path("c"), gzip.compress(data))]
        packed = {k + ".gz" * (k[:3] == "cpu"): gzip.compress(v)
                  if k[:3] == "cpu" else v for k, v in self.files().items()}
        paths.append(self.tar("nested.tar", packed))
        if HAS_ZSTD:
            paths.append(write(self.path("c.tar.zst"), zstd(data)))
        for path in paths:
            self.assertEqual(self.report(path), self.document, path)
            if path != paths[-1]:
                with open(path, "rb") as f:
                    self.assertEqual(self.report("-",
                                                 stdin=self.piped(f.read())),
                                     self.document, path)
        self.assertEqual(run(CHECK, tar).returncode,
                         run(CHECK, self.plain).returncode)

    def test_no_room(self):
        """Where members are unpacked to is told when it cannot be."""
        with open(self.tar("c.tar", self.files()), "rb") as f:
            path = write(self.path("c.tar.gz"), gzip.compress(f.read()))
        self.refused(path, message="set TMPDIR",
                     env=dict(os.environ, TMPDIR=self.path("nowhere")))

    def test_other_tars(self):
        """None of a capture, two captures, one among other operands."""
        files = self.files()
        self.refused(self.tar("none.tar", {"readme": b"x"}),
                     message="no cpu<n>.out in .*not the tar of a capture")
        two = {"a/" + k: v for k, v in files.items()}
        two.update({"b/" + k: v for k, v in files.items()})
        self.refused(self.tar("two.tar", two),
                     message="more than one capture, in capture/a and")
        tar = self.tar("c.tar", files)
        self.refused(tar, os.path.join(self.plain, "cpu0.out"),
                     message="is a tar: give one tar, or cpu files")
        files["cpu1.out.gz"] = gzip.compress(b"")
        self.refused(self.tar("twice.tar", files), message="both of CPU 1")

    def damaged(self, path, reason):
        """What could be read is, and that there was more is told."""
        document = self.report(path, warning="cannot be read to its end: " +
                               reason)
        events = document["capture"]["events"]
        self.assertLess(events, N)
        self.assertTrue(document["capture"]["not_exact"])
        done = run(CHECK, path)
        self.assertEqual(done.returncode, 2, done)
        self.assertRegex(done.stdout, r"unreadable +1\n")
        text = run(REPORT, path)
        self.assertEqual(text.returncode, 0)
        self.assertIn("NOT be read to its END", text.stdout)
        return events

    def test_truncated(self):
        files = self.files()
        big = files["cpu1.out"] * 8  # more than libarchive has at a time
        for suffix, pack in self.packers():
            packed = pack(big)
            reason = "Truncated" if suffix == ".zst" else "truncated"
            for name, keep in (("most", len(packed) * 9 // 10), ("some", 7),
                               ("none", 0)):
                path = self.directory(name + suffix, {
                    "cpu0.out": files["cpu0.out"][:5600],
                    "cpu1.out" + suffix: packed[:keep]})
                document = self.report(
                    path, warning="cannot be read to its end")
                done = run(CHECK, path)
                self.assertEqual(done.returncode, 2, done)
                events = document["capture"]["events"]
                if name == "most":
                    self.assertIn(reason, str(document["warnings"]))
                    self.assertGreater(events, 8 * N // 4)
                else:
                    self.assertEqual(events, 100)

    def test_damaged_tars(self):
        with open(self.tar("c.tar", self.files()), "rb") as f:
            data = f.read()
        cut = write(self.path("cut.tar"), data[:len(data) * 2 // 3])
        n = self.damaged(cut, "the tar ends in it")
        self.assertGreater(n, N // 3)
        n = self.damaged(write(self.path("cut.tar.gz"), gzip.compress(
            data[:len(data) * 2 // 3])), "")
        self.assertGreater(n, N // 3)
        # Between two members: their number is not known, but their end is.
        middle = data.index(b"capture/cpu1.out") + 100
        self.damaged(write(self.path("header.tar"), data[:middle]), "")

    def test_not_packed(self):
        """A name that promises what the contents are not."""
        path = self.directory("misnamed", {
            "cpu0.out": self.files()["cpu0.out"],
            "cpu1.out.zst": self.files()["cpu1.out"]})
        self.report(path, warning="not compressed as its name says")
        self.assertEqual(run(CHECK, path).returncode, 2)

    def test_both(self):
        """A file, and its compressed copy."""
        files = self.files()
        files["cpu0.out.gz"] = gzip.compress(files["cpu0.out"])
        self.refused(self.directory("both", files), message="both of CPU 0")


class Layouts(InputCase):
    """What kernels before this one wrote."""

    def layout(self, layout, order="little", word=8, start=0):
        """Files of the capture in an older layout."""
        files = {}
        for i, (cpu, fields) in enumerate(self.events):
            name = "trace" if layout == "D" else f"cpu{cpu}.out"
            files[name] = files.get(name, b"") + mkcapture.older(
                layout, dict(fields, order=order), cpu, i + start, word)
        return files

    def alone(self, narrow=False):
        """Layout B, with cpu files and nothing else."""
        self.events = make_events(narrow)
        files = {k: v for k, v in self.files().items() if k[:3] == "cpu"}
        return self.report(self.directory("alone", files), warning="")

    def same(self, document, plain, layout, order="little"):
        """But for what tells the layouts apart."""
        self.assertEqual(document["capture"]["layout"], layout)
        self.assertEqual(document["capture"]["byte_order"], order)
        for d in (document, plain):
            for key in ("layout", "byte_order", "record_size"):
                d["capture"].pop(key, None)
        self.assertEqual(document, plain)

    def operands(self, name, files):
        """Written, as operands."""
        path = self.directory(name, files)
        return [os.path.join(path, f) for f in files]

    def test_a(self):
        plain = self.alone()
        for order in ("little", "big"):
            path = self.directory(order, self.layout("A", order))
            self.same(self.report(path, warning=""), plain, "A", order)
            self.same(self.report("--layout", "a", path, warning=""), plain,
                      "A", order)
            done = run(CHECK, path)
            self.assertIn("Converted from layout A", done.stdout)
            self.assertEqual(done.returncode,
                             run(CHECK, self.path("alone")).returncode)

    def test_d(self):
        """One file has all CPUs, and words are the machine's."""
        for order in ("little", "big"):
            for word in (8, 4):
                plain = self.alone(word == 4)
                shutil.rmtree(self.path("alone"))
                path, = self.operands(f"{order}{word}",
                                      self.layout("D", order, word))
                self.same(self.report(path, warning=""), plain, "D", order)
                self.same(self.report("--layout=D", path, warning=""), plain,
                          "D", order)
                pipe = path + "-pipe"
                os.mkfifo(pipe)
                with open(path, "rb") as f:
                    self.feed(pipe, f.read())
                self.same(self.report(pipe, warning=""), plain, "D", order)

    def test_c(self):
        """Order by sequence, and not a word of time."""
        plain = self.alone()
        for order in ("little", "big"):
            for start in (0, 2 ** 32 - N // 2):
                path = self.directory(f"{order}{start}",
                                      self.layout("C", order, start=start))
                done = self.report(path, warning="")
                expected = json.loads(json.dumps(plain))
                expected["capture"]["first_timestamp"] = None
                expected["capture"]["last_timestamp"] = None
                for totals in [*expected["kinds"].values(),
                               *expected["callsites"]]:
                    totals["peak_timestamp"] = None
                self.same(done, expected, "C", order)
                for option in (["--time", "0,1"], ["--windows", "3"],
                               ["--leaks"], ["--lifetime", "1ms-2ms"],
                               ["--fields", "lifetime-median"]):
                    self.refused(*option, path, message="have no time")
                text = run(REPORT, path).stdout
                self.assertIn("the records have no time", text)
                self.assertNotIn("peak at", text)
                done = run(CHECK, path)
                self.assertEqual(done.returncode, run(
                    CHECK, self.path("alone")).returncode, done)

    def test_broken(self):
        """Where the next record begins is not known then."""
        for layout in ("C", "D"):
            files = self.layout(layout)
            name, data = files.popitem()
            part = data[:24 * 900]
            path = write(self.path(layout), part + bytes(100) + data)
            done = run(REPORT, "--json", "--layout", layout, path)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn(f"no record of layout {layout} at offset",
                          done.stderr, name)
            self.assertEqual(run(CHECK, "--layout", layout,
                                 path).returncode, 2)

    def test_truncated(self):
        for layout, rest in (("A", 17), ("C", 17), ("D", 0)):
            files = self.layout(layout)
            path, = self.operands("cut" + layout, {
                "x": list(files.values())[0] + b"\0\0\x30\0" * 4 + b"\0"
                if layout == "C" else
                list(files.values())[0] + b"\0\0\x38\0" * 4 + b"\0"})
            document = self.report(path, warning="")
            self.assertEqual(document["findings"]["truncated_bytes"], rest)
            self.assertEqual(bool(rest), "within a record" not in
                             str(document["warnings"]))
            self.assertEqual(run(CHECK, path).returncode, 2)

    def test_damaged_beginning(self):
        """A layout that is named needs not be sure; one that is not, does."""
        for order in ("little", "big"):
            files = self.layout("A", order)
            size = len(mkcapture.older("A", {}))
            for number in (0, 3):
                data = bytearray(files["cpu0.out"])
                data[size * number:size * (number + 1)] = b"\xee" * size
                path = write(self.path(f"{order}{number}"), bytes(data))
                done = run(REPORT, "--json", "--layout", "A", path)
                self.assertEqual(done.returncode, 0, done.stderr)
                capture = json.loads(done.stdout)["capture"]
                self.assertEqual((capture["layout"], capture["byte_order"]),
                                 ("A", order))
                done = run(REPORT, "--json", path)
                self.assertTrue(done.returncode or json.loads(
                    done.stdout)["capture"]["layout"] != "A", done)

    def test_wrong(self):
        for program in (REPORT, CHECK):
            self.refused("--layout", "E", self.plain, program=program,
                         message="--layout 'E'.*A, B, C and D")
            for layout in "ACD":
                self.refused("--layout", layout, self.plain, program=program,
                             message=f"not begin with records of .*{layout}")
        self.assertEqual(self.report("--layout", "B", self.plain),
                         self.document)
        self.refused("--layout", "C", self.directory("a", self.layout("A")),
                     message="not begin with records of layout C")

    def test_mixed(self):
        a, b = self.layout("A"), self.files()
        path = self.directory("mixed", {"cpu0.out": a["cpu0.out"],
                                        "cpu1.out": b["cpu1.out"]})
        self.refused(path, message="of layout A .* of 56 bytes .* give them")


class Mixed(InputCase):
    """Files that do not belong together, and times that do not fit."""

    def records(self, n, order):
        """n allocations in that byte order."""
        return b"".join(mkcapture.event(
            order=order, event_id=mkcapture.ALLOC, t=i, type_id=0,
            ptr=4096 + 8 * i, site=0xffffffff81000000, req=8, alloc=8, gfp=0, node=-1)
                        for i in range(n))

    def test_beginning_of_another(self):
        """What a file begins with, however long, is not all it is of."""
        other = self.records(1300, "little") + self.records(20000, "big")
        document = self.report(self.directory("one", {"cpu0.out": other}),
                               warning="")
        self.assertEqual(document["findings"]["skipped_records"], 1300)
        self.refused(self.directory("two", {
            "cpu0.out": other, "cpu1.out": self.records(9, "little")}),
                     message="56 bytes in big .*in little .*: they are not")

    def halves(self, one, other):
        """A CPU in a directory each, with these metas."""
        files = self.files()
        paths = []
        for i, meta in enumerate((one, other)):
            part = {f"cpu{i}.out": files[f"cpu{i}.out"]}
            if meta is not None:
                part["kmemtrace.meta"] = meta.encode()
            path = self.directory(f"half{i}", part)
            paths.append(os.path.join(path, f"cpu{i}.out"))
        self.addCleanup(lambda: None)
        return paths

    def test_other_boot(self):
        for key, value in (("boot_id", "two"), ("kernel_release", "6.2"),):
            meta = META % "true"
            old = {"boot_id": "one", "kernel_release": "6.1.0"}[key]
            paths = self.halves(meta, meta.replace(f"{key}={old}",
                                                   f"{key}={value}"))
            self.refused(*paths, message=f"not of one capture: {key} .*{old} "
                         f"and {value}")
            for i in range(2):
                shutil.rmtree(self.path(f"half{i}"))

    def test_same_boot(self):
        paths = self.halves(META % "true", META % "true")
        document = self.report(*paths, warning="no kallsyms")
        self.assertEqual(document["kinds"], self.document["kinds"])
        self.assertEqual(document["capture"]["complete"], True)

    def test_unknown_boot(self):
        paths = self.halves(META % "true", None)
        self.report(*paths, warning="whether the files are of one capture is "
                    "not known")

    def test_apart(self):
        """Single files without a moment in common."""
        a = write(self.path("a"), mkcapture.alloc(1, 0x1000) +
                  mkcapture.alloc(2, 0x2000))
        b = write(self.path("b"), mkcapture.alloc(SECOND, 0x3000))
        self.report(a, b, warning="is before the first one of")
        done = run(REPORT, a, a)
        self.assertEqual(done.returncode, 1)

    def test_missing_cpu(self):
        record = mkcapture.alloc(1, 0x1000)
        path = self.directory("missing", {"cpu0.out": record,
                                          "cpu2.out": record})
        self.report(path, warning="no file of CPU 1")
        self.assertIn("no file of CPU 1", run(CHECK, path).stdout)

    def test_jumps(self):
        """A clock that jumps forward by hours, or backwards."""
        hour = 3600 * SECOND
        times = [0, 1, 2, 3 * hour, 3 * hour + 1]
        path = self.directory("forward", {
            "cpu0.out": b"".join(mkcapture.alloc(t, 0x1000 + t)
                                 for t in times),
            "cpu1.out": mkcapture.alloc(5, 0x9000)})
        self.report(path, warning="the clock of CPU 0 jumped")
        self.assertIn("between 0 s and 10800 s", run(CHECK, path).stdout)
        for times in ([5, 4 * hour, 6, 7], [9 * hour, 0, 1, 2]):
            path = write(self.path("backward"), b"".join(
                mkcapture.alloc(t, 0x1000 + t) for t in times))
            document = self.report(path, warning="")
            self.assertEqual(
                document["findings"]["unordered_timestamps"], 1)
            done = run(CHECK, path)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stdout, r"time-backwards +1\b")

    def test_large_totals(self):
        """Integers are exact beyond what a double, and a signed one, hold."""
        for each, n in ((2 ** 53 + 1, 3), (2 ** 62 + 1, 3), (2 ** 64 - 1, 1)):
            path = write(self.path("large"), b"".join(
                mkcapture.alloc(i, 0x1000 * (i + 1), req=each, alloc=each)
                for i in range(n)))
            document = self.report(path, warning="")
            for totals in (document["kinds"]["kmalloc"],
                           document["callsites"][0]):
                for key in ("bytes_requested", "bytes_allocated",
                            "live_bytes_allocated", "peak_bytes_allocated"):
                    self.assertEqual(totals[key], each * n)
            self.assertFalse(document["findings"]["sums_overflowed"])
        path = write(self.path("more"), mkcapture.alloc(
            1, 0x1000, req=2 ** 63, alloc=2 ** 63) + mkcapture.alloc(
                2, 0x2000, req=2 ** 63, alloc=2 ** 63))
        self.assertTrue(self.report(path, warning="")["findings"]
                        ["sums_overflowed"])


class Narrow(InputCase):
    """A machine of 32 bits: its pointers are zero-extended."""

    def test_symbols(self):
        self.events = make_events(True)
        files = self.files(order="big")
        files["kallsyms"] = "".join(
            f"c100{i:x}000 T narrow_{i}\n" for i in range(8)).encode()
        document = self.report(self.directory("narrow", files))
        names = {site["symbol"] for site in document["callsites"]}
        self.assertEqual(names, {f"narrow_{i}+0x5" for i in range(8)})


if __name__ == "__main__":
    sys.exit(unittest.main())
