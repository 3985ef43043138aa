# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a program on a pseudo terminal, which is its controlling terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

# The programs of a heavily loaded machine may take long.
DEADLINE_S = 300
ESCAPES = re.compile(r"\033(\[[0-9;?]*[A-Za-z]|\(B)")


class Session:
    """A program on a terminal of its own.

    stdin, stdout and stderr are the terminal, except those in files: a
    dictionary from descriptor to an open file. size is that of the terminal,
    in lines and columns. Each name in env sets an environment variable, and
    None removes it.
    """

    def __init__(self, argv, files=None, cwd=None, size=(24, 80), **env):
        env = {"TERM": "xterm", "KMEMTRACE_PAGER": None, "PAGER": None,
               "LESS": None, "NO_COLOR": None, **env}
        for name, value in os.environ.items():
            env.setdefault(name, value)
        env = {name: value for name, value in env.items() if value is not None}
        self.output = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                # A test run in the background ignores SIGINT, and children
                # inherit that.
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                fcntl.ioctl(0, termios.TIOCSWINSZ,
                            struct.pack("HHHH", *size, 0, 0))
                for descriptor, file in (files or {}).items():
                    os.dup2(file.fileno(), descriptor)
                if cwd:
                    os.chdir(cwd)
                os.execve(argv[0], argv, env)
            finally:
                os._exit(99)

    def _read(self, deadline):
        """Append the next output. Return False at the end."""
        if not select.select([self.fd], [], [], deadline - time.monotonic())[0]:
            os.kill(self.pid, signal.SIGKILL)
            raise TimeoutError(f"no output, after {self.output!r}")
        try:
            chunk = os.read(self.fd, 65536)
        except OSError:
            return False
        self.output += chunk
        return bool(chunk)

    def text(self):
        """Return all output up to now."""
        return self.output.decode(errors="replace").replace("\r\n", "\n")

    def wait_for(self, text, start=0):
        """Read until the output from an offset on has the text, where escape
        sequences do not count."""
        deadline = time.monotonic() + DEADLINE_S
        while text not in ESCAPES.sub("", self.text()[start:]):
            if not self._read(deadline):
                raise EOFError(f"no {text!r} in {self.output!r}")

    def send(self, keys):
        """Type keys."""
        os.write(self.fd, keys.encode())

    def end(self):
        """Read to the end. Return the exit status (of a signal: negative)."""
        deadline = time.monotonic() + DEADLINE_S
        while self._read(deadline):
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status


def run(argv, **kwargs):
    """Run a program on a terminal. Return its exit status and output."""
    session = Session(argv, **kwargs)
    status = session.end()
    return status, session.text()
