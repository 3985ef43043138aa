# SPDX-License-Identifier: GPL-2.0-or-later
"""Random captures, and random command lines of kmemtrace-report and
kmemtrace-check, for tests/tools/compare-programs.py."""

import gzip
import os
import random
import shutil
import struct
import tarfile

import mkcapture
import random_captures

DIMENSIONS = ["callsite", "function", "module", "directory", "kind", "cache",
              "size", "cpu", "node", "gfp", "pid", "comm", "context", "mark",
              "owner", "stack"]
FIELDS = ["wasted", "frag", "requested", "allocated", "allocs", "frees", "live",
          "live-objects", "live-requested", "live-wasted", "live-frag",
          "reused", "peak", "peak-time", "at-peak", "cross-cpu", "remote-node",
          "lifetime-median", "lifetime-p99", "age-median", "churn"]
SORT_KEYS = FIELDS + ["bytes", "hit", "pingpong", "callsite", "ptr", "+allocs",
                      "-live", "+callsite"]
MARKS = """# kmemtrace: marks
# columns: number appeared went module types name format
# unnumbered: 0
1 0 - - Qs begin number %llu of %s
2 0 500000 module i phase phase %d
"""
# Options of kmemtrace-report and how likely each is; the first list is for text
# and JSON, the second for all forms.
TEXT_OPTIONS = (
    ("--leaks", 0.3), ("--cross-cpu", 0.2), ("--windows=4", 0.1),
    ("--windows=50", 0.1), ("--windows=1000", 0.1),
    ("--histogram=lifetime", 0.15), ("--histogram=size", 0.15),
    ("--marks", 0.2), ("--before-trace", 0.2))
OPTIONS = (
    ("--live", 0.2), ("--stacks", 0.2), ("--slab", 0.1), ("--page", 0.1),
    ("--raw-ip", 0.1), ("--quiet", 0.3), ("--time=0,0.001", 0.05),
    ("--time=0.000001,", 0.05), ("--time=peak", 0.1), ("--time=phase:-5,", 0.03),
    ("--time=@0,@1", 0.03), ("--lifetime=1us-", 0.1), ("--kind=slab", 0.1),
    ("--kind=percpu,vmalloc", 0.05), ("--cpu=0-1", 0.1), ("--node=0", 0.05),
    ("--size=64-4k", 0.1), ("--callsite=fn*", 0.1), ("--module=mod*", 0.05),
    ("--skip=fn1*,mod*", 0.1), ("--churn=10us", 0.1), ("--layout=B", 0.03),
    ("--clock-tolerance=0", 0.5))
# Invalid command lines, for which message and exit status are compared.
WRONG = ("--by=nothing", "--by=kind,kind", "--fields=nothing", "--fields=",
         "--sort=nothing", "--lines=-1", "--lines=x", "--time=5,1", "--time=x",
         "--time=no such mark,", "--windows=0", "--windows=x",
         "--histogram=nothing", "--churn=x", "--kind=nothing", "--cpu=5-1",
         "--cpu=x", "--node=x", "--size=9-1", "--size=x-", "--lifetime=x",
         "--layout=E", "--layout=A", "--layout=C", "--layout=D", "--jobs=0",
         "--jobs=x", "--clock-tolerance=x", "--clock-tolerance=-1",
         "--kallsyms=/nonexistent", "--system-map=/nonexistent",
         "--vmlinux=/nonexistent", "--debug-dir=/nonexistent",
         "--source=/nonexistent", "--nothing", "--json --csv", "--csv --leaks",
         "--folded --marks", "--max-print=x", "--max-print=-1", "/nonexistent",
         "/dev/null", "-")


class Maker(random_captures.Maker):
    """A random capture of version 1, 2 or 3, with all tables, and records of
    losses, marks and stops."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = self.rng
        self.version = 1 if self.size == 56 else rng.choice([1, 2, 2, 2])
        self.version = max(self.version, self.abi)
        self.has_meta |= self.version == 2
        self.sample = rng.choice([1] * 6 + [7, 1 << 40])
        self.stacks = rng.randrange(1, 40)
        self.special = rng.random() < 0.5
        self.meta_lines = rng.sample([
            "filter=pid=7", "filter_changed=true", "events_off=page_alloc",
            "incomplete=only CPU 1 was recorded;a filter was set",
            "not_seen=frees in batches", "source=ftrace", "source=import",
            "source=relay", "continues=true", "losses=unnumbered",
            "losses=not_reported", "kernel_release=6.1.0-test",
            "machine=x86_64", "start_time=2024-01-01T00:00:00Z"],
            rng.choice([0, 0, 1, 4]))

    def order(self):
        """Return the name that mkcapture uses for the byte order."""
        return "big" if self.big else "little"

    def owner(self):
        """Return the additional fields of a version 2 record."""
        rng = self.rng
        word = (">" if self.big else "<")
        more = struct.pack(word + "IHH", rng.randrange(12), rng.randrange(9),
                           rng.choice([0, 0, 1, 2, 3, 4, 8]))
        if self.size >= 72:
            more += struct.pack(word + "II", rng.randrange(self.stacks + 2), 0)
        return more

    def special_records(self, time):
        """Return some records that are not events."""
        rng = self.rng
        fields = {"order": self.order(), "event_size": self.size}
        kind = rng.randrange(4)
        if kind == 0:
            records = [mkcapture.lost(time, rng.choice([0, 1, 90]),
                                      max(time - rng.randrange(10 ** 4), 0),
                                      **fields)]
        elif kind == 1:
            values = [rng.getrandbits(64), rng.choice(
                ["a word", ("cut",), "of more than forty characters: " * 3])]
            records = mkcapture.mark(time, 1, values, pid=rng.randrange(12),
                                     drop=rng.choice([0, 0, 0, 1]), **fields)
        elif kind == 2:
            records = mkcapture.mark(time, rng.choice([2, 2, 3]), [-5],
                                     **fields)
        else:
            records = [struct.pack(
                (">" if self.big else "<") + "BBHiQ32sqII", 6, 0, self.size,
                -1, rng.choice(self.site_list), b"live above 1000", time,
                rng.randrange(12), 0)]
        return b"".join(r + bytes(self.size - len(r)) for r in records)

    def tables(self):
        """Yield name and text of each table."""
        rng = self.rng
        yield "caches", "# kmemtrace: caches\n" + "".join(
            f"{n} {64 * n} {64 * n} 0 - cache\\040{n}\n" for n in range(1, 8))
        yield "tasks", "# kmemtrace: tasks\n" + "".join(
            f"{rng.randrange(11)} {rng.choice(['-', rng.randrange(10 ** 9)])} "
            f"task{rng.randrange(6)}\n" for _ in range(30))
        lines = []
        for n in range(1, self.stacks + 1):
            depth = rng.choice([1, 2, 5, 30])
            lines.append(f"{n} " + ",".join(
                f"{rng.choice(self.site_list):x}" for _ in range(depth)))
        yield "stacks", "# kmemtrace: stacks\n" + "\n".join(lines) + "\n"
        if self.special:
            yield "marks", MARKS

    def write_meta(self, directory):
        """Change kmemtrace.meta to the capture's version."""
        path = os.path.join(directory, "kmemtrace.meta")
        with open(path, encoding="ascii") as f:
            meta = f.read()
        meta = meta.replace(f"abi_version={self.abi}", "\n".join([
            f"abi_version={self.version}", f"sample={self.sample}",
            *self.meta_lines]))
        with open(path, "w", encoding="ascii") as f:
            f.write(meta)

    def write(self, directory):
        super().write(directory)
        if self.has_meta:
            self.write_meta(directory)
        if self.version < 2:
            return
        for cpu, records in self.cpus.items():
            with open(f"{directory}/cpu{cpu}.out", "wb") as f:
                for record in records:
                    f.write(random_captures.pack(record, self.big) + self.owner())
                    if self.special and self.rng.random() < 0.02:
                        f.write(self.special_records(record["timestamp"]))
        for name, text in self.tables():
            with open(f"{directory}/{name}", "w", encoding="ascii") as f:
                f.write(text)


class OldMaker:
    """A random capture of layout A, C or D, which older programs wrote."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def write(self, directory):
        """Write the files of the capture."""
        rng = self.rng
        layout = rng.choice("ACD")
        order, word = rng.choice(["little", "big"]), rng.choice([4, 8])
        mask = (1 << 8 * word) - 1 if layout == "D" else (1 << 64) - 1
        time = 1000
        for cpu in range(rng.choice([1, 2, 4])):
            data, live = b"", []
            for sequence in range(rng.choice([20, 200])):
                time += rng.randrange(10 ** 4)
                fields = {"t": time, "order": order, "event_id": 1,
                          "type_id": rng.randrange(3),
                          "site": 0xffffffff81000000 + rng.randrange(9) & mask,
                          "ptr": 0xffff888000000000 + 64 * rng.randrange(99)
                          & mask}
                if live and rng.random() < 0.4:
                    fields.update(live.pop(), event_id=2)
                else:
                    live.append({"ptr": fields["ptr"],
                                 "type_id": fields["type_id"]})
                data += mkcapture.older(layout, fields, cpu, sequence, word)
            with open(f"{directory}/cpu{cpu}.out", "wb") as f:
                f.write(data)


def damage(rng, path):
    """Damage some files of a capture: bytes, lengths, lines, and files that are
    missing or of the wrong type."""
    for name in sorted(os.listdir(path)):
        full = os.path.join(path, name)
        if rng.random() < 0.7 or not os.path.isfile(full):
            continue
        with open(full, "rb") as f:
            data = bytearray(f.read())
        if data:
            for _ in range(rng.choice([1, 3, 20])):
                data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data) + 1):]
        if rng.random() < 0.1:
            lines = bytes(data).split(b"\n")
            rng.shuffle(lines)
            data = b"\n".join(lines)
        with open(full, "wb") as f:
            f.write(data)
        what = rng.random()
        if what < 0.1:
            os.unlink(full)
        elif what < 0.13:
            os.unlink(full)
            os.mkdir(full)


def random_capture(seed, path):
    """Write the capture of a seed; a third of all seeds is damaged."""
    os.mkdir(path)
    if seed % 10 == 9:
        maker = OldMaker(seed)
    else:
        maker = Maker(seed)
        maker.pace = maker.rng.choice([100, 10 ** 4])
        for _ in range(maker.rng.choice([30, 300, 1500])):
            maker.step()
    maker.write(path)
    if seed % 3 == 0:
        damage(maker.rng, path)


def some(rng, words, most=4):
    """Return some of the words, separated by commas."""
    return ",".join(rng.sample(words, rng.randrange(1, most + 1)))


def likely(rng, choices):
    """Choose each option with its probability."""
    return [choice for choice, probability in choices
            if rng.random() < probability]


def report_options(rng):
    """A random command line of kmemtrace-report."""
    form = rng.choice(["", "", "--json", "--json", "--csv", "--folded"])
    line = [form] if form else []
    if rng.random() < 0.6:
        line += ["--by", some(rng, DIMENSIONS, 3)]
    if rng.random() < 0.4:
        line += ["--fields", some(rng, FIELDS, 6)]
    if rng.random() < 0.4:
        line += ["--sort", some(rng, SORT_KEYS)]
    if rng.random() < 0.4:
        line += ["--lines", rng.choice(["0", "1", "3", "50"])]
    if form in ("", "--json"):
        line += likely(rng, TEXT_OPTIONS)
    line += likely(rng, OPTIONS)
    if rng.random() < 0.04:
        line += rng.choice(WRONG).split(" ")
    return line + ["--jobs", rng.choice(["1", "2", "2", "5"])]


def check_options(rng):
    """A random command line of kmemtrace-check."""
    line = [] if rng.random() < 0.4 else ["--json"]
    if rng.random() < 0.5:
        line += ["--clock-tolerance", rng.choice(["0", "100", "1000000"])]
    if rng.random() < 0.3:
        line += ["-n", rng.choice(["0", "1", "100"])]
    if rng.random() < 0.1:
        line += ["--quiet"]
    if rng.random() < 0.1:
        line += ["--layout", rng.choice("ABCD")]
    if rng.random() < 0.04:
        line += rng.choice(WRONG).split(" ")
    return line


def members(path):
    """The names of the files of a capture."""
    return sorted(name for name in os.listdir(path)
                  if os.path.isfile(os.path.join(path, name)))


def pack(path, compress):
    """Write path.tar or path.tar.gz, without times."""
    name = path + (".tar.gz" if compress else ".tar")
    with tarfile.open(name, "w:gz" if compress else "w",
                      format=tarfile.USTAR_FORMAT) as tar:
        tar.add(path, os.path.basename(path))
    return name


def operands(rng, path):
    """One way to name a capture on a command line: a directory, a tar, or its
    files, plain or compressed.  Returns the words, and what is to be the
    standard input, or None."""
    what = rng.randrange(8)
    cpus = [os.path.join(path, name) for name in members(path)
            if name.startswith("cpu")]
    if what == 0:
        return [pack(path, rng.random() < 0.5)], None
    if what == 1:
        return ["-"], pack(path, rng.random() < 0.5)
    if what == 2 and cpus:
        return cpus, None
    if what == 3 and cpus:
        return [rng.choice(cpus)], None
    if what == 4 and cpus:
        with open(cpus[0], "rb") as f, gzip.open(cpus[0] + ".gz", "wb") as g:
            shutil.copyfileobj(f, g)
        return [cpus[0] + ".gz", *cpus[1:]], None
    return [path], None
