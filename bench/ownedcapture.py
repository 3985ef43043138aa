# SPDX-License-Identifier: GPL-2.0-or-later
"""Extend a generated capture by owners and stacks, as records of version 2 with stacks
have them."""

import configparser
import os
import struct

V1_BYTES, BYTES = 56, 72
TASKS, STACKS, DEPTH = 300, 4000, 12
SIZES = struct.Struct("=QQ")
SIZES_AT = 24
# pid, cache, flags, stack, reserved; see kmemtrace_abi.h.
OWNER = struct.Struct("=IHHII")
ALLOC, TYPE_CACHE = 1, 1
TEXT = 0xffffffff81000000


def extend_file(source, target, caches):
    """Copy a cpu file with owners. caches: numbers of the caches by the sizes of their
    objects."""
    size = struct.pack("=H", BYTES)
    with open(source, "rb") as file:
        data = file.read()
    out = bytearray()
    for number, at in enumerate(range(0, len(data), V1_BYTES)):
        out += data[at:at + 2]
        out += size
        out += data[at + 4:at + V1_BYTES]
        cache = 0
        if data[at + 1] == TYPE_CACHE:
            sizes = SIZES.unpack_from(data, at + SIZES_AT) \
                if data[at] == ALLOC else None
            cache = caches.setdefault(sizes, len(caches) + 1)
        out += OWNER.pack(1 + number % TASKS, cache, 0, 1 + number % STACKS, 0)
    with open(target, "wb") as file:
        file.write(out)
    return len(out)


def write_tables(target, caches):
    """Write the tables of tasks, caches, and stacks."""
    def write(name, columns, lines):
        with open(os.path.join(target, name), "w", encoding="ascii") as file:
            file.write(f"# kmemtrace: {name}\n# columns: {columns}\n")
            file.writelines(lines)
    write("tasks", "pid until name",
          (f"{pid} - task-{pid % 50}\n" for pid in range(1, TASKS + 1)))
    # The frees have a cache without a size.
    write("caches", "number object_size size created destroyed name",
          ("{} {} {} 0 - cache_{}\n".format(n, *(sizes or (8, 8)), n)
           for sizes, n in caches.items()))
    write("stacks", "stack addresses",
          (f"{n} " + ",".join(f"{TEXT + 64 * (n // 2 ** depth):x}"
                              for depth in range(DEPTH)) + "\n"
           for n in range(1, STACKS + 1)))


def extend(source, target):
    """Copy a capture with owners and stacks into a new folder, and return its
    path."""
    meta = configparser.ConfigParser()
    meta.read(os.path.join(source, "kmemtrace.meta"))
    os.mkdir(target)
    total, caches = 0, {}
    for section in meta.sections():
        if not section.startswith("cpu"):
            continue
        size = extend_file(os.path.join(source, f"{section}.out"),
                           os.path.join(target, f"{section}.out"), caches)
        meta[section]["bytes"] = str(size)
        total += size
    meta["capture"].update(abi_version="2", record_size=str(BYTES),
                           bytes=str(total))
    write_tables(target, caches)
    with open(os.path.join(target, "kmemtrace.meta"), "w",
              encoding="ascii") as file:
        meta.write(file, space_around_delimiters=False)
    return target
