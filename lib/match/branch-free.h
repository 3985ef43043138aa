/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Choices that the processor cannot predict, without a branch. On x86-64 they
 * are conditional moves in assembler, because gcc 12 compiles the C code to a
 * branch, or with masks to 12 more instructions per record. A merge of two
 * files takes 20 % longer with masks, and 40 % longer with a branch.
 */
#ifndef KMEMTRACE_MATCH_BRANCH_FREE_H
#define KMEMTRACE_MATCH_BRANCH_FREE_H

#include <glib.h>

/* Return whether b < *now. If so, set *now to b, and *position to other. */
static inline guint kmt_match_choose_earlier(gint64 *now, gint64 b,
					     const guint8 **position,
					     const guint8 *other)
{
	guint chosen = 0;

#if defined(__x86_64__)
	__asm__("cmp %[b], %[now]\n\t"
		"cmovg %[b], %[now]\n\t"
		"cmovg %[other], %[position]\n\t"
		"setg %b[chosen]"
		: [now] "+r"(*now), [position] "+r"(*position),
		  [chosen] "+r"(chosen)
		: [b] "r"(b), [other] "r"(other)
		: "cc");
#else
	guintptr change;

	chosen = b < *now;
	change = ((guintptr)*position ^ (guintptr)other) & -(guintptr)chosen;
	*now = MIN(*now, b);
	*position = (const guint8 *)((guintptr)*position ^ change);
#endif
	return chosen;
}

/* Set *b to position if choice is not 0, otherwise *a. */
static inline void kmt_match_set_chosen(guint choice, const guint8 *position,
					const guint8 **a, const guint8 **b)
{
#if defined(__x86_64__)
	__asm__("test %[choice], %[choice]\n\t"
		"cmove %[position], %[a]\n\t"
		"cmovne %[position], %[b]"
		: [a] "+r"(*a), [b] "+r"(*b)
		: [choice] "r"(choice), [position] "r"(position)
		: "cc");
#else
	guintptr mask = -(guintptr)(choice != 0);
	guintptr change_a = ((guintptr)*a ^ (guintptr)position) & ~mask;
	guintptr change_b = ((guintptr)*b ^ (guintptr)position) & mask;

	*a = (const guint8 *)((guintptr)*a ^ change_a);
	*b = (const guint8 *)((guintptr)*b ^ change_b);
#endif
}

#endif
