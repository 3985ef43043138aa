#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the mutants that tests/mutation finds in a small C file with a list."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["top_srcdir"]) / "tests" / "mutation"))
import statements                                               # noqa: E402

SOURCE = r'''
#define LOOP(x) for (;;) { x; }
struct pair { int a; int b; };
static const struct pair table[] = { { 1, 2 }, { 3, 4 } };
G_DEFINE_SOMETHING(Pair, pair)

/* if (comment) { deleted(); } */
static gboolean is_small(int n)
{
	struct pair local[] = { { n, 1 } };
	int unused;

	if (n < 3 && text("; } {")) {
		counter++;
	} else if (n == 4)
		return FALSE;
	for (int i = 0; i < n; i++)
		sum += local[0].a;
	do {
		n--;
	} while (n);
	switch (n) {
	case 1:
		call(n, ';');
		break;
	default:
		goto out;
	}
	g_free(memory);
out:
	return n > 1;
}

void nothing(void)
{
	for_each(x) {
		x->y = 1;
	}
	return;
}
'''

EXPECTED = """
is_small delete struct pair local[] = { { n, 1 } }
is_small invert n < 3 && text("; } {")
is_small delete counter++
is_small invert n == 4
is_small negate-return return FALSE
is_small delete sum += local[0].a
is_small delete n--
is_small invert n
is_small delete call(n, ';')
is_small delete break
is_small delete goto out
is_small negate-return return n > 1
nothing delete x->y = 1
nothing delete return
""".strip().splitlines()

found = statements.find("sample.c", SOURCE)
shown = [f"{m.function} {m.kind} {m.text}" for m in found]
if shown != EXPECTED:
    sys.exit("wrong mutants:\n" + "\n".join(shown))

lines = SOURCE.split("\n")
for mutant in found:
    changed = SOURCE[:mutant.start] + mutant.replacement + SOURCE[mutant.end:]
    first = mutant.text.split()[0]
    if first not in lines[mutant.line - 1]:
        sys.exit(f"wrong line {mutant.line} of {mutant.text}")
    if changed.count("\n") != SOURCE.count("\n"):
        sys.exit(f"the mutation of {mutant.text} moves the lines behind it")
    if changed == SOURCE:
        sys.exit(f"the mutation of {mutant.text} changes nothing")
print(f"{len(found)} mutants as expected")
