/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Choices that the processor cannot predict, without a branch. On x86-64 they
 * are conditional moves in assembler, because gcc 12 compiles the C code to a
 * branch, or with masks to 12 more instructions per record. A merge of two
 * files takes 20 % longer with masks, and 40 % longer with a branch.
 */
#ifndef KMEMTRACE_MATCH_BRANCH_FREE_H
#define KMEMTRACE_MATCH_BRANCH_FREE_H

#include "lib/input/capture.h"

/*
 * Choose the earlier one of the records at *a and *b, or that at *a if their
 * timestamps are equal. Store the timestamp of the chosen record in *time, and
 * the address of the next record of the same file, size bytes further, in
 * *after. Advance *a or *b to that address. Return 1 if the record was at *b,
 * otherwise 0.
 */
static inline guint kmt_match_choose_earlier(const guint8 **a, const guint8 **b,
					     gsize size, const guint8 **after,
					     gint64 *time)
{
	const KmtInputRawEvent *event_a = (const KmtInputRawEvent *)*a;
	const KmtInputRawEvent *event_b = (const KmtInputRawEvent *)*b;
	guint is_b;

	*time = event_a->timestamp;
#if defined(__x86_64__) && defined(__LP64__)
	/* [time] and [b] are written after the last access to [time_b], whose
	 * address may be in the register of either. */
	__asm__("xor %[is_b], %[is_b]\n\t"
		"cmp %[time_b], %[time]\n\t"
		"mov %[a], %[after]\n\t"
		"cmovg %[b], %[after]\n\t"
		"setg %b[is_b]\n\t"
		"lea (%[after],%[size]), %[after]\n\t"
		"cmovg %[time_b], %[time]\n\t"
		"cmovle %[after], %[a]\n\t"
		"cmovg %[after], %[b]"
		: [time] "+r"(*time), [is_b] "=&r"(is_b), [after] "=&r"(*after),
		  [a] "+r"(*a), [b] "+r"(*b)
		: [time_b] "m"(event_b->timestamp), [size] "r"(size)
		: "cc");
#else
	guintptr mask;

	is_b = event_b->timestamp < *time;
	mask = -(guintptr)is_b;
	*time = MIN(*time, event_b->timestamp);
	*a += size & ~mask;
	*b += size & mask;
	*after = (const guint8 *)((guintptr)*a ^
				  (((guintptr)*a ^ (guintptr)*b) & mask));
#endif
	return is_b;
}

#endif
