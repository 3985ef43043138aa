/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: functions whose implementation depends on the kernel version.
 * compat_slab.h has those that need mm/slab.h.
 */
#ifndef _MM_KMEMTRACE_COMPAT_H
#define _MM_KMEMTRACE_COMPAT_H

#include <linux/hardirq.h>
#include <linux/io.h>
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/sched/clock.h>
#if defined(CONFIG_X86) && defined(CONFIG_PARAVIRT)
#include <asm/paravirt.h>
#endif

#include <uapi/linux/kmemtrace_abi.h>

/*
 * Return the address of an object without its KASAN tag, because the pointer that is
 * freed may have another tag.  Any context.
 */
static __always_inline u64 kmemtrace_object(const void *ptr)
{
	return (unsigned long)kasan_reset_tag(ptr);
}

/*
 * Return the address of a page: the virtual address, or for a page of highmem the
 * physical address with KMEMTRACE_PTR_PHYSICAL.  Any context.
 */
static __always_inline u64 kmemtrace_page(struct page *page)
{
	if (PageHighMem(page))
		return KMEMTRACE_PTR_PHYSICAL | page_to_phys(page);
	return kmemtrace_object(page_to_virt(page));
}

/*
 * Return sched_clock(), in nanoseconds.  With paravirtualisation sched_clock() only
 * calls paravirt_sched_clock(), and calling the latter saves one call per record.
 * Any context.
 */
static __always_inline u64 kmemtrace_sched_clock(void)
{
#if defined(CONFIG_X86) && defined(CONFIG_PARAVIRT)
	return paravirt_sched_clock();
#else
	return sched_clock();
#endif
}

/* Return whether sched_clock() is one clock for all CPUs.  Any context. */
static __always_inline bool kmemtrace_sched_clock_stable(void)
{
#ifdef CONFIG_HAVE_UNSTABLE_SCHED_CLOCK
	return sched_clock_stable();
#else
	return true;
#endif
}

/*
 * Return whether the current context is a hard or soft interrupt.  @context: the
 * current preempt_count().
 */
static __always_inline bool kmemtrace_in_interrupt(unsigned int context)
{
#ifdef CONFIG_PREEMPT_RT
	return (context & HARDIRQ_MASK) || in_serving_softirq();
#else
	return context & (HARDIRQ_MASK | SOFTIRQ_OFFSET);
#endif
}

/*
 * Return the flags KMEMTRACE_FLAG_HARDIRQ and KMEMTRACE_FLAG_SOFTIRQ of a record.
 * @context: the current preempt_count().
 */
static __always_inline u16 kmemtrace_interrupt_flags(unsigned int context)
{
	return (context & HARDIRQ_MASK ? KMEMTRACE_FLAG_HARDIRQ : 0) |
	       (in_serving_softirq() ? KMEMTRACE_FLAG_SOFTIRQ : 0);
}

#endif /* _MM_KMEMTRACE_COMPAT_H */
