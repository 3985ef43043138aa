# SPDX-License-Identifier: GPL-2.0-or-later
"""Run kmemtrace-top in a terminal of tmux, send keys, and read the screen.

Each terminal has a tmux server of its own. No method sleeps for a fixed time as
synchronisation: wait() polls the screen until a condition is true.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import unittest

from top_case import TOP, TopCase

# Long enough for a machine with a high load.
DEADLINE_S = 60
POLL_S = 0.05
TMUX = shutil.which("tmux")
# Column of a row on the screen, and its name in JSON.
COLUMNS = {"OBJECTS": "live_objects", "LIVE": "live_bytes",
           "WASTED": "wasted_bytes", "ALLOCS": "allocs", "FREES": "frees"}


def skip_without_tmux():
    """End the test with the status of a skipped test if tmux is missing."""
    if not TMUX:
        print("tmux is missing")
        sys.exit(77)


class Terminal:
    """A terminal that runs a shell command."""

    number = 0

    def __init__(self, directory, command, width=100, height=30, env=None):
        Terminal.number += 1
        self.socket = os.path.join(directory, f"tmux{Terminal.number}")
        config = self.socket + ".conf"
        with open(config, "w", encoding="ascii") as file:
            file.write("set -g default-terminal screen\n"
                       "set -g escape-time 0\n"
                       "set -g status off\n"
                       "set -g remain-on-exit on\n")
        variables = {key: value for key, value in os.environ.items()
                     if not key.startswith("TMUX")}
        variables.update({"LC_ALL": "C.UTF-8", "TZ": "UTC"}, **(env or {}))
        self.tmux("-f", config, "new-session", "-d", "-x", str(width), "-y",
                  str(height), command, env=variables)

    def tmux(self, *args, env=None):
        """Run tmux; return its output."""
        run = subprocess.run([TMUX, "-u", "-S", self.socket, *args], env=env,
                             stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, check=False, timeout=DEADLINE_S)
        if run.returncode:
            raise AssertionError(f"tmux {args}: {run.stderr}")
        return run.stdout

    def close(self):
        """End the server and all that it runs."""
        try:
            self.tmux("kill-server")
        except AssertionError:
            pass

    def keys(self, *keys):
        """Send keys by their names in tmux, such as Enter."""
        self.tmux("send-keys", *keys)

    def text(self, text):
        """Send characters."""
        self.tmux("send-keys", "-l", text)

    def resize(self, width, height):
        """Change the size."""
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def screen(self):
        """Return the lines of the screen, without blanks at their ends."""
        return self.tmux("capture-pane", "-p").split("\n")[:-1]

    def variable(self, name):
        """Return a variable of tmux about the terminal."""
        return self.tmux("display-message", "-p", f"#{{{name}}}").strip()

    def wait(self, condition, what):
        """Return the lines of the screen when condition(lines) is true and the
        screen has not changed for a moment, because tmux may have read only a
        part of what the program draws."""
        end = time.monotonic() + DEADLINE_S
        last = None
        while True:
            lines = self.screen()
            if lines == last and condition(lines):
                return lines
            last = lines
            if time.monotonic() > end:
                raise AssertionError(f"no {what}:\n" + "\n".join(lines[:40]))
            time.sleep(POLL_S)

    def wait_text(self, text):
        """Wait until a text is on the screen."""
        return self.wait(lambda lines: text in "\n".join(lines), repr(text))

    def wait_no_text(self, text):
        """Wait until a text is not on the screen."""
        return self.wait(lambda lines: text not in "\n".join(lines),
                         f"end of {text!r}")


@unittest.skipUnless(TMUX, "tmux is missing")
class TmuxCase(TopCase):
    """Terminals that the end of the test closes."""

    def terminal(self, command, **kwargs):
        """Open a terminal with a shell command."""
        terminal = Terminal(self.dir, command, **kwargs)
        self.addCleanup(terminal.close)
        return terminal

    def show(self, *args, width=200, height=600, env=None, before="",
             after=""):
        """Run kmemtrace-top in a terminal, and print its exit status after it.
        before and after are shell commands."""
        command = shlex.join([TOP, *args])
        return self.terminal(f"cd {shlex.quote(self.dir)}; {before} {command}; "
                             f"echo status $?.; {after} exec sleep 1000",
                             width=width, height=height, env=env)

    def show_file(self, path, *args, **kwargs):
        """Show a stream in a file, and wait until all of it is shown."""
        terminal = self.show(f"--read={path}", *args, **kwargs)
        terminal.wait_text("ENDED")
        return terminal

    def quit(self, terminal, status=0):
        """Leave the screen."""
        terminal.keys("q")
        terminal.wait_text(f"status {status}.")

    def exact(self, terminal):
        """Switch to exact numbers."""
        terminal.keys("u")
        terminal.wait(lambda lines: self.table(lines) and all(
            re.fullmatch("-?[0-9]+", row[title])
            for _, row in self.table(lines) for title in COLUMNS),
            "exact numbers")

    @staticmethod
    def table(lines):
        """Return the rows of the table as pairs of the name and a dictionary of
        the other columns."""
        titles = next(i for i, line in enumerate(lines)
                      if re.search(r"\bLIVE\b", line) and "live:" not in line)
        columns = []
        for title in lines[titles].split():
            columns.append(title)
            if title == "KIND":
                break
        rows = []
        for line in lines[titles + 1:-1]:
            cells = line.split(None, len(columns))
            if len(cells) == len(columns) + 1:
                rows.append((cells[-1], dict(zip(columns, cells))))
        return rows

    def figures(self, lines):
        """Return {(name, kind): figures} of a screen with exact numbers."""
        return {(name, row["KIND"]): {COLUMNS[title]: int(cell)
                                      for title, cell in row.items()
                                      if title in COLUMNS}
                for name, row in self.table(lines)}
