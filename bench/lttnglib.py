# SPDX-License-Identifier: GPL-2.0-or-later
"""LTTng for bench/workloads: Debian's modules, built for a kernel of vm/build."""

import fcntl
import glob
import os
import shutil
import subprocess

import guestlib
from benchlib import BenchError

PACKAGE = "lttng-modules-dkms"
PROGRAMS = ("lttng", "lttng-sessiond", "babeltrace2")
# Files that these programs open while they run, which ldd does not list.
OPENED = ("/usr/lib/*/lttng/libexec/lttng-consumerd",
          "/usr/lib/*/babeltrace2/plugins/*.so",
          "/usr/share/xml/lttng/session.xsd", "/lib/*/libgcc_s.so.1")


def find_source(parent):
    """Return the newest source of the modules in a folder, or None."""
    found = glob.glob(os.path.join(parent, "lttng-modules-*", "src", "Kbuild"))
    return os.path.dirname(os.path.dirname(max(found))) if found else None


def source():
    """Return the folder with the source of the modules, that of the installed
    package or one below the cache. Download the package if neither exists. DKMS is
    not necessary."""
    cache = os.path.join(
        os.environ.get("KMEMTRACE_CACHE") or os.path.join(
            os.environ.get("XDG_CACHE_HOME")
            or os.path.expanduser("~/.cache"), "kmemtrace"), "source")
    unpacked = os.path.join(cache, PACKAGE)
    for parent in ("/usr/src", os.path.join(unpacked, "usr/src")):
        found = find_source(parent)
        if found:
            return found
    os.makedirs(unpacked, exist_ok=True)
    try:
        subprocess.run(["apt-get", "-q", "download", PACKAGE], cwd=unpacked,
                       check=True, stdout=subprocess.DEVNULL)
        for package in glob.glob(os.path.join(unpacked, "*.deb")):
            subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
            os.unlink(package)
    except (OSError, subprocess.CalledProcessError) as e:
        raise BenchError(f"cannot download {PACKAGE}: {e}: install the package, "
                         "or exclude LTTng with --tracers") from e
    found = find_source(os.path.join(unpacked, "usr/src"))
    if not found:
        raise BenchError(f"{PACKAGE} has no source of modules")
    return found


def check_config(kernel):
    """Raise BenchError if the kernel lacks an option that the modules need."""
    with open(os.path.join(kernel, ".config"), encoding="utf-8") as f:
        options = f.read().splitlines()
    for option in ("CONFIG_KPROBES", "CONFIG_TRACEPOINTS", "CONFIG_MODULES"):
        if f"{option}=y" not in options:
            raise BenchError(f"the kernel in {kernel} lacks {option}: use the "
                             "kernel of vm/build slub ftrace lttng")


def build(kernel):
    """Build the modules for a kernel, in its folder, unless they exist; return a
    folder with lib/modules/RELEASE as modprobe expects it."""
    check_config(kernel)
    tree = source()
    base = os.path.join(kernel, os.path.basename(tree))
    with open(base + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(base, ".done")):
            shutil.rmtree(base, ignore_errors=True)
            make(kernel, tree, base)
            with open(os.path.join(base, ".done"), "w", encoding="utf-8"):
                pass
    return os.path.join(base, "root")


def make(kernel, tree, base):
    """Build the modules of a source tree in base, and install them in base/root."""
    stage = os.path.join(base, "stage")
    shutil.copytree(tree, stage)
    # Other probes may not compile: Debian's kernels have newer tracepoints of timers.
    with open(os.path.join(stage, "src/probes/Kbuild"), "a",
              encoding="utf-8") as f:
        f.write("\nobj-m := $(filter-out lttng-probe-%.o,$(obj-m)) "
                "lttng-probe-kmem.o\n")
    log = os.path.join(base, "log")
    with open(log, "w", encoding="utf-8") as f:
        result = subprocess.run(
            ["make", "-C", kernel, f"M={stage}", "CONFIG_LTTNG=m",
             f"-j{os.cpu_count()}", "modules"], stdout=f, stderr=f,
            env={k: v for k, v in os.environ.items()
                 if k not in ("MAKEFLAGS", "MFLAGS", "KBUILD_OUTPUT")},
            check=False)
    if result.returncode:
        raise BenchError(f"the modules in {tree} do not build for this kernel: "
                         f"see {log}, or exclude LTTng with --tracers")
    release = guestlib.release(kernel, suffix=True)
    folder = os.path.join(base, "root/lib/modules", release)
    os.makedirs(folder)
    for module in glob.glob(os.path.join(stage, "**", "*.ko"), recursive=True):
        shutil.copy(module, folder)
    for name in ("modules.builtin", "modules.order"):
        with open(os.path.join(folder, name), "w", encoding="utf-8"):
            pass
    guestlib.call(["/sbin/depmod", "-b", os.path.join(base, "root"), release],
                  "depmod")


def files(kernel):
    """Return the other files of the guest: {path: name in the guest}."""
    found = {}
    root = build(kernel)
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            found[path] = os.path.relpath(path, root)
    for pattern in OPENED:
        paths = glob.glob(pattern)
        if not paths:
            raise BenchError(f"{pattern} is missing: install the packages "
                             "lttng-tools and babeltrace2")
        found.update((path, path) for path in paths)
    return found
