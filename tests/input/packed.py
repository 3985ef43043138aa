#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compressed captures and captures in a tar give the same report, or a message
that names what is missing."""

import gzip
import io
import os
import re
import subprocess
import sys
import tarfile
import threading
import unittest

from input_case import (CHECK, HAS_ZSTD, N, NEEDS_ARCHIVES, REPORT, InputCase,
                        run, write, zstd)

ALLOCATOR = os.path.join(os.path.abspath(os.environ.get("top_builddir", ".")),
                         "tests", "lib", "preload-malloc.so")


@NEEDS_ARCHIVES
class Packed(InputCase):
    """Compressed files, and tar archives."""

    def packers(self):
        """Yield suffix and function of each compressor."""
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
            # The format is detected from the content, because a pipe has no name.
            with open(names[1], "rb") as f:
                packed = subprocess.run(["cat"], stdin=f,
                                        stdout=subprocess.PIPE, check=True)
            self.assertEqual(
                run(REPORT, "--json", "-",
                    stdin=self.piped(packed.stdout)).stdout,
                run(REPORT, "--json", "-", stdin=self.piped(
                    self.files()["cpu0.out"])).stdout)

    def piped(self, data):
        """Return the read end of a pipe that receives data."""
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
        """libarchive is loaded on demand and may be missing."""
        tar = self.tar("c.tar", self.files())
        packed = write(self.path("cpu0.out.gz"),
                       gzip.compress(self.files()["cpu0.out"]))
        library = os.path.join(self.directory("lib", {}), "libarchive.so.13")
        env = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(library)}
        write(library, b"no library")
        self.refused(tar, env=env, message="c.tar: it is a tar, and "
                     "libarchive cannot be loaded: .*; install libarchive, or")
        os.remove(library)
        # A library for the machine of the programs, without their functions.
        os.symlink(ALLOCATOR, library)
        self.refused(packed, env=env, message="cpu0.out.gz: it is compressed, "
                     "and libarchive is too old: .*archive_.*; install")
        self.assertEqual(self.report(self.plain, env=env), self.document)

    def test_cut_off(self):
        """A truncated capture is also recognized in compressed form."""
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

    def test_member_names(self):
        """Of two members with the same name, the last one is used, as in the
        directory that tar -x makes. A leading "./" does not change a name."""
        meta = self.files()["kmemtrace.meta"]
        first = re.sub(b"(?m)^overruns=.*$", b"overruns=77", meta)
        self.assertNotEqual(meta, first)
        for one, two, three in (("c/", "c/", "c/"), ("./c/", "c/", ".//c/"),
                                ("c/", "././c/", "c/"), ("./", "", "./")):
            files = {one + "kmemtrace.meta": first}
            files.update({two + k: v for k, v in self.files().items()
                          if k != "kmemtrace.meta"})
            path = self.tar("again.tar", files, folder="")
            with tarfile.open(path, "a") as tar:
                info = tarfile.TarInfo(three + "kmemtrace.meta")
                info.size = len(meta)
                tar.addfile(info, io.BytesIO(meta))
            self.assertEqual(self.report(path), self.document, one)
            with open(path, "rb") as f:
                self.assertEqual(self.report("-", stdin=self.piped(f.read())),
                                 self.document, one)

    def test_no_room(self):
        """An error in the directory of unpacked members names that directory."""
        with open(self.tar("c.tar", self.files()), "rb") as f:
            path = write(self.path("c.tar.gz"), gzip.compress(f.read()))
        self.refused(path, message="set TMPDIR",
                     env=dict(os.environ, TMPDIR=self.path("nowhere")))

    def test_other_tars(self):
        """A tar without a capture, with two captures, and among other operands."""
        files = self.files()
        self.refused(self.tar("none.tar", {"readme": b"x"}),
                     message="no cpu<n>.out in .*not the tar of a capture")
        two = {"a/" + k: v for k, v in files.items()}
        two.update({"b/" + k: v for k, v in files.items()})
        self.refused(self.tar("two.tar", two),
                     message="more than one capture, in capture/a and")
        tar = self.tar("c.tar", files)
        self.refused(tar, os.path.join(self.plain, "cpu0.out"),
                     message="is a tar: specify one tar, or cpu files")
        files["cpu1.out.gz"] = gzip.compress(b"")
        self.refused(self.tar("twice.tar", files), message="both files of CPU 1")

    def damaged(self, path, reason):
        """Expect a report on the readable part, and a warning."""
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
        big = files["cpu1.out"] * 8  # more than one buffer of libarchive
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
        # Between two members: the number of members is unknown, but their end is
        # known.
        middle = data.index(b"capture/cpu1.out") + 100
        self.damaged(write(self.path("header.tar"), data[:middle]), "")

    def test_not_packed(self):
        """A file name that does not match the content."""
        path = self.directory("misnamed", {
            "cpu0.out": self.files()["cpu0.out"],
            "cpu1.out.zst": self.files()["cpu1.out"]})
        self.report(path, warning="not compressed as its name suggests")
        self.assertEqual(run(CHECK, path).returncode, 2)

    def test_both(self):
        """A file beside its compressed copy."""
        files = self.files()
        files["cpu0.out.gz"] = gzip.compress(files["cpu0.out"])
        self.refused(self.directory("both", files), message="both files of CPU 0")


if __name__ == "__main__":
    sys.exit(unittest.main())
