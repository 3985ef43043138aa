/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: the clock of the records, for who writes them.
 */
#ifndef _MM_KMEMTRACE_CLOCK_H
#define _MM_KMEMTRACE_CLOCK_H

#include <linux/jump_label.h>
#include <linux/sched/clock.h>
#include <linux/types.h>

#include "compat.h"

/* sched_clock() has turned out to be of no use across CPUs. */
DECLARE_STATIC_KEY_FALSE(kmemtrace_unstable);

/* On this CPU.  Any context. */
static __always_inline u64 kmemtrace_raw_clock(void)
{
	if (static_branch_unlikely(&kmemtrace_unstable))
		return local_clock();
	return kmemtrace_sched_clock();
}

/* Whether sched_clock() turned out to be unstable.  Any context but NMI. */
void kmemtrace_look_at_clock(void);

#endif /* _MM_KMEMTRACE_CLOCK_H */
