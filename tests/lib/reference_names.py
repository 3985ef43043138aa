# SPDX-License-Identifier: GPL-2.0-or-later
"""The names of addresses, looked up in kallsyms and modules, and the names and cgroups
of tasks, in a simple way.

The programs share no code with this module.
"""

import bisect
import re


class TaskNames:
    """The table tasks or cgroups of a capture: text, and the value of pid 0."""

    def __init__(self, text, idle):
        self.idle = idle
        self.names = {}  # pid -> [(until, name)], sorted by until
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            pid, until, name = line.split(" ", 2)
            until = float("inf") if until == "-" else int(until)
            name = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), name)
            # The programs print a control character as a question mark.
            name = re.sub(r"[\0-\x1f\x7f]", "?", name)
            self.names.setdefault(int(pid), []).append((until, name))
        for names in self.names.values():
            names.sort(key=lambda entry: entry[0])

    def find(self, pid, time):
        """Return the name at a time: the first that was valid then or later,
        otherwise the last one; None without a name."""
        if pid == 0:
            return self.idle
        names = self.names.get(pid)
        if not names:
            return None
        return next((name for until, name in names if until >= time),
                    names[-1][1])


class Symbols:
    """Find a name among all symbols that begin at the last start at or below an
    address."""

    def __init__(self, kallsyms, modules=""):
        self.symbols = {}  # start address -> symbols
        self.labels = {}
        self.modules = {}
        for line in kallsyms.splitlines():
            words = line.split()
            address, kind, name = int(words[0], 16), words[1], words[2]
            module = words[3] if len(words) > 3 else None
            if not module:
                self.labels[name] = address
            # Absolute symbols are numbers. A mapping symbol or a local label is no
            # name.
            if kind not in "aA" and not re.match(r"\$|\.L|L0", name):
                self.symbols.setdefault(address, []).append(
                    (address, kind, name, module))
        self.starts = sorted(self.symbols)
        for line in modules.splitlines():
            words = line.split()
            base = int(words[5], 16)
            self.modules[f"[{words[0]}]"] = (base, base + int(words[1]))

    def below(self, address):
        """Return the function that contains the byte at an address."""
        place = bisect.bisect_right(self.starts, address)
        start = self.starts[place - 1] if place else None
        if start is None or address - start >= 1 << 20:
            return None
        code = [s for s in self.symbols[start] if s[1] in "tTwW" and
                s[2] not in ("_etext", "_einittext")]
        if not code:
            return None
        best = min(code, key=lambda s: (s[1] in "wW",
                                        len(s[2]) - len(s[2].lstrip("_"))))
        if best[3]:
            base, end = self.modules.get(best[3], (0, 0))
            if base <= start < end <= address:
                return None
        elif "_etext" in self.labels:
            ranges = [("_stext", "_etext"), ("_sinittext", "_einittext")]
            if not any(self.labels[a] <= address < self.labels[b]
                       for a, b in ranges if a in self.labels):
                return None
        return best

    def symbol(self, address):
        """Return (function, module or None, offset), or None."""
        symbol = self.below(address - 1) or self.below(address)
        if not symbol:
            return None
        return (symbol[2], symbol[3].strip("[]") if symbol[3] else None,
                address - symbol[0])

    def name(self, address):
        """Return function+0xoffset [module], or None."""
        symbol = self.symbol(address)
        if not symbol:
            return None
        text = f"{symbol[0]}+{symbol[2]:#x}"
        return f"{text} [{symbol[1]}]" if symbol[1] else text
