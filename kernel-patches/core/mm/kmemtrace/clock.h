/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: the clock of the records. */
#ifndef _MM_KMEMTRACE_CLOCK_H
#define _MM_KMEMTRACE_CLOCK_H

#include <linux/jump_label.h>
#include <linux/sched/clock.h>
#include <linux/types.h>

#include "compat.h"

/*
 * On: timestamps are from local_clock(), because the kernel has found sched_clock() to
 * be unstable.
 */
DECLARE_STATIC_KEY_FALSE(kmemtrace_unstable);

/* Return local_clock(), in nanoseconds.  Context: any, preemption off. */
u64 kmemtrace_local_clock(void);

/*
 * Return the time on this CPU, in nanoseconds.  The time of this function may step
 * back.  Context: any, preemption off.
 */
static __always_inline u64 kmemtrace_raw_clock(void)
{
	if (static_branch_unlikely(&kmemtrace_unstable))
		return kmemtrace_local_clock();
	return kmemtrace_sched_clock();
}

/* Out-of-line version of kmemtrace_raw_clock(), for rare calls.  Any context. */
u64 kmemtrace_clock(void);

/* Return the name of the clock of the timestamps, a static string.  Any context. */
const char *kmemtrace_clock_name(void);

/*
 * If boot has ended and the kernel has found sched_clock() to be unstable, queue a work
 * item that switches the timestamps to local_clock().  Context: any but NMI.
 */
void kmemtrace_check_clock(void);

#endif /* _MM_KMEMTRACE_CLOCK_H */
