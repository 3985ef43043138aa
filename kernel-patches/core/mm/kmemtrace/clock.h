/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: the clock of the records. */
#ifndef _MM_KMEMTRACE_CLOCK_H
#define _MM_KMEMTRACE_CLOCK_H

#include <linux/jump_label.h>
#include <linux/sched/clock.h>
#include <linux/types.h>

#include "compat.h"

/* On once sched_clock() has turned out to differ between CPUs. */
DECLARE_STATIC_KEY_FALSE(kmemtrace_unstable);

/* Return the time on this CPU, in nanoseconds.  Any context. */
static __always_inline u64 kmemtrace_raw_clock(void)
{
	if (static_branch_unlikely(&kmemtrace_unstable))
		return local_clock();
	return kmemtrace_sched_clock();
}

/* As kmemtrace_raw_clock(), out of line.  Any context. */
u64 kmemtrace_clock(void);

/* Return the name of the clock that the timestamps are of. */
const char *kmemtrace_clock_name(void);

/*
 * Switch to local_clock(), soon, if sched_clock() has turned out to be unstable.
 * Context: any but NMI.
 */
void kmemtrace_check_clock(void);

#endif /* _MM_KMEMTRACE_CLOCK_H */
