/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: functions whose implementation depends on the kernel's version or
 * configuration.  compat_slab.h has those that need mm/slab.h.
 */
#ifndef _MM_KMEMTRACE_COMPAT_H
#define _MM_KMEMTRACE_COMPAT_H

#include <linux/hardirq.h>
#include <linux/io.h>
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/sched/clock.h>
#include <linux/stackdepot.h>
#include <linux/version.h>
/*
 * <linux/writeback.h> includes the header of struct folio_batch, which some version
 * since 6.10 renamed from pagevec.h to folio_batch.h.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#include <linux/writeback.h>
#else
#include <linux/pagevec.h>
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0) && defined(CONFIG_X86) && \
	defined(CONFIG_PARAVIRT)
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
 * Return the page that is @n pages after @page in an allocation.  Until Linux 6.17 the
 * struct pages of an allocation need not be adjacent.  Any context.
 */
static __always_inline struct page *kmemtrace_page_at(struct page *page,
						      unsigned long n)
{
#ifdef nth_page
	return nth_page(page, n);
#else
	return page + n;
#endif
}

/*
 * Return sched_clock(), in nanoseconds.  sched_clock() disables preemption and calls
 * sched_clock_noinstr(); a direct call of sched_clock_noinstr() is faster.  Until Linux
 * 6.4 there is no sched_clock_noinstr(), and on x86 with paravirtualisation
 * sched_clock() only calls paravirt_sched_clock().  Context: any, preemption off.
 */
static __always_inline u64 kmemtrace_sched_clock(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return sched_clock_noinstr();
#elif defined(CONFIG_X86) && defined(CONFIG_PARAVIRT)
	return paravirt_sched_clock();
#else
	return sched_clock();
#endif
}

/*
 * Return whether the kernel accounts memory to memory cgroups.  SLOB, which exists
 * until Linux 6.3, has no accounting.
 */
static __always_inline bool kmemtrace_accounts(void)
{
	return IS_ENABLED(CONFIG_MEMCG) && !IS_ENABLED(CONFIG_SLOB);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
/* Set and clear flags of a mapping; in the kernel since Linux 6.3.  In mmap() only. */
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set,
				vm_flags_t clear)
{
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
}
#endif

#ifndef STACK_DEPOT_FLAG_CAN_ALLOC
/*
 * Return the number of a stack in the stack depot, or 0.  The kernel has this function
 * since Linux 6.8.  @depot_flags: 0; no memory is allocated.  Context: any but NMI.
 */
static __always_inline depot_stack_handle_t
stack_depot_save_flags(unsigned long *entries, unsigned int n, gfp_t gfp_flags,
		       unsigned int depot_flags)
{
	return __stack_depot_save(entries, n, 0, gfp_flags, false);
}
#endif

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

/* User mode Linux sets CONFIG_X86_64, too, but not CONFIG_X86. */
#if defined(CONFIG_X86) && defined(CONFIG_X86_64)
/*
 * Return the address of the last word of this CPU's stack of hard interrupts, where the
 * kernel stores the interrupted stack pointer.  From Linux 6.2 to 6.14 the variable
 * with this address is a member of a structure.  Context: any, preemption off.
 */
static __always_inline unsigned long kmemtrace_irq_stack_end(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	return (unsigned long)raw_cpu_read(pcpu_hot.hardirq_stack_ptr);
#else
	return (unsigned long)raw_cpu_read(hardirq_stack_ptr);
#endif
}
#endif

#ifdef CONFIG_UNWINDER_ORC
#include <linux/objtool.h>
#include <asm/orc_types.h>

/*
 * Return whether a frame is the last one of its stack.  Until Linux 6.3 the ORC data
 * have other types of frames, and a bit for the last one.  Any context.
 */
static __always_inline bool kmemtrace_orc_is_end(const struct orc_entry *orc)
{
#ifdef ORC_TYPE_END_OF_STACK
	return orc->type == ORC_TYPE_END_OF_STACK;
#else
	return orc->sp_reg == ORC_REG_UNDEFINED && orc->end;
#endif
}

#ifndef ORC_TYPE_CALL
#define ORC_TYPE_CALL	UNWIND_HINT_TYPE_CALL
#define ORC_TYPE_REGS	UNWIND_HINT_TYPE_REGS
#endif
#endif

#endif /* _MM_KMEMTRACE_COMPAT_H */
