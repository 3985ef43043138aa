# SPDX-License-Identifier: GPL-2.0-or-later
"""A private copy of the source tree, its build folder, and runs of its tests.

Every test runs inside bubblewrap as an ordinary user who sees no other process
and can write to nothing but the workspace: a mutated program may signal any
process and remove any file that it can reach.
"""
import hashlib
import shutil
import subprocess
import time

BUILD_SECONDS = 900
ADDRESS_SPACE_KB = 16 << 20


class WorkspaceError(Exception):
    pass


def run(command, **options):
    """Run a command and return its output; raise WorkspaceError if it fails."""
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        raise WorkspaceError(f"{' '.join(map(str, command))} failed in "
                             f"{options.get('cwd', '.')}:\n{text[-2000:]}")
    return text


def tracked_files(source):
    listed = run(["git", "-c", f"safe.directory={source}", "-C", str(source), "ls-files"])
    return [name for name in listed.splitlines() if (source / name).is_file()]


class Workspace:
    def __init__(self, folder, source, cflags):
        """Copy the tracked files of source below folder, configure and build them."""
        self.source = folder / "source"
        self.build = folder / "build"
        self.tmp = folder / "tmp"
        shutil.rmtree(folder, ignore_errors=True)
        for made in (self.source, self.build, self.tmp):
            made.mkdir(parents=True)
        for name in tracked_files(source):
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, self.source / name)
        run(["./autogen.sh"], cwd=self.source)
        # ccache makes it cheap to build the unchanged file again.
        compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
        run(["../source/configure", "-q", f"CC={compiler}", f"CFLAGS={cflags}"],
            cwd=self.build)
        self.make()
        self.objects = self.hash_objects(0)

    def make(self):
        """Build every program, those of the tests too, without running a test."""
        run(["make", "-s", "check", "TESTS="], cwd=self.build, timeout=BUILD_SECONDS)

    def hash_objects(self, since):
        """Map each object file written at or after the time since to its hash."""
        return {path: hashlib.sha256(path.read_bytes()).digest()
                for path in self.build.rglob("*.o") if path.stat().st_mtime >= since}

    def tests(self):
        rule = b"print-tests:\n\t@echo $(TESTS)\n"
        return subprocess.run(
            ["make", "-s", "-f", "Makefile", "-f", "-", "print-tests"], cwd=self.build,
            input=rule, stdout=subprocess.PIPE, check=True).stdout.decode().split()

    def write(self, name, text):
        (self.source / name).write_text(text)

    def sandbox(self):
        top = str(self.source.parent)
        return ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
                "--tmpfs", "/tmp", "--bind", top, top, "--unshare-all",
                "--uid", "1000", "--gid", "1000", "--die-with-parent",
                "--setenv", "TMPDIR", str(self.tmp), "--chdir", str(self.build)]

    def run_test(self, test, seconds):
        """Run one test of a workspace that is built; return (passed, seconds)."""
        command = self.sandbox() + [
            "sh", "-c", f'ulimit -v {ADDRESS_SPACE_KB}; exec make -s check-TESTS TESTS="$1"',
            "sh", test]
        begin = time.monotonic()
        try:
            passed = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, timeout=seconds).returncode == 0
        except subprocess.TimeoutExpired:
            passed = False
        shutil.rmtree(self.tmp, ignore_errors=True)
        self.tmp.mkdir()
        return passed, time.monotonic() - begin
