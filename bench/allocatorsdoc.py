# SPDX-License-Identifier: GPL-2.0-or-later
"""Write docs/allocators.md from the figures of bench/allocators."""

UNKNOWN = "-"
MB = 1e6
# Operations of the module vm/mixture with their column.
OPERATIONS = (("pair", "pair"), ("alloc-few", "allocate, 32"),
              ("free-few", "free, 32"), ("alloc-many", "allocate, 1024"),
              ("free-many", "free, 1024"), ("free-other-cpu", "free, other CPU"),
              ("bulk-alloc", "allocate, bulk"), ("bulk-free", "free, bulk"))
KINDS = (("kmalloc", "`kmalloc()` of 100 bytes"),
         ("cache", "Objects of 200 bytes of a `kmem_cache`"))


def table(head, lines):
    """Return a table of Markdown."""
    rows = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    rows += ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(rows) + "\n\n"


def megabytes(size):
    """Format bytes as MB."""
    return f"{size / MB:.2f}"


def percent(part, whole):
    """Format a share."""
    return f"{100 * part / whole:.1f} %" if whole else UNKNOWN


# --- Figures that the tables and the conclusions share ------------------------------

def growth(found, moment, key):
    """Return how much a figure grew since the mark begin."""
    return found["moments"][moment][key] - found["moments"]["begin"][key]


def unused(found, moment):
    """Return the growth of the bytes in slabs that no live object has."""
    return growth(found, moment, "slab_bytes") - growth(found, moment, "used_bytes")


def waste_share(found):
    """Return the wasted share of the bytes that the module allocated."""
    return found["module"]["bytes_wasted"] / found["module"]["bytes_allocated"]


def kept_share(found):
    """Return the share of the slab memory of the moment full that is held at the end."""
    return growth(found, "end", "slab_bytes") / growth(found, "full", "slab_bytes")


def bytes_per_byte(found, moment):
    """Return the slab bytes for each requested byte that is live."""
    return growth(found, moment, "slab_bytes") / growth(found, moment,
                                                        "live_bytes_requested")


def cost(found, operation, kind="kmalloc"):
    """Return the instructions of a call, None if they were not measured."""
    return found.get("instructions", {}).get(operation, {}).get(kind)


# --- Tables -------------------------------------------------------------------------

def kernels(figures):
    """Return the table of kernels."""
    return table(("name", "release", "allocator", "sheaves"),
                 [(name, f["release"].partition("-")[0], f["allocator"],
                   "yes" if f["has_sheaves"] else "no")
                  for name, f in figures.items()])


def work(figures):
    """Return the table of the time from begin to end."""
    lines = []
    for name, found in figures.items():
        w, module = found["work"], found["module"]
        lines.append((name, str(w["allocs"]), megabytes(w["bytes_requested"]),
                      megabytes(w["bytes_allocated"]), megabytes(w["bytes_wasted"]),
                      percent(w["bytes_wasted"], w["bytes_allocated"]),
                      str(w["frees"]),
                      f"{w['cross_cpu_frees']} ({percent(w['cross_cpu_frees'], w['frees'])})",
                      str(module["allocs"]), str(module["cross_cpu_frees"])))
    return table(("kernel", "allocations", "requested, MB", "allocated, MB", "waste, MB",
                  "waste", "frees", "frees on another CPU", "allocations of the module",
                  "its frees on another CPU"), lines)


def memory(figures, moment):
    """Return the table of the memory at a moment."""
    lines = []
    for name, found in figures.items():
        held = growth(found, moment, "slab_bytes")
        lines.append((name, str(growth(found, moment, "live_objects")),
                      megabytes(growth(found, moment, "live_bytes_requested")),
                      megabytes(growth(found, moment, "live_bytes_allocated")),
                      str(held // 4096), megabytes(held),
                      f"{megabytes(unused(found, moment))} "
                      f"({percent(unused(found, moment), held)})",
                      str(growth(found, moment, "full_slabs")),
                      str(growth(found, moment, "partial_slabs")),
                      str(growth(found, moment, "empty_slabs")),
                      f"{bytes_per_byte(found, moment):.2f}"))
    return table(("kernel", "live objects", "requested, MB", "allocated, MB",
                  "slab pages held", "held, MB", "unused in slabs, MB", "full slabs",
                  "partial slabs", "empty slabs", "held / requested"), lines)


def instructions(figures, kind):
    """Return the table of instructions for a kind of object."""
    lines = []
    for name, found in figures.items():
        values = [cost(found, operation, kind) for operation, _ in OPERATIONS]
        lines.append([name] + [UNKNOWN if v is None else f"{v:.0f}" for v in values])
    return table(["kernel"] + [title for _, title in OPERATIONS], lines)


# --- Conclusions --------------------------------------------------------------------

def other_cpu_ratio(found):
    """Return the cost of a free on another CPU relative to a free on the same CPU."""
    other, same = cost(found, "free-other-cpu"), cost(found, "free-many")
    return None if other is None or not same else other / same


def pair_of_many(found):
    """Return the instructions to allocate and free one of 1024 objects of a cache."""
    values = [cost(found, name, "cache") for name in ("alloc-many", "free-many")]
    return None if None in values else sum(values)


def bulk_ratio(found):
    """Return the cost of bulk operations relative to single calls."""
    values = [cost(found, name, "cache") for name in ("bulk-alloc", "bulk-free")]
    single = pair_of_many(found)
    return None if None in values or not single else sum(values) / single


def share(value):
    """Format a share for a sentence."""
    return f"{100 * value:.1f} %"


def times(value):
    """Format a quotient for a sentence."""
    return f"{value:.2f}"


def number(value):
    """Format a number of instructions for a sentence."""
    return f"{value:.0f}"


# Title, a property of an allocator, its format, what the property is, and an explanation
# that does not depend on the order of the allocators.
CONCLUSIONS = (
    ("Waste inside objects", waste_share, share,
     "Share of the bytes that the module's objects get",
     "SLOB has no size classes. SLAB has no class below 32 bytes, and gives 128 bytes to"
     " objects of the class of 96."),
    ("All objects are live", lambda f: bytes_per_byte(f, "full"), times,
     "Bytes of slabs for each requested byte",
     "SLOB wastes little inside objects, but leaves more of its pages unused."),
    ("Three of four objects are free", kept_share, share,
     "Share of the slab memory that is still held",
     "No allocator moves objects. A slab becomes empty more often if it has fewer"
     " objects: most slabs of SLAB have one page, those of SLUB up to eight."),
    ("Instructions of single calls", pair_of_many, number,
     "Instructions to allocate and to free one of 1024 objects of a cache",
     "Sheaves replace most changes of a slab by changes of an array."),
    ("Free on another CPU", other_cpu_ratio, times,
     "Instructions of `kfree()`, relative to those on the allocating CPU",
     "The instructions do not show that another CPU's cache has the object."),
    ("Bulk operations", bulk_ratio, times,
     "Instructions, relative to those of single calls for the same objects", ""),
)


def conclusions(figures):
    """Return the list of conclusions. Each list of kernels is in the order of its
    figures."""
    lines = []
    for title, value, form, what, why in CONCLUSIONS:
        found = sorted((value(f), name) for name, f in figures.items()
                       if value(f) is not None)
        if found:
            values = ", ".join(f"{name} {form(v)}" for v, name in found)
            lines.append(f"- **{title}.** {what}: {values}. {why}".rstrip())
    return "\n".join(lines) + "\n\n"


# --- The document -------------------------------------------------------------------

def document(figures):
    """Return the document."""
    parts = [INTRODUCTION, "## Conclusions\n\n", conclusions(figures),
             "## Kernels\n\n", KERNELS, kernels(figures),
             "## Work\n\n", WORK, work(figures),
             "## Memory\n\n", MEMORY,
             "### Mark `full`: all objects live\n\n", memory(figures, "full"),
             "### Mark `end`: three of four objects free\n\n", memory(figures, "end"),
             "## Instructions\n\n", INSTRUCTIONS]
    for kind, title in KINDS:
        parts += [f"### {title}\n\n", instructions(figures, kind)]
    return "".join(parts + [CHECKS])


INTRODUCTION = """\
<!-- SPDX-License-Identifier: GPL-2.0-or-later -->
# Slab allocators

`bench/allocators --output docs/allocators.md` runs the same work on each slab allocator and
writes this document. `bench/allocators --help` lists the options; the command needs QEMU and
takes some minutes if the kernels are built.

"""

KERNELS = """\
Linux 6.1 is the last kernel with long-term support that has all three allocators: SLOB was removed
in Linux 6.4, and SLAB in Linux 6.8. All kernels have the options of `vm/config/`, two CPUs, one NUMA
node, and neither hardening nor memory cgroups. *Sheaves*: arrays of free objects for each CPU, which
SLUB has for all caches in the newest kernel; `/sys/kernel/slab/kmalloc-64/sheaf_capacity` is not 0.

"""

WORK = """\
The module `vm/mixture` makes pseudo-random calls with a constant seed. Four workers, two on each
CPU at different times, fill 8192 slots each with objects of 8 to 3000 bytes and with objects of
a cache, and replace 32768 objects. Then CPU 0 puts 50000 objects into a queue, and CPU 1 takes
them out and frees them; `bench/load` makes system calls on files, sockets, pipes, and processes.
At the mark `full` all objects of the workers are live. Finally, the workers free three of four
objects, half of the workers on the CPU that did not allocate.

The figures are of all `kmalloc()` and cache objects of the kernel from the mark `begin` to the
mark `end`. *Requested* and *allocated*: bytes by the records; *waste*: their difference, and its
share of the allocated bytes. The calls of the module are the same in each kernel; the rest
depends on the kernel's code.

"""

MEMORY = """\
All figures are the growth since the mark `begin`, because the kernels differ in what they
allocate at boot. *Requested* and *allocated*: bytes of the live objects. *Held*: pages of slabs by
the records of the page allocator. *Unused in slabs*: bytes of held pages that belong to no live
object, and their share. A slab is *full* if no other object fits, *empty* if it has no live object,
and otherwise *partial*. An object in a per-CPU list of free objects is not live. A slab of SLOB is
a page with objects of many sizes, which is partial if any byte is free. The pages of an object of
4 kB or more count as a slab of SLOB. SLAB and SLUB allocate pages without a slab for objects above
8 kB, which are not counted here.

"""

INSTRUCTIONS = """\
Mean instructions of the kernel for one call, counted by the plugin `bench/profile.c` of QEMU in 20
rounds after a first one, without the loop of the caller, and while tracing is off (which takes
about two instructions of a call). Interrupts are disabled, except for bulk operations, which the
kernel allows only with interrupts enabled.

| column | calls |
| --- | --- |
| pair | allocate an object and free it at once |
| allocate, 32; free, 32 | allocate 32 objects; free them in another order, on the same CPU |
| allocate, 1024; free, 1024 | the same for 1024 objects, which is more than per-CPU lists hold, so that the allocator takes and returns slabs |
| free, other CPU | free 1024 objects on CPU 1 that CPU 0 allocated |
| allocate, bulk; free, bulk | `kmem_cache_alloc_bulk()` and `kmem_cache_free_bulk()` of 64 objects, for each object; `kmalloc()` has no such functions |

"""

CHECKS = """\
## Reliability

- `tests/vm/allocators.py` compares figures that have two sources, and the command fails if they
  differ: the allocations, frees, bytes, live bytes, and frees on another CPU of the module against
  its own counts; for SLUB, the allocated bytes of `kmalloc()` against `ksize()`, which leaves out
  alignment with SLAB and the bytes before an object with SLOB; for SLAB and SLUB, the pages of slabs
  against `/proc/slabinfo`, which SLOB lacks; for all allocators, the growth of these pages and of
  large objects against `Slab` in `/proc/meminfo`. No event was lost.
- Two runs of the command differed by up to 1.5 % in the slab memory, because two CPUs compete for
  slabs, and the scheduler moves the processes of `bench/load`. They differed by up to 5.3 % in the
  instructions of a call (SLOB: 8.2 %), because the allocator's lists differ after the boot. Smaller
  differences between two allocators have no meaning.
- QEMU emulates the processor: the count of instructions is exact, but it is not time. An atomic
  operation counts as one instruction, and a cache miss does not count. Contention does not appear,
  because the emulated CPUs take turns.
- Two CPUs and one node are few: per-CPU lists need more memory on a machine with more CPUs, and
  SLAB has separate lists for the objects of other nodes.
"""
