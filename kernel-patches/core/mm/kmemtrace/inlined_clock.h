/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: the clock that is inlined into the fast path.
 *
 * The call of sched_clock() and the registers that must be preserved across the call
 * take a fifth of an event's instructions.  On x86, if sched_clock() is the TSC, each
 * CPU therefore has a copy of the factors of the conversion to nanoseconds.  While the
 * copy is current, the inlined clock returns the same time as sched_clock().  The slow
 * path of the writer renews the copy; until then, the fast path calls sched_clock().
 */
#ifndef _MM_KMEMTRACE_INLINED_CLOCK_H
#define _MM_KMEMTRACE_INLINED_CLOCK_H

#include <linux/types.h>

#include "clock.h"
#include "guard.h"

#ifdef CONFIG_X86

/*
 * Return whether kmemtrace_inlined_clock() is the clock on this CPU.  If another CPU
 * changes the factors after the test, the clock returns what sched_clock() returned just
 * before the change.  Context: any, interrupts off.
 */
static __always_inline bool kmemtrace_clock_is_inlined(void)
{
	return likely(raw_cpu_read(cyc2ns.seq.seqcount.sequence) ==
		      raw_cpu_read(kmemtrace_cpus.tsc.seq));
}

/* Return the time on this CPU, in nanoseconds.  Context: any, interrupts off. */
static __always_inline u64 kmemtrace_inlined_clock(void)
{
	return cyc2ns_mul_shr(rdtsc(), raw_cpu_read(kmemtrace_cpus.tsc.mul),
			      raw_cpu_read(kmemtrace_cpus.tsc.shift)) +
	       raw_cpu_read(kmemtrace_cpus.tsc.offset);
}

/* Renew this CPU's copy if it is not current.  Context: any, interrupts off. */
static inline void kmemtrace_renew_inlined_clock(struct kmemtrace_cpu *kc)
{
	if (static_branch_unlikely(&kmemtrace_unstable))
		kc->tsc.seq = CYC2NS_NO_COPY;
	else if (!kmemtrace_clock_is_inlined())
		cyc2ns_copy(&kc->tsc);
}

#else

static inline void kmemtrace_renew_inlined_clock(struct kmemtrace_cpu *kc)
{
}

static __always_inline bool kmemtrace_clock_is_inlined(void)
{
	return false;
}

static __always_inline u64 kmemtrace_inlined_clock(void)
{
	return 0;
}

#endif /* CONFIG_X86 */

#endif /* _MM_KMEMTRACE_INLINED_CLOCK_H */
