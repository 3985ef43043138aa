#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Complete command lines in bash, zsh, and fish, each on a terminal.

    completion-shells.py COMPLETIONS

COMPLETIONS is the folder with the generated files. In place of the programs, the
shells have functions that print their arguments, so a test types a command with the
Tab key and reads what the shell made of it.
"""

import os
import shutil
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import terminal  # noqa: E402  (found by the line above)

PROGRAMS = ("kmemtrace-boot", "kmemtrace-check", "kmemtrace-gate",
            "kmemtrace-import", "kmemtrace-report", "kmemtrace-top",
            "kmemtraced")
BEGIN, END, READY = "ARGS<", ">ARGS", "READY>"

BASH = """
PS1='> '
bind 'set show-all-if-ambiguous on'
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind 'set enable-bracketed-paste off'
for program in {programs}; do
    eval "$program() {{ printf 'ARGS<%s>ARGS\\n' \\"\\$*\\"; }}"
    . {completions}/bash/$program
done
echo READY'>'
"""
ZSH = """
PS1='> '
unset zle_bracketed_paste
fpath=({completions}/zsh $fpath)
autoload -Uz compinit
compinit -u -D
for program in {programs}; do
    eval "$program() {{ printf 'ARGS<%s>ARGS\\n' \\"\\$*\\" }}"
done
echo READY'>'
"""
FISH = """
function fish_prompt; echo -n '> '; end
for program in {programs}
    function $program; printf 'ARGS<%s>ARGS\\n' "$argv"; end
    source {completions}/fish/$program.fish
end
echo READY'>'
"""

# What is typed before Tab, and the arguments that result.
CASES = (
    ("kmemtrace-report --raw", "--raw-ip"),
    ("kmemtrace-report --no-p", "--no-pager"),
    ("kmemtrace-report --by call", "--by callsite"),
    ("kmemtrace-report --by=call", "--by=callsite"),
    ("kmemtrace-report --by=callsite,func", "--by=callsite,function"),
    ("kmemtrace-report --by callsite,cpu,dir", "--by callsite,cpu,directory"),
    ("kmemtrace-report --fields wasted,remo", "--fields wasted,remote-node"),
    ("kmemtrace-report -s ping", "-s pingpong"),
    ("kmemtrace-report --sort=frag,-wast", "--sort=frag,-wasted"),
    ("kmemtrace-report --sort=+ping", "--sort=+pingpong"),
    ("kmemtrace-report --kind pages,perc", "--kind pages,percpu"),
    ("kmemtrace-report --histogram li", "--histogram lifetime"),
    ("kmemtrace-report --color=nev", "--color=never"),
    ("kmemtrace-report --kallsyms some-f", "--kallsyms some-file"),
    ("kmemtrace-report -k some-f", "-k some-file"),
    ("kmemtrace-report --kallsyms=some-f", "--kallsyms=some-file"),
    ("kmemtrace-report --debug-dir some-", "--debug-dir some-directory"),
    ("kmemtrace-report --live some-d", "--live some-directory"),
    ("kmemtrace-check some-f", "some-file"),
    ("kmemtrace-check --max-p", "--max-print"),
    ("kmemtrace-import --forc", "--force"),
    ("kmemtrace-import some-f", "some-file"),
    ("kmemtraced -s rel", "-s relay"),
    ("kmemtraced --source=ftr", "--source=ftrace"),
    ("kmemtraced --directory some-", "--directory some-directory"),
    ("kmemtraced -c -- command-of-te", "-c -- command-of-test"),
    ("kmemtrace-boot en", "enable"),
    ("kmemtrace-boot enable -s bp", "enable -s bpf"),
)
# What is typed before Tab, and words of the list that appears.
LISTS = (
    ("kmemtrace-report --by=c", ("callsite", "cache", "cpu", "comm", "cgroup")),
    ("kmemtrace-report --fields wasted,live-", ("live-objects", "live-frag")),
    ("kmemtrace-report --cl", ("clock-tolerance",)),
    ("kmemtraced --s", ("source", "stacks", "seconds", "snapshot")),
    ("kmemtrace-boot ", ("enable", "disable", "status", "save")),
)


class Shells(unittest.TestCase):
    """Each shell completes the same."""

    completions = ""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name
        work = os.path.join(self.dir, "work")
        os.makedirs(os.path.join(work, "some-directory"))
        os.mkdir(os.path.join(self.dir, "bin"))
        self.write("work/some-file", "")
        command = self.write("bin/command-of-test", "#!/bin/sh\n")
        os.chmod(command, stat.S_IRWXU)

    def write(self, name, text):
        """Write a file; return its path."""
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def start(self, shell, script, name, *args):
        """Start a shell that reads the script from a file of this name."""
        path = shutil.which(shell)
        self.assertTrue(path, f"{shell} is missing: scripts/install-deps shells")
        self.write(name, script.format(programs=" ".join(PROGRAMS),
                                       completions=self.completions))
        session = terminal.Session(
            [path, *args], cwd=os.path.join(self.dir, "work"), size=(50, 200),
            HOME=self.dir, ZDOTDIR=self.dir, XDG_CONFIG_HOME=self.dir,
            XDG_DATA_HOME=self.dir, XDG_CACHE_HOME=self.dir, LC_ALL="C.UTF-8",
            PATH=os.path.join(self.dir, "bin") + os.pathsep +
            os.environ["PATH"])
        session.wait_for(READY)
        return session

    def complete(self, session):
        """Type all cases."""
        for typed, want in CASES:
            start = len(session.text())
            session.send(typed + "\t")
            session.send("\r")
            session.wait_for(END, start)
            got = session.text()[start:].rsplit(BEGIN, 1)[1].split(END)[0]
            with self.subTest(typed):
                # zsh removes the slash of a directory, the others do not.
                self.assertEqual(got.rstrip("/="), want)
        for typed, words in LISTS:
            start = len(session.text())
            session.send(typed + "\t")
            for word in words:
                session.wait_for(word, start)
            # End the list and the command.
            session.send("\x03\x03\r")
        start = len(session.text())
        session.send("kmemtrace-check the-end\r")
        session.wait_for(BEGIN + "the-end" + END, start)
        session.send("exit\r")
        session.end()

    def test_bash(self):
        self.complete(self.start(
            "bash", BASH, "bashrc", "--noprofile", "--rcfile",
            os.path.join(self.dir, "bashrc"), "-i"))

    def test_zsh(self):
        self.complete(self.start("zsh", ZSH, ".zshrc", "-i"))

    def test_fish(self):
        os.mkdir(os.path.join(self.dir, "fish"))
        self.complete(self.start("fish", FISH, "fish/config.fish", "-i"))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    Shells.completions = os.path.abspath(sys.argv.pop(1))
    unittest.main()
